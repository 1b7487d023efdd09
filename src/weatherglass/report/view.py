"""A run as plain JSON: all that a page, a terminal, a notebook or an explorer shows of it.

Nothing is computed here. Verdicts, agreement of metrics, families, power and warnings are in run.json, results in the
journal, both written when the run was; the view puts them together, and adds how each result is named and marked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from weatherglass.audit.results import Failure, Result, mark_of_row, plain_value, published_p
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import Verdict
from weatherglass.report.page.subjects import Layout, lay_out
from weatherglass.warnings import described

FORMAT = 1
"""Raised when an entry of a view is renamed, or means something else."""
OWN = ("view", "label", "folder", "lacking", "notices", "result_keys", "columns", "rows", "results")
"""Entries of a view beside those of run.json."""


def view(run: Run) -> dict[str, Any]:
    """Return a run as plain JSON: the entries of run.json, and those of `OWN`.

    `columns` are the models, `rows` the tests with their names for readers; `results` are in the order of the run, each
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


def _results(run: Run, layout: Layout) -> Iterator[dict[str, Any]]:
    for result, (column, row, _) in zip(run.results, layout.places, strict=True):
        mark = mark_of_row(result)
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
    """Return the run that a view describes: what pages and terminals show of it is what they show of the run itself."""
    record = {name: value for name, value in content.items() if name not in OWN}
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
