"""Which words are measured reliably? Both models for both reliabilities, beside the published estimates."""

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
    Fit,
    RSquared,
    changes,
    fit,
    inflation,
)
from weatherglass.reliability.regression.observations import RULES, Design, build_design

if TYPE_CHECKING:
    import polars as pl

RELIABILITIES = ("test-retest", "inter-rater")
CLOSE_CORRELATION = 0.7


@dataclass(frozen=True, slots=True)
class Published:
    """What was printed: estimates by the reproduction, R² and shares by Du et al. (2021)."""

    estimates: Mapping[str, float]
    r2: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class FittedModel:
    """A model with what each of its factors adds."""

    fit: Fit
    changes: Mapping[str, RSquared]
    """Fixed factor -> what R² loses without it."""


@dataclass(frozen=True, slots=True)
class Part:
    """One reliability explained."""

    reliability: str
    models: Mapping[str, FittedModel]
    """By name: as published, with word."""
    references: Mapping[str, str]
    rows: int
    """Before any was dropped."""
    dropped: Mapping[str, int]
    inflation: Mapping[str, float]
    """Fixed factor -> variance inflation factor."""
    published: Published
    warnings: tuple[str, ...]

    def agrees(self, model: str, coefficient: str) -> bool | None:
        """Whether the estimate has the published sign; None where nothing was published."""
        known = self.published.estimates.get(coefficient)
        own = {c.name: c.estimate for c in self.models[model].fit.coefficients}.get(coefficient)
        return None if known is None or own is None else bool(np.sign(known) == np.sign(own))

    def settled(self, model: str, coefficient: str) -> bool:
        """Whether the 95 % interval leaves out zero."""
        found = next(c for c in self.models[model].fit.coefficients if c.name == coefficient)
        return found.low > 0 or found.high < 0


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything that `reliability explain` found."""

    parts: tuple[Part, ...]
    sources: tuple[str, ...] = ()
    """Where senses and parts of speech came from."""
    missing: tuple[str, ...] = ()
    """What was absent, with the command that installs it."""


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
        features: what `word_features` gives, of all corpora and algorithms.
        sources: where senses and parts of speech came from.
        missing: what of them is absent.
        progress: where to show how far it is.
    """
    progress = progress or Silent()
    parts = []
    for reliability in RELIABILITIES:
        if reliability not in scores:
            continue
        design = build_design(_published_rules(scores[reliability]), features)
        progress.stage(f"regression of {reliability}", len(MODELS))
        parts.append(explain_part(reliability, design, progress))
    return Explanation(tuple(parts), sources, missing)


def explain_part(reliability: str, design: Design, progress: Progress | None = None) -> Part:
    """Both models of one reliability."""
    models = {}
    warnings = list(design.warnings)
    for name, random in MODELS.items():
        if "word" in random and not _words_recur(design):
            warnings.append("every word has one row, so there is no model with a random intercept for words")
            continue
        fitted = fit(design, random)
        warnings += fitted.warnings
        models[name] = FittedModel(fitted, changes(design, random, fitted.r2))
        if progress:
            progress.advance()
    factors = inflation(design)
    warnings += _collinear(design, factors)
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


def _published_rules(scores: pl.DataFrame) -> pl.DataFrame:
    """Without rules that the published model does not have (ripa-raw)."""
    import polars as pl

    return scores.filter(pl.col("rule").is_in(RULES)) if "rule" in scores.columns else scores


def _words_recur(design: Design) -> bool:
    return int(design.factors["word"].max()) + 1 < len(design.score)


def _collinear(design: Design, factors: Mapping[str, float]) -> list[str]:
    """Features that stand for each other: their estimates are to be read together."""
    warnings = [
        f"{factor} can be told from the other features (variance inflation {vif:.1f}): its estimate and its change "
        f"in R² depend on what else is in the model"
        for factor, vif in factors.items()
        if vif >= HIGH_VIF
    ]
    pair = ("log freq", "l2 norm")
    if all(name in design.columns for name in pair):
        r = float(np.corrcoef([design.columns[name] for name in pair])[0, 1])
        if abs(r) >= CLOSE_CORRELATION:
            warnings.append(f"log freq and l2 norm go together (r = {r:.2f}): read their estimates as one")
    return warnings
