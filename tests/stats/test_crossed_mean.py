"""The mean of base pairs × seeds: its formula, its laws, and how often its interval holds the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import t

from weatherglass.stats.seeds import Layouts, crossed_mean


def layouts(
    repetitions: int, pairs: int, seeds: int, of_pairs: float = 1, of_seeds: float = 1, noise: float = 1
) -> Layouts:
    rng = np.random.default_rng([pairs, seeds, round(10 * of_pairs), round(10 * of_seeds)])
    return (
        of_pairs * rng.normal(size=(repetitions, pairs, 1))
        + of_seeds * rng.normal(size=(repetitions, 1, seeds))
        + noise * rng.normal(size=(repetitions, pairs, seeds))
    )


def test_the_numbers_are_the_formula_of_the_methods_written_out() -> None:
    (table,) = layouts(1, 4, 3)
    mean = sum(map(sum, table)) / 12
    pair_means = [sum(row) / 3 for row in table]
    seed_means = [sum(table[pair][seed] for pair in range(4)) / 4 for seed in range(3)]
    v_p = sum((one - mean) ** 2 for one in pair_means) / 3 / 4
    v_s = sum((one - mean) ** 2 for one in seed_means) / 2 / 3
    v_i = (
        sum((table[p][s] - pair_means[p] - seed_means[s] + mean) ** 2 for p in range(4) for s in range(3))
        / (3 * 2)
        / 12
    )
    v_t = sum((value - mean) ** 2 for row in table for value in row) / 11 / 12
    error = max(v_p + v_s - v_i, v_p, v_s, v_t) ** 0.5
    df = 2  # 3 seeds are the smaller factor
    own = crossed_mean(table)
    assert [float(own.mean), float(own.error), float(own.df)] == pytest.approx([mean, error, df])
    reach = float(t.ppf(0.975, df)) * error
    assert [float(own.low), float(own.high)] == pytest.approx([mean - reach, mean + reach])
    assert float(own.p_value) == pytest.approx(2 * float(t.sf(abs(mean) / error, df)))


def test_pairs_and_seeds_exchange_and_the_scale_does_not_matter() -> None:
    tables = layouts(20, 7, 5)
    own, turned, scaled = (crossed_mean(some) for some in (tables, tables.swapaxes(1, 2), -1000 * tables))
    assert own.p_value == pytest.approx(turned.p_value)
    assert own.p_value == pytest.approx(scaled.p_value)
    assert own.low == pytest.approx(-scaled.high / 1000)


def test_an_interval_leaves_0_out_where_p_says_so() -> None:
    own = crossed_mean(layouts(400, 12, 5) + 0.5)
    assert ((own.low > 0) | (own.high < 0)).tolist() == (own.p_value < 0.05).tolist()
    assert 0.05 < (own.p_value < 0.05).mean() < 0.95


def test_one_seed_says_nothing_about_other_seeds_and_equal_scores_leave_no_doubt() -> None:
    one_seed = crossed_mean(layouts(2, 7, 1))
    assert np.isfinite(one_seed.mean).all()
    assert np.isnan([one_seed.low, one_seed.high, one_seed.p_value]).all()
    same, nothing = crossed_mean(np.full((5, 3), 0.25)), crossed_mean(np.zeros((5, 3)))
    assert (float(same.low), float(same.high), float(same.p_value)) == (0.25, 0.25, 0.0)
    assert (float(nothing.low), float(nothing.p_value)) == (0.0, 1.0)


def reml_error(table: Layouts) -> float:
    """The standard error of the mean by restricted maximum likelihood, from dense matrices and a search."""
    pairs, seeds = table.shape
    y, ones = table.ravel(), np.ones((table.size, 1))
    same_pair = np.kron(np.eye(pairs), np.ones((seeds, seeds)))
    same_seed = np.kron(np.ones((pairs, pairs)), np.eye(seeds))

    def fit(ratios: list[float]) -> tuple[float, float]:
        covariance = np.eye(len(y)) + ratios[0] * same_pair + ratios[1] * same_seed
        inverse = np.linalg.inv(covariance)
        information = (ones.T @ inverse @ ones).item()
        residuals = y - (ones.T @ inverse @ y).item() / information
        variance = residuals @ inverse @ residuals / (len(y) - 1)
        criterion = (len(y) - 1) * np.log(variance) + np.linalg.slogdet(covariance)[1] + np.log(information)
        return float(criterion), float((variance / information) ** 0.5)

    best = minimize(
        lambda roots: fit([root**2 for root in roots])[0], [0.5, 0.5], method="Nelder-Mead", tol=1e-12
    )
    return fit([root**2 for root in best.x])[1]


@pytest.mark.parametrize(("of_pairs", "of_seeds"), [(0, 0), (1, 0), (0, 1), (1, 1)])
def test_the_error_is_that_of_restricted_maximum_likelihood_also_where_variances_are_0(
    of_pairs: float, of_seeds: float
) -> None:
    tables = layouts(6, 4, 3, of_pairs, of_seeds)
    if not of_pairs and not of_seeds:  # Pair and seed means that vary less than chance alone makes them
        centred = tables - 0.8 * (tables.mean(1, keepdims=True) - tables.mean((1, 2), keepdims=True))
        tables = centred - 0.8 * (tables.mean(2, keepdims=True) - tables.mean((1, 2), keepdims=True))
        cells = tables.reshape(6, 12)
        assert crossed_mean(tables).error == pytest.approx(cells.std(1, ddof=1) / 12**0.5)
    assert crossed_mean(tables).error == pytest.approx([reml_error(table) for table in tables], rel=1e-4)


@pytest.mark.parametrize(("pairs", "seeds"), [(12, 8), (23, 8), (23, 32)])
def test_the_interval_holds_the_mean_of_other_pairs_and_seeds(pairs: int, seeds: int) -> None:
    """docs/methods 7.2: 95 to 98 %; of 4 000 repetitions chance adds 0.7 points at two standard errors."""
    tables = layouts(4_000, pairs, seeds)
    own = crossed_mean(tables)
    assert 0.943 <= ((own.low <= 0) & (own.high >= 0)).mean() <= 0.977
    pair_means = tables.mean(2)
    alone = np.abs(pair_means.mean(1)) <= t.ppf(0.975, pairs - 1) * pair_means.std(1, ddof=1) / pairs**0.5
    assert alone.mean() < 0.94  # what it would be without the seeds


@pytest.mark.large
@pytest.mark.parametrize("pairs", [12, 23])
@pytest.mark.parametrize("seeds", [5, 8, 16, 32])
@pytest.mark.parametrize(("of_pairs", "of_seeds"), [(1, 1), (1, 0.3), (1, 0), (0.5, 1)])
def test_coverage_in_every_cell_of_the_methods(
    pairs: int, seeds: int, of_pairs: float, of_seeds: float
) -> None:
    """At least 95 % in every cell, and up to 99 with 5 seeds; three standard errors are 0.5 points."""
    own = crossed_mean(layouts(20_000, pairs, seeds, of_pairs, of_seeds))
    assert 0.945 <= ((own.low <= 0) & (own.high >= 0)).mean() <= (0.97 if seeds >= 16 else 0.995)
