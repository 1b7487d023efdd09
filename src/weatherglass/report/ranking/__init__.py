"""Show a ranking audit, or the comparison of two, in the terminal: a sentence and a row per topic."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weatherglass.audit.results import Outcome
from weatherglass.catalogue.names import model_names
from weatherglass.ranking.change import RankChange, RankingComparison
from weatherglass.ranking.compare import OVERALL, QUERIES, REST, GroupComparison
from weatherglass.ranking.ranking import ONE_NAME, ONE_QUERY, OTHER_SLOTS, Ranking
from weatherglass.report.layout import Bold, Column, Dim, table_lines, wrapped
from weatherglass.report.numbers import (
    counted,
    effect,
    format_effect,
    format_interval,
    format_p,
    p_value,
    percent,
    to,
)

WIDEST = 100
"""The width of the screen, in columns, at which nothing is cut, as in a pipe."""
CELLS = 21
"""The width of the axis from 0 to 1, in columns."""
MOST_TOPICS, MOST_NAMES = 3, 8
"""The number of topics and names that a sentence lists."""


def lines_of(ranking: Ranking, width: int, every: bool = False) -> Iterator[str]:
    """Yield the screen of a ranking audit, model by model.

    Args:
        ranking: the results.
        width: the width of the terminal in columns.
        every: whether to print the topics of every two groups, not only of those with the clearest difference.
    """
    width = min(width, WIDEST)
    models = list(dict.fromkeys(one.model for one in ranking.comparisons))
    for place, (model, label) in enumerate(zip(models, model_names(models), strict=True)):
        if place:
            yield ""
        yield from _model_lines(ranking, model, label, width, every)
    for failure in ranking.failures:
        yield f"failed: {failure['model']}: {failure['reason']}"


def _model_lines(ranking: Ranking, model: str, label: str, width: int, every: bool) -> Iterator[str]:
    rows = [one for one in ranking.comparisons if one.model == model]
    overall = [one for one in rows if one.topic == OVERALL]
    pairs = [one for one in overall if one.y != REST]
    first = headline(overall)
    for line in wrapped(f"{label}: {sentence(first, rows, ranking.alpha)}", width):
        yield Bold(line)
    if len(pairs) > 1:
        yield ""
        yield from _table([((one.x, one.y), one) for one in overall], ("X", "Y"), ranking.alpha, width)
    for pair in pairs if every else [first]:
        topics = [one for one in rows if one.topic != OVERALL and (one.x, one.y) == (pair.x, pair.y)]
        if topics:
            yield ""
            yield from wrapped(f"Win rate of {side(pair, pair.x)} (X) against {side(pair, pair.y)}", width)
            yield from _table(
                [((one.topic,), one) for one in _sorted(topics)], ("Topic",), ranking.alpha, width
            )
    yield ""
    for note in notes(ranking, first):
        yield from wrapped(note, width)


def headline(overall: Sequence[GroupComparison]) -> GroupComparison:
    """Return the comparison of two groups with the smallest p; pairs of groups come before comparisons with the rest.

    The order of given variants states which two are compared first.
    """
    if overall[0].unit == QUERIES:
        return overall[0]
    return min(overall, key=lambda one: (one.y == REST, one.p, -abs(one.win_rate - 0.5)))


def side(row: GroupComparison, group: str) -> str:
    """Return what a sentence calls the texts of a group: names of it, or its variants."""
    if group == REST:
        return group
    return f"{group} variants" if row.unit == QUERIES else f"names of {group}"


def _sorted(rows: Sequence[GroupComparison]) -> list[GroupComparison]:
    return sorted(rows, key=lambda one: -one.win_rate)


def _table(
    rows: Sequence[tuple[tuple[str, ...], GroupComparison]], headings: Sequence[str], alpha: float, width: int
) -> Iterator[str]:
    """Yield a row for each comparison, after the cells that name it."""
    columns = [
        Column(""),
        *(Column(heading, shorten="middle", least=10) for heading in headings),
        Column("wins", right=True),
        Column(f"{percent(1 - alpha)} CI"),
        Column(f"0{'½':^{CELLS - 2}}1", from_width=70),
        Column("corrected p", right=True, from_width=90),
        Column("outcome"),
    ]
    cells = [
        [
            Outcome(one.outcome).mark,
            *names,
            effect(one.win_rate),
            f"{effect(one.ci_low)} … {effect(one.ci_high)}",
            _drawn(one),
            format_p(one.p_adjusted),
            one.outcome,
        ]
        for names, one in rows
    ]
    head, *lines = table_lines(columns, cells, width)
    yield head
    for line, (_, one) in zip(lines, rows, strict=True):
        yield Dim(line) if one.outcome == Outcome.INCONCLUSIVE else line


def _drawn(row: GroupComparison) -> str:
    """Return the interval on an axis from 0 to 1, with the line at one half and the mark at the win rate."""
    line, middle = [" "] * CELLS, CELLS // 2
    line[middle] = "│"
    if row.ci_low is not None and row.ci_high is not None:
        low, high = (round(end * (CELLS - 1)) for end in (row.ci_low, row.ci_high))
        if row.ci_low >= 0.5:  # an interval that leaves out ½ is drawn beside its line
            low = max(low, middle + 1)
        if row.ci_high <= 0.5:
            high = min(high, middle - 1)
        line[low : high + 1] = "─" * (high + 1 - low)
        line[middle] = "┼" if low <= middle <= high else "│"
    line[round(row.win_rate * (CELLS - 1))] = Outcome(row.outcome).mark
    return "".join(line)


def sentence(row: GroupComparison, rows: Sequence[GroupComparison], alpha: float) -> str:
    """Return one or two sentences on what a comparison over all contexts shows.

    Args:
        row: the comparison.
        rows: all comparisons of its model; topics that differ are named.
        alpha: the significance level.
    """
    ahead = row.win_rate >= 0.5
    x, y = (side(row, group) for group in ((row.x, row.y) if ahead else (row.y, row.x)))
    share, low, high = row.win_rate, row.ci_low, row.ci_high
    if not ahead:
        share = 1 - share
        low, high = (None if end is None else 1 - end for end in (high, low))
    if low is None or high is None:
        both = f"{side(row, row.x)} and {side(row, row.y)}"
        return f"{both[0].upper()}{both[1:]} tie in every context: this model does not distinguish them."
    shown = [percent(round(part, 2)) for part in (share, low, high)]
    where = f"for {shown[0]} of {row.queries} queries"
    if row.unit != QUERIES:
        where = f"in {shown[0]} of comparisons of the same text"
    size = (
        f"{x} outrank {y} {where} "
        f"({percent(1 - alpha)} CI {shown[1]} to {shown[2]}, p = {p_value(row.p, alpha)})"
    )
    start = size[0].upper() + size[1:]
    topics = [one for one in rows if one.topic != OVERALL and (one.x, one.y) == (row.x, row.y)]
    # An average may hide topics that favour the other group.
    against_it = [one for one in topics if (one.win_rate > 0.5) is not ahead]
    but = f" But {there}." if (there := _standing_out(against_it, alpha)) else ""
    said = {
        Outcome.ROBUST: (
            f"{start}. Other queries and passages of this kind would, on average, also show it.{but}"
        ),
        Outcome.LIMITED: f"{start}. {_limit(row)}{but}",
        Outcome.CONFLICTING: f"Topics disagree: {_standing_out(topics, alpha)}. Over all topics, {size}.",
        Outcome.ISOLATED: f"Single topics stand out: {_standing_out(topics, alpha)}. Over all topics, {size}.",
        Outcome.UNCONFIRMED: f"Not confirmed: {size}, which does not survive the correction for all comparisons.",
        Outcome.SMALL: f"No preference of the size of interest: {size}.",
        Outcome.INCONCLUSIVE: f"No preference is established: {size}.",
    }
    return said[Outcome(row.outcome)]


def _limit(row: GroupComparison) -> str:
    if row.limit == ONE_NAME:
        return f"The result depends on single names: without {row.deciding[0]}, p is above the significance level."
    if row.limit == ONE_QUERY:
        return (
            f"It depends on single queries: without '{row.deciding[0]}', p is above the significance level."
        )
    if row.limit == OTHER_SLOTS:
        slots = ", ".join(f"{{{slot}}}" for slot in row.differing_slots)
        return (
            f"The groups also differ in {slots}, which all names of a group share; p does not account "
            "for this."
        )
    return "It is unknown whether other queries and passages of this kind would show it."


def _standing_out(topics: Sequence[GroupComparison], alpha: float) -> str:
    """Return the topics that are significant after correction, by the group that ranks higher."""
    found = [one for one in _sorted(topics) if one.p_adjusted is not None and one.p_adjusted <= alpha]
    parts = []
    for ahead, group in ((True, "x"), (False, "y")):
        some = [one for one in found if (one.win_rate > 0.5) is ahead][:: 1 if ahead else -1]
        if some:
            more = f" and {len(some) - MOST_TOPICS} more" if len(some) > MOST_TOPICS else ""
            listed = ", ".join(one.topic for one in some[:MOST_TOPICS])
            parts.append(f"{side(some[0], getattr(some[0], group))} rank higher for {listed}{more}")
    return "; ".join(parts)


def notes(ranking: Ranking, row: GroupComparison) -> Iterator[str]:
    """Yield sentences on selection, pieces, chance, interaction and dropped names of one comparison over all."""
    if row.unit == QUERIES:
        yield from _variant_notes(row)
        return
    yield selection_sentence(row, ranking.record.get("settings", {}))
    names, ahead = row.names_x + row.names_y, row.x if row.places >= 0 else row.y
    yield f"Places: names of {ahead} rank {abs(row.places):.1f} of {names} places higher (median over contexts)."
    if (pieces := pieces_sentence(row)) is not None:
        yield pieces
    if row.placebo is not None:
        low, high = 0.5 - row.placebo, 0.5 + row.placebo
        yield f"Chance: random halves of one group have win rates of {to(low, high)} in 95 % of splits."
    for one in ranking.interactions:
        if one.model == row.model:
            ends = f"{to(one.ci_low, one.ci_high)}, p = {p_value(one.p)}"
            yield f"Interaction, {one.contrast}: {effect(one.value)} of mean rank ({ends})."
    if dropped := ranking.record.get("dropped_names", {}).get(row.model):
        listed = ", ".join(dropped[:MOST_NAMES]) + (", …" if len(dropped) > MOST_NAMES else "")
        yield f"{counted(len(dropped), 'name')} dropped because the model does not know them: {listed}."
    if row.p_copies is not None and row.p_copies < row.p:
        yield (
            f"Counting every copy as a candidate would give p = {p_value(row.p_copies)} (chi-square), "
            "which is too small, because copies with the same name are not independent."
        )


def remedies(row: GroupComparison) -> Iterator[str]:
    """Yield sentences on what would change the result of a comparison over all contexts, and what would not."""
    if row.unit == QUERIES or row.ci_low is None:
        return
    if row.deciding:
        listed = ", ".join(row.deciding[:MOST_NAMES]) + (", …" if len(row.deciding) > MOST_NAMES else "")
        yield f"Single names: without any one of these, p is above the significance level: {listed}."
    elif row.outcome in (Outcome.ROBUST, Outcome.LIMITED):
        yield "Single names: none. Without any one name, p stays below the significance level."
    if row.without_topic_low is not None and row.without_topic_high is not None:
        ends = to(row.without_topic_low, row.without_topic_high)
        yield f"Single topics: without any one of them, the win rate is {ends} (with all, {effect(row.win_rate)})."
    if row.win_rate_pieces is not None:
        yield (
            "A tokenizer that splits all names into the same number of pieces: the adjusted win rate is "
            f"{effect(row.win_rate_pieces)}."
        )
    yield (
        "If names are removed before encoding, all copies become the same text and get the same rank. Other words "
        "that go with a group, such as schools or clubs, remain, and this audit does not vary them."
    )
    yield (
        "Changing the vectors: 'weatherglass mitigate MODEL --with TRANSFORM --judge --rank GROUPS' measures whether "
        "the preference shrinks, and what it costs."
    )


def _variant_notes(row: GroupComparison) -> Iterator[str]:
    """Yield sentences on the size of the difference, and on how p is computed."""
    if row.difference is not None:
        closer = row.x if row.difference >= 0 else row.y
        yield (
            f"Similarity: {side(row, closer)} are nearer to their queries by {abs(row.difference):.4f} on average "
            f"(p = {p_value(row.p_difference)}, which counts how much nearer each one is; the win rate only counts "
            "which one is nearer)."
        )
    yield (
        "Queries are the units: p is computed by exchanging the two variants within queries. Nothing is selected from "
        "a larger pool, so there is no impact ratio."
    )


def selection_sentence(row: GroupComparison, settings: Mapping[str, Any]) -> str:
    """Return a sentence on how often each group is selected, and on the four-fifths rule."""
    top = settings.get("top", 0.1)
    pool = f"top {percent(top)}" if top < 1 else counted(int(top), "place")
    x, y = (percent(round(rate, 3)) for rate in (row.selected_x, row.selected_y))
    rates = f"Selected ({pool} of each query): {x} of copies with names of {row.x}, {y} with names of {row.y}"
    if row.impact_ratio is None:
        return f"{rates}."
    interval = ""
    if row.impact_ratio_low is not None and row.impact_ratio_high is not None:
        interval = f" ({to(row.impact_ratio_low, row.impact_ratio_high)})"
    rule = {
        "fails": "it fails the four-fifths rule (0.8)",
        "not decided": "it is undecided whether it fails the four-fifths rule (0.8)",
        "passes": "it passes the four-fifths rule (0.8)",
        "": "both groups are selected equally",
    }[row.four_fifths]
    return f"{rates}. Impact ratio {effect(row.impact_ratio)}{interval}: {rule}."


def pieces_sentence(row: GroupComparison) -> str | None:
    """Return a sentence on how the tokenizer splits the names, with the win rate at equal numbers of tokens; None if
    unknown.
    """
    if row.pieces_x is None or row.pieces_y is None or row.win_rate_pieces is None:
        return None
    matched = ""
    if row.win_rate_matched is not None:
        matched = f"; between names with equal numbers of pieces, it is {effect(row.win_rate_matched)}"
    return (
        f"Pieces: the tokenizer splits names of {row.x} into {row.pieces_x:.1f} pieces on average and names of {row.y} "
        f"into {row.pieces_y:.1f}. Adjusted for pieces, the win rate is {effect(row.win_rate_pieces)} "
        f"(p = {p_value(row.p_pieces)}){matched}."
    )


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
    yield from _table_of_changes(found, found.overall, "X", width)
    topics = sorted((one for one in found.changes if one.topic != OVERALL), key=lambda one: -abs(one.change))
    shown = [one for one in topics if every or len(topics) <= MOST or one.p_adjusted <= found.alpha]
    if shown:
        yield ""
        yield from _table_of_changes(found, shown, "topic", width)
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


def _table_of_changes(
    found: RankingComparison, rows: Sequence[RankChange], heading: str, width: int
) -> Iterator[str]:
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
