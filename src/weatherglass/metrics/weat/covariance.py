"""Covariance of an attribute set, for Mahalanobis distance: graphical lasso or Ledoit–Wolf (docs/methods 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.errors import UnitError
from weatherglass.registry import Registry

WIDEST_GLASSO = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """The inverse covariance of an attribute set, and how it was estimated."""

    precision: Matrix
    """Σ⁻¹, symmetric and positive definite."""
    estimator: str
    """glasso or ledoit-wolf."""
    penalty: float
    """What was chosen from the data: λ of the graphical lasso, or the share of shrinkage of Ledoit–Wolf."""
    nonzero_share: float
    """Share of the off-diagonal entries of `precision` that are not zero."""
    vectors: int
    """How many different vectors it was estimated from."""

    def record(self) -> dict[str, float | str]:
        """How it came about, as plain values."""
        return {
            "estimator": self.estimator,
            "penalty": self.penalty,
            "nonzero_share": self.nonzero_share,
            "vectors": self.vectors,
        }


ESTIMATORS: Registry[Callable[[Matrix], tuple[Matrix, float]]] = Registry(
    "covariance estimator",
    {
        "glasso": "weatherglass.metrics.weat.covariance:glasso",
        "ledoit-wolf": "weatherglass.metrics.weat.covariance:ledoit_wolf",
    },
    entry_points="weatherglass.covariances",
)
"""Each takes different vectors in canonical order and returns their precision matrix and what it chose."""


def estimate_covariance(vectors: Matrix, estimator: str = "glasso") -> Covariance:
    """The covariance of an attribute set, enlarged with synonyms or not.

    Vectors that are equal count once and the order of the rows does not matter: they are sorted first, and
    the folds of a cross-validation are cut from that order.

    Raises:
        UnknownNameError: if there is no such estimator.
        UnitError: if the vectors are too few, too wide, too alike, too large or too small for it.
    """
    from threadpoolctl import threadpool_limits

    distinct = np.unique(vectors, axis=0)
    compute_precision = ESTIMATORS.get(estimator)
    with threadpool_limits(1):  # The last bits would depend on how many threads there are.
        try:
            precision, chosen = compute_precision(distinct)
            _check_positive_definite(precision)
        except (np.linalg.LinAlgError, ArithmeticError) as error:
            raise UnitError(
                f"{estimator} found no positive definite covariance of {len(distinct)} vectors ({error}); "
                "enlarge the attribute set with --synonyms or try the other estimator with --covariance"
            ) from error
    width = len(precision)
    off_diagonal = int(np.count_nonzero(precision)) - int(np.count_nonzero(np.diag(precision)))
    return Covariance(
        precision=precision,
        estimator=estimator,
        penalty=chosen,
        nonzero_share=off_diagonal / (width * (width - 1)) if width > 1 else 0.0,
        vectors=len(distinct),
    )


def _check_positive_definite(precision: Matrix) -> None:
    """Raise LinAlgError here, where only one covariance is lost, and not when vectors are whitened with it."""
    if not np.isfinite(precision).all():
        raise np.linalg.LinAlgError("its inverse has NaN or infinite entries")
    np.linalg.cholesky(precision)


def glasso(vectors: Matrix) -> tuple[Matrix, float]:
    """The graphical lasso (Azarpanah & Farhadloo 2021, in our reading) and its penalty."""
    width = vectors.shape[1]
    if width > WIDEST_GLASSO:
        raise UnitError(
            f"the graphical lasso takes up to {WIDEST_GLASSO} dimensions and the vectors have {width}; "
            "use --covariance ledoit-wolf"
        )
    from weatherglass.metrics.weat.glasso import fit_graphical_lasso

    fit, penalty = fit_graphical_lasso(vectors)
    return fit.precision, penalty


def ledoit_wolf(vectors: Matrix) -> tuple[Matrix, float]:
    """The sample covariance drawn towards a sphere, and by what share (Ledoit & Wolf 2004)."""
    n, width = vectors.shape
    if n < 3:  # Two differ along one line only, and nothing says how far to draw the rest.
        raise UnitError(f"a covariance needs at least 3 different vectors; {n} given")
    centred = vectors - vectors.mean(axis=0)
    sample = centred.T @ centred / n
    scale = float(np.trace(sample)) / width
    squares = float((sample**2).sum())
    dispersion = squares - width * scale**2
    noise = (float(((centred**2).sum(axis=1) ** 2).sum()) / n - squares) / n
    share = min(noise / dispersion, 1.0) if dispersion > 0 else 1.0
    covariance = (1 - share) * sample + share * scale * np.eye(width)
    precision = np.linalg.inv(covariance)
    return (precision + precision.T) / 2, share
