"""Intervals over groups of base pairs: against the jackknife written out, and how often they hold the truth."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from scipy.stats import t
from tests.messages import in_order

from weatherglass.arrays import Vector
from weatherglass.reliability.agreement.icc import (
    MeanSquares,
    Tables,
    agreement_icc,
    alpha_of,
    connected_groups,
    consistency_icc,
    cronbach_alpha,
    group_interval,
    inter_rater,
    leave_one_group_out,
    retest,
)
from weatherglass.reliability.lists import base_pairs


def test_pairs_that_share_a_word_are_one_group_also_by_way_of_others() -> None:
    pairs = [("a", "b"), ("c", "d"), ("e", "f"), ("d", "g"), ("b", "e")]
    assert connected_groups(pairs).tolist() == [0, 1, 0, 1, 0]
    assert connected_groups([]).tolist() == []


def test_the_sexual_orientation_pairs_are_four_groups() -> None:
    """By their first words (Du et al. 2021): straight 3, heterosexual 4, hetero 1, heterosexualism 4."""
    assert np.bincount(connected_groups(base_pairs("sexual_orientation").pairs)).tolist() == [3, 4, 1, 4]


GROUPS = np.array([0, 1, 1, 2, 0, 3, 3, 3, 4])


@pytest.mark.parametrize("group", range(5))
def test_mean_squares_without_a_group_are_those_of_the_other_rows(group: int) -> None:
    tables = 100 + np.random.default_rng(3).normal(size=(4, 9, 5))
    own = list(leave_one_group_out(tables, GROUPS))[group]
    expected = MeanSquares.of(tables[:, group != GROUPS])
    assert (own.n, own.k) == (expected.n, expected.k)
    for name in ("rows", "columns", "error"):
        assert getattr(own, name) == pytest.approx(getattr(expected, name), rel=1e-9)


def by_hand(table: Tables, estimate: object, raters: int) -> tuple[float, float]:
    """Busing, Meijer & van der Leeden (1999), equations 2 and 4, one group after the other."""

    def z(rows: Tables) -> float:
        value = float(estimate(rows).value)  # type: ignore[operator]
        return math.log((1 + (raters - 1) * value) / (1 - value))

    full, n, number = z(table), len(table), int(GROUPS.max()) + 1
    h = [n / int(np.bincount(GROUPS)[group]) for group in range(number)]
    left = [z(table[group != GROUPS]) for group in range(number)]
    centre = number * full - sum((1 - 1 / h[j]) * left[j] for j in range(number))
    pseudo = [h[j] * full - (h[j] - 1) * left[j] for j in range(number)]
    variance = sum((pseudo[j] - centre) ** 2 / (h[j] - 1) for j in range(number)) / number
    reach = float(t.ppf(0.975, number - 1)) * variance**0.5
    ends = [math.exp(full - reach), math.exp(full + reach)]
    return (ends[0] - 1) / (ends[0] + raters - 1), (ends[1] - 1) / (ends[1] + raters - 1)


def test_the_interval_is_the_jackknife_written_out() -> None:
    rng = np.random.default_rng(8)
    tables = rng.normal(size=(3, 9, 1)) + 0.2 * rng.normal(size=(3, 1, 6)) + 0.6 * rng.normal(size=(3, 9, 6))
    for value, estimate, raters in (
        (agreement_icc, retest, 6),
        (consistency_icc, inter_rater, 6),
        (alpha_of, cronbach_alpha, 1),
    ):
        interval = group_interval(tables, GROUPS, value)
        assert interval.groups == 5
        for word in range(3):
            assert (interval.low[word], interval.high[word]) == pytest.approx(
                by_hand(tables[word], estimate, raters)
            )


def test_fewer_than_three_groups_are_not_estimable() -> None:
    interval = group_interval(np.ones((2, 6, 3)), np.array([0, 0, 0, 1, 1, 1]), consistency_icc)
    assert np.isnan(interval.low).all()
    assert re.search(in_order("not estimable", "2 groups", 3), interval.reason)
    few = group_interval(np.ones((4, 3)), np.array([0, 1, 2, 2]), alpha_of)
    assert re.search(in_order("not estimable", "4 base pairs", 5), few.reason)
    one_large = group_interval(np.ones((6, 3)), np.array([0, 1, 1, 1, 1, 1]), alpha_of)
    assert math.isnan(one_large.low)


def test_perfect_agreement_has_an_interval_of_no_width() -> None:
    table = np.repeat(np.arange(6.0)[:, None], 3, axis=1)
    interval = group_interval(table, np.array([0, 0, 1, 1, 2, 3]), agreement_icc)
    assert [float(interval.low), float(interval.high)] == [1, 1]


def coverage(sizes: list[int], shared: float, truth: float) -> tuple[float, float]:
    """Of 2 000 layouts, how many intervals hold the truth: the formula's, and over groups.

    Args:
        shared: The share of the rows' variance that the rows of one group have in common.
    """
    rng = np.random.default_rng(4)
    groups = np.repeat(np.arange(len(sizes)), sizes)
    common = rng.normal(size=(2000, len(sizes), 1))[:, groups]
    rows = shared**0.5 * common + (1 - shared) ** 0.5 * rng.normal(size=common.shape)
    tables = truth**0.5 * rows + (1 - truth) ** 0.5 * rng.normal(size=(2000, len(groups), 6))
    formula, over_groups = inter_rater(tables), group_interval(tables, groups, consistency_icc)

    def held(low: Vector, high: Vector) -> float:
        return float(((low < truth) & (truth < high)).mean())

    return held(formula.low, formula.high), held(over_groups.low, over_groups.high)


def test_both_intervals_hold_the_truth_without_shared_words() -> None:
    formula, over_groups = coverage([1] * 15, 0.0, 0.7)
    assert formula == pytest.approx(0.95, abs=0.02)
    assert over_groups == pytest.approx(0.95, abs=0.03)


def test_with_shared_words_the_formula_holds_the_truth_too_rarely() -> None:
    formula, over_groups = coverage([3] * 10, 0.9, 0.8)
    assert formula < 0.85
    assert over_groups > 0.90
