"""The layout of a report: models of all runs as columns, tests by topic as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weatherglass.audit.results import Result
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import CONTROL
from weatherglass.catalogue.names import human_name, list_name, model_names, shortened_name

if TYPE_CHECKING:
    from weatherglass.metrics.base import MetricInfo

CONTEXTS = {
    "word": "word",
    "sent": "sentence",
    "sent-unbleached": "unbleached sentence",
    "paragraph": "paragraph",
    "": "not recorded",
}
"""Context -> its name for readers."""

OWN = "other tests"
"""The topic under which tests are listed that have none."""
LONGEST_LABEL = 28
"""Letters of a model's name in a heading; the front of a longer one is left out."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A model with its options in one run: a column of the table."""

    run: int
    model: str
    options: str
    label: str
    """The model's name; with options or run if several columns have the same name."""
    short: str
    """The end of the label, which tells models apart."""


@dataclass(frozen=True, slots=True)
class TestRow:
    """A row of the table: the test, or the part of it that a metric takes, with its topic, context and sets."""

    name: str
    title: str
    """What a positive d says, in words."""
    words: str
    """Which words ask it, and in which surroundings."""
    context: str
    topic: str
    categories: tuple[str, ...]
    roles: tuple[str, ...]
    """X, Y, A, …: what the sets of these names are."""

    __test__ = False  # not a test class for pytest


@dataclass(frozen=True, slots=True)
class Layout:
    """Columns, rows and results of a report, and the cell of each result."""

    subjects: list[Subject]
    tests: list[TestRow]
    metrics: list[str]
    results: list[Result]
    places: list[tuple[int, int, int]]
    """Subject, test and metric of each result."""

    def cells(self, metric: int) -> dict[tuple[int, int], int]:
        """The number of the result in each cell of one metric's matrix, by test and subject."""
        return {(t, s): number for number, (s, t, m) in enumerate(self.places) if m == metric}

    def info(self, metric: int) -> MetricInfo:
        """Return what a metric declares."""
        return next(r.info for r, (_, _, m) in zip(self.results, self.places, strict=True) if m == metric)

    def poolable(self, metric: int) -> bool:
        """Return whether the numbers of one metric's matrix are on one scale, as effect sizes are."""
        return self.info(metric).poolable

    def by_topic(self) -> dict[str, list[int]]:
        """The numbers of the tests of each topic, in order; controls and tests without a topic last."""
        numbers: dict[str, list[int]] = {}
        for number, test in enumerate(self.tests):
            numbers.setdefault(test.topic, []).append(number)
        last = {CONTROL: 1, OWN: 2}
        return dict(sorted(numbers.items(), key=lambda item: last.get(item[0], 0)))

    def results_of(self, subject: int) -> list[Result]:
        """The results of one model, under all metrics."""
        return [r for r, (s, _, _) in zip(self.results, self.places, strict=True) if s == subject]


def lay_out(runs: Sequence[Run]) -> Layout:
    """Number the models, tests and metrics of all runs in the order in which they first appear."""
    subjects: dict[tuple[int, str, str], int] = {}
    tests: dict[str, TestRow] = {}
    metrics: dict[str, int] = {}
    results: list[Result] = []
    keys: list[tuple[tuple[int, str, str], str, str]] = []
    for number, run in enumerate(runs):
        topics = run.record.get("topics", {})
        for result in run.results:
            key = (number, result.model, result.options)
            subjects.setdefault(key, len(subjects))
            metrics.setdefault(result.metric, len(metrics))
            if result.row not in tests:
                tests[result.row] = _test_row(result, topics.get(result.test, ""))
            results.append(result)
            keys.append((key, result.row, result.metric))
    place = {name: position for position, name in enumerate(tests)}
    return Layout(
        _labelled(list(subjects), runs),
        list(tests.values()),
        list(metrics),
        results,
        [(subjects[key], place[test], metrics[metric]) for key, test, metric in keys],
    )


def _test_row(result: Result, topic: str) -> TestRow:
    own = not topic or topic == result.test
    return TestRow(
        result.row,
        human_name(result.categories),
        list_name(result.test, result.categories, result.context),
        result.context,
        OWN if own else topic,
        result.categories,
        result.roles,
    )


def _labelled(keys: Sequence[tuple[int, str, str]], runs: Sequence[Run]) -> list[Subject]:
    names = Counter(model for _, model, _ in keys)
    in_run = Counter((run, model) for run, model, _ in keys)
    shorter = dict(zip(names, model_names(list(names)), strict=True))
    labels = []
    for run, model, options in keys:
        label = shorter[model]
        if in_run[run, model] > 1:
            label += f" [{options}]"
        if names[model] > in_run[run, model]:
            label += f" · {runs[run].label}"
        labels.append(label)
    shown = Counter(shortened_name(label, LONGEST_LABEL) for label in labels)
    return [
        Subject(*key, label, short if shown[short] == 1 else label)
        for key, label in zip(keys, labels, strict=True)
        for short in [shortened_name(label, LONGEST_LABEL)]
    ]
