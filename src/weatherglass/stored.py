"""A finished run, read back from its folder: table, record and details, for commands that look at runs."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weatherglass.details import DETAILS, Details
from weatherglass.errors import OutputError, UnknownNameError, WeatherglassError
from weatherglass.folder import RECORD, TABLE
from weatherglass.registry import unknown
from weatherglass.results import COLUMNS, ElementScore

IDENTITY = ("model", "options", "test", "measure", "permute", "alternative")
"""The columns that tell the rows of one run apart."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of results.tsv and its number in the details."""

    columns: dict[str, str]
    """As written: empty where a value is not known."""
    number: int

    def __getitem__(self, name: str) -> str:
        return self.columns[name]

    def value(self, name: str) -> float | None:
        """A number, or None where the cell is empty."""
        text = self.columns[name]
        return float(text) if text else None


class StoredRun:
    """A run's folder, opened for reading.

    Raises:
        OutputError: if the folder holds no run, or one that cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            self.record: dict[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))
            with (folder / TABLE).open(newline="", encoding="utf-8") as file:
                table = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
            if not (folder / DETAILS).is_file():
                raise OutputError(f"{folder}: {DETAILS} is missing; give the command of the run again")
            self.details = Details(folder / DETAILS)
            numbers = self.details.numbers()
            self.rows = [_row(columns, numbers) for columns in table]
        except FileNotFoundError as error:
            name = Path(str(error.filename)).name
            raise OutputError(
                f"{folder}: no run is here ({name} is missing); see 'weatherglass run'"
            ) from None
        except (OSError, ValueError, KeyError, TypeError, sqlite3.Error) as error:
            raise OutputError(f"{folder}: this run cannot be read: {error!r}") from None

    def close(self) -> None:
        """Let go of the details."""
        self.details.close()

    def scores(self, row: Row) -> list[ElementScore]:
        """s(w, A, B) of each target element."""
        return self.details.scores(row.number)

    def find(self, test: str, model: str | None = None, measure: str | None = None) -> Row:
        """The one row of a test.

        Raises:
            UnknownNameError: if there is none; the nearest is named, or why the test could not be run.
            WeatherglassError: if there are several; what tells them apart is listed.
        """
        found = [row for row in self.rows if row["test"] == test]
        if not found:
            raise self._absent(test)
        for name, wanted in (("model", model), ("measure", measure)):
            if wanted is not None:
                present = _distinct(row[name] for row in found)
                if wanted not in present:
                    raise unknown(f"{name} of {test} in {self.folder}", wanted, present)
                found = [row for row in found if row[name] == wanted]
        if len(found) > 1:
            raise WeatherglassError(f"{test} has {len(found)} results in {self.folder}; {_choices(found)}")
        return found[0]

    def _absent(self, test: str) -> UnknownNameError:
        for failure in self.record.get("failures", []):
            if failure["test"] == test:
                return UnknownNameError(f"{test} could not be run on {failure['model']}: {failure['reason']}")
        return unknown(f"test in {self.folder}", test, _distinct(row["test"] for row in self.rows))


def _row(columns: dict[str, str], numbers: dict[tuple[str, ...], int]) -> Row:
    if set(columns) < set(COLUMNS):
        raise ValueError(f"{TABLE} lacks the column '{next(c for c in COLUMNS if c not in columns)}'")
    return Row(columns, numbers[tuple(columns[name] for name in IDENTITY)])


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _choices(rows: list[Row]) -> str:
    """What to add to the command."""
    for name in ("model", "measure"):
        present = _distinct(row[name] for row in rows)
        if len(present) > 1:
            return f"choose with --{name}: {', '.join(present)}"
    return f"they differ in options: {'; '.join(_distinct(row['options'] for row in rows))}"
