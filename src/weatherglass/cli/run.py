"""`weatherglass run`: run tests on models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weatherglass.audit.settings import Settings
from weatherglass.cli.command_line import command_line
from weatherglass.cli.completion import complete_metric, complete_model, complete_test
from weatherglass.cli.gate_output import check_places, write_gate_files
from weatherglass.cli.settings_options import takes_settings
from weatherglass.cli.worker_options import Jobs, Scheduler, SharedDir
from weatherglass.errors import InterruptedRunError
from weatherglass.storage.printable import printable_json

if TYPE_CHECKING:
    from weatherglass.runs.results import Run

DEFAULT_FOLDER = Path("weatherglass-run")
WHAT, OUTPUT, GATE = "What to test", "Output", "Gate"
"""Groups of the options in the help."""


@takes_settings
def run(
    context: typer.Context,
    settings: Settings,
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]…",
            help="A path to word vectors, or kind:target?option=value; see 'weatherglass models'. "
            "Default: the embedded model.",
            show_default=False,
            autocompletion=complete_model,
        ),
    ] = None,
    tests: Annotated[
        list[str],
        typer.Option(
            "-t",
            "--test",
            help="Name, glob, topic, file or folder; repeat for several.",
            metavar="TEST",
            rich_help_panel=WHAT,
            autocompletion=complete_test,
        ),
    ] = ["*"],  # noqa: B006 - typer reads it, nobody changes it
    metrics: Annotated[
        list[str],
        typer.Option(
            "-m",
            "--metric",
            help="similarity/statistic for WEAT, a name of 'weatherglass metrics', or a glob; repeat.",
            metavar="METRIC",
            rich_help_panel=WHAT,
            autocompletion=complete_metric,
        ),
    ] = ["cosine/mean"],  # noqa: B006
    folder: Annotated[
        Path,
        typer.Option("-o", "--output", help="Folder for the results.", metavar="DIR", rich_help_panel=OUTPUT),
    ] = DEFAULT_FOLDER,
    add: Annotated[
        bool,
        typer.Option(
            "--add",
            help="Keep the results that the folder holds beside these, in one table, correction and page.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    fail_if: Annotated[
        list[str],
        typer.Option(
            help="Exit with 1 if this holds for a result: 'abs(effect_size) > 0.8 and p_adjusted < 0.01'; repeat.",
            metavar="CONDITION",
            rich_help_panel=GATE,
        ),
    ] = [],  # noqa: B006
    gate: Annotated[
        Path | None,
        typer.Option(
            help="A TOML file with conditions for groups of tests.", metavar="FILE", rich_help_panel=GATE
        ),
    ] = None,
    junit: Annotated[
        Path | None,
        typer.Option(help="Write the gate's verdicts as JUnit XML.", metavar="FILE", rich_help_panel=GATE),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            help="Folder of an earlier run: exit with 1 if this one is worse, which is an effect that grew beyond "
            "chance or a verdict that rose.",
            metavar="DIR",
            rich_help_panel=GATE,
        ),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(
            help="Write a Markdown summary for a pull request.", metavar="FILE", rich_help_panel=GATE
        ),
    ] = None,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    shared_dir: SharedDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel=OUTPUT)] = False,
    table: Annotated[
        bool,
        typer.Option(
            "--table",
            help="Print every result, however many; else a summary from 61 on.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Print every warning in full.", rich_help_panel=OUTPUT)
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="No progress, no table.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Run association tests on models: effect sizes, p-values, correction, a table and a report.

    Without arguments: the embedded model and all 46 published tests. The same command again computes only what is
    missing. Exit code 0: done; 1: the gate failed; 2: an error in the command or its files; 3: some tests failed.
    """
    from weatherglass.api.audits import run as audit
    from weatherglass.cli.bar import Bar
    from weatherglass.encoders import DEFAULT_MODEL
    from weatherglass.runs.stored import held_record

    if fail_if or gate:
        from weatherglass.gate.rules import gate_of
    if baseline:
        from weatherglass.gate.worse import judge_runs, read_baseline
    rules = gate_of(fail_if, gate) if fail_if or gate else None
    check_places(junit, summary)
    earlier = read_baseline(baseline) if baseline else None
    held = held_record(folder)
    try:
        with Bar(quiet or as_json) as bar:
            finished = audit(
                models or [DEFAULT_MODEL],
                tests,
                metrics,
                settings,
                jobs=jobs,
                scheduler=scheduler,
                shared_dir=shared_dir,
                folder=folder,
                add=add,
                progress=bar,
                command=command_line(context),
            )
    except KeyboardInterrupt:
        raise InterruptedRunError(
            f"stopped; finished work is in {folder}, and the same command continues from there"
        ) from None
    breaches = rules.judge(finished.results, finished.verdicts()) if rules else []
    judged = judge_runs(earlier, finished.stored(), settings.alpha) if earlier else None
    breaches += judged.breaches if judged else []
    if as_json:
        results = [result.to_json() for result in finished.results]
        verdict = {"gate": [str(breach) for breach in breaches]} if rules or judged else {}
        typer.echo(
            printable_json(json.dumps({**finished.record, **verdict, "results": results}, ensure_ascii=False))
        )
    elif not quiet:
        show(finished, folder, table, verbose, replaced(held, finished.record, folder))
        show_families(finished)
    write_gate_files(finished, breaches, bool(rules or judged), judged, junit, summary)
    if breaches:
        raise typer.Exit(1)
    if finished.failures:
        raise typer.Exit(3)


def replaced(held: Mapping[str, Any] | None, record: Mapping[str, Any], folder: Path) -> list[str]:
    """What the folder showed before and does not show now."""
    gone = len(set(held["keys"]) - set(record["keys"])) if held else 0
    if not held or not gone:
        return []
    before = f"{gone} other result{'s' if gone > 1 else ''}"
    return [
        f"{folder} showed {before} before; its table and page start anew with this run. "
        "To keep both: another folder with -o, or --add."
    ]


def show_families(finished: Run) -> None:
    """Print what a seed moves, if a family of models was given."""
    if "families" in finished.record:
        from weatherglass.cli.families import print_families
        from weatherglass.reliability.families import FamilyReport

        print_families(FamilyReport.from_json(finished.record["families"]))


def show(finished: Run, folder: Path, table: bool, verbose: bool, before: Sequence[str] = ()) -> None:
    """Print every row or a summary by topic, then warnings, verdicts, what they say, and where the page is."""
    from weatherglass.cli.console import say, warn_about, width_of
    from weatherglass.manual.anchors import anchor_of, with_anchor
    from weatherglass.report.folded import Placed, placed_warnings
    from weatherglass.report.terminal import MOST_ROWS, notes, results_lines, spread_lines
    from weatherglass.report.verdicts import MOST_CHARTS, sentences, summary_lines, verdict_charts
    from weatherglass.runs.folder import PAGE

    width = width_of()
    verdicts = finished.verdicts()
    every_row = table or len(finished.results) <= MOST_ROWS
    if every_row:
        say(results_lines(finished, width))
    if table:
        say(spread_lines(finished.results))
    warn_about(placed_warnings(finished), [with_anchor(w) for w in finished.warnings] if verbose else None)
    if any(map(anchor_of, finished.warnings)):
        say(["What a warning means: weatherglass docs warnings"], err=True)
    failures = [Placed(f"{f.test} on {f.model}", f.reason) for f in finished.failures]
    warn_about(failures, [str(failure) for failure in failures] if verbose else None, "failure")
    charts = len({(one.model, one.options, one.metric) for one in verdicts})
    if not every_row or charts > MOST_CHARTS:
        say(["", *summary_lines(finished, verdicts, width)])
    elif verdicts:
        say(["", *verdict_charts(verdicts, width)])
    say(["", *notes(finished), *sentences(finished, verdicts), ""])
    say(before)
    say([] if every_row else ["Every test: add --table"])
    say([f"Why, topic by topic: weatherglass verdict {folder}"] if verdicts else [], whole=True)
    say([f"Page: {folder / PAGE}"], whole=True)
