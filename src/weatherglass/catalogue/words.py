"""Read lists of words, optionally with a known number for each word, from text files and tables."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weatherglass.errors import CatalogueError, WeatherglassError
from weatherglass.registry import shown
from weatherglass.storage.tables import Row, Table, column_key, column_named, is_numeric, numbers, read_table

MOST_WORDS = 1_000_000
"""The maximum number of words in a list, which may be a vocabulary."""
WORD_NAMES = ("word", "words", "term", "terms", "token")
"""Headings of the column that contains the words."""
_WORD_AND_NUMBER = re.compile(r".+[,;|\t]\s*[+-]?\d[\d.,]*\s*%?")


@dataclass(frozen=True, slots=True)
class ReadWordList:
    """A list of words, each with its number if a column of facts was requested."""

    file: str
    """The name of the file."""
    words: dict[str, float | None]
    described: str
    """A summary of what was read: "20 words from jobs.csv (CSV, comma, UTF-8)"."""
    notes: tuple[str, ...] = ()
    other_numbers: tuple[str, ...] = ()
    """Columns of numbers that were not requested."""


def read_words(
    path: Path,
    facts: str | None = None,
    column: str | None = None,
    sheet: str = "",
    *,
    repeats: bool = False,
    error: type[WeatherglassError] = CatalogueError,
) -> ReadWordList:
    """Read a list of words: one per line, or a column of a table.

    Args:
        path: the file.
        facts: the name of the column of numbers; empty if there is only one.
        column: the name of the column of the words, if the table has several columns of text.
        sheet: the sheet of an Excel file that has several.
        repeats: whether a word may occur twice; its first row counts.
        error: the type of the error.

    Raises:
        WeatherglassError: of the type `error`, for a missing column, a duplicate word, or a cell that is not a number;
            the message names the file, the line and the remedy.
    """
    table = read_table(path, error, sheet=sheet, most_rows=MOST_WORDS)
    body = table.rows[1:]
    numeric = [place for place in range(table.width) if is_numeric(row.cells[place] for row in body)]
    headed = table.has_names or _has_header(table, numeric, [*filter(None, (facts, column))])
    if not headed:
        body = table.rows
        if facts or not (column or "1").isdecimal():
            raise table.error(
                f"{table.place(table.rows[0])}: the first row should name the columns, such as word,{facts or 'share'}"
            )
    place = _word_column(table, headed, numeric, column)
    others = [each for each in numeric if each != place]
    values: list[float | None] = [None] * len(body)
    comma = False
    if facts is not None:
        chosen = column_named(table, facts) if facts else _only_numbers(table, others)
        values, comma = numbers(table, chosen, body)
        others = [each for each in others if each != chosen]
    words = _distinct_words(table, place, body, values, repeats)
    described = table.described("decimal commas" if comma else "")
    number = f"{len(words)} word{'' if len(words) == 1 else 's'}"
    named = tuple(table.rows[0].cells[each] for each in others) if headed else ()
    return ReadWordList(path.name, words, f"{number} from {described}", table.notes, named)


def _has_header(table: Table, numeric: Sequence[int], names: Sequence[str]) -> bool:
    """Return whether the first row is a header: it has a known name, or is the only text in a column of numbers."""
    first = table.rows[0].cells
    known = {*WORD_NAMES, *map(column_key, names)}
    return any(column_key(cell) in known for cell in first) or any(
        first[place] and not is_numeric([first[place]]) for place in numeric
    )


def _word_column(table: Table, headed: bool, numeric: Sequence[int], column: str | None) -> int:
    if column is not None:
        return column_named(table, column)
    found = [place for place, cell in enumerate(table.rows[0].cells) if column_key(cell) in WORD_NAMES]
    if headed and found:
        return found[0]
    text = [place for place in range(table.width) if place not in numeric] or [0]
    if len(text) == 1:
        return text[0]
    named = ", ".join(table.rows[0].cells[place] for place in text)
    raise table.error(
        f"{table.path}: has {len(text)} columns of text; in the first row, call the one with the words "
        f"'word', or name it with --column (first row: {shown(named)})"
    )


def _only_numbers(table: Table, numeric: Sequence[int]) -> int:
    if len(numeric) != 1:
        named = ", ".join(table.rows[0].cells[place] for place in numeric)
        found = f"{len(numeric)} columns ({shown(named)})" if numeric else "no column"
        raise table.error(
            f"{table.path}: has {found} of numbers, but needs one column of facts; name it with --words "
            f"{table.path.name} --facts COLUMN"
        )
    return numeric[0]


def _distinct_words(
    table: Table, place: int, rows: Sequence[Row], values: Sequence[float | None], repeats: bool
) -> dict[str, float | None]:
    words: dict[str, float | None] = {}
    for row, value in zip(rows, values, strict=True):
        word = row.cells[place]
        if not word:
            raise table.error(f"{table.place(row)}: the word is missing; fill the cell, or delete the row")
        if word in words and repeats:
            continue
        if word in words:
            raise table.error(f"{table.place(row)}: '{shown(word)}' occurs twice")
        if "\n" in word:
            raise table.error(
                f"{table.place(row)}: '{shown(word)}' has a line break; write one word per cell"
            )
        if table.width == 1 and _WORD_AND_NUMBER.fullmatch(word):
            raise table.error(
                f"{table.place(row)}: '{shown(word)}' looks like a word and a number; save the table as .csv without "
                "spaces after the commas, or write one word per line"
            )
        words[word] = value
    if not words:
        raise table.error(f"{table.path}: contains no words below the header row")
    return words
