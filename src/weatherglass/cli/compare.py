"""`weatherglass compare`: what changed between two runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    before: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of a run.", show_default=False)],
    after: Annotated[Path, typer.Argument(metavar="RUN", help="Folder of another.", show_default=False)],
    resamples: Annotated[int, typer.Option(help="Of the paired bootstrap.", min=100)] = 2000,
    seed: Annotated[int, typer.Option(help="Of the resampling.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print for machines.")] = False,
) -> None:
    """Say which effects changed between two runs, with an interval, and what cannot be compared and why."""
    from weatherglass.cli.console import print_json, screen
    from weatherglass.report.comparison import caption, comparison_table
    from weatherglass.runs.compare import compare_runs

    found = compare_runs(before, after, resamples=resamples, seed=seed)
    if as_json:
        print_json(found.to_json())
        return
    console = screen()
    if found.differences:
        console.print(comparison_table(found))
    for line in caption(found):
        console.print(line, soft_wrap=True)
