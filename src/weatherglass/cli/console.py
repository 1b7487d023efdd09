"""Printing: results to stdout, progress and warnings to stderr."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PIPE_WIDTH = 4000
"""Width if the output is not a terminal: nothing is cut or folded, a row is a line."""


def screen(stderr: bool = False) -> Console:
    """A console as wide as the terminal or, in a pipe, as needed; no markup, since tokens may have brackets."""
    from rich.console import Console

    console = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console


def plain_table(*headings: str) -> Table:
    """A table without lines, whose long cells fold instead of being cut."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def print_json(value: object) -> None:
    """Print indented JSON; paths as texts, what is not finite as null."""
    typer.echo(json.dumps(_finite(value), indent=2, ensure_ascii=False, default=str))


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
