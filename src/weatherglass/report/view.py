"""Arrange a run for every screen, with models as columns and tests by topic as rows, and as plain JSON.

This module computes no numbers. The run writes verdicts, agreement of metrics, families, power and warnings to
run.json, and results to the journal. The view combines them, and adds the name and mark of each result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weatherglass.audit.results import Failure, Result, mark_of, plain_value, published_p
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import CONTROL, Verdict
from weatherglass.catalogue.names import human_name, list_name, model_names, shortened_name
from weatherglass.warnings import described

if TYPE_CHECKING:
    from weatherglass.metrics.base import MetricInfo

CONTEXTS = {
    "word": "word",
    "sent": "sentence",
    "sent-unbleached": "unbleached sentence",
    "paragraph": "paragraph",
    "pair": "sentence pair",
    "": "not recorded",
}
"""Readable names of contexts."""

NO_TOPIC = "other tests"
"""The heading of tests without a topic."""
FORMAT = 1
"""The version of a view; increase it when an entry is renamed or its meaning changes."""
VIEW_ENTRIES = ("view", "label", "folder", "lacking", "notices", "result_keys", "columns", "rows", "results")
"""Entries of a view that run.json does not have."""
LONGEST_LABEL = 28
"""The number of characters of a model's name in a heading; the start of a longer name is left out."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A model with its options in one run, which is a column of the table."""

    run: int
    model: str
    options: str
    label: str
    """The model's name, with its options or run if several columns have the same name."""
    short: str
    """The end of the label, which distinguishes models."""


@dataclass(frozen=True, slots=True)
class TestRow:
    """A row of the table, which is a test, or the part of it that a metric takes, with its topic, context and sets."""

    name: str
    title: str
    """The meaning of a positive d, in words."""
    words: str
    """The words that are used, and their context."""
    context: str
    topic: str
    categories: tuple[str, ...]
    roles: tuple[str, ...]
    """The role of each category: X, Y, A, …"""

    __test__ = False  # not a test class for pytest


@dataclass(frozen=True, slots=True)
class ReportLayout:
    """The columns, rows and results of a report, and the cell of each result."""

    subjects: list[Subject]
    tests: list[TestRow]
    metrics: list[str]
    infos: list[MetricInfo]
    """The facts that each metric declares."""
    topics: dict[str, list[int]]
    """The numbers of the tests of each topic, in order; controls and tests without a topic come last."""
    results: list[Result]
    places: list[tuple[int, int, int]]
    """The subject, test and metric of each result."""

    def cells(self, metric: int) -> dict[tuple[int, int], int]:
        """Return the number of the result in each cell of one metric's matrix, by test and subject."""
        return {(t, s): number for number, (s, t, m) in enumerate(self.places) if m == metric}

    def results_of(self, subject: int) -> list[Result]:
        """Return the results of one model under all metrics."""
        return [r for r, (s, _, _) in zip(self.results, self.places, strict=True) if s == subject]


def lay_out(runs: Sequence[Run]) -> ReportLayout:
    """Number the models, tests and metrics of all runs in the order in which they first appear."""
    results = [result for run in runs for result in run.results]
    keys = [(number, r.model, r.options) for number, run in enumerate(runs) for r in run.results]
    subjects = {key: place for place, key in enumerate(dict.fromkeys(keys))}
    infos = {result.metric: result.info for result in reversed(results)}
    metrics = {name: place for place, name in enumerate(dict.fromkeys(r.metric for r in results))}
    tests: dict[str, TestRow] = {}
    by_topic: dict[str, list[int]] = {}
    for run in runs:
        topics = run.record.get("topics", {})
        for r in run.results:
            if r.row in tests:
                continue
            topic = topics.get(r.test, "")
            topic = topic if topic and topic != r.test else NO_TOPIC
            title, words = human_name(r.categories), list_name(r.test, r.categories, r.context)
            by_topic.setdefault(topic, []).append(len(tests))
            tests[r.row] = TestRow(r.row, title, words, r.context, topic, r.categories, r.roles)
    rows = {name: place for place, name in enumerate(tests)}
    last = {CONTROL: 1, NO_TOPIC: 2}
    return ReportLayout(
        _labelled(list(subjects), runs),
        list(tests.values()),
        list(metrics),
        [infos[name] for name in metrics],
        dict(sorted(by_topic.items(), key=lambda item: last.get(item[0], 0))),
        results,
        [(subjects[key], rows[r.row], metrics[r.metric]) for key, r in zip(keys, results, strict=True)],
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


def view(run: Run) -> dict[str, Any]:
    """Return a run as plain JSON, with the entries of run.json and `VIEW_ENTRIES`.

    `columns` are the models, and `rows` are the tests with readable names. `results` are in the order of the run, each
    with the numbers of its column and row, its mark, its direction in words and the p that papers would print.
    """
    layout = lay_out([run])
    content = {
        **run.record,
        "view": FORMAT,
        "label": run.label,
        "folder": str(run.folder) if run.folder else None,
        "lacking": run.lacking,
        "notices": run.notices,
        "warnings": described(run.warnings),
        "verdicts": [verdict.to_json() for verdict in run.verdicts()],
        "result_keys": run.keys,
        "columns": [asdict(subject) for subject in layout.subjects],
        "rows": [asdict(test) for test in layout.tests],
        "results": list(_results(run, layout)),
    }
    return {name: plain_value(value) for name, value in content.items()}


def _results(run: Run, layout: ReportLayout) -> Iterator[dict[str, Any]]:
    for result, (column, row, _) in zip(run.results, layout.places, strict=True):
        mark = mark_of(result)
        yield {
            **result.to_json(),
            "warnings": described(result.warnings),
            "column": column,
            "row": row,
            "glyph": mark.glyph,
            "mark_words": mark.words,
            "bias": result.bias,
            "lean": result.lean,
            "direction": result.direction,
            "published_p": published_p(result),
        }


def run_of_view(content: Mapping[str, Any]) -> Run:
    """Return the run that a view describes; pages and terminals show it like the run itself."""
    record = {name: value for name, value in content.items() if name not in VIEW_ENTRIES}
    return Run(
        [Result.from_json(result) for result in content["results"]],
        [Failure(f["model"], f["test"], f["reason"]) for f in record.get("failures", [])],
        record,
        tuple(content["result_keys"]),
        Path(content["folder"]) if content["folder"] else None,
        label=content["label"],
        lacking=tuple(content["lacking"]),
        judged=tuple(map(Verdict.from_json, content["verdicts"])),
    )
