"""Beyond the reach of counting, bounds become coarser by degrees; what is finer lies within what is coarser."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from weatherglass.arrays import Vector
from weatherglass.stats.permutation import Alternative, Budget, Significance, permutation_test

BUDGET = Budget(seconds=0.01)
"""Counting then ends before 20 + 20."""


def normal_scores(n_x: int, n_y: int, seed: int = 0) -> tuple[Vector, Vector]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=n_x) + 0.5, rng.normal(size=n_y)


def gap(found: Significance) -> float:
    assert found.p_low is not None
    return found.p_value / found.p_low - 1


@pytest.mark.large
@pytest.mark.parametrize("sizes", [(26, 26), (28, 28), (24, 30), (30, 29), (33, 33)])
@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_what_auto_certifies_lies_within_bounds_of_one_percent(
    sizes: tuple[int, int], alternative: Alternative
) -> None:
    for seed in range(4):
        x, y = normal_scores(*sizes, seed)
        finer = permutation_test(x, y, alternative=alternative)
        coarser = permutation_test(x, y, alternative=alternative, method="bounds")
        assert finer.p_method == coarser.p_method == "bounds"
        assert finer.p_low is not None
        assert coarser.p_low is not None
        assert coarser.p_low <= finer.p_low <= finer.p_value <= coarser.p_value
        assert finer.certified


def test_the_first_size_that_is_not_counted_is_certified_to_three_digits_and_larger_ones_to_fewer() -> None:
    gaps = []
    for n in range(26, 37):
        found = permutation_test(*normal_scores(n, n))
        assert found.p_method == "bounds"
        gaps.append(gap(found))
    assert gaps[0] < 0.0005
    assert gaps[-1] > 0.005
    assert max(gaps) <= 0.01
    assert gaps[:-2] == sorted(gaps[:-2])
    # Each step is a small one: the precision is never lost all at once.
    assert max(after / before for before, after in pairwise(gaps)) < 2.2


def test_a_precision_that_was_asked_for_is_never_made_coarser() -> None:
    for n, precision in ((29, 0.0005), (33, 0.002), (60, 0.005)):
        found = permutation_test(*normal_scores(n, n), precision=precision)
        assert found.p_method == "bounds"
        assert gap(found) <= precision


def test_a_larger_budget_counts_what_a_smaller_one_bounds() -> None:
    for n in (20, 21, 22):
        x, y = normal_scores(n, n)
        bounded = permutation_test(x, y, budget=BUDGET)
        counted = permutation_test(x, y)
        assert (bounded.p_method, counted.p_method) == ("bounds", "meet-in-the-middle")
        assert bounded.p_low is not None
        assert bounded.p_low <= counted.p_value <= bounded.p_value


def test_two_sided_p_of_equal_sets_is_twice_the_smaller_tail_where_p_is_bounded_too() -> None:
    for n in (26, 31):
        x, y = normal_scores(n, n)
        both, one = (permutation_test(x, y, alternative=tail) for tail in ("two-sided", "observed"))
        assert both.p_value == pytest.approx(2 * one.p_value, rel=1e-9)
        assert both.p_low == pytest.approx(2 * (one.p_low or 0), rel=1e-9)
