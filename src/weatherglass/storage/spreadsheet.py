"""Cells of TSV and CSV files that no spreadsheet runs as a formula, and how to read them back."""

from __future__ import annotations

import re
from collections.abc import Sequence

FORMULA = r"^'*[=+\-@\t\r]"
"""How a cell begins that a spreadsheet takes for a formula, or that `defused` has made from one."""
NUMBER = r"^[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|nan)$"
_FORMULA, _NUMBER = re.compile(FORMULA), re.compile(NUMBER)
_BREAKS = str.maketrans("\t\r\n", "   ")
_SPECIAL = frozenset("'=+-@\"")
"""What a cell begins with that may not stay as it is, once it has no tabs and line breaks."""


def defused(text: str) -> str:
    """The text with an apostrophe before what a spreadsheet would run; numbers are left as they are.

    >>> defused("=HYPERLINK(A1)"), defused("-0.3"), defused("it's")
    ("'=HYPERLINK(A1)", '-0.3', "it's")
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def restored(cell: str) -> str:
    """What `defused` was given.

    >>> restored("'=HYPERLINK(A1)"), restored("-0.3"), restored("'tis")
    ('=HYPERLINK(A1)', '-0.3', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def tsv_line(cells: Sequence[str]) -> str:
    """A line of a table with tabs: tabs and line breaks in a cell are spaces, so that a row is a line."""
    return "\t".join(map(_tsv_cell, cells)) + "\n"


def _tsv_cell(text: str) -> str:
    if "\t" in text or "\n" in text or "\r" in text:
        text = text.translate(_BREAKS)
    if text[:1] not in _SPECIAL:  # as almost all cells of a large table
        return text
    cell = defused(text)
    # Readers of CSV take a quote at the start for the beginning of a quoted cell.
    return '"' + cell.replace('"', '""') + '"' if cell.startswith('"') else cell
