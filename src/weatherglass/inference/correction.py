"""Many tests, one family: p-values adjusted for multiple testing (docs/methods 4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.errors import WeatherglassError
from weatherglass.inference import DEFAULT_CORRECTION
from weatherglass.registry import one_of

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
    one_of("correction", method, ADJUSTMENTS)
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


def adjusted_at_floors(
    p_values: Sequence[float] | Vector,
    floors: Sequence[float] | Vector,
    method: str,
    family: int | None,
) -> Vector:
    """For each row: its adjusted p if its own p were its floor, the other rows as they are (docs/methods 10.5).

    Both corrections give a smaller p a smaller adjusted value, so above alpha here the row cannot survive. What
    `adjust` would give for each row in turn, in time n log n for all of them: a row that moves up changes the ranks of
    those between its new place and its old one, by one, and no others.
    """
    p = np.asarray(p_values, dtype=np.float64)
    size = len(p) if family is None else family
    lowered = np.fmin(p, np.asarray(floors, dtype=np.float64))
    order = np.argsort(p, kind="stable")
    ranks = np.arange(1, len(p) + 1)
    ordered, old = p[order], np.empty(len(p), dtype=np.int64)
    old[order] = ranks - 1
    new = _places(ordered, order, lowered)
    if method == "holm":
        above = np.concatenate([[0.0], np.fmax.accumulate(ordered * (1 + size - ranks))])
        return np.asarray(np.minimum(np.maximum(above[new], lowered * (size - new)), 1.0))
    below = np.concatenate([np.fmin.accumulate((ordered * size / ranks)[::-1])[::-1], [np.inf]])
    passed = _range_minima(ordered * size / (ranks + 1), new, old)
    others = np.fmin(passed, below[old + 1])
    return np.asarray(np.fmin(np.fmin(lowered * size / (new + 1), others), 1.0))


def _places(ordered: Vector, order: Integers, lowered: Vector) -> Integers:
    """How many other rows stand before each row once it has its lowered p; equal p stand in the order of rows."""
    first = np.searchsorted(ordered, lowered, side="left")
    last = np.searchsorted(ordered, lowered, side="right")
    tied = [
        np.searchsorted(order[start:end], row)
        for row, (start, end) in enumerate(zip(first, last, strict=True))
    ]
    return np.asarray(first + np.array(tied, dtype=np.int64))


def _range_minima(values: Vector, starts: Integers, ends: Integers) -> Vector:
    """The minimum of values[start:end] for each start and end, infinite where that is empty; NaN counts as none.

    Minima over all stretches of 1, 2, 4, … values are made once; two of them cover any stretch.
    """
    tables = [np.fmin(values, np.inf)]
    while 2 ** len(tables) <= len(values):
        half = 2 ** (len(tables) - 1)
        tables.append(np.fmin(tables[-1][:-half], tables[-1][half:]))
    lengths = ends - starts
    minima = np.full(len(starts), np.inf)
    for level, table in enumerate(tables):
        here = (lengths >= 2**level) & (lengths < 2 ** (level + 1))
        minima[here] = np.fmin(table[starts[here]], table[ends[here] - 2**level])
    return minima


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
