"""The crossed test, d∞ and the interval of *such attributes* (docs/methods 10.2 and 10.3)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.stats.cases import wave_tables, waves

from weatherglass.arrays import Matrix
from weatherglass.stats.attributes import (
    RandomAttributes,
    crossed,
    factor,
    random_attributes,
    random_attributes_uncorrected,
)
from weatherglass.stats.interval import Interval, Reason
from weatherglass.stats.leave_one_out import scores_without_attributes
from weatherglass.stats.scale import Scale, within

FROZEN = [
    (
        (8, 8, 8, 8, 0.9, 0.5, 0.3),
        (0.05, 0.0060558624860127174, 0.9187459971056186),
        (1.2927110890756939, 0.5332398108177995, 1.6175996912125687),
    ),
    (
        (8, 8, 4, 6, -1.2, 0.8, 1.0),
        (0.05, 0.027145213072890036, 0.7609624211841333),
        (-1.1689990469402152, -1.5815436344797473, -0.19013268348584625),
    ),
    (
        (5, 9, 5, 3, 2.5, 0.4, 2.0),
        (0.05, 0.001641886220193978, 0.9454634456295541),
        (1.7228266231899105, 1.1885370081866304, 1.8851970604978137),
    ),
    (
        (12, 10, 9, 12, 0.1, 1.0, 0.7),
        (0.01, 0.8712658142495552, 0.8355132995095257),
        (0.0802659853488301, -1.0927285769006587, 1.1902957382451564),
    ),
    (
        (25, 25, 8, 8, -0.7, 0.9, 0.2),
        (0.1, 1.9583740783318526e-05, 0.7929269666603003),
        (-1.1910761674134918, -1.4579284658037257, -0.7940655773676693),
    ),
]
"""(|X|, |Y|, |A|, |B|, shift, noise, phase), (alpha, p, ρ), (d∞, low, high): computed with the founders' yardstick
`readings.py`, plain numpy with every word and attribute left out by recomputation; it shares no code with this.

p, ρ and d∞ are the yardstick's as it stands. The ends are those it gives with Q₁ not below t(ν)²·v/ρ and with k, where
v and k are those of its reading 1: docs/methods 10.2 departs in this from the yardstick, whose own ends differ by up
to 0.03 here.
"""


@pytest.mark.parametrize(("case", "test", "effect"), FROZEN)
def test_the_reading_is_that_of_an_independent_implementation(
    case: tuple[int, int, int, int, float, float, float],
    test: tuple[float, float, float],
    effect: tuple[float, float, float],
) -> None:
    alpha, p, reliability = test
    found = random_attributes(*wave_tables(*case), case[0], alpha)
    assert (found.p, found.score_reliability) == pytest.approx((p, reliability), abs=1e-10)
    assert found.interval is not None
    assert (found.effect_size, found.interval.low, found.interval.high) == pytest.approx(effect, abs=1e-10)


def test_attributes_that_disagree_leave_only_p() -> None:
    # The yardstick's p and ρ for this case.
    found = random_attributes(*wave_tables(6, 6, 4, 4, 0.5, 6.0, 0.9), 6)
    assert (found.p, found.score_reliability) == pytest.approx((0.3666848543623192, -1.4225295754792737))
    assert (found.effect_size, found.interval, found.reason) == (None, None, Reason.NOISE)
    assert found.interval_90 is None


def random_tables(rng: np.random.Generator, count: int, n: int, k_a: int, k_b: int) -> tuple[Matrix, Matrix]:
    """Tables with all kinds of noise and effects."""
    noise = rng.uniform(0.05, 2, size=(count, 1, 1))
    score = rng.normal(size=(count, n, 1))
    score[:, : n // 2] += rng.normal(size=(count, 1, 1))
    to_a = score + noise * rng.normal(size=(count, n, k_a)) + rng.normal(size=(count, 1, k_a))
    return to_a, noise * rng.normal(size=(count, n, k_b)) - score


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_p_and_interval_agree_in_ten_thousand_cases(alpha: float) -> None:
    rng = np.random.default_rng(17)
    for n, k_a, k_b in ((16, 8, 8), (14, 4, 3), (6, 3, 5), (4, 3, 3)):
        found = crossed(*random_tables(rng, 2_500, n, k_a, k_b), n // 2)
        low, high = found.ends(alpha)
        estimable = ~np.isnan(low)
        assert estimable.mean() > 0.5
        leaves_out_zero = (low >= 0) | (high <= 0)
        np.testing.assert_array_equal(leaves_out_zero[estimable], (found.p <= alpha)[estimable])


def test_a_batch_gives_what_its_cases_give_alone() -> None:
    to_a, to_b = random_tables(np.random.default_rng(0), 20, 13, 4, 6)
    batch = crossed(to_a, to_b, 6)
    for row in range(20):
        alone = random_attributes(to_a[row], to_b[row], 6)
        assert alone.p == pytest.approx(float(batch.p[row]))
        if alone.effect_size is not None:
            assert alone.effect_size == pytest.approx(float(batch.scale.effect_size(batch.g)[row]))


def numbers(reading: RandomAttributes) -> list[float]:
    """All that there are."""
    intervals = [each for each in (reading.interval, reading.interval_90) if each is not None]
    values = [reading.p, reading.score_reliability, reading.effect_size]
    return [v for v in values if v is not None] + [end for each in intervals for end in (each.low, each.high)]


@given(st.integers(2, 9), st.integers(2, 9), st.integers(3, 7), st.integers(3, 7), st.integers(0, 10**6))
def test_laws(n_x: int, n_y: int, k_a: int, k_b: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    score = rng.normal(size=(n_x + n_y, 1))
    to_a, to_b = (sign * score + 0.5 * rng.normal(size=(n_x + n_y, k)) for sign, k in ((1, k_a), (-1, k_b)))
    found = random_attributes(to_a, to_b, n_x)
    other_way = np.r_[n_x : n_x + n_y, :n_x]
    swapped_targets = random_attributes(to_a[other_way], to_b[other_way], n_y)
    swapped_attributes = random_attributes(to_b, to_a, n_x)
    scaled = random_attributes(4 * to_a, 4 * to_b, n_x)
    assert scaled.reason == found.reason
    assert numbers(scaled) == pytest.approx(
        numbers(found), rel=1e-12, abs=1e-12
    )  # A square may round otherwise.
    for swapped in (swapped_targets, swapped_attributes):
        assert swapped.p == pytest.approx(found.p)
        assert swapped.score_reliability == pytest.approx(found.score_reliability)
        if found.interval is not None and swapped.interval is not None:
            assert swapped.effect_size == pytest.approx(-(found.effect_size or 0))
            assert swapped.interval.low == pytest.approx(-found.interval.high)
            assert swapped.interval.high == pytest.approx(-found.interval.low)
    if found.interval is not None and found.effect_size is not None:
        assert found.interval.low <= found.effect_size <= found.interval.high


def test_without_interaction_p_is_that_of_welch() -> None:
    """Attributes that agree to a constant leave the words as the only source: Welch's t (scipy)."""
    scores = waves(13, 1, 0.4)[:, 0]
    to_a, to_b = scores[:, np.newaxis] + np.arange(4.0), np.zeros((13, 5)) + np.arange(5.0)
    found = random_attributes(to_a, to_b, 5)
    assert found.p == pytest.approx(stats.ttest_ind(scores[:5], scores[5:], equal_var=False).pvalue)
    assert found.score_reliability == pytest.approx(1.0)


def naive_noise(table: Matrix, n_x: int) -> float:
    """σ²/k as docs/methods 10.2 writes it."""
    parts = [table[:n_x], table[n_x:]]
    left = np.concatenate([part - part.mean(axis=0) for part in parts])
    left -= left.mean(axis=1, keepdims=True)
    n, k = table.shape
    return float((left**2).sum() / ((n - 2) * (k - 1) * k))


@pytest.mark.parametrize("sign", [1, -1])
def test_leaving_out_words_and_levels_is_recomputing(sign: int) -> None:
    n_x, n_y, k = 6, 8, 5
    table, rest = waves(n_x + n_y, k, 0.3), waves(n_x + n_y, 1, 0.9)[:, 0]
    scale = Scale(n_x, n_y)
    split, scores = factor(table, scale, sign), within(sign * table.mean(axis=1) + rest, n_x)
    sizes = np.repeat([6.0, 8.0], [6, 8])
    words = [
        naive_noise(np.delete(table, row, axis=0), n_x - 1 if row < n_x else n_x) for row in range(n_x + n_y)
    ]
    assert split.noise_without_each_word(sizes) == pytest.approx(words, rel=1e-12)
    difference, squares, noise = split.without_each_level(scores)
    for level in range(k):
        smaller = np.delete(table, level, axis=1)
        again = within(sign * smaller.mean(axis=1) + rest, n_x)
        assert difference[level] == pytest.approx(float(again.difference), rel=1e-12)
        assert squares[level] == pytest.approx(float(again.squares), rel=1e-12)
        assert noise[level] == pytest.approx(naive_noise(smaller, n_x), rel=1e-12)


def test_templates_that_make_no_difference_change_only_the_degrees_of_freedom() -> None:
    to_a, to_b = wave_tables(8, 8, 8, 8, 0.9, 0.5, 0.3)
    scores = to_a.mean(axis=1) - to_b.mean(axis=1)
    alike = random_attributes(to_a, to_b, 8, templates=scores[:, np.newaxis] + np.arange(4.0))
    held = random_attributes(to_a, to_b, 8)
    assert alike.p == pytest.approx(held.p)
    assert alike.effect_size == pytest.approx(held.effect_size)


def test_templates_that_differ_are_a_third_source() -> None:
    to_a, to_b = wave_tables(8, 8, 8, 8, 0.9, 0.5, 0.3)
    scores = to_a.mean(axis=1) - to_b.mean(axis=1)
    own = waves(16, 4, 0.2)
    own -= own.mean(axis=1, keepdims=True)
    crossed_with = random_attributes(to_a, to_b, 8, templates=scores[:, np.newaxis] + own)
    held = random_attributes(to_a, to_b, 8)
    # docs/methods 10.3 by hand: σ²_T/T joins the noise.
    noise = held_noise = naive_noise(to_a, 8) + naive_noise(to_b, 8)
    noise += naive_noise(scores[:, np.newaxis] + own, 8)
    variance = float(within(scores, 8).squares) / 14
    assert held.score_reliability == pytest.approx(1 - held_noise / variance)
    assert crossed_with.score_reliability == pytest.approx(1 - noise / variance)
    # … and V_T = var(D_t)/T the variance of Δ and the denominator of its degrees of freedom.
    x, y = scores[:8], scores[8:]
    words = [x.var(ddof=1) / 8, y.var(ddof=1) / 8]
    by_level = [(table[:8].mean(axis=0) - table[8:].mean(axis=0)) for table in (to_a, to_b, own)]
    choices = [d.var(ddof=1) / len(d) for d in by_level]
    total = sum(words) + sum(choices)
    df = total**2 / (
        sum(v**2 for v in words) / 7 + sum((choices[i] ** 2 / (k - 1)) for i, k in enumerate((8, 8, 4)))
    )
    variance_at_zero = max(total - noise / 4, sum(words), sum(choices))
    t = (x.mean() - y.mean()) / math.sqrt(variance_at_zero)
    assert crossed_with.p == pytest.approx(2 * stats.t.sf(abs(t), df))
    assert crossed_with.p != pytest.approx(held.p)


def test_two_templates_are_held() -> None:
    to_a, to_b = wave_tables(8, 8, 8, 8, 0.9, 0.5, 0.3)
    assert random_attributes(to_a, to_b, 8, templates=waves(16, 2, 0.1)) == random_attributes(to_a, to_b, 8)


@pytest.mark.parametrize(
    ("shape_a", "shape_b", "n_x", "reason"),
    [
        ((8, 2), (8, 5), 4, Reason.TOO_FEW_ATTRIBUTES),
        ((8, 1), (8, 1), 4, Reason.TOO_FEW_ATTRIBUTES),
        ((4, 3), (4, 3), 1, Reason.TOO_FEW_WORDS),
        ((2, 3), (2, 3), 1, Reason.TOO_FEW_WORDS),
    ],
)
def test_what_cannot_be_estimated_has_a_reason(
    shape_a: tuple[int, int], shape_b: tuple[int, int], n_x: int, reason: Reason
) -> None:
    to_a, to_b = waves(*shape_a, 0.1), waves(*shape_b, 0.6)
    found = random_attributes(to_a, to_b, n_x)
    assert found == RandomAttributes(None, None, None, None, None, reason=reason)
    scores = to_a.mean(axis=1) - to_b.mean(axis=1)
    other = random_attributes_uncorrected(scores, scores_without_attributes("median", to_a, to_b), n_x)
    assert (other.p, other.reason) == (None, reason)


def test_words_that_do_not_vary_leave_p_of_the_attributes() -> None:
    """Without spread within X and Y, V₀ = V_A + V_B: Δ is tested against the attributes alone, by hand here."""
    to_x, to_y, b = np.array([0.9, 0.1, 0.4, 0.6]), np.array([0.2, 0.3, 0.1, 0.0]), np.array([0.5, 0.1, 0.2])
    to_a = np.concatenate([np.tile(to_x, (3, 1)), np.tile(to_y, (5, 1))])
    to_b = np.concatenate([np.tile(b, (3, 1)), np.tile(-b, (5, 1))])
    found = random_attributes(to_a, to_b, 3)
    v_a, v_b = (to_x - to_y).var(ddof=1) / 4, (2 * b).var(ddof=1) / 3
    difference = (to_x - to_y).mean() - (2 * b).mean()
    df = (v_a + v_b) ** 2 / (v_a**2 / 3 + v_b**2 / 2)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(difference) / math.sqrt(v_a + v_b), df))
    assert (found.effect_size, found.interval, found.reason) == (None, None, Reason.NO_SPREAD)


def test_tables_that_do_not_vary_have_a_reason() -> None:
    assert random_attributes(np.ones((8, 4)), np.zeros((8, 4)), 4).p is None
    constant = np.concatenate([np.full((4, 5), 0.1) * 3, np.full((4, 5), 0.7)])
    assert random_attributes(constant, 0.3 * constant, 4).p is None
    assert random_attributes(np.ones((8, 4)), np.zeros((8, 4)), 4).reason is Reason.NO_SPREAD


@pytest.mark.parametrize("statistic", ["median", "min", "max", "eq2"])
def test_other_statistics_are_a_jackknife_of_all_sets(statistic: str) -> None:
    """The textbook jackknife, with everything recomputed."""
    to_a, to_b = wave_tables(8, 7, 5, 6, 1.5, 0.5, 0.3)
    n_x = 8

    def g(a: Matrix, b: Matrix, m: int) -> float:
        if statistic == "eq2":
            scores = np.abs(a[:, :, np.newaxis] - b[:, np.newaxis]).min(axis=(1, 2))
        else:
            of = getattr(np, statistic)
            scores = of(a, axis=1) - of(b, axis=1)
        x, y = scores[:m], scores[m:]
        pooled = (((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()) / (len(scores) - 2)
        return float((x.mean() - y.mean()) / math.sqrt(pooled))

    def variance(values: list[float]) -> float:
        return float((len(values) - 1) * np.var(values))

    words = [g(np.delete(to_a, i, 0), np.delete(to_b, i, 0), n_x - (i < n_x)) for i in range(15)]
    v = [
        variance(words[:n_x]) + variance(words[n_x:]),
        variance([g(np.delete(to_a, i, 1), to_b, n_x) for i in range(5)]),
        variance([g(to_a, np.delete(to_b, i, 1), n_x) for i in range(6)]),
    ]
    df = sum(v) ** 2 / (v[0] ** 2 / 13 + v[1] ** 2 / 4 + v[2] ** 2 / 5)
    value, half = g(to_a, to_b, n_x), stats.t.ppf(0.975, df) * math.sqrt(sum(v))

    if statistic == "eq2":
        scores = np.abs(to_a[:, :, np.newaxis] - to_b[:, np.newaxis]).min(axis=(1, 2))
    else:
        scores = getattr(np, statistic)(to_a, axis=1) - getattr(np, statistic)(to_b, axis=1)
    found = random_attributes_uncorrected(scores, scores_without_attributes(statistic, to_a, to_b), n_x)
    scale = Scale(8, 7)
    low, high = scale.effect_size(np.array([value - half, value + half]))
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == pytest.approx((low, high))
    assert found.p == pytest.approx(2 * stats.t.sf(abs(value) / math.sqrt(sum(v)), df))
    assert not found.corrected


def test_what_is_excluded_is_the_larger_end_of_the_90_percent_interval() -> None:
    to_a, to_b = wave_tables(25, 25, 8, 8, -0.7, 0.9, 0.2)
    found = random_attributes(to_a, to_b, 25, alpha=0.01)
    assert found.interval_90 == random_attributes(to_a, to_b, 25, alpha=0.1).interval
    assert found.interval_90 is not None
    assert found.interval_90.largest == pytest.approx(1.4579284658037257)  # The yardstick's low end above.
    assert Interval(-0.2, 0.4, 0.9).largest == 0.4
