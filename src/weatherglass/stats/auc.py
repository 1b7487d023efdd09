"""Estimate how well scores separate two groups: the area under the ROC curve with Newcombe's interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.stats.win_rate import placements

NORMAL = 1.959963984540054
CLOSEST = 1e-9
"""The distance from 0 and 1 at which the ends of an interval are searched."""


@dataclass(frozen=True, slots=True)
class Auc:
    """The share of pairs in which the positive one has the larger score; ties count half."""

    value: float
    low: float
    """The ends of the 95 % interval over the items that are scored."""
    high: float
    positives: int
    negatives: int


def auc(positives: Vector, negatives: Vector) -> Auc:
    """Return the AUC with the interval of method 5 of Newcombe (2006), which also exists for an AUC of 0 or 1.

    The interval contains each value from which the estimate is at most 1.96 standard errors away, where the standard
    error is that of Hanley and McNeil (1982) at this value.

    >>> round(auc(np.array([3.0, 2.0]), np.array([1.0, 0.0, 2.0])).value, 3)
    0.917
    """
    from scipy.optimize import brentq

    value = float(placements(positives[:, np.newaxis], negatives[:, np.newaxis]).mean())
    sizes = len(positives), len(negatives)

    def beyond(true: float) -> float:
        return abs(value - true) - NORMAL * standard_error(true, *sizes)

    low, high = 0.0, 1.0
    if value > CLOSEST:
        low = float(brentq(beyond, 0, min(value, 1 - CLOSEST)))
    if value < 1 - CLOSEST:
        high = float(brentq(beyond, max(value, CLOSEST), 1))
    return Auc(value, low, high, *sizes)


def standard_error(true: float, positives: int, negatives: int) -> float:
    """Return the standard error of an AUC whose true value is given (Newcombe 2006, method 5)."""
    of_pairs = (positives + negatives) / 2 - 1
    shared = (1 - true) / (2 - true) + true / (1 + true)
    return math.sqrt(max(0.0, true * (1 - true)) * (1 + of_pairs * shared) / (positives * negatives))
