"""Compare variants of the same passage that a data set gives, such as male and female ones (docs/methods 15).

Nobody drew names here, so the query is the unit of inference: p is computed by exchanging the labels of two variants
within queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.ranking.compare import OVERALL, QUERIES, GroupComparison
from weatherglass.ranking.scores import Scores
from weatherglass.stats.pairs import Share, flip_test, share_interval, share_of
from weatherglass.stats.selection import rate_of_names, standing_among_copies
from weatherglass.stats.win_rate import averaged


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
    """Return the units without any one of which p is above alpha; empty if p is above it with all of them."""
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
