"""NBM, the neighbourhood bias metric: do the neighbours of a word lean to one end of the base pair?"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from weatherglass.arrays import Integers
from weatherglass.reliability.scoring.base import Rule, ScoringContext
from weatherglass.reliability.scoring.projections import Scores
from weatherglass.reliability.training.embedding import Vectors

ROUNDING = 2.0**-51
"""Of a similarity: two cosines that are nearer to each other than the last step's rounding errors are equal."""

Signs = NDArray[np.int8]


def nbm(context: ScoringContext) -> Scores:
    """(share of the k neighbours with DB/WA ≥ 0) − (share with DB/WA < 0), target × pair."""
    leaning = signs(context.vectors, context.first, context.second, context.projections.dbwa)
    scores = np.empty((len(context.targets), len(context.pairs)), dtype=np.float32)
    _average_leaning(leaning, context.neighbours, scores)
    return scores


def signs(vectors: Vectors, first: Integers, second: Integers, dbwa: Scores) -> Signs:
    """Word × pair: 1 if the word is at least as near to the pair's first word as to its second, otherwise −1.

    Single precision decides if it can. A DB/WA within its rounding error of 0 is computed again in double precision.

    Args:
        dbwa: DB/WA of every row with every pair, in single precision.
    """
    # A sum of d products errs by d/2^24 at most, and so do both unit vectors; their difference is no longer than 2.
    error = np.float32(4 * (vectors.shape[1] + 8) * 2.0**-24)
    leaning = np.where(dbwa >= 0, np.int8(1), np.int8(-1))
    rows, pairs = np.nonzero(np.abs(dbwa) <= error)
    _decide_in_double(vectors, first, second, rows, pairs, leaning)
    return leaning


@njit(cache=True, nogil=True)
def _decide_in_double(
    vectors: Vectors, first: Integers, second: Integers, rows: Integers, pairs: Integers, leaning: Signs
) -> None:
    """Fill in the signs of cos(w, m) − cos(w, f) at some places.

    Compares p |p| / |m|² with q |q| / |f|², p = w·m and q = w·f, which has no root and, multiplied out, no division:
    whole numbers are compared exactly. The sums have a fixed order, so that equal vectors tie with every BLAS library.
    """
    squares = np.zeros((2, first.shape[0]))
    for pair in range(first.shape[0]):
        for d in range(vectors.shape[1]):
            squares[0, pair] += np.float64(vectors[first[pair], d]) ** 2
            squares[1, pair] += np.float64(vectors[second[pair], d]) ** 2
    for place in range(rows.shape[0]):
        row, pair = rows[place], pairs[place]
        to_first, to_second = 0.0, 0.0
        for d in range(vectors.shape[1]):
            value = np.float64(vectors[row, d])
            to_first += value * np.float64(vectors[first[pair], d])
            to_second += value * np.float64(vectors[second[pair], d])
        one = to_first * abs(to_first) * squares[1, pair]
        other = to_second * abs(to_second) * squares[0, pair]
        leaning[row, pair] = 1 if one - other >= -ROUNDING * abs(other) else -1


@njit(cache=True, nogil=True)
def _average_leaning(leaning: Signs, nearest: NDArray[np.int32], scores: Scores) -> None:
    k = nearest.shape[1]
    for line in range(nearest.shape[0]):
        total = np.zeros(leaning.shape[1], dtype=np.int32)
        for place in range(k):
            for pair in range(leaning.shape[1]):
                total[pair] += leaning[nearest[line, place], pair]
        for pair in range(leaning.shape[1]):
            scores[line, pair] = total[pair] / k


RULE = Rule("nbm", "NBM", 2, nbm)
