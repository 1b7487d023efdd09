"""Adjust p-values for multiple tests: Holm, Benjamini and Hochberg, and Westfall and Young's maxT (docs/methods 4)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.errors import WeatherglassError
from weatherglass.registry import unknown
from weatherglass.stats import DEFAULT_CORRECTION
from weatherglass.stats.scale import NO_SPREAD

ADJUSTMENTS = ("holm", "benjamini-hochberg")
"""The corrections that need only p-values."""
CORRECTIONS = (*ADJUSTMENTS, "westfall-young")
"""The corrections that a run offers; Westfall and Young's also needs the scores."""


def adjust(
    p_values: Sequence[float] | Vector, method: str = DEFAULT_CORRECTION, family: int | None = None
) -> Vector:
    """Return adjusted p-values in the given order; a row is significant after correction if its value is ≤ alpha.

    Args:
        p_values: one p per row, NaN for a row without p. A NaN is ranked last, is counted in the family, and is
            returned as NaN.
        method: "holm" (step-down, family-wise error) or "benjamini-hochberg" (step-up, false discovery rate).
        family: the size N of the family, by default the number of rows. If it is larger, missing rows are ranked last.

    Raises:
        WeatherglassError: if the family is smaller than the number of rows, or a p is not in [0, 1].
    """
    p = np.asarray(p_values, dtype=np.float64)
    size = len(p) if family is None else family
    if method not in ADJUSTMENTS:
        raise unknown("correction", method, ADJUSTMENTS)
    if size < len(p):
        raise WeatherglassError(
            f"a family of {size} is smaller than the {len(p)} rows given; give a larger family"
        )
    if ((p < 0) | (p > 1)).any():
        raise WeatherglassError("p-values to be adjusted must be between 0 and 1")
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
    """Return the p-values of tests in groups, adjusted with Holm's method between groups, given p-values adjusted
    within groups.

    A group is represented by its smallest p. A test is rejected if its p within the group is at most alpha divided by
    the number of groups in Holm's step, so that the family-wise error over all groups is at most alpha.

    Args:
        within: the adjusted p of the tests of each group.
        groups: the number of groups, if there are more than the given ones.
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


ENUMERATED = 100_000
"""The maximum number of labellings that are enumerated."""
DRAWS = 9_999
AT_A_TIME = 4_096
TIE = 1e-12

Alternative = Literal["two-sided", "greater", "less"]
EXTREME: Mapping[Alternative, Callable[[Matrix], Matrix]] = {
    "two-sided": np.abs,
    "greater": np.positive,
    "less": np.negative,
}
"""Functions that make extreme values large, by alternative hypothesis."""


@dataclass(frozen=True, slots=True, eq=False)
class MaxT:
    """Adjusted p of every test."""

    p: Vector
    exact: bool
    """Whether every labelling was enumerated."""
    labellings: int
    """The number of evaluated labellings, including the observed one."""


def westfall_young(
    scores: Matrix, n_x: int, alternative: Alternative = "two-sided", draws: int = DRAWS, seed: int = 0
) -> MaxT:
    """Return, for each test, the share of labellings whose largest |d| over all tests is at least its |d|.

    Args:
        scores: one row per word (X first) and one column per test; a test with equal scores has p = 1.
        n_x: the number of words in X.
        alternative: which values are extreme.
        draws: the number of random labellings, if there are more than 100 000 in all.
        seed: the seed of the draws.
    """
    n, tests = scores.shape
    # If the scores of every test have mean 0 and sd 1, which no labelling changes, d is linear in the labels.
    z = scores - scores.mean(axis=0)
    size = np.abs(scores).max(axis=0)
    spread = z.std(axis=0)
    flat = spread <= NO_SPREAD * size
    z = np.where(flat, 0.0, z / np.where(flat, 1.0, spread))
    extreme = EXTREME[alternative]
    observed = extreme(z[:n_x].sum(axis=0)) - TIE * np.abs(z).sum(axis=0)

    exact = math.comb(n, n_x) <= ENUMERATED
    batches: Iterable[Matrix] = every_labelling(n, n_x) if exact else random_labellings(n, n_x, draws, seed)
    labellings, hits = (0, np.zeros(tests)) if exact else (1, np.ones(tests))
    for in_x in batches:
        largest = np.sort(extreme(in_x @ z).max(axis=1))
        hits += len(largest) - np.searchsorted(largest, observed, side="left")
        labellings += len(largest)
    return MaxT(np.where(flat, 1.0, hits / labellings), exact, labellings)


@lru_cache(maxsize=2)
def every_labelling(n: int, n_x: int) -> tuple[Matrix, ...]:
    """Return every choice of n_x words for X in batches of some thousand rows: 1 where a word is in X, else 0.

    The result is cached, because many tests in a row have the same size; it takes at most about 12 MB.
    """
    rows = itertools.combinations(range(n), n_x)
    chunks = iter(lambda: list(itertools.islice(rows, AT_A_TIME)), [])
    return tuple(_membership(np.array(chunk, dtype=np.int64), n) for chunk in chunks)


def random_labellings(n: int, n_x: int, draws: int, seed: int) -> Iterator[Matrix]:
    """Yield independent random choices of n_x words for X, in batches like those of `every_labelling`."""
    rng = np.random.default_rng(seed)
    for start in range(0, draws, AT_A_TIME):
        keys = rng.random((min(AT_A_TIME, draws - start), n))
        yield _membership(np.argpartition(keys, n_x - 1, axis=1)[:, :n_x], n)


def _membership(chosen: Integers, n: int) -> Matrix:
    """Return an array of 1 where a word is in X and 0 elsewhere, one row per labelling."""
    in_x = np.zeros((len(chosen), n))
    np.put_along_axis(in_x, chosen, 1.0, axis=1)
    return in_x
