"""Fit random intercepts by REML from cross products, in milliseconds for any number of rows.

The model is y = Xb + Σ_k Z_k u_k + e with u_k ~ N(0, θ_k² σ²) and e ~ N(0, σ²), so that the score has the covariance
σ²V, V = I + Σ_k θ_k² Z_k Z_kᵀ. With n rows and p columns of X, -2 times the restricted log-likelihood has its minimum
over σ² at s / (n - p), where s = rᵀV⁻¹r. The minimum is

    log|V| + log|XᵀV⁻¹X| + (n - p) (1 + log(2π s / (n - p)))

and is minimised over θ. With weights w of the rows, e ~ N(0, σ²/w): the score, X and Z are multiplied by √w, which
gives the model above, and Σ log w is subtracted from the criterion. The criterion depends on the rows only through
cross products of the columns. The factor with the most levels (words) enters only through sums within its levels;
levels of equal size (or, with weights, of equal total weight) are added up once. An evaluation then needs only a few
small matrices, so that the optimum is found to many digits. This precision is needed: with two algorithms, the
criterion is almost flat in their variance, and a solver that stops at a relative 1e-8 of a criterion of -200 000 can
be wrong by several per cent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.errors import WeatherglassError

PRECISION = 1e-9
"""The precision of the criterion, which is a deviance; a variance is then exact to about 1e-4 of its standard
error.
"""
RESTARTS = 20
FLAT = 1e-6
"""The change of the criterion, between 0 and the residual variance, below which it does not depend on a variance."""
NOTHING_LEFT = 1e-12
"""The share of a sum of squares below which its remainder is rounding error."""


@dataclass(frozen=True, slots=True)
class Estimates:
    """The REML estimates of one model."""

    coefficients: Vector
    """The coefficients, the intercept first."""
    covariance: Matrix
    variances: dict[str, float]
    residual: float
    explained: float
    """The variance of the fixed effects over the rows."""
    converged: bool
    undetermined: tuple[str, ...] = ()
    """Factors whose variance is not determined, because X contains their levels; the variance is reported as zero."""


@dataclass(frozen=True, slots=True)
class CrossProducts:
    """The cross products that REML needs; columns are the levels of small factors, the intercept, the features and the
    score.
    """

    rows: int
    random: tuple[str, ...]
    """The random factors; rows are summed within the levels of the last factor."""
    owner: Integers
    """The index in `random` of the factor of each level of the small factors."""
    names: tuple[str, ...]
    """The features, without the intercept."""
    gram: Matrix
    sizes: Vector
    """The distinct sizes of the last factor's levels, which are numbers of rows or sums of weights."""
    levels: Vector
    """The number of levels of each size."""
    sums: Matrix
    """The cross products of the sums within levels, for each size: size × column × column."""
    shift: float
    """The mean score, which is subtracted so that sums of squares lose no digits."""
    fixed: Matrix
    """The unweighted cross products of intercept and features."""
    log_weights: float = 0.0
    """The sum of the logarithms of the weights of the rows."""

    def without(self, names: Sequence[str]) -> CrossProducts:
        """Return the same rows without some features."""
        first = len(self.owner) + 1
        kept = [place for place, name in enumerate(self.names) if name not in names]
        columns = [*range(first), *(first + place for place in kept), self.gram.shape[0] - 1]
        features = [0, *(1 + place for place in kept)]
        return replace(
            self,
            names=tuple(self.names[place] for place in kept),
            gram=self.gram[np.ix_(columns, columns)],
            sums=self.sums[:, columns][:, :, columns],
            fixed=self.fixed[np.ix_(features, features)],
        )


def cross_products(
    score: Vector,
    features: Mapping[str, Vector],
    factors: Mapping[str, Integers],
    weights: Vector | None = None,
) -> CrossProducts:
    """Compute the cross products in one pass over the rows.

    Args:
        score: the dependent variable.
        features: the columns of X without the intercept.
        factors: the level of each row, from 0, in each random factor; without factors, REML is ordinary least squares.
        weights: positive weights of the rows, 1 by default; the residual variance of a row is σ² / weight.
    """
    random = sorted(factors, key=lambda name: int(factors[name].max()))
    small = random[:-1]
    last = factors[random[-1]] if random else np.arange(0)
    indicators = [np.eye(int(factors[name].max()) + 1)[factors[name]] for name in small]
    owner = np.repeat(
        np.arange(len(small)), np.array([block.shape[1] for block in indicators], dtype=np.int64)
    )
    shift = float(score.mean())
    table = np.column_stack([*indicators, np.ones(len(score)), *features.values(), score - shift])
    fixed = table[:, len(owner) : -1].T @ table[:, len(owner) : -1]
    sizes, levels, sums = _sums_by_size(table, last, weights)
    if weights is not None:
        table *= np.sqrt(weights)[:, None]
    return CrossProducts(
        rows=len(score),
        random=tuple(random),
        owner=owner,
        names=tuple(features),
        gram=table.T @ table,
        sizes=sizes,
        levels=levels,
        sums=sums,
        shift=shift,
        fixed=fixed,
        log_weights=0.0 if weights is None else float(np.log(weights).sum()),
    )


def _sums_by_size(table: Matrix, factor: Integers, weights: Vector | None) -> tuple[Vector, Vector, Matrix]:
    """Return the sizes of levels, the number of levels of each size, and the cross products of their sums."""
    width = table.shape[1]
    if not len(factor):
        return np.empty(0), np.empty(0), np.empty((0, width, width))
    counts = np.bincount(factor)
    present = counts > 0
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    weighted = table if weights is None else table * weights[:, None]
    totals = np.add.reduceat(weighted[np.argsort(factor, kind="stable")], starts[present], axis=0)
    sizes, group = np.unique(np.bincount(factor, weights=weights)[present], return_inverse=True)
    if len(sizes) == len(totals):  # usual with weights, when every level has a different size
        ordered = totals[np.argsort(group)]
        sums = ordered[:, :, None] * ordered[:, None, :]
    else:
        sums = np.stack([totals[group == place].T @ totals[group == place] for place in range(len(sizes))])
    return sizes.astype(np.float64), np.bincount(group).astype(np.float64), sums


def reml(rows: CrossProducts) -> Estimates:
    """Compute the restricted maximum likelihood estimates.

    Raises:
        WeatherglassError: if the rows do not determine them.
    """
    _require_estimable(rows)
    try:
        theta, least, converged = _minimum(rows)
        theta, undetermined = _exact_zeros(rows, theta, least)
        return _estimates(rows, theta, converged, undetermined)
    except np.linalg.LinAlgError:
        raise WeatherglassError(
            "the features and levels determine the score exactly, so no variance is left to estimate"
        ) from None


def _minimum(rows: CrossProducts) -> tuple[Vector, float, bool]:
    """Return θ at the minimum of the criterion, the minimum, and whether the search converged."""
    from scipy.optimize import minimize

    theta = np.full(len(rows.random), 0.5)
    least = _profile(rows, theta)[0]
    if not rows.random:
        return theta, least, True
    options = {"xatol": 1e-9, "fatol": PRECISION / 10, "maxiter": 2000, "maxfev": 4000}
    for _ in range(RESTARTS):
        # A simplex can collapse on a ridge, so the search is restarted until it no longer improves.
        optimum = minimize(lambda at: _profile(rows, at)[0], theta, method="Nelder-Mead", options=options)
        theta, gain, least = np.abs(optimum.x), least - optimum.fun, float(optimum.fun)
        if gain < PRECISION:
            return theta, least, True
    return theta, least, False


def _exact_zeros(rows: CrossProducts, theta: Vector, least: float) -> tuple[Vector, tuple[str, ...]]:
    """Return θ with exact zeros for variances at their lower bound, and the factors that are not determined."""
    undetermined = []
    for place, name in enumerate(rows.random):
        without = _replaced(theta, place, 0.0)
        if _profile(rows, without)[0] <= least + PRECISION:
            theta = without
            if _profile(rows, _replaced(theta, place, 1.0))[0] < least + FLAT:
                undetermined.append(name)
    return theta, tuple(undetermined)


def _replaced(theta: Vector, place: int, value: float) -> Vector:
    changed = theta.copy()
    changed[place] = value
    return changed


def _require_estimable(rows: CrossProducts) -> None:
    """Check that there are more rows than coefficients, the score varies, and features are independent."""
    coefficients = len(rows.names) + 1
    if rows.rows <= coefficients:
        raise WeatherglassError(f"{rows.rows} rows are too few for {coefficients} coefficients")
    if rows.gram[-1, -1] <= NOTHING_LEFT**2 * rows.rows * rows.shift**2:
        raise WeatherglassError("the score is the same in every row, so there is nothing to explain")
    first = len(rows.owner)
    if not _independent(rows.gram[first:-1, first:-1]):
        raise WeatherglassError(
            f"some of {', '.join(rows.names)} are constant or determined by the others; remove those"
        )


def _independent(gram: Matrix) -> bool:
    """Return whether no column is a linear combination of the columns before it."""
    lengths = np.sqrt(np.diag(gram))
    if not lengths.all():
        return False
    try:
        left = np.diag(np.linalg.cholesky(gram / np.outer(lengths, lengths)))
    except np.linalg.LinAlgError:
        return False
    return bool(left.min() ** 2 > NOTHING_LEFT)


def criterion(rows: CrossProducts, variances: Mapping[str, float], residual: float) -> float:
    """Return -2 times the profiled restricted log-likelihood at given variances (REMLcrit in lme4)."""
    return _profile(rows, np.array([(variances[name] / residual) ** 0.5 for name in rows.random]))[0]


def _profile(rows: CrossProducts, theta: Vector) -> tuple[float, Matrix, Vector, float]:
    """Compute the REML criterion at relative standard deviations θ of any sign (Bates et al. 2015).

    Returns:
        The criterion, XᵀV⁻¹X, the coefficients, and the weighted residual sum of squares.

    Raises:
        LinAlgError: if XᵀV⁻¹X is singular, or the residual is zero.
    """
    ratio = theta[-1] ** 2 if rows.random else 0.0
    shrinkage = ratio / (1 + ratio * rows.sizes)
    inner = rows.gram - np.einsum("s,sij->ij", shrinkage, rows.sums)
    determinant = float(rows.levels @ np.log1p(ratio * rows.sizes)) - rows.log_weights
    z = len(rows.owner)
    if z:
        scale = np.abs(theta[rows.owner])
        lower = np.linalg.cholesky(np.eye(z) + scale[:, None] * inner[:z, :z] * scale)
        half = np.linalg.solve(lower, scale[:, None] * inner[:z, z:])
        determinant += 2 * float(np.log(np.diag(lower)).sum())
        rest = inner[z:, z:] - half.T @ half
    else:
        rest = inner
    information, right = rest[:-1, :-1], rest[:-1, -1]
    lower = np.linalg.cholesky(information)
    coefficients = np.linalg.solve(information, right)
    squares = float(rest[-1, -1] - right @ coefficients)
    if squares <= NOTHING_LEFT * rows.gram[-1, -1]:
        raise np.linalg.LinAlgError("no residual")
    free = rows.rows - len(information)
    determinant += 2 * float(np.log(np.diag(lower)).sum())
    return determinant + free * (1 + np.log(2 * np.pi * squares / free)), information, coefficients, squares


def _estimates(
    rows: CrossProducts, theta: Vector, converged: bool, undetermined: tuple[str, ...]
) -> Estimates:
    _, information, coefficients, squares = _profile(rows, theta)
    residual = squares / (rows.rows - len(information))
    mean = float(rows.fixed[0] @ coefficients) / rows.rows
    explained = float(coefficients @ rows.fixed @ coefficients - rows.rows * mean**2) / (rows.rows - 1)
    variances = dict(zip(rows.random, (theta**2 * residual).tolist(), strict=True))
    coefficients = coefficients.copy()
    coefficients[0] += rows.shift
    covariance: Matrix = np.asarray(residual * np.linalg.inv(information), np.float64)
    return Estimates(coefficients, covariance, variances, residual, explained, converged, undetermined)
