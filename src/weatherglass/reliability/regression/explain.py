"""Which words are measured reliably? Fit both models to both reliabilities, beside the published estimates."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from weatherglass.progress import Progress, Silent
from weatherglass.reliability.regression.fit import (
    HIGH_VIF,
    MODELS,
    WEIGHTED,
    Fit,
    RSquared,
    changes,
    fit,
    inflation,
    precision_weights,
)
from weatherglass.reliability.regression.observations import Design, build_design
from weatherglass.reliability.scoring.rules import raters

if TYPE_CHECKING:
    import polars as pl

RELIABILITIES = ("test-retest", "inter-rater")
HIGH_CORRELATION = 0.7


@dataclass(frozen=True, slots=True)
class Published:
    """Published numbers: estimates of the reproduction, R² and shares of Du et al. (2021)."""

    estimates: Mapping[str, float]
    r2: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class FittedModel:
    """A fitted model, and the R² that each factor adds."""

    fit: Fit
    changes: Mapping[str, RSquared]
    """Fixed factor -> the R² lost without it; of the weighted model none."""


@dataclass(frozen=True, slots=True)
class Part:
    """The regressions of one reliability: test-retest or inter-rater."""

    reliability: str
    models: Mapping[str, FittedModel]
    """By name: as published, with word, weighted."""
    references: Mapping[str, str]
    rows: int
    """Number of rows before any was dropped."""
    dropped: Mapping[str, int]
    inflation: Mapping[str, float]
    """Fixed factor -> variance inflation factor."""
    published: Published
    warnings: tuple[str, ...]

    def same_sign(self, model: str, coefficient: str) -> bool | None:
        """Whether the estimate has the published sign; None if nothing was published."""
        known = self.published.estimates.get(coefficient)
        own = {c.name: c.estimate for c in self.models[model].fit.coefficients}.get(coefficient)
        return None if known is None or own is None else bool(np.sign(known) == np.sign(own))

    def excludes_zero(self, model: str, coefficient: str) -> bool:
        """Whether the 95 % interval excludes zero."""
        return next(c for c in self.models[model].fit.coefficients if c.name == coefficient).excludes_zero


@dataclass(frozen=True, slots=True)
class Explanation:
    """The result of `reliability explain` for one set of base pairs."""

    parts: tuple[Part, ...]
    sources: tuple[str, ...] = ()
    """Where senses and parts of speech came from."""
    missing: tuple[str, ...] = ()
    """What is not installed, each with the command that installs it."""


@cache
def published(reliability: str) -> Published:
    """The published numbers of one reliability."""
    text = files(__package__).joinpath("published_table3.toml").read_text("utf-8")
    table = tomllib.loads(text)[reliability]
    return Published(table["estimates"], table["r2"])


def explain(
    scores: Mapping[str, pl.DataFrame],
    features: pl.DataFrame,
    sources: tuple[str, ...] = (),
    missing: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Explanation:
    """Regress reliability on word features: the published model, and the one with a random intercept for words.

    Args:
        scores: "test-retest" -> corpus, algorithm, word, rule, score; "inter-rater" -> the same without rule.
        features: the tables of `word_features`, of all corpora and algorithms.
        sources: where senses and parts of speech came from.
        missing: which of them are not installed.
        progress: updated after each model.
    """
    progress = progress or Silent()
    parts = []
    for reliability in RELIABILITIES:
        if reliability not in scores:
            continue
        design = build_design(_compared_rules(scores[reliability]), features)
        progress.stage(f"regression of {reliability}", len(MODELS))
        parts.append(explain_part(reliability, design, progress))
    return Explanation(tuple(parts), sources, missing)


def explain_part(reliability: str, design: Design, progress: Progress | None = None) -> Part:
    """Fit both models of one reliability and, if the variances of the scores are known, the last one with weights."""
    models = {}
    warnings = list(design.warnings)
    for name, random in MODELS.items():
        if "word" in random and not _has_repeated_words(design):
            warnings.append("every word has one row, so there is no model with a random intercept for words")
            continue
        fitted = fit(design, random)
        warnings += fitted.warnings
        models[name] = FittedModel(fitted, changes(design, random, fitted.r2))
        if progress:
            progress.advance()
    if design.variance is not None:
        last = list(models)[-1]
        weights = precision_weights(design.variance, models[last].fit.residual)
        models[WEIGHTED] = FittedModel(fit(design, MODELS[last], weights), {})
    factors = inflation(design)
    warnings += _collinearity_warnings(design, factors)
    return Part(
        reliability=reliability,
        models=models,
        references=design.references,
        rows=design.rows,
        dropped=design.dropped,
        inflation=factors,
        published=published(reliability),
        warnings=tuple(dict.fromkeys(warnings)),
    )


def _compared_rules(scores: pl.DataFrame) -> pl.DataFrame:
    """The scores of the rules that are compared with one another; of the paper's, all but ripa-raw."""
    import polars as pl

    if "rule" not in scores.columns:
        return scores
    return scores.filter(pl.col("rule").is_in(raters(scores["rule"].unique().to_list())))


def _has_repeated_words(design: Design) -> bool:
    return int(design.factors["word"].max()) + 1 < len(design.score)


def _collinearity_warnings(design: Design, factors: Mapping[str, float]) -> list[str]:
    """Warnings about correlated features, whose estimates have to be read together."""
    warnings = [
        f"{factor} can be predicted from the other features (variance inflation {vif:.1f}): its estimate and its "
        f"change in R² depend on what else is in the model"
        for factor, vif in factors.items()
        if vif >= HIGH_VIF
    ]
    pair = ("log freq", "l2 norm")
    if all(name in design.columns for name in pair):
        r = float(np.corrcoef([design.columns[name] for name in pair])[0, 1])
        if abs(r) >= HIGH_CORRELATION:
            warnings.append(
                f"log freq and l2 norm are correlated (r = {r:.2f}): read their estimates together"
            )
    return warnings
