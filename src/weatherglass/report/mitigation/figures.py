"""Two figures as SVG inside the page; their colours are the page's, so that they follow its theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from markupsafe import Markup

from weatherglass.report.numbers import effect

ROW, LEFT, WIDTH, TOP = 26, 160, 480, 30
RIGHT = 20


def effects_figure(rows: Sequence[Mapping[str, Any]]) -> Markup:
    """d of each test: a ring before, a dot after, an arrow between; empty without rows."""
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
    """What is recovered, from 0 to 1: before, after with its interval, the range of random transforms, and chance."""
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
    return lambda value: LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1}" x2="{x2:.1f}" y2="{y2}"/>'


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y}">{escape(text)}</text>'


def _svg(parts: Sequence[str], rows: int, label: str) -> Markup:
    height = TOP + ROW * rows + 6
    return Markup(  # every text in it was escaped above
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">{"".join(parts)}</svg>'
    )
