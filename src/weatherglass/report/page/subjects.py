"""The layout of a report: models of all runs as columns, tests in groups as rows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from weatherglass.runs.results import Result
from weatherglass.runs.stored import StoredRun

CONTEXTS = {
    "word": "word",
    "sent": "sentence",
    "sent-unbleached": "unbleached sentence",
    "paragraph": "paragraph",
    "": "not recorded",
}
"""Context -> its name for readers."""

_GROUPS = (
    (r"weat[12]", "Flowers, insects, instruments, weapons"),
    (r"weat(3|3b|4|5|5b)", "European and African Americans"),
    (r"weat(6|6b|7|7b|8|8b)", "Women and men: career, maths, science"),
    (r"weat9", "Illness of mind and body"),
    (r"weat10", "Young and old"),
    (r"angry_black_woman_stereotype(_b)?", "Angry Black Woman stereotype"),
    (r"heilman_double_bind_.*", "Double bind: competent, likable"),
)
OWN = "Other tests"


@dataclass(frozen=True, slots=True)
class Subject:
    """A model with its options in one run: a column of the matrix."""

    run: int
    model: str
    options: str
    label: str
    """The model's spec; with options or run if several columns have the same spec."""


@dataclass(frozen=True, slots=True)
class TestRow:
    """A row of the matrix: the test, or the part of it that a metric takes, with its context, group and sets."""

    name: str
    context: str
    group: str
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

    def is_effect_size(self, metric: int) -> bool:
        """Whether the numbers of one metric's matrix are effect sizes d."""
        return all(
            r.is_effect_size for r, (_, _, m) in zip(self.results, self.places, strict=True) if m == metric
        )

    def results_of(self, subject: int) -> list[Result]:
        """The results of one model, under all metrics."""
        return [r for r, (s, _, _) in zip(self.results, self.places, strict=True) if s == subject]


def group_of(test: str) -> str:
    """The group of a published test, at word or sentence level.

    >>> group_of("sent-weat5b")
    'European and African Americans'
    """
    name = test.removeprefix("sent-")
    return next((group for pattern, group in _GROUPS if re.fullmatch(pattern, name)), OWN)


def lay_out(runs: Sequence[StoredRun]) -> Layout:
    """Number the models, tests and metrics of all runs in the order in which they first appear."""
    subjects: dict[tuple[int, str, str], int] = {}
    tests: dict[str, TestRow] = {}
    metrics: dict[str, int] = {}
    results: list[Result] = []
    keys: list[tuple[tuple[int, str, str], str, str]] = []
    for number, run in enumerate(runs):
        for result in run.results:
            key = (number, result.model, result.options)
            subjects.setdefault(key, len(subjects))
            metrics.setdefault(result.metric, len(metrics))
            test = TestRow(result.row, result.context, group_of(result.test), result.categories, result.roles)
            if not tests.setdefault(result.row, test).context:
                tests[result.row] = test
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


def _labelled(keys: Sequence[tuple[int, str, str]], runs: Sequence[StoredRun]) -> list[Subject]:
    names = Counter(model for _, model, _ in keys)
    in_run = Counter((run, model) for run, model, _ in keys)
    subjects = []
    for run, model, options in keys:
        label = model
        if in_run[run, model] > 1:
            label += f" [{options}]"
        if names[model] > in_run[run, model]:
            label += f" · {runs[run].label}"
        subjects.append(Subject(run, model, options, label))
    return subjects
