"""Words in a file: one a line, or a table with tabs and a header, of which a column holds facts about them."""

from __future__ import annotations

import csv
import math
from pathlib import Path

from weatherglass.errors import CatalogueError
from weatherglass.registry import suggestion
from weatherglass.storage.reading import reading


def read_word_table(path: Path, column: str | None = None) -> dict[str, float | None]:
    """Each word with its number in a column; None without a column, or where the cell is empty.

    A table has a header whose first name is `word`; any other file holds one word a line. Lines that are empty or begin
    with # are passed over.

    Raises:
        CatalogueError: with file and line, for a missing column, a word that stands twice, or a cell without a number.
    """
    with reading(path, CatalogueError, "cannot be read: the file"):
        text = path.read_text(encoding="utf-8-sig")
        lines = enumerate(text.splitlines(), 1)
        kept = [(n, line) for n, line in lines if line.strip() and not line.startswith("#")]
        rows = [(n, next(csv.reader([line], delimiter="\t"))) for n, line in kept]
    header = [name.strip() for name in rows[0][1]] if rows else []
    is_table = bool(header) and header[0] == "word"
    if column is not None:
        if not is_table:
            raise CatalogueError(f"{path}: this is no table; its first line should be: word<tab>{column}")
        if column not in header:
            raise CatalogueError(f"{path}: there is no column '{column}'{suggestion(column, header[1:])}")
    words: dict[str, float | None] = {}
    for number, cells in rows[1:] if is_table else rows:
        word = cells[0].strip()
        if word in words:
            raise CatalogueError(f"{path}, line {number}: '{word}' stands twice")
        words[word] = _number(path, number, cells, header.index(column)) if column is not None else None
    if not words:
        raise CatalogueError(f"{path}: there is no word in it")
    return words


def _number(path: Path, line: int, cells: list[str], place: int) -> float | None:
    cell = cells[place].strip() if place < len(cells) else ""
    if not cell:
        return None
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise CatalogueError(f"{path}, line {line}: '{cell}' is no number")
    return value
