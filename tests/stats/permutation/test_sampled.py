"""Sampled p-values: every partition equally likely, and an interval that holds the truth 99 times in 100."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binomtest, chi2

from weatherglass.stats.permutation import permutation_test
from weatherglass.stats.permutation.choose import normal_moments
from weatherglass.stats.permutation.grid import Grid
from weatherglass.stats.permutation.sampled import clopper_pearson, sample_sums


@pytest.mark.parametrize(("n", "size"), [(5, 2), (13, 4), (14, 11), (26, 2), (40, 1), (25, 23)])
def test_every_partition_is_equally_likely(n: int, size: int) -> None:
    # Powers of two: the sum tells which subset was drawn.
    grid = Grid(2 ** np.arange(n, dtype=np.int64), size, 0)
    samples = 200_000
    drawn, counts = np.unique(sample_sums(grid, samples, np.random.default_rng(n)), return_counts=True)
    cells = math.comb(n, size)
    assert all(int(subset).bit_count() == size for subset in drawn)
    expected = samples / cells
    statistic = ((counts - expected) ** 2 / expected).sum() + (cells - len(drawn)) * expected
    assert 1e-4 < chi2.sf(statistic, cells - 1) < 1 - 1e-4


@pytest.mark.parametrize(("n", "size"), [(500, 250), (499, 60), (64, 32)])
def test_sampled_sums_have_the_moments_of_the_null(n: int, size: int) -> None:
    values = np.sort(np.random.default_rng(n).integers(0, 10**9, n))
    grid = Grid(values, size, 0)
    mean, sd = normal_moments(grid)
    z = (sample_sums(grid, 99_999, np.random.default_rng(1)) - mean) / sd
    assert abs(z.mean()) < 4 / math.sqrt(len(z))
    assert abs(z.var() - 1) < 4 * math.sqrt(2 / len(z))


def test_the_interval_holds_the_exact_p_about_99_times_in_100() -> None:
    held, cases = 0, 200
    for seed in range(cases):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(0.3, 1, 11), rng.normal(0, 1, 11)
        exact = permutation_test(x, y, method="exact")
        sampled = permutation_test(x, y, method="sampled", samples=2_000, rng=rng)
        assert sampled.p_method == "sampled"
        assert not sampled.certified
        assert sampled.p_low is not None
        assert sampled.p_high is not None
        assert sampled.p_low <= sampled.p_value <= sampled.p_high
        held += sampled.p_low <= exact.p_value <= sampled.p_high
    assert held >= 194


def test_one_more_partition_counts_as_a_hit() -> None:
    rng = np.random.default_rng(0)
    found = permutation_test(rng.normal(9, 1, 30), rng.normal(0, 1, 30), method="sampled")
    assert found.p_value == 1e-5
    assert found.p_floor == 1e-5
    assert found.p_low == 0.0


def test_few_partitions_are_all_counted() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(0.5, 1, 8), rng.normal(0, 1, 8)
    found = permutation_test(x, y, method="sampled")
    assert found.p_method == "sampled (all partitions)"
    assert found.p_value == permutation_test(x, y, method="enumerate").p_value
    assert found.p_floor == 1 / math.comb(16, 8)


def test_the_seed_decides_the_draws() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(0.2, 1, 50), rng.normal(0, 1, 50)
    one, same, other = (
        permutation_test(x, y, method="sampled", rng=np.random.default_rng(seed)).p_value
        for seed in (1, 1, 2)
    )
    assert one == same != other


@pytest.mark.parametrize(("hits", "samples"), [(0, 50), (50, 50), (3, 50), (700, 99_999)])
def test_clopper_pearson_agrees_with_scipy(hits: int, samples: int) -> None:
    interval = binomtest(hits, samples).proportion_ci(0.99, method="exact")
    assert clopper_pearson(hits, samples) == pytest.approx((interval.low, interval.high), rel=1e-9)
