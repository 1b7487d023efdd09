"""Agreement against the worked example of Shrout & Fleiss, an independent package and the layout written out."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages import in_order, mentions

from weatherglass.reliability.agreement.assess import five_number_summary
from weatherglass.reliability.agreement.claims import alpha_label, icc_label
from weatherglass.reliability.agreement.icc import (
    MeanSquares,
    absolute_agreement,
    cronbach_alpha,
    inter_rater,
    pearson,
    retest,
    standardise,
)
from weatherglass.reliability.agreement.seeds import batches_of_seeds, estimate_by_seeds, seed_sentences
from weatherglass.reliability.scoring import DEFAULT_RULES
from weatherglass.reliability.scoring.scores import ScoreTensor
from weatherglass.reliability.tables import StudyCondition

SHROUT_FLEISS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float
)
"""Shrout & Fleiss 1979, Table 2: six targets, four judges."""


def layout(seed: int, shape: tuple[int, ...] = (23, 8)) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Rows that differ, columns that are shifted, and noise; rounded so that other packages can be given the same."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.normal(size=(*shape[:-1], 1)), rng.normal(size=(*shape[:-2], 1, shape[-1]))
    return np.round(rows + 0.3 * columns + 0.5 * rng.normal(size=shape), 3)


def test_the_worked_example_of_shrout_and_fleiss() -> None:
    """Shrout & Fleiss 1979, Tables 3 and 4: mean squares 11.24, 32.49, 1.02; ICC(2,1) = .29, ICC(3,1) = .71."""
    squares = MeanSquares.of(SHROUT_FLEISS)
    assert [squares.rows, squares.columns, squares.error] == pytest.approx([11.24, 32.49, 1.02], abs=0.005)
    assert retest(SHROUT_FLEISS).value == pytest.approx(0.29, abs=0.005)
    assert inter_rater(SHROUT_FLEISS).value == pytest.approx(0.71, abs=0.005)


def test_estimates_and_intervals_equal_those_of_pingouin() -> None:
    """pingouin 0.7.0: intraclass_corr (ICC2 and ICC3, printed with 8 digits, intervals with 2) and cronbach_alpha."""
    table = layout(2021)
    agreement, consistency, alpha = retest(table), inter_rater(table), cronbach_alpha(table)
    assert agreement.value == pytest.approx(0.63229481, abs=1e-8)
    assert [agreement.low, agreement.high] == pytest.approx([0.45, 0.80], abs=0.0051)
    assert consistency.value == pytest.approx(0.74012516, abs=1e-8)
    assert [consistency.low, consistency.high] == pytest.approx([0.61, 0.86], abs=0.0051)
    assert alpha.value == pytest.approx(0.9579550157152635, abs=1e-12)
    assert [alpha.low, alpha.high] == pytest.approx([0.926, 0.980], abs=0.00051)


def test_intervals_of_the_worked_example_equal_those_of_pingouin() -> None:
    """pingouin 0.7.0 on the data of Shrout & Fleiss; R's psych prints the same (0.019 to 0.76, 0.34 to 0.95)."""
    agreement, consistency = retest(SHROUT_FLEISS), inter_rater(SHROUT_FLEISS)
    assert [agreement.low, agreement.high] == pytest.approx([0.02, 0.76], abs=0.0051)
    assert [consistency.low, consistency.high] == pytest.approx([0.34, 0.95], abs=0.0051)


def test_all_words_at_once_equal_word_by_word() -> None:
    tables = layout(5, (40, 9, 4))
    for estimate in (retest, inter_rater, cronbach_alpha):
        at_once = estimate(tables) if estimate is not cronbach_alpha else estimate(tables.swapaxes(1, 2))
        for word in range(40):
            alone = estimate(tables[word]) if estimate is not cronbach_alpha else estimate(tables[word].T)
            assert at_once.value[word] == pytest.approx(alone.value, rel=1e-12, nan_ok=True)
            assert at_once.low[word] == pytest.approx(alone.low, rel=1e-9, nan_ok=True)
            assert at_once.high[word] == pytest.approx(alone.high, rel=1e-9, nan_ok=True)


@given(seed=st.integers(0, 10**6), n=st.integers(5, 12), k=st.integers(2, 7))
def test_an_interval_holds_its_estimate_and_agreement_is_never_above_consistency_when_columns_differ(
    seed: int, n: int, k: int
) -> None:
    table = layout(seed, (n, k))
    for estimate in (retest(table), inter_rater(table)):
        assert estimate.low <= estimate.value <= estimate.high
    squares = MeanSquares.of(table)
    if squares.columns > squares.error and squares.rows > squares.error:
        assert retest(table).value <= inter_rater(table).value + 1e-12


@given(seed=st.integers(0, 10**6), shift=st.floats(-5, 5), scale=st.floats(0.1, 10))
def test_a_common_shift_and_scale_changes_nothing(seed: int, shift: float, scale: float) -> None:
    table = layout(seed, (8, 5))
    for estimate in (retest, inter_rater, cronbach_alpha):
        assert estimate(shift + scale * table).value == pytest.approx(estimate(table).value, abs=1e-9)


def test_negative_agreement_is_not_cut_off_at_0() -> None:
    table = np.array([[1, -1], [-1, 1], [2, -2], [-2, 2], [3, -3]], dtype=float)
    assert retest(table).value < -0.5
    assert inter_rater(table).value < -0.5


def test_perfect_agreement_is_1_with_an_interval_of_no_width() -> None:
    table = np.repeat(np.arange(6.0)[:, None], 3, axis=1)
    for estimate in (retest(table), inter_rater(table)):
        assert [estimate.value, estimate.low, estimate.high] == [1, 1, 1]


@pytest.mark.parametrize(("shape", "has", "needed"), [((4, 8), "4 base pairs", 5), ((9, 1), "one seed", 2)])
def test_too_few_rows_or_seeds_are_not_estimable(shape: tuple[int, int], has: str, needed: int) -> None:
    estimate = retest(layout(1, shape))
    assert math.isnan(estimate.value)
    assert re.search(in_order("not estimable", has, needed), estimate.reason)


def test_too_few_items_or_no_variance_are_not_estimable() -> None:
    few = cronbach_alpha(layout(1, (9, 4)), items="words").reason
    assert re.search(in_order("not estimable", "4 words", 5), few)
    assert mentions(cronbach_alpha(np.ones((9, 6))).reason, "not estimable", "vary")


def test_standardised_scores_have_one_mean_and_one_spread() -> None:
    scores = standardise(layout(3, (30, 7)))
    assert [scores.mean(), scores.std(ddof=1)] == pytest.approx([0, 1], abs=1e-12)
    assert scores.mean(axis=0).std() > 0.01


def test_pearson_of_a_line_is_1_or_minus_1() -> None:
    x = np.arange(9.0)
    assert [pearson(x, 2 * x + 1).value, pearson(x, -x).value] == pytest.approx([1, -1])


def test_pearson_and_its_interval_are_those_of_scipy() -> None:
    from scipy.stats import pearsonr

    one, other = layout(17, (30, 2)).T
    estimate, expected = pearson(one, other), pearsonr(one, other)
    interval = expected.confidence_interval()
    assert [estimate.value, estimate.low, estimate.high] == pytest.approx(
        [expected.statistic, interval.low, interval.high]
    )


def test_scores_that_do_not_vary_have_no_correlation() -> None:
    assert mentions(pearson(np.ones(9), np.arange(9.0)).reason, "not estimable", "vary")
    assert math.isnan(pearson(np.ones(9), np.arange(9.0)).value)


def test_five_numbers_are_those_of_matplotlibs_box() -> None:
    from matplotlib.cbook import boxplot_stats

    values = np.random.default_rng(0).standard_t(2, size=200)
    expected = boxplot_stats(values)[0]
    names = ("whislo", "q1", "med", "q3", "whishi")
    assert list(five_number_summary(np.append(values, np.nan)).values()) == pytest.approx(
        [expected[name] for name in names]
    )


def test_sizes_are_named_as_by_cicchetti() -> None:
    assert [icc_label(value) for value in (0.39, 0.40, 0.59, 0.60, 0.74, 0.75)] == [
        "poor", "fair", "fair", "good", "good", "excellent",
    ]  # fmt: skip
    assert [alpha_label(value) for value in (0.69, 0.70)] == ["not acceptable", "acceptable"]


def tensor_of(scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> ScoreTensor:
    """word × pair × seed, the same for every rule."""
    words, pairs, seeds = scores.shape
    parts = [dict.fromkeys(DEFAULT_RULES, scores[:, :, seed].astype(np.float32)) for seed in range(seeds)]
    return ScoreTensor(
        [str(n) for n in range(words)], [("a", str(n)) for n in range(pairs)], range(seeds), parts
    )


def test_more_seeds_narrow_the_interval_and_leave_the_estimate() -> None:
    squares = MeanSquares.of(layout(7, (50, 12, 8)))
    few, many = absolute_agreement(squares), absolute_agreement(squares.with_columns(64))
    assert many.value == pytest.approx(few.value, rel=1e-9)
    assert np.median(many.high - many.low) < np.median(few.high - few.low)


def test_what_is_foretold_of_many_seeds_is_what_many_seeds_give() -> None:
    """Half of 64 seeds foretell the width that all of them give."""
    scores = layout(11, (60, 15, 64))
    condition = StudyCondition("c", "sgns", "p")
    half = estimate_by_seeds(condition, tensor_of(scores[:, :, :32]), np.arange(60))
    with_64_seeds = estimate_by_seeds(condition, tensor_of(scores), np.arange(60))
    predicted = next(row for row in half if row.seeds == 64)
    measured = next(row for row in with_64_seeds if row.seeds == 64)
    assert (predicted.extrapolated, measured.extrapolated) == (True, False)
    assert predicted.width == pytest.approx(measured.width, rel=0.1)


def test_batches_are_disjoint_and_said_in_words() -> None:
    condition = StudyCondition("c", "sgns", "p")
    tensor = tensor_of(layout(13, (30, 10, 8)))
    batches = batches_of_seeds(condition, tensor, np.arange(30))
    of_rule = [row for row in batches if row.rule == "dbwa"]
    assert [row.which for row in of_rule] == [
        "0 1 2 3 4 5 6 7", "0 1 2 3", "4 5 6 7", "0 1", "2 3", "4 5", "6 7",
    ]  # fmt: skip
    sentences = seed_sentences(batches, estimate_by_seeds(condition, tensor, np.arange(30)))
    assert len(sentences) == 3
    assert mentions(
        sentences["c", "sgns", "p", "dbwa"], "8 seeds", "test–retest", "batches of 4", "extrapolated"
    )
