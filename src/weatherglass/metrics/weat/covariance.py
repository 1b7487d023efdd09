"""Estimate the covariance of an attribute set for Mahalanobis distance, by graphical lasso or Ledoit–Wolf.

docs/methods 1 describes both. The graphical lasso minimises −log det Θ + tr(SΘ) + λ Σ_{i≠j} |Θ_ij| over positive
definite Θ (Friedman, Hastie & Tibshirani 2008) by ADMM, with the alternating steps of Boyd et al. (2011, section 6.5).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.errors import UnitError
from weatherglass.registry import Registry

FOLDS = 3
GRID = 4
"""The number of penalties in a grid."""
PASSES = 4
"""The number of grids; the first spans two decades, and each further one lies between the neighbours of the best
penalty.
"""
GAP = 1e-4
"""The duality gap of the objective at which a fit ends."""
GAP_PER_DIMENSION_IN_FOLDS = 2e-4
"""The looser gap for cross-validation, where fits are only compared; 0.06 for 300 dimensions."""
BEATEN_BY = 10
"""The number of gaps by which a score must be below that of another penalty for a fit in cross-validation to end
early.
"""
MOST_ITERATIONS = 3000
OVER_RELAXATION = 1.9


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A solution with its duality gap."""

    precision: Matrix
    """Θ, with exact zeros."""
    dual: Matrix
    """The matrix Σ − S for a feasible Σ of the dual problem, with a diagonal of 0 and no entry larger than the
    penalty.
    """
    gap: float
    """A bound of the difference between the objective of Θ and the optimum; inf if Θ is not positive definite."""


def graphical_lasso(
    S: Matrix,
    penalty: float,
    gap: float = GAP,
    start: Fit | None = None,
    enough: Callable[[Matrix, float], bool] = lambda _, __: False,
) -> Fit:
    """Return the sparse precision matrix of a covariance matrix.

    Args:
        S: a sample covariance, singular or not, with a positive diagonal.
        penalty: λ, the penalty on off-diagonal entries.
        gap: the duality gap to reach.
        start: the fit of a similar problem.
        enough: a function that returns whether to accept a precision matrix with a larger gap than `gap`.
    """
    fit = start or Fit(np.diag(1 / np.diag(S)), np.diag(np.diag(S)) - S, math.inf)
    theta, dual = fit.precision, np.clip(fit.dual, -penalty, penalty)
    rho = 7 * penalty * float(np.trace(S)) / len(S)  # Θ scales as 1/S and λ as S, so the step scales as S²
    for iteration in range(0, MOST_ITERATIONS, 2):
        reached = _gap(S, penalty, theta, dual)
        if reached <= gap or enough(theta, reached):
            break
        for _ in range(2):
            before = theta
            smooth, theta, dual = _alternate(S, penalty, rho, theta, dual)
        if iteration < MOST_ITERATIONS // 2:  # later, a fixed step ensures convergence
            rho *= _balance(rho, smooth - theta, theta - before, theta, dual)
    return Fit(theta, dual, reached)


def _alternate(
    S: Matrix, penalty: float, rho: float, theta: Matrix, dual: Matrix
) -> tuple[Matrix, Matrix, Matrix]:
    """Take one step of ADMM: the smooth part by eigenvalues, then the penalty by soft thresholding, then the dual."""
    values, vectors = np.linalg.eigh(rho * theta - dual - S)
    vectors *= np.sqrt((values + np.sqrt(values**2 + 4 * rho)) / (2 * rho))
    smooth = vectors @ vectors.T
    mixed = rho * (OVER_RELAXATION * smooth + (1 - OVER_RELAXATION) * theta) + dual
    dual = np.clip(mixed, -penalty, penalty)
    np.fill_diagonal(dual, 0.0)
    return smooth, (mixed - dual) / rho, dual


def _balance(rho: float, primal: Matrix, change: Matrix, theta: Matrix, dual: Matrix) -> float:
    """Return the factor for the step size that balances the two relative residuals."""
    norm = np.linalg.norm
    behind = float(norm(primal) / norm(theta))
    ahead = float(rho * norm(change) / max(float(norm(dual)), np.finfo(float).tiny))
    ratio = math.sqrt(behind / ahead) if ahead and behind else 1.0
    return 1.0 if 0.5 < ratio < 2 else min(max(ratio, 0.5), 2.0)


def _gap(S: Matrix, penalty: float, theta: Matrix, dual: Matrix) -> float:
    absolute = np.abs(theta)
    off_diagonal = float(absolute.sum() - np.trace(absolute))
    primal = -log_determinant(theta) + float((S * theta).sum()) + penalty * off_diagonal
    return primal - log_determinant(S + dual) - len(S)


def log_determinant(matrix: Matrix) -> float:
    """Return log det of a symmetric matrix; −inf if it is not positive definite."""
    try:
        factor = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return -math.inf
    return 2 * float(np.log(np.diag(factor)).sum())


def sample_covariance(vectors: Matrix) -> Matrix:
    """Return the sample covariance S, with n in the denominator.

    Raises:
        UnitError: if a dimension does not vary, since its precision would then be infinite.
    """
    centred = vectors - vectors.mean(axis=0)
    S: Matrix = centred.T @ centred / len(vectors)
    constant = np.flatnonzero(np.diag(S) <= 1e-20 * np.trace(S))
    if len(constant):
        raise UnitError(
            f"dimension {constant[0]} is the same in {len(vectors)} vectors, so the graphical lasso has no "
            "solution; enlarge the attribute set with --synonyms or use --covariance ledoit-wolf"
        )
    return S


def fit_graphical_lasso(vectors: Matrix) -> tuple[Fit, float]:
    """Return the fit with the penalty that 3-fold cross-validation selects, and that penalty.

    Args:
        vectors: one row per vector, in an order that does not depend on the order in the set; every third vector is
            held out in turn.

    Raises:
        UnitError: if there are fewer vectors than folds, a dimension does not vary, or ADMM does not converge.
    """
    if len(vectors) < FOLDS:
        raise UnitError(
            f"{FOLDS}-fold cross-validation of a covariance needs at least {FOLDS} vectors, but has "
            f"{len(vectors)}"
        )
    S = sample_covariance(vectors)
    largest = float(np.abs(S - np.diag(np.diag(S))).max())
    folds = [Fold.leaving_out(vectors, fold) for fold in range(FOLDS)]
    penalty = choose_penalty(folds, largest)
    fit = graphical_lasso(S, penalty)  # from scratch, because a fold of a few vectors can be a poor start
    if fit.gap > GAP:
        raise UnitError(
            f"the graphical lasso of {len(vectors)} vectors did not converge in {MOST_ITERATIONS} iterations (gap "
            f"{fit.gap:.2g}); use --covariance ledoit-wolf"
        )
    return fit, penalty


@dataclass(slots=True, eq=False)
class Fold:
    """One split of the vectors, and its fits so far, which can serve as starting points."""

    S: Matrix
    """The covariance of the training vectors."""
    held_out: Matrix
    """The second moments of the held-out vectors about the mean of the training vectors."""
    fits: dict[float, Fit] = field(default_factory=dict)
    """Fits by penalty."""
    best: float = -math.inf
    """The highest score so far."""

    @classmethod
    def leaving_out(cls, vectors: Matrix, fold: int) -> Fold:
        out = np.arange(len(vectors)) % FOLDS == fold
        away = vectors[out] - vectors[~out].mean(axis=0)
        return cls(sample_covariance(vectors[~out]), away.T @ away / len(away))

    def score(self, penalty: float) -> float:
        """Return the held-out likelihood with this penalty, computed only roughly if it is clearly not the best."""
        start = _interpolate(self.fits, penalty)
        gap = GAP_PER_DIMENSION_IN_FOLDS * len(self.S)
        fit = graphical_lasso(self.S, penalty, gap, start, self._beaten)
        self.fits[penalty] = fit
        score = self._likelihood(fit.precision)
        self.best = max(self.best, score)
        return score

    def _beaten(self, precision: Matrix, gap: float) -> bool:
        return gap < math.inf and gap * BEATEN_BY < self.best - self._likelihood(precision)

    def _likelihood(self, precision: Matrix) -> float:
        """Return twice the Gaussian log-likelihood of a held-out vector, up to a constant."""
        return log_determinant(precision) - float((self.held_out * precision).sum())


def choose_penalty(folds: list[Fold], largest: float) -> float:
    """Return the penalty with the best mean score, from a grid between `largest` and `largest`/100 and from finer
    grids.
    """
    if largest == 0:
        for fold in folds:
            fold.score(largest)
        return largest
    scores: dict[float, float] = {}
    grid: Vector = np.geomspace(largest, largest / 100, GRID)
    for _ in range(PASSES):
        for penalty in grid.tolist():
            if not any(math.isclose(penalty, known) for known in scores):
                scores[penalty] = math.fsum(fold.score(penalty) for fold in folds) / len(folds)
        tried = sorted(scores, reverse=True)
        best = max(range(len(tried)), key=lambda i: scores[tried[i]])
        above = tried[max(best - 1, 0)]
        below = tried[best + 1] if best + 1 < len(tried) else tried[best] / 100
        grid = np.geomspace(above, below, GRID + 2)[1:-1]
        for fold in folds:  # fits outside the bracket are no longer used; for d = 1024, each takes 16 MB
            fold.fits = {penalty: fit for penalty, fit in fold.fits.items() if below <= penalty <= above}
    return tried[best]


def _interpolate(fits: Mapping[float, Fit], penalty: float) -> Fit | None:
    """Return the fit to start from, which is interpolated between the nearest fits on both sides, or is the nearest
    one.
    """
    above = min((known for known in fits if known >= penalty), default=None)
    below = max((known for known in fits if known <= penalty), default=None)
    if above is None or below is None:
        nearest = above if below is None else below
        return None if nearest is None else fits[nearest]
    share = math.log(above / penalty) / math.log(above / below) if above > below else 0.0
    high, low = fits[above], fits[below]
    return Fit(
        (1 - share) * high.precision + share * low.precision,
        (1 - share) * high.dual + share * low.dual,
        math.inf,
    )


WIDEST_GLASSO = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """The inverse covariance of an attribute set, with details of its estimation."""

    precision: Matrix
    """Σ⁻¹, symmetric and positive definite."""
    estimator: str
    """The name of the estimator: glasso or ledoit-wolf."""
    penalty: float
    """The parameter chosen from the data: λ of the graphical lasso, or the shrinkage of Ledoit–Wolf."""
    nonzero_share: float
    """The share of the off-diagonal entries of `precision` that are not zero."""
    vectors: int
    """The number of distinct vectors used to estimate the covariance."""

    def record(self) -> dict[str, float | str]:
        """Return the details of the estimation as plain values, for the record."""
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
"""Estimators by name; each returns the precision matrix of distinct, sorted vectors, and the chosen parameter."""


def estimate_covariance(vectors: Matrix, estimator: str = "glasso") -> Covariance:
    """Estimate the covariance of an attribute set, which may be enlarged with synonyms.

    Equal vectors count once. The order of the rows does not matter, because they are sorted before they are divided
    into folds.

    Raises:
        UnknownNameError: if no estimator has this name.
        UnitError: if the vectors are too few, too wide, too similar, too large or too small for the estimator.
    """
    from threadpoolctl import threadpool_limits

    distinct = np.unique(vectors, axis=0)
    compute_precision = ESTIMATORS.get(estimator)
    with threadpool_limits(1):  # the last bits would depend on the number of threads
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
    """Raise LinAlgError if a matrix is not positive definite, before vectors are whitened with it."""
    if not np.isfinite(precision).all():
        raise np.linalg.LinAlgError("its inverse has NaN or infinite entries")
    np.linalg.cholesky(precision)


def glasso(vectors: Matrix) -> tuple[Matrix, float]:
    """Return the precision matrix by the graphical lasso (Azarpanah & Farhadloo 2021) and its penalty."""
    width = vectors.shape[1]
    if width > WIDEST_GLASSO:
        raise UnitError(
            f"the graphical lasso takes up to {WIDEST_GLASSO} dimensions, but the vectors have {width}; "
            "use --covariance ledoit-wolf"
        )

    fit, penalty = fit_graphical_lasso(vectors)
    return fit.precision, penalty


def ledoit_wolf(vectors: Matrix) -> tuple[Matrix, float]:
    """Return the inverse of the sample covariance shrunk towards a sphere, and the shrinkage (Ledoit & Wolf 2004)."""
    n, width = vectors.shape
    if n < 3:  # two vectors differ along one line, which does not determine the shrinkage
        raise UnitError(f"a covariance needs at least 3 different vectors, but there are {n}")
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
