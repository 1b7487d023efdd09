"""REML from cross products, against the definition: dense covariance matrices, and a search from many starts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.messages import in_order, naming

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.errors import WeatherglassError
from weatherglass.reliability.regression.features import Design
from weatherglass.reliability.regression.fit import fit
from weatherglass.stats.reml import criterion, cross_products, reml

STARTS = ((0.5, 0.5, 0.5), (0.05, 2.0, 0.05), (2.0, 0.05, 2.0))
Columns = dict[str, Vector]
Levels = dict[str, Integers]


def codes(values: Integers) -> Integers:
    codes: Integers = np.unique(values, return_inverse=True)[1].astype(np.int64)
    return codes


def random_data(seed: int) -> tuple[Vector, Columns, Levels]:
    """Unbalanced rows of three crossed factors, some of which have no variance; the first feature is of the word."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(30, 60))
    levels = {"algorithm": 2 + seed % 2, "corpus": 3, "word": int(rng.integers(8, 16))}
    factors = {name: codes(rng.integers(0, n, rows)) for name, n in levels.items()}
    columns = {f"x{place}": rng.normal(size=rows) for place in range(seed % 3)}
    if columns:
        columns["x0"] = rng.normal(size=levels["word"])[factors["word"]]
    score = 3 + rng.normal(size=rows) + sum(rng.normal() * column for column in columns.values())
    for name, n in levels.items():
        spread = 0.0 if rng.random() < 0.3 else 10 ** rng.uniform(-0.7, 0.7)
        score = score + rng.normal(0, 1, n)[factors[name]] * spread
    return score * 10 ** rng.uniform(-2, 2), columns, factors


def design_matrix(score: Vector, columns: Columns) -> Matrix:
    return np.column_stack([np.ones(len(score)), *columns.values()])


def by_definition(score: Vector, x: Matrix, covariance: Matrix) -> tuple[float, Vector, Matrix]:
    """-2 log restricted likelihood: log|V| + log|XᵀV⁻¹X| + rᵀV⁻¹r + (n - p) log 2π; then b and its covariance."""
    inverse = np.linalg.inv(covariance)
    information = x.T @ inverse @ x
    estimates = np.linalg.solve(information, x.T @ inverse @ score)
    residual = score - x @ estimates
    deviance = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1]
    deviance += residual @ inverse @ residual + (len(score) - x.shape[1]) * np.log(2 * np.pi)
    return float(deviance), estimates.astype(np.float64), np.linalg.inv(information).astype(np.float64)


def dense_covariance(factors: Levels, variances: Vector) -> Matrix:
    """Of the factors' variances and, last, the residual one."""
    covariance: Matrix = variances[-1] * np.eye(len(next(iter(factors.values()))))
    for factor, variance in zip(factors.values(), variances, strict=False):
        covariance = covariance + variance * (factor[:, None] == factor)
    return covariance


def dense_optimum(score: Vector, x: Matrix, factors: Levels, near: Vector) -> tuple[float, Vector]:
    """The least deviance over standard deviations, the residual one too, from several starts; and its variances.

    At a standard deviation of 0 the gradient is 0, too, and the search may stay there: so one start is off `near`.
    """
    unit = score / score.std()
    beside = 1.3 * np.sqrt(near / score.var()) + 0.05
    bounds = [(0, 50)] * len(factors) + [(1e-3, 50)]
    optima = [
        minimize(
            lambda at: by_definition(unit, x, dense_covariance(factors, at**2))[0],
            start,
            method="L-BFGS-B",
            bounds=bounds,
            options={"ftol": 1e-14, "gtol": 1e-7},
        )
        for start in [*([*start, 1.0] for start in STARTS), beside]
    ]
    best = min(optima, key=lambda optimum: float(optimum.fun))
    # The deviance of a score that is c times as large is 2 (n - p) log c more.
    deviance = float(best.fun) + 2 * (len(score) - x.shape[1]) * np.log(score.std())
    return deviance, best.x**2 * score.var()


@pytest.mark.large
@pytest.mark.parametrize(("data_sets", "at_zero"), [(9, 5), pytest.param(54, 20, marks=pytest.mark.large)])
def test_estimates_variances_and_criterion_are_those_of_a_dense_search(data_sets: int, at_zero: int) -> None:
    zeros = 0
    for seed in range(data_sets):
        score, columns, factors = random_data(seed)
        rows = cross_products(score, columns, factors)
        result = reml(rows)
        own = np.array([*(result.variances[name] for name in factors), result.residual])
        zeros += int((own == 0).sum())
        x = design_matrix(score, columns)
        deviance, estimates, covariance = by_definition(score, x, dense_covariance(factors, own))
        assert result.converged, seed
        assert criterion(rows, result.variances, result.residual) == pytest.approx(deviance, abs=1e-7), seed
        np.testing.assert_allclose(result.coefficients, estimates, rtol=1e-7, err_msg=str(seed))
        np.testing.assert_allclose(result.covariance, covariance, rtol=1e-6, atol=1e-9 * covariance.max())
        least, variances = dense_optimum(score, x, factors, own)
        assert deviance < least + 1e-6, seed
        np.testing.assert_allclose(own, variances, atol=2e-3 * variances.max(), err_msg=str(seed))
    assert zeros >= at_zero  # estimates at the edge are among them


@pytest.mark.parametrize("seed", range(6))
def test_weighted_estimates_are_those_of_dense_covariances(seed: int) -> None:
    """A row of weight w has the residual variance σ²/w."""
    score, columns, factors = random_data(seed)
    weights = np.random.default_rng(seed).gamma(2, size=len(score))
    rows = cross_products(score, columns, factors, weights)
    result = reml(rows)
    x = design_matrix(score, columns)

    def dense(variances: dict[str, float], residual: float) -> tuple[float, Vector, Matrix]:
        covariance = dense_covariance(factors, np.array([*(variances[name] for name in factors), 0.0]))
        return by_definition(score, x, covariance + np.diag(residual / weights))

    deviance, estimates, covariance = dense(result.variances, result.residual)
    assert criterion(rows, result.variances, result.residual) == pytest.approx(deviance, abs=1e-7)
    np.testing.assert_allclose(result.coefficients, estimates, rtol=1e-7)
    np.testing.assert_allclose(result.covariance, covariance, rtol=1e-6, atol=1e-9 * covariance.max())
    for name in factors:  # No variance near the estimate, or near zero, is better.
        for step in (0.9 * result.variances[name], 1.1 * result.variances[name] + 1e-3 * result.residual):
            assert dense({**result.variances, name: step}, result.residual)[0] > deviance - 1e-7
    for step in (0.95, 1.05):
        assert dense(result.variances, step * result.residual)[0] > deviance


def test_equal_weights_change_only_the_residual_variance() -> None:
    score, columns, factors = random_data(4)
    plain = reml(cross_products(score, columns, factors))
    doubled = reml(cross_products(score, columns, factors, np.full(len(score), 2.0)))
    np.testing.assert_allclose(doubled.coefficients, plain.coefficients, rtol=1e-6)
    assert doubled.residual == pytest.approx(2 * plain.residual, rel=1e-6)
    assert doubled.explained == pytest.approx(plain.explained, rel=1e-6)


def test_the_variance_of_the_fixed_part_is_that_of_the_fitted_values() -> None:
    for seed in (1, 2, 5):
        score, columns, factors = random_data(seed)
        result = reml(cross_products(score, columns, factors))
        fitted = design_matrix(score, columns) @ result.coefficients
        assert result.explained == pytest.approx(fitted.var(ddof=1), rel=1e-10)


def design_of(score: Vector, columns: Columns, **factors: Integers) -> Design:
    return Design(score, columns, factors, {}, len(score), {})


def test_factors_that_divide_the_rows_alike_are_one_factor() -> None:
    score, columns, factors = random_data(4)
    corpus = factors["corpus"]
    score = score / score.std() + 2 * corpus
    alone = fit(design_of(score, columns, corpus=corpus), ("corpus",))
    assert alone.variances["corpus"] > 1
    both = fit(design_of(score, columns, algorithm=(corpus + 1) % 3, corpus=corpus), ("algorithm", "corpus"))
    assert both.variances == pytest.approx({"algorithm": alone.variances["corpus"]}, rel=1e-5)
    groups = [warning.values for warning in both.warnings if warning.kind == "same-groups"]
    assert len(groups) == 1
    assert set(groups[0].values()) == {"corpus", "algorithm"}


def test_a_variance_that_the_features_take_up_is_said_to_be_undetermined() -> None:
    score, _, factors = random_data(4)
    columns = {f"corpus:{level}": (factors["corpus"] == level).astype(float) for level in (1, 2)}
    result = reml(cross_products(score, columns, {"corpus": factors["corpus"], "word": factors["word"]}))
    assert result.undetermined == ("corpus",)
    assert result.variances["corpus"] == 0
    warnings = fit(design_of(score, columns, corpus=factors["corpus"]), ("corpus",)).warnings
    assert warnings[-1].kind == "zero-variance"
    assert warnings[-1].values == {"factor": "corpus", "determined": True}


ROWS = np.arange(12)
NOISE = np.random.default_rng(1).normal(size=12)
PAIRS = {"corpus": ROWS % 2, "word": ROWS // 3}


@pytest.mark.parametrize(
    ("score", "columns", "factors", "message"),
    [
        (np.full(12, 0.1), {"x": NOISE}, PAIRS, naming("score", "same")),
        (3 * NOISE, {"x": NOISE}, PAIRS, naming("score", "exactly")),
        (NOISE[ROWS // 3], {}, PAIRS, naming("score", "exactly")),
        (NOISE, {"x": ROWS.astype(float), "y": 2.0 * ROWS}, PAIRS, naming("x, y", "constant")),
        (NOISE, {}, {"word": ROWS}, naming("every row", "word")),
        (NOISE[:2], {"x": NOISE[3:5]}, {"corpus": ROWS[:2] * 0}, in_order("2 rows", 2)),
        (NOISE[:2], {"x": NOISE[3:5], "y": NOISE[:2]}, {"corpus": ROWS[:2] * 0}, in_order("2 rows", 3)),
    ],
)
def test_rows_from_which_nothing_can_be_estimated_are_an_error_that_says_why(
    score: Vector, columns: Columns, factors: Levels, message: str
) -> None:
    with pytest.raises(WeatherglassError, match=message):
        fit(design_of(score, columns, **factors), tuple(factors))
