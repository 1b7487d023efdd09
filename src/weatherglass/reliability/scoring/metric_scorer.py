"""A metric of an audit as a rater of words: the base pair is two of its sets, the words are the others."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.catalogue.test import Element
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.base import Context, Measurement, Metric
from weatherglass.metrics.sets import VectorSet
from weatherglass.reliability.scoring.base import ScoringContext
from weatherglass.reliability.scoring.projections import Scores


@dataclass(frozen=True)
class MetricScorer:
    """The scores that a metric gives to words, for one base pair after the other.

    A metric of two target sets and one attribute set takes the pair as targets, others take it as attributes. Where its
    sign is a direction, it is turned so that a score above 0 leans to the first word, as that of a rule does.
    """

    metric: Metric
    version: int = 1
    variant_of: str | None = None

    def __post_init__(self) -> None:
        if self.metric.whitened:
            raise WeatherglassError(
                f"metric '{self.metric.name}' cannot score words for base pairs: one word has no covariance"
            )

    @property
    def name(self) -> str:
        """The metric's spelling."""
        return self.metric.name

    @property
    def label(self) -> str:
        return self.metric.name

    @property
    def file_name(self) -> str:
        """The name without characters that a file's name may not have."""
        return re.sub(r"[^a-z0-9_-]+", "_", self.name.lower())

    def score(self, context: ScoringContext) -> Scores:
        """target × pair.

        Raises:
            WeatherglassError: if the metric takes no pair of words, or does not give every word a score.
        """
        words = [context.words[row] for row in context.targets]
        vectors = context.vectors[context.targets].astype(np.float64)
        scores = np.empty((len(words), len(context.pairs)), dtype=np.float32)
        for place, (first, second) in enumerate(zip(context.first, context.second, strict=True)):
            pair = context.vectors[[first, second]].astype(np.float64)
            measured = self.metric.measure(
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

        shape = self.metric.shape
        if shape.fits(1, 2):
            return [of("X", words, vectors), *of_pair("AB")]
        if shape.fits(2, 1):
            return [*of_pair("XY"), of("A", words, vectors)]
        if shape.fits(2, 2):  # A word's score does not depend on the set that it is in.
            halves = [of(role, words[part::2], vectors[part::2]) for part, role in enumerate("XY")]
            return [*halves, *of_pair("AB")]
        raise WeatherglassError(f"metric '{self.name}' takes {shape}; it cannot score words for base pairs")

    def _by_word(self, words: Sequence[str], measured: Measurement) -> Matrix:
        by_word = {score.text: score.score for score in measured.scores}
        if not by_word.keys() >= set(words):
            raise WeatherglassError(f"metric '{self.name}' gives words no score of their own")
        to_second = bool(measured.leans) and ("{Y}" in measured.leans[0] or "{B}" in measured.leans[0])
        return np.array([by_word[word] for word in words]) * (-1 if to_second else 1)
