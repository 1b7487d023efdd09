"""Prepare the first screen of the page, with a row per topic and model, grouped by outcome, and draw it as an SVG
file.
"""

from __future__ import annotations

import html  # xml.sax.saxutils would import modules for network access
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.resources import files

from weatherglass.audit.results import Mark, Result, mark_of
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import Verdict
from weatherglass.catalogue.names import capitalised, contrast, shortened_name, topic_name
from weatherglass.report import statements
from weatherglass.report.numbers import counted, effect, percent, to
from weatherglass.report.view import ReportLayout, Subject

REACH = 2.0
"""The end of the axis, in both directions; with sets of equal size, |d| stays below it."""
MOST_TOPICS = 24
"""The maximum number of topics in the chart; further topics are only in the table."""
MOST_COLUMNS = 8
"""The maximum number of columns in each part of the overview, so that it fits on A4 paper."""
WIDTH, MARGIN = 430, 14
"""The size of a drawing in the page, in units that are scaled to the width of its column."""
NAMES, PANEL, ROW, GAP = 230, 210, 46, 24
"""The dimensions of the SVG file in pixels: the widths of the column of topics and of a model, the height of a row,
and the gap between models.
"""
STRONG, OPPOSITE, BAND = "#1f5886", "#a44f0d", "#ece9e1"
INK, SOFT, FAINT, LINE = "#1c2023", "#565c61", "#7b8186", "#e2dfd7"
"""The colours of the SVG file, which are those of the light page."""


@dataclass(frozen=True, slots=True)
class ResultDot:
    """One test in the drawing of its topic."""

    d: float
    title: str
    marked: bool
    tested: bool
    decisive: bool


@dataclass(frozen=True, slots=True)
class TopicRow:
    """The row of one model and topic in the chart."""

    verdict: Verdict
    alpha: float
    subject: int
    result: int | None
    """The index of the result on which the verdict depends most."""
    dots: tuple[ResultDot, ...]
    mark: Mark
    symbol: str
    """The drawing of the mark, in kit.html."""
    name: str
    """The topic, or the comparison that a sanity check makes."""
    contrast: str
    """The meaning of a positive d."""
    strong: bool
    """Whether the interval is drawn as a finding, because it excludes 0."""
    why: str
    """The reason for the verdict, in words."""
    count: str
    """The number of tests that differ, in words."""
    references: tuple[tuple[str, float], ...]
    """The reference models with their mean d over the same tests."""
    band: tuple[float, float] | None
    """The range of the mean d of the reference models."""
    people: tuple[float, ...]
    """The d of people in the Implicit Association Test."""
    placebo: tuple[float, ...]
    """The ends of the placebo line, between which 95 % of random divisions of the attribute words lie; empty if
    unknown.
    """
    spoken: str
    """A description of the drawing in words."""


@dataclass(frozen=True, slots=True)
class TopicGroup:
    """Rows under one heading, which belong to one outcome or, with several models, to one topic."""

    heading: str
    symbol: str
    count: str
    meaning: str
    rows: list[TopicRow]
    kind: str = "topics"


@dataclass(frozen=True, slots=True)
class Chart:
    """The topics of one metric in display order, and the sanity checks."""

    topics: list[list[TopicRow]]
    """A list of rows for each topic, the strongest first, with one row per model that has it."""
    rows: list[TopicRow]
    """The rows of all topics in `topics`, without sanity checks."""
    checks: list[list[TopicRow]]
    left_out: int
    """Topics that are not drawn because there are too many."""
    verdicts: list[Verdict]
    alpha: float


def x_of(d: float, left: float = MARGIN, right: float = WIDTH - MARGIN) -> str:
    """Return the position of d on an axis from −REACH to REACH that has its ends at `left` and `right`.

    >>> x_of(0), x_of(7), x_of(0.5, 0, 100)
    ('215', '416', '62.5')
    """
    return f"{left + (right - left) * (0.5 + max(-REACH, min(REACH, d)) / (2 * REACH)):.5g}"


def chart(
    runs: Sequence[Run], verdicts: Sequence[Sequence[Verdict]], layout: ReportLayout, metric: int
) -> Chart:
    """Return the chart of one metric, from the verdicts of each run."""
    subjects = {(s.run, s.model, s.options): number for number, s in enumerate(layout.subjects)}
    numbers = {(s, layout.results[n].row): n for n, (s, _, m) in enumerate(layout.places) if m == metric}
    name = layout.metrics[metric] if layout.metrics else ""
    found: dict[tuple[bool, str], list[TopicRow]] = {}
    listed: list[Verdict] = []
    for run, own in enumerate(verdicts):
        for verdict in own:
            subject = subjects.get((run, verdict.model, verdict.options))
            if verdict.metric == name and subject is not None:
                listed.append(verdict)
                row = _row(verdict, subject, numbers, layout.results, runs[run].alpha)
                found.setdefault((verdict.check, verdict.topic), []).append(row)
    topics = [sorted(rows, key=lambda row: row.subject) for (check, _), rows in found.items() if not check]
    topics.sort(key=lambda rows: min(statements.rank(row.verdict) for row in rows))
    checks = [rows for (check, _), rows in found.items() if check]
    alpha = runs[0].alpha if runs else 0.05
    shown = topics[:MOST_TOPICS]
    rows = [row for topic in shown for row in topic]
    return Chart(shown, rows, checks, max(0, len(topics) - MOST_TOPICS), listed, alpha)


def _row(
    verdict: Verdict,
    subject: int,
    numbers: dict[tuple[int, str], int],
    results: Sequence[Result],
    alpha: float,
) -> TopicRow:
    """Return the row of one verdict."""
    name = topic_name(verdict.topic)
    if verdict.check:
        symbol = "found" if verdict.found else "missed" if verdict.found is False else "none"
        name = statements.targets(verdict) if len(verdict.sets) == 4 else name
        count = ""
    else:
        symbol = verdict.outcome or "none"
        verb = "differs" if len(verdict.tests) == 1 else "differ"
        count = f"{len(verdict.marked)} of {counted(len(verdict.tests), 'test')} {verb}."
        if not verdict.tests:
            count = f"{counted(len(verdict.measured), 'test')} measured, not tested."
    references = tuple(verdict.reference.effect_sizes.items()) if verdict.reference else ()
    among = [d for _, d in references]
    band = (min(among), max(among)) if among else None
    placebo = () if verdict.placebo is None else (-verdict.placebo, verdict.placebo)
    spoken = [f"mean d {effect(verdict.effect_size)}"]
    if verdict.ci_low is not None and verdict.ci_high is not None:
        spoken.append(f"{percent(1 - alpha)} interval {to(verdict.ci_low, verdict.ci_high)}")
    spoken += [f"reference models {to(*band)}"] if band else []
    spoken += [f"placebo {to(*placebo)}"] if placebo else []
    return TopicRow(
        verdict,
        alpha,
        subject,
        result=numbers.get((subject, verdict.decisive)),
        dots=tuple(_dots(verdict, subject, numbers, results)),
        mark=mark_of(verdict),
        symbol=symbol,
        name=capitalised(name),
        contrast=contrast(verdict.sets),
        strong=bool(statements.sign_of(verdict)),
        why=statements.reason(verdict),
        count=count,
        references=references,
        band=band,
        people=tuple(verdict.human.values()),
        placebo=placebo,
        spoken="; ".join(spoken),
    )


def _dots(
    verdict: Verdict, subject: int, numbers: dict[tuple[int, str], int], results: Sequence[Result]
) -> Iterator[ResultDot]:
    """Yield the tests of a topic that have a d."""
    for test in (*verdict.tests, *verdict.measured):
        number = numbers.get((subject, test))
        d = None if number is None or not results[number].info.poolable else results[number].bias
        if d is None or d != d:
            continue
        tested = test in verdict.tests
        decisive = test == verdict.decisive and len(verdict.tests) > 1
        said = f"{'' if tested else ', measured, not tested'}{', decisive' if decisive else ''}"
        yield ResultDot(d, f"{test}: d {effect(d)}{said}", test in verdict.marked, tested, decisive)


def groups(shown: Chart, names: Sequence[str]) -> list[TopicGroup]:
    """Return the rows grouped by outcome if there is one model, and by topic if there are several; sanity checks come
    last.
    """
    rows = shown.rows
    judged = sum(row.verdict.outcome is not None for row in rows)
    if len(names) == 1:
        found = [
            TopicGroup(
                word.heading,
                own[0].symbol,
                f"{len(own)} of {judged}" if own[0].verdict.outcome else "",
                f"{capitalised(meaning)}." if meaning else "",
                own,
            )
            for word in dict.fromkeys(statements.word_of(row.verdict) for row in rows)
            for own in [[row for row in rows if statements.word_of(row.verdict) == word]]
            for meaning in [word.explained(own[0].verdict.family, shown.alpha)]
        ]
    else:
        found = [TopicGroup(topic[0].name, "", "", topic[0].contrast, topic) for topic in shown.topics]
    checks = [row for topic in shown.checks for row in topic]
    if checks:
        passed = sum(row.verdict.found is True for row in checks)
        meaning = (
            "Associations that people and most models show. A model that misses one may be weak in general."
        )
        found.append(
            TopicGroup("Sanity checks", "", f"{passed} of {len(checks)} passed", meaning, checks, "checks")
        )
    return found


@dataclass(frozen=True, slots=True)
class Overview:
    """A table of models and topics, or a part of it that fits a sheet of paper."""

    corner: str
    heads: list[str]
    rows: list[tuple[str, list[TopicRow | None]]]


def overview(shown: Chart, names: Sequence[str]) -> list[Overview]:
    """Return the mark and mean d by topic and model; whichever of the two are fewer become the columns."""
    topics = [*shown.topics, *shown.checks]
    cells = {(place, row.subject): row for place, rows in enumerate(topics) for row in rows}
    titles = [rows[0].name for rows in topics]
    transposed = len(names) > max(MOST_COLUMNS, len(topics))
    heads, sides = (titles, names) if transposed else (names, titles)
    parts = []
    for start in range(0, len(heads), MOST_COLUMNS):
        columns = range(start, min(start + MOST_COLUMNS, len(heads)))
        rows = [
            (side, [cells.get((column, place) if transposed else (place, column)) for column in columns])
            for place, side in enumerate(sides)
        ]
        parts.append(Overview("Model" if transposed else "Topic", [heads[n] for n in columns], rows))
    return parts


def largest(shown: Chart, names: Sequence[str]) -> str:
    """Return the largest mean d of a robust or limited topic, with what it can be compared with; empty if there is
    none.
    """
    strong = [
        row for row in shown.rows if row.verdict.outcome in ("robust", "limited") and row.verdict.effect_size
    ]
    if not strong:
        return ""
    row = max(strong, key=lambda row: abs(row.verdict.effect_size or 0.0))
    where = f" in {names[row.subject]}" if len(names) > 1 else ""
    parts = [f"{topic_name(row.verdict.topic)}{where}, {statements.sizes(row.verdict, row.alpha, p=False)}"]
    if row.people:
        parts.append(f"people in the IAT have {', '.join(map(effect, row.people))}")
    if row.verdict.reference:
        parts.append(statements.standing_text(row.verdict))
    return "; ".join(parts) + "."


def topics_figure(shown: Chart, subjects: Sequence[Subject]) -> str:
    """Return the chart as one SVG file in light colours, with topics down and models across; empty if there are no
    verdicts.
    """
    rows = [*shown.topics, *shown.checks]
    if not rows:
        return ""
    columns = sorted({cell.subject for row in rows for cell in row})
    kit = files("weatherglass.report.kit").joinpath("kit.html").read_text(encoding="utf-8")
    symbols = dict(re.findall(r'<symbol id="g-(\w+)"[^>]*>(.*?)</symbol>', kit))
    width = NAMES + len(columns) * (PANEL + GAP)
    height = 44 + len(rows) * ROW + 64
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="11">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for place, subject in enumerate(columns):
        left = NAMES + place * (PANEL + GAP)
        x = partial(x_of, left=left, right=left + PANEL)
        parts.append(_text(left, 14, subjects[subject].short, weight="bold"))
        parts += [_text(x(d), 32, effect(d)[:-3], SOFT, anchor="middle") for d in (-2.0, -1.0, 0.0, 1.0, 2.0)]
        parts.append(f'<line x1="{x(0)}" x2="{x(0)}" y1="38" y2="{44 + len(rows) * ROW}" stroke="{FAINT}"/>')
    for number, row in enumerate(rows):
        top = 44 + number * ROW
        label = row[0].name + (" (sanity check)" if row[0].verdict.check else "")
        parts.append(f'<line x1="0" x2="{width}" y1="{top}" y2="{top}" stroke="{LINE}"/>')
        parts.append(_text(0, top + 18, label, weight="bold"))
        parts.append(_text(0, top + 32, shortened_name(row[0].contrast, NAMES // 5), SOFT))
        for cell in row:
            parts += _cell(cell, NAMES + columns.index(cell.subject) * (PANEL + GAP), top, symbols)
    notes = (
        "Mark: mean d of the topic’s tests; line: its interval, dashed where it contains 0;",
        "circles: tests, filled if significant; squares: not tested; band: reference models; dotted: placebo.",
        "Right of 0, blue: as named; left, orange: the opposite; grey: no direction established.",
    )
    parts += [_text(0, height - 42 + 15 * place, note, SOFT) for place, note in enumerate(notes)]
    return "".join([*parts, "</svg>"])


def _cell(row: TopicRow, left: float, top: float, symbols: Mapping[str, str]) -> Iterator[str]:
    """Yield the drawing of one row at the given place."""
    verdict, y = row.verdict, top + 16
    x = partial(x_of, left=left, right=left + PANEL)
    negative = (verdict.effect_size or 0) < 0
    colour = (OPPOSITE if negative else STRONG) if row.strong else FAINT
    if row.band:
        low, high = (float(x(d)) for d in row.band)
        yield f'<rect x="{low}" y="{top + 3}" width="{max(2.0, high - low):.4g}" height="27" fill="{BAND}"/>'
    for d in row.placebo:
        yield (
            f'<line class="placebo" x1="{x(d)}" x2="{x(d)}" y1="{top + 2}" y2="{top + 31}" stroke="{SOFT}" '
            'stroke-dasharray="1.5 3"/>'
        )
    for d in row.people:
        yield f'<path d="M{x(d)} {top + 12}l4 4-4 4-4-4Z" fill="none" stroke="{SOFT}"/>'
    if verdict.ci_low is not None and verdict.ci_high is not None:
        dashes = "" if row.strong else ' stroke-dasharray="4 3"'
        yield (
            f'<line x1="{x(verdict.ci_low)}" x2="{x(verdict.ci_high)}" y1="{y}" y2="{y}" '
            f'stroke="{colour}" stroke-width="{3 if row.strong else 2}"{dashes}/>'
        )
    for dot in row.dots:
        edge = (OPPOSITE if dot.d < 0 else STRONG) if dot.marked else FAINT
        fill, at = edge if dot.marked else "#ffffff", x(dot.d)
        shape = f'circle cx="{at}" cy="{top + 26}" r="2.2"'
        if not dot.tested:
            shape = f'rect x="{float(at) - 2:.4g}" y="{top + 24}" width="4" height="4"'
        yield f'<{shape} fill="{fill}" stroke="{edge}"/>'
    if verdict.effect_size is not None:
        drawing = (
            symbols.get(row.symbol, "").replace("var(--paper)", "#ffffff").replace("currentColor", colour)
        )
        place = f"translate({x(verdict.effect_size)} {y})"
        yield f'<g transform="{place} scale(.85)">{drawing}</g>'
    yield _text(left, top + 41, statements.outcome_text(verdict))
    count = "" if verdict.check else f"{len(verdict.marked)} of {len(verdict.tests)}   "
    yield _text(left + PANEL, top + 41, f"{count}{effect(verdict.effect_size)}", anchor="end")


def _text(
    x: float | str, y: float, text: str, colour: str = INK, anchor: str = "start", weight: str = "normal"
) -> str:
    printable = "".join(letter if letter.isprintable() else " " for letter in text)  # XML forbids controls
    return (
        f'<text x="{x}" y="{y}" fill="{colour}" text-anchor="{anchor}" font-weight="{weight}" '
        f'xml:space="preserve">{html.escape(printable, quote=False)}</text>'
    )
