"""Estimates of a covariance: the record that comes with them, and what may not matter to them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.messages import naming

from weatherglass.arrays import Matrix
from weatherglass.errors import UnitError, UnknownNameError
from weatherglass.metrics.weat.covariance import estimate_covariance


def drawn(seed: int, n: int, width: int) -> Matrix:
    rng = np.random.default_rng(seed)
    mixing = np.eye(width) + 0.3 * rng.normal(size=(width, width)) / np.sqrt(width)
    return np.asarray(rng.normal(size=(n, width)) @ mixing)


@pytest.mark.parametrize(("n", "width"), [(40, 6), (10, 30), (3, 5)])
def test_ledoit_wolf_is_that_of_scikit_learn(n: int, width: int) -> None:
    from sklearn.covariance import LedoitWolf

    vectors = drawn(n, n, width)
    theirs = LedoitWolf().fit(vectors)
    ours = estimate_covariance(vectors, "ledoit-wolf")
    assert ours.penalty == pytest.approx(theirs.shrinkage_, rel=1e-9)
    np.testing.assert_allclose(
        ours.precision, theirs.precision_, rtol=1e-6, atol=1e-9 * abs(theirs.precision_).max()
    )


@pytest.mark.parametrize("estimator", ["glasso", "ledoit-wolf"])
def test_neither_order_nor_repetition_of_the_vectors_matters(estimator: str) -> None:
    vectors = drawn(1, 20, 5)
    shuffled = np.vstack([vectors[::-1], vectors[:7]])
    first, second = estimate_covariance(vectors, estimator), estimate_covariance(shuffled, estimator)
    assert np.array_equal(first.precision, second.precision)
    assert first.record() == second.record()
    assert second.vectors == 20


@pytest.mark.parametrize("estimator", ["glasso", "ledoit-wolf"])
@pytest.mark.parametrize("n", [3, 8, 50])
def test_the_precision_is_symmetric_and_positive_definite(estimator: str, n: int) -> None:
    precision = estimate_covariance(drawn(n, n, 12), estimator).precision
    assert np.allclose(precision, precision.T, rtol=1e-12)
    assert np.linalg.eigvalsh(precision).min() > 0


def test_the_record_counts_what_is_not_zero() -> None:
    estimate = estimate_covariance(drawn(2, 300, 10), "glasso")
    off_diagonal = estimate.precision[~np.eye(10, dtype=bool)]
    assert estimate.nonzero_share == np.count_nonzero(off_diagonal) / 90
    assert 0 < estimate.nonzero_share < 1
    assert estimate.estimator == "glasso"
    assert estimate_covariance(drawn(2, 30, 10), "ledoit-wolf").nonzero_share == 1


def test_one_dimension_has_a_variance_only() -> None:
    vectors = drawn(1, 30, 1)
    assert estimate_covariance(vectors).precision[0, 0] == pytest.approx(1 / vectors.var())


def test_above_1024_dimensions_the_graphical_lasso_names_the_other() -> None:
    vectors = np.random.default_rng(0).normal(size=(5, 1025))
    with pytest.raises(UnitError, match=naming(1024, 1025, "ledoit-wolf")):
        estimate_covariance(vectors)
    assert estimate_covariance(vectors, "ledoit-wolf").precision.shape == (1025, 1025)


def test_an_unknown_estimator_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=naming("glaso", suggesting="glasso")):
        estimate_covariance(drawn(1, 10, 3), "glaso")


def test_too_few_vectors_are_refused() -> None:
    with pytest.raises(UnitError, match=naming(3, 1)):
        estimate_covariance(np.ones((4, 3)), "ledoit-wolf")
