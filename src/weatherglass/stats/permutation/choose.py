"""Compute a p-value from scores with the requested method, or with the first method that fits the budget."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.errors import SignificanceError
from weatherglass.registry import unknown
from weatherglass.stats import ALTERNATIVES, Alternative, Budget, Significance
from weatherglass.stats.permutation.grid import Grid, Tail, as_extreme_as, direction, on_grid

EXACT = ("enumerate", "meet-in-the-middle", "lattice")
METHODS = ("auto", "exact", *EXACT, "bounds", "sampled", "normal", "normal-sampled")
ALL_PARTITIONS = 100_000
"""The maximum number of partitions for which `sampled` counts all of them, as in the published code."""
MULTIPLICATIONS_A_SECOND = 500_000_000
"""The budget of `bounds` in multiplications, so that its result does not depend on the load of the machine."""
COUNTING_SECONDS, COUNTING_SHARE = 0.3, 0.15
"""The number of seconds up to which `auto` counts, and the share of a budget larger than the default. It is enough for
25 + 25 words, as in the first tests of Caliskan et al.
"""
ONE_PERCENT_SECONDS = 0.004
"""The approximate time of bounds within 1 % for one tail; bounds of half the width take twice as long."""
FALL = 0.75
"""The exponent of the time of bounds; with 1, it would halve whenever counting takes twice as long, so a smaller value
leaves a margin.
"""
NEAREST = 2.6
"""The smallest factor by which counting is assumed to exceed the allowed time; with a smaller factor, bounds of 26 +
26 words would take twice as long as counting 25 + 25 words.
"""
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
    """Return the share of all relabellings of X and Y whose sum over X is at least as extreme as the observed one.

    The result depends neither on the order of the scores, to the last bit, nor on the speed of the machine.

    Args:
        x: the scores s(w) of the elements of X.
        y: the scores of the elements of Y; the two sizes may differ.
        method: a name from docs/methods 3; `auto` uses an exact method if one fits a share of the budget, else bounds.
        alternative: greater, less, two-sided, or observed (the side of the observed effect).
        budget: the time and memory that a method may use; 2 s and 1 GB by default.
        precision: the relative gap that `bounds` should reach.
        samples: the number of partitions that `sampled` draws; `normal-sampled` draws one more.
        rng: the random number generator; by default, one with seed 0.

    Raises:
        UnknownNameError: if the method or the alternative is unknown.
        SignificanceError: if an exact method was requested but does not fit the budget.
        UnitError: if a set is empty or a score is not finite.
    """
    if method not in METHODS:
        raise unknown("significance method", method, METHODS)
    if alternative not in ALTERNATIVES:
        raise unknown("alternative", alternative, ALTERNATIVES)
    budget = Budget() if budget is None else budget
    rng = np.random.default_rng(0) if rng is None else rng
    grid = on_grid(x, y)
    side = direction(grid, alternative)
    if grid.constant:
        return Significance(
            1.0, 1.0, 1.0, "enumerate" if method in ("auto", "exact") else method, 1.0, True, 1.0
        )
    if method in ("normal", "normal-sampled"):
        return _normal(grid, method, side, samples, rng)
    if method == "sampled":
        return _sampled(grid, side, samples, rng)
    tails = as_extreme_as(grid, grid.observed, side, grid.slack).tails(grid)
    if method == "bounds":
        return _bounded(grid, side, tails, budget, precision)
    from weatherglass.stats.permutation.exact import count_tails

    counting = budget
    if method == "auto":
        seconds = max(min(budget.seconds, COUNTING_SECONDS), COUNTING_SHARE * budget.seconds)
        counting = replace(budget, seconds=seconds)
    counted = count_tails(tails, counting, EXACT if method in ("auto", "exact") else (method,))
    if counted is not None:
        p = counted[0] / grid.partitions  # a quotient of whole numbers, rounded once
        return _certified(p, p, counted[1], floor(grid, side))
    if method == "auto":
        return _bounded(grid, side, tails, budget, min(precision, _precision_instead(tails, counting)))
    raise SignificanceError(_what_would_be_needed(grid, tails, budget, method))


def floor(grid: Grid, side: Alternative) -> float:
    """Return the exact p of the most extreme partition, including ties; 0 if float64 cannot represent it."""
    whole = Tail(grid.values, grid.size, 0)
    least, greatest = whole.least, whole.greatest
    below = (least + greatest) * grid.n < 2 * grid.size * grid.total
    edge = least if side == "less" or (side == "two-sided" and below) else greatest
    counts = [tail.known for tail in as_extreme_as(grid, edge, side).tails(grid)]
    return sum(count for count in counts if count is not None) / grid.partitions


def _precision_instead(tails: Sequence[Tail], counting: Budget) -> float:
    """Return the precision of bounds if counting takes too long, so that cost and precision change smoothly.

    If counting just fits the budget, bounds may take about as long as counting. Whenever counting takes twice as long,
    as with each further word in X and Y, the time of bounds falls to 0.6 times. Only predictions are used; no clock is
    read.
    """
    from weatherglass.stats.permutation.exact import endless_memory_seconds

    beyond = max(endless_memory_seconds(tails) / counting.seconds, NEAREST)
    return 0.01 * len(set(tails)) * ONE_PERCENT_SECONDS / counting.seconds * math.pow(beyond, FALL)


def _certified(low: float, high: float, method: str, least: float) -> Significance:
    """Return a p between two bounds; a bound too small for float64 is replaced by the smallest normal number."""
    low = low if high >= _SMALLEST else 0.0
    high, least = max(high, _SMALLEST), max(least, _SMALLEST)
    middle = high if low in (high, 0.0) else math.sqrt(low) * math.sqrt(high)
    return Significance(high, low, high, method, least, True, middle)


def _bounded(
    grid: Grid, side: Alternative, tails: Sequence[Tail], budget: Budget, precision: float
) -> Significance:
    from weatherglass.stats.permutation.bounds import TailInterval, bound_tail

    work = int(budget.seconds * MULTIPLICATIONS_A_SECOND)
    if len(tails) == 2 and tails[0] is tails[1]:
        interval = bound_tail(tails[0], precision, work)
        interval = interval + interval
    else:
        interval = sum(
            (bound_tail(tail, precision, work // len(tails)) for tail in tails), TailInterval(0.0, 0.0)
        )
    least = floor(grid, side)
    # The observed partition itself is at least as probable as the most extreme one.
    low = max(interval.low, least * (1 - 2**-52))
    return _certified(low, max(interval.high, low), "bounds", least)


def _sampled(grid: Grid, side: Alternative, samples: int, rng: np.random.Generator) -> Significance:
    extreme = as_extreme_as(grid, grid.observed, side, grid.slack)
    if grid.partitions <= ALL_PARTITIONS:
        from weatherglass.stats.permutation.exact import count_tails

        counted = count_tails(extreme.tails(grid), Budget(), ("enumerate",))
        if counted is not None:
            p = counted[0] / grid.partitions
            return _certified(p, p, "sampled (all partitions)", floor(grid, side))
    from weatherglass.stats.permutation.sampled import clopper_pearson, sample_sums

    hits = extreme.among(sample_sums(grid, samples, rng))
    low, high = clopper_pearson(hits, samples)
    p = (hits + 1) / (samples + 1)
    return Significance(p, low, high, "sampled", max(floor(grid, side), 1 / (samples + 1)), False, p)


def _normal(
    grid: Grid, method: str, side: Alternative, samples: int, rng: np.random.Generator
) -> Significance:

    if method == "normal":
        mean, sd = normal_moments(grid)
    else:
        from weatherglass.stats.permutation.sampled import sample_sums

        mean, sd = fitted_moments(sample_sums(grid, samples + 1, rng).astype(np.float64))
    whole = Tail(grid.values, grid.size, 0)
    p = normal_tail(grid.observed, mean, sd, side)
    least = min(normal_tail(edge, mean, sd, side) for edge in (whole.least, whole.greatest))
    p, least = max(p, _SMALLEST), max(least, _SMALLEST)
    return Significance(p, None, None, method, least, False, p)


def _what_would_be_needed(grid: Grid, tails: Sequence[Tail], budget: Budget, method: str) -> str:
    from weatherglass.stats.permutation.exact import cost_of

    needs = []
    for name in EXACT if method == "exact" else (method,):
        cost = cost_of(name, tails, budget)
        needs.append(f"{name} {cost}")
    return (
        f"an exact p of {grid.size} + {grid.n - grid.size} elements does not fit into {budget.seconds:g} s "
        f"and {budget.bytes / 1000000000.0:g} GB ({'; '.join(needs)}); increase the budget, or use 'bounds'"
    )


def normal_moments(grid: Grid) -> tuple[float, float]:
    """Return the mean and the standard deviation of the sum over X, in closed form (docs/methods 3)."""
    n, size, total = grid.n, grid.size, grid.total
    squares = sum(value * value for value in grid.values.tolist())
    # n·Σs² − (Σs)² is computed in integers, so that there is no cancellation for any offset of the scores.
    variance = size * (n - size) * (n * squares - total * total) / (n * n * (n - 1))
    return size * total / n, math.sqrt(variance)


def fitted_moments(sums: Vector) -> tuple[float, float]:
    """Return the mean and the standard deviation (with n − 1) of sampled sums, as in the paper."""
    return float(sums.mean()), float(sums.std(ddof=1))


def normal_tail(observed: float, mean: float, sd: float, side: Alternative) -> float:
    """Return the normal p of an observed sum; `side` is greater, less or two-sided."""
    z = (observed - mean) / sd
    if side == "two-sided":
        return math.erfc(abs(z) / math.sqrt(2))
    return math.erfc((z if side == "greater" else -z) / math.sqrt(2)) / 2
