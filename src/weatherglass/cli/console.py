"""Where commands print: results to stdout, everything about the work to stderr."""

from __future__ import annotations

import json

import typer
from rich.console import Console
from rich.table import Table

PIPE_WIDTH = 4000
"""Columns where there is no screen: nothing is cut or folded, a row is a line."""


def screen(stderr: bool = False) -> Console:
    """As wide as the screen, or as wide as it takes; text is printed as it is, since tokens have brackets."""
    console = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal:
        console.width = PIPE_WIDTH
    return console


def plain_table(*headings: str) -> Table:
    """A table without lines, whose long cells fold instead of being cut."""
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def print_json(value: object) -> None:
    """JSON as it is read by people and machines."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))
