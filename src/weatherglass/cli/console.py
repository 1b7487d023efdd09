"""Print results to stdout, and progress and warnings to stderr, with no line wider than the terminal."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import zip_longest
from typing import TYPE_CHECKING, TextIO

import click

from weatherglass.storage.printable import (
    cell_len,
    one_line,
    printable_json,
    printable_lines,
    short_line,
)

if TYPE_CHECKING:
    from weatherglass.warnings import Warning

PIPE_WIDTH = 4000
"""The width if the output is not a terminal, so that nothing is cut or wrapped."""
NARROWEST = 40
NARROWEST_COLUMN = 3
ERASE = "\r\x1b[K"
"""The control sequence that erases a terminal line, where a progress bar may be drawn."""
EAST_ASIAN = ("zh", "ja", "ko")
"""Locales whose terminals may draw characters of ambiguous width, such as most marks, two columns wide."""
IN_ASCII = {
    **{"●": "#", "◐": "+", "◇": "!", "○": "o", "↔": "x", "≈": "~", "≠": "!", "…": "-", "─": "-", "•": "*"},
    **{"│": "|", "┼": "+", "−": "-", "–": "-", "×": "x", "≤": "<=", "≥": ">=", "→": "->", "“": '"', "”": '"'},
    **{
        "’": "'",
        "²": "2",
        "∞": "inf",
        "°": "o",
        "†": "+",
        "←": "<-",
        "·": ".",
        "✓": "v",
        "✗": "X",
        "█": "#",
        "░": ".",
    },
}
"""Replacements for characters that a terminal does not support."""


def width_of(stream: TextIO | None = None) -> int:
    """Return the number of columns of the terminal, or $COLUMNS; in a pipe, as many as any line needs."""
    stream = stream or sys.stdout
    stated = os.environ.get("COLUMNS", "")
    if stated.isdigit() and int(stated):
        return max(NARROWEST, int(stated))
    try:
        return (
            max(NARROWEST, os.get_terminal_size(stream.fileno()).columns) if stream.isatty() else PIPE_WIDTH
        )
    except (OSError, ValueError):
        return PIPE_WIDTH


def say(lines: Iterable[str], err: bool = False, whole: bool = False) -> None:
    """Print lines; a line that is wider than the terminal is broken between words.

    Args:
        lines: the lines to print.
        err: whether to print to stderr.
        whole: whether to keep lines unbroken, so that paths can be copied.
    """
    from weatherglass.report.layout import wrapped

    stream = sys.stderr if err else sys.stdout
    width = width_of(stream)
    for line in lines:
        style = _styled(line, stream)
        text = one_line(line)
        text = in_ascii(text, stream.encoding) if is_plain(stream.encoding) else text
        indent = len(text) - len(text.lstrip(" "))
        further = " " * (indent + 2 if indent else 0)
        for part in wrapped(text, width, further=further) if cell_len(text) > width and not whole else [text]:
            click.echo(style(part), err=err)


def _styled(line: str, stream: TextIO) -> Callable[[str], str]:
    """Return a function that makes a line bold or dim, or leaves it unchanged in a pipe."""
    from weatherglass.report.layout import Bold, Dim

    if not isinstance(line, Bold | Dim) or not is_terminal(stream):
        return str
    return partial(click.style, bold=True) if isinstance(line, Bold) else partial(click.style, dim=True)


def complain(line: str) -> None:
    """Print an error or a warning as one line on stderr with at most 300 characters and no control characters."""
    with contextlib.suppress(OSError):  # a full disk or a closed pipe: it cannot be reported
        click.echo((ERASE if is_terminal(sys.stderr) else "") + short_line(line), err=True)


def is_terminal(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that can erase lines and print bold text."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def warn_about(warnings: Sequence[Warning], verbose: bool = False, where: str | None = None) -> None:
    """Print warnings to stderr, one line per kind, or all of them in full."""
    from weatherglass.report.warning_summary import ON_PAGE, warning_lines

    set_apart(warning_lines(warnings, width_of(sys.stderr), verbose=verbose, where=where or ON_PAGE))


def set_apart(lines: Iterable[str]) -> None:
    """Print lines to stderr, after an empty line that separates them from stdout."""
    lines = list(lines)
    if lines:
        sys.stdout.flush()
        say(["", *lines], err=True)


@cache
def is_plain(encoding: str | None) -> bool:
    """Return whether the marks cannot be printed one column wide.

    An encoding or the font of the Linux console may lack the marks, and a terminal in an East Asian locale may draw
    them two columns wide.
    """
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    if os.environ.get("TERM") == "linux" or locale.startswith(EAST_ASIAN):
        return True
    try:
        "".join(IN_ASCII).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


def in_ascii(text: str, encoding: str | None = "ascii") -> str:
    """Return the text with ASCII instead of the marks, and ? for other characters that the encoding lacks.

    >>> in_ascii("◐ weat5b  0.80  −0.13 …  1.25")
    '+ weat5b  0.80  -0.13 -  1.25'
    """
    known = "".join(IN_ASCII.get(character, character) for character in text)
    return known.encode(encoding or "ascii", errors="replace").decode(encoding or "ascii")


def table(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int | None = None) -> Iterator[str]:
    """Yield the lines of a table; long cells are wrapped."""
    from weatherglass.report.layout import GAP, Bold, pad, wrapped

    cells = [[one_line(cell) for cell in row] for row in (headings, *rows)]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    room = (width or width_of()) - len(GAP) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > NARROWEST_COLUMN:
        widths[widths.index(max(widths))] -= 1
    for number, row in enumerate(cells):
        folded = [wrapped(cell, one) for cell, one in zip(row, widths, strict=True)]
        for parts in zip_longest(*folded, fillvalue=""):
            line = GAP.join(map(pad, parts, widths)).rstrip()
            yield line if number else Bold(line)


def print_json(value: object, indent: int | None = 2) -> None:
    """Print JSON, with paths as strings and non-finite numbers as null."""
    is_unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    document = json.dumps(_finite(value), indent=indent, ensure_ascii=not is_unicode, default=str)
    click.echo(printable_json(document))


def send(document: str) -> None:
    """Print a document, unchanged to a program and with escaped control characters to a terminal."""
    sys.stdout.write(printable_lines(document) if sys.stdout.isatty() else document)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
