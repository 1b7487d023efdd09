"""Show the comparison of two ranking audits in the terminal: a sentence, the changes over all topics and by topic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weatherglass.catalogue.names import model_names
from weatherglass.ranking.change import RankChange, RankingComparison
from weatherglass.ranking.compare import OVERALL
from weatherglass.report.layout import Bold, Column, table_lines, wrapped
from weatherglass.report.numbers import (
    effect,
    format_effect,
    format_interval,
    format_p,
    p_value,
    percent,
    to,
)
from weatherglass.report.ranking import WIDEST

CHANGED, MOST = "≠", 30
"""The mark of a change that is significant after correction, and the number of changes by topic that are printed."""


def change_lines(found: RankingComparison, width: int, every: bool = False) -> Iterator[str]:
    """Yield which differences grew, the changes over all topics, and the changes by topic, the largest first.

    Args:
        found: the comparison.
        width: the width of the terminal in columns.
        every: whether to print all changes by topic; by default, only the significant ones if there are many.
    """
    models = list(dict.fromkeys(found.changes[0].models)) if found.changes else []
    for line in wrapped(f"{' → '.join(model_names(models))}: {summary(found)}", min(width, WIDEST)):
        yield Bold(line)
    yield ""
    yield from _table(found, found.overall, "X", width)
    topics = sorted((one for one in found.changes if one.topic != OVERALL), key=lambda one: -abs(one.change))
    shown = [one for one in topics if every or len(topics) <= MOST or one.p_adjusted <= found.alpha]
    if shown:
        yield ""
        yield from _table(found, shown, "topic", width)
    if len(shown) < len(topics):
        yield f"{len(topics) - len(shown)} more changes by topic are not significant; add --table to list them"
    yield ""
    yield from wrapped(
        "before, after: the difference of mean ranks, X minus Y; with two groups, the win rate of X minus 0.5. "
        f"{CHANGED}: significant after Holm's correction over all pairs of groups and models; by topic, also over "
        "topics.",
        min(width, WIDEST),
    )


def summary(found: RankingComparison) -> str:
    """Return a sentence on which differences between groups grew."""
    grown = [
        f"{one.x} and {one.y} ({effect(one.before)} → {effect(one.after)}, change "
        f"{effect(one.change)}, {percent(1 - found.alpha)} CI {to(one.low, one.high)}, p = {p_value(one.p_adjusted)} "
        "after correction)"
        for one in found.worse
    ]
    if grown:
        return f"the difference grew between {'; '.join(grown)}."
    return (
        "no difference between groups grew significantly (pairs of groups that were compared: "
        f"{len(found.overall)})."
    )


def _table(found: RankingComparison, rows: Sequence[RankChange], heading: str, width: int) -> Iterator[str]:
    several = len({one.models for one in found.changes}) > 1
    pairs = len({(one.x, one.y) for one in found.changes}) > 1 or heading == "X"
    columns = [
        Column(""),
        *([Column("topic", shorten="middle", least=10)] if heading == "topic" else []),
        *([Column("model", shorten="front", least=10)] if several else []),
        *([Column("X", shorten="middle", least=8), Column("Y", shorten="middle", least=8)] if pairs else []),
        *(Column(name, right=True) for name in ("before", "after", "change")),
        Column(f"{percent(1 - found.alpha)} CI"),
        Column("adj. p", right=True),
    ]
    cells = [
        [
            CHANGED if one.p_adjusted <= found.alpha else " ",
            *([one.topic] if heading == "topic" else []),
            *([one.model] if several else []),
            *([one.x, one.y] if pairs else []),
            *(format_effect(number) for number in (one.before, one.after, one.change)),
            format_interval(one.low, one.high),
            format_p(one.p_adjusted),
        ]
        for one in rows
    ]
    yield from table_lines(columns, cells, width)
