"""The graphical lasso: its optimality conditions, scikit-learn's objective, and the choice of the penalty."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages import naming

from weatherglass.arrays import Matrix
from weatherglass.errors import UnitError
from weatherglass.metrics.weat.covariance import (
    GAP,
    Fold,
    choose_penalty,
    fit_graphical_lasso,
    graphical_lasso,
    log_determinant,
    sample_covariance,
)


def correlated(seed: int, n: int, width: int) -> Matrix:
    """Vectors whose dimensions are correlated and of different sizes."""
    rng = np.random.default_rng(seed)
    mixing = 0.4 * rng.normal(size=(width, width)) / np.sqrt(width) + np.eye(width)
    return np.asarray(rng.normal(size=(n, width)) @ mixing * rng.uniform(0.5, 2, width))


def largest(S: Matrix) -> float:
    return float(np.abs(S - np.diag(np.diag(S))).max())


def objective(S: Matrix, precision: Matrix, penalty: float) -> float:
    off_diagonal = np.abs(precision).sum() - np.abs(np.diag(precision)).sum()
    return float(-np.linalg.slogdet(precision)[1] + np.trace(S @ precision) + penalty * off_diagonal)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.02])
@pytest.mark.parametrize(("n", "width"), [(80, 20), (12, 30)])
def test_the_optimality_conditions_hold(n: int, width: int, share: float) -> None:
    """Σ = Θ⁻¹ is S on the diagonal, S + λ·sign(Θ) where Θ is not zero, and within λ of S elsewhere."""
    S = sample_covariance(correlated(n, n, width))
    penalty = share * largest(S)
    fit = graphical_lasso(S, penalty, gap=1e-9)
    away = np.linalg.inv(fit.precision) - S
    tolerance = 1e-4 * np.diag(S).max()  # the objective is flat: a gap of 1e-9 is an error of its root
    off = ~np.eye(width, dtype=bool)
    active = (fit.precision != 0) & off
    assert np.abs(np.diag(away)).max() < tolerance
    assert np.abs(away[off]).max() < penalty + tolerance
    assert active.any()
    assert np.abs(away[active] - penalty * np.sign(fit.precision[active])).max() < tolerance


@pytest.mark.parametrize("share", [0.5, 0.2, 0.1])
def test_the_objective_is_within_a_thousandth_of_scikit_learns(share: float) -> None:
    from sklearn.covariance import graphical_lasso as theirs

    S = sample_covariance(correlated(5, 60, 15))
    penalty = share * largest(S)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it warns where it has not converged
        _, precision = theirs(S, alpha=penalty, tol=1e-4, enet_tol=1e-7, max_iter=200)
    ours = objective(S, graphical_lasso(S, penalty).precision, penalty)
    assert ours <= objective(S, precision, penalty) + 1e-3
    assert ours >= objective(S, precision, penalty) - 1e-3


@given(seed=st.integers(0, 200), share=st.floats(0.02, 1.0), scale=st.sampled_from([1e-3, 1.0, 1e3]))
def test_the_gap_bounds_the_distance_to_the_optimum(seed: int, share: float, scale: float) -> None:
    S = sample_covariance(scale * correlated(seed, 15, 8))
    penalty = share * largest(S)
    rough, exact = (graphical_lasso(S, penalty, gap=gap) for gap in (1.0, 1e-8))
    excess = objective(S, rough.precision, penalty) - objective(S, exact.precision, penalty)
    assert -1e-7 <= excess <= rough.gap + 1e-7
    assert rough.gap <= 1.0
    assert exact.gap <= 1e-8


@given(seed=st.integers(0, 200), factor=st.floats(0.01, 100))
def test_scaling_the_vectors_scales_the_precision(seed: int, factor: float) -> None:
    S = sample_covariance(correlated(seed, 15, 6))
    penalty = 0.2 * largest(S)
    plain, scaled = graphical_lasso(S, penalty), graphical_lasso(factor * S, factor * penalty)
    np.testing.assert_allclose(factor * scaled.precision, plain.precision, rtol=1e-6, atol=1e-9)


def test_from_the_largest_covariance_up_the_precision_is_diagonal() -> None:
    S = sample_covariance(correlated(1, 30, 10))
    np.testing.assert_allclose(graphical_lasso(S, largest(S)).precision, np.diag(1 / np.diag(S)))


def test_a_start_from_elsewhere_leads_to_the_same_optimum() -> None:
    S = sample_covariance(correlated(1, 30, 10))
    elsewhere = graphical_lasso(sample_covariance(correlated(2, 30, 10)), 0.1 * largest(S))
    penalty = 0.2 * largest(S)
    there = graphical_lasso(S, penalty, gap=1e-10, start=elsewhere).precision
    np.testing.assert_allclose(there, graphical_lasso(S, penalty, gap=1e-10).precision, atol=1e-4)


def test_the_penalty_is_the_best_of_a_fine_grid() -> None:
    """By scikit-learn's solver on the same folds: no penalty of a fine grid predicts the held-out better."""
    from sklearn.covariance import graphical_lasso as theirs

    vectors = correlated(3, 60, 5)
    S = sample_covariance(vectors)
    _, penalty = fit_graphical_lasso(vectors)

    def held_out(penalty: float) -> float:
        scores = []
        for fold in range(3):
            out = np.arange(len(vectors)) % 3 == fold
            _, precision = theirs(
                np.cov(vectors[~out].T, bias=True), alpha=penalty, tol=1e-4, enet_tol=1e-7, max_iter=200
            )
            away = vectors[out] - vectors[~out].mean(axis=0)
            quadratic = np.einsum("ij,jk,ik->i", away, precision, away)
            scores.append(np.linalg.slogdet(precision)[1] - quadratic.mean())
        return float(np.mean(scores))

    grid = np.geomspace(largest(S), largest(S) / 100, 15)
    assert held_out(penalty) >= max(map(held_out, grid)) - 2e-3
    assert largest(S) / 100 < penalty < largest(S)


def test_a_score_is_the_log_likelihood_of_what_was_held_out() -> None:
    from scipy.stats import multivariate_normal

    vectors = correlated(3, 30, 5)
    fold = Fold.leaving_out(vectors, 1)
    score = fold.score(0.1)
    out = np.arange(30) % 3 == 1
    fitted = multivariate_normal(vectors[~out].mean(axis=0), np.linalg.inv(fold.fits[0.1].precision))
    expected = np.mean(fitted.logpdf(vectors[out]))
    assert score == pytest.approx(2 * expected + 5 * np.log(2 * np.pi))


@pytest.mark.large
def test_it_succeeds_with_25_vectors_of_300_dimensions() -> None:
    """Where scikit-learn's solver is slow, and on some data raises FloatingPointError (docs/methods 1)."""
    vectors = correlated(25, 25, 300)
    fit, penalty = fit_graphical_lasso(vectors)
    assert fit.gap <= GAP
    assert log_determinant(fit.precision) > -np.inf
    assert 0 < penalty <= largest(sample_covariance(vectors))


def test_uncorrelated_dimensions_need_no_penalty() -> None:
    cross = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    S = sample_covariance(cross)
    folds = [Fold(S, S) for _ in range(3)]
    assert choose_penalty(folds, largest(S)) == 0
    np.testing.assert_allclose(graphical_lasso(S, 0.0).precision, 2 * np.eye(2))


def test_a_dimension_that_never_varies_is_named() -> None:
    vectors = correlated(1, 20, 4)
    vectors[:, 2] = 0.1
    with pytest.raises(UnitError, match=naming("dimension 2", 20, "ledoit-wolf")):
        fit_graphical_lasso(vectors)


def test_two_vectors_cannot_be_cross_validated() -> None:
    with pytest.raises(UnitError, match=naming(3, 2)):
        fit_graphical_lasso(correlated(1, 2, 4))
