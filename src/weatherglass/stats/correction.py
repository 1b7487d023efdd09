"""Many tests, one family: p-values adjusted for multiple testing (docs/methods 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.errors import WeatherglassError
from weatherglass.registry import unknown
from weatherglass.stats import DEFAULT_CORRECTION

ADJUSTMENTS = ("holm", "benjamini-hochberg")
"""What needs the p-values alone."""
CORRECTIONS = (*ADJUSTMENTS, "westfall-young")
"""What a run can ask for; Westfall and Young's needs the scores, too."""


def adjust(
    p_values: Sequence[float] | Vector, method: str = DEFAULT_CORRECTION, family: int | None = None
) -> Vector:
    """Adjusted p-values, in the order given; a row is significant after correction if its value is ≤ alpha.

    Args:
        p_values: one p per row; NaN where a row has none. It ranks last, counts in the family and stays NaN.
        method: "holm" (step-down, family-wise error) or "benjamini-hochberg" (step-up, false discovery rate).
        family: the size N of the family; larger than the rows at hand where others are missing, which then
            rank last. By default the number of rows.

    Raises:
        WeatherglassError: if the family is smaller than the rows, or a p is not in [0, 1].
    """
    p = np.asarray(p_values, dtype=np.float64)
    size = len(p) if family is None else family
    if method not in ADJUSTMENTS:
        raise unknown("correction", method, ADJUSTMENTS)
    if size < len(p):
        raise WeatherglassError(
            f"a family of {size} cannot hold the {len(p)} rows at hand; give a larger family"
        )
    if ((p < 0) | (p > 1)).any():
        raise WeatherglassError("p-values to be adjusted lie between 0 and 1")
    order = np.argsort(p, kind="stable")  # NaN last
    ranks = np.arange(1, len(p) + 1)
    if method == "holm":
        stepped = np.maximum.accumulate(p[order] * (1 + size - ranks))
    else:
        ratios = p[order] * size / ranks
        stepped = np.fmin.accumulate(ratios[::-1])[::-1]
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    adjusted[np.isnan(p)] = np.nan
    return adjusted


def adjust_groups(within: Sequence[Vector], groups: int | None = None) -> list[Vector]:
    """Adjusted p of tests in groups, from their p adjusted within each group: Holm between the groups.

    A group stands for the test with its smallest p. A test is rejected where its p within the group is at most alpha
    over the number of groups that Holm's step leaves, so the error over all groups stays below alpha.

    Args:
        within: the adjusted p of the tests of each group.
        groups: how many groups there are, if more than these.
    """
    size = len(within) if groups is None else groups
    smallest = np.array([p.min() for p in within])
    order = np.argsort(smallest, kind="stable")
    adjusted: list[Vector] = [np.empty(0)] * len(within)
    reached = 0.0
    for rank, place in enumerate(order):
        scaled = within[place] * (size - rank)
        reached = max(reached, float(scaled.min()))
        adjusted[place] = np.minimum(np.maximum(scaled, reached), 1.0)
    return adjusted
