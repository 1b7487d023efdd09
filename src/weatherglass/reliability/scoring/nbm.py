"""NBM, the neighbourhood bias metric: do the neighbours of a word lean to one end of the base pair?"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from weatherglass.reliability.scoring.base import Rule, ScoringContext
from weatherglass.reliability.scoring.projections import Scores


def nbm(context: ScoringContext) -> Scores:
    """(share of the k neighbours with DB/WA ≥ 0) − (share with DB/WA < 0), target × pair."""
    leaning = np.where(context.projections.dbwa >= 0, np.int8(1), np.int8(-1))
    scores = np.empty((len(context.targets), len(context.pairs)), dtype=np.float32)
    _average_leaning(leaning, context.neighbours, scores)
    return scores


@njit(cache=True, nogil=True)
def _average_leaning(leaning: NDArray[np.int8], nearest: NDArray[np.int32], scores: Scores) -> None:
    k = nearest.shape[1]
    for line in range(nearest.shape[0]):
        total = np.zeros(leaning.shape[1], dtype=np.int32)
        for place in range(k):
            for pair in range(leaning.shape[1]):
                total[pair] += leaning[nearest[line, place], pair]
        for pair in range(leaning.shape[1]):
            scores[line, pair] = total[pair] / k


RULE = Rule("nbm", "NBM", 1, nbm)
