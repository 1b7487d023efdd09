"""details.sqlite: what does not fit a row of the table; reports read it and compute nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from weatherglass.errors import OutputError, unwritable
from weatherglass.inference.trust import NULL_LEVELS
from weatherglass.runs.results import ElementScore, Result, word_scores
from weatherglass.storage.atomic import whole_file

DETAILS = "details.sqlite"
FORMAT = 1
IDENTITY = ("model", "options", "test", "measure", "permute", "alternative", "ddof")
"""What tells a result from the others of its run, and from those of an earlier run in the same folder."""
TABLES = (
    *("element_score", "word_score", "left_out", "confidence_interval"),
    *("null_quantile", "attribute_noise", "power"),
)
"""What there is of each result."""

SCHEMA = """
CREATE TABLE format (version INTEGER NOT NULL);
CREATE TABLE result (
    id INTEGER PRIMARY KEY,
    model TEXT, options TEXT, test TEXT, measure TEXT, permute TEXT, alternative TEXT, ddof INTEGER,
    context TEXT, x TEXT, y TEXT, a TEXT, b TEXT,
    p_middle REAL, certified INTEGER, warnings TEXT, notes TEXT, signed INTEGER
);
CREATE TABLE element (id INTEGER PRIMARY KEY, text TEXT, word TEXT, template TEXT);
CREATE TABLE element_score (result INTEGER, role TEXT, position INTEGER, element INTEGER, score REAL);
CREATE TABLE word_score (result INTEGER, role TEXT, word TEXT, score REAL, elements INTEGER);
CREATE TABLE left_out (
    result INTEGER, kind TEXT, role TEXT, name TEXT, effect_size REAL, p_value REAL
);
CREATE TABLE confidence_interval (result INTEGER, method TEXT, low REAL, high REAL, resamples INTEGER);
CREATE TABLE null_quantile (result INTEGER, level REAL, effect_size REAL);
CREATE TABLE attribute_noise (result INTEGER, share REAL);
CREATE TABLE power (result INTEGER, effect_size REAL, probability REAL);
CREATE INDEX element_score_of ON element_score (result);
CREATE INDEX word_score_of ON word_score (result);
CREATE INDEX left_out_of ON left_out (result);
CREATE INDEX null_quantile_of ON null_quantile (result);
"""


def write_details(path: Path, results: Sequence[Result]) -> None:
    """Write the file whole; a reader sees the old one or the new one.

    Raises:
        OutputError: if the folder is full or read-only.
    """
    try:
        with (
            whole_file(path) as unfinished,
            closing(sqlite3.connect(unfinished)) as database,
            database,
        ):
            database.executescript("PRAGMA journal_mode = OFF;" + SCHEMA)
            database.execute("INSERT INTO format VALUES (?)", [FORMAT])
            _Writer(database).write(results)
    except (OSError, sqlite3.Error) as error:
        raise OutputError(unwritable(path, error)) from error


class _Writer:
    """Puts results into the tables; a text that several results share is stored once."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        self._elements: dict[tuple[str, str, str | None], int] = {}

    def write(self, results: Sequence[Result]) -> None:
        for number, result in enumerate(results, start=1):
            self._insert("result", _about(number, result))
            self._insert("element_score", *self._element_scores(number, result))
            self._insert("word_score", *((number, *row) for row in word_scores(result)))
            self._insert("left_out", *_left_out(number, result))
            self._insert("confidence_interval", *_intervals(number, result))
            null = result.details.get("null", [])
            self._insert(
                "null_quantile", *((number, level, d) for level, d in zip(NULL_LEVELS, null, strict=False))
            )
            if (noise := result.details.get("attribute_noise")) is not None:
                self._insert("attribute_noise", (number, noise))
            power = result.details.get("power", {})
            self._insert("power", *((number, float(d), chance) for d, chance in power.items()))
        self._insert("element", *((number, *element) for element, number in self._elements.items()))

    def _insert(self, table: str, *rows: tuple[Any, ...]) -> None:
        if rows:
            places = ", ".join("?" * len(rows[0]))
            self._database.executemany(f"INSERT INTO {table} VALUES ({places})", rows)

    def _element_scores(self, number: int, result: Result) -> Iterator[tuple[Any, ...]]:
        for position, s in enumerate(result.scores):
            element = self._elements.setdefault((s.text, s.word, s.template), len(self._elements) + 1)
            yield number, s.role, position, element, s.score


def _about(number: int, r: Result) -> tuple[Any, ...]:
    return (
        number,
        *(getattr(r, name) for name in IDENTITY),
        *(r.context, *r.categories),
        *(r.p_middle, r.certified, json.dumps(r.warnings), json.dumps(dict(r.notes)), r.signed),
    )


def _left_out(number: int, result: Result) -> Iterator[tuple[Any, ...]]:
    for each in result.details.get("left_out", []):
        yield number, each["kind"], each["role"], each["name"], each["effect_size"], each["p_value"]


def _intervals(number: int, result: Result) -> Iterator[tuple[Any, ...]]:
    if found := result.details.get("interval"):
        for method in ("bca", "percentile"):
            yield number, method, found[f"{method}_low"], found[f"{method}_high"], found["resamples"]


class Details:
    """Reads the details of one result at a time."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self._database.row_factory = sqlite3.Row
        version = self._database.execute("SELECT version FROM format").fetchone()[0]
        if version > FORMAT:
            raise OutputError(
                f"{path} was written by a newer weatherglass (format {version}); update this one"
            )

    def close(self) -> None:
        self._database.close()

    def rows(self, table: str, result: int) -> list[sqlite3.Row]:
        """The rows of one table that belong to one result."""
        return self._database.execute(
            f"SELECT * FROM {table} WHERE result = ? ORDER BY rowid", [result]
        ).fetchall()

    def tables(self) -> set[str]:
        """The tables there are; an older file may lack some."""
        return {
            row["name"]
            for row in self._database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }

    def every(self, table: str) -> Iterator[sqlite3.Row]:
        """All rows of one table; those of one result stand together, in the order of the results."""
        yield from self._database.execute(f"SELECT * FROM {table} ORDER BY rowid")

    def scores(self, result: int) -> list[ElementScore]:
        """s(w, A, B) of each target element, in the order of the test."""
        query = """SELECT role, text, word, template, score FROM element_score
                   JOIN element ON element.id = element_score.element WHERE result = ? ORDER BY position"""
        return [ElementScore(*row) for row in self._database.execute(query, [result])]
