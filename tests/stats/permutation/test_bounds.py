"""Certified bounds: they hold the exact p, always, and they are narrow where that was asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from weatherglass.stats.permutation import (
    ALTERNATIVES,
    Alternative,
    Budget,
    Significance,
    permutation_test,
)
from weatherglass.stats.permutation.bounds import TiltedStratum, TiltedTail, extremal_transforms
from weatherglass.stats.permutation.exact import count_by_enumeration
from weatherglass.stats.permutation.grid import as_extreme_as, on_grid
from weatherglass.stats.permutation.tilt import find_tilt

KINDS = ("gaussian", "heavy-tailed", "tied", "ranks", "nearly constant", "huge", "tiny", "wild", "apart")


def scores_of(kind: str, n: int, size: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Scores of the kinds that break careless arithmetic."""
    match kind:
        case "gaussian":
            return rng.normal(size=n)
        case "heavy-tailed":
            return rng.standard_cauchy(n)
        case "tied":
            return 0.1 * rng.integers(-3, 4, n).astype(np.float64)
        case "ranks":
            return rng.permutation(n).astype(np.float64)
        case "nearly constant":
            return 1 + 1e-9 * rng.normal(size=n)
        case "huge":
            return 1e300 * rng.normal(size=n)
        case "tiny":
            return 1e-300 * rng.normal(size=n)
        case "wild":
            return rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n)
        case _:
            return np.concatenate([rng.normal(20, 1, size), rng.normal(-20, 1, n - size)])


def ends(found: Significance) -> tuple[float, float]:
    """The two bounds, which these methods always have."""
    assert found.p_low is not None
    assert found.p_high is not None
    return found.p_low, found.p_high


small_tests = given(
    kind=st.sampled_from(KINDS),
    sizes=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    alternative=st.sampled_from(ALTERNATIVES),
    precision=st.sampled_from([0.3, 0.01, 0.0001]),
    seed=st.integers(0, 2**32),
)


@settings(max_examples=300)
@small_tests
def test_bounds_hold_the_exact_p(
    kind: str, sizes: tuple[int, int], alternative: Alternative, precision: float, seed: int
) -> None:
    assert_bounds_hold(kind, sizes, alternative, precision, seed)


@pytest.mark.large
@settings(max_examples=3000)
@small_tests
def test_bounds_hold_the_exact_p_of_3000_tests(
    kind: str, sizes: tuple[int, int], alternative: Alternative, precision: float, seed: int
) -> None:
    assert_bounds_hold(kind, sizes, alternative, precision, seed)


def assert_bounds_hold(
    kind: str, sizes: tuple[int, int], alternative: Alternative, precision: float, seed: int
) -> None:
    scores = scores_of(kind, sum(sizes), sizes[0], np.random.default_rng(seed))
    x, y = scores[: sizes[0]], scores[sizes[0] :]
    exact = permutation_test(x, y, method="exact", alternative=alternative)
    bounds = permutation_test(
        x, y, method="bounds", alternative=alternative, precision=precision, budget=Budget(seconds=0.002)
    )
    low, high = ends(bounds)
    assert 0 < low <= exact.p_value <= high <= 1
    assert bounds.p_value == high
    assert low <= bounds.p_middle <= high
    assert bounds.p_floor == exact.p_floor


@pytest.mark.large
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("alternative", ["greater", pytest.param("two-sided", marks=pytest.mark.large)])
def test_bounds_hold_the_exact_p_of_larger_sets(kind: str, alternative: Alternative) -> None:
    rng = np.random.default_rng(len(kind))
    for size, n in ((18, 36), (9, 34), (22, 38)):
        scores = scores_of(kind, n, size, rng)
        x, y = scores[:size], scores[size:]
        exact = permutation_test(x, y, method="exact", alternative=alternative)
        bounds = permutation_test(x, y, method="bounds", alternative=alternative)
        low, high = ends(bounds)
        assert low <= exact.p_value <= high


def test_any_number_of_terms_gives_bounds() -> None:
    rng = np.random.default_rng(3)
    grid = on_grid(rng.normal(0.5, 1, 10), rng.normal(0, 1, 12))
    (tail,) = as_extreme_as(grid, grid.observed, "greater").tails(grid)
    count = count_by_enumeration(tail, work=10**8)
    assert count is not None
    share = count / tail.subsets
    tilt = find_tilt(tail)
    part = TiltedStratum(tail.values, tail.size, tilt.offset, tilt.centre)
    tilted = TiltedTail([part], tail.threshold, tilt.rate, tilt.log_p, precision=0.01)
    assert tilted.extend(4000, work=10**9) >= 4000
    gaps = []
    for terms in (1, 2, 3, 5, 10, 50, 200, 1000, 4000):
        interval = tilted.interval(terms)
        assert interval.low <= share <= interval.high
        gaps.append(interval.high - interval.low)
    assert gaps[-1] < 0.05 * gaps[3]


@pytest.mark.parametrize("rate", [0.003, 0.1, 1.0, 8.0])
def test_the_extremal_functions_enclose_the_exponential(rate: float) -> None:
    terms = 4096
    majorant, fejer, _ = extremal_transforms(terms, rate)
    u = np.concatenate([np.linspace(-6, 6, 97), [-1.0, 0.0, 1.0]])
    wave = np.exp(2j * math.pi * np.outer(u, np.arange(terms) / terms))
    weights = np.where(np.arange(terms) == 0, 1.0, 2.0) / terms
    # A sum over frequencies of spacing 1/terms repeats the function every `terms`; here that adds next to nothing.
    repeated = sum(np.exp(-rate * (u + terms * j)) for j in range(1, 5))
    above = (wave * (weights * majorant)).real.sum(axis=1)
    below = (wave * (weights * (majorant - fejer))).real.sum(axis=1) - repeated
    exponential = np.where(u >= 0, np.exp(-rate * u), 0.0)
    assert (above >= exponential - 1e-6).all()
    assert (below <= exponential + 1e-6).all()
    # They touch at whole numbers, which is what makes them the best ones.
    assert above[-2] == pytest.approx(1.0 + math.exp(-rate * terms), abs=2e-3)
    assert below[-1] == pytest.approx(math.exp(-rate), abs=2e-3)


@pytest.mark.parametrize(
    ("sizes", "shift"),
    [((32, 32), 0.3), ((32, 32), 1.5), ((300, 300), 0.07), ((300, 300), 1.0), ((40, 400), 0.5)],
)
def test_the_precision_asked_for_is_reached(sizes: tuple[int, int], shift: float) -> None:
    rng = np.random.default_rng(11)
    x, y = rng.normal(shift, 1, sizes[0]), rng.normal(0, 1, sizes[1])
    found = permutation_test(x, y, method="bounds", precision=0.01)
    low, high = ends(found)
    assert high - low <= 0.01 * low
    finer_low, finer_high = ends(permutation_test(x, y, method="bounds", precision=0.002))
    assert low <= finer_high
    assert finer_low <= high


def test_bounds_hold_the_exact_rank_sum_of_200_elements() -> None:
    ranks = np.random.default_rng(5).permutation(200).astype(np.float64)
    exact = permutation_test(ranks[:100], ranks[100:], method="lattice")
    bounds = permutation_test(ranks[:100], ranks[100:], method="bounds")
    low, high = ends(bounds)
    assert low <= exact.p_value <= high
    assert high - low <= 0.01 * low


@pytest.mark.large
@pytest.mark.parametrize("successes", [160, 175, 200, 240, 290])
def test_bounds_hold_hypergeometric_tails_of_600_elements(successes: int) -> None:
    # Nearly two values: tiny differences keep the lattice away and leave the tail as it is.
    failures = 300 - successes
    fine = np.random.default_rng(successes).normal(size=600) * 1e-9
    x = np.array([1.0] * successes + [0.0] * failures)
    y = np.array([1.0] * failures + [0.0] * successes)
    ways = [math.comb(300, k) * math.comb(300, 300 - k) for k in range(301)]
    at_least, more = sum(ways[successes:]), sum(ways[successes + 1 :])
    found = permutation_test(x + fine[:300], y + fine[300:], method="bounds")
    # The fine differences only split the tie at the observed count.
    low, high = ends(found)
    assert low <= at_least / math.comb(600, 300)
    assert more / math.comb(600, 300) <= high <= 1.02 * at_least / math.comb(600, 300)


def test_without_work_the_bounds_are_wide_but_right() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.6, 1, 17), rng.normal(0, 1, 17)
    exact = permutation_test(x, y, method="exact")
    hurried = permutation_test(x, y, method="bounds", budget=Budget(seconds=1e-6))
    low, high = ends(hurried)
    assert low <= exact.p_value <= high
    assert high > 1.02 * low
