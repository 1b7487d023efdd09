"""Fit the multilevel regression of reliability on word features, with estimates, R² and R² by factor (docs/methods
7).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.errors import WeatherglassError
from weatherglass.reliability.regression.features import Design
from weatherglass.stats.reml import CrossProducts, cross_products, reml
from weatherglass.warnings import Warning

MODELS: Mapping[str, tuple[str, ...]] = {
    "as published": ("algorithm", "corpus"),
    "with word": ("algorithm", "corpus", "word"),
}
"""Models with their random factors: the published model, and the model with a random intercept for words."""

WEIGHTED = "weighted"
"""The name of the last model that can be fitted, with rows weighted by the precision of their scores."""

NORMAL_95 = 1.959963984540054
FEW_LEVELS = 5
"""The number of levels below which the variance between them is poorly estimated."""
FEWEST_FOR_Z = 4
"""The number of levels below which (2 or 3) coefficients estimated between levels also have a t interval."""
LEAST_OWN_VARIANCE = 0.1
"""The smallest share of the residual variance that is not error of the scores, so that all weights are bounded."""
HIGH_VIF = 5.0


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One fixed effect with its 95 % interval (Wald)."""

    name: str
    estimate: float
    se: float
    low: float
    high: float
    df: int | None = None
    """The degrees of freedom of the t interval, if the coefficient is estimated between 2 or 3 levels of a factor."""
    low_t: float | None = None
    high_t: float | None = None

    @property
    def excludes_zero(self) -> bool:
        """Return whether the interval excludes zero; the t interval is used if there is one."""
        low = self.low if self.low_t is None else self.low_t
        high = self.high if self.high_t is None else self.high_t
        return low > 0 or high < 0


@dataclass(frozen=True, slots=True)
class RSquared:
    """R² of Nakagawa & Schielzeth (2013), which is the share of the variance that is explained."""

    marginal: float
    """The share that fixed effects explain."""
    conditional: float
    """The share that fixed and random effects explain."""


@dataclass(frozen=True, slots=True)
class MixedFit:
    """One fitted model."""

    rows: int
    levels: Mapping[str, int]
    """The number of levels of each random factor."""
    intercept: Coefficient
    coefficients: tuple[Coefficient, ...]
    variances: Mapping[str, float]
    """The variance between the levels of each random factor."""
    residual: float
    r2: RSquared
    warnings: tuple[Warning, ...]

    @property
    def shares(self) -> dict[str, float]:
        """Return the share of each random factor in the total variance: (R²c − R²m) · var_k / Σ var."""
        total = sum(self.variances.values())
        random = self.r2.conditional - self.r2.marginal
        return {name: random * var / total if total > 0 else 0.0 for name, var in self.variances.items()}


def fit(design: Design, random: Sequence[str], weights: Vector | None = None) -> MixedFit:
    """Fit a model by REML.

    Args:
        design: the rows.
        random: factors with a random intercept. A factor with a single level, or with the same groups of rows as an
            earlier factor, is left out with a warning.
        weights: the weights of the rows; 1 by default.

    Raises:
        WeatherglassError: if the model cannot be estimated from these rows.
    """
    return _fit(design, random, _model_products(design, random, weights))


def precision_weights(variance: Vector, residual: float) -> Vector:
    """Return 1 / (variance of the score + variance between rows), scaled to mean 1, as in meta-regression.

    Args:
        variance: the sampling variance of each score.
        residual: the residual variance of the model without weights. The part of it that the sampling variance does
            not explain is the variance between rows.
    """
    other = max(residual - float(np.median(variance)), LEAST_OWN_VARIANCE * residual)
    weights = 1 / (other + variance)
    scaled: Vector = weights / weights.mean()
    return scaled


def changes(design: Design, random: Sequence[str], full: RSquared) -> dict[str, RSquared]:
    """Return the R² lost without each fixed factor; log freq is left out together with its square."""
    rows = _model_products(design, random)
    lost = {}
    for factor in design.fixed_factors:
        names = [name for name in design.columns if design.factor_of(name) == factor]
        rest = _fit(design, random, rows.without(names)).r2
        lost[factor] = RSquared(full.marginal - rest.marginal, full.conditional - rest.conditional)
    return lost


def inflation(design: Design) -> dict[str, float]:
    """Return the variance inflation factor (VIF) of each factor.

    The result is the generalised inflation factor of Fox & Monette (1992) to the power 1/(number of columns). Factors
    with many levels are then comparable with single columns, for which the result is the usual VIF = 1/(1 − R²).
    """
    names = list(design.columns)
    correlation = np.corrcoef(np.column_stack([design.columns[name] for name in names]), rowvar=False)
    correlation = np.atleast_2d(correlation)
    factors = {}
    for factor in design.fixed_factors:
        own = np.array([design.factor_of(name) == factor for name in names])
        parts = (correlation[np.ix_(own, own)], correlation[np.ix_(~own, ~own)])
        logarithm = sum(np.linalg.slogdet(part)[1] for part in parts) - np.linalg.slogdet(correlation)[1]
        factors[factor] = math.exp(min(logarithm / own.sum(), 700.0))
    return factors


def _coefficients(names: Sequence[str], beta: Vector, se: Vector) -> list[Coefficient]:
    return [
        Coefficient(name, float(b), float(s), float(b - NORMAL_95 * s), float(b + NORMAL_95 * s))
        for name, b, s in zip(names, beta, se, strict=True)
    ]


def _with_t(coefficient: Coefficient, df: int) -> Coefficient:
    from scipy.special import stdtrit

    reach = float(stdtrit(df, 0.975)) * coefficient.se
    low, high = coefficient.estimate - reach, coefficient.estimate + reach
    return replace(coefficient, df=df, low_t=low, high_t=high)


def _freedom(design: Design, names: Sequence[str], levels: Mapping[str, int]) -> dict[str, int]:
    """Return the degrees of freedom of coefficients that are estimated between 2 or 3 levels of a factor.

    These coefficients are the intercept and the features that are constant within each level; the degrees of freedom
    are the number of levels minus the number of these coefficients. All other coefficients are estimated within
    levels.
    """
    freedom: dict[str, int] = {}
    for factor, number in levels.items():
        if not 1 < number < FEWEST_FOR_Z:
            continue
        place = design.factors[factor]
        first = np.unique(place, return_index=True)[1]
        between = [
            name for name in names if np.allclose(design.columns[name], design.columns[name][first][place])
        ]
        df = max(number - 1 - len(between), 1)
        for name in ("intercept", *between):
            freedom[name] = min(df, freedom.get(name, df))
    return freedom


def _model_products(design: Design, random: Sequence[str], weights: Vector | None = None) -> CrossProducts:
    factors = {name: design.factors[name] for name in random if int(design.factors[name].max()) > 0}
    for name, factor in factors.items():
        if int(factor.max()) + 1 == len(design.score):
            raise WeatherglassError(
                f"every row has its own {name}, so its variance cannot be separated from the residual variance"
            )
    duplicates = _same_groups(design, random)
    factors = {name: factor for name, factor in factors.items() if name not in duplicates}
    return cross_products(design.score, design.columns, factors, weights)


def _same_groups(design: Design, random: Sequence[str]) -> dict[str, str]:
    """Return the factors with the same groups of rows as an earlier factor, since only the sum of their variances is
    estimable.
    """
    duplicates: dict[str, str] = {}
    levels = {name: int(design.factors[name].max()) + 1 for name in random}
    for place, name in enumerate(random):
        for earlier in random[:place]:
            if levels[name] == levels[earlier] > 1:
                both = design.factors[name] * levels[earlier] + design.factors[earlier]
                if len(np.unique(both)) == levels[name]:
                    duplicates.setdefault(name, earlier)
    return duplicates


def _fit(design: Design, random: Sequence[str], rows: CrossProducts) -> MixedFit:
    levels = {name: int(design.factors[name].max()) + 1 for name in random}
    warnings = [
        Warning.of("few-levels", factor=name, levels=n) for name, n in levels.items() if n < FEW_LEVELS
    ]
    warnings += [
        Warning.of("same-groups", factor=name, earlier=earlier)
        for name, earlier in _same_groups(design, random).items()
    ]
    estimates = reml(rows)
    variances = {name: estimates.variances[name] for name in random if name in estimates.variances}
    warnings += [
        Warning.of("zero-variance", factor=name, determined=name in estimates.undetermined)
        for name, variance in variances.items()
        if variance == 0
    ]
    if not estimates.converged:
        warnings.append(Warning.of("not-converged"))
    between = sum(variances.values())
    total = estimates.explained + between + estimates.residual
    freedom = _freedom(design, rows.names, {name: levels[name] for name in variances})
    first, *rest = (
        _with_t(c, freedom[c.name]) if c.name in freedom else c
        for c in _coefficients(
            ["intercept", *rows.names], estimates.coefficients, np.sqrt(np.diag(estimates.covariance))
        )
    )
    return MixedFit(
        rows=rows.rows,
        levels={name: levels[name] for name in variances},
        intercept=first,
        coefficients=tuple(rest),
        variances=variances,
        residual=estimates.residual,
        r2=RSquared(estimates.explained / total, (estimates.explained + between) / total),
        warnings=tuple(warnings),
    )
