"""The first screen: a cell per topic and model with all that its drawing shows, and the sentence above the chart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from weatherglass.report.numbers import effect, interval, percent
from weatherglass.report.page.subjects import Layout, Subject
from weatherglass.report.test_names import human_name, tie
from weatherglass.runs.marks import VerdictMark, verdict_mark
from weatherglass.runs.results import Result
from weatherglass.runs.stored import StoredRun

SYMBOLS = {
    VerdictMark.SHOWN: "shown",
    VerdictMark.THESE_WORDS: "these",
    VerdictMark.SUGGESTED: "suggested",
    VerdictMark.MIXED: "mixed",
    VerdictMark.SMALL: "small",
    VerdictMark.CANNOT_TELL: "cannot",
    VerdictMark.NOT_JUDGED: "cannot",
}
"""The drawing of each mark, in symbols.html."""
FIRMEST = list(VerdictMark)
REACH = 2.0
"""The axis goes from minus this to this; with sets of equal size |d| stays below it."""
MOST_TOPICS = 24
"""Topics in the chart; a run of very many tests of one's own, each its own topic, has the rest in the table."""
NAMED = 2
"""Findings that the sentence names; the others are counted."""


@dataclass(frozen=True, slots=True)
class TopicCell:
    """What one model shows on one topic."""

    topic: str
    control: bool
    subject: int
    mark: VerdictMark
    why: str
    says: str
    """What the topic's decisive test says of the model: "ties men to career"; empty where there is no direction."""
    example: str
    """What a positive d means in the decisive test, or in the first."""
    d: float | None
    low: float | None
    high: float | None
    further_low: float | None
    further_high: float | None
    tests: tuple[float, ...]
    """d of each test."""
    significant: int
    number: int
    """How many tests there are."""
    reference: Mapping[str, float]
    """Mean d of the same tests in the reference models."""
    above: int
    """How many of them have a smaller mean d."""
    people: tuple[float, ...]
    """d of people in the Implicit Association Test."""
    decisive: int | None
    """The number of the result that the verdict rests on most."""
    level: str

    @property
    def symbol(self) -> str:
        return SYMBOLS[self.mark]

    @property
    def tone(self) -> str:
        """The colour: sign of d, ink where tests point both ways, faint where nothing can be told."""
        if self.mark is VerdictMark.MIXED:
            return "ink"
        if self.mark in (VerdictMark.CANNOT_TELL, VerdictMark.NOT_JUDGED) or self.d is None:
            return "faint"
        return "neg" if self.d < 0 else "pos"

    @property
    def line(self) -> str:
        """The style of the interval's line."""
        if self.mark in (VerdictMark.SHOWN, VerdictMark.THESE_WORDS):
            return ""
        return "dash" if self.mark in (VerdictMark.CANNOT_TELL, VerdictMark.NOT_JUDGED) else "thin"

    def spoken(self, model: str) -> str:
        """The drawing in words."""
        parts = [f"{model}, {self.topic}: {self.mark.words}", f"mean d {effect(self.d)}"]
        if bounds := interval(self.low, self.high):
            parts.append(f"{self.level} interval {bounds}")
        parts.append(f"{self.significant} of {self.number} tests significant")
        if self.reference:
            parts.append(f"above {self.above} of {len(self.reference)} reference models")
        if self.people:
            parts.append(f"people in the IAT {', '.join(effect(d) for d in self.people)}")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Chart:
    """The topics of one metric in the order in which they are shown, and the cells of each."""

    rows: list[list[TopicCell]]
    """A row for each topic, firmest verdict first; a cell for each model that has it."""
    controls: list[list[TopicCell]]
    left_out: int
    """Topics that are not drawn, since there are too many."""

    @property
    def cells(self) -> list[TopicCell]:
        """The cells of all topics, controls apart."""
        return [cell for row in self.rows for cell in row]


def percent_of(d: float) -> str:
    """Where d lies on the axis, in per cent of its width.

    >>> percent_of(0.5), percent_of(-7)
    ('62.5%', '0%')
    """
    return f"{50 + 50 * max(-REACH, min(REACH, d)) / REACH:.4g}%"


def chart(
    runs: Sequence[StoredRun], verdicts: Sequence[Sequence[Mapping[str, Any]]], layout: Layout, metric: int
) -> Chart:
    """The chart of one metric, from the verdicts of each run."""
    by_topic: dict[tuple[bool, str], list[TopicCell]] = {}
    subjects = {(s.run, s.model, s.options): number for number, s in enumerate(layout.subjects)}
    numbers = {
        (
            layout.subjects[s].run,
            layout.subjects[s].model,
            layout.subjects[s].options,
            layout.results[n].test,
        ): n
        for n, (s, _, m) in enumerate(layout.places)
        if m == metric
    }
    name = layout.metrics[metric] if layout.metrics else ""
    for run, listed in enumerate(verdicts):
        for verdict in listed:
            subject = subjects.get((run, verdict["model"], verdict["options"]))
            if verdict["metric"] == name and subject is not None:
                at = {
                    test: numbers.get((run, verdict["model"], verdict["options"], test))
                    for test in verdict["tests"]
                }
                cell = _cell(verdict, subject, at, layout.results, percent(1 - runs[run].alpha))
                by_topic.setdefault((cell.control, cell.topic), []).append(cell)
    rows = sorted((cells for (control, _), cells in by_topic.items() if not control), key=_firmness)
    controls = [cells for (control, _), cells in by_topic.items() if control]
    return Chart(rows[:MOST_TOPICS], controls, max(0, len(rows) - MOST_TOPICS))


def _cell(
    verdict: Mapping[str, Any],
    subject: int,
    numbers: Mapping[str, int | None],
    results: Sequence[Result],
    level: str,
) -> TopicCell:
    first = next((n for n in numbers.values() if n is not None), None)
    decisive = numbers.get(verdict["decisive"], first)
    result = results[decisive] if decisive is not None else None
    mark = verdict_mark(verdict["verdict"])
    speaks = result is not None and mark in (
        VerdictMark.SHOWN,
        VerdictMark.THESE_WORDS,
        VerdictMark.SUGGESTED,
    )
    standing = verdict.get("reference") or {}
    return TopicCell(
        topic=verdict["topic"],
        control=verdict["control"],
        subject=subject,
        mark=mark,
        why=verdict["why"],
        says=tie(result.categories, result.lean) if result and speaks else "",
        example=human_name(result.categories) if result else "",
        d=verdict["effect_size"],
        low=verdict["ci_low"],
        high=verdict["ci_high"],
        further_low=verdict["further_low"],
        further_high=verdict["further_high"],
        tests=tuple(d for d in verdict["effect_sizes"].values() if d is not None),
        significant=verdict["significant"],
        number=len(verdict["tests"]),
        reference=standing.get("effect_sizes", {}),
        above=standing.get("above", 0),
        people=tuple(verdict["human"].values()),
        decisive=decisive,
        level=level,
    )


def _firmness(cells: Sequence[TopicCell]) -> tuple[int, float]:
    best = min(FIRMEST.index(cell.mark) for cell in cells)
    return best, -max(abs(cell.d or 0.0) for cell in cells if FIRMEST.index(cell.mark) == best)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a sentence; a finding is marked."""

    text: str
    marked: bool = False


def sentence(shown: Chart, subjects: Sequence[Subject]) -> list[Part]:
    """What the chart says, firmest first: findings by name, the rest counted."""
    cells = shown.cells
    if not cells:
        return []
    firm = _by_size(cells, VerdictMark.SHOWN)
    these = _by_size(cells, VerdictMark.THESE_WORDS)
    if firm:
        parts = list(_named(firm, subjects))
        if these:
            parts.append(
                Part(f"; {_counted(len(these), 'more association')} {_hold(these)} for the listed words only")
            )
        return [*parts, Part(".")]
    if these:
        return [
            Part("For the listed words, "),
            *_named(these, subjects),
            Part("; whether other words would say so is open."),
        ]
    suggested = _by_size(cells, VerdictMark.SUGGESTED)
    whom = subjects[cells[0].subject].short if len(subjects) == 1 else f"these {len(subjects)} models"
    if suggested:
        return [
            Part(f"No association is shown for {whom}; "),
            Part(f"{_counted(len(suggested), 'is', 'are')} suggested", marked=True),
            Part(f", most of all {suggested[0].topic}."),
        ]
    if any(cell.mark is VerdictMark.MIXED for cell in cells):
        return [
            Part("The tests of a topic "),
            Part("point in opposite directions", marked=True),
            Part(f" for {whom}."),
        ]
    if all(cell.mark is VerdictMark.NOT_JUDGED for cell in cells):
        return [Part("No verdict: "), Part(cells[0].why, marked=True), Part(".")]
    return [
        Part("These tests "),
        Part("cannot tell", marked=True),
        Part(f" whether {whom} has such associations."),
    ]


def _named(cells: Sequence[TopicCell], subjects: Sequence[Subject]) -> Iterator[Part]:
    named = cells[: NAMED + (len(cells) == NAMED + 1)]
    for place, cell in enumerate(named):
        if place:
            yield Part(", and " if place == len(named) - 1 and len(named) == len(cells) else ", ")
        says = cell.says or f"has an association on {cell.topic}"
        same = place and cell.subject == named[place - 1].subject
        yield Part(says if same else f"{subjects[cell.subject].short} {says}", marked=True)
    if rest := len(cells) - len(named):
        yield Part(f", and {_counted(rest, 'more is', 'more are')} shown")


def _by_size(cells: Sequence[TopicCell], mark: VerdictMark) -> list[TopicCell]:
    return sorted((cell for cell in cells if cell.mark is mark), key=lambda cell: -abs(cell.d or 0.0))


def _hold(cells: Sequence[TopicCell]) -> str:
    return "holds" if len(cells) == 1 else "hold"


def _counted(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def counts(shown: Chart) -> str:
    """How many topics of how many models got each verdict."""
    found = Counter(cell.mark for cell in shown.cells)
    total = sum(found.values())
    if not total or set(found) == {VerdictMark.NOT_JUDGED}:
        return ""
    listed = [
        f"{found[mark]} {mark.words}"
        for mark in FIRMEST
        if found[mark] and mark is not VerdictMark.CANNOT_TELL
    ]
    several = len({cell.subject for cell in shown.cells}) > 1
    text = (
        f"Of {_counted(total, 'topic–model pair' if several else 'topic')}: {', '.join(listed)}"
        if listed
        else ""
    )
    untold = found[VerdictMark.CANNOT_TELL]
    if untold:
        where = f"for {untold} these tests cannot tell"
        text = f"{text}; {where}" if text else f"Of {_counted(total, 'topic')}: {where}"
    return text + "."


def largest(shown: Chart) -> TopicCell | None:
    """The firmest finding of the largest size: what most readers ask for first."""
    for mark in FIRMEST:
        if mark is VerdictMark.CANNOT_TELL:
            break
        if found := _by_size(shown.cells, mark):
            return found[0]
    return None


def weighed(cell: TopicCell, subjects: Sequence[Subject]) -> str:
    """What the size of a finding can be held against: its interval, people and reference models."""
    parts = [f"{cell.topic} in {subjects[cell.subject].short}, mean d {effect(cell.d)}"]
    if bounds := interval(cell.low, cell.high):
        parts[0] += f" ({cell.level} {bounds})"
    if cell.people:
        parts.append(f"people in the IAT have {', '.join(effect(d) for d in cell.people)}")
    if cell.reference:
        parts.append(f"{cell.above} of {len(cell.reference)} reference models have less")
    return "; ".join(parts) + "."


def weak_controls(shown: Chart, subjects: Sequence[Subject]) -> list[str]:
    """The models that do not show what everyone agrees on."""
    firm = (VerdictMark.SHOWN, VerdictMark.THESE_WORDS, VerdictMark.NOT_JUDGED)
    return [subjects[cell.subject].short for row in shown.controls for cell in row if cell.mark not in firm]
