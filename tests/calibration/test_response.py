"""The response of a metric: laws, planted curves, and a metric that sees nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from weatherglass.arrays import Matrix
from weatherglass.calibration.calibrate import CONTROL, PLANTED, MetricResponse
from weatherglass.calibration.response import check_design, fit_response
from weatherglass.calibration.scale import ResponseCurve, curves, scale_lines
from weatherglass.errors import CorpusError
from weatherglass.report.calibration import advice

DOSES = tuple(step / 10 for step in range(11))
SEEDS = 6


def values(curve: Callable[[float], float], sd: float = 0.05, seed: int = 0, seeds: int = SEEDS) -> Matrix:
    random = np.random.default_rng(seed)
    means = np.array([curve(dose) for dose in DOSES])
    return means[:, None] + sd * random.standard_normal((len(DOSES), seeds))


def test_a_planted_line_is_recovered() -> None:
    covered = curved = 0
    for seed in range(300):
        found = fit_response(DOSES, values(lambda dose: 2 * (dose - 0.5), seed=seed))
        covered += found.slope_low <= 2 <= found.slope_high
        curved += found.saturates
        assert found.spearman > 0.9
    assert curved <= 18  # the level is 2.5 %: two-sided 5 %, one direction
    assert stats.binomtest(covered, 300, 0.95).pvalue > 1e-4


def test_random_scores_are_blind_at_the_stated_level() -> None:
    fitted = [fit_response(DOSES, values(lambda _: 0.0, sd=1, seed=seed)) for seed in range(400)]
    significant = sum(one.p <= 0.05 for one in fitted)
    assert 8 <= significant <= 36  # 5 % of 400, between the 0.2 and the 99.9 % points
    assert sum(one.blind(0.05) for one in fitted) > 350


def test_the_slope_is_that_of_a_paired_t_test_over_seeds() -> None:
    table = values(lambda dose: dose**2, sd=0.3, seed=3)
    x = np.array(DOSES) - 0.5
    slopes = [stats.linregress(x, table[:, seed]).slope for seed in range(SEEDS)]
    expected = stats.ttest_1samp(slopes, 0)
    found = fit_response(DOSES, table)
    assert found.slope == pytest.approx(np.mean(slopes), abs=1e-12)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-12)
    low, high = expected.confidence_interval(0.95)
    assert (found.slope_low, found.slope_high) == pytest.approx((low, high), abs=1e-12)


def test_mirrored_doses_mirror_the_response() -> None:
    table = values(lambda dose: np.tanh(3 * (dose - 0.5)), seed=4)
    found, mirrored = fit_response(DOSES, table), fit_response(DOSES, table[::-1])
    assert mirrored.slope == pytest.approx(-found.slope, abs=1e-12)
    assert mirrored.spearman == pytest.approx(-found.spearman, abs=1e-12)
    assert mirrored.means == pytest.approx(found.means[::-1])
    assert mirrored.p == pytest.approx(found.p, rel=1e-9)


def test_saturation_is_seen_and_a_line_does_not_saturate() -> None:
    curved = fit_response(DOSES, values(lambda dose: np.tanh(8 * (dose - 0.5)), sd=0.02))
    straight = fit_response(DOSES, values(lambda dose: dose, sd=0.02))
    without_sign = fit_response(
        DOSES, values(lambda dose: np.tanh(8 * abs(dose - 0.5)), sd=0.02), signed=False
    )
    assert curved.saturates
    few = (0.0, 0.3, 0.5, 0.7, 1.0)
    bent = np.array([np.tanh(8 * (dose - 0.5)) for dose in few])[:, None] + np.array([0.0, 0.01, -0.01])
    assert fit_response(few, bent + 0.01 * np.random.default_rng(1).standard_normal((5, 3))).saturates
    assert without_sign.saturates
    assert not straight.saturates


def test_a_metric_without_a_sign_is_fitted_on_the_distance_from_one_half() -> None:
    table = values(lambda dose: abs(dose - 0.5), sd=0.01)
    assert fit_response(DOSES, table, signed=False).slope == pytest.approx(0.5, abs=0.03)
    assert abs(fit_response(DOSES, table).slope) < 0.05


def test_a_value_that_comes_nearer_to_no_bias_as_the_dose_grows_is_seen() -> None:
    rising = fit_response(DOSES, values(lambda dose: 1 + abs(dose - 0.5), sd=0.01), signed=False)
    falling = fit_response(DOSES, values(lambda dose: 1 - abs(dose - 0.5), sd=0.01), signed=False)
    assert (rising.nears(0.0), falling.nears(0.0)) == (False, True)
    assert (rising.nears(2.0), falling.nears(2.0)) == (True, False)


def test_the_smallest_dose_has_the_stated_power() -> None:
    sd, slope = 0.2, 2.0
    smallest = [
        fit_response(DOSES, values(lambda dose: slope * (dose - 0.5), sd=sd, seed=seed, seeds=20)).smallest
        for seed in range(40)
    ]
    assert None not in smallest
    dose = float(np.mean([one for one in smallest if one is not None]))
    shift = slope * (dose - 0.5) / sd
    power = stats.norm.sf(stats.norm.ppf(0.975) - shift)  # a z test of one value, whose spread is known
    assert power == pytest.approx(0.8, abs=0.03)


def test_no_dose_is_detected_in_a_flat_response() -> None:
    assert fit_response(DOSES, values(lambda _: 1.0)).smallest is None


def test_the_unbiased_value_is_covered_at_one_half() -> None:
    covered = [fit_response(DOSES, values(lambda dose: dose - 0.5, seed=seed)).centred for seed in range(300)]
    assert 0.90 < covered.count(True) / len(covered) < 0.99
    assert not fit_response(DOSES, values(lambda dose: dose + 1, sd=0.01)).centred


@pytest.mark.parametrize(
    ("doses", "seeds"),
    [
        ((1.0,), (1, 2)),
        ((0.5, 1.0), (1, 2)),
        ((0.0, 1.0), (1, 2)),
        ((0.0, 0.5, 1.5), (1, 2)),
        (DOSES, (1,)),
        (DOSES, (1, 1)),
    ],
)
def test_designs_without_an_answer_are_refused(doses: Sequence[float], seeds: Sequence[int]) -> None:
    with pytest.raises(CorpusError):
        check_design(doses, seeds)


def test_a_dose_is_read_from_the_curve_and_back() -> None:
    line = ResponseCurve("text", "sgns", (0.0, 0.5, 1.0), (-2.0, 0.0, 1.0), 0.1)
    assert [line.dose(d) for d in (-2, -1, 0, 0.25, 1)] == pytest.approx([0, 0.25, 0.5, 0.625, 1])
    assert (line.dose(-9), line.dose(9)) == (0, 1)


def test_the_shipped_scale_has_no_stereotype_near_zero_and_grows() -> None:
    for curve in curves():
        assert abs(curve.dose(0.0) - 0.5) < 0.1
        found = [curve.dose(d) for d in np.linspace(min(curve.means), max(curve.means), 50)]
        assert found == sorted(found)


def test_the_scale_has_a_line_per_curve_and_says_what_it_is_not() -> None:
    assert len(list(scale_lines(0.3, 0.1, 0.5))) == len(curves()) + 1
    assert all("[" not in line for line in scale_lines(0.3, None, None))
    assert all("[" not in line for line in scale_lines(1.9, 1.5, 2.0))


def test_metrics_are_recommended_for_what_their_responses_show() -> None:
    def row(
        name: str, outcome: str, smallest: float | None, signed: bool = True, contrasts: bool = True
    ) -> MetricResponse:
        return MetricResponse(
            corpus="text",
            algorithm="sgns",
            test="roles",
            kind=PLANTED,
            metric=name,
            sets="X Y A B",
            signed=signed,
            unbiased=0.0,
            contrasts=contrasts,
            response=replace(fit_response(DOSES, values(lambda dose: dose)), smallest=smallest),
            p_adjusted=0.01,
            outcome=outcome,
        )

    rows = [
        row("strong", "saturates", 0.6),
        row("best", "follows", 0.55),
        row("one-set", "follows", 0.7, contrasts=False),
        row("nearer", "reversed", 0.8, signed=False),
        row("mean", "weak", None),
        row("none", "blind", None),
    ]
    control = replace(rows[0], kind=CONTROL, metric="control", outcome="moves")
    found = [metrics for _, metrics in advice([*rows, control])]
    assert found == [
        "best (0.55), strong (0.60), one-set (0.70)",
        "best, strong",
        "best, one-set",
        "strong",
        "nearer",
        "mean",
        "none",
    ]
    assert advice([control]) == []
