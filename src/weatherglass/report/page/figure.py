"""The chart of topics and models as one SVG file, for a paper or a slide, in the light colours."""

from __future__ import annotations

import html  # not xml.sax.saxutils, which loads all that fetches addresses
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files

from weatherglass.catalogue.names import shortened_name
from weatherglass.report.numbers import effect
from weatherglass.report.page.topics import REACH, Chart, TopicRow
from weatherglass.report.statements import outcome_text
from weatherglass.report.view import Subject

STRONG, OPPOSITE, BAND = "#1f5886", "#a44f0d", "#ece9e1"
INK, SOFT, FAINT, LINE = "#1c2023", "#565c61", "#7b8186", "#e2dfd7"
NAMES, WIDTH, ROW, GAP = 230, 210, 46, 24
"""Width of the column of topics and of a model, height of a row, space between models, in pixels."""


def topics_figure(shown: Chart, subjects: Sequence[Subject]) -> str:
    """Topics down, models across; empty where there are no verdicts."""
    rows = [*shown.topics, *shown.checks]
    if not rows:
        return ""
    columns = sorted({cell.subject for row in rows for cell in row})
    width = NAMES + len(columns) * (WIDTH + GAP)
    height = 44 + len(rows) * ROW + 64
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
        label = row[0].name + (" (sanity check)" if row[0].verdict.check else "")
        parts.append(f'<line x1="0" x2="{width}" y1="{top}" y2="{top}" stroke="{LINE}"/>')
        parts.append(_text(0, top + 18, label, weight="bold"))
        parts.append(_text(0, top + 32, shortened_name(row[0].contrast, NAMES // 5), SOFT))
        for cell in row:
            parts += _cell(cell, NAMES + columns.index(cell.subject) * (WIDTH + GAP), top)
    notes = (
        "Mark: mean d of the topic’s tests; line: its interval, dashed where it contains 0;",
        "circles: tests, filled where they stand out; squares: not tested; band: reference models; dotted: placebo.",
        "Right of 0, blue: as named; left, orange: the opposite; grey: no direction established.",
    )
    parts += [_text(0, height - 42 + 15 * place, note, SOFT) for place, note in enumerate(notes)]
    return "".join([*parts, "</svg>"])


def _cell(row: TopicRow, left: float, top: float) -> Iterator[str]:
    verdict, y = row.verdict, top + 16
    negative = (verdict.effect_size or 0) < 0
    colour = (OPPOSITE if negative else STRONG) if row.strong else FAINT
    if row.band:
        low, high = (float(_x(left, d)) for d in row.band)
        yield f'<rect x="{low}" y="{top + 3}" width="{max(2.0, high - low):.4g}" height="27" fill="{BAND}"/>'
    for d in row.placebo:
        x = _x(left, d)
        yield (
            f'<line class="placebo" x1="{x}" x2="{x}" y1="{top + 2}" y2="{top + 31}" stroke="{SOFT}" '
            'stroke-dasharray="1.5 3"/>'
        )
    for d in row.people:
        x = _x(left, d)
        yield f'<path d="M{x} {top + 12}l4 4-4 4-4-4Z" fill="none" stroke="{SOFT}"/>'
    if verdict.ci_low is not None and verdict.ci_high is not None:
        dashes = "" if row.strong else ' stroke-dasharray="4 3"'
        yield (
            f'<line x1="{_x(left, verdict.ci_low)}" x2="{_x(left, verdict.ci_high)}" y1="{y}" y2="{y}" '
            f'stroke="{colour}" stroke-width="{3 if row.strong else 2}"{dashes}/>'
        )
    for dot in row.dots:
        edge = (OPPOSITE if dot.d < 0 else STRONG) if dot.marked else FAINT
        fill, x = edge if dot.marked else "#ffffff", _x(left, dot.d)
        shape = f'circle cx="{x}" cy="{top + 26}" r="2.2"'
        if not dot.tested:
            shape = f'rect x="{float(x) - 2:.4g}" y="{top + 24}" width="4" height="4"'
        yield f'<{shape} fill="{fill}" stroke="{edge}"/>'
    if verdict.effect_size is not None:
        yield _mark(row.symbol, _x(left, verdict.effect_size), y, colour)
    yield _text(left, top + 41, outcome_text(verdict))
    count = "" if verdict.check else f"{len(verdict.marked)} of {len(verdict.tests)}   "
    yield _text(left + WIDTH, top + 41, f"{count}{effect(verdict.effect_size)}", anchor="end")


@cache
def _symbols() -> str:
    return files("weatherglass.report.kit").joinpath("symbols.html").read_text(encoding="utf-8")


def _mark(symbol: str, x: str, y: float, colour: str) -> str:
    """Return the mark of the outcome, from the drawings of the page."""
    found = re.search(f'<symbol id="g-{symbol}"[^>]*>(.*?)</symbol>', _symbols())
    drawing = found[1].replace("var(--paper)", "#ffffff").replace("currentColor", colour) if found else ""
    return f'<g transform="translate({x} {y}) scale(.85)">{drawing}</g>'


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
