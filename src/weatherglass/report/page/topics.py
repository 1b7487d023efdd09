"""The first screen of the page: a row per topic and model with all that its drawing shows, grouped by outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weatherglass.audit.results import Mark, Result, mark_of_topic
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import Verdict
from weatherglass.catalogue.names import capitalised, contrast, topic_name
from weatherglass.report import statements
from weatherglass.report.numbers import counted, effect, percent, to
from weatherglass.report.terminal import standing_text
from weatherglass.report.view import Layout

REACH = 2.0
"""The axis goes from minus this to this; with sets of equal size |d| stays below it."""
MOST_TOPICS = 24
"""Topics in the chart; a run of very many tests, each its own topic, has the rest in the table."""
MOST_COLUMNS = 8
"""Columns of a part of the overview: as many as a sheet of A4 has room for."""
WIDTH, HEIGHT, MARGIN = 430, 44, 14
"""Of a drawing, in its own units; it is scaled to the width of its column."""


@dataclass(frozen=True, slots=True)
class Dot:
    """One test in the drawing of its topic."""

    d: float
    title: str
    marked: bool
    tested: bool
    decisive: bool


@dataclass(frozen=True, slots=True)
class TopicRow:
    """What one model shows on one topic, as it is drawn."""

    verdict: Verdict
    subject: int
    dots: tuple[Dot, ...]
    result: int | None
    """The number of the result that the verdict rests on most."""
    alpha: float

    @property
    def mark(self) -> Mark:
        """The mark of the topic."""
        return mark_of_topic(self.verdict)

    @property
    def symbol(self) -> str:
        """The drawing of the mark, in symbols.html."""
        if self.verdict.check:
            return "found" if self.verdict.found else "missed" if self.verdict.found is False else "none"
        return self.verdict.outcome or "none"

    @property
    def name(self) -> str:
        """The topic, or what a sanity check compares."""
        verdict = self.verdict
        if verdict.check and len(verdict.sets) == 4:
            return capitalised(statements.targets(verdict))
        return capitalised(topic_name(verdict.topic))

    @property
    def contrast(self) -> str:
        """What a positive d says."""
        return contrast(self.verdict.sets)

    @property
    def strong(self) -> bool:
        """Whether the interval is drawn as a finding: it leaves out 0."""
        return bool(statements.sign_of(self.verdict))

    @property
    def why(self) -> str:
        """Why the topic has this verdict, in words."""
        return statements.reason(self.verdict)

    @property
    def count(self) -> str:
        """How many of the tests differ."""
        verdict = self.verdict
        if verdict.check:
            return ""
        if not verdict.tests:
            return f"{counted(len(verdict.measured), 'test')} measured, not tested."
        verb = "differs" if len(verdict.tests) == 1 else "differ"
        return f"{len(verdict.marked)} of {counted(len(verdict.tests), 'test')} {verb}."

    @property
    def references(self) -> tuple[tuple[str, float], ...]:
        """The reference models with their mean d of these tests."""
        return tuple(self.verdict.reference.effect_sizes.items()) if self.verdict.reference else ()

    @property
    def band(self) -> tuple[float, float] | None:
        """The range of the reference models."""
        values = [d for _, d in self.references]
        return (min(values), max(values)) if values else None

    @property
    def people(self) -> tuple[float, ...]:
        """d of people in the Implicit Association Test."""
        return tuple(self.verdict.human.values())

    @property
    def placebo(self) -> tuple[float, ...]:
        """The ends of the placebo line, where 95 % of random divisions of the attribute words lie; empty if unknown."""
        reach = self.verdict.placebo
        return () if reach is None else (-reach, reach)

    @property
    def spoken(self) -> str:
        """The drawing in words."""
        verdict = self.verdict
        parts = [f"mean d {effect(verdict.effect_size)}"]
        if verdict.ci_low is not None and verdict.ci_high is not None:
            parts.append(f"{percent(1 - self.alpha)} interval {to(verdict.ci_low, verdict.ci_high)}")
        if self.band:
            parts.append(f"reference models {to(*self.band)}")
        if self.placebo:
            parts.append(f"placebo {to(*self.placebo)}")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Group:
    """Rows under one heading: those of one outcome, or with several models those of one topic."""

    heading: str
    symbol: str
    count: str
    meaning: str
    rows: list[TopicRow]
    kind: str = "topics"


@dataclass(frozen=True, slots=True)
class Chart:
    """The topics of one metric in the order in which they are shown, and the sanity checks."""

    topics: list[list[TopicRow]]
    """A list for each topic, the strongest first: one row for each model that has it."""
    checks: list[list[TopicRow]]
    left_out: int
    """Topics that are not drawn, since there are too many."""
    verdicts: list[Verdict]
    alpha: float

    @property
    def rows(self) -> list[TopicRow]:
        """The rows of all topics, without sanity checks."""
        return [row for topic in self.topics for row in topic]


def x_of(d: float) -> str:
    """Return where d lies in a drawing.

    >>> x_of(0), x_of(7)
    ('215', '416')
    """
    half = WIDTH / 2 - MARGIN
    return f"{WIDTH / 2 + half * max(-REACH, min(REACH, d)) / REACH:.5g}"


def percent_of(d: float) -> str:
    """Return where d lies on a fluid axis, in per cent of its width.

    >>> percent_of(0.5), percent_of(-7)
    ('62.5%', '0%')
    """
    return f"{50 + 50 * max(-REACH, min(REACH, d)) / REACH:.4g}%"


def chart(runs: Sequence[Run], verdicts: Sequence[Sequence[Verdict]], layout: Layout, metric: int) -> Chart:
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
    return Chart(topics[:MOST_TOPICS], checks, max(0, len(topics) - MOST_TOPICS), listed, alpha)


def _row(
    verdict: Verdict,
    subject: int,
    numbers: dict[tuple[int, str], int],
    results: Sequence[Result],
    alpha: float,
) -> TopicRow:
    def dots() -> Iterator[Dot]:
        for test in (*verdict.tests, *verdict.measured):
            number = numbers.get((subject, test))
            d = None if number is None or not results[number].info.poolable else results[number].bias
            if d is None or d != d:
                continue
            tested = test in verdict.tests
            said = "" if tested else ", measured, not tested"
            said += ", decisive" if test == verdict.decisive and len(verdict.tests) > 1 else ""
            title = f"{test}: d {effect(d)}{said}"
            yield Dot(
                d, title, test in verdict.marked, tested, test == verdict.decisive and len(verdict.tests) > 1
            )

    return TopicRow(verdict, subject, tuple(dots()), numbers.get((subject, verdict.decisive)), alpha)


def groups(shown: Chart, names: Sequence[str]) -> list[Group]:
    """Return the rows by outcome where there is one model, by topic where there are several; sanity checks last."""
    rows = shown.rows
    judged = sum(row.verdict.outcome is not None for row in rows)
    if len(names) == 1:
        found = [
            Group(
                word.heading,
                own[0].symbol,
                f"{len(own)} of {judged}" if own[0].verdict.outcome else "",
                _sentence(word.explained(own[0].verdict.family, shown.alpha)),
                own,
            )
            for word in dict.fromkeys(statements.word_of(row.verdict) for row in rows)
            for own in [[row for row in rows if statements.word_of(row.verdict) == word]]
        ]
    else:
        found = [Group(topic[0].name, "", "", topic[0].contrast, topic) for topic in shown.topics]
    checks = [row for topic in shown.checks for row in topic]
    if checks:
        passed = sum(row.verdict.found is True for row in checks)
        meaning = (
            "Associations that people and most models show. A model that misses one may be weak in general."
        )
        found.append(
            Group("Sanity checks", "", f"{passed} of {len(checks)} passed", meaning, checks, "checks")
        )
    return found


@dataclass(frozen=True, slots=True)
class Overview:
    """A table of models and topics, or a part of it that is no wider than a sheet of paper."""

    corner: str
    heads: list[str]
    rows: list[tuple[str, list[TopicRow | None]]]


def overview(shown: Chart, names: Sequence[str]) -> list[Overview]:
    """Return mark and mean d by topic and model; whichever there are fewer of are the columns."""
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


def _sentence(text: str) -> str:
    return capitalised(text) + "." if text else ""


def largest(shown: Chart, names: Sequence[str]) -> str:
    """Return the largest mean d of a robust or limited topic and what it can be compared with; empty without one."""
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
        parts.append(standing_text(row.verdict))
    return "; ".join(parts) + "."
