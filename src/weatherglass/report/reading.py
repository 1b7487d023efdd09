"""Reads a run's folder for a report: what is there, and in plain words what is not."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weatherglass.catalogue.association_test import AssociationTest
from weatherglass.details import DETAILS, Details
from weatherglass.errors import OutputError
from weatherglass.folder import RECORD, TABLE
from weatherglass.results import COLUMNS, Result

Key = tuple[str, str, str, str]
"""What tells two results of one run apart: model, options, test and measure."""

TABLES = (
    *("element_score", "word_score", "left_out", "confidence_interval"),
    *("null_quantile", "attribute_noise", "power"),
)
"""What details.sqlite holds of each result."""

_WHOLE = {"num_targ1", "num_targ2", "num_attr1", "num_attr2", "ddof"}
_TEXT = {
    *("model", "options", "test", "measure", "permute", "alternative", "p_method"),
    *("significance", "oov"),
}
_NEEDED = ("model", "test", "p_value", "effect_size")
_OLDER = {"measure": "cosine/mean", "permute": "elements", "alternative": "greater", "ddof": 1}
"""What a table without these columns, such as one of the published code, was made with."""
_NAN_IF_EMPTY = {"p_value", "effect_size", "test_statistic", "p_floor", "seconds"}


@dataclass(frozen=True, slots=True)
class RunRead:
    """One run as its folder tells it."""

    label: str
    """The folder's name, to tell runs apart."""
    path: Path
    results: list[Result]
    record: Mapping[str, Any]
    """run.json; empty where it is missing."""
    details: dict[int, int] = field(default_factory=dict)
    """The position of a result in `results`, by its number in details.sqlite."""
    notices: list[str] = field(default_factory=list)
    """What could not be read, and what a report lacks for it."""

    @property
    def alpha(self) -> float:
        """The level of the marks."""
        return float(self.record.get("correction", {}).get("alpha", 0.01))


def read_run(path: Path) -> RunRead:
    """Read table, record and details of a run; only the table must be there.

    Raises:
        OutputError: if there is no table, or it is no table of results.
    """
    notices: list[str] = []
    results = _read_table(path / TABLE, notices)
    record = _read_record(path / RECORD, notices)
    run = RunRead(path.resolve().name, path, results, record, notices=notices)
    try:
        _add_details(run)
    except (OutputError, sqlite3.Error, ValueError, IndexError, TypeError) as error:
        run.details.clear()
        notices.append(
            f"{DETAILS} could not be read ({error}): scores, null distributions and leave-one-out are not shown."
        )
    _add_catalogue(run)
    return run


def labelled(runs: Iterable[RunRead]) -> list[RunRead]:
    """The runs with labels that differ: two folders of one name are numbered."""
    seen: dict[str, int] = {}
    named = []
    for run in runs:
        seen[run.label] = seen.get(run.label, 0) + 1
        times = seen[run.label]
        named.append(run if times == 1 else replace(run, label=f"{run.label} ({times})"))
    return named


def _read_table(path: Path, notices: list[str]) -> list[Result]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        raise OutputError(
            f"{path.parent}: no {TABLE} here; give a folder that 'weatherglass run -o DIR' left behind"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(f"cannot read {path}: {error}") from error
    names = lines[0].split("\t")
    if missing := [name for name in _NEEDED if name not in names]:
        raise OutputError(f"{path}, line 1: no column {', '.join(missing)}; this is no table of results")
    if absent := [name for name in COLUMNS if name not in names]:
        notices.append(f"{TABLE} is of an older version; it lacks {', '.join(absent)}.")
    results = []
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        cells = line.split("\t")
        try:
            if len(cells) != len(names):
                raise ValueError(f"{len(cells)} cells where the first line has {len(names)}")
            results.append(_result(dict(zip(names, cells, strict=True))))
        except ValueError as error:
            notices.append(f"{TABLE}, line {number}: left out ({error}).")
    return results


def _result(cells: Mapping[str, str]) -> Result:
    values = {name: _value(name, cells.get(name, "")) for name in COLUMNS}
    return Result(**values, p_middle=values["p_value"], certified=False, context="")


def _value(name: str, cell: str) -> Any:
    if cell == "" and name in _OLDER:
        return _OLDER[name]
    if name in _TEXT:
        return cell
    if name in _WHOLE:
        return int(cell or 0)
    if cell == "":
        return math.nan if name in _NAN_IF_EMPTY else None
    return float(cell)


def _read_record(path: Path, notices: list[str]) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(record, dict):
            raise ValueError("not an object")
    except FileNotFoundError:
        notices.append(f"{RECORD} is missing: versions, seeds, hashes and the command are not known.")
        return {}
    except (OSError, ValueError) as error:
        notices.append(
            f"{RECORD} could not be read ({error}): versions, seeds, hashes and the command are not known."
        )
        return {}
    status = record.get("status", "complete")
    if status != "complete":
        notices.append(f"The run is {status}; the results are those that were finished.")
    return record


def _key(result: Result) -> Key:
    return result.model, result.options, result.test, result.measure


def _add_details(run: RunRead) -> None:
    """Take contexts, categories, warnings and notes from the details, and note where each result's are."""
    path = run.path / DETAILS
    if not path.exists():
        run.notices.append(
            f"{DETAILS} is missing: scores, null distributions and leave-one-out are not shown. "
            "Running the same command again writes it."
        )
        return
    place = {_key(result): position for position, result in enumerate(run.results)}
    with closing(Details(path)) as details:
        for row in details.every("result"):
            # The table writes tabs and line breaks in names as spaces.
            model, options, test, measure = (
                _in_table(row[name]) for name in ("model", "options", "test", "measure")
            )
            position = place.get((model, options, test, measure))
            if position is None:
                continue
            run.details[row["id"]] = position
            run.results[position] = replace(
                run.results[position],
                context=row["context"],
                categories=(row["x"], row["y"], row["a"], row["b"]),
                p_middle=row["p_middle"],
                certified=bool(row["certified"]),
                warnings=tuple(json.loads(row["warnings"])),
                notes=json.loads(row["notes"]),
            )
        if absent := [table for table in TABLES if table not in details.tables()]:
            run.notices.append(f"{DETAILS} is of an older version; it lacks {', '.join(absent)}.")
    if lacking := len(run.results) - len(run.details):
        run.notices.append(
            f"{DETAILS} lacks {lacking} of {len(run.results)} results; their scores are not shown."
        )


def _in_table(text: str) -> str:
    return text.replace("\t", " ").replace("\n", " ").replace("\r", " ")


def _add_catalogue(run: RunRead) -> None:
    """Where the details do not say what a test is, the catalogue does, if the test has the recorded content."""
    hashes = run.record.get("tests", {})
    known: dict[str, AssociationTest | None] = {}
    for position, result in enumerate(run.results):
        if result.context:
            continue
        if result.test not in known:
            known[result.test] = _published(result.test, hashes)
        if test := known[result.test]:
            run.results[position] = replace(result, context=test.context, categories=test.categories)


def _published(name: str, hashes: Mapping[str, str]) -> AssociationTest | None:
    from weatherglass.catalogue.published import published_names, published_test

    if name not in published_names():
        return None
    test = published_test(name)
    return test if hashes.get(name) == test.fingerprint() else None
