"""Fit the multilevel regression of reliability on word features: estimates, R², R² by factor (docs/methods 7)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.errors import WeatherglassError
from weatherglass.reliability.regression.features import Design
from weatherglass.reliability.regression.reml import CrossProducts, cross_products, reml
from weatherglass.warnings import Warning

MODELS: Mapping[str, tuple[str, ...]] = {
    "as published": ("algorithm", "corpus"),
    "with word": ("algorithm", "corpus", "word"),
}
"""Name -> its random factors: the published model, and one with a random intercept for words."""

WEIGHTED = "weighted"
"""The last of these that can be fitted, with rows weighted by the precision of their scores."""

NORMAL_95 = 1.959963984540054
FEW_LEVELS = 5
"""With fewer levels, a variance between them is estimated poorly."""
FEWEST_FOR_Z = 4
"""With 2 or 3 levels, coefficients that are estimated between levels have an interval by t beside the one by z."""
LEAST_OWN_VARIANCE = 0.1
"""At least this share of the residual variance is not error of the scores, so that no row has an unbounded weight."""
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
    """Degrees of freedom of the interval by t, where a factor of 2 or 3 levels limits what is known of it."""
    low_t: float | None = None
    high_t: float | None = None

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval excludes zero; by t, if it has one."""
        low = self.low if self.low_t is None else self.low_t
        high = self.high if self.high_t is None else self.high_t
        return low > 0 or high < 0


@dataclass(frozen=True, slots=True)
class RSquared:
    """R² of Nakagawa & Schielzeth (2013): the share of the variance that is explained."""

    marginal: float
    """By the fixed effects."""
    conditional: float
    """By fixed and random effects."""


@dataclass(frozen=True, slots=True)
class Fit:
    """One fitted model."""

    rows: int
    levels: Mapping[str, int]
    """Random factor -> number of levels."""
    intercept: Coefficient
    coefficients: tuple[Coefficient, ...]
    variances: Mapping[str, float]
    """Random factor -> variance between its levels."""
    residual: float
    r2: RSquared
    warnings: tuple[Warning, ...]

    @property
    def shares(self) -> dict[str, float]:
        """The share of all variance that each random factor has: (R²c − R²m) · var_k / Σ var."""
        total = sum(self.variances.values())
        random = self.r2.conditional - self.r2.marginal
        return {name: random * var / total if total > 0 else 0.0 for name, var in self.variances.items()}


def fit(design: Design, random: Sequence[str], weights: Vector | None = None) -> Fit:
    """Fit a model by REML.

    Args:
        design: the rows.
        random: factors with a random intercept; a factor with a single level, or with the same groups of rows as an
            earlier factor, is left out, with a warning.
        weights: of the rows; None for 1.

    Raises:
        WeatherglassError: if the model cannot be estimated from these rows.
    """
    return _fit(design, random, _model_products(design, random, weights))


def precision_weights(variance: Vector, residual: float) -> Vector:
    """Return 1 / (variance of the score + what else differs between rows), scaled to mean 1, as in meta-regression.

    Args:
        variance: of each score as an estimate.
        residual: the residual variance of the model without weights; what the scores' own variance does not explain of
            it differs between rows.
    """
    other = max(residual - float(np.median(variance)), LEAST_OWN_VARIANCE * residual)
    weights = 1 / (other + variance)
    scaled: Vector = weights / weights.mean()
    return scaled


def changes(design: Design, random: Sequence[str], full: RSquared) -> dict[str, RSquared]:
    """Return by fixed factor the R² lost without it; log freq is left out together with its square."""
    rows = _model_products(design, random)
    lost = {}
    for factor in design.fixed_factors:
        names = [name for name in design.columns if design.factor_of(name) == factor]
        rest = _fit(design, random, rows.without(names)).r2
        lost[factor] = RSquared(full.marginal - rest.marginal, full.conditional - rest.conditional)
    return lost


def inflation(design: Design) -> dict[str, float]:
    """Return the variance inflation factor (VIF) of each factor.

    The generalised inflation factor of Fox & Monette (1992), to the power 1/(number of columns), so that a factor of
    many levels compares with a single column, for which it is the usual VIF = 1/(1 − R²).
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

    These are the intercept, and features that are the same in all rows of a level: as many as there are levels, less
    one for each of them. All others are estimated within levels, from many rows.
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
                f"every row has its own {name}: its variance cannot be separated from the residual variance"
            )
    duplicates = _same_groups(design, random)
    factors = {name: factor for name, factor in factors.items() if name not in duplicates}
    return cross_products(design.score, design.columns, factors, weights)


def _same_groups(design: Design, random: Sequence[str]) -> dict[str, str]:
    """Return by factor an earlier factor with the same groups of rows: only the sum of their variances is estimable."""
    duplicates: dict[str, str] = {}
    levels = {name: int(design.factors[name].max()) + 1 for name in random}
    for place, name in enumerate(random):
        for earlier in random[:place]:
            if levels[name] == levels[earlier] > 1:
                both = design.factors[name] * levels[earlier] + design.factors[earlier]
                if len(np.unique(both)) == levels[name]:
                    duplicates.setdefault(name, earlier)
    return duplicates


def _fit(design: Design, random: Sequence[str], rows: CrossProducts) -> Fit:
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
    return Fit(
        rows=rows.rows,
        levels={name: levels[name] for name in variances},
        intercept=first,
        coefficients=tuple(rest),
        variances=variances,
        residual=estimates.residual,
        r2=RSquared(estimates.explained / total, (estimates.explained + between) / total),
        warnings=tuple(warnings),
    )
