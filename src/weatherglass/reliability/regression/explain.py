"""Regress reliability on word features, and compare the estimates with the published ones."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from weatherglass.errors import WeatherglassError
from weatherglass.languages.lexicon import Lexicon, find_lexicon
from weatherglass.progress import Progress, Silent
from weatherglass.reliability.regression.features import Design, build_design, word_features
from weatherglass.reliability.regression.fit import (
    HIGH_VIF,
    MODELS,
    NORMAL_95,
    WEIGHTED,
    MixedFit,
    RSquared,
    changes,
    fit,
    inflation,
    precision_weights,
)
from weatherglass.reliability.regression.tables import regression_table, to_latex
from weatherglass.reliability.scoring import raters
from weatherglass.reliability.tables import write_tables
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.checksum import (
    damaged_files,
    file_hash,
    is_listed,
    listed_files,
    remove_listed,
    set_aside,
)
from weatherglass.warnings import Warning

if TYPE_CHECKING:
    import polars as pl

    from weatherglass.reliability.study import Group

RELIABILITIES = ("test-retest", "inter-rater")
HIGH_CORRELATION = 0.7
LEXICAL = {"log senses": "senses", "pos": "pos"}
"""Features from a lexicon, with their columns."""


@dataclass(frozen=True, slots=True)
class Published:
    """The published numbers: estimates of the reproduction, and R² and shares of Du et al. (2021)."""

    estimates: Mapping[str, float]
    r2: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class FittedModel:
    """A fitted model, and the R² that each factor adds."""

    fit: MixedFit
    changes: Mapping[str, RSquared]
    """The R² lost by removing each fixed factor; empty for the weighted model."""


@dataclass(frozen=True, slots=True)
class Part:
    """The regressions of one reliability: test-retest or inter-rater."""

    reliability: str
    models: Mapping[str, FittedModel]
    """Models by name: as published, with words, weighted."""
    references: Mapping[str, str]
    rows: int
    """The number of rows before incomplete rows are dropped."""
    dropped: Mapping[str, int]
    inflation: Mapping[str, float]
    """The variance inflation factor of each fixed factor."""
    published: Published
    warnings: tuple[Warning, ...]

    def same_sign(self, model: str, coefficient: str) -> bool | None:
        """Return whether the estimate has the published sign; None if there is no published estimate."""
        known = self.published.estimates.get(coefficient)
        own = {c.name: c.estimate for c in self.models[model].fit.coefficients}.get(coefficient)
        return None if known is None or own is None else bool(np.sign(known) == np.sign(own))

    def excludes_zero(self, model: str, coefficient: str) -> bool:
        """Return whether the 95 % interval excludes zero."""
        return next(c for c in self.models[model].fit.coefficients if c.name == coefficient).excludes_zero


@dataclass(frozen=True, slots=True)
class Explanation:
    """The result of `reliability explain` for one set of base pairs."""

    parts: tuple[Part, ...]
    sources: tuple[str, ...] = ()
    """The sources of senses and parts of speech."""
    missing: tuple[str, ...] = ()
    """The sources that are not installed, with the command that installs each."""
    absent: tuple[str, ...] = ()
    """Features without a source (`log senses`, `pos`), whose rows are empty."""

    def is_absent(self, coefficient: str) -> bool:
        """Return whether an estimate is empty because its source is not installed."""
        return coefficient.partition(":")[0] in self.absent


@cache
def published(reliability: str) -> Published:
    """Return the published numbers of one reliability."""
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
    """Regress reliability on word features, with the published model and with a random intercept for words.

    Args:
        scores: for "test-retest", a table of corpus, algorithm, word, rule and score; for "inter-rater", the same
            without rule.
        features: the tables of `word_features` for all corpora and algorithms.
        sources: the sources of senses and parts of speech.
        missing: the sources that are not installed.
        progress: an object that is updated after each model.
    """
    progress = progress or Silent()
    parts = []
    for reliability in RELIABILITIES:
        if reliability not in scores:
            continue
        design = build_design(_compared_rules(scores[reliability]), features)
        progress.stage(f"regression of {reliability}", len(MODELS))
        parts.append(explain_part(reliability, design, progress))
    absent = (name for name, column in LEXICAL.items() if features[column].is_null().all())
    return Explanation(tuple(parts), sources, missing, tuple(absent))


def explain_part(reliability: str, design: Design, progress: Progress | None = None) -> Part:
    """Fit both models of one reliability; if the variances of the scores are known, also fit the second one with
    weights.
    """
    models = {}
    warnings = list(design.warnings)
    for name, random in MODELS.items():
        words = int(design.factors["word"].max()) + 1
        if "word" in random and words == len(design.score):
            warnings.append(Warning.of("one-row-per-word"))
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
    """Return the scores of the compared rules, without variants; by default, these are the paper's three rules without
    ripa-raw.
    """
    import polars as pl

    if "rule" not in scores.columns:
        return scores
    return scores.filter(pl.col("rule").is_in(raters(scores["rule"].unique().to_list())))


def _collinearity_warnings(design: Design, factors: Mapping[str, float]) -> list[Warning]:
    """Return warnings about correlated features, whose estimates must be interpreted together."""
    warnings = [
        Warning.of("collinear", feature=factor, vif=vif) for factor, vif in factors.items() if vif >= HIGH_VIF
    ]
    pair = ("log freq", "l2 norm")
    if all(name in design.columns for name in pair):
        r = float(np.corrcoef([design.columns[name] for name in pair])[0, 1])
        if abs(r) >= HIGH_CORRELATION:
            warnings.append(Warning.of("correlated", first=pair[0], second=pair[1], r=r))
    return warnings


FEATURES, TABLES = "features", "tables"
FEATURE_FILE = re.compile(r".+-[0-9a-f]{12}\.(tsv|parquet)")
"""Names of cached feature tables: corpus, algorithm, and the key of embeddings and lexicon."""


def explain_study(
    groups: Sequence[Group],
    tables: Mapping[str, pl.DataFrame],
    folder: Path,
    senses: Path | None = None,
    parts: Path | None = None,
    progress: Progress | None = None,
) -> dict[str, Explanation]:
    """Explain the reliability of every word by its features, for each set of base pairs.

    The function writes tables/features and tables/regression (TSV and parquet) and tables/regression-PAIRS.tex.

    Args:
        groups: the embeddings.
        tables: the tables test_retest_words and inter_rater_words of the study.
        folder: the folder of the study.
        senses: a file of senses instead of WordNet.
        parts: a file of parts of speech instead of Brill's lexicon.
        progress: an object that is updated after each group of embeddings and each model.

    Returns:
        An explanation for each set of base pairs; if nothing can be estimated, it has a reason instead of parts.
    """
    import polars as pl

    progress = progress or Silent()
    words = set(tables["test_retest_words"]["word"].unique().to_list())
    lexicon = find_lexicon(words, senses, parts)
    progress.stage("word features", len(groups))
    features = pl.concat(feature_tables(groups, lexicon, folder / FEATURES, progress))
    explanations = {}
    for pairs in tables["test_retest_words"]["pairs"].unique(maintain_order=True).to_list():
        try:
            explanations[pairs] = explain(
                study_scores(tables, pairs), features, lexicon.sources, lexicon.missing, progress
            )
        except WeatherglassError as error:
            explanations[pairs] = Explanation((), lexicon.sources, (*lexicon.missing, str(error)))
    regression = pl.concat(
        [regression_table(explanation, pairs) for pairs, explanation in explanations.items()]
    )
    write_tables(folder / TABLES, {"features": features, "regression": regression})
    for pairs, explanation in explanations.items():
        write_whole(folder / TABLES / f"regression-{Path(pairs).stem}.tex", to_latex(explanation))
    return explanations


def study_scores(tables: Mapping[str, pl.DataFrame], pairs: str) -> dict[str, pl.DataFrame]:
    """Return the reliabilities for one set of base pairs: test–retest by rule, and inter-rater for raw scores."""
    import polars as pl

    variance = ((pl.col("high") - pl.col("low")) / (2 * NORMAL_95)) ** 2
    keys = [
        pl.col("corpus", "algorithm", "word"),
        pl.col("icc").alias("score"),
        variance.alias("variance"),
    ]
    test_retest = tables["test_retest_words"].filter(pl.col("pairs") == pairs)
    inter_rater = tables["inter_rater_words"].filter((pl.col("pairs") == pairs) & (pl.col("scale") == "raw"))
    return {
        "test-retest": test_retest.select("rule", *keys),
        "inter-rater": inter_rater.select(*keys),
    }


def feature_tables(
    groups: Sequence[Group], lexicon: Lexicon, folder: Path, progress: Progress
) -> list[pl.DataFrame]:
    """Return the feature table of each group, cached in `folder` or newly computed, and remove stale tables.

    Args:
        groups: all groups of the study; cached tables of other embeddings or lexicons are removed.
        lexicon: senses and parts of speech.
        folder: the folder of the cached tables.
        progress: an object that is updated after each group.
    """
    import polars as pl

    tables = []
    names = []
    for group in groups:
        if group.paths:
            name = f"{group.corpus}-{group.algorithm}-{_key(group, lexicon)}"
            path = folder / f"{name}.parquet"
            if path.is_file() and is_listed(folder, path.name) and damaged_files(folder, [path.name]):
                set_aside([path], "and computed again")
            # If a table has no checksum, its writer was killed before it could write the list of checksums.
            if not path.is_file() or not is_listed(folder, path.name):
                write_tables(folder, {name: word_features(group.paths, lexicon)})
            tables.append(pl.read_parquet(path))
            names.append(name)
        progress.advance()
    stale = [
        name
        for name in listed_files(folder)
        if FEATURE_FILE.fullmatch(name) and name.rpartition(".")[0] not in names
    ]
    remove_listed(folder, stale)
    return tables


def _key(group: Group, lexicon: Lexicon) -> str:
    """Return the cache key: a hash of the embeddings' content and of the lexicon."""
    known = [sorted((table or {}).items()) for table in (lexicon.senses, lexicon.parts)]
    files = [file_hash(path) for path in group.paths]
    return hashlib.sha256(json.dumps([files, known]).encode()).hexdigest()[:12]
