"""`weatherglass run`: run tests on models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weatherglass.audit.settings import Settings
from weatherglass.cli.command_line import command_line
from weatherglass.cli.settings_options import takes_settings
from weatherglass.errors import InterruptedRunError

if TYPE_CHECKING:
    from weatherglass.runs.results import Run

DEFAULT_FOLDER = Path("weatherglass-run")


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
        ),
    ] = None,
    tests: Annotated[
        list[str],
        typer.Option("-t", "--test", help="Name, glob, file or folder; repeat for several.", metavar="TEST"),
    ] = ["*"],  # noqa: B006 - typer reads it, nobody changes it
    metrics: Annotated[
        list[str],
        typer.Option(
            "-m", "--metric", help="similarity/statistic for WEAT, or a glob; repeat.", metavar="METRIC"
        ),
    ] = ["cosine/mean"],  # noqa: B006
    measures: Annotated[list[str] | None, typer.Option("--measure", hidden=True)] = None,
    folder: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the results.", metavar="DIR")
    ] = DEFAULT_FOLDER,
    fail_if: Annotated[
        list[str],
        typer.Option(
            help="Exit with 1 if this holds for a result: 'abs(effect_size) > 0.8 and p_adjusted < 0.01'; repeat.",
            metavar="CONDITION",
        ),
    ] = [],  # noqa: B006
    gate: Annotated[
        Path | None, typer.Option(help="A TOML file with conditions for groups of tests.", metavar="FILE")
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(help="Write the gate's verdicts as JUnit XML.", metavar="FILE")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes to use.", min=1)] = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="A Dask cluster: tcp://HOST:PORT or a scheduler file; or ENGINE:ADDRESS of another package.",
            metavar="ADDRESS",
        ),
    ] = None,
    shared_dir: Annotated[
        Path | None, typer.Option(help="A folder that all machines of the cluster see.", metavar="DIR")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no table.")] = False,
) -> None:
    """Run association tests on models: effect sizes, p-values, correction, a table and a report.

    Without arguments: the embedded model and all 46 published tests. The same command again computes only what is
    missing. Exit code 0: done; 1: the gate failed; 2: an error in the command or its files; 3: some tests failed.
    """
    from weatherglass.api.audits import run as audit
    from weatherglass.cli.bar import Bar
    from weatherglass.encoders import DEFAULT_MODEL
    from weatherglass.gate.rules import gate_of

    rules = gate_of(fail_if, gate)
    if measures:
        typer.echo("warning: --measure is now --metric", err=True)
        metrics = measures
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
                progress=bar,
                command=command_line(context),
            )
    except KeyboardInterrupt:
        raise InterruptedRunError(
            f"stopped; finished work is in {folder}, and the same command continues from there"
        ) from None
    breaches = rules.judge(finished.results, finished.verdicts()) if rules else []
    if as_json:
        results = [result.to_json() for result in finished.results]
        verdict = {"gate": [str(breach) for breach in breaches]} if rules else {}
        typer.echo(json.dumps({**finished.record, **verdict, "results": results}, ensure_ascii=False))
    elif not quiet:
        show(finished, folder)
    for breach in breaches:
        typer.echo(f"gate: {breach}", err=True)
    if junit:
        from weatherglass.gate.junit import write_junit

        write_junit(junit, finished, breaches)
    if breaches:
        raise typer.Exit(1)
    if finished.failures:
        raise typer.Exit(3)


def show(finished: Run, folder: Path) -> None:
    """Print the tables to stdout, warnings and failures to stderr."""
    from weatherglass.cli.console import screen
    from weatherglass.manual.anchors import anchor_of, with_anchor
    from weatherglass.report.terminal import caption, results_tables
    from weatherglass.report.verdicts import verdict_notes, verdict_tables

    console = screen()
    for table in results_tables(finished):
        console.print(table)
    for line in caption(finished):
        console.print(line, soft_wrap=True)
    verdicts = finished.verdicts()
    for table in verdict_tables(verdicts):
        console.print()
        console.print(table)
    notes = list(verdict_notes(verdicts, finished.record["settings"]["alpha"]))
    for line in [
        *notes,
        *([f"Why, topic by topic: weatherglass verdict {folder}"] if verdicts else []),
        f"Results, record and page (report.html): {folder}",
    ]:
        console.print(line, soft_wrap=True)
    lines = [f"warning: {with_anchor(warning)}" for warning in finished.warnings]
    if any(map(anchor_of, finished.warnings)):
        lines.append("What a [warning] means: weatherglass docs warnings")
    lines += [f"failed: {f.test} on {f.model}: {f.reason}" for f in finished.failures]
    for line in lines:
        typer.echo(line, err=True)
