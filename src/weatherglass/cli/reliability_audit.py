"""`weatherglass reliability audit`: how much a seed moves d of each test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from weatherglass.cli.command_line import command_line
from weatherglass.cli.study_options import FOLDER, folder_of
from weatherglass.cli.study_output import interruptible
from weatherglass.cli.worker_options import Jobs
from weatherglass.storage.printable import printable_json


def audit(
    context: typer.Context,
    study: Annotated[
        Path, typer.Argument(metavar="STUDY", help="Folder of a study, or its file.", show_default=False)
    ],
    tests: Annotated[
        list[str],
        typer.Option("-t", "--test", help="Name, glob, file or folder; repeat for several.", metavar="TEST"),
    ] = ["weat*"],  # noqa: B006 - typer reads it, nobody changes it
    metrics: Annotated[
        list[str], typer.Option("-m", "--metric", help="A metric, or a glob; repeat.", metavar="METRIC")
    ] = ["cosine/mean"],  # noqa: B006
    within: Annotated[
        float, typer.Option(help="Count the seeds that bring the mean within ± this.", min=0.001)
    ] = 0.1,
    folder: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder of the study, if STUDY is a file.")
    ] = FOLDER,
    jobs: Jobs = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
) -> None:
    """Run tests on every seed of a study: d by seed, its spread, its reliability, and how many seeds are needed."""
    from weatherglass.api.studies import AUDIT, audit_study
    from weatherglass.cli.bar import Bar
    from weatherglass.cli.console import complain
    from weatherglass.cli.families import print_families

    chosen = folder_of(study, folder)
    with interruptible(chosen), Bar(quiet or as_json) as bar:
        finished, report = audit_study(chosen, tests, metrics, within, jobs, bar, command_line(context))
    if as_json:
        typer.echo(printable_json(json.dumps(report.to_json(), ensure_ascii=False)))
    else:
        print_families(report)
        typer.echo(f"d of every seed: {chosen / AUDIT / 'results.tsv'}")
    failed = dict.fromkeys(f"{failure.test}: {failure.reason}" for failure in finished.failures)
    for line in failed:
        complain(f"warning: {line}")
