"""Batches of texts of similar length, so that little work is spent on padding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from weatherglass.arrays import Integers


def by_length(lengths: Sequence[int], max_texts: int, max_tokens: int) -> Iterator[Integers]:
    """Positions of the texts of each batch, the longest texts first: what does not fit in memory fails at once.

    Args:
        lengths: tokens of each text.
        max_texts: in one batch.
        max_tokens: in one batch, padding included; a text that is longer has a batch of its own.
    """
    order = np.argsort(-np.asarray(lengths, dtype=np.int64), kind="stable")
    start = 0
    while start < len(order):
        width = max(1, lengths[order[start]])
        count = max(1, min(max_texts, max_tokens // width))
        yield order[start : start + count]
        start += count


def by_equal_length(lengths: Sequence[int], batch_size: int) -> Iterator[Integers]:
    """Positions of texts that have exactly the same length, so that nothing is padded; empty texts are in no batch."""
    sizes = np.asarray(lengths, dtype=np.int64)
    for length in np.unique(sizes[sizes > 0])[::-1]:
        positions = np.flatnonzero(sizes == length)
        for start in range(0, len(positions), batch_size):
            yield positions[start : start + batch_size]
