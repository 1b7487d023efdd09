"""The change of an effect between two models."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from tests.stats.cases import effect_size, wave_scores, waves

from weatherglass.arrays import Vector
from weatherglass.stats.interval import Reason
from weatherglass.stats.paired import paired_change, paired_jackknife
from weatherglass.stats.scale import within


def pair(n_x: int = 8, n_y: int = 7, change: float = 0.9) -> tuple[Vector, Vector]:
    before = wave_scores(n_x, n_y, 0.3, 0.2)
    after = before + 0.4 * waves(n_x + n_y, 1, 1.3)[:, 0]
    after[:n_x] += change
    return before, after


def test_p_is_that_of_the_textbook_jackknife_on_g() -> None:
    before, after = pair()

    def g(scores: Vector, n_x: int) -> float:
        return float(
            stats.ttest_ind(scores[:n_x], scores[n_x:]).statistic
            * math.sqrt(1 / n_x + 1 / (len(scores) - n_x))
        )

    without = [g(np.delete(after, i), 8 - (i < 8)) - g(np.delete(before, i), 8 - (i < 8)) for i in range(15)]
    variance = 7 * np.var(without[:8]) + 6 * np.var(without[8:])
    t = (g(after, 8) - g(before, 8)) / math.sqrt(variance * 12 / 13)
    found = paired_change(before, after, 8)
    assert found.p == pytest.approx(2 * stats.t.sf(abs(t), 13))
    assert (found.before, found.after) == pytest.approx((effect_size(before, 8), effect_size(after, 8)))


@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_p_and_interval_agree(alpha: float) -> None:
    rng = np.random.default_rng(3)
    before = rng.normal(size=(10_000, 16))
    after = before + 0.5 * rng.normal(size=(10_000, 16))
    after[:, :8] += rng.normal(size=(10_000, 1))
    found = paired_jackknife(within(before, 8), within(after, 8))
    low, high = found.ends(alpha)
    np.testing.assert_array_equal((low >= 0) | (high <= 0), found.p <= alpha)


def test_the_other_way_round_negates() -> None:
    before, after = pair()
    there, back = paired_change(before, after, 8), paired_change(after, before, 8)
    assert there.interval is not None
    assert back.interval is not None
    assert back.change == pytest.approx(-there.change)
    assert (back.interval.low, back.interval.high) == pytest.approx(
        (-there.interval.high, -there.interval.low)
    )
    assert there.interval.low <= there.change <= there.interval.high


def test_two_equal_models_have_not_changed() -> None:
    before, _ = pair()
    found = paired_change(before, 2 * before, 8)  # A model that only scales its scores has the same effect.
    assert found.p == 1
    assert found.interval is not None
    assert not found.interval.excludes_zero
    assert (found.interval.low, found.interval.high) == pytest.approx((0, 0), abs=1e-12)


def test_an_unchanged_effect_is_marked_in_5_of_100_runs() -> None:
    """8 + 8 words, models that correlate at 0.6, d = 0.7: the bootstrap that this replaces marks 12."""
    rng = np.random.default_rng(0)
    common = math.sqrt(0.6) * rng.normal(size=(4_000, 16))
    models = common + math.sqrt(0.4) * rng.normal(size=(2, 4_000, 16))
    models[..., :8] += 0.75
    found = paired_jackknife(within(models[0], 8), within(models[1], 8))
    assert 0.04 <= float((found.p <= 0.05).mean()) <= 0.06


@pytest.mark.parametrize(
    ("before", "after", "n_x", "reason"),
    [
        ([1.0, 2.0, 3.0], [1.0, 3.0, 2.0], 1, Reason.TOO_FEW_WORDS),
        ([1.0, 1.0, 1.0, 1.0], [1.0, 3.0, 2.0, 5.0], 2, Reason.NO_SPREAD),
        ([2.0, 2.0, 1.0, 1.0, 3.0], [1.0, 3.0, 2.0, 5.0, 4.0], 2, Reason.ONE_WORD_SPREAD),
    ],
)
def test_what_cannot_be_compared_has_a_reason(
    before: list[float], after: list[float], n_x: int, reason: Reason
) -> None:
    found = paired_change(np.array(before), np.array(after), n_x)
    assert (found.p, found.interval, found.reason) == (None, None, reason)
