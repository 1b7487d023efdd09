"""Printing: results to stdout, progress and warnings to stderr, no line wider than the terminal."""

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TextIO

import typer

from weatherglass.storage.printable import one_line, printable_json, short_line

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from weatherglass.report.folded import Placed

PIPE_WIDTH = 4000
"""Width if the output is not a terminal: nothing is cut or folded, a row is a line."""
NARROWEST = 40
IN_ASCII = {
    **{"●": "#", "◐": "+", "①": "1", "○": "o", "≡": "=", "↔": "x", "≈": "~", "≠": "!", "…": "-", "─": "-"},
    **{"│": "|", "┼": "+", "−": "-", "–": "-", "×": "x", "≤": "<=", "≥": ">=", "→": "->", "“": '"', "”": '"'},
    **{"’": "'", "²": "2", "∞": "inf", "°": "o", "†": "+", "←": "<-", "·": "."},
}
"""What is printed where a terminal does not know our characters."""


def width_of(stream: TextIO | None = None) -> int:
    """Columns of the terminal, or what COLUMNS says; in a pipe, as many as a line needs."""
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
    """Print lines; one that is wider than the terminal goes on in the next, broken between words.

    Args:
        lines: what to print.
        err: to stderr.
        whole: nothing is broken, since a path is to be copied.
    """
    from rich.cells import cell_len

    from weatherglass.report.layout import wrapped

    stream = sys.stderr if err else sys.stdout
    width = width_of(stream)
    for line in lines:
        text = one_line(line)
        text = in_ascii(text, stream.encoding) if is_plain(stream.encoding) else text
        indent = len(text) - len(text.lstrip(" "))
        further = " " * (indent + 2 if indent else 0)
        for part in wrapped(text, width, further=further) if cell_len(text) > width and not whole else [text]:
            typer.echo(part, err=err)


def complain(line: str) -> None:
    """Print an error or a warning: one line on stderr, at most 300 characters, control characters shown."""
    with contextlib.suppress(OSError):  # a full disk or a closed pipe: there is nobody to tell
        typer.echo(short_line(line), err=True)


def warn_about(
    warnings: Sequence[Placed],
    in_full: Sequence[str] | None = None,
    noun: str = "warning",
    where: str = "in the page and with --verbose",
) -> None:
    """Print warnings to stderr, one line per kind, set apart from what stdout has shown; or all of them in full."""
    from weatherglass.report.folded import warning_lines

    lines = list(warning_lines(warnings, width_of(sys.stderr), in_full=in_full, noun=noun, where=where))
    if lines:
        sys.stdout.flush()
        say(["", *lines], err=True)


@cache
def is_plain(encoding: str | None) -> bool:
    """Whether our marks cannot be printed: the encoding, or the font of the Linux console, lacks them."""
    if os.environ.get("TERM") == "linux":
        return True
    try:
        "".join(IN_ASCII).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return True
    return False


def in_ascii(text: str, encoding: str | None = "ascii") -> str:
    """The text with ASCII for our marks, and ? for what the encoding lacks otherwise.

    >>> in_ascii("① weat5b  0.80  −0.13 …  1.25")
    '1 weat5b  0.80  -0.13 -  1.25'
    """
    known = "".join(IN_ASCII.get(character, character) for character in text)
    return known.encode(encoding or "ascii", errors="replace").decode(encoding or "ascii")


def screen(stderr: bool = False) -> Console:
    """A console as wide as the terminal or, in a pipe, as needed; no markup, since tokens may have brackets."""
    from rich.console import Console

    class Screen(Console):
        """Shows control characters of texts; rich sends most of them."""

        def print(self, *objects: Any, **options: Any) -> None:
            super().print(*(one_line(o) if isinstance(o, str) else o for o in objects), **options)

    console = Screen(stderr=stderr, markup=False, emoji=False, highlight=False)
    console.width = width_of(sys.stderr if stderr else sys.stdout)
    return console


def plain_table(*headings: str) -> Table:
    """A table without lines, whose long cells fold instead of being cut; control characters in them are shown."""
    from rich.table import Table

    class PlainTable(Table):
        def add_row(self, *cells: Any, **options: Any) -> None:
            super().add_row(*(one_line(cell) if isinstance(cell, str) else cell for cell in cells), **options)

    table = PlainTable(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def print_json(value: object) -> None:
    """Print indented JSON; paths as texts, what is not finite as null."""
    typer.echo(printable_json(json.dumps(_finite(value), indent=2, ensure_ascii=False, default=str)))


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
