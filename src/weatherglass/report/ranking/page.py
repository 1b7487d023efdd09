"""Make the page of a ranking audit as one self-contained file with a forest of win rates and a strip of names."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from weatherglass.catalogue.names import capitalised, model_names
from weatherglass.ranking.compare import OVERALL, REST, GroupComparison, RankedQuery
from weatherglass.ranking.ranking import Example, RankedName, Ranking
from weatherglass.report.kit import compress, in_json, render
from weatherglass.report.measures import BLUE, ORANGE, SOFT
from weatherglass.report.numbers import effect, interval, p_value, percent
from weatherglass.report.ranking import headline, notes, remedies, sentence, side
from weatherglass.report.ranking.writing import CAUTION, statement
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.printable import one_line

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "index.html"
WIDTH, LEFT, RIGHT, TOP, ROW = 560, 180, 20, 30, 26
"""The dimensions of a figure in pixels: the whole width, the margins on the left, on the right and above, and the
height of a row.
"""
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
SIX = 6
"""The number of names whose places an example shows."""
MANY_PIECES = 3
"""The number of tokens from which names are drawn alike."""


def write_page(ranking: Ranking, folder: Path) -> None:
    """Write the page into the folder of the audit."""
    write_whole(folder / PAGE, page(ranking))


def page(ranking: Ranking) -> str:
    """Return the page, in which all text is escaped."""
    models = list(dict.fromkeys(one.model for one in ranking.comparisons))
    values = {
        "level": percent(1 - ranking.alpha),
        "alpha": f"{ranking.alpha:g}",
        "audits": [
            _audit(ranking, model, label, number)
            for number, (model, label) in enumerate(zip(models, model_names(models), strict=True))
        ],
        "failures": ranking.failures,
        "statement": statement(ranking),
        "caution": CAUTION,
    }
    return render(__package__, "ranking.html", values, styles=["ranking.css"], scripts=["ranking.js"])


def _audit(ranking: Ranking, model: str, label: str, number: int) -> dict[str, Any]:
    """Return the content of the page for one model."""
    rows = [one for one in ranking.comparisons if one.model == model]
    overall = [one for one in rows if one.topic == OVERALL]
    first = headline(overall)
    names = [one for one in ranking.names if one.model == model]
    return {
        "place": f"model-{number}",
        "label": label,
        "sentence": sentence(first, rows, ranking.alpha),
        "x": side(first, first.x),
        "y": side(first, first.y),
        "forest": forest(_forest_rows(rows)),
        "strip": strip(names),
        "names": sorted(names, key=lambda one: -one.mean_rank),
        "notes": list(notes(ranking, first)),
        "examples": [_example(ranking, one, names) for one in _first_of_topics(ranking.examples, model)],
        "ranks": compress(in_json(_ranks(ranking, model, names))) if names else "",
        "remedies": list(remedies(first)),
        "queries": _queries([one for one in ranking.queries if one.model == model]),
        "rows": [_cells(one) for one in rows],
        "several": any(one.y == REST for one in overall),
    }


def _example(ranking: Ranking, example: Example, names: Sequence[RankedName]) -> dict[str, Any]:
    """Return a passage and its ranks under some names, from the highest to the lowest."""
    passages = ranking.record.get("materials", {}).get("passages", ())
    group = {one.name: one.group for one in names}
    ordered = sorted(example.places.items(), key=lambda item: item[1])
    shown = min(SIX, len(ordered))
    steps = [round(place * (len(ordered) - 1) / max(1, shown - 1)) for place in range(shown)]
    return {
        "topic": example.topic,
        "text": passages[example.passage]["text"] if passages else "",
        "places": [
            {"place": f"{place:.0f}", "name": name, "group": group[name]}
            for name, place in (ordered[step] for step in steps)
        ],
        "of": len(ordered),
    }


def _first_of_topics(examples: Sequence[Example], model: str) -> list[Example]:
    """Return the first passage of each topic."""
    first: dict[str, Example] = {}
    for one in examples:
        if one.model == model:
            first.setdefault(one.topic, one)
    return list(first.values())


def _ranks(ranking: Ranking, model: str, names: Sequence[RankedName]) -> dict[str, Any]:
    """Return the places of every name for every stored passage, for the script of the page."""
    passages = ranking.record.get("materials", {}).get("passages", ())
    own = [one for one in ranking.examples if one.model == model]
    return {
        "names": [[one.name, one.group, one.pieces] for one in names],
        "texts": [
            {
                "topic": capitalised(one.topic),
                "text": passages[one.passage]["text"] if passages else f"Passage {one.passage + 1}",
                "places": [round(one.places[name.name], 1) for name in names],
            }
            for one in own
        ],
    }


def _queries(queries: Sequence[RankedQuery]) -> dict[str, Any]:
    """Return every query with the similarity of its variants, the largest difference of the first two first."""
    if not queries:
        return {}
    names = list(queries[0].similarity)
    x, y = names[:2]
    ordered = sorted(queries, key=lambda one: one.similarity[y] - one.similarity[x])
    return {
        "names": names,
        "rows": [
            (
                one.topic,
                one.query,
                [f"{one.similarity[name]:.3f}" for name in names],
                _signed(one.similarity, x, y),
            )
            for one in ordered
        ],
    }


def _signed(similarity: dict[str, float], x: str, y: str) -> str:
    return f"{similarity[x] - similarity[y]:+.4f}".replace("-", "−")


def _forest_rows(rows: Sequence[GroupComparison]) -> list[GroupComparison]:
    """Return the topics of the two groups with the smallest p, starting with the highest win rate, followed by all
    topics.
    """
    first = headline([one for one in rows if one.topic == OVERALL])
    topics = [one for one in rows if (one.x, one.y) == (first.x, first.y) and one.topic != OVERALL]
    return [*sorted(topics, key=lambda one: -one.win_rate), first]


def _cells(one: GroupComparison) -> dict[str, str]:
    """Return the cells of a comparison for the table of all comparisons."""
    return {
        "topic": "all topics" if one.topic == OVERALL else one.topic,
        "x": one.x,
        "y": one.y,
        "win_rate": effect(one.win_rate),
        "fixed": interval(one.ci_low, one.ci_high),
        "random": interval(one.ci_low_random, one.ci_high_random),
        "p": p_value(one.p),
        "p_random": p_value(one.p_random),
        "p_adjusted": p_value(one.p_adjusted),
        "selected": f"{percent(round(one.selected_x, 3))}, {percent(round(one.selected_y, 3))}",
        "impact": f"{effect(one.impact_ratio)} {interval(one.impact_ratio_low, one.impact_ratio_high)}",
        "outcome": one.outcome,
    }


def _x(share: float) -> float:
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def forest(rows: Sequence[GroupComparison]) -> Markup:
    """Draw the win rate of each comparison from 0 to 1, with a mark, an interval, and a thin interval for random
    contexts.
    """
    parts = []
    for number, one in enumerate(rows):
        y = TOP + ROW * number + ROW // 2
        name = "all topics" if one.topic == OVERALL else one.topic
        tone = "c-faint" if one.outcome == "inconclusive" else "c-pos" if one.win_rate > 0.5 else "c-neg"
        title = f"{name}: {effect(one.win_rate)} {interval(one.ci_low, one.ci_high)}, {one.outcome}"
        parts += [
            f'<g class="{tone}"><title>{escape(title)}</title>',
            f'<text class="name{" whole" if one.topic == OVERALL else ""}" x="{LEFT - 12}" y="{y + 4}">'
            f"{escape(capitalised(_cut(name)))}</text>",
            _bar(one.ci_low_random, one.ci_high_random, y, "pred"),
            _bar(one.ci_low, one.ci_high, y, "iv"),
            f'<use href="#g-{one.outcome}" x="{_x(one.win_rate) - 8:.1f}" y="{y - 8}" width="16" height="16"/></g>',
        ]
    return _figure(parts, len(rows), "Win rates by topic")


def strip(names: Sequence[RankedName]) -> Markup:
    """Draw every name at the share of all names that it outranks, with a row per group and a style by number of
    pieces.
    """
    groups = list(dict.fromkeys(one.group for one in names))
    parts = []
    for number, group in enumerate(groups):
        y = TOP + ROW * number + ROW // 2
        parts.append(
            f'<text class="name" x="{LEFT - 12}" y="{y + 4}">{escape(capitalised(_cut(group)))}</text>'
        )
        for one in names:
            if one.group == group:
                pieces = "" if one.pieces is None else f", {one.pieces} piece{'s' if one.pieces != 1 else ''}"
                kind = min(one.pieces or 1, MANY_PIECES)
                parts.append(
                    f'<circle class="dot pieces-{kind}" cx="{_x(one.mean_rank):.1f}" cy="{y}" r="5">'
                    f"<title>{escape(f'{one.name}: {effect(one.mean_rank)}{pieces}')}</title></circle>"
                )
    return _figure(parts, len(groups), "Mean rank of every name")


def _bar(low: float | None, high: float | None, y: int, kind: str) -> str:
    if low is None or high is None:
        return ""
    return f'<line class="{kind}" x1="{_x(low):.1f}" x2="{_x(high):.1f}" y1="{y}" y2="{y}"/>'


def _cut(name: str, longest: int = 24) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _figure(parts: Sequence[str], rows: int, label: str) -> Markup:
    """Return a figure with its axis from 0 to 1."""
    bottom = TOP + ROW * rows
    axis = [
        f'<line class="{"zero" if tick == 0.5 else "grid"}" x1="{_x(tick):.1f}" x2="{_x(tick):.1f}" y1="{TOP - 6}" '
        f'y2="{bottom}"/><text class="t" x="{_x(tick):.1f}" y="14">{tick:g}</text>'
        for tick in TICKS
    ]
    return Markup(  # every text in it was escaped above
        f'<svg class="chart" viewBox="0 0 {WIDTH} {bottom + 6}" role="img" aria-label="{escape(label)}">'
        f"{''.join([*axis, *parts])}</svg>"
    )


def figure_of(rows: Sequence[GroupComparison], alpha: float) -> Figure:
    """Return the same forest as a matplotlib figure.

    Args:
        rows: all comparisons of one model.
        alpha: the level at which coloured intervals exclude 0.5.
    """
    from matplotlib.figure import Figure

    shown = _forest_rows(rows)
    figure = Figure(figsize=(6.4, 1.0 + 0.28 * len(shown)), layout="constrained")
    axes = figure.subplots()
    axes.axvline(0.5, color=SOFT, linewidth=0.8)
    for place, one in enumerate(shown):
        colour = SOFT if one.p > alpha else BLUE if one.win_rate > 0.5 else ORANGE
        if one.ci_low is not None and one.ci_high is not None:
            axes.plot([one.ci_low, one.ci_high], [place, place], color=colour, linewidth=2)
        axes.plot([one.win_rate], [place], "o", color=colour)
    names = ["all topics" if one.topic == OVERALL else one_line(one.topic) for one in shown]
    axes.set_yticks(range(len(shown)), names)
    for label in axes.get_yticklabels():
        label.set_parse_math(False)
    axes.set_ylim(len(shown) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_xlabel(
        one_line(f"win rate: {side(shown[-1], shown[-1].x)} above {side(shown[-1], shown[-1].y)}"),
        parse_math=False,
    )
    return figure
