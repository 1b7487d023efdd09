"""Make text safe to show: as one line for a terminal, and as cells that no spreadsheet runs as formulas."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import cache

LONGEST_LINE = 300
"""The largest length of an error or a warning on the terminal; the middle is cut, since the file is named first and
the remedy last.
"""
_BREAKS = re.compile(r"[^\S ]+")
_JOINERS = "\u200c\u200d"
_NEVER_SENT = ("Cc", "Cf", "Cs", "Zl", "Zp")


def cell_len(text: str) -> int:
    """Return the number of columns that a text takes on a terminal.

    >>> cell_len("词 = word")
    9
    """
    return len(text) if text.isascii() else sum(map(_columns, text))


@cache
def _columns(character: str) -> int:
    if unicodedata.category(character) in (
        "Mn",
        "Me",
        "Cf",
    ):  # drawn over the previous character, or not at all
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def one_line(text: str) -> str:
    """Return the text in one line, with control characters escaped, since names may come from any file.

    >>> print(one_line("a\\tb\\x1b[2J"))
    a b\\x1b[2J
    """
    if text.isascii() and text.isprintable():
        return text
    spaced = _BREAKS.sub(" ", text)
    return "".join(
        c.encode("unicode_escape").decode()
        if unicodedata.category(c) in _NEVER_SENT and c not in _JOINERS
        else c
        for c in spaced
    )


def short_line(text: str, longest: int = LONGEST_LINE) -> str:
    """Return the text in one line of at most `longest` characters, cut in the middle.

    >>> short_line("/data/a/very/long/path/glove.txt: the file is empty; download it again", 41)
    '/data/a/very/long/pa…y; download it again'
    """
    line = one_line(text)
    if len(line) <= longest:
        return line
    head = longest // 2
    return line[:head] + "…" + line[len(line) - (longest - head - 1) :]


def printable_lines(document: str) -> str:
    """Return a document with escapes for all control characters except line breaks and tabs.

    >>> printable_lines("a b\\n\\x1b[2J")
    'a b\\n\\\\x1b[2J'
    """
    return "\n".join("\t".join(map(one_line, line.split("\t"))) for line in document.split("\n"))


def printable_json(document: str) -> str:
    """Return an equivalent JSON document with escapes for control characters that a terminal would interpret.

    >>> print(printable_json('["\\x9b2J", "é"]'))
    ["\\u009b2J", "é"]
    """
    if document.isascii() and "\x7f" not in document:
        return document
    return "".join(
        f"\\u{ord(c):04x}"
        if unicodedata.category(c) in _NEVER_SENT and c not in "\n" + _JOINERS and c <= "\uffff"
        else c
        for c in document
    )


FORMULA = r"^'*[=+\-@\t\r]"
"""The start of a cell that a spreadsheet reads as a formula, or that `defused` has escaped."""
NUMBER = r"^[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|nan)$"
_FORMULA, _NUMBER = re.compile(FORMULA), re.compile(NUMBER)
_CELL_BREAKS = str.maketrans("\t\r\n", "   ")
_SPECIAL = frozenset("'=+-@\"")
"""First characters of cells that may have to be changed."""


def defused(text: str) -> str:
    """Return the text, preceded by an apostrophe if a spreadsheet would run it as a formula.

    >>> defused("=HYPERLINK(A1)"), defused("-0.3"), defused("it's")
    ("'=HYPERLINK(A1)", '-0.3', "it's")
    """
    return f"'{text}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else text


def restored(cell: str) -> str:
    """Return the original text of a cell that `defused` escaped.

    >>> restored("'=HYPERLINK(A1)"), restored("-0.3"), restored("'tis")
    ('=HYPERLINK(A1)', '-0.3', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def tsv_line(cells: Sequence[str]) -> str:
    """Return a line of a tab-separated table; tabs and line breaks in a cell become spaces."""
    line = []
    for cell in cells:
        if "\t" in cell or "\n" in cell or "\r" in cell:
            cell = cell.translate(_CELL_BREAKS)
        if cell[:1] in _SPECIAL:  # few cells of a large table
            cell = defused(cell)
            # Readers of CSV take a quote at the start for the beginning of a quoted cell.
            cell = '"' + cell.replace('"', '""') + '"' if cell.startswith('"') else cell
        line.append(cell)
    return "\t".join(line) + "\n"
