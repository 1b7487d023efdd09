"""The chart of topics and models as one SVG file, for a paper or a slide, in the light colours."""

from __future__ import annotations

import html  # not xml.sax.saxutils, which loads all that fetches addresses
from collections.abc import Iterator, Sequence

from weatherglass.report.numbers import effect
from weatherglass.report.page.subjects import Subject
from weatherglass.report.page.topics import REACH, Chart, TopicCell
from weatherglass.report.test_names import capitalised

COLOURS = {"pos": "#1f5886", "neg": "#a44f0d", "ink": "#1c2023", "faint": "#7b8186"}
INK, SOFT, FAINT, LINE = "#1c2023", "#565c61", "#7b8186", "#e2dfd7"
NAMES, WIDTH, ROW, GAP = 190, 210, 46, 24
"""Width of the column of topics and of a model, height of a row, space between models, in pixels."""


def topics_figure(shown: Chart, subjects: Sequence[Subject]) -> str:
    """Topics down, models across; empty where there are no verdicts."""
    rows = [*shown.rows, *shown.controls]
    if not rows:
        return ""
    columns = sorted({cell.subject for row in rows for cell in row})
    width = NAMES + len(columns) * (WIDTH + GAP)
    height = 44 + len(rows) * ROW + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for place, subject in enumerate(columns):
        left = NAMES + place * (WIDTH + GAP)
        parts.append(_text(left, 14, subjects[subject].short, weight="bold"))
        parts += [
            _text(_x(left, d), 32, effect(d)[:-3], SOFT, anchor="middle") for d in (-2.0, -1.0, 0.0, 1.0, 2.0)
        ]
        parts.append(
            f'<line x1="{_x(left, 0)}" x2="{_x(left, 0)}" y1="38" y2="{44 + len(rows) * ROW}" stroke="{FAINT}"/>'
        )
    for number, row in enumerate(rows):
        top = 44 + number * ROW
        label = capitalised(row[0].topic) + (" (no bias meant)" if row[0].control else "")
        parts.append(f'<line x1="0" x2="{width}" y1="{top}" y2="{top}" stroke="{LINE}"/>')
        parts.append(_text(0, top + 20, label, weight="bold"))
        for cell in row:
            parts += _cell(cell, NAMES + columns.index(cell.subject) * (WIDTH + GAP), top)
    note = (
        "Dot: mean d of the topic’s tests; thick line: its interval; small dots: tests; ticks: reference models; "
        "diamonds: people in the IAT."
    )
    parts.append(_text(0, height - 12, note, SOFT))
    return "".join([*parts, "</svg>"])


def _cell(cell: TopicCell, left: float, top: float) -> Iterator[str]:
    colour = COLOURS[cell.tone]
    y = top + 16
    for d in cell.reference.values():
        yield f'<line x1="{_x(left, d)}" x2="{_x(left, d)}" y1="{top + 2}" y2="{top + 7}" stroke="{FAINT}"/>'
    for d in cell.people:
        x = _x(left, d)
        yield f'<path d="M{x} {top + 1}l4 4-4 4-4-4Z" fill="none" stroke="{SOFT}"/>'
    if cell.low is not None and cell.high is not None:
        dashes = ' stroke-dasharray="4 3"' if cell.line == "dash" else ""
        yield (
            f'<line x1="{_x(left, cell.low)}" x2="{_x(left, cell.high)}" y1="{y}" y2="{y}" stroke="{colour}" '
            f'stroke-width="{2 if cell.line else 3}"{dashes}/>'
        )
    for d in cell.tests:
        yield f'<circle cx="{_x(left, d)}" cy="{top + 25}" r="1.5" fill="{colour}" opacity=".6"/>'
    if cell.d is not None:
        fill = colour if cell.symbol in ("shown", "mixed", "small") else "#ffffff"
        x = _x(left, cell.d)
        yield f'<circle cx="{x}" cy="{y}" r="5" fill="{fill}" stroke="{colour}" stroke-width="2"/>'
        if cell.symbol == "these":
            yield f'<path d="M{x} {y - 5}a5 5 0 0 0 0 10Z" fill="{colour}"/>'
    yield _text(left, top + 40, cell.mark.words)
    yield _text(left + WIDTH, top + 40, f"{cell.significant}/{cell.number}   {effect(cell.d)}", anchor="end")


def _x(left: float, d: float) -> str:
    return f"{left + WIDTH * (0.5 + max(-REACH, min(REACH, d)) / (2 * REACH)):.4g}"


def _text(
    x: float | str, y: float, text: str, colour: str = INK, anchor: str = "start", weight: str = "normal"
) -> str:
    return (
        f'<text x="{x}" y="{y}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}" '
        f'xml:space="preserve">{html.escape(_printable(text), quote=False)}</text>'
    )


def _printable(text: str) -> str:
    """The text without control characters, which no XML file may hold."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
