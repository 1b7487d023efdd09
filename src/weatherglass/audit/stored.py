"""Read a run from its folder: the results, the record, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from weatherglass.audit.agreement import metric_agreement
from weatherglass.audit.conclude import recorded
from weatherglass.audit.folder import FORMAT, JOURNAL, RECORD, read_journal
from weatherglass.audit.judge import judge
from weatherglass.audit.results import Failure, Result, plain_value
from weatherglass.audit.run import JUDGED, Run, reading_run
from weatherglass.audit.settings import Settings
from weatherglass.audit.verdict import Verdict, outcomes_record, with_outcomes
from weatherglass.errors import OutputError, unreadable
from weatherglass.registry import checked_path
from weatherglass.storage.atomic import gc_paused
from weatherglass.storage.checksum import MISMATCH, State, read_checked_json
from weatherglass.storage.reading import require_regular_file


def read_run(path: Path) -> Run:
    """Read the run in a folder.

    Raises:
        OutputError: if the folder contains no run, or one that this version cannot read.
    """
    with reading_run(path), gc_paused():
        return _read_run(path, read_record(path))


def _read_run(path: Path, record: dict[str, Any]) -> Run:
    journal = path / JOURNAL
    by_key: dict[str, Result] = {}
    damaged = 0
    for entry in read_journal(journal) if journal.exists() else ():
        if entry.value is None:
            damaged += 1
        else:
            by_key[entry.key] = entry.value
    keys = tuple(key for key in record["keys"] if key in by_key)
    results = [by_key[key] for key in keys]
    if record.get("status") in JUDGED:
        stored = record["settings"]
        judging = {name: stored[name] for name in ("correction", "alpha", "family")}
        results = judge(results, Settings(**judging, smallest=stored.get("smallest")))
    lacking = []
    missing = len(record["keys"]) - len(results)
    if (
        damaged
        or len(results) < record.get("result_count", 0)
        or (record.get("status") == "complete" and missing)
    ):
        lacking.append(
            f"{JOURNAL} lacks {missing} of {len(record['keys'])} result{'s' if len(record['keys']) != 1 else ''} "
            f"({damaged} damaged line{'s' if damaged != 1 else ''}); "
            "running the same command again computes them."
        )
    if "agreement" not in record:  # a run that was not finished, or an older one
        agreement = metric_agreement(results)
        record["agreement"] = agreement.to_json() if agreement else None
    judged: Sequence[Verdict] = ()
    if record.get("status") in JUDGED:
        outcomes = record.get("outcomes")
        if record.get("verdicts") is None or outcomes is None or len(outcomes) != len(results):
            results, judged = recorded(results, record)
            record["verdicts"] = plain_value([verdict.to_json() for verdict in judged])
            record["outcomes"] = plain_value(outcomes_record(results))
        else:
            results = with_outcomes(results, outcomes)
            judged = [Verdict.from_json(verdict) for verdict in record["verdicts"]]
    elif record.get("verdicts") is None:
        record["verdicts"] = []
    failures = [Failure(f["model"], f["test"], f["reason"]) for f in record.get("failures", [])]
    run = Run(results, failures, record, keys, lacking=tuple(lacking), judged=tuple(judged))
    return run.stored_in(path)


def read_whole_run(path: Path) -> Run:
    """Read a run that must be complete.

    Raises:
        OutputError: if the folder does not contain a run, or a part of it is missing or cannot be read.
    """
    run = read_run(path)
    if run.lacking:
        raise OutputError(f"{path}: this run cannot be read in full: {run.lacking[0]}")
    return run


def load_run(folder: str | Path) -> Run:
    """Read a run that is stored in a folder, and judge it again.

    Raises:
        OutputError: if the folder does not contain a run that can be read in full.
    """
    return read_whole_run(checked_path("folder", folder))


def labelled(runs: Iterable[Run]) -> list[Run]:
    """Return the runs with distinct labels; folders with the same name are numbered."""
    seen: dict[str, int] = {}
    named = []
    for run in runs:
        seen[run.label] = seen.get(run.label, 0) + 1
        times = seen[run.label]
        named.append(run if times == 1 else replace(run, label=f"{run.label} ({times})"))
    return named


def record_if_readable(folder: Path) -> dict[str, Any] | None:
    """Return the record of the run in a folder; None if this version cannot read one."""
    try:
        return read_record(folder)
    except OutputError:
        return None


def read_record(folder: Path) -> dict[str, Any]:
    """Return the content of run.json.

    Raises:
        OutputError: if it is missing, damaged, in another format, without a checksum, or not the record of a run.
    """
    path = folder / RECORD
    if folder.suffix in (".html", ".json", ".jsonl", ".tsv") and not folder.is_dir():
        raise OutputError(f"{folder}: this is a file of a run; give its folder: {folder.parent}")
    try:
        if path.exists():
            require_regular_file(path, OutputError)
        record, state = read_checked_json(path.read_bytes())
    except FileNotFoundError:
        raise OutputError(
            f"{path.parent}: not a run folder ({RECORD} is missing); "
            "use a folder written by 'weatherglass run -o DIR'"
        ) from None
    except (OSError, ValueError) as error:
        raise OutputError(unreadable(path, error)) from error
    again = f"running the same command again rewrites it from {JOURNAL}"
    if state is State.DAMAGED:
        raise OutputError(f"{path}: {MISMATCH}; {again}")
    if not isinstance(record, dict) or not isinstance(record.get("settings"), dict) or "keys" not in record:
        raise OutputError(f"{path}: this is not the record of a run")
    if (written := record.get("format", 1)) != FORMAT:
        raise OutputError(
            f"{folder}: the run is stored in format {written}, but this version of weatherglass reads format {FORMAT}; "
            "run the same command again to compute it in this format"
        )
    if state is State.UNKNOWN:
        raise OutputError(f"{path}: it has no checksum, so damage would not be detected; {again}")
    return record
