"""Selection from a ranking: ties share places, ratios agree with counts, and the four-fifths rule has three answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from weatherglass.stats.selection import (
    FourFifths,
    impact_ratios,
    p_of_copies,
    rate_of_names,
    standing_among_copies,
)

QUERIES = np.repeat(np.arange(3), 2)


def test_as_many_copies_are_selected_as_there_are_places_whatever_ties() -> None:
    rng = np.random.default_rng(1)
    for decimals in (0, 1, 6):
        standing = standing_among_copies(np.round(rng.normal(size=(10, 6)), decimals), QUERIES)
        for top, places in ((0.1, 2), (0.26, 5), (3, 3), (1, 1)):
            chosen = standing.selected(top)
            assert [chosen[:, query == QUERIES].sum() for query in range(3)] == pytest.approx([places] * 3)


def test_copies_that_tie_share_the_last_place_and_the_middle_rank() -> None:
    standing = standing_among_copies(np.array([[3.0], [2.0], [2.0], [1.0]]), np.zeros(1, np.int64))
    assert standing.selected(2).ravel() == pytest.approx([1, 0.5, 0.5, 0])
    assert standing.exposure().ravel() == pytest.approx(1 / np.log2([2, 3.5, 3.5, 5]))
    assert standing.selected(0.01).ravel() == pytest.approx([1, 0, 0, 0])


def test_a_rate_is_the_mean_over_queries_of_the_mean_over_passages() -> None:
    values = np.array([[1.0, 0.0, 0.0, 1.0, 1.0]])
    assert rate_of_names(values, np.array([0, 0, 0, 1, 1])) == pytest.approx([(1 / 3 + 1) / 2])


def test_the_order_of_names_does_not_matter_where_copies_tie() -> None:
    rng = np.random.default_rng(2)
    scores = np.round(rng.normal(size=(8, 6)), 0)
    one = standing_among_copies(scores, QUERIES).selected(0.2)
    other = standing_among_copies(scores[::-1], QUERIES).selected(0.2)
    assert one == pytest.approx(other[::-1])


def test_ratios_are_relative_to_the_most_selected_group_and_wider_with_more_groups() -> None:
    rng = np.random.default_rng(3)
    high, low, middle = rng.uniform(0.2, 0.3, 8), rng.uniform(0.1, 0.2, 8), rng.uniform(0.15, 0.25, 8)
    best, own = impact_ratios([high, low])
    assert (best.ratio, best.low, best.high, best.rule) == (1.0, None, None, None)
    assert own.ratio == pytest.approx(low.mean() / high.mean())
    assert own.low is not None
    assert own.high is not None
    assert own.low < low.mean() / high.mean() < own.high
    of_three = impact_ratios([high, low, middle])[1]
    assert of_three.low is not None
    assert of_three.high is not None
    assert of_three.ratio == own.ratio
    assert of_three.low < own.low
    assert of_three.high > own.high
    swapped = impact_ratios([low, high])
    assert swapped == [own, best]


@pytest.mark.parametrize(
    ("own", "rule"),
    [
        (np.full(8, 0.1) + np.arange(8) / 1000, FourFifths.FAILS),
        (np.full(8, 0.19) + np.arange(8) / 1000, FourFifths.PASSES),
        (np.linspace(0.0, 0.38, 8), FourFifths.NOT_DECIDED),
        (np.zeros(8), FourFifths.FAILS),
    ],
)
def test_the_whole_interval_has_to_be_on_one_side_of_four_fifths(own: np.ndarray, rule: FourFifths) -> None:
    best = np.full(8, 0.2) + np.arange(8) / 1000
    assert impact_ratios([best, own])[1].rule is rule


def test_an_interval_below_four_fifths_does_not_decide_where_few_names_take_all_places() -> None:
    best, own = np.array([0.8, 0.02, 0.0, 0.0]), np.array([0.012, 0.01, 0.011, 0.01])
    wide = impact_ratios([best, own])[1]
    assert (wide.ratio or 1) < 0.1
    assert wide.rule is FourFifths.NOT_DECIDED
    rng, false_alarms = np.random.default_rng(6), 0
    queries = np.repeat(np.arange(12), 4)
    for _ in range(300):
        scores = 4 * rng.normal(size=(16, 1)) + rng.normal(size=(16, 48))
        rates = rate_of_names(standing_among_copies(scores, queries).selected(0.1), queries)
        false_alarms += any(one.rule is FourFifths.FAILS for one in impact_ratios(np.split(rates, 2)))
    assert false_alarms <= 15 + 3 * np.sqrt(15)


def test_a_group_that_is_never_selected_fails_only_if_chance_is_ruled_out() -> None:
    few = impact_ratios([np.array([0.5, 0.0, 0.0]), np.zeros(3)])[1]
    assert (few.ratio, few.low, few.high, few.rule) == (0.0, None, None, FourFifths.NOT_DECIDED)
    assert all(one.ratio is None for one in impact_ratios([np.zeros(3), np.zeros(3)]))


def test_the_profile_copies_is_the_chi_square_of_a_table_of_counts() -> None:
    rng = np.random.default_rng(4)
    selected = (rng.random((10, 12)) < 0.3).astype(float)
    groups = np.array([0] * 4 + [1] * 3 + [2] * 3)
    chosen = [selected[groups == group].sum() for group in range(3)]
    sizes = [selected[groups == group].size for group in range(3)]
    table = [chosen, [size - own for size, own in zip(sizes, chosen, strict=True)]]
    assert p_of_copies(selected, groups) == pytest.approx(chi2_contingency(table, correction=False).pvalue)
    assert p_of_copies(np.zeros((4, 3)), np.array([0, 0, 1, 1])) == 1
