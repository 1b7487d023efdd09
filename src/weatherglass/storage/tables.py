"""Read CSV, TSV, text, JSON lines, TOML and Excel files as tables, which are rows of texts.

The encoding, the delimiter and decimal commas are detected; `Table.form` states them. A file that can be read in
two ways is refused with a one-line error that explains how to resolve the ambiguity.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weatherglass.errors import CatalogueError, WeatherglassError
from weatherglass.registry import did_you_mean, shown
from weatherglass.storage.delimited import TAB_SUFFIXES, decoded, split_cells
from weatherglass.storage.documents import parsed_json, parsed_toml, reading_document
from weatherglass.storage.reading import require_regular_file, shown_size
from weatherglass.storage.xlsx import read_sheet

MOST_BYTES = 32 * 2**20
MOST_ROWS = 100_000
MOST_COLUMNS = 256
LONGEST_CELL = 100_000
"""The limits of a table: bytes of the file, rows, columns, and characters of a cell."""
LARGEST_BYTES = 256 * 2**20
BYTES_PER_ROW = 100
"""For callers that allow more rows: the number of bytes that each row adds to the limit, and the largest limit."""
EXCEL = (".xlsx", ".xlsm")
TABLES = (".csv", *TAB_SUFFIXES, *EXCEL)
"""Suffixes of files that are always tables; .txt, .jsonl and .toml may contain something else."""
NOT_READ = {
    ".xls": "an old Excel file",
    ".xlsb": "a binary Excel file",
    ".ods": "an OpenDocument file",
    ".numbers": "a Numbers file",
}
_OLD_OFFICE = b"\xd0\xcf\x11\xe0"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_PLAIN_NUMBER = r"[+-]?(?:\d+|[1-9]\d{{0,2}}(?:{thousands}\d{{3}})+)?(?:{point}\d*)?(?:[eE][+-]?\d{{1,3}})?"
_NUMBERS = {
    ".": re.compile(_PLAIN_NUMBER.format(point=r"\.", thousands=",")),
    ",": re.compile(_PLAIN_NUMBER.format(point=",", thousands=r"\.")),
}
"""Patterns of numbers, by decimal mark."""


@dataclass(frozen=True, slots=True)
class Row:
    """The cells of a row."""

    number: int
    """The line in a text file, or the row in a spreadsheet."""
    cells: tuple[str, ...]
    """The cells without surrounding space, one per column of the table; empty where the file has none."""


@dataclass(frozen=True, slots=True)
class Table:
    """The non-empty rows of a file, and its detected format."""

    path: Path
    form: str
    """The format: "CSV, comma, UTF-8" or "Excel, sheet 'Words'"."""
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    """Notes for the user: an assumed encoding, formulas, skipped comments."""
    has_names: bool = False
    """Whether the first row certainly names the columns, as in JSON lines."""
    delimiter: str = ""
    error: type[WeatherglassError] = CatalogueError

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return len(self.rows[0].cells)

    @property
    def from_sheet(self) -> bool:
        return self.form.startswith("Excel")

    def place(self, row: Row) -> str:
        """Return the place of a row for an error message: "jobs.csv, line 3"."""
        unit = "row" if self.form.startswith(("Excel", "TOML")) else "line"
        return f"{self.path}, {unit} {row.number}"

    def column(self, index: int, header: bool = True) -> list[str]:
        """Return the cells of a column, without the header if there is one."""
        return [row.cells[index] for row in self.rows[1 if header else 0 :]]

    def described(self, layout: str = "") -> str:
        """Return the file and its format: "jobs.csv (CSV, comma, UTF-8, wide)"."""
        return f"{self.path.name} ({', '.join(filter(None, (self.form, layout)))})"


@dataclass(frozen=True, slots=True)
class Record:
    """A row, with its cells by column name."""

    table: Table
    row: Row
    values: Mapping[str, str]

    @property
    def place(self) -> str:
        """Return the file and the line or row, for error messages."""
        return self.table.place(self.row)

    def __getitem__(self, name: str) -> str:
        return self.values[name]


@dataclass(frozen=True, slots=True)
class Records:
    """The rows of a table, with cells by column name."""

    table: Table
    rows: tuple[Record, ...]
    unused: tuple[str, ...]
    """Columns of the file that the caller did not request."""
    places: Mapping[str, int | None]
    """The position of each named column; None for an optional column that the file does not have."""

    def numbers(self, name: str) -> list[float | None]:
        """Return the numbers of a column, with None for an empty cell; decimal commas are detected.

        Raises:
            WeatherglassError: if a cell is not a number or is ambiguous; the message names the file, the line and the
                cell.
        """
        place = self.places[name]
        rows = [record.row for record in self.rows]
        return [None] * len(rows) if place is None else numbers(self.table, place, rows)[0]

    def __iter__(self) -> Iterator[Record]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


def read_rows(
    path: Path,
    required: Sequence[str | tuple[str, ...]],
    optional: Sequence[str] = (),
    *,
    error: type[WeatherglassError] = CatalogueError,
    sheet: str = "",
    most_rows: int = MOST_ROWS,
) -> Records:
    """Return the rows of a table whose first row names the columns, in any order and case.

    A file of one column needs no header if one column is required.

    Args:
        path: the file: CSV, TSV, text, .jsonl, .toml or .xlsx.
        required: names of columns that every row must fill; a tuple lists several names of one column, of which the
            records use the first.
        optional: names of columns that may be missing or empty; the record then has an empty text.
        error: the type of the error.
        sheet: the sheet of an Excel file that has several.
        most_rows: the maximum number of rows.

    Raises:
        WeatherglassError: of the type `error`, if the table cannot be read, has no rows, or lacks a required column or
            cell; the message states the file, the line, the column and the remedy.
    """
    table = read_table(path, error, sheet=sheet, most_rows=most_rows)
    names = [(each,) if isinstance(each, str) else each for each in required]
    header = [column_key(cell) for cell in table.rows[0].cells]
    found = {each[0]: _found(table, header, each) for each in (*names, *((one,) for one in optional))}
    wanted = [each[0] for each in names]
    rows = table.rows[1:]
    if table.width == 1 and len(names) == 1 and found[wanted[0]] is None and not table.has_names:
        found[wanted[0]], rows = 0, table.rows
    elif missing := [name for name in wanted if found[name] is None]:
        raise error(
            f"{table.place(table.rows[0])}: no column is called '{missing[0]}'"
            f"{did_you_mean(missing[0], table.rows[0].cells)}; the first row should name the columns "
            f"{', '.join(wanted)} (it is: {shown(', '.join(table.rows[0].cells))})"
        )
    records = []
    for row in rows:
        values = {name: "" if place is None else row.cells[place] for name, place in found.items()}
        for name in wanted:
            if not values[name]:
                raise error(
                    f"{table.place(row)}: the column '{name}' is empty; fill the cell, or delete the row"
                )
        records.append(Record(table, row, values))
    if not records:
        raise error(f"{path}: has no rows below the header row")
    used = set(found.values())
    unused = tuple(name for place, name in enumerate(table.rows[0].cells) if place not in used and name)
    return Records(table, tuple(records), unused, found)


def _found(table: Table, header: Sequence[str], names: Sequence[str]) -> int | None:
    """Return the column with one of the given names, or None."""
    places = [place for place, cell in enumerate(header) if cell in map(column_key, names)]
    if len(places) > 1:
        raise table.error(f"{table.place(table.rows[0])}: two columns are called '{names[0]}'; rename one")
    return places[0] if places else None


def column_key(name: str) -> str:
    """Return a column's name for comparison: "Share of women" and "share_of_women" are the same."""
    return re.sub(r"[\s_-]+", " ", name.casefold()).strip()


def column_named(table: Table, name: str) -> int:
    """Return the column with a name, or with a number counted from 1.

    Raises:
        WeatherglassError: if no column has this name or number; the message names the nearest one.
    """
    header = table.rows[0].cells
    place = _found(table, [column_key(cell) for cell in header], [name])
    if place is None and name.isdecimal() and 1 <= int(name) <= table.width:
        place = int(name) - 1
    if place is None:
        raise table.error(
            f"{table.path}: no column is called '{name}'{did_you_mean(name, header)} (columns: {', '.join(header)})"
        )
    return place


def read_table(
    path: Path, error: type[WeatherglassError], *, sheet: str = "", most_rows: int = MOST_ROWS
) -> Table:
    """Read a file as a table; the suffix determines the format, and everything else is detected from the content.

    Args:
        path: the file.
        error: the type of the error.
        sheet: the sheet of an Excel file that has several.
        most_rows: the maximum number of rows.

    Raises:
        WeatherglassError: of the type `error`, if it cannot be read, is empty, exceeds a limit or is ambiguous.
    """
    with reading_document(path, error):
        size = require_regular_file(path, error).st_size
        if size > (limit := max(MOST_BYTES, min(LARGEST_BYTES, BYTES_PER_ROW * most_rows))):
            raise error(f"{path}: {shown_size(size)}, but a list may have at most {shown_size(limit)}")
        suffix = path.suffix.lower()
        if suffix in NOT_READ:
            raise error(f"{path}: {NOT_READ[suffix]} is not supported; save it as .xlsx or CSV")
        content = path.read_bytes()
        if content.startswith(_OLD_OFFICE):
            raise error(
                f"{path}: an old or encrypted Excel file; save it as .xlsx without a password, or as CSV"
            )
        if content.startswith(b"PK\x03\x04") or suffix in EXCEL:
            table = _spreadsheet(path, error, sheet, most_rows)
        else:
            text, encoding, notes = decoded(path, content, error)
            if suffix in (".jsonl", ".toml"):
                read = _json_lines if suffix == ".jsonl" else _toml
                table = read(path, text, encoding, notes, error)
            else:
                table = _delimited(path, text, encoding, notes, most_rows, error)
        return _checked(table, most_rows)


def _checked(table: Table, most_rows: int) -> Table:
    """Return the table without empty columns, after checking its limits and characters."""
    path, error = table.path, table.error
    rows = [row for row in table.rows if any(row.cells)]
    if not rows:
        raise error(f"{path}: contains no words; the file is empty")
    if len(rows) > most_rows:
        raise error(f"{path}: has more than {most_rows} rows; split it, or keep only what is needed")
    width = max(len(row.cells) for row in rows)
    used = [
        place for place in range(width) if any(place < len(row.cells) and row.cells[place] for row in rows)
    ]
    if len(used) > MOST_COLUMNS:
        raise error(f"{path}: has more than {MOST_COLUMNS} columns; keep only what is needed")
    for row in rows:
        for cell in row.cells:
            if len(cell) > LONGEST_CELL:
                raise error(f"{table.place(row)}: a cell has more than {LONGEST_CELL} characters")
            if _CONTROL.search(cell):
                raise error(
                    f"{table.place(row)}: '{shown(cell)}' contains a control character; retype the cell"
                )
    whole = tuple(
        Row(row.number, tuple(row.cells[place] if place < len(row.cells) else "" for place in used))
        for row in rows
    )
    return replace(table, rows=whole)


def _spreadsheet(path: Path, error: type[WeatherglassError], sheet: str, most_rows: int) -> Table:
    read = read_sheet(path, lambda problem: error(f"{path}: {problem}"), sheet, most_rows, LONGEST_CELL)
    used = sorted({column for cells in read.cells.values() for column in cells})
    if len(used) > MOST_COLUMNS:
        raise error(f"{path}: has more than {MOST_COLUMNS} columns; keep only what is needed")
    rows = tuple(
        Row(number, tuple(cells.get(column, "") for column in used))
        for number, cells in sorted(read.cells.items())
    )
    notes = []
    if read.formulas:
        notes.append(f"{_counted(read.formulas, 'formula', 'formulas')}: the stored results are used")
    if read.hidden:
        hidden = _counted(read.hidden, "hidden row or column is", "hidden rows or columns are")
        notes.append(f"{hidden} read, too")
    return Table(path, f"Excel, sheet '{shown(read.name)}'", rows, tuple(notes), error=error)


def _counted(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def _delimited(
    path: Path, text: str, encoding: str, notes: list[str], most_rows: int, error: type[WeatherglassError]
) -> Table:
    """Return the rows of a text whose cells are separated by one character, or which has a single column."""
    lines, form, delimiter, comments = split_cells(path, text, most_rows + 1, error)
    if comments:
        notes = [*notes, f"{_counted(comments, 'line', 'lines')} beginning with # skipped"]
    rows = tuple(Row(number, tuple(cells)) for number, cells in lines)
    return Table(path, f"{form}, {encoding}", rows, tuple(notes), delimiter=delimiter, error=error)


def _json_lines(
    path: Path, text: str, encoding: str, notes: list[str], error: type[WeatherglassError]
) -> Table:
    """Return the objects of a file with one JSON object per line; the keys are the columns."""
    entries = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                entries.append((number, parsed_json(line)))
            except json.JSONDecodeError as failure:
                raise error(
                    f"{path}, line {number}, column {failure.colno}: malformed JSON ({failure.msg}); "
                    "write one object per line"
                ) from None
    return _from_objects(path, "JSON lines", encoding, notes, entries, error)


def _toml(path: Path, text: str, encoding: str, notes: list[str], error: type[WeatherglassError]) -> Table:
    """Return the tables of the only array of tables in a TOML file."""
    try:
        content = parsed_toml(text)
    except tomllib.TOMLDecodeError as failure:
        raise error(f"{path}: not a TOML file ({failure})") from None
    arrays = [value for value in content.values() if isinstance(value, list)]
    if len(arrays) != 1 or not all(isinstance(entry, dict) for entry in arrays[0]):
        raise error(f"{path}: should contain one array of tables, such as [[row]], with a table per row")
    return _from_objects(path, "TOML", encoding, notes, list(enumerate(arrays[0], 1)), error)


def _from_objects(
    path: Path,
    form: str,
    encoding: str,
    notes: list[str],
    entries: Sequence[tuple[int, Any]],
    error: type[WeatherglassError],
) -> Table:
    names: dict[str, None] = {}
    for number, entry in entries:
        if not isinstance(entry, dict):
            raise error(f'{path}, line {number}: should be an object such as {{"word": "nurse"}}')
        names |= dict.fromkeys(entry)
        if len(names) > MOST_COLUMNS:
            raise error(f"{path}: has more than {MOST_COLUMNS} columns; keep only what is needed")
        for name, value in entry.items():
            if value is not None and (isinstance(value, bool) or not isinstance(value, str | int | float)):
                raise error(f"{path}, line {number}: '{shown(name)}' should be text or a number")
    rows = [
        Row(number, tuple("" if (value := entry.get(name)) is None else str(value).strip() for name in names))
        for number, entry in entries
    ]
    head = [Row(entries[0][0], tuple(names))] if entries else []
    return Table(path, f"{form}, {encoding}", (*head, *rows), tuple(notes), has_names=True, error=error)


def is_numeric(cells: Iterable[str]) -> bool:
    """Return whether all non-empty cells are numbers with a decimal point or comma, and there is at least one."""
    filled = [cell.removesuffix("%").strip().replace("\u2212", "-") for cell in cells if cell]
    return all(filled) and any(
        filled and not any(_is_nan(_number(cell, mark)) for cell in filled) for mark in _NUMBERS
    )


def numbers(table: Table, column: int, rows: Sequence[Row]) -> tuple[list[float | None], bool]:
    """Return the numbers of a column, with None for an empty cell, and whether they have decimal commas.

    Percent signs are removed if every cell has one.

    Raises:
        WeatherglassError: if a cell is not a number or is ambiguous; the message names the file, the line and the
            cell.
    """
    cells = [row.cells[column].replace("\u2212", "-") for row in rows]
    if all(cell.endswith("%") for cell in cells if cell):
        cells = [cell.removesuffix("%").strip() for cell in cells]
    read = {mark: [_number(cell, mark) for cell in cells] for mark in _NUMBERS}
    fitting = [mark for mark, values in read.items() if not any(map(_is_nan, values))]
    if not fitting:
        best = min(read, key=lambda mark: sum(map(_is_nan, read[mark])))
        place = next(place for place, value in enumerate(read[best]) if _is_nan(value))
        raise table.error(f"{table.place(rows[place])}: '{shown(rows[place].cells[column])}' is not a number")
    mark = fitting[0]
    if len(fitting) == 2 and read["."] != read[","]:
        example = next(cell for cell, one, other in zip(cells, *read.values(), strict=True) if one != other)
        marks = {each for cell in cells for each in cell if each in ".,"}
        usual = "," if table.delimiter == ";" else "."
        if marks != {usual}:
            one, other = (f"{_number(example, each):.15g}" for each in ".,")
            raise table.error(
                f"{table.path}: '{example}' in column {column + 1} can mean {one} or {other}; write "
                "numbers without a thousands separator"
            )
        mark = usual
    return read[mark], mark == "," and read["."] != read[","]


def _number(cell: str, mark: str) -> float | None:
    """Return the number in a cell with this decimal mark: None if it is empty, NaN if it is not a number."""
    if not cell:
        return None
    if not _NUMBERS[mark].fullmatch(cell):
        return math.nan
    thousands = "," if mark == "." else "."
    try:
        value = float(cell.replace(thousands, "").replace(mark, "."))
    except ValueError:  # a sign without digits
        return math.nan
    return value if math.isfinite(value) else math.nan


def _is_nan(value: float | None) -> bool:
    return value is not None and math.isnan(value)
