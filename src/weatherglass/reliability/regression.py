"""The multilevel regression of reliability on word features, by REML through `mixedlm` (METHODS 7)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.errors import MissingExtraError, WeatherglassError
from weatherglass.reliability.observations import Design

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


def fit(design: Design, random: Sequence[str], without: str | None = None) -> Fit:
    """Fit a model by REML.

    Args:
        design: the rows.
        random: factors with a random intercept; one with a single level is left out, with a warning.
        without: a fixed factor to leave out, with all its columns.

    Raises:
        MissingExtraError: if mixedlm is not installed.
        WeatherglassError: if these rows determine no such model.
    """
    names = [name for name in design.columns if design.factor_of(name) != without]
    x = np.column_stack([np.ones(len(design.score)), *(design.columns[name] for name in names)])
    levels = {name: int(design.factors[name].max()) + 1 for name in random}
    notes = [note for name, n in levels.items() if (note := _on_levels(name, n))]
    levels = {name: n for name, n in levels.items() if n > 1}
    beta, covariance, variances, residual, said = (
        _mixed(design, x, list(levels)) if levels else _least_squares(x, design.score)
    )
    explained = float(np.var(x @ beta, ddof=1))
    between = sum(variances.values())
    total = explained + between + residual
    first, *rest = _coefficients(["intercept", *names], beta, np.sqrt(np.diag(covariance)))
    return Fit(
        rows=len(design.score),
        levels=levels,
        intercept=first,
        coefficients=tuple(rest),
        variances=variances,
        residual=residual,
        r2=RSquared(explained / total, (explained + between) / total),
        warnings=(*notes, *said),
    )


def changes(design: Design, random: Sequence[str], whole: RSquared) -> dict[str, RSquared]:
    """What R² loses when a fixed factor is left out; log freq goes with its square."""
    lost = {}
    for factor in design.fixed_factors:
        rest = fit(design, random, without=factor).r2
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


Estimates = tuple[Vector, Matrix, dict[str, float], float, list[str]]
"""Fixed effects, their covariance, variances of the random factors, residual variance, what the solver said."""


def _mixed(design: Design, x: Matrix, random: Sequence[str]) -> Estimates:
    try:
        import mixedlm
        import pandas
    except ImportError:
        raise MissingExtraError(
            "the regression needs mixedlm; run: pip install 'weatherglass[reliability]'"
        ) from None
    # Neutral names: a formula cannot hold "pos:noun", and its own coding of factors would choose the references.
    columns = {f"x{i}": x[:, i] for i in range(1, x.shape[1])}
    frame = pandas.DataFrame(
        {"score": design.score, **columns, **{name: design.factors[name] for name in random}}
    )
    formula = " + ".join(["score ~ 1", *columns, *(f"(1 | {name})" for name in random)])
    control = mixedlm.lmerControl(
        check_singular=False, check_nlev_gtreq_5="ignore", check_scaleX="ignore", check_rankX="ignore"
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result: Any = mixedlm.lmer(formula, frame, REML=True, control=control)
        except (RuntimeError, ValueError, np.linalg.LinAlgError) as error:
            raise WeatherglassError(
                f"no model with random {', '.join(random)} can be fitted to these {len(frame)} rows ({error})"
            ) from None
    said = [str(warning.message).strip() for warning in caught]
    if not result.converged:
        said.append(f"the solver did not converge: {result.message}")
    components = result.VarCorr().as_dict()
    variances = {name: float(components[name]["(Intercept)"]) for name in random}
    said += [f"the variance of {name} is estimated as zero" for name, var in variances.items() if var < 1e-12]
    return np.asarray(result.beta), np.asarray(result.vcov()), variances, float(result.sigma) ** 2, said


def _least_squares(x: Matrix, y: Vector) -> Estimates:
    """Without any random factor the model is ordinary least squares."""
    inverse: Matrix = np.linalg.pinv(x.T @ x).astype(np.float64)
    beta = inverse @ (x.T @ y)
    residual = float(np.sum((y - x @ beta) ** 2) / max(len(y) - x.shape[1], 1))
    return beta, residual * inverse, {}, residual, []
