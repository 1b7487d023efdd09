"""The normal tail: the moments of the null are those of all partitions."""

from __future__ import annotations

from statistics import NormalDist, fmean, pstdev

import numpy as np
import pytest
from tests.stats.permutation import brute_force

from weatherglass.stats.permutation import permutation_test


@pytest.mark.parametrize("size", [1, 4, 6, 9])
def test_normal_p_has_the_moments_of_all_partitions(size: int) -> None:
    scores = [int(score) for score in np.random.default_rng(size).integers(-50, 50, 12)]
    sums = brute_force.all_sums(scores, size)
    null = NormalDist(fmean(sums), pstdev(sums))
    observed = sum(scores[:size])
    x, y = np.array(scores[:size]) / 7, np.array(scores[size:]) / 7
    greater = permutation_test(x, y, method="normal")
    assert greater.p_value == pytest.approx(1 - null.cdf(observed), rel=1e-9)
    assert greater.p_low is None
    assert greater.p_high is None
    assert permutation_test(x, y, method="normal", alternative="less").p_value == pytest.approx(
        null.cdf(observed)
    )
    tails = 2 * min(null.cdf(observed), 1 - null.cdf(observed))
    assert permutation_test(x, y, method="normal", alternative="two-sided").p_value == pytest.approx(tails)


def test_fitting_the_moments_to_draws_changes_little() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(0.5, 1, 25), rng.normal(0, 1, 25)
    closed = permutation_test(x, y, method="normal")
    fitted = permutation_test(x, y, method="normal-sampled", rng=rng)
    assert fitted.p_method == "normal-sampled"
    assert fitted.p_value != closed.p_value
    assert fitted.p_value == pytest.approx(closed.p_value, rel=0.1)


def test_a_normal_p_does_not_vanish() -> None:
    x, y = np.arange(5000.0) + 1e6, np.arange(5000.0)
    assert permutation_test(x, y, method="normal").p_value > 0
