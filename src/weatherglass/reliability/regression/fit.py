"""The multilevel regression of reliability on word features: estimates, R², what each factor adds (docs/methods 7)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.errors import WeatherglassError
from weatherglass.reliability.regression.observations import Design
from weatherglass.reliability.regression.reml import CrossProducts, cross_products, reml

MODELS: Mapping[str, tuple[str, ...]] = {
    "as published": ("algorithm", "corpus"),
    "with word": ("algorithm", "corpus", "word"),
}
"""Name -> its random factors: the published model, and the one that knows that a word occurs many times."""

NORMAL_95 = 1.959963984540054
FEW_LEVELS = 5
"""Below this a variance between levels is estimated poorly."""
HIGH_VIF = 5.0


@dataclass(frozen=True, slots=True)
class Coefficient:
    """One fixed effect with its 95 % interval (Wald)."""

    name: str
    estimate: float
    se: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RSquared:
    """Nakagawa & Schielzeth (2013): the share of variance that is explained."""

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
    warnings: tuple[str, ...]

    @property
    def shares(self) -> dict[str, float]:
        """The share of all variance that each random factor has: (R²c − R²m) · var_k / Σ var."""
        total = sum(self.variances.values())
        random = self.r2.conditional - self.r2.marginal
        return {name: random * var / total if total > 0 else 0.0 for name, var in self.variances.items()}


def fit(design: Design, random: Sequence[str]) -> Fit:
    """Fit a model by REML.

    Args:
        design: the rows.
        random: factors with a random intercept; one with a single level, or that divides the rows as one before it
            does, is left out, with a warning.

    Raises:
        WeatherglassError: if these rows determine no such model.
    """
    return _fit(design, random, _rows(design, random))


def changes(design: Design, random: Sequence[str], whole: RSquared) -> dict[str, RSquared]:
    """What R² loses when a fixed factor is left out; log freq goes with its square."""
    rows = _rows(design, random)
    lost = {}
    for factor in design.fixed_factors:
        names = [name for name in design.columns if design.factor_of(name) == factor]
        rest = _fit(design, random, rows.without(names)).r2
        lost[factor] = RSquared(whole.marginal - rest.marginal, whole.conditional - rest.conditional)
    return lost


def inflation(design: Design) -> dict[str, float]:
    """How much the variance of a factor's estimates is inflated by the other factors.

    The generalised inflation factor of Fox & Monette (1992), to the power 1/(number of columns), so that a factor of
    many levels compares with a single column, for which it is the usual VIF = 1/(1 − R²).
    """
    names = list(design.columns)
    correlation = np.corrcoef(np.column_stack([design.columns[name] for name in names]), rowvar=False)
    correlation = np.atleast_2d(correlation)
    found = {}
    for factor in design.fixed_factors:
        own = np.array([design.factor_of(name) == factor for name in names])
        parts = (correlation[np.ix_(own, own)], correlation[np.ix_(~own, ~own)])
        logarithm = sum(np.linalg.slogdet(part)[1] for part in parts) - np.linalg.slogdet(correlation)[1]
        found[factor] = math.exp(min(logarithm / own.sum(), 700.0))
    return found


def _coefficients(names: Sequence[str], beta: Vector, se: Vector) -> list[Coefficient]:
    return [
        Coefficient(name, float(b), float(s), float(b - NORMAL_95 * s), float(b + NORMAL_95 * s))
        for name, b, s in zip(names, beta, se, strict=True)
    ]


def _on_levels(name: str, levels: int) -> str:
    if levels == 1:
        return f"{name} has one level, so it has no variance to estimate and is left out"
    if levels < FEW_LEVELS:
        return (
            f"{name} has {levels} levels: its variance, and the interval of the intercept, are rough guesses"
        )
    return ""


def _rows(design: Design, random: Sequence[str]) -> CrossProducts:
    factors = {name: design.factors[name] for name in random if int(design.factors[name].max()) > 0}
    for name, factor in factors.items():
        if int(factor.max()) + 1 == len(design.score):
            raise WeatherglassError(
                f"every row has its own {name}: its variance cannot be told from the residual one"
            )
    twins = _twins(design, random)
    factors = {name: factor for name, factor in factors.items() if name not in twins}
    return cross_products(design.score, design.columns, factors)


def _twins(design: Design, random: Sequence[str]) -> dict[str, str]:
    """Factors that divide the rows as one before them does: only the sum of their variances could be told."""
    twins: dict[str, str] = {}
    levels = {name: int(design.factors[name].max()) + 1 for name in random}
    for place, name in enumerate(random):
        for earlier in random[:place]:
            if levels[name] == levels[earlier] > 1:
                both = design.factors[name] * levels[earlier] + design.factors[earlier]
                if len(np.unique(both)) == levels[name]:
                    twins.setdefault(name, earlier)
    return twins


def _fit(design: Design, random: Sequence[str], rows: CrossProducts) -> Fit:
    levels = {name: int(design.factors[name].max()) + 1 for name in random}
    notes = [note for name, n in levels.items() if (note := _on_levels(name, n))]
    notes += [
        f"{name} divides the rows as {earlier} does: the variance given for {earlier} is that of both"
        for name, earlier in _twins(design, random).items()
    ]
    found = reml(rows)
    variances = {name: found.variances[name] for name in random if name in found.variances}
    notes += [
        f"the features determine every {name}, so its variance cannot be estimated and is taken as zero"
        if name in found.undetermined
        else f"the variance of {name} is estimated as zero"
        for name, variance in variances.items()
        if variance == 0
    ]
    if not found.converged:
        notes.append("the solver did not converge; take the variances as rough guesses")
    between = sum(variances.values())
    total = found.explained + between + found.residual
    first, *rest = _coefficients(
        ["intercept", *rows.names], found.coefficients, np.sqrt(np.diag(found.covariance))
    )
    return Fit(
        rows=rows.rows,
        levels={name: levels[name] for name in variances},
        intercept=first,
        coefficients=tuple(rest),
        variances=variances,
        residual=found.residual,
        r2=RSquared(found.explained / total, (found.explained + between) / total),
        warnings=tuple(notes),
    )
