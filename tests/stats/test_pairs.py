"""Shares of pairs: p by enumeration and in closed form, intervals that agree with p, level and coverage."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from scipy.stats import binomtest, norm, ttest_1samp

from weatherglass.arrays import Integers, Vector
from weatherglass.errors import UnitError
from weatherglass.metrics import exchange
from weatherglass.metrics.exchange import PairFlips, PValueOptions
from weatherglass.stats import Budget
from weatherglass.stats.pairs import (
    Share,
    assess_share,
    flip_test,
    share_interval,
    share_of,
    stereoset_figures,
    stereoset_intervals,
)
from weatherglass.stats.relabelling import sign_flip_test
from weatherglass.stats.robustness import paired_change_of_values

ALPHA = 0.05
OPTIONS = PValueOptions("auto", Budget(), 0.01, 0)


def p_of(scores: Vector, alternative: str = "two-sided") -> float:
    return flip_test(scores, alternative, np.random.default_rng(0)).p_value  # type: ignore[arg-type]


def p_by_enumeration(scores: Vector, alternative: str) -> float:
    sums = np.array([np.dot(signs, scores) for signs in product((1, -1), repeat=len(scores))])
    observed = scores.sum()
    if alternative == "two-sided":
        return float((np.abs(sums) >= abs(observed) - 1e-9).mean())
    return float((sums >= observed - 1e-9 if alternative == "greater" else sums <= observed + 1e-9).mean())


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_p_is_the_share_of_all_sign_patterns(monkeypatch: pytest.MonkeyPatch, alternative: str) -> None:
    monkeypatch.setattr("weatherglass.stats.pairs.COUNTED", 0)  # also where all patterns could be counted
    rng = np.random.default_rng(1)
    for case in range(12):
        leads = rng.integers(-3, 4, 11).astype(np.float64)
        assert p_of(leads, alternative) == pytest.approx(p_by_enumeration(leads, alternative), rel=1e-12)
        shares = leads / rng.integers(3, 8, 11)
        bounds = flip_test(shares, alternative, rng)  # type: ignore[arg-type]
        assert bounds.p_low is not None
        assert bounds.p_low <= p_by_enumeration(shares, alternative) <= bounds.p_value, case


def test_single_pairs_have_the_p_of_the_binomial_test() -> None:
    for wins, pairs in ((30, 45), (400, 755), (900, 1508), (2_600, 5_000), (100, 100)):
        leads = np.where(np.arange(pairs) < wins, 1.0, -1.0)
        found = flip_test(leads, "two-sided", np.random.default_rng(0))
        assert found.p_value == pytest.approx(binomtest(wins, pairs).pvalue, rel=1e-9)
        assert found.certified


def test_bounds_for_unequal_terms_are_narrow_and_contain_sampled_p() -> None:
    rng = np.random.default_rng(3)
    for terms in (37, 79, 254):
        sizes = rng.integers(20, 33, terms)
        scores = 2 * rng.binomial(sizes, 0.52) / sizes - 1
        found = flip_test(scores, "two-sided", rng)
        drawn = sign_flip_test(scores, "two-sided", np.random.default_rng(4))
        assert found.p_method == "bounds"
        assert found.p_low is not None
        assert found.p_value <= 1.1 * found.p_low
        assert drawn.p_low is not None
        assert drawn.p_high is not None
        assert drawn.p_low <= found.p_value
        assert found.p_low <= drawn.p_high


def test_p_of_very_many_unequal_units_is_sampled() -> None:
    scores = np.random.default_rng(0).normal(size=3_000)
    assert flip_test(scores, "two-sided", np.random.default_rng(0), draws=999).p_method == "sampled"


def test_all_ties_are_no_evidence() -> None:
    ties = share_of(np.ones(50), np.ones(50), np.arange(50))
    assert ties.value == 50
    assert p_of(ties.scores) == 1


def test_a_score_that_is_not_a_number_is_refused() -> None:
    with pytest.raises(UnitError):
        share_of(np.array([1.0, np.nan]), np.zeros(2), np.arange(2))


def test_terms_count_equally_only_over_units() -> None:
    more, less = np.array([1.0, 1, 1, 0]), np.array([0.0, 0, 0, 1])
    terms = np.array([0, 0, 0, 1])
    assert share_of(more, less, terms).value == 75
    assert share_of(more, less, terms, over_units=True).value == 50


def test_swapped_sentences_mirror_share_and_interval() -> None:
    rng = np.random.default_rng(5)
    more, less, terms = rng.normal(0.3, 1, 90), rng.normal(0, 1, 90), np.arange(90) // 3
    one, other = share_of(more, less, terms), share_of(less, more, terms)
    assert one.value + other.value == pytest.approx(100)
    p = p_of(one.scores)
    assert p == p_of(other.scores)
    first, second = share_interval(one, p, ALPHA), share_interval(other, p, ALPHA)
    assert first
    assert second
    assert first == pytest.approx((100 - second[1], 100 - second[0]))


def test_the_interval_solves_its_equation_and_agrees_with_p() -> None:
    for wins in range(41):
        share = Share(np.where(np.arange(40) < wins, 1, -1), np.ones(40, dtype=np.int64))
        p = p_of(share.scores)
        ends = share_interval(share, p, ALPHA)
        assert ends
        assert 0 <= ends[0] <= share.value <= ends[1] <= 100
        assert (not ends[0] < 50 < ends[1]) == (p <= ALPHA)
    assert share_interval(Share(np.array([2]), np.array([2])), 1.0, ALPHA) is None


def test_leaving_out_a_unit_is_computing_without_it() -> None:
    rng = np.random.default_rng(6)
    more, less, terms = rng.normal(0.8, 1, 60), rng.normal(0, 1, 60), np.arange(60) % 12
    for over_units in (False, True):
        share = share_of(more, less, terms, over_units)
        null = PairFlips(share)
        p = null.test("two-sided", OPTIONS).p_value
        tested = exchange.Tested(share.value, 50.0, null, p, "two-sided", OPTIONS, ALPHA, "jackknife")
        found = assess_share(share, [f"term {n}" for n in range(12)], tested)
        assert p <= ALPHA
        assert found.interval == share_interval(share, p, ALPHA)
        for left in found.robustness.left_out:
            kept = terms != int(left.name.removeprefix("term "))
            rest = share_of(
                more[kept], less[kept], np.unique(terms[kept], return_inverse=True)[1], over_units
            )
            assert left.effect_size == pytest.approx(rest.value)
            assert left.p_value == pytest.approx(p_of(rest.scores))


def test_stereoset_figures_weigh_terms_equally_and_count_ties_as_anti() -> None:
    stereotype = np.array([1.0, 1.0, 3.0])
    anti = np.array([1.0, 0.0, 2.0])
    unrelated = np.array([0.5, 0.5, 2.5])
    figures = stereoset_figures(stereotype, anti, unrelated, ["a", "a", "b"])
    assert figures == pytest.approx(((75 + 50) / 2, (50 + 100) / 2, 62.5 * 25 / 50))


def triples(
    rng: np.random.Generator, sizes: Integers, shift: float
) -> tuple[Vector, Vector, Vector, list[str]]:
    """Return scores of stereotypes, anti-stereotypes and unrelated sentences of a world whose terms differ."""
    units = np.repeat(np.arange(len(sizes)), sizes)
    knows, leans = 0.4 * rng.normal(size=len(sizes))[units], 0.3 * rng.normal(size=len(sizes))[units]
    more, less = (1 + knows + sign * (leans + shift / 2) + rng.normal(size=len(units)) for sign in (1, -1))
    return more, less, 0.7 * rng.normal(size=len(units)), [f"term {unit}" for unit in units]


def test_intervals_of_lms_and_icat_cover_the_figures_of_the_world() -> None:
    for shift in (0.0, 0.4, -0.9):
        large = triples(np.random.default_rng(1), np.ones(100_000, dtype=np.int64), shift)
        truth = stereoset_figures(*large)._asdict()
        rng = np.random.default_rng([2028, round(10 * abs(shift))])
        hits = {"lms": 0, "icat": 0}
        for _ in range(200):
            world = triples(rng, rng.integers(5, 13, 24), shift)
            for name, (low, high) in stereoset_intervals(*world).items():
                hits[name] += low <= truth[name] <= high
        assert all(180 <= count <= 199 for count in hits.values()), (shift, hits)
    assert stereoset_intervals(np.ones(2), np.zeros(2), np.zeros(2), ["one", "one"]) == {}


def planted(
    rng: np.random.Generator, terms: int, pairs: int, theta: float, spread: float
) -> tuple[Share, Share]:
    """Return shares by term and by pair of a world whose terms' own shares vary about theta."""
    own = np.full(terms, theta)
    if spread:
        own = rng.beta(theta / spread, (1 - theta) / spread, terms)
    wins = rng.random((terms, pairs)) < own[:, np.newaxis]
    first = wins.ravel().astype(np.float64)
    units: Integers = np.repeat(np.arange(terms), pairs)
    return share_of(first, 1 - first, units), share_of(first, 1 - first, np.arange(terms * pairs))


def rates(
    terms: int, pairs: int, theta: float, spread: float, repetitions: int
) -> tuple[float, float, float]:
    """Return the rejection rates by term and by pair, and the coverage of the interval by term."""
    rng = np.random.default_rng(16)
    rejected, naive, covered = 0, 0, 0
    for _ in range(repetitions):
        by_term, by_pair = planted(rng, terms, pairs, theta, spread)
        p = p_of(by_term.scores)
        ends = share_interval(by_term, p, ALPHA) or (by_term.value, by_term.value)
        rejected += p <= ALPHA
        naive += p_of(by_pair.scores) <= ALPHA
        covered += ends[0] <= 100 * theta <= ends[1]
    return rejected / repetitions, naive / repetitions, covered / repetitions


def test_level_and_coverage_in_planted_worlds() -> None:
    level, _, covered = rates(60, 1, 0.5, 0, 300)
    assert level <= 0.08
    assert covered >= 0.92
    level, naive, covered = rates(20, 6, 0.5, 0.4, 300)
    assert level <= 0.09
    assert naive >= 0.15  # pairs of one term are not independent
    assert covered >= 0.91
    assert rates(20, 6, 0.7, 0.2, 200)[2] >= 0.9


def by_scores(
    rng: np.random.Generator, sizes: Integers, theta: Sequence[float], spread: float, over_units: bool
) -> list[Share]:
    """Return the shares of models, one per theta, whose scores are normal and in part common to all models."""
    units = np.repeat(np.arange(len(sizes)), sizes)
    shared = rng.normal(size=len(sizes))
    shares = []
    for each in theta:
        own = spread * (np.sqrt(0.7) * shared + np.sqrt(0.3) * rng.normal(size=len(sizes)))
        scores = norm.ppf(each) * np.hypot(1, spread) + own[units] + rng.normal(size=len(units))
        shares.append(share_of(scores, np.zeros(len(units)), units, over_units))
    return shares


@pytest.mark.parametrize("over_units", [False, True])
@pytest.mark.parametrize("spread", [0.0, 0.7])
def test_level_and_coverage_in_worlds_that_did_not_choose_the_method(spread: float, over_units: bool) -> None:
    for theta in (0.5, 0.62, 0.85):
        rng = np.random.default_rng([2026, round(10 * spread), round(100 * theta), over_units])
        rejected, robust, covered = 0, 0, 0
        for _ in range(200):
            (share,) = by_scores(rng, rng.integers(1, 9, 12), [theta], spread, over_units)
            p = p_of(share.scores)
            low, high = share_interval(share, p, ALPHA) or (share.value, share.value)
            covered += low <= 100 * theta <= high
            rejected += p <= ALPHA
            robust += p <= ALPHA and all(p_of(share.without(n).scores) <= ALPHA for n in range(12))
        assert covered >= 182, (theta, covered)
        assert theta != 0.5 or (robust <= 10 and rejected <= 16), (robust, rejected)


def test_coverage_of_the_change_between_models_with_terms_of_unequal_sizes() -> None:
    for theta in ((0.5, 0.5), (0.6, 0.75)):
        for over_units in (False, True):
            rng = np.random.default_rng([2027, round(100 * theta[1]), over_units])
            covered = 0
            for _ in range(150):
                low, high, _ = change_by_units(
                    *by_scores(rng, rng.integers(1, 9, 12), theta, 0.7, over_units)
                )
                assert low is not None
                assert high is not None
                covered += low <= 100 * (theta[1] - theta[0]) <= high
            assert covered >= 134, (theta, over_units, covered)


@pytest.mark.large
@pytest.mark.parametrize("terms", [12, 40, 100])
@pytest.mark.parametrize(("pairs", "spread"), [(1, 0), (5, 0), (5, 0.2), (25, 0.1)])
def test_level_and_coverage_in_many_planted_worlds(terms: int, pairs: int, spread: float) -> None:
    for theta in (0.5, 0.6, 0.75, 0.9):
        level, _, covered = rates(terms, pairs, theta, spread, 1_000)
        assert covered >= 0.88, (theta, covered)
        if theta == 0.5:
            assert level <= 0.07


def change_by_units(before: Share, after: Share) -> tuple[float | None, float | None, float | None]:
    """The paired change of two models as `compare` computes it: each unit is left out of both."""
    without = [
        {("XY", str(unit)): share.without(unit).value for unit in range(len(share.leads))}
        for share in (before, after)
    ]
    found = paired_change_of_values(before.value, after.value, without[0], without[1], ALPHA)
    return found.low, found.high, found.p


def test_two_models_are_compared_by_a_paired_t_test_over_terms() -> None:
    rng = np.random.default_rng(8)
    terms = np.arange(60) % 12
    shares = [
        share_of(rng.normal(mean, 1, 60), rng.normal(0, 1, 60), terms, over_units=True) for mean in (0, 1)
    ]
    low, high, p = change_by_units(*shares)
    difference = 50 * (shares[1].scores - shares[0].scores)
    assert p == pytest.approx(ttest_1samp(difference, 0).pvalue)
    assert low is not None
    assert high is not None
    assert low + high == pytest.approx(2 * difference.mean())


def test_the_level_of_a_comparison_of_equal_models() -> None:
    rng = np.random.default_rng(9)
    rejected = 0
    for _ in range(200):
        own = rng.normal(0, 1, 20)[:, np.newaxis]  # what both models have in common
        shares = [
            share_of((own + rng.normal(0, 1, (20, 6))).ravel(), np.zeros(120), np.repeat(np.arange(20), 6))
            for _ in range(2)
        ]
        p = change_by_units(*shares)[2]
        rejected += p is not None and p <= ALPHA
    assert rejected / 200 <= 0.1
