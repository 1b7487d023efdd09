"""Power and minimum detectable effect."""

from __future__ import annotations

import math

import numpy as np
import pytest
from tests.stats.cases import exchange_p

from weatherglass.stats.power import Alternative, least_p, minimum_detectable_effect_size, power
from weatherglass.stats.scale import Scale


def d_of_cohen(d: float, n: int) -> float:
    """Cohen's d divides by the sd within the groups."""
    return float(Scale(n, n).effect_size(np.asarray(d)))


@pytest.mark.parametrize(
    ("cohen", "n", "chance"),
    # R: power.t.test(n = 20, delta = 1); pwr.t.test(d = 0.5, n = 64); pwr.t.test(d = 0.5, n = 20)
    [(1.0, 20, 0.8689528), (0.5, 64, 0.8014596), (0.5, 20, 0.337939)],
)
def test_two_sided_power_is_that_of_r(cohen: float, n: int, chance: float) -> None:
    assert power(d_of_cohen(cohen, n), n, n) == pytest.approx(chance, abs=1e-6)


def test_the_minimum_detectable_effect_is_that_of_r() -> None:
    # R: pwr.t.test(n = 20, power = 0.8), whose root finding promises four significant digits (?power.t.test, `tol`)
    assert minimum_detectable_effect_size(20, 20) == pytest.approx(d_of_cohen(0.9091587, 20), rel=1e-4)


def test_without_effect_power_is_alpha() -> None:
    assert power(0.0, 8, 8, 0.05) == pytest.approx(0.05)
    assert power(0.0, 8, 8, 0.01, "one-sided") == pytest.approx(0.01)


def test_power_is_how_often_the_permutation_test_finds_an_effect() -> None:
    rng = np.random.default_rng(2)
    runs = rng.normal(size=(300, 10))
    runs[:, :5] += 1.8
    found = np.mean([exchange_p(run, 5) <= 0.05 for run in runs])
    d = float(Scale(5, 5).effect_size(np.asarray(1.8)))
    assert power(d, 5, 5) == pytest.approx(found, abs=0.08)


@pytest.mark.parametrize("alternative", ["two-sided", "one-sided"])
@pytest.mark.parametrize(
    ("n_x", "n_y", "alpha"), [(8, 8, 0.05), (5, 9, 0.01), (64, 64, 0.05), (4, 4, 0.1), (350, 350, 0.05)]
)
def test_the_minimum_detectable_effect_is_found_in_80_of_100(
    n_x: int, n_y: int, alpha: float, alternative: Alternative
) -> None:
    d = minimum_detectable_effect_size(n_x, n_y, alpha, alternative)
    assert d is not None
    assert power(d, n_x, n_y, alpha, alternative) == pytest.approx(0.8)


def test_too_few_words_have_no_power() -> None:
    assert least_p(3, 3) == pytest.approx(0.1)
    assert least_p(3, 3, "one-sided") == pytest.approx(0.05)
    assert power(1.5, 3, 3, 0.05) == 0
    assert minimum_detectable_effect_size(3, 3, 0.05) is None
    assert minimum_detectable_effect_size(1, 1) is None


def test_an_effect_beyond_the_largest_has_no_power() -> None:
    assert math.isnan(power(2.0, 8, 8))


def test_power_rises_with_the_effect_to_1_at_every_size() -> None:
    """scipy's nctdtr gives NaN for some large effects on the far side."""
    for n in (4, 8, 64, 350, 2_500):
        chances = [power(d, n, n) for d in np.linspace(0, 0.999 * Scale(n, n).largest, 60)]
        assert np.all(np.diff(chances) >= -1e-12)
        assert chances[-1] == pytest.approx(1)
        assert power(-0.5, n, n) == power(0.5, n, n)
    assert power(-0.5, 8, 8, 0.05, "one-sided") < 0.05 < power(0.5, 8, 8, 0.05, "one-sided")
