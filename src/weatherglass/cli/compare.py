"""`weatherglass compare`: which effects changed between two runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    before: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.", show_default=False)],
    after: Annotated[
        Path, typer.Argument(metavar="RUN", help="Folder of the run to compare it with.", show_default=False)
    ],
    alpha: Annotated[float, typer.Option(help="A change is marked where its p is at most this.")] = 0.05,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which effects changed between two runs, with intervals, and what cannot be compared and why."""
    from weatherglass.cli.console import print_json, screen
    from weatherglass.report.comparison import caption, comparison_table
    from weatherglass.runs.compare import compare_runs

    comparison = compare_runs(before, after, alpha=alpha)
    if as_json:
        print_json(comparison.to_json())
        return
    console = screen()
    if comparison.differences:
        console.print(comparison_table(comparison))
    for line in caption(comparison):
        console.print(line, soft_wrap=True)
