"""Compare groups of names, or variants of the same passage that a data set gives, by topic and overall (docs/methods
15).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any, Self

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.ranking.scores import Scores
from weatherglass.stats.pairs import Share, flip_test, share_interval, share_of
from weatherglass.stats.selection import (
    ImpactRatio,
    Standing,
    impact_ratios,
    p_of_copies,
    rate_of_names,
    standing_among_copies,
)
from weatherglass.stats.win_rate import (
    RankedContexts,
    WinRate,
    at_equal_pieces,
    averaged,
    deciding_names,
    interaction,
    pairwise,
    placebo,
    placements,
    win_rate,
)

OVERALL = "all"
"""The topic of a comparison over all contexts."""
REST = "the rest"
"""The second group of a comparison with all other names."""
NAMES, QUERIES = "name", "query"
"""Units of inference: names fill a slot of the passages; queries have passages in given variants."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupComparison:
    """Two groups of names in the contexts of one topic, or in all contexts."""

    model: str
    topic: str
    """`OVERALL` for all contexts."""
    x: str
    y: str
    """The other group; `REST` for all other names."""
    names_x: int
    names_y: int
    queries: int
    contexts: int
    win_rate: float
    """The share of comparisons in which a name of X outranks one of Y in the same context; 0.5 means no preference."""
    ci_low: float | None
    """The ends of the interval for the given contexts; None if all names tie."""
    ci_high: float | None
    p: float
    """The exact p from exchanging group labels over names, for the given contexts."""
    p_method: str
    ci_low_random: float | None
    """The ends of the interval for random contexts; None if there is only one query."""
    ci_high_random: float | None
    p_random: float | None
    passages: str
    """nested, crossed or fixed, which determines whether the result for random contexts generalises over passages."""
    effect_size: float | None
    """The difference of the mean ranks in standard deviations over names; None if all names tie."""
    places: float
    """The median over contexts of the difference between the groups' mean ranks, in places."""
    selected_x: float
    """The selection rate of X, which is the share of its copies among the top of each query's pool."""
    selected_y: float
    exposure_x: float
    """The mean of 1 / log₂(1 + rank) over the copies of X."""
    exposure_y: float
    impact_ratio: float | None
    """The selection rate of the less selected group divided by that of the other; None for a comparison with the
    rest.
    """
    impact_ratio_low: float | None
    impact_ratio_high: float | None
    four_fifths: str
    """The verdict under the four-fifths rule: fails, not decided or passes; empty if there is no impact ratio."""
    p_copies: float | None
    """The p of a chi-square test that counts every copy as an independent candidate, which rejects far too often."""
    pieces_x: float | None
    """The mean number of tokens of the names of X; None if the tokenizer is unknown."""
    pieces_y: float | None
    win_rate_pieces: float | None
    """The win rate adjusted for the number of tokens; None if that number does not vary."""
    p_pieces: float | None
    win_rate_matched: float | None
    """The win rate over pairs of names with the same number of tokens."""
    placebo: float | None
    """The |win rate − 0.5| that 95 % of random splits of one group stay below; only for all contexts."""
    differing_slots: tuple[str, ...] = ()
    """Slots besides the name that differ between the groups, such as pronouns; p does not account for them."""
    unit: str = NAMES
    """The unit of inference, name or query; for given variants, the queries are the units."""
    difference: float | None = None
    """The mean over queries of the similarity of X minus that of Y; only for given variants."""
    p_difference: float | None = None
    """The p of this mean, from exchanging the two variants within queries."""
    deciding: tuple[str, ...] = ()
    """Names or queries; removing any one of them raises p above alpha."""
    without_topic_low: float | None = None
    """The smallest leave-one-topic-out win rate; only over all contexts of several topics."""
    without_topic_high: float | None = None
    p_adjusted: float | None = None
    p_both_adjusted: float | None = None
    """The larger of p and p_random, after correction."""
    outcome: str = ""
    limit: str = ""
    """The reasons why the outcome is not robust: contexts or one name."""

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Self:
        """Return the comparison from a record made with `asdict`."""
        tuples = {name: tuple(record[name]) for name in ("deciding", "differing_slots")}
        return cls(**{**record, **tuples})


COLUMNS = tuple(each.name for each in fields(GroupComparison))


@dataclass(frozen=True, slots=True)
class Interaction:
    """The interaction of two factors: whether the difference between two groups is larger within one level of another
    factor.
    """

    model: str
    contrast: str
    value: float
    """The difference in differences of the mean ranks, as a share of the number of names."""
    ci_low: float
    ci_high: float
    p: float


def compare_groups(scores: Scores, model: str, top: float, alpha: float = 0.05) -> list[GroupComparison]:
    """Return every comparison, over all contexts and by topic: all pairs of groups and, for three or more groups, each
    with the rest.

    With several topics, random contexts are drawn by topic, since the queries of a topic share their passages.

    Args:
        scores: the scores of all copies.
        model: the name of the model.
        top: the selection: a share of each query's pool if it is below 1, otherwise a number of places.
        alpha: the significance level; intervals have the level 1 − alpha.
    """
    several = len(scores.topics) > 1
    found = []
    for topic in (OVERALL, *(scores.topics if several else ())):
        columns = np.arange(len(scores.topic))
        if topic != OVERALL:
            columns = np.flatnonzero(scores.topic == scores.topics.index(topic))
        unit = scores.topic if several and topic == OVERALL else scores.query
        part = _Part(scores, columns, RankedContexts(unit[columns], scores.passage[columns]), top, alpha)
        found += [part.compared(model, topic, x, y) for x, y in compared_groups(len(scores.groups))]
    return found


def compared_groups(groups: int) -> Iterator[tuple[int, int | None]]:
    """Yield the numbers of the groups to compare: all pairs and, for three or more groups, each with the rest
    (None).
    """
    yield from combinations(range(groups), 2)
    if groups > 2:
        yield from ((group, None) for group in range(groups))


class _Part:
    """The contexts of one topic or of all topics, with the ranks of their copies."""

    def __init__(
        self, scores: Scores, columns: Integers, contexts: RankedContexts, top: float, alpha: float
    ) -> None:
        self.scores, self.contexts, self.alpha = scores, contexts, alpha
        self.values = scores.values[:, columns]
        self.queries = scores.query[columns]
        standing = _standing(scores, self.values, self.queries, columns)
        self.chosen = standing.selected(top)
        self.rates = rate_of_names(self.chosen, self.queries)
        self.exposure = rate_of_names(standing.exposure(), self.queries)

    def compared(self, model: str, topic: str, x: int, y: int | None) -> GroupComparison:
        scores, groups = self.scores, self.scores.groups
        in_x = np.flatnonzero(scores.group == x)
        in_y = np.flatnonzero(scores.group != x if y is None else scores.group == y)
        rows, n_x = np.concatenate([in_x, in_y]), len(in_x)
        values = self.values[rows]
        found = win_rate(values, n_x, self.contexts, self.alpha)
        wins, spread = pairwise(values), float(found.by_name.std(ddof=1))
        ratio = None if y is None else self._impact(in_x, in_y)
        labels = np.repeat([0, 1], [n_x, len(in_y)])
        names = [name for group in groups for name in group.names]
        deciding: list[int] = []
        if found.significance.p_value <= self.alpha:
            deciding = deciding_names(wins, n_x, self.alpha)
        return GroupComparison(
            model=model,
            topic=topic,
            x=groups[x].name,
            y=REST if y is None else groups[y].name,
            names_x=n_x,
            names_y=len(in_y),
            queries=len(np.unique(self.queries)),
            contexts=values.shape[1],
            **_readings(found),
            effect_size=(found.value - 0.5) / spread if spread > 0 else None,
            selected_x=float(self.rates[in_x].mean()),
            selected_y=float(self.rates[in_y].mean()),
            exposure_x=float(self.exposure[in_x].mean()),
            exposure_y=float(self.exposure[in_y].mean()),
            impact_ratio=ratio.ratio if ratio else None,
            impact_ratio_low=ratio.low if ratio else None,
            impact_ratio_high=ratio.high if ratio else None,
            four_fifths=str(ratio.rule or "") if ratio else "",
            p_copies=p_of_copies(self.chosen[rows], labels),
            **self._pieces(found, wins, rows, n_x),
            placebo=placebo(wins, n_x) if topic == OVERALL else None,
            differing_slots=self._differing_slots(x, y),
            **(self._without_topics(found) if topic == OVERALL else {}),
            deciding=tuple(names[rows[place]] for place in deciding),
        )

    def _without_topics(self, found: WinRate) -> dict[str, Any]:
        """Return the smallest and largest leave-one-topic-out win rates; empty if there is only one topic."""
        topics = self.scores.topic
        if len(self.scores.topics) < 2:
            return {}
        rates = [float(found.by_context[topics != topic].mean()) for topic in np.unique(topics)]
        return {"without_topic_low": min(rates), "without_topic_high": max(rates)}

    def _differing_slots(self, x: int, y: int | None) -> tuple[str, ...]:
        """Return the slots of the passages that are filled differently for X and for Y, or for any other group."""
        groups = self.scores.groups
        others = [groups[y]] if y is not None else [group for group in groups if group is not groups[x]]
        slots = sorted(self.scores.slots)
        return tuple(s for s in slots if any(groups[x].word(s) != other.word(s) for other in others))

    def _impact(self, in_x: Integers, in_y: Integers) -> ImpactRatio:
        """Return the impact ratio of the less selected of two groups, at a level that accounts for all pairs of
        groups.
        """
        groups = len(self.scores.groups)
        pairs = groups * (groups - 1) // 2
        ratios = impact_ratios([self.rates[in_x], self.rates[in_y]], self.alpha / pairs)
        return next((one for one in ratios if one.rule is not None), ratios[0])

    def _pieces(self, found: WinRate, wins: Matrix, rows: Integers, n_x: int) -> dict[str, Any]:
        """Return the mean number of tokens of both groups, and the win rate adjusted for the number of tokens."""
        if self.scores.pieces is None:
            names = ("pieces_x", "pieces_y", "win_rate_pieces", "p_pieces", "win_rate_matched")
            return dict.fromkeys(names)
        pieces: Vector = self.scores.pieces[rows]
        beside = at_equal_pieces(found.by_name, wins, n_x, pieces, self.alpha)
        return {
            "pieces_x": float(pieces[:n_x].mean()),
            "pieces_y": float(pieces[n_x:].mean()),
            "win_rate_pieces": beside.win_rate if beside else None,
            "p_pieces": beside.p if beside else None,
            "win_rate_matched": beside.matched if beside else None,
        }


def _standing(scores: Scores, values: Matrix, queries: Integers, columns: Integers) -> Standing:
    """Return the ranks of copies among the background if there is one, and otherwise among the copies of their
    query.
    """
    if scores.background is None:
        return standing_among_copies(values, queries)
    whole = scores.background
    return Standing(whole.above[:, columns], whole.tied[:, columns], whole.pool[columns])


def _readings(found: WinRate) -> dict[str, Any]:
    """Return the win rate for the given contexts and for random contexts, as fields of a comparison."""
    fixed, random = found.interval, found.random
    return {
        "win_rate": found.value,
        "ci_low": fixed.low if fixed else None,
        "ci_high": fixed.high if fixed else None,
        "p": found.significance.p_value,
        "p_method": found.significance.p_method,
        "ci_low_random": random.interval.low if random else None,
        "ci_high_random": random.interval.high if random else None,
        "p_random": random.p if random else None,
        "passages": random.passages if random else "fixed",
        "places": found.places,
    }


def interaction_of(scores: Scores, model: str, alpha: float = 0.05) -> Interaction | None:
    """Return the interaction in a 2 × 2 design; None if the groups do not form one, or no group varies."""
    factors = [group.factors for group in scores.groups]
    if len(factors) != 4 or any(len(levels) != 2 for levels in factors):
        return None
    first, second = (list(dict.fromkeys(levels)) for levels in zip(*factors, strict=True))
    if sorted(factors) != sorted((one, other) for one in first for other in second) or len(first) != 2:
        return None
    ranks = placements(scores.values, scores.values).mean(axis=1)
    order: Sequence[int] = [factors.index((one, other)) for one in first for other in second]
    found = interaction([ranks[scores.group == group] for group in order], alpha)
    if found is None:
        return None
    contrast = f"({second[0]} − {second[1]}) of {first[0]} − ({second[0]} − {second[1]}) of {first[1]}"
    return Interaction(model, contrast, found.value, found.interval.low, found.interval.high, found.p)


@dataclass(frozen=True, slots=True)
class RankedQuery:
    """The mean similarity of a query to its passages in each variant."""

    model: str
    topic: str
    query: str
    similarity: dict[str, float]
    """By variant."""


def compare_variants(scores: Scores, model: str, top: float, alpha: float = 0.05) -> list[GroupComparison]:
    """Return the comparison of every two variants, over all queries and by topic.

    Nobody drew names here, so the query is the unit of inference: p is computed by exchanging the labels of two
    variants within queries.

    Args:
        scores: a row per variant and a column per passage.
        model: the name of the model.
        top: what is selected: below 1 a share of each query's pool, else a number of places.
        alpha: intervals are at level 1 − alpha.
    """
    found = []
    for topic in (OVERALL, *(scores.topics if len(scores.topics) > 1 else ())):
        columns = np.arange(len(scores.topic))
        if topic != OVERALL:
            columns = np.flatnonzero(scores.topic == scores.topics.index(topic))
        values, queries = scores.values[:, columns], scores.query[columns]
        standing = standing_among_copies(values, queries)
        rates = rate_of_names(standing.selected(top), queries), rate_of_names(standing.exposure(), queries)
        for x, y in combinations(range(len(values)), 2):
            names = scores.groups[x].name, scores.groups[y].name
            asked, unit = np.unique(queries, return_inverse=True)
            one = _compared(
                model, topic, names, (values[x], values[y], unit), [r[[x, y]] for r in rates], alpha
            )
            deciding = tuple(scores.units[asked[int(place)]] for place in one.deciding)
            found.append(replace(one, deciding=deciding))
    return found


def _compared(
    model: str,
    topic: str,
    names: tuple[str, str],
    pair: tuple[Vector, Vector, Integers],
    rates: Sequence[Vector],
    alpha: float,
) -> GroupComparison:
    """Return one comparison, with queries as units: each counts once, with any number of passages."""
    x, y, units = pair
    share = share_of(x, y, units, over_units=True)
    differences = averaged(x - y, units)
    p, interval = _p(share.scores), None
    if share.leads.any():
        interval = share_interval(share, p, alpha)
    low, high = (None, None) if interval is None else (interval[0] / 100, interval[1] / 100)
    spread = float(differences.std(ddof=1)) if len(differences) > 1 else 0.0
    (selected_x, selected_y), (exposure_x, exposure_y) = (rate.tolist() for rate in rates)
    return GroupComparison(
        model=model,
        topic=topic,
        x=names[0],
        y=names[1],
        unit=QUERIES,
        names_x=1,
        names_y=1,
        queries=len(differences),
        contexts=len(x),
        win_rate=share.value / 100,
        ci_low=low,
        ci_high=high,
        p=p,
        p_method="sign flips",
        ci_low_random=low,
        ci_high_random=high,
        p_random=p if len(differences) > 1 else None,
        passages="fixed",
        effect_size=float(differences.mean()) / spread if spread > 0 else None,
        places=float(np.median(share.scores)),
        selected_x=selected_x,
        selected_y=selected_y,
        exposure_x=exposure_x,
        exposure_y=exposure_y,
        impact_ratio=None,
        impact_ratio_low=None,
        impact_ratio_high=None,
        four_fifths="",
        p_copies=None,
        pieces_x=None,
        pieces_y=None,
        win_rate_pieces=None,
        p_pieces=None,
        win_rate_matched=None,
        placebo=None,
        difference=float(differences.mean()),
        p_difference=_p(differences),
        deciding=tuple(str(unit) for unit in _deciding(share, p, alpha)),
    )


def _p(scores: Vector) -> float:
    return flip_test(scores, "two-sided", np.random.default_rng(0)).p_value


def _deciding(share: Share, p: float, alpha: float) -> list[int]:
    """Return the units of which removing any one raises p above alpha; empty if p is above alpha with all of them."""
    if p > alpha or len(share.leads) < 2:
        return []
    without: dict[tuple[int, int], float] = {}  # units with the same counts have the same p without them
    found = []
    for unit, counts in enumerate(zip(share.leads.tolist(), share.sizes.tolist(), strict=True)):
        if counts not in without:
            without[counts] = _p(share.without(unit).scores)
        if without[counts] > alpha:
            found.append(unit)
    return found


def ranked_queries(scores: Scores, model: str) -> list[RankedQuery]:
    """Return each query with the mean similarity of each variant of its passages."""
    names = [group.name for group in scores.groups]
    means: Matrix = averaged(scores.values, scores.query)
    first = np.unique(scores.query, return_index=True)[1]
    return [
        RankedQuery(model, scores.topics[topic], query, dict(zip(names, column, strict=True)))
        for query, topic, column in zip(scores.units, scores.topic[first], means.T.tolist(), strict=True)
    ]
