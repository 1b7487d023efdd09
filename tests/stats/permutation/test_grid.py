"""The grid: ties are ties, whatever the order, the scale or the last bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages import naming

from weatherglass.errors import UnitError
from weatherglass.stats import Alternative
from weatherglass.stats.permutation import permutation_test
from weatherglass.stats.permutation.grid import FEW_PARTITIONS, on_grid


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30))
def test_the_order_of_the_scores_does_not_matter(scores: list[float]) -> None:
    x, y = scores[: len(scores) // 2], scores[len(scores) // 2 :]
    grid = on_grid(np.array(x), np.array(y))
    again = on_grid(np.array(sorted(x)), np.array(sorted(y, reverse=True)))
    assert np.array_equal(grid.values, again.values)
    assert grid.observed == again.observed


@pytest.mark.parametrize("unit", [1.0, 0.1, 1 / 3, 1e-7, 1e200, 3e-310, np.pi])
def test_multiples_of_any_unit_are_whole_numbers(unit: float) -> None:
    multiples = np.array([3, -7, 12, 0, 5, 5, 1])
    grid = on_grid(multiples[:3] * unit, multiples[3:] * unit)
    assert np.array_equal(grid.values, np.sort(multiples) + 7)
    assert grid.observed == 3 - 7 + 12 + 3 * 7


def test_an_offset_common_to_all_scores_is_left_out() -> None:
    multiples = np.array([3, -7, 12, 0, 5])
    grid = on_grid(multiples[:2] * 0.01 + 0.618, multiples[2:] * 0.01 + 0.618)
    assert np.array_equal(grid.values, np.sort(multiples) + 7)


def test_scores_that_differ_in_the_last_bits_are_tied() -> None:
    score = 0.7316
    near = [score, np.nextafter(score, 1), score * (1 + 4e-13), -0.2]
    grid = on_grid(np.array(near[:2]), np.array(near[2:]))
    assert grid.values.tolist() == [0, 1, 1, 1]


def test_scores_that_differ_by_more_are_not_tied() -> None:
    grid = on_grid(np.array([1.0, 1 + 1e-11]), np.array([0.25]))
    assert len(set(grid.values.tolist())) == 3


def test_negating_all_scores_mirrors_the_grid() -> None:
    scores = np.random.default_rng(0).normal(size=20)
    grid, mirrored = on_grid(scores[:10], scores[10:]), on_grid(-scores[:10], -scores[10:])
    assert np.array_equal(mirrored.values, grid.values[-1] - grid.values[::-1])


@pytest.mark.parametrize("n", [3, 257, 5000])
def test_sums_of_all_scores_cannot_overflow(n: int) -> None:
    scores = np.random.default_rng(n).uniform(-1, 1, n)
    values = on_grid(scores[:1], scores[1:]).values
    assert sum(values.tolist()) < 2**62
    assert values[-1] > 2**40


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_score_that_is_no_number_is_refused(bad: float) -> None:
    with pytest.raises(UnitError, match="finite"):
        on_grid(np.array([1.0, bad]), np.array([2.0]))


def test_an_empty_set_is_refused() -> None:
    with pytest.raises(UnitError, match=naming("X", "Y")):
        on_grid(np.array([]), np.array([2.0]))


TIED = ([0.3, 0.61, 0.1 + np.pi / 7], [0.61 + 0.1, 0.3 + np.pi / 7 - 0.1, 0.1 + 1e-15, 0.83])
"""0.3 + 0.1 + π/7 and 0.1 + 0.3 + π/7 − 0.1 + 0.1: sums of different scores that are equal but for the last bits."""


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
@pytest.mark.parametrize("scale", [1.0, 3.0, 0.7, 1e-3 / 3, np.pi])
def test_sums_equal_but_for_the_last_bits_are_ties_before_and_after_scaling(
    scale: float, alternative: Alternative
) -> None:
    from itertools import combinations

    x, y = (np.array(side) for side in TIED)
    both = np.concatenate([x, y])
    sums = np.array([sum(both[list(chosen)]) for chosen in combinations(range(7), 3)])
    observed, mean, tie = x.sum(), 3 * both.mean(), 1e-12 * np.abs(both).sum()
    hits = {
        "greater": sums >= observed - tie,
        "less": sums <= observed + tie,
        "two-sided": np.abs(sums - mean) >= abs(observed - mean) - tie,
    }[alternative].sum()
    ours = permutation_test(scale * x, scale * y, alternative=alternative)
    assert ours.p_value == hits / 35
    assert ours.p_value >= ours.p_floor


def test_among_very_many_partitions_near_sums_are_told_apart() -> None:
    scores = np.random.default_rng(0).normal(size=34)
    assert on_grid(scores[:4], scores[4:12]).slack > 0
    assert on_grid(scores[:17], scores[17:]).slack == 0
    assert on_grid(np.arange(5.0), np.arange(7.0)).slack == 0, "whole numbers are equal or not"
    assert FEW_PARTITIONS < 601_080_390, "16 + 16, as in weat4 and weat5, stay as they were published"
