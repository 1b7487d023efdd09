"""Decode text files and split their lines into cells; the encoding and the delimiter are detected."""

from __future__ import annotations

import codecs
import contextlib
import csv
import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from weatherglass.errors import WeatherglassError
from weatherglass.registry import shown
from weatherglass.storage.printable import restored

DELIMITERS = {",": "comma", "\t": "tab", ";": "semicolon", "|": "bar"}
ROWS_TO_DETECT = 1000
"""The number of rows used to detect the delimiter."""
LEAST_ASCII = 20
"""UTF-16 without a byte-order mark is assumed only if one in this many characters is ASCII, such as a delimiter."""
TAB_SUFFIXES = (".tsv", ".tab")
_BREAKS = re.compile(r"\r\n?")
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_NAMES = {"utf-8-sig": "UTF-8", "utf-8": "UTF-8", "cp1252": "Windows-1252"}
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_STATED = re.compile(r'"?sep=([,;|\t])"?')
"""The first line of some CSV files from Excel."""

Lines = list[tuple[int, list[str]]]
"""The cells of each non-empty row, with the number of the line in which the row ends."""


def decoded(path: Path, content: bytes, error: type[WeatherglassError]) -> tuple[str, str, list[str]]:
    """Return the text of a file with newlines as line ends, its encoding, and a note if the encoding is assumed.

    UTF-16 without a byte-order mark is detected by its zero bytes; text that is not UTF-8 is read as Windows-1252.

    Raises:
        WeatherglassError: of the type `error`, if it is not text.
    """
    marked = next((encoding for mark, encoding in _MARKS if content.startswith(mark)), "")
    if not marked and b"\0" in content:
        marked = _unmarked(content)
        if not marked:
            line = content[: content.index(0)].count(b"\n") + 1
            raise error(
                f"{path}, line {line}: contains zero bytes, so it is not text; save it as UTF-8 or .xlsx"
            )
    for encoding in (marked,) if marked else ("utf-8", "cp1252"):
        with contextlib.suppress(UnicodeDecodeError):
            text = _BREAKS.sub("\n", content.decode(encoding))
            notes = [_assumed(text)] if encoding == "cp1252" else []
            return text, _NAMES.get(encoding, "UTF-16"), notes
    expected = _NAMES.get(marked, "UTF-16") if marked else "UTF-8 or Windows-1252"
    raise error(f"{path}: not {expected} text; save the file as UTF-8")


def _unmarked(content: bytes) -> str:
    """Return the byte order if content with zero bytes is UTF-16 text; empty if it is not."""
    zeros = content[::2].count(0), content[1::2].count(0)
    if len(content) % 2 or all(zeros):
        return ""
    encoding = "utf-16-be" if zeros[0] else "utf-16-le"
    text = content.decode(encoding, errors="replace")
    odd = any(
        unicodedata.category(character) in ("Cn", "Co", "Cs") or character == "\ufffd" for character in text
    )
    return "" if odd or sum(zeros) < len(text) / LEAST_ASCII else encoding


def _assumed(text: str) -> str:
    example = next((word for word in re.split(r"[\s,;|]+", text) if not word.isascii()), "")
    return (
        f"not UTF-8; read as Windows-1252 (Latin-1), such as '{shown(example)}'; if letters are wrong, save it as "
        "UTF-8"
    )


def split_cells(
    path: Path, text: str, most_rows: int, error: type[WeatherglassError]
) -> tuple[Lines, str, str, int]:
    """Return the rows of a text, the format, the delimiter (empty for one column), and the number of comments.

    Args:
        path: the file.
        text: its content.
        most_rows: the number of rows after which reading stops.
        error: the type of the error.

    Raises:
        WeatherglassError: of the type `error`, if two delimiters are possible, or a row has too many cells.
    """
    suffix = path.suffix.lower()
    lines = text.split("\n")
    if stated := _STATED.fullmatch(lines[0]):
        lines[0], delimiter = "", stated[1]
    else:
        delimiter = "\t" if suffix in TAB_SUFFIXES else _detected(path, lines, error)
    if not delimiter and suffix != ".csv":
        parsed = [(number, [line]) for number, line in enumerate(lines, 1) if line.strip()][:most_rows]
    else:
        parsed = _parsed(path, lines, delimiter or ",", most_rows, error)
    rows = [
        (number, [restored(cell).strip() for cell in cells])
        for number, cells in parsed
        if not cells[0].startswith("#")
    ]
    _check_widths(path, rows, delimiter or ",", error)
    kind = "TSV" if delimiter == "\t" else "CSV" if suffix == ".csv" else "text"
    form = kind if kind == "TSV" or not delimiter else f"{kind}, {DELIMITERS[delimiter]}"
    return rows, form, delimiter, len(parsed) - len(rows)


def _check_widths(path: Path, rows: Lines, delimiter: str, error: type[WeatherglassError]) -> None:
    """Refuse a row with more cells than the first."""
    width = len(rows[0][1]) if rows else 0
    for number, cells in rows:
        filled = max((place for place, cell in enumerate(cells, 1) if cell), default=0)
        if filled > width:
            raise error(
                f"{path}, line {number}: {filled} cells, but the first row has {width}; put a cell that contains a "
                f"{DELIMITERS[delimiter]} into double quotes"
            )


def _parsed(
    path: Path, lines: Iterable[str], delimiter: str, most: int, error: type[WeatherglassError]
) -> Lines:
    """Return the first rows that are not empty."""
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    try:
        filled = ((reader.line_num, cells) for cells in reader if any(map(str.strip, cells)))
        return list(islice(filled, most))
    except csv.Error as failure:
        raise error(
            f"{path}, line {reader.line_num}: malformed CSV ({failure}); a cell that begins with a double quote should "
            "end with one"
        ) from None


def _detected(path: Path, lines: Sequence[str], error: type[WeatherglassError]) -> str:
    """Return the character that separates the cells; empty for a single column.

    The delimiter splits the first row, and splits no row into more cells than the first. A delimiter that splits all
    rows into the same number of cells is preferred. In a file that is not called .csv, it must split all rows alike
    and cannot be followed by a space, like a comma in a sentence; only with tabs may rows be shorter.
    """
    prose = path.suffix.lower() != ".csv"
    regular: dict[str, list[list[str]]] = {}
    ragged: dict[str, list[list[str]]] = {}
    for delimiter in DELIMITERS:
        in_prose = prose and delimiter != "\t"
        if not any(delimiter in line for line in lines):
            continue
        if in_prose and any(f"{delimiter} " in line for line in lines):
            continue
        with contextlib.suppress(error):
            rows = _parsed(path, lines, delimiter, ROWS_TO_DETECT, error)
            cells = [row for _, row in rows if not row[0].startswith("#")]
            widths = {len(row) for row in cells}
            if cells and 1 < len(cells[0]) == max(widths):
                if len(widths) == 1:
                    regular[delimiter] = cells
                elif not in_prose:
                    ragged[delimiter] = cells
    found = regular or ragged
    for delimiter, table in found.items():
        others = found.keys() - {delimiter}
        inside = [cell for row in table for cell in row if any(other in cell for other in others)]
        if all(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in inside):
            return delimiter
    if found:
        possible = " or ".join(f"{DELIMITERS[each]}s" for each in found)
        raise error(f"{path}: the delimiter is ambiguous ({possible}); save the file with tabs, as .tsv")
    return ""
