"""`WordScorer`, what gives words bias scores; `Rule`, one that is a function; `ScoringContext`, what it looks at."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers
from weatherglass.errors import WeatherglassError
from weatherglass.reliability.scoring.neighbours import neighbours
from weatherglass.reliability.scoring.projections import Projections, Scores, projections
from weatherglass.reliability.training.embedding import Vectors

RULE_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")


@dataclass(frozen=True)
class ScoringContext:
    """One embedding with its base pairs and target words.

    What several rules need is computed at its first use and kept.
    """

    words: Sequence[str]
    """The vocabulary: every entry of the embedding that is a word and has a vector."""
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
    """Number of neighbours."""

    @cached_property
    def projections(self) -> Projections:
        """DB/WA and RIPA of all words, not only of the targets."""
        return projections(self.vectors, self.first, self.second)

    @cached_property
    def neighbours(self) -> NDArray[np.int32]:
        """The rows of the k nearest neighbours of each target by cosine, unsorted: target × k."""
        nearest = np.empty((len(self.targets), self.k), dtype=np.int32)
        for part, rows in neighbours(self.vectors, self.targets, self.k):
            nearest[part] = rows
        return nearest


class WordScorer(Protocol):
    """What gives a word a bias score for a base pair: a `Rule`, or a metric of an audit (`MetricScorer`)."""

    @property
    def name(self) -> str:
        """In study files and tables."""

    @property
    def label(self) -> str:
        """For readers of figures and pages."""

    @property
    def version(self) -> int:
        """Another one when it gives other numbers: stored scores are then computed again."""

    @property
    def variant_of(self) -> str | None:
        """A scorer beside which this one is reported, but not compared with others: raters are not counted twice."""

    @property
    def file_name(self) -> str:
        """Its part of the names of score files."""

    def score(self, context: ScoringContext) -> Scores:
        """target × pair; above 0 where the word leans to the pair's first word."""


@dataclass(frozen=True)
class Rule:
    """How a word gets a bias score for a base pair: the reliability wing's metric of one word."""

    name: str
    """In study files, tables and the names of score files."""
    label: str
    """For readers of figures and pages."""
    version: int
    """Raise it when the rule gives other numbers: stored scores of the rule are then computed again."""
    scores: Callable[[ScoringContext], Scores]
    """target × pair."""
    variant_of: str | None = None
    """A rule beside which this one is reported, but not compared with others: raters are not counted twice."""

    def __post_init__(self) -> None:
        if not RULE_NAME.fullmatch(self.name):
            raise WeatherglassError(
                f"'{self.name}' cannot be the name of a rule; use lower-case letters, digits, - and _"
            )

    @property
    def file_name(self) -> str:
        """The name, which a file may have."""
        return self.name

    def score(self, context: ScoringContext) -> Scores:
        """target × pair, checked.

        Raises:
            WeatherglassError: if the rule's function returns an array of another shape.
        """
        scores = np.asarray(self.scores(context), dtype=np.float32)
        expected = (len(context.targets), len(context.pairs))
        if scores.shape != expected:
            raise WeatherglassError(
                f"rule '{self.name}' returned an array of shape {scores.shape}; it should be "
                f"target × pair, {expected}"
            )
        return scores
