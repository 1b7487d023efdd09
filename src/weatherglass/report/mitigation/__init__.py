"""Show whether a mitigation worked, in the terminal (80 columns) and as a page with two figures."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from markupsafe import Markup

from weatherglass.catalogue.names import capitalised, model_name
from weatherglass.report.kit import render
from weatherglass.report.layout import Bold
from weatherglass.report.numbers import bound, effect, interval, p_value, to

PAGE = "index.html"
WIDTH, NAME = 80, 30
"""The width of the terminal and of a name, in columns; longer names are cut."""
ROW, LEFT, RIGHT, TOP, FIGURE = 26, 160, 20, 30, 480
"""The dimensions of a figure in pixels: the height of a row, the margins on the left, on the right and above, and the
width.
"""


def lines_of(judgement: Mapping[str, Any]) -> Iterator[str]:
    """Yield the verdict with its reasons, d before and after, what can be recovered, and the cost.

    Args:
        judgement: the content of judgement.json.
    """
    done = f"{' | '.join(judgement['transforms'])} on {model_name(judgement['model'])}"
    yield from map(Bold, _wrapped(f"{capitalised(judgement['verdict'])}: {done}", ""))
    for reason in judgement["reasons"]:
        yield from _wrapped(reason, "  ")
    yield ""
    yield from _effects("d on words that the transform was not fitted on", judgement["held_out"])
    yield from _effects("d on all words of the tests", judgement["tests"])
    yield from _table("what can be recovered (chance, random transform)", judgement["recovered"], _recovered)
    yield from _table("cost of the transform", judgement["cost"], _cost)
    if judgement.get("rankings"):
        yield "rankings: the win rate of names of the first group; 0.5 means no preference"
        for row in judgement["rankings"]:
            yield from _wrapped(ranking_line(row), "  ")
        yield ""
    for note in (*judgement["without_held_out"], *judgement["notes"]):
        yield from _wrapped(f"note: {note}", "")
    yield from _wrapped(f"The rule. {judgement['rule']}", "")


def _effects(title: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    shown = [row for row in rows if row["poolable"]]
    if not shown:
        return
    yield title
    yield f"  {'':{NAME - 2}}   before  after  change, 95 % interval"
    for row in shown:
        change = bound(row["after"] - row["before"])
        ends = to(row["low"], row["high"]) if row["low"] is not None else "no interval"
        mark = " sign flipped" if row["turned"] else ""
        numbers = f"{effect(row['before']):>8} {effect(row['after']):>6}  {change:>6}, {ends}{mark}"
        yield f"  {row['test'][: NAME - 2]:{NAME - 2}} {numbers}"[:WIDTH]
    yield ""


def _table(
    title: str, rows: Sequence[Mapping[str, Any]], line: Callable[[Mapping[str, Any]], str]
) -> Iterator[str]:
    yield title
    for row in rows:
        yield line(row)[:WIDTH]
    yield ""


def _recovered(row: Mapping[str, Any]) -> str:
    random = f", {effect(row['random']['value'])}" if row["random"] else ""
    numbers = f"{effect(row['before']['value'])} → {_estimate(row['after'])}"
    return f"  {row['name'][:NAME]:{NAME}} {numbers}  ({effect(row['chance'])}{random})"


def _cost(row: Mapping[str, Any]) -> str:
    change = f"  change {_estimate(row['change'])}" if row["change"] else ""
    return f"  {row['name'][:NAME]:{NAME}} {effect(row['before']['value'])} → {effect(row['after']['value'])}{change}"


def _estimate(estimate: Mapping[str, float]) -> str:
    return f"{effect(estimate['value'])} {interval(estimate['low'], estimate['high'])}"


def ranking_line(row: Mapping[str, Any]) -> str:
    """Return both win rates and impact ratios of two groups, and the change of the win rate."""
    before, after = row["before"], row["after"]
    rates = " → ".join(
        f"{effect(one['win_rate'])} {interval(one['ci_low'], one['ci_high'])}" for one in (before, after)
    )
    ratios = " → ".join(effect(one["impact_ratio"]) for one in (before, after))
    change = f"{effect(row['change'])} {interval(row['low'], row['high'])}, corrected p {p_value(row['p_adjusted'])}"
    return f"{row['x']} against {row['y']}: {rates}; change {change}; impact ratio {ratios}"


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")


def page(judgement: Mapping[str, Any]) -> str:
    """Return the page, with every text escaped and figures that follow the theme.

    Args:
        judgement: the content of judgement.json.
    """
    values = {
        "j": judgement,
        "held_out_figure": effects_figure(judgement["held_out"]),
        "tests_figure": effects_figure(judgement["tests"]),
        "recovery_figure": recovery_figure(judgement["recovered"]),
    }
    return render(__package__, "mitigation.html", values, styles=["mitigation.css"])


def effects_figure(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """Draw d of each test, with a ring before, a dot after and a line between them; empty if there are no effect
    sizes.
    """
    rows = [row for row in rows if row["poolable"]]
    if not rows:
        return Markup("")
    largest = max(2.0, *(abs(row[key]) for row in rows for key in ("before", "after")))
    x = _scale(-largest, largest)
    marks = [_line(x(0), TOP - 6, x(0), TOP + ROW * len(rows), "zero")]
    for number, row in enumerate(rows):
        y = TOP + ROW * number + ROW // 2
        before, after = x(row["before"]), x(row["after"])
        title = f"{row['test']}: d {effect(row['before'])} before, {effect(row['after'])} after"
        marks += [
            f"<g><title>{escape(title)}</title>",
            _text(LEFT - 12, y + 4, row["test"], "name"),
            _line(before, y, after, y, "way turned" if row["turned"] else "way"),
            f'<circle class="before" cx="{before:.1f}" cy="{y}" r="5"/>',
            f'<circle class="after{" turned" if row["turned"] else ""}" cx="{after:.1f}" cy="{y}" r="5"/></g>',
        ]
    ticks = [_text(x(t), 14, effect(t) if t else "0", "tick") for t in (-largest, -1.0, 0.0, 1.0, largest)]
    return _svg([*ticks, *marks], len(rows), "d of each test before and after")


def recovery_figure(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """Draw the recovery scores from 0 to 1: before, after (with interval), after a random transform, and at chance
    level.
    """
    x = _scale(0.0, 1.0)
    marks = []
    for number, row in enumerate(rows):
        y = TOP + ROW * number + ROW // 2
        chance = x(row["chance"])
        title = (
            f"{row['name']}: {effect(row['before']['value'])} before, {effect(row['after']['value'])} after"
        )
        marks += [
            f"<g><title>{escape(title)}</title>",
            _text(LEFT - 12, y + 4, row["name"], "name"),
            _line(chance, y - 9, chance, y + 9, "chance"),
            _line(x(max(0.0, row["after"]["low"])), y, x(row["after"]["high"]), y, "ends"),
        ]
        if row["random"]:
            marks.append(_line(x(row["random"]["value"]), y - 8, x(row["random"]["value"]), y + 8, "random"))
        marks += [
            f'<circle class="before" cx="{x(max(0.0, row["before"]["value"])):.1f}" cy="{y}" r="5"/>',
            f'<circle class="after" cx="{x(max(0.0, row["after"]["value"])):.1f}" cy="{y}" r="5"/></g>',
        ]
    ticks = [_text(x(t), 14, f"{t:g}", "tick") for t in (0.0, 0.25, 0.5, 0.75, 1.0)]
    return _svg([*ticks, *marks], len(rows), "What can be recovered before and after")


def _scale(low: float, high: float) -> Any:
    return lambda value: LEFT + (value - low) / (high - low) * (FIGURE - LEFT - RIGHT)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1}" x2="{x2:.1f}" y2="{y2}"/>'


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y}">{escape(text)}</text>'


def _svg(parts: Sequence[str], rows: int, label: str) -> Markup:
    height = TOP + ROW * rows + 6
    return Markup(  # all texts were escaped above
        f'<svg viewBox="0 0 {FIGURE} {height}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )
