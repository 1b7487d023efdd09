"""Define WEAT (Caliskan et al. 2017) as a metric with an association and a profile, which determines d and p."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.catalogue.test import Test
from weatherglass.errors import UnitError, WeatherglassError, ZeroVectorError
from weatherglass.metrics.base import (
    ByElements,
    Context,
    ElementScore,
    Estimate,
    Metric,
    MetricInfo,
    Shape,
    exactly,
)
from weatherglass.metrics.exchange import Exchange, Tested
from weatherglass.metrics.sets import VectorSet, mean_by_unit, name_zero_vector, too_small, unit_numbers
from weatherglass.metrics.weat.association import SIMILARITIES, STATISTICS, Association, select_associations
from weatherglass.metrics.weat.contexts import CombinedDraws, InContexts, have_contexts
from weatherglass.metrics.weat.profiles import profile_of
from weatherglass.metrics.weat.scores import effect_size
from weatherglass.metrics.weat.tables import (
    Tables,
    attribute_tables,
    element_scores,
    named_sample,
    scores_without_templates,
    tables_of,
    unit_scores,
)
from weatherglass.registry import Registry, suggestion

if TYPE_CHECKING:
    from weatherglass.stats import Significance
    from weatherglass.stats.robustness import Assessment


@dataclass(frozen=True, slots=True, eq=False)
class ScoreResample:
    """The Resample of WEAT, which uses the stored measures."""

    exchange: Exchange
    association: Association
    sets: Sequence[VectorSet]
    tables: Tables
    permute: str
    flipped: bool
    """Whether d is negative, although |d| is reported."""
    contexts: InContexts | None = None
    """The vectors of words in their contexts, if there are any."""

    def assess(self, tested: Tested) -> Assessment:
        """Return d for fixed and random attributes, its leave-one-out values and its null distribution."""
        from weatherglass.stats.robustness import assess

        named = named_sample(self.tables, self.association, self.permute, self.exchange.ddof)
        if self.contexts:
            elements = [(s.role, e.word) for s in self.sets[:2] for e in s.elements]
            noise = dict(zip(elements, self.contexts.noise().tolist(), strict=True))
            units = [(role, word) for role, own in zip("XY", named.units, strict=False) for word in own]
            named = replace(named, of_contexts=np.array([noise[unit] for unit in units]))
        words = [tuple(dict.fromkeys(e.word for e in targets.elements)) for targets in self.sets[:2]]
        by_words = self.permute == "words" and all(words)

        def test(x: Vector, y: Vector, rough: bool) -> Significance:
            return tested.significance_of(replace(self.exchange, x=x, y=y), rough)

        found = assess(named, tested, test, tuple(scores_without_templates(self.tables, named)))
        found = replace(found, tables=attribute_tables(named, *words) if by_words else None)
        return found.flipped() if self.flipped else found


COSINE_MEAN = Association("cosine", "mean")

INFO = MetricInfo(
    shape=Shape(exactly(2), exactly(2)),
    bounds=(-2.0, 2.0),  # with X and Y of one size; a little more where they differ
    exchanges="targets",
    contrasts="both",
    poolable=True,
    from_scores=True,
    symbol="d",
    quantity="effect size d",
    unit="standard deviations",
    decimals=2,
    negligible=0.2,  # what Cohen calls small
    summary="difference between X and Y in how much they lean to A rather than B, in standard deviations",
    direction="above 0: X nearer to A, Y to B",
    source="Caliskan et al. 2017",
)


@dataclass(frozen=True, slots=True, order=True)
class Weat:
    """The Word Embedding Association Test, which tests whether X leans to A, and Y to B, more than with exchanged
    labels.

    >>> Weat(Association("euclidean", "median")).name
    'euclidean/median'
    >>> Weat(profile="wefe").name
    'weat(cosine/mean, profile=wefe)'
    """

    association: Association = COSINE_MEAN
    """The measure of a word's association with A and B."""
    profile: str = ""
    """The profile that defines standard deviation, alternative and p (docs/methods 9); empty for the default."""
    name: str = field(init=False, compare=False, repr=False)
    """`similarity/statistic`, the short spelling of `weat(similarity/statistic)`."""
    info: MetricInfo = field(init=False, compare=False, repr=False)
    """The MetricInfo of WEAT with this association."""

    def __post_init__(self) -> None:
        association = self.association
        spelling = f"weat({association}, profile={self.profile})" if self.profile else str(association)
        info = replace(
            INFO,
            signed=STATISTICS.get(association.statistic).signed,
            covariances=SIMILARITIES.get(association.similarity).whitened,
            # Resampling the mean is a few matrix products; the other statistics take minutes.
            cheap_to_resample=association.statistic == "mean",
        )
        object.__setattr__(self, "name", spelling)
        object.__setattr__(self, "info", info)

    @property
    def registered(self) -> tuple[tuple[Registry[Any], str], ...]:
        """Return the registries and names that another process needs to compute this metric."""
        association = self.association
        return (SIMILARITIES, association.similarity), (STATISTICS, association.statistic)

    def __str__(self) -> str:
        return self.name

    def texts(self, test: Test) -> tuple[str, ...]:
        """Return no texts, since only the four sets are needed."""
        del test
        return ()

    def evaluate(self, sets: Sequence[VectorSet], context: Context) -> Estimate:
        """Compute d, S and s(w, A, B) of every element of X and Y."""
        for element_set in sets:
            # A set must not be reduced to a single word because the model does not know the others.
            least = 2 if element_set.role in ("X", "Y") or element_set.unknown else 1
            if len(element_set.vectors) < least:
                raise too_small(element_set, least)
        x_set, y_set, a_set, b_set = sets
        tables = self._tables(sets, context)
        similarity = SIMILARITIES.get(self.association.similarity)
        statistic = STATISTICS.get(self.association.statistic)
        to_a, to_b = (np.sort(table, axis=1) for table in (tables.to_a, tables.to_b))
        scores = statistic.association(to_a, to_b, similarity.orientation)
        x, y = np.split(scores[tables.given], [len(x_set.vectors)])
        elements = exchange = self._exchange(x, y, context.ddof)
        if context.permute == "words":
            in_sentences = any(len({e.word for e in s.elements}) < len(s.elements) for s in sets)
            if in_sentences:
                named = named_sample(tables, self.association, context.permute, exchange.ddof)
                x, y = np.split(element_scores(named.sample)[tables.given], [len(x_set.vectors)])
                units = unit_scores(named.sample)
                by_word = units[: named.n_x], units[named.n_x :]
            else:  # in order of first appearance
                units_x, units_y = (unit_numbers([e.word for e in s.elements]) for s in (x_set, y_set))
                by_word = mean_by_unit(x, units_x), mean_by_unit(y, units_y)
            exchange = self._exchange(*by_word, context.ddof)
        whitened = similarity.whitened
        contexts = InContexts(sets, self.association, exchange.ddof) if have_contexts(sets) else None
        if self.profile and profile_of(self.profile).combines_draws:
            return self._combined(sets, elements, contexts)
        contexts = None if whitened else contexts
        # If only attribute words have several sentences, scores differ, although their number is the same.
        apart = not (np.array_equal(exchange.x, elements.x) and np.array_equal(exchange.y, elements.y))
        value = exchange.effect_size(exchange.x, exchange.y)
        signed = effect_size(exchange.x, exchange.y, exchange.ddof) if self.profile else math.nan
        return Estimate(
            info=self.info,
            value=value,
            signed_value=None if math.isnan(signed) else signed,
            test_statistic=math.fsum(exchange.x) - math.fsum(exchange.y),
            ddof=exchange.ddof,
            target_sizes=(len(x_set.vectors), len(y_set.vectors)),
            attribute_sizes=(len(a_set.vectors), len(b_set.vectors)),
            scores=tuple(
                ElementScore(s.role, element.text, element.word, element.template, score)
                for s, own in ((x_set, x), (y_set, y))
                for element, score in zip(s.elements, own.tolist(), strict=True)
            ),
            null=exchange,
            by_elements=ByElements(elements.effect_size(elements.x, elements.y), elements) if apart else None,
            resample=ScoreResample(
                exchange,
                self.association,
                sets,
                tables,
                context.permute,
                flipped=signed < 0 < value,
                contexts=contexts
                if similarity.orientation and self.association.statistic == "mean"
                else None,
            ),
            details={"contexts": contexts.describe()} if contexts else {},
        )

    def _combined(
        self, sets: Sequence[VectorSet], exchange: Exchange, contexts: InContexts | None
    ) -> Estimate:
        """Compute the combined effect size of draws of one context per word, as a profile does.

        Raises:
            UnitError: if the words have no contexts.
        """
        if contexts is None or SIMILARITIES.get(self.association.similarity).whitened:
            raise UnitError(
                f"profile '{self.profile}' combines single contexts of each word, which needs --contexts CORPUS and a "
                "similarity without covariances"
            )
        combined = contexts.combined()
        sizes = len(sets[0].vectors), len(sets[1].vectors)
        return Estimate(
            info=self.info,
            value=combined.effect_size,
            test_statistic=math.fsum(exchange.x) - math.fsum(exchange.y),
            ddof=exchange.ddof,
            target_sizes=sizes,
            attribute_sizes=(len(sets[2].vectors), len(sets[3].vectors)),
            null=CombinedDraws(combined, sizes, self.profile),
            details={"combined": asdict(combined)},
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
        )

    def _tables(self, sets: Sequence[VectorSet], context: Context) -> Tables:
        """Return the raw measures, which are computed once for all metrics with the same similarity."""
        similarity = self.association.similarity
        shared = context.shared
        if ("tables", similarity) not in shared:
            try:
                shared["tables", similarity] = tables_of(sets, similarity, context.covariances)
            except ZeroVectorError:
                raise UnitError(name_zero_vector(sets)) from None
        tables: Tables = shared["tables", similarity]
        return tables


def weat(arguments: Sequence[str], named: Mapping[str, str]) -> list[Weat]:
    """Return the metrics written as `weat(cosine/mean, profile=wefe)`; cosine/mean if there is no argument.

    Raises:
        UnknownNameError: for an unknown association or profile.
        WeatherglassError: for an unknown parameter.
    """
    for name in named:
        if name != "profile":
            raise WeatherglassError(f"weat has no parameter '{name}'{suggestion(name, ['profile'])}")
    profile = profile_of(named["profile"]).name if "profile" in named else ""
    associations = select_associations(arguments) if arguments else [Association()]
    return [Weat(association, profile) for association in associations]


def under_profile(metrics: Iterable[Metric], profile: str) -> list[Metric]:
    """Return the metrics of WEAT with this profile, unless they name another profile.

    Raises:
        WeatherglassError: if a metric has no profiles.
    """
    chosen = profile_of(profile).name
    changed: list[Metric] = []
    for metric in metrics:
        if not isinstance(metric, Weat):
            raise WeatherglassError(f"profile '{chosen}' is for WEAT; {metric.name} has no profiles")
        changed.append(metric if metric.profile else replace(metric, profile=chosen))
    return changed
