"""The interval of *these attributes* (docs/methods 10.1)."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.stats.cases import exchange_p, wave_scores

from weatherglass.arrays import Vector
from weatherglass.stats.attributes import fixed_attributes, fixed_ends
from weatherglass.stats.interval import Interval, Reason
from weatherglass.stats.scale import within

FROZEN = [
    (8, 8, 0.9, 0.3, 0.05, 0.007148407148407148, 0.5020522078754412, 1.5915616278530142),
    (8, 8, -0.4, 1.0, 0.05, 0.49246309246309244, -1.1722307480162277, 0.6807029116115061),
    (5, 9, 1.6, 2.0, 0.05, 0.003996003996003996, 0.6802230892377036, 1.8050455981406146),
    (7, 6, -1.3, 0.5, 0.01, 0.005827505827505828, -1.7932493963673324, -0.14519832837398766),
    (4, 4, 3, 0.1, 0.05, 0.02857142857142857, 0.7792762835044696, 1.8086291189787431),
    (9, 7, 0.05, 1.5, 0.1, 0.7936188811188811, -0.9216522516504126, 0.7311842407645236),
]
"""|X|, |Y|, shift, phase, alpha, exact p, low, high: computed with the founders' yardstick `readings.py`, plain numpy
with every word left out by recomputation, which shares no code with this package."""


def interval_of(x: Vector, y: Vector, p: float, alpha: float = 0.05) -> Interval:
    """The interval, where there must be one."""
    found = fixed_attributes(x, y, p, alpha).interval
    assert found is not None
    return found


@pytest.mark.parametrize(("n_x", "n_y", "shift", "phase", "alpha", "p", "low", "high"), FROZEN)
def test_the_interval_is_that_of_an_independent_implementation(
    n_x: int, n_y: int, shift: float, phase: float, alpha: float, p: float, low: float, high: float
) -> None:
    scores = wave_scores(n_x, n_y, shift, phase)
    assert exchange_p(scores, n_x) == pytest.approx(p)
    found = interval_of(scores[:n_x], scores[n_x:], p, alpha)
    assert (found.low, found.high) == pytest.approx((low, high), abs=1e-10)


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_p_and_interval_agree_in_ten_thousand_cases(alpha: float) -> None:
    rng = np.random.default_rng(17)
    p = np.concatenate(
        [rng.random(4_000), rng.random(3_000) ** 4, [alpha], alpha + rng.normal(size=2_999) * 1e-16]
    )
    for n_x, n_y in ((2, 2), (4, 4), (8, 8), (5, 9), (25, 25)):
        scores = rng.normal(size=(10_000, n_x + n_y)) * rng.choice([1e-3, 1.0, 50.0], size=(10_000, 1))
        scores[:, :n_x] += rng.normal(size=(10_000, 1))
        low, high = fixed_ends(within(scores, n_x), p, alpha)
        assert not np.isnan(low).any()
        leaves_out_zero = [Interval(a, b, 1 - alpha).excludes_zero for a, b in zip(low, high, strict=True)]
        assert leaves_out_zero == list(p <= alpha)


def test_p_at_exactly_alpha_is_significant_and_the_end_is_zero() -> None:
    scores = wave_scores(8, 8, 0.5, 0.3)
    found = interval_of(scores[:8], scores[8:], 0.05, 0.05)
    assert found.low == 0
    assert found.excludes_zero


scores_of_a_set = st.lists(st.floats(-10, 10).map(lambda s: round(s, 3)), min_size=2, max_size=9)


@given(scores_of_a_set, scores_of_a_set, st.floats(1e-12, 1), st.sampled_from([0.05, 0.01, 0.1]))
def test_laws(first: list[float], second: list[float], p: float, alpha: float) -> None:
    x, y = np.array(first), np.array(second)
    found = fixed_attributes(x, y, p, alpha)
    if found.interval is None:
        assert found.reason is not None
        return
    swapped = interval_of(y, x, p, alpha)
    assert (swapped.low, swapped.high) == pytest.approx((-found.interval.high, -found.interval.low))
    scaled = interval_of(3 * x, 3 * y, p, alpha)
    assert (scaled.low, scaled.high) == pytest.approx((found.interval.low, found.interval.high))
    assert found.interval.low <= found.effect_size <= found.interval.high
    assert found.interval.excludes_zero == (p <= alpha)


def test_a_higher_level_gives_a_wider_interval() -> None:
    scores = wave_scores(8, 8, 0.9, 0.3)
    narrow, wide = (interval_of(scores[:8], scores[8:], 0.007, alpha) for alpha in (0.1, 0.01))
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([1.0], [2.0, 3.0, 4.0], Reason.TOO_FEW_WORDS),
        ([1.0], [2.0], Reason.TOO_FEW_WORDS),
        ([1.0, 1.0, 1.0], [1.0, 1.0, 1.0], Reason.NO_SPREAD),
        ([2.0, 2.0, 2.0], [1.0, 1.0, 1.0], Reason.NO_SPREAD),
        ([2.0, 2.0, 3.0], [1.0, 1.0, 1.0], Reason.ONE_WORD_SPREAD),
    ],
)
def test_what_cannot_be_estimated_has_a_reason(x: list[float], y: list[float], reason: Reason) -> None:
    found = fixed_attributes(np.array(x), np.array(y), 1.0)
    assert found.interval is None
    assert found.reason is reason


def test_all_scores_equal_have_no_effect_size() -> None:
    assert math.isnan(fixed_attributes(np.ones(4), np.ones(4), 1.0).effect_size)


def test_a_p_that_underflows_does_no_harm() -> None:
    scores = wave_scores(25, 25, 3.0, 0.3)
    found = interval_of(scores[:25], scores[25:], 0.0)
    assert 0 < found.low < found.high
