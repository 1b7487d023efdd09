"""Build the regression's design from reliability scores and word features: joined, complete, z-scored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.errors import WeatherglassError
from weatherglass.languages.lexicon.pos import UNIVERSAL
from weatherglass.reliability.scoring.rules import RULES

if TYPE_CHECKING:
    import polars as pl

KEYS = ("corpus", "algorithm", "word")

CONTINUOUS: Mapping[str, tuple[str, bool]] = {
    "log freq": ("frequency", True),
    "log senses": ("senses", True),
    "nn similarity": ("nn_similarity", False),
    "l2 norm": ("l2_norm", False),
    "embedding stability": ("stability", False),
}
"""Coefficient -> its column in the features, and whether to take the logarithm."""

ORDER = ("rule", "log freq", "log senses", "pos", "nn similarity", "l2 norm", "embedding stability")
"""The factors, in the order of the published table."""

REASONS: Mapping[str, Sequence[str]] = {
    "no score": ("score",),
    "no part of speech": ("pos",),
    "no senses": ("senses",),
    "no frequency": ("frequency",),
    "no vector": ("nn_similarity", "l2_norm", "stability"),
}
"""Reason to drop a row -> the columns that are then empty; a row is counted under the first reason that applies."""


RANK_TOLERANCE = 1e-10
"""A column with a smaller share of variance not explained by earlier columns adds only rounding errors."""


@dataclass(frozen=True, slots=True)
class Design:
    """The rows of a regression, as arrays."""

    score: Vector
    columns: Mapping[str, Vector]
    """Coefficient -> its column: "log freq", "pos:noun"; reference levels have none."""
    factors: Mapping[str, Integers]
    """Random factor -> level of each row: algorithm, corpus, word."""
    references: Mapping[str, str]
    """Fixed factor -> its reference level."""
    rows: int
    """Number of rows before any was dropped."""
    dropped: Mapping[str, int]
    """Reason -> number of rows dropped."""
    warnings: tuple[str, ...] = field(default=())
    variance: Vector | None = None
    """Of each score as an estimate; None if it is not known."""

    def factor_of(self, coefficient: str) -> str:
        """The factor of a coefficient: "pos" for "pos:noun", "log freq" for its square.

        The square makes no sense without its base, so the two are left out together.
        """
        return coefficient.partition(":")[0].removesuffix(" squared")

    @property
    def fixed_factors(self) -> list[str]:
        """The factors that can be left out."""
        return list(dict.fromkeys(map(self.factor_of, self.columns)))


def build_design(scores: pl.DataFrame, features: pl.DataFrame) -> Design:
    """Join scores with features, drop incomplete rows, and z-score continuous features over the remaining rows.

    Args:
        scores: corpus, algorithm, word, score and, for test–retest, rule; variance, the score's own, if it is known.
        features: the tables of `word_features`, of all corpora and algorithms.

    Raises:
        WeatherglassError: if a column is missing, no row has features, or fewer than two rows are complete.
    """
    import polars as pl

    _require(scores, (*KEYS, "score"), "scores")
    _require(features, (*KEYS, *(column for column, _ in CONTINUOUS.values()), "pos"), "features")
    joined = scores.with_columns(pl.col("score").cast(pl.Float64).fill_nan(None)).join(
        features, on=KEYS, how="left"
    )
    if joined["l2_norm"].null_count() == joined.height:
        raise WeatherglassError(
            f"none of the {joined.height} scores has features: the features are of other words, corpora or algorithms"
        )
    absent = [column for column in features.columns if joined[column].null_count() == joined.height]
    warnings = [f"{column} is unknown for every row, so it is not in the model" for column in absent]
    complete, dropped = _complete(joined.drop(absent))
    if complete.height < 2:
        raise WeatherglassError(
            f"{complete.height} of {joined.height} rows are complete "
            f"({', '.join(f'{n} with {why}' for why, n in dropped.items())}); nothing can be estimated from them"
        )
    columns: dict[str, Vector] = {}
    references: dict[str, str] = {}
    for factor in ORDER:
        if factor in CONTINUOUS:
            columns |= _continuous(complete, factor, warnings)
        elif factor in complete.columns:
            columns |= _levels(complete, factor, references)
    columns = _independent(columns, warnings)
    return Design(
        score=complete["score"].to_numpy().astype(np.float64),
        columns=columns,
        factors={name: _codes(complete, name) for name in KEYS},
        references=references,
        rows=joined.height,
        dropped=dropped,
        warnings=tuple(warnings),
        variance=_variance(complete),
    )


def _variance(frame: pl.DataFrame) -> Vector | None:
    """The column of that name; a row without a number has the largest of the others."""
    if "variance" not in frame.columns:
        return None
    values = frame["variance"].to_numpy().astype(np.float64)
    known = np.isfinite(values)
    return np.where(known, values, values[known].max()) if known.any() else None


def _require(frame: pl.DataFrame, columns: Sequence[str], what: str) -> None:
    for column in columns:
        if column not in frame.columns:
            raise WeatherglassError(
                f"the {what} have no column '{column}' (they have: {', '.join(frame.columns)})"
            )


def _complete(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """The rows without gaps, and how many were dropped for which reason."""
    import polars as pl

    dropped = {}
    for reason, columns in REASONS.items():
        present = [column for column in columns if column in frame.columns]
        kept = frame.filter(pl.all_horizontal(pl.col(present).is_not_null())) if present else frame
        if kept.height < frame.height:
            dropped[reason] = frame.height - kept.height
        frame = kept
    return frame, dropped


def _continuous(frame: pl.DataFrame, name: str, warnings: list[str]) -> dict[str, Vector]:
    column, logarithm = CONTINUOUS[name]
    if column not in frame.columns:
        return {}
    values = frame[column].to_numpy().astype(np.float64)
    if logarithm:
        values = np.log(values)
    sd = values.std(ddof=1)
    if not sd > 1e-12 * np.abs(values).max():
        warnings.append(f"{name} is the same in every row, so it is not in the model")
        return {}
    z = (values - values.mean()) / sd
    return {name: z, f"{name} squared": z**2} if name == "log freq" else {name: z}


def _levels(frame: pl.DataFrame, name: str, references: dict[str, str]) -> dict[str, Vector]:
    """One column of zeros and ones for each level but the reference, which is the first level present.

    Rules are in the order of their registry (dbwa is the first), names that nobody knows in that of the alphabet.
    """
    values = frame[name].to_numpy()
    known = RULES.names() if name == "rule" else list(UNIVERSAL)
    present = set(values.tolist())
    levels = [level for level in known if level in present]
    levels += sorted(present.difference(known))
    references[name] = levels[0]
    return {f"{name}:{level}": (values == level).astype(np.float64) for level in levels[1:]}


def _independent(columns: dict[str, Vector], warnings: list[str]) -> dict[str, Vector]:
    """The columns that earlier columns do not determine, as in lme4; a few words have few independent columns."""
    names = list(columns)
    correlation = np.atleast_2d(np.corrcoef([columns[name] for name in names]))
    kept: list[int] = []
    for place in range(len(names)):
        shared = correlation[kept, place]
        left = 1 - shared @ np.linalg.solve(correlation[np.ix_(kept, kept)], shared)
        if left > RANK_TOLERANCE:
            kept.append(place)
        else:
            warnings.append(
                f"{names[place]} is determined by the features before it, so it is not in the model"
            )
    return {names[place]: columns[names[place]] for place in kept}


def _codes(frame: pl.DataFrame, name: str) -> Integers:
    codes: Integers = np.unique(frame[name].to_numpy().astype(str), return_inverse=True)[1].astype(np.int64)
    return codes
