"""DB/WA and RIPA of every word with every base pair, in one matrix product."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from weatherglass.arrays import Integers, unit_length
from weatherglass.reliability.training.embedding import Vectors

Scores = NDArray[np.float32]
"""word × pair of one rule."""

ROWS_AT_A_TIME = 2048
"""Rows that fit in the processor's cache."""


class Projections(NamedTuple):
    """word × pair for three rules, of all words of the vocabulary."""

    dbwa: Scores
    ripa: Scores
    """w normalised, as Du et al. (2021) do."""
    ripa_raw: Scores


def projections(vectors: Vectors, first: Integers, second: Integers) -> Projections:
    """The projections of every row on every pair.

    Args:
        vectors: One row per word.
        first: The row of each pair's first word.
        second: The row of each pair's second word.
    """
    between_ends = unit_length(vectors[first]) - unit_length(vectors[second])
    directions = np.concatenate([between_ends, unit_length(vectors[first] - vectors[second])]).T
    scores = np.empty((3, len(vectors), len(first)), dtype=np.float32)
    # For products this thin, threads spend more time waiting than they save.
    with threadpool_limits(1):
        for start in range(0, len(vectors), ROWS_AT_A_TIME):
            part = slice(start, start + ROWS_AT_A_TIME)
            products = vectors[part] @ directions
            inverse = 1 / np.sqrt(np.einsum("vd,vd->v", vectors[part], vectors[part]))[:, None]
            scores[2, part] = products[:, len(first) :]
            products *= inverse
            scores[0, part], scores[1, part] = products[:, : len(first)], products[:, len(first) :]
    return Projections(*scores)
