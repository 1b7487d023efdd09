"""A run read back from its folder: table, record and details, and in plain words what is lacking of them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weatherglass.catalogue.association_test import AssociationTest
from weatherglass.errors import OutputError, UnknownNameError, WeatherglassError, unreadable
from weatherglass.registry import unknown
from weatherglass.runs.details import DETAILS, IDENTITY, TABLES, Details
from weatherglass.runs.folder import RECORD, TABLE
from weatherglass.runs.results import COLUMNS, ElementScore, Result, cell

_NEEDED = ("model", "test", "p_value", "effect_size")


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One run as its folder tells it."""

    label: str
    """The folder's name, to tell runs apart."""
    path: Path
    results: list[Result]
    """Without the scores, which are in the details."""
    record: Mapping[str, Any]
    """run.json; empty where it is missing."""
    details: dict[int, int] = field(default_factory=dict)
    """The number of a result in details.sqlite, by its position in `results`."""
    lacking: list[str] = field(default_factory=list)
    """What is missing or could not be read, and what is not known for it."""

    @property
    def notices(self) -> list[str]:
        """What a reader of the results should be told first."""
        status = self.record.get("status", "complete")
        if status == "complete":
            return self.lacking
        return [*self.lacking, f"The run is {status}; the results are those that were finished."]

    @property
    def alpha(self) -> float:
        """The level of the marks."""
        return float(self.record.get("correction", {}).get("alpha", 0.01))

    def scores(self, position: int) -> list[ElementScore]:
        """s(w, A, B) of each target element of one result."""
        with closing(Details(self.path / DETAILS)) as details:
            return details.scores(self.details[position])

    def find(self, test: str, model: str | None = None, measure: str | None = None) -> int:
        """The position of the one result of a test.

        Raises:
            UnknownNameError: if there is none; the nearest is named, or why the test could not be run.
            WeatherglassError: if there are several; what tells them apart is listed.
        """
        found = [position for position, result in enumerate(self.results) if result.test == test]
        if not found:
            raise self._absent(test)
        for name, wanted in (("model", model), ("measure", measure)):
            if wanted is not None:
                present = self._distinct(name, found)
                if wanted not in present:
                    raise unknown(f"{name} of {test} in {self.path}", wanted, present)
                found = [position for position in found if getattr(self.results[position], name) == wanted]
        if len(found) > 1:
            raise WeatherglassError(f"{test} has {len(found)} results in {self.path}; {self._choices(found)}")
        return found[0]

    def _absent(self, test: str) -> UnknownNameError:
        for failure in self.record.get("failures", []):
            if failure["test"] == test:
                return UnknownNameError(f"{test} could not be run on {failure['model']}: {failure['reason']}")
        return unknown(f"test in {self.path}", test, self._distinct("test", range(len(self.results))))

    def _choices(self, positions: Sequence[int]) -> str:
        """What to add to the command."""
        for name in ("model", "measure"):
            present = self._distinct(name, positions)
            if len(present) > 1:
                return f"choose with --{name}: {', '.join(present)}"
        return f"they differ in options: {'; '.join(self._distinct('options', positions))}"

    def _distinct(self, name: str, positions: Iterable[int]) -> list[str]:
        return list(dict.fromkeys(getattr(self.results[position], name) for position in positions))


def read_run(path: Path) -> StoredRun:
    """Read table, record and details of a run; only the table must be there.

    Raises:
        OutputError: if there is no table, or it is no table of results.
    """
    lacking: list[str] = []
    results = _read_table(path / TABLE, lacking)
    record = _read_record(path / RECORD, lacking)
    run = StoredRun(path.resolve().name, path, results, record, lacking=lacking)
    try:
        _add_details(run)
    except (OutputError, sqlite3.Error, ValueError, IndexError, TypeError) as error:
        run.details.clear()
        lacking.append(
            f"{DETAILS} could not be read ({error}): scores, null distributions and leave-one-out are not known."
        )
    _add_catalogue(run)
    return run


def read_whole_run(path: Path) -> StoredRun:
    """Read a run of which nothing may be lacking.

    Raises:
        OutputError: if the folder holds no run, or one of which a part is missing or cannot be read.
    """
    if not (path / RECORD).is_file():
        raise OutputError(f"{path}: no run is here ({RECORD} is missing); see 'weatherglass run'")
    try:
        run = read_run(path)
    except OutputError as error:
        raise OutputError(f"this run cannot be read: {error}") from None
    if run.lacking:
        raise OutputError(f"{path}: this run cannot be read in full: {run.lacking[0]}")
    return run


def labelled(runs: Iterable[StoredRun]) -> list[StoredRun]:
    """The runs with labels that differ: two folders of one name are numbered."""
    seen: dict[str, int] = {}
    named = []
    for run in runs:
        seen[run.label] = seen.get(run.label, 0) + 1
        times = seen[run.label]
        named.append(run if times == 1 else replace(run, label=f"{run.label} ({times})"))
    return named


def _read_table(path: Path, lacking: list[str]) -> list[Result]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        raise OutputError(
            f"{path.parent}: no {TABLE} here; give a folder that 'weatherglass run -o DIR' left behind"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(unreadable(path, error)) from error
    names = lines[0].split("\t")
    if missing := [name for name in _NEEDED if name not in names]:
        raise OutputError(f"{path}, line 1: no column {', '.join(missing)}; this is no table of results")
    if absent := [name for name in COLUMNS if name not in names]:
        lacking.append(f"{TABLE} is of an older version; it lacks {', '.join(absent)}.")
    results = []
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        cells = line.split("\t")
        try:
            if len(cells) != len(names):
                raise ValueError(f"{len(cells)} cells where the first line has {len(names)}")
            results.append(Result.from_columns(dict(zip(names, cells, strict=True))))
        except ValueError as error:
            lacking.append(f"{TABLE}, line {number}: left out ({error}).")
    return results


def _read_record(path: Path, lacking: list[str]) -> dict[str, Any]:
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(record, dict):
            raise ValueError("not an object")
    except FileNotFoundError:
        lacking.append(f"{RECORD} is missing: versions, seeds, hashes and the command are not known.")
        return {}
    except (OSError, ValueError) as error:
        lacking.append(
            f"{RECORD} could not be read ({error}): versions, seeds, hashes and the command are not known."
        )
        return {}
    return record


def _add_details(run: StoredRun) -> None:
    """Take contexts, categories, warnings and notes from the details, and note where each result's are."""
    path = run.path / DETAILS
    if not path.exists():
        run.lacking.append(
            f"{DETAILS} is missing: scores, null distributions and leave-one-out are not known. "
            "Running the same command again writes it."
        )
        return
    place = {
        tuple(cell(getattr(result, name)) for name in IDENTITY): position
        for position, result in enumerate(run.results)
    }
    with closing(Details(path)) as details:
        for row in details.every("result"):
            position = place.get(tuple(cell(row[name]) for name in IDENTITY))
            if position is None:
                continue
            run.details[position] = row["id"]
            run.results[position] = replace(
                run.results[position],
                context=row["context"],
                categories=(row["x"], row["y"], row["a"], row["b"]),
                p_middle=row["p_middle"],
                certified=bool(row["certified"]),
                warnings=tuple(json.loads(row["warnings"])),
                notes=json.loads(row["notes"]),
                signed=_signed(row, run.results[position]),
            )
        if absent := [table for table in TABLES if table not in details.tables()]:
            run.lacking.append(f"{DETAILS} is of an older version; it lacks {', '.join(absent)}.")
    if unmatched := len(run.results) - len(run.details):
        run.lacking.append(
            f"{DETAILS} lacks {unmatched} of {len(run.results)} results; their scores are not known."
        )


def _signed(row: sqlite3.Row, result: Result) -> bool | None:
    """As stored, so that a statistic of the user's own need not be registered; an older file does not say it."""
    stored = dict(row).get("signed")
    return result.signed if stored is None else bool(stored)


def _add_catalogue(run: StoredRun) -> None:
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
