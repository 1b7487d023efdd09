"""Score words for base pairs by DB/WA, RIPA, NBM, or any metric of an audit."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from weatherglass.arrays import Integers, Matrix, unit_length
from weatherglass.catalogue.test import Element
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.base import Context, Estimate, Metric
from weatherglass.metrics.sets import VectorSet
from weatherglass.reliability.scoring.neighbours import neighbours
from weatherglass.reliability.training.embedding import Vectors

Scores = NDArray[np.float32]
"""The scores of one rule, word × pair."""

ROWS_AT_A_TIME = 2048
"""The number of rows that fit into the processor's cache."""


class Projections(NamedTuple):
    """The scores of all words of the vocabulary for three rules, each word × pair."""

    dbwa: Scores
    ripa: Scores
    """RIPA with normalised word vectors, as in Du et al. (2021)."""
    ripa_raw: Scores


def projections(vectors: Vectors, first: Integers, second: Integers) -> Projections:
    """Return the projections of every row on every pair.

    Args:
        vectors: one row per word.
        first: the row of the first word of each pair.
        second: the row of the second word of each pair.
    """
    between_ends = unit_length(vectors[first]) - unit_length(vectors[second])
    directions = np.concatenate([between_ends, unit_length(vectors[first] - vectors[second])]).T
    scores = np.empty((3, len(vectors), len(first)), dtype=np.float32)
    # For matrices with so few columns, threads cost more time than they save.
    with threadpool_limits(1):
        for start in range(0, len(vectors), ROWS_AT_A_TIME):
            part = slice(start, start + ROWS_AT_A_TIME)
            products = vectors[part] @ directions
            inverse = 1 / np.sqrt(np.einsum("vd,vd->v", vectors[part], vectors[part]))[:, None]
            scores[2, part] = products[:, len(first) :]
            products *= inverse
            scores[0, part], scores[1, part] = products[:, : len(first)], products[:, len(first) :]
    return Projections(*scores)


RULE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True)
class ScoringContext:
    """One embedding with its base pairs and target words.

    Results that several rules need are computed at their first use and cached.
    """

    words: Sequence[str]
    """The vocabulary: all entries of the embedding that are words and have a vector."""
    vectors: Vectors
    """One row for each of `words`."""
    pairs: Sequence[tuple[str, str]]
    first: Integers
    """The row of each pair's first word."""
    second: Integers
    """The row of each pair's second word."""
    targets: Integers
    """The rows of the words to score."""
    k: int
    """The number of neighbours."""

    @cached_property
    def projections(self) -> Projections:
        """Return DB/WA and RIPA of all words, including those that are not targets."""
        return projections(self.vectors, self.first, self.second)

    @cached_property
    def neighbours(self) -> NDArray[np.int32]:
        """Return the rows of the k nearest neighbours of each target by cosine, unsorted, target × k."""
        nearest = np.empty((len(self.targets), self.k), dtype=np.int32)
        for part, rows in neighbours(self.vectors, self.targets, self.k):
            nearest[part] = rows
        return nearest


class WordScorer(Protocol):
    """The interface of scorers, which score words for base pairs: a `ScoringRule`, or a metric (`MetricScorer`)."""

    @property
    def name(self) -> str:
        """Return the name in study files and tables."""

    @property
    def label(self) -> str:
        """Return the name in figures and on pages."""

    @property
    def version(self) -> int:
        """Return the version; stored scores are computed again when it changes."""

    @property
    def variant_of(self) -> str | None:
        """Return the scorer of which this one is a variant; a variant is reported, but is not compared with other
        rules.
        """

    @property
    def file_name(self) -> str:
        """Return the scorer's name as used in the names of score files."""

    def score(self, context: ScoringContext) -> Scores:
        """Return the scores, target × pair, which are above 0 if the word leans to the pair's first word."""


@dataclass(frozen=True)
class ScoringRule:
    """A rule that scores words for base pairs."""

    name: str
    """The name in study files, tables and the names of score files."""
    label: str
    """The name in figures and on pages."""
    version: int
    """The version of the rule; it must change when the rule gives different numbers, so that stored scores are
    computed again.
    """
    scores: Callable[[ScoringContext], Scores]
    """A function that computes the scores, target × pair."""
    variant_of: str | None = None
    """The rule of which this one is a variant; a variant is reported, but is not compared with other rules."""

    def __post_init__(self) -> None:
        if not RULE_NAME.fullmatch(self.name):
            raise WeatherglassError(
                f"'{self.name}' cannot be the name of a rule; use lower-case letters, digits, - and _"
            )

    @property
    def file_name(self) -> str:
        """Return the name, which is valid in the name of a file."""
        return self.name

    def score(self, context: ScoringContext) -> Scores:
        """Return the scores, target × pair, after checking their shape.

        Raises:
            WeatherglassError: if the rule's function returns an array of the wrong shape.
        """
        scores = np.asarray(self.scores(context), dtype=np.float32)
        expected = (len(context.targets), len(context.pairs))
        if scores.shape != expected:
            raise WeatherglassError(
                f"rule '{self.name}' returned an array of shape {scores.shape}; but should return target × "
                f"pair, {expected}"
            )
        return scores


def dbwa(context: ScoringContext) -> Scores:
    """Return the DB/WA scores, target × pair."""
    return context.projections.dbwa[context.targets]


DBWA = ScoringRule("dbwa", "DB/WA", 1, dbwa)


def ripa(context: ScoringContext) -> Scores:
    """Return the RIPA scores, target × pair, with normalised word vectors, as in Du et al. (2021)."""
    return context.projections.ripa[context.targets]


def ripa_raw(context: ScoringContext) -> Scores:
    """Return the RIPA scores, target × pair, without normalisation (Ethayarajh et al. 2019)."""
    return context.projections.ripa_raw[context.targets]


RIPA = ScoringRule("ripa", "RIPA", 1, ripa)
RIPA_RAW = ScoringRule("ripa-raw", "raw RIPA", 1, ripa_raw, variant_of="ripa")


ROUNDING = 2.0**-51
"""The difference, due to rounding in the last step, below which two cosines are equal."""

Signs = NDArray[np.int8]


def nbm(context: ScoringContext) -> Scores:
    """Return the share of the k neighbours with DB/WA ≥ 0 minus the share with DB/WA < 0, target × pair."""
    leaning = signs(context.vectors, context.first, context.second, context.projections.dbwa)
    scores = np.empty((len(context.targets), len(context.pairs)), dtype=np.float32)
    _average_leaning(leaning, context.neighbours, scores)
    return scores


def signs(vectors: Vectors, first: Integers, second: Integers, dbwa: Scores) -> Signs:
    """Return 1 if a word is at least as near to the pair's first word as to its second, otherwise −1; word × pair.

    The signs of DB/WA in single precision are used; a value within the rounding error of 0 is computed again in double
    precision.

    Args:
        vectors: one row per word.
        first: the row of the first word of each pair.
        second: the row of the second word of each pair.
        dbwa: DB/WA of every row with every pair, in single precision.
    """
    # The error of a sum of d products is at most d/2^24, and so is that of both unit vectors; their difference has a
    # length of at most 2.
    error = np.float32(4 * (vectors.shape[1] + 8) * 2.0**-24)
    leaning = np.where(dbwa >= 0, np.int8(1), np.int8(-1))
    rows, pairs = np.nonzero(np.abs(dbwa) <= error)
    _decide_in_double(vectors, first, second, rows, pairs, leaning)
    return leaning


@njit(cache=True, nogil=True)
def _decide_in_double(
    vectors: Vectors, first: Integers, second: Integers, rows: Integers, pairs: Integers, leaning: Signs
) -> None:
    """Fill in the signs of cos(w, m) − cos(w, f) at some places.

    p |p| / |m|² is compared with q |q| / |f|², where p = w·m and q = w·f. This needs no root and, after multiplication,
    no division, so that whole numbers are compared exactly. The sums have a fixed order, so that equal vectors tie with
    every BLAS library.
    """
    squares = np.zeros((2, first.shape[0]))
    for pair in range(first.shape[0]):
        for d in range(vectors.shape[1]):
            squares[0, pair] += np.float64(vectors[first[pair], d]) ** 2
            squares[1, pair] += np.float64(vectors[second[pair], d]) ** 2
    for place in range(rows.shape[0]):
        row, pair = rows[place], pairs[place]
        to_first, to_second = 0.0, 0.0
        for d in range(vectors.shape[1]):
            value = np.float64(vectors[row, d])
            to_first += value * np.float64(vectors[first[pair], d])
            to_second += value * np.float64(vectors[second[pair], d])
        one = to_first * abs(to_first) * squares[1, pair]
        other = to_second * abs(to_second) * squares[0, pair]
        leaning[row, pair] = 1 if one - other >= -ROUNDING * abs(other) else -1


@njit(cache=True, nogil=True)
def _average_leaning(leaning: Signs, nearest: NDArray[np.int32], scores: Scores) -> None:
    k = nearest.shape[1]
    for line in range(nearest.shape[0]):
        total = np.zeros(leaning.shape[1], dtype=np.int32)
        for place in range(k):
            for pair in range(leaning.shape[1]):
                total[pair] += leaning[nearest[line, place], pair]
        for pair in range(leaning.shape[1]):
            scores[line, pair] = total[pair] / k


NBM = ScoringRule("nbm", "NBM", 2, nbm)


@dataclass(frozen=True)
class MetricScorer:
    """A scorer that uses a metric, one base pair after the other.

    A metric of two target sets and one attribute set takes the pair as targets; other metrics take it as attributes.
    If the sign of the metric is a direction, it is flipped where necessary, so that a score above 0 means that the
    word leans to the first word.
    """

    metric: Metric
    version: int = 1
    variant_of: str | None = None

    def __post_init__(self) -> None:
        if self.metric.info.covariances:
            raise WeatherglassError(
                f"metric '{self.metric.name}' cannot score words for base pairs, because one word has no covariance"
            )

    @property
    def name(self) -> str:
        """Return the metric's spelling."""
        return self.metric.name

    @property
    def label(self) -> str:
        return self.metric.name

    @property
    def file_name(self) -> str:
        """Return the name without characters that are not allowed in the name of a file."""
        return re.sub(r"[^a-z0-9_-]+", "_", self.name.lower())

    def score(self, context: ScoringContext) -> Scores:
        """Return the scores, target × pair.

        Raises:
            WeatherglassError: if the metric does not take a pair of words, or does not score every word.
        """
        words = [context.words[row] for row in context.targets]
        vectors = context.vectors[context.targets].astype(np.float64)
        scores = np.empty((len(words), len(context.pairs)), dtype=np.float32)
        for place, (first, second) in enumerate(zip(context.first, context.second, strict=True)):
            pair = context.vectors[[first, second]].astype(np.float64)
            measured = self.metric.evaluate(
                self._sets(words, vectors, context.pairs[place], pair), Context([self.metric])
            )
            scores[:, place] = self._by_word(words, measured)
        return scores

    def _sets(
        self, words: Sequence[str], vectors: Matrix, pair: tuple[str, str], ends: Matrix
    ) -> list[VectorSet]:
        def of(role: str, texts: Sequence[str], rows: Matrix) -> VectorSet:
            return VectorSet(role, rows, tuple(Element(text, text) for text in texts))

        def of_pair(roles: str) -> list[VectorSet]:
            return [
                of(role, [word], ends[[row]])
                for row, (role, word) in enumerate(zip(roles, pair, strict=True))
            ]

        shape = self.metric.info.shape
        if shape.fits(1, 2):
            return [of("X", words, vectors), *of_pair("AB")]
        if shape.fits(2, 1):
            return [*of_pair("XY"), of("A", words, vectors)]
        if shape.fits(2, 2):  # A word's score does not depend on the set that it is in.
            halves = [of(role, words[part::2], vectors[part::2]) for part, role in enumerate("XY")]
            return [*halves, *of_pair("AB")]
        raise WeatherglassError(
            f"metric '{self.name}' takes {shape}, so it cannot score words for base pairs"
        )

    def _by_word(self, words: Sequence[str], measured: Estimate) -> Matrix:
        by_word = {score.text: score.score for score in measured.scores}
        if not by_word.keys() >= set(words):
            raise WeatherglassError(f"metric '{self.name}' does not score single words")
        leans = measured.info.leans
        to_second = bool(leans) and ("{Y}" in leans[0] or "{B}" in leans[0])
        return np.array([by_word[word] for word in words]) * (-1 if to_second else 1)
