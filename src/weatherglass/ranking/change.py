"""Compare two ranking audits of the same texts and names, and test how the preference between groups changed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.audit.shown import Shown
from weatherglass.errors import WeatherglassError
from weatherglass.ranking.compare import OVERALL, RankedQuery
from weatherglass.ranking.ranking import RankedName, Ranking
from weatherglass.ranking.texts import FEWEST
from weatherglass.stats.interval import upper_point
from weatherglass.stats.multiplicity import adjust
from weatherglass.stats.pairs import flip_test
from weatherglass.stats.win_rate import EVEN, exchange_p


@dataclass(frozen=True, slots=True)
class RankChange:
    """The change of the difference between the mean ranks of two groups.

    With two groups, the difference is the win rate minus 0.5; with more, names are ranked among all groups. For given
    variants, it is the share of queries to which the first variant is nearer, minus 0.5.
    """

    models: tuple[str, str]
    topic: str
    x: str
    y: str
    before: float
    after: float
    low: float
    """The lower end of the interval of the change, which excludes 0 if and only if p is at most alpha."""
    high: float
    p: float
    """The p from exchanging group labels over names, using each name's change of mean rank; for variants, from sign
    flips over queries.
    """
    p_adjusted: float = 1.0
    """The p after Holm's correction: over all changes over all topics, or over all changes by topic."""

    @property
    def model(self) -> str:
        """Return the later model."""
        return self.models[1]

    @property
    def change(self) -> float:
        """Return the difference after minus the difference before."""
        return self.after - self.before

    def grew(self, alpha: float) -> bool:
        """Return whether the difference is farther from 0 than before, and the change is significant."""
        return abs(self.after) > abs(self.before) and self.p_adjusted <= alpha


@dataclass(frozen=True, slots=True, repr=False)
class RankingComparison(Shown):
    """The comparison of two ranking audits, or of the models of one."""

    kind: ClassVar[str] = "RankingComparisonView"
    changes: tuple[RankChange, ...]
    """The changes over all topics, followed by the changes by topic."""
    alpha: float

    @property
    def overall(self) -> tuple[RankChange, ...]:
        """Return the changes over all topics."""
        return tuple(one for one in self.changes if one.topic == OVERALL)

    @property
    def worse(self) -> tuple[RankChange, ...]:
        """Return the differences over all topics that grew significantly after correction."""
        return tuple(one for one in self.overall if one.grew(self.alpha))

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "alpha": self.alpha,
            "changes": [
                {**asdict(one), "change": one.change, "worse": one.grew(self.alpha)} for one in self.changes
            ],
        }


def compare_rankings(before: Ranking, after: Ranking, alpha: float = 0.05) -> RankingComparison:
    """Return the change for every pair of groups, with paired names that both models know.

    If each audit has one model, the two are compared whatever their names; otherwise models with the same name are
    compared.

    Raises:
        WeatherglassError: if the audits have different texts or names, or no model in common.
    """
    if texts_of_record(before) != texts_of_record(after):
        raise WeatherglassError(
            "the two audits have different queries, passages or names, so they cannot be compared"
        )
    earlier, later = _models(before), _models(after)
    pairs = [(model, model) for model in later if model in earlier]
    if len(earlier) == len(later) == 1:
        pairs = [(earlier[0], later[0])]
    if not pairs:
        raise WeatherglassError(f"the two audits have no model in common (before: {', '.join(earlier)})")
    return _compared([(before, after, models) for models in pairs], alpha)


def compare_ranked_models(ranking: Ranking, alpha: float = 0.05) -> RankingComparison:
    """Return the changes from the first model of an audit to every other.

    Raises:
        WeatherglassError: if the audit has only one model.
    """
    first, *others = _models(ranking)
    if not others:
        raise WeatherglassError("this audit has only one model; name another audit to compare it with")
    return _compared([(ranking, ranking, (first, other)) for other in others], alpha)


def texts_of_record(ranking: Ranking) -> str | None:
    """Return the hash of what an audit asked: its texts and names, or the queries, passages and names of a table of
    scores.
    """
    materials = ranking.record.get("materials", {})
    found: str | None = materials.get("contexts_sha256") or materials.get("sha256")
    return found


def _models(ranking: Ranking) -> list[str]:
    return list(dict.fromkeys(one.model for one in ranking.comparisons))


def _compared(pairs: Sequence[tuple[Ranking, Ranking, tuple[str, str]]], alpha: float) -> RankingComparison:
    found = [change for before, after, models in pairs for change in _changes(before, after, models, alpha)]
    parts = []
    for overall in (True, False):
        part = [one for one in found if (one.topic == OVERALL) is overall]
        adjusted = adjust([one.p for one in part], "holm") if part else ()
        parts += [replace(one, p_adjusted=float(p)) for one, p in zip(part, adjusted, strict=True)]
    return RankingComparison(tuple(parts), alpha)


def _changes(before: Ranking, after: Ranking, models: tuple[str, str], alpha: float) -> Iterator[RankChange]:
    """Yield the changes between two models, over all topics and, if there are several, by topic."""
    sides = list(zip((before, after), models, strict=True))
    names = [{one.name: one for one in side.names if one.model == model} for side, model in sides]
    queries = [
        {(one.topic, one.query): one for one in side.queries if one.model == model} for side, model in sides
    ]
    if queries[1]:
        yield from _changes_of_variants(queries[0], queries[1], models, alpha)
    else:
        yield from _changes_of_names(names[0], names[1], models, alpha)


def _changes_of_names(
    before: Mapping[str, RankedName], after: Mapping[str, RankedName], models: tuple[str, str], alpha: float
) -> Iterator[RankChange]:
    groups: dict[str, list[str]] = {}
    for name, one in after.items():
        if name in before:
            groups.setdefault(one.group, []).append(name)
    usable = [group for group, names in groups.items() if len(names) >= FEWEST]
    topics = [
        topic for topic in _topics(after) if topic in _topics(before)
    ]  # audits of earlier versions have no ranks by topic
    for topic in (OVERALL, *topics):
        for x, y in combinations(usable, 2):
            names, n_x, n_y = [*groups[x], *groups[y]], len(groups[x]), len(groups[y])
            old, new = (np.array([side[name].rank_on(topic) for name in names]) for side in (before, after))
            was, now = (float(ranks[:n_x].mean() - ranks[n_x:].mean()) for ranks in (old, new))
            moved = new - old
            p = exchange_p(moved, n_x).p_value
            at_zero = float(moved.var(ddof=1)) * (1 / n_x + 1 / n_y)
            ends = _interval(now - was, p, at_zero, n_x + n_y - 2, alpha)
            yield RankChange(models, topic, x, y, was, now, *ends, p)


def _changes_of_variants(
    before: Mapping[tuple[str, str], RankedQuery],
    after: Mapping[tuple[str, str], RankedQuery],
    models: tuple[str, str],
    alpha: float,
) -> Iterator[RankChange]:
    """Yield the changes with queries as units; a query counts for the variant that is nearer on average."""
    topics = dict.fromkeys(topic for topic, _ in after)
    for topic in (OVERALL, *(topics if len(topics) > 1 else ())):
        asked = [key for key in after if key in before and topic in (OVERALL, key[0])]
        for x, y in combinations(next(iter(after.values())).similarity, 2):
            old, new = (_leads([side[key] for key in asked], x, y) for side in (before, after))
            moved, was, now = new - old, float(old.mean()), float(new.mean())
            p = flip_test(2 * moved, "two-sided", np.random.default_rng(0)).p_value
            at_zero = float((moved**2).mean()) / len(moved)
            ends = _interval(now - was, p, at_zero, max(1, len(moved) - 1), alpha)
            yield RankChange(models, topic, x, y, was, now, *ends, p)


def _topics(names: Mapping[str, RankedName]) -> Sequence[str]:
    return list(next(iter(names.values())).by_topic) if names else []


def _leads(queries: Sequence[RankedQuery], x: str, y: str) -> Vector:
    """Return ½ for queries to which X is nearer on average, −½ for those to which Y is, and 0 for ties."""
    return np.sign([one.similarity[x] - one.similarity[y] for one in queries]) / 2


def _interval(change: float, p: float, at_zero: float, df: int, alpha: float) -> tuple[float, float]:
    """Return the interval of a change that agrees with its exact p, as for win rates."""
    variance = at_zero if p > EVEN else (change / float(upper_point(p / 2, df))) ** 2
    half = float(upper_point(alpha / 2, df)) * math.sqrt(variance)
    return change - half, change + half
