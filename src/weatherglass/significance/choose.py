"""From scores to a p-value: the method that was asked for, or the first that fits the budget."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.errors import SignificanceError, UnknownNameError
from weatherglass.registry import did_you_mean
from weatherglass.significance.base import ALTERNATIVES, Alternative, Budget, Significance
from weatherglass.significance.grid import Grid, on_grid
from weatherglass.significance.tail import Tail, as_extreme_as, direction, most_extreme

METHODS = (
    "auto",
    "exact",
    "enumerate",
    "meet-in-the-middle",
    "lattice",
    "bounds",
    "sampled",
    "normal",
    "normal-sampled",
)
ALL_PARTITIONS = 100_000
"""`sampled` counts every partition if there are no more than this, as the published code does."""
STEPS_PER_SECOND = 100_000_000
_SMALLEST = sys.float_info.min


def permutation_test(
    x: Vector,
    y: Vector,
    *,
    method: str = "auto",
    alternative: Alternative = "greater",
    budget: Budget | None = None,
    precision: float = 0.01,
    samples: int = 99_999,
    rng: np.random.Generator | None = None,
) -> Significance:
    """The share of all relabellings of X and Y whose sum over X is at least as extreme as the observed one.

    Args:
        x: the scores s(w) of the elements of X.
        y: the scores of the elements of Y; another size than X is allowed.
        method: a name of METHODS 3; `auto` takes the first exact method that fits the budget, else bounds.
        alternative: greater, less, two-sided, or observed (the side on which the data lie).
        budget: what `auto` and `exact` may spend; 2 s and 1 GB by default.
        precision: the relative gap that `bounds` should reach.
        samples: how many partitions `sampled` and `normal-sampled` draw.
        rng: where the draws come from; seed 0 by default.
    """
    _check_name("significance method", method, METHODS)
    _check_name("alternative", alternative, ALTERNATIVES)
    budget = Budget() if budget is None else budget
    grid = on_grid(x, y)
    if grid.constant:
        return _certain(1.0, "enumerate" if method in ("auto", "exact") else method)
    rng = np.random.default_rng(0) if rng is None else rng
    side = direction(grid, alternative)
    if method in ("normal", "normal-sampled"):
        return _normal(grid, method, side, samples, rng)
    if method == "sampled" and grid.partitions > ALL_PARTITIONS:
        return _sampled(grid, side, samples, rng)
    from weatherglass.significance.enumerate import count_by_enumeration

    counts = []
    for tail in as_extreme_as(grid, grid.observed, side).tails(grid):
        count = count_by_enumeration(tail, int(budget.seconds * STEPS_PER_SECOND))
        if count is None:
            if method == "auto":
                return _sampled(grid, side, samples, rng)
            raise SignificanceError(
                f"p of {grid.size} + {grid.n - grid.size} elements cannot be counted in budget"
            )
        counts.append(count)
    name = "sampled (all partitions)" if method == "sampled" else "enumerate"
    return _counted(grid, side, sum(counts), name)


def _check_name(noun: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise UnknownNameError(
            f"unknown {noun} '{name}'{did_you_mean(name, known)} (known: {', '.join(known)})"
        )


def floor(grid: Grid, side: Alternative) -> float:
    """The exact p of the most extreme partition; ties with it count."""
    counts = [tail.known for tail in most_extreme(grid, side).tails(grid)]
    return max(sum(count for count in counts if count is not None) / grid.partitions, _SMALLEST)


def _certain(p: float, method: str) -> Significance:
    return Significance(p, p, p, method, p, True, p)


def _counted(grid: Grid, side: Alternative, count: int, method: str) -> Significance:
    """An exact p; the quotient of whole numbers is rounded once."""
    p = count / grid.partitions
    low = p
    if p < _SMALLEST:
        # Below what float64 holds: p is then the smallest normal number, an upper bound, never 0.
        p, low = _SMALLEST, 0.0
    return Significance(p, low, p, method, floor(grid, side), True, p)


def _sampled(grid: Grid, side: Alternative, samples: int, rng: np.random.Generator) -> Significance:
    from weatherglass.significance.sampled import clopper_pearson, sample_sums

    hits = as_extreme_as(grid, grid.observed, side).among(sample_sums(grid, samples, rng))
    low, high = clopper_pearson(hits, samples)
    p = (hits + 1) / (samples + 1)
    least = max(floor(grid, side), 1 / (samples + 1))
    return Significance(p, low, high, "sampled", least, False, p)


def _normal(
    grid: Grid, method: str, side: Alternative, samples: int, rng: np.random.Generator
) -> Significance:
    from weatherglass.significance.normal import fitted_moments, normal_moments, normal_tail
    from weatherglass.significance.sampled import sample_sums

    if method == "normal":
        mean, sd = normal_moments(grid)
    else:
        mean, sd = fitted_moments(sample_sums(grid, samples + 1, rng).astype(np.float64))
    whole = Tail(grid.values, grid.size, 0)
    p = normal_tail(grid.observed, mean, sd, side)
    least = min(normal_tail(edge, mean, sd, side) for edge in (whole.least, whole.greatest))
    p, least = max(p, _SMALLEST), max(least, _SMALLEST)
    return Significance(p, None, None, method, least, False, p)
