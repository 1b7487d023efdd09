"""`weatherglass compare`: which effects changed between two runs, or between the models of one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weatherglass.cli.gate_output import check_places, write_gate_files


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
    fail_if: Annotated[
        str,
        typer.Option(
            help="worse: exit with 1 if an effect grew and the interval of its change leaves out 0, if a verdict rose, "
            "or if something cannot be compared.",
            metavar="worse",
            show_default=False,
        ),
    ] = "",
    junit: Annotated[Path | None, typer.Option(help="Write the result as JUnit XML.", metavar="FILE")] = None,
    summary: Annotated[
        Path | None, typer.Option(help="Write a Markdown summary for a pull request.", metavar="FILE")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show which effects changed between two runs or the models of one, with intervals, and what has no counterpart."""
    from weatherglass.cli.console import print_json, say, width_of
    from weatherglass.gate.worse import check_word, judge_models, judge_runs
    from weatherglass.report.comparison import caption, comparison_lines
    from weatherglass.runs.results import Failure, Run
    from weatherglass.runs.stored import read_whole_run

    if fail_if:
        check_word(fail_if)
    check_places(junit, summary)
    first = read_whole_run(before)
    second = first if after is None else read_whole_run(after)
    judged = judge_models(first, alpha) if after is None else judge_runs(first, second, alpha)
    comparison, breaches = judged.comparison, judged.breaches if fail_if else []
    if as_json:
        gate = {"gate": [str(breach) for breach in breaches]} if fail_if else {}
        print_json({**comparison.to_json(), **gate})
    else:
        width = width_of()
        say([*comparison_lines(comparison, width, table), *caption(comparison, width, verbose)])
    failures = [Failure(f["model"], f["test"], f["reason"]) for f in second.record.get("failures", [])]
    later = Run(second.results, failures, dict(second.record))
    write_gate_files(later, breaches, bool(fail_if), judged, junit, summary)
    if breaches:
        raise typer.Exit(1)
