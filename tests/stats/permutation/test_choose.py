"""What every p-value obeys, and which method is taken when."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.messages import naming

from weatherglass.errors import SignificanceError, UnknownNameError
from weatherglass.stats.permutation import (
    ALTERNATIVES,
    METHODS,
    Alternative,
    Budget,
    Significance,
    permutation_test,
)

SMALLEST = sys.float_info.min
FLIPPED: dict[Alternative, Alternative] = {
    "greater": "less",
    "less": "greater",
    "two-sided": "two-sided",
    "observed": "observed",
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sizes", [(9, 9), (7, 12), (24, 15)])
def test_the_order_of_the_elements_changes_nothing_to_the_last_bit(
    method: str, sizes: tuple[int, int]
) -> None:
    rng = np.random.default_rng(4)
    coarse = method in ("lattice", "enumerate")
    x, y = rng.normal(1.5, 1, sizes[0]), rng.normal(0, 1, sizes[1])
    if coarse:
        x, y = x.round(1), y.round(1)
    one = permutation_test(x, y, method=method)
    for _ in range(3):
        assert permutation_test(rng.permutation(x), rng.permutation(y), method=method) == one


@settings(max_examples=200)
@given(
    scores=st.lists(st.integers(-20, 20), min_size=2, max_size=14),
    share=st.floats(0, 1),
    alternative=st.sampled_from(ALTERNATIVES),
)
def test_swapping_x_and_y_flips_the_alternative(
    scores: list[int], share: float, alternative: Alternative
) -> None:
    size = min(max(round(share * len(scores)), 1), len(scores) - 1)
    x, y = np.array(scores[:size]) * 0.1, np.array(scores[size:]) * 0.1
    one = permutation_test(x, y, alternative=alternative)
    other = permutation_test(y, x, alternative=FLIPPED[alternative])
    mean_exactly = sum(scores[:size]) * len(scores) == size * sum(scores)
    if alternative == "observed" and mean_exactly:
        return  # On neither side: both count as greater.
    assert one == other
    negated = permutation_test(-x, -y, alternative=FLIPPED[alternative])
    assert negated.p_value == one.p_value


@pytest.mark.parametrize("method", ["enumerate", "meet-in-the-middle", "bounds", "normal"])
def test_scale_and_offset_leave_p_as_it_is(method: str) -> None:
    rng = np.random.default_rng(8)
    x, y = rng.normal(1, 1, 10), rng.normal(0, 1, 10)
    one = permutation_test(x, y, method=method).p_value
    assert permutation_test(x * 1024, y * 1024, method=method).p_value == one
    assert permutation_test(3.7 * x + 2, 3.7 * y + 2, method=method).p_value == pytest.approx(one, rel=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_constant_scores_have_p_1(method: str) -> None:
    found = permutation_test(np.full(6, 0.3), np.full(9, 0.3), method=method)
    assert (found.p_value, found.p_floor) == (1.0, 1.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_p_lies_between_its_floor_and_1(method: str, alternative: Alternative) -> None:
    rng = np.random.default_rng(6)
    for sizes in ((2, 2), (5, 3), (11, 13)):
        for shift in (-5.0, 0.0, 0.4, 5.0):
            x = rng.normal(shift, 1, sizes[0]).round(2)
            y = rng.normal(0, 1, sizes[1]).round(2)
            found = permutation_test(x, y, method=method, alternative=alternative, rng=rng)
            assert 0 < found.p_floor <= found.p_value <= 1
            if found.p_low is not None and found.p_high is not None:
                assert found.p_low <= found.p_value <= found.p_high


@pytest.mark.parametrize(
    ("sizes", "alternative", "floor"),
    [
        ((8, 8), "greater", 1 / 12870),
        ((8, 8), "less", 1 / 12870),
        ((8, 8), "two-sided", 2 / 12870),
        ((4, 4), "observed", 1 / 70),
    ],
)
def test_the_floor_is_one_partition_of_all(
    sizes: tuple[int, int], alternative: Alternative, floor: float
) -> None:
    rng = np.random.default_rng(0)
    found = permutation_test(rng.normal(size=sizes[0]), rng.normal(size=sizes[1]), alternative=alternative)
    assert found.p_floor == floor


def test_ties_with_the_most_extreme_partition_raise_the_floor() -> None:
    # The largest sum of 3 takes 9 and two of the four 5s: C(4, 2) of C(8, 3) partitions.
    scores = np.array([9.0, 5, 5, 5, 5, 1, 0, 0])
    assert permutation_test(scores[:3], scores[3:]).p_floor == math.comb(4, 2) / math.comb(8, 3)


def between(low: float, found: Significance, high: float) -> bool:
    return found.p_low is not None and low <= found.p_low and found.p_value <= high


def test_500_elements_at_p_near_1e_100() -> None:
    rng = np.random.default_rng(10)
    found = permutation_test(rng.normal(2.6, 1, 250), rng.normal(0, 1, 250))
    assert found.p_method == "bounds"
    assert between(1e-110, found, 1e-90)
    assert found.p_low is not None
    assert found.p_value <= 1.01 * found.p_low


def test_500_elements_at_p_one_half() -> None:
    scores = np.random.default_rng(10).normal(size=250)
    # X and Y alike but for a trifle: the observed sum is near the mean.
    found = permutation_test(scores + 1e-5, scores)
    assert between(0.49, found, 0.51)


def test_500_elements_apart_are_one_partition() -> None:
    rng = np.random.default_rng(10)
    found = permutation_test(rng.normal(50, 1, 250), rng.normal(0, 1, 250))
    assert found.p_value == 1 / math.comb(500, 250)
    assert found.p_method == "enumerate"


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("shift", [0.0, 0.4, 60.0])
def test_2000_elements(alternative: Alternative, shift: float) -> None:
    rng = np.random.default_rng(12)
    found = permutation_test(rng.normal(shift, 1, 1000), rng.normal(0, 1, 1000), alternative=alternative)
    assert found.p_low is not None
    assert found.p_high is not None
    assert found.p_low <= found.p_value == found.p_high <= 1
    if shift == 60.0 and alternative != "less":
        # 1 / C(2000, 1000) is about 5e-601: the smallest normal number stands for it.
        assert (found.p_value, found.p_low) == (SMALLEST, 0.0)
    else:
        assert found.p_high - found.p_low <= 0.011 * found.p_low


@pytest.mark.parametrize("method", ["auto", "bounds", "enumerate"])
def test_p_below_the_smallest_number_is_not_0(method: str) -> None:
    x, y = np.arange(700.0) + 1e4, np.arange(800.0)
    found = permutation_test(x, y, method=method)
    assert (found.p_low, found.p_value, found.p_high, found.p_floor) == (0.0, SMALLEST, SMALLEST, SMALLEST)


def test_auto_counts_where_it_can_and_bounds_where_it_cannot() -> None:
    rng = np.random.default_rng(14)

    def method_for(x_size: int, y_size: int, decimals: int, **options: Budget) -> str:
        x, y = rng.normal(0.3, 1, x_size).round(decimals), rng.normal(0, 1, y_size).round(decimals)
        return permutation_test(x, y, **options).p_method  # type: ignore[arg-type]

    assert method_for(8, 8, 15) == "enumerate"
    assert method_for(20, 20, 15) == "meet-in-the-middle"
    assert method_for(60, 60, 1) == "lattice"
    assert method_for(60, 60, 15) == "bounds"
    assert method_for(20, 20, 15, budget=Budget(seconds=0.0005)) == "bounds"
    assert method_for(20, 20, 15, budget=Budget(bytes=1000, seconds=0.1)) == "bounds"


def test_exact_that_does_not_fit_says_what_would_be_needed() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=40), rng.normal(size=40)
    with pytest.raises(SignificanceError, match=r"40 \+ 40 .*\d s .*'bounds'"):
        permutation_test(x, y, method="exact")
    with pytest.raises(SignificanceError, match=naming("lattice", suggesting="bounds")):
        permutation_test(x, y, method="lattice")


def test_unknown_names_are_refused_with_the_nearest_one() -> None:
    x, y = np.array([1.0, 2.0]), np.array([3.0])
    with pytest.raises(UnknownNameError, match=naming("sample", suggesting="sampled")):
        permutation_test(x, y, method="sample")
    with pytest.raises(UnknownNameError, match=naming("twosided", suggesting="two-sided")):
        permutation_test(x, y, alternative="twosided")  # type: ignore[arg-type]


def test_importing_significance_loads_no_compiler() -> None:
    code = "import sys, weatherglass.stats.permutation; print([m for m in ('numba', 'scipy') if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
