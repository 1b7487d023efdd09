"""WEAT (Caliskan et al. 2017) as a metric: `similarity/statistic`, and whose d and p it reports."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.catalogue.test import Test
from weatherglass.errors import UnitError, ZeroVectorError
from weatherglass.metrics.base import (
    Context,
    ElementScore,
    Measurement,
    Samples,
    Shape,
    exactly,
)
from weatherglass.metrics.nulls import Exchange
from weatherglass.metrics.sets import VectorSet, check_size, distinct_rows, name_zero_vector, order_by_content
from weatherglass.metrics.units import mean_by_unit, unit_numbers
from weatherglass.metrics.weat.effect import effect_size, sum_difference
from weatherglass.metrics.weat.measure import SIMILARITIES, Measure
from weatherglass.metrics.weat.profiles import profile_of
from weatherglass.metrics.weat.tables import (
    NamedSample,
    Tables,
    element_scores,
    named_sample,
    scores_without_templates,
    tables_of,
    unit_scores,
)

if TYPE_CHECKING:
    from weatherglass.metrics.weat.covariance import Covariance


COSINE_MEAN = Measure("cosine", "mean")


@dataclass(frozen=True, slots=True, order=True)
class Weat:
    """Do the words of X lean to A, and those of Y to B, more than exchanged labels would?

    >>> Weat(Measure("euclidean", "median")).name
    'euclidean/median'
    >>> Weat(profile="wefe").name
    'weat(cosine/mean, profile=wefe)'
    """

    bounds: ClassVar[tuple[float, float]] = (-2.0, 2.0)
    """With X and Y of one size; a little more where they differ."""
    summary: ClassVar[str] = (
        "difference of X and Y in their leaning to A rather than B, in standard deviations"
    )
    direction: ClassVar[str] = "above 0: X nearer to A, Y to B"
    source: ClassVar[str] = "Caliskan et al. 2017"

    measure_of_words: Measure = COSINE_MEAN
    """How the association of one word with A and B is measured."""
    profile: str = ""
    """Whose standard deviation, tail and p are reported (docs/methods 9); empty for ours."""

    @property
    def name(self) -> str:
        """`similarity/statistic`, the short spelling of `weat(similarity/statistic)`."""
        measure = str(self.measure_of_words)
        return f"weat({measure}, profile={self.profile})" if self.profile else measure

    def __str__(self) -> str:
        return self.name

    @property
    def shape(self) -> Shape:
        """Two target and two attribute sets."""
        return Shape(exactly(2), exactly(2))

    @property
    def signed(self) -> bool:
        """Whether the sign of d says to which side X leans."""
        return self.measure_of_words.signed

    @property
    def unbiased(self) -> float:
        """d is 0 where X and Y are equally near to A and B."""
        return 0.0

    @property
    def is_effect_size(self) -> bool:
        """The value is d."""
        return True

    @property
    def whitened(self) -> bool:
        """Whether distances are taken through a covariance, as Mahalanobis's are."""
        return SIMILARITIES.get(self.measure_of_words.similarity).whitened

    @property
    def assessed(self) -> bool:
        """Resampling the mean is a few matrix products; the other statistics take minutes."""
        return self.measure_of_words.statistic == "mean"

    def texts(self, test: Test) -> tuple[str, ...]:
        """Nothing besides the four sets."""
        del test
        return ()

    def measure(self, sets: Sequence[VectorSet], context: Context) -> Measurement:
        """d, S and s(w, A, B) of every element of X and Y."""
        _check_sizes(sets)
        measures = list(dict.fromkeys(m.measure_of_words for m in context.metrics if isinstance(m, Weat)))
        if self.measure_of_words not in measures:
            measures = [self.measure_of_words]
        scored = context.once(
            ("weat", tuple(measures)), lambda: scores_of_targets(sets, measures, context.covariances)
        )
        x_set, y_set, a_set, b_set = sets
        x, y = scored[self.measure_of_words]
        exchange = {"elements": self._exchange(x, y, context.ddof)}
        by_words = context.permute == "words" and _in_sentences(sets)
        if by_words:
            named = self.sample(sets, context)
            x, y = _in_given_order(element_scores(named.sample), self._tables(sets, context))
            units = unit_scores(named.sample)
            exchange["words"] = self._exchange(units[: named.n_x], units[named.n_x :], context.ddof)
        else:
            exchange["words"] = self._exchange(mean_by_word(x_set, x), mean_by_word(y_set, y), context.ddof)
        unit = exchange[context.permute]
        return Measurement(
            value=unit.effect_size(unit.x, unit.y),
            unbiased=self.unbiased,
            signed=self.signed,
            is_effect_size=self.is_effect_size,
            test_statistic=sum_difference(unit.x, unit.y),
            target_sizes=(len(x_set), len(y_set)),
            attribute_sizes=(len(a_set), len(b_set)),
            scores=(*_element_scores(x_set, x), *_element_scores(y_set, y)),
            exchange=exchange,
            samples=lambda: self._samples(sets, context),
        )

    def _exchange(self, x: Vector, y: Vector, ddof: int) -> Exchange:
        profile = profile_of(self.profile) if self.profile else None
        if profile is None:
            return Exchange(x, y, partial(effect_size, ddof=ddof), ddof=ddof)
        return Exchange(
            x,
            y,
            profile.effect_size,
            profile.significance,
            profile.ddof,
            profile.alternatives,
            effect_size(x, y, profile.ddof),
        )

    def sample(self, sets: Sequence[VectorSet], context: Context) -> NamedSample:
        """The raw measures by unit: what is resampled and left out."""
        return named_sample(
            self._tables(sets, context), self.measure_of_words, context.permute, self._ddof(context)
        )

    def _samples(self, sets: Sequence[VectorSet], context: Context) -> Samples:
        whole = self.sample(sets, context)
        without = scores_without_templates(self._tables(sets, context), whole.sample, context.permute)
        return Samples(whole, tuple(without))

    def _tables(self, sets: Sequence[VectorSet], context: Context) -> Tables:
        similarity = self.measure_of_words.similarity
        return context.once(("tables", similarity), lambda: tables_of(sets, similarity, context.covariances))

    def _ddof(self, context: Context) -> int:
        return profile_of(self.profile).ddof if self.profile else context.ddof


def scores_of_targets(
    sets: Sequence[VectorSet],
    measures: Sequence[Measure],
    covariances: tuple[Covariance, Covariance] | None = None,
) -> dict[Measure, tuple[Vector, Vector]]:
    """s(w, A, B) of the rows of X and of Y under each measure.

    The targets are scored once each and sorted by content, and so are A and B. A matrix product may give the same row
    another last bit at another place; this way neither the order of the words nor a swap of X and Y can matter.
    """
    from weatherglass.metrics.weat.score import associations

    x, y, a, b = sets
    rows = np.concatenate([x.vectors, y.vectors])
    distinct, place = distinct_rows(rows)
    by_content = [order_by_content(attribute.vectors) for attribute in (a, b)]
    try:
        scores = associations(
            distinct, a.vectors[by_content[0]], b.vectors[by_content[1]], measures, covariances
        )
    except ZeroVectorError:
        raise UnitError(name_zero_vector(sets)) from None
    return {m: (s[place[: len(x)]], s[place[len(x) :]]) for m, s in scores.items()}


def _in_sentences(sets: Sequence[VectorSet]) -> bool:
    """Whether any word stands in several elements of its set."""
    return any(len({e.word for e in s.elements}) < len(s.elements) for s in sets)


def _in_given_order(scores: Vector, tables: Tables) -> tuple[Vector, Vector]:
    """The scores of X and of Y, from the order of the tables back to that of the test."""
    x_order, y_order = tables.orders[:2]
    x, y = np.empty(len(x_order)), np.empty(len(y_order))
    x[x_order], y[y_order] = scores[: len(x)], scores[len(x) :]
    return x, y


def _check_sizes(sets: Sequence[VectorSet]) -> None:
    """Two elements in X and in Y; and no set may shrink to a single word because the model lacks the others."""
    for element_set in sets:
        check_size(element_set, 2 if element_set.role in ("X", "Y") or element_set.unknown else 1)


def mean_by_word(element_set: VectorSet, scores: Vector) -> Vector:
    """The score of each word: the mean over its sentences, in order of first appearance."""
    return mean_by_unit(scores, unit_numbers([element.word for element in element_set.elements]))


def _element_scores(element_set: VectorSet, scores: Vector) -> Iterator[ElementScore]:
    for element, value in zip(element_set.elements, scores, strict=True):
        yield ElementScore(element_set.role, element.text, element.word, element.template, float(value))
