"""`weatherglass compare`: which effects changed between two runs, or between the models of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    before: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.", show_default=False)],
    after: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN]",
            help="Folder of the run to compare it with. Without it: the other models of the run with its first.",
            show_default=False,
        ),
    ] = None,
    alpha: Annotated[float, typer.Option(help="A change is marked where its p is at most this.")] = 0.05,
    table: Annotated[
        bool,
        typer.Option("--table", help="Print every effect, however many; else those that changed from 61 on."),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Name every test that has no counterpart.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which effects changed between two runs or the models of one, with intervals, and what has no counterpart."""
    from weatherglass.cli.console import print_json, say, width_of
    from weatherglass.report.comparison import caption, comparison_lines
    from weatherglass.runs.compare import compare_models, compare_runs

    comparison = (
        compare_models(before, alpha=alpha) if after is None else compare_runs(before, after, alpha=alpha)
    )
    if as_json:
        print_json(comparison.to_json())
        return
    width = width_of()
    say([*comparison_lines(comparison, width, table), *caption(comparison, width, verbose)])
