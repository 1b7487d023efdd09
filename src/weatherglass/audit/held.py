"""A run that its folder holds already: nothing is computed or written, and what computes is not loaded."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from weatherglass.audit.folder import PAGE, RECORD, RunFolder
from weatherglass.audit.judge import judge
from weatherglass.audit.plan import Plan
from weatherglass.audit.record import finished_record, now, run_record
from weatherglass.audit.run import Run
from weatherglass.audit.stamp import is_current
from weatherglass.audit.stored import held_record
from weatherglass.audit.verdict import Verdict, with_outcomes
from weatherglass.warnings import as_warnings

NOT_COMPARED = ("started", "finished", "verdicts", "outcomes", "agreement", "families", "models", "warnings")
"""Entries of a record that the same run may have otherwise, or that are compared in part."""


def cached_run(plan: Plan, call: Mapping[str, Any], folder: RunFolder) -> Run | None:
    """The run in the folder, if it is what the plan asks for: complete, with table and page as they would be written.

    Args:
        plan: what is asked for.
        call: who asks for it, and how.
        folder: opened.
    """
    keys = tuple(row.key for row in plan.rows)
    if any(key not in folder.finished for key in keys):
        return None
    record = held_record(folder.path)
    if record is None or not is_current(folder.path / PAGE, folder.path / RECORD):
        return None
    if len(record.get("outcomes") or ()) != len(keys):
        return None
    results = judge([folder.finished[key] for key in keys], plan.correction)
    results = with_outcomes(results, record["outcomes"])
    asked_for = finished_record(run_record(plan, call, now()), plan, results, [], folder.warnings, "complete")
    if not _is_same(record, json.loads(json.dumps(asked_for))) or not folder.holds_table(results):
        return None
    return Run(results, [], record, keys, judged=tuple(map(Verdict.from_json, record["verdicts"])))


def _is_same(held: Mapping[str, Any], asked_for: Mapping[str, Any]) -> bool:
    """Whether two records are of one run: the same but for the time, and for what only encoding can tell."""
    names = {*held, *asked_for} - {*NOT_COMPARED}
    if any(name not in held for name in ("verdicts", "agreement")) or any(
        name not in held or name not in asked_for or held[name] != asked_for[name] for name in names
    ):
        return False
    models = [[{**model, "notes": []} for model in record["models"]] for record in (held, asked_for)]
    known = set(as_warnings(held["warnings"]))
    return models[0] == models[1] and known.issuperset(as_warnings(asked_for["warnings"]))
