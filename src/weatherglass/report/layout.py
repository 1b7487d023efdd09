"""Fit text into the width of a terminal: shorten names, wrap lines, and lay out tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from weatherglass.storage.printable import cell_len, one_line

GAP = "  "
MOST_ROWS = 60
"""The number of rows above which a comparison or a study prints only those that changed."""
SIZES_FROM, DIRECTION_FROM = 100, 120
"""The smallest terminal widths at which a row has more columns."""


class Bold(str):
    """A heading, which is printed bold if the terminal supports it."""

    __slots__ = ()


class Dim(str):
    """A line about a topic without a finding, which is printed dim if the terminal supports it."""

    __slots__ = ()


Shortening = Literal["front", "middle", "end"]
_STARTS = "/\\:"
"""Characters after which a shortened name begins, if that costs little."""


def widest_name(width: int) -> int:
    """Return the largest width of the column of names in a terminal of this width; all published names fit."""
    return max(48, width // 3)


def pad(text: str, width: int, right: bool = False) -> str:
    """Return the text with spaces up to this display width."""
    space = " " * max(0, width - cell_len(text))
    return space + text if right else text + space


def shortened(text: str, width: int, where: Shortening = "end") -> str:
    """Return the text in at most `width` columns, with … for the part left out.

    >>> shortened("models/sentence-transformers/all-MiniLM-L6-v2", 20, "front")
    '…/all-MiniLM-L6-v2'
    >>> shortened("heilman_double_bind_competent", 12, "middle")
    'heilm…petent'
    """
    text = one_line(text)
    if cell_len(text) <= width:
        return text
    if width < 1:
        return ""
    room = width - 1
    if where == "end":
        return _head(text, room).rstrip() + "…"
    if where == "middle":
        return _head(text, room // 2) + "…" + _tail(text, room - room // 2)
    tail = _tail(text, room)
    start = next((place for place, c in enumerate(tail) if c in _STARTS), -1)
    return "…" + (tail[start:] if 0 <= start <= len(tail) // 2 else tail)


def _head(text: str, width: int) -> str:
    """Return as many characters from the start as fit."""
    used = 0
    for place, character in enumerate(text):
        used += cell_len(character)
        if used > width:
            return text[:place]
    return text


def _tail(text: str, width: int) -> str:
    used = 0
    for place in range(len(text) - 1, -1, -1):
        used += cell_len(text[place])
        if used > width:
            return text[place + 1 :]
    return text


def wrapped(text: str, width: int, indent: str = "", further: str | None = None) -> Iterator[str]:
    """Yield the text in lines of at most `width`, broken between words; a longer word is broken, too.

    Args:
        indent: the indentation of the first line.
        further: the indentation of the other lines; by default, the same.
    """
    further = indent if further is None else further
    line, empty = indent, True
    for word in one_line(text).split(" "):
        if not empty and cell_len(line) + 1 + cell_len(word) > width:
            yield line.rstrip()
            line, empty = further, True
        line += word if empty else f" {word}"
        empty = False
        while cell_len(line) > width:
            head = _head(line, width) or line[0]
            yield head
            line = further + line[len(head) :] if len(further) < width else line[len(head) :]
    yield line.rstrip()


def items_in_lines(items: Iterable[str], width: int) -> Iterator[str]:
    """Yield lines of items with two spaces between them; an item is broken only if it is wider than a line."""
    line = ""
    for item in items:
        if line and cell_len(line) + len(GAP) + cell_len(item) > width:
            yield line
            line = ""
        line = f"{line}{GAP}{item}" if line else item
        if cell_len(line) > width:
            *full, line = wrapped(line, width)
            yield from full
    if line:
        yield line


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table."""

    heading: str
    right: bool = False
    shorten: Shortening | None = None
    """The place where cells are shortened if the table is too wide; None if they are never shortened."""
    least: int = 8
    """The width below which cells are not shortened."""
    most: int | None = None
    """The width to which cells are shortened even if there is room, so that one long name does not hide a column."""
    from_width: int = 0
    """The smallest terminal width at which the column is shown; 0 for always."""


Row = Sequence[str] | str
"""The cells of a row, or a heading for the rows that follow."""


def table_lines(columns: Sequence[Column], rows: Sequence[Row], width: int) -> Iterator[str]:
    """Yield the lines of a table, each at most `width` wide and none wrapped.

    If the table is too wide, optional columns are shortened, then left out from the right; only then are other columns
    shortened.
    """
    cells = [[one_line(cell) for cell in row] for row in rows if not isinstance(row, str)]
    shown = [place for place, column in enumerate(columns) if column.from_width <= width]
    while True:
        optional = [place for place in shown if columns[place].from_width > 0]
        room = width - len(GAP) * (len(shown) - 1)
        widths = _widths(columns, shown, cells, room, optional or shown)
        if not optional or sum(widths.values()) <= room:
            break
        shown.remove(optional[-1])
    yield _line(columns, [column.heading for column in columns], shown, widths, width)
    rest = iter(cells)
    for row in rows:
        if isinstance(row, str):
            yield shortened(row, width)
        else:
            yield _line(columns, next(rest), shown, widths, width)


def table_in_blocks(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Yield the lines of a table; if the columns do not fit, the table continues below, with the first column
    repeated.
    """
    natural = [
        max([cell_len(column.heading), *(cell_len(one_line(row[place])) for row in rows)])
        for place, column in enumerate(columns)
    ]
    first = min(natural[0], max(columns[0].least, width // 2))
    blocks: list[list[int]] = [[]]
    used = first
    for place in range(1, len(columns)):
        if blocks[-1] and used + len(GAP) + natural[place] > width:
            blocks.append([])
            used = first
        blocks[-1].append(place)
        used += len(GAP) + natural[place]
    for number, block in enumerate(blocks):
        if number:
            yield ""
        places = [0, *block]
        yield from table_lines(
            [columns[place] for place in places], [[row[place] for place in places] for row in rows], width
        )


def _widths(
    columns: Sequence[Column],
    shown: Sequence[int],
    cells: Sequence[Sequence[str]],
    room: int,
    narrowed: Sequence[int],
) -> dict[int, int]:
    """Return the width of each column; the widest column in `narrowed` shrinks until all columns fit, if possible."""
    widths = {
        place: max([cell_len(columns[place].heading), *(cell_len(row[place]) for row in cells)])
        for place in shown
    }
    for place in shown:
        widths[place] = min(widths[place], columns[place].most or widths[place])
    while sum(widths.values()) > room:
        narrower = [p for p in narrowed if columns[p].shorten and widths[p] > columns[p].least]
        if not narrower:
            break
        widths[max(narrower, key=widths.__getitem__)] -= 1
    return widths


def _line(
    columns: Sequence[Column],
    cells: Sequence[str],
    shown: Sequence[int],
    widths: dict[int, int],
    width: int,
) -> str:
    parts = []
    for place in shown:
        column, room = columns[place], widths[place]
        parts.append(pad(shortened(cells[place], room, column.shorten or "end"), room, column.right))
    return shortened(GAP.join(parts).rstrip(), width)
