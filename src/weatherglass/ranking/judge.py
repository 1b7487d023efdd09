"""Judge comparisons of a ranking audit: adjust p over topics and pairs of groups, and determine outcomes (docs/methods
15).

The outcomes are the same as for tests and topics (docs/methods 12). Comparisons over all contexts are one family, and
those by topic are another. Comparisons of a group with the rest repeat the results of the pairs, so they have their
own families.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weatherglass.ranking.compare import OVERALL, QUERIES, REST, GroupComparison
from weatherglass.stats import Outcome
from weatherglass.stats.multiplicity import adjust

CONTEXTS, ONE_NAME, ONE_QUERY, OTHER_SLOTS = "contexts", "one name", "one query", "other slots"
"""Limits of an outcome: other contexts may not show it, p is above alpha without one name or query, or the groups also
differ in pronouns or titles, which all names of a group share.
"""


def judge(
    comparisons: Sequence[GroupComparison], alpha: float = 0.05, smallest: float | None = None
) -> list[GroupComparison]:
    """Return the comparisons with adjusted p and outcome, in the order given.

    Args:
        comparisons: the comparisons of one or more models; each model is judged separately.
        alpha: the significance level of each family.
        smallest: the smallest |win rate − 0.5| of interest; without it, no outcome is small.
    """
    families: dict[tuple[str, bool, bool], list[int]] = {}
    for place, one in enumerate(comparisons):
        families.setdefault((one.model, one.topic == OVERALL, one.y == REST), []).append(place)
    judged = list(comparisons)
    # By topic first: what is over all depends on which topics are significant.
    for (_, overall, _), places in sorted(families.items(), key=lambda item: item[0][1]):
        rows = [comparisons[place] for place in places]
        p = adjust([row.p for row in rows], "holm")
        both = adjust([_both(row) for row in rows], "holm")
        for place, row, own, larger in zip(places, rows, map(float, p), map(float, both), strict=True):
            adjusted = replace(row, p_adjusted=own, p_both_adjusted=larger)
            signs = _marked_signs(row, judged, alpha) if overall else set()
            outcome, limit = _outcome(adjusted, signs, alpha, smallest)
            judged[place] = replace(adjusted, outcome=str(outcome), limit=limit)
    return judged


def _both(row: GroupComparison) -> float:
    """Return the larger p of fixed and random contexts; 1 if there is no result for random contexts."""
    return 1.0 if row.p_random is None else max(row.p, row.p_random)


def _marked_signs(row: GroupComparison, judged: Sequence[GroupComparison], alpha: float) -> set[bool]:
    """Return the directions of the topics that are significant after correction, for the same groups."""
    same = [
        one
        for one in judged
        if (one.model, one.x, one.y) == (row.model, row.x, row.y) and one.topic != OVERALL
    ]
    return {one.win_rate > 0.5 for one in same if one.p_adjusted is not None and one.p_adjusted <= alpha}


def _outcome(
    row: GroupComparison, marked: set[bool], alpha: float, smallest: float | None
) -> tuple[Outcome, str]:
    assert row.p_adjusted is not None
    assert row.p_both_adjusted is not None
    if row.p_adjusted <= alpha:
        if row.p_both_adjusted > alpha:
            return Outcome.LIMITED, CONTEXTS
        if row.differing_slots:
            return Outcome.LIMITED, OTHER_SLOTS
        if row.deciding:
            return Outcome.LIMITED, ONE_QUERY if row.unit == QUERIES else ONE_NAME
        return Outcome.ROBUST, ""
    if len(marked) == 2:
        return Outcome.CONFLICTING, ""
    if marked:
        return Outcome.ISOLATED, ""
    if row.p <= alpha:
        return Outcome.UNCONFIRMED, ""
    ends = (row.ci_low_random, row.ci_high_random)
    if smallest is not None and all(end is not None and abs(end - 0.5) < smallest for end in ends):
        return Outcome.SMALL, ""
    return Outcome.INCONCLUSIVE, ""
