"""What the study commands print: claims, warnings, failures, and how to continue."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from weatherglass.errors import InterruptedRunError, UnitError

if TYPE_CHECKING:
    import polars as pl

    from weatherglass.api.study_results import StudyResult


def print_claims(tables: Mapping[str, pl.DataFrame]) -> None:
    """Print how many base pairs occur, and the claims with their medians and verdicts."""
    from weatherglass.cli.console import plain_table, screen

    console = screen()
    for row in tables["pairs"].iter_rows(named=True):
        console.print(
            f"{row['pairs']}, {row['corpus']}, {row['algorithm']}: {row['present']} of {row['of']} base pairs occur"
        )
    table = plain_table("claim", "base pairs", "corpus", "algorithm", "by", "median", "95 %", "verdict", "")
    for row in tables["claims"].iter_rows(named=True):
        median = "–" if row["median"] != row["median"] else f"{row['median']:.2f}"
        names = (row["claim"], row["pairs"], row["corpus"], row["algorithm"], row["by"])
        interval = "–" if row["low"] != row["low"] else f"{row['low']:.2f} to {row['high']:.2f}"
        table.add_row(*names, median, interval, row["verdict"], row["size"])
    console.print(table)


def study_json(result: StudyResult) -> dict[str, Any]:
    """The claims and the summary of a finished study, and where its page is."""
    tables = {name: result.tables[name].to_dicts() for name in ("claims", "summary", "pairs")}
    said = {"warnings": list(result.warnings), "failures": list(result.failures)}
    return {"page": result.page, **tables, **said}


def print_warnings(warnings: Sequence[str]) -> None:
    """Print warnings to stderr, also with --quiet."""
    for warning in warnings:
        typer.echo(f"warning: {warning}", err=True)


def report_failures(failures: Sequence[str]) -> None:
    """Raise an error if an embedding could not be trained."""
    if failures:
        raise UnitError(f"{len(failures)} embeddings could not be trained; the first: {failures[0]}")


@contextmanager
def interruptible(folder: Path) -> Iterator[None]:
    """Turn Ctrl-C into one line that says how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        raise InterruptedRunError(
            f"stopped; finished work is in {folder}, and the same command continues from there"
        ) from None
