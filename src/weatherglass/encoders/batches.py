"""Batches of texts of like length, so that little work is spent on padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from weatherglass.arrays import Integers


def by_length(lengths: Sequence[int], batch_size: int) -> Iterator[Integers]:
    """Positions of the texts of each batch, the longest texts first: what does not fit in memory fails at once."""
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    for start in range(0, len(order), batch_size):
        yield order[start : start + batch_size]
