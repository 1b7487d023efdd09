"""The interval of a claim's median: its three variances written out, how often it holds the truth, and the verdict."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pytest
from scipy.stats import t
from tests.messages import in_order, mentions

from weatherglass.reliability.agreement.assess import assess
from weatherglass.reliability.agreement.claims import (
    CONSISTENCY,
    ENSEMBLE,
    FAILS,
    HOLDS,
    RATER,
    RETEST,
    UNDECIDED,
    ClaimVerdict,
    claims,
)
from weatherglass.reliability.agreement.icc import Tables, cronbach_alpha, inter_rater, retest, standardise
from weatherglass.reliability.agreement.medians import (
    MedianInterval,
    consistency_interval,
    ensemble_interval,
    median_variance,
    rater_intervals,
    retest_interval,
)
from weatherglass.reliability.lists import StudyWordList
from weatherglass.reliability.scoring.scores import ScoreTensor
from weatherglass.reliability.tables import StudyCondition, build_table
from weatherglass.stats.interval import jackknife_variance

RULES = ("dbwa", "ripa", "nbm")


def layout(seed: int, words: int = 21, pairs: int = 7, seeds: int = 4, noise: float = 0.5) -> Tables:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(words, pairs, 1)) + noise * rng.normal(size=(words, pairs, seeds))


def test_the_variance_over_words_is_that_of_drawn_medians() -> None:
    values = np.random.default_rng(1).gamma(2, size=25)
    draws = np.random.default_rng(2).choice(values, (40_000, 25))
    assert median_variance(values) == pytest.approx(np.median(draws, axis=1).var(), rel=0.03)


def expected_interval(median: float, words: float, pairs: list[float], seeds: list[float]) -> list[float]:
    jackknives = [
        (len(left) - 1) / len(left) * sum((one - sum(left) / len(left)) ** 2 for one in left)
        for left in (pairs, seeds)
    ]
    reach = float(t.ppf(0.975, len(pairs) - 1)) * (words + sum(jackknives)) ** 0.5
    return [median - reach, min(median + reach, 1.0)]


def test_the_interval_of_test_retest_is_the_formula_written_out() -> None:
    scores = layout(3)
    own = retest_interval(scores)
    iccs = retest(scores).value
    pairs = [float(np.median(retest(np.delete(scores, pair, 1)).value)) for pair in range(7)]
    seeds = [float(np.median(retest(np.delete(scores, seed, 2)).value)) for seed in range(4)]
    expected = expected_interval(float(np.median(iccs)), median_variance(iccs), pairs, seeds)
    assert [own.low, own.high] == pytest.approx(expected)


def test_the_interval_of_alpha_is_the_formula_written_out() -> None:
    tables = [layout(seed, words=6) for seed in (4, 5, 6)]

    def alphas(some: list[Tables]) -> list[float]:
        return [float(cronbach_alpha(table.mean(2).T).value) for table in some]

    own = consistency_interval([*tables, layout(1, words=3)])  # A query of three words is not estimable.
    pairs = [float(np.median(alphas([np.delete(table, pair, 1) for table in tables]))) for pair in range(7)]
    seeds = [float(np.median(alphas([np.delete(table, seed, 2) for table in tables]))) for seed in range(4)]
    middle = float(np.median(alphas(tables)))
    expected = expected_interval(middle, median_variance(np.array(alphas(tables))), pairs, seeds)
    assert [own.low, own.high] == pytest.approx(expected)


def test_the_interval_of_the_alpha_of_base_pairs_is_the_formula_written_out() -> None:
    scores = layout(11) + np.random.default_rng(12).normal(size=(21, 1, 1))

    def z(some: Tables) -> float:
        return -float(np.log(1 - cronbach_alpha(some.mean(2)).value))

    own = ensemble_interval(scores)
    left_out = [
        [z(np.delete(scores, place, axis)) for place in range(scores.shape[axis])] for axis in range(3)
    ]
    variance = sum(
        (len(part) - 1) / len(part) * np.sum((np.array(part) - np.mean(part)) ** 2) for part in left_out
    )
    reach = float(t.ppf(0.975, 6)) * float(variance) ** 0.5
    expected = [1 - np.exp(-(z(scores) + way * reach)) for way in (-1, 1)]
    assert [own.low, own.high] == pytest.approx(expected)


def test_the_interval_of_the_alpha_of_base_pairs_holds_that_of_other_words_and_pairs() -> None:
    """Pairs that carry the common factor unequally: Feldt's interval, which knows of words only, is far too narrow."""
    rng = np.random.default_rng(13)
    pairs, uneven, noise, seeds = 12, 0.6, 0.5, 4
    own_variance = 1 + uneven**2 + 2.5**2 + noise**2 / seeds
    truth = pairs / (own_variance + pairs - 1)
    inside, feldt = [], []
    for _ in range(150):
        loadings = 1 + uneven * rng.normal(size=pairs)
        scores = rng.normal(size=(200, 1)) * loadings + 2.5 * rng.normal(size=(200, pairs))
        seeded = scores[:, :, None] + noise * rng.normal(size=(200, pairs, seeds))
        own, words_alone = ensemble_interval(seeded), cronbach_alpha(seeded.mean(2))
        inside.append(own.low < truth < own.high)
        feldt.append(bool(words_alone.low < truth < words_alone.high))
    assert np.mean(inside) > 0.9
    assert np.mean(feldt) < np.mean(inside) - 0.2


def tensor_of(scores: list[Tables]) -> ScoreTensor:
    words, pairs, seeds = scores[0].shape
    parts = [
        {rule: table[:, :, seed].astype(np.float32) for rule, table in zip(RULES, scores, strict=True)}
        for seed in range(seeds)
    ]
    return ScoreTensor(
        [f"w{n}" for n in range(words)], [(f"a{n}", f"b{n}") for n in range(pairs)], range(seeds), parts
    )


@pytest.mark.parametrize("scale", ["raw", "standardised"])
def test_the_interval_of_inter_rater_is_the_formula_written_out(scale: str) -> None:
    common = layout(7)
    scores = [
        factor * (common + layout(seed) / 2).astype(np.float32).astype(float)
        for seed, factor in ((8, 1), (9, 2), (10, 4))
    ]
    words = np.arange(0, 21, 2)

    def values(some: list[Tables]) -> Tables:
        means = [table.mean(2) for table in some]
        scaled = means if scale == "raw" else [standardise(mean) for mean in means]
        return inter_rater(np.stack(scaled, axis=-1)[words]).value

    own = rater_intervals(tensor_of(scores), words)[scale]
    pairs = [float(np.median(values([np.delete(table, n, 1) for table in scores]))) for n in range(7)]
    seeds = [float(np.median(values([np.delete(table, n, 2) for table in scores]))) for n in range(4)]
    middle = values(scores)
    expected = expected_interval(float(np.median(middle)), median_variance(middle), pairs, seeds)
    assert [own.low, own.high] == pytest.approx(expected, rel=1e-6)


def test_too_few_seeds_leave_no_interval() -> None:
    reason = retest_interval(layout(1, seeds=2)).reason
    assert re.search(in_order("not estimable", "2 seeds", 3), reason)
    reason = consistency_interval([layout(1, seeds=1)]).reason
    assert re.search(in_order("not estimable", "1 seed", 2), reason)


def test_the_interval_holds_the_median_of_other_words_pairs_and_seeds() -> None:
    """Words share their pairs: scores of a pair are noisier or less noisy for all words, as in docs/methods 7.1."""
    rng = np.random.default_rng(6)

    def draw(words: int, pairs: int) -> Tables:
        scale = np.exp(rng.normal(0, 0.5, (1, pairs, 1)))
        return scale * rng.normal(size=(words, pairs, 1)) + 0.6 * rng.normal(size=(words, pairs, 6))

    truth = float(np.median(retest(draw(400, 400)).value))
    inside, words_alone = [], []
    for _ in range(120):
        scores = draw(60, 12)
        own, values = retest_interval(scores), retest(scores).value
        inside.append(own.low < truth < own.high)
        words_alone.append(abs(np.median(values) - truth) < 1.96 * median_variance(values) ** 0.5)
    assert np.mean(inside) > 0.9
    assert np.mean(words_alone) < np.mean(inside) - 0.1


def test_a_jackknife_of_a_mean_is_its_squared_standard_error() -> None:
    values = np.random.default_rng(3).normal(size=9)
    without = np.array([np.delete(values, place).mean() for place in range(9)])
    assert jackknife_variance(without) == pytest.approx(values.var(ddof=1) / 9)


@pytest.mark.parametrize(
    ("claim", "low", "high", "verdict"),
    [
        (RETEST, 0.75, 0.9, HOLDS),
        (RETEST, 0.74, 0.9, UNDECIDED),
        (RETEST, 0.5, 0.74, FAILS),
        (CONSISTENCY, 0.71, 0.8, HOLDS),
        (CONSISTENCY, 0.6, 0.7, UNDECIDED),
        (ENSEMBLE, 0.70, 0.8, HOLDS),
        (ENSEMBLE, 0.4, 0.69, FAILS),
        (RATER, 0.1, 0.59, HOLDS),
        (RATER, 0.1, 0.60, UNDECIDED),
        (RATER, 0.60, 0.9, FAILS),
        (RETEST, float("nan"), float("nan"), UNDECIDED),
    ],
)
def test_a_claim_is_judged_by_the_whole_interval(claim: str, low: float, high: float, verdict: str) -> None:
    condition = StudyCondition("c", "sgns", "p")
    tensor = tensor_of([layout(seed) for seed in (8, 9, 10)])
    query = StudyWordList("query", tuple(tensor.words[:6]), "made")
    assessed = assess(
        condition, tensor, [StudyWordList("frequent", tuple(tensor.words), "made")], [query]
    ).tables
    names = ("summary", "consistency_queries", "consistency_pairs")
    summary, queries, ensembles = (build_table(name, assessed[name], RULES) for name in names)
    by = "raw" if claim == RATER else "dbwa"
    intervals = {(claim, condition, by): MedianInterval(low, high)}
    rows = pl.DataFrame(claims(summary, queries, ensembles, RULES, intervals))
    (row,) = rows.filter((pl.col("claim") == claim) & (pl.col("by") == by)).to_dicts()
    assert row["verdict"] == verdict


def test_verdicts_in_words() -> None:
    outcomes = {(5, 0): HOLDS, (0, 5): UNDECIDED, (0, 0): FAILS, (3, 1): None, (0, 2): None}
    said = set()
    for (holds, undecided), outcome in outcomes.items():
        text = str(ClaimVerdict(RETEST, "stated", holds, undecided, 5))
        assert mentions(text, f"{holds} of 5", "(stated)")
        assert mentions(text, f"{UNDECIDED} in {undecided}") is (undecided > 0)
        said.add(text.partition(",")[0])
        assert outcome is None or text.startswith(f"{RETEST}: {outcome},")
    assert len(said) == len(outcomes)
    assert mentions(ClaimVerdict(RETEST, "s", 3, 1, 5).count, "3 of 5", 1)
