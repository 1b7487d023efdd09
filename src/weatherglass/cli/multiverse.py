"""`weatherglass multiverse`: would another sensible choice turn the conclusion?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weatherglass.cli.command_line import command_line
from weatherglass.cli.completion import complete_model, complete_test
from weatherglass.cli.study_output import interruptible
from weatherglass.cli.worker_options import Jobs, Scheduler, SharedDir

ALL_KNOBS = "similarity,statistic,template,pooling,layers,words,seed,list"
DEFAULT_FOLDER = Path("weatherglass-multiverse")


def multiverse(
    context: typer.Context,
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]…",
            help="As in 'weatherglass run'; a pattern (vectors:study/forum-sgns-*.safetensors) is one model with a "
            "seed per file. Default: the embedded model.",
            show_default=False,
            autocompletion=complete_model,
        ),
    ] = None,
    tests: Annotated[
        list[str],
        typer.Option(
            "-t",
            "--test",
            help="Topic, name, glob, file or folder; repeat.",
            metavar="TOPIC|TEST",
            autocompletion=complete_test,
        ),
    ] = ["*"],  # noqa: B006 - typer reads it, nobody changes it
    knobs: Annotated[str, typer.Option(help="The choices to vary, with commas between.")] = ALL_KNOBS,
    similarities: Annotated[
        str, typer.Option("--similarity", help="Similarities; mahalanobis and dot may be added.")
    ] = "cosine,euclidean,manhattan",
    statistics: Annotated[
        str, typer.Option("--statistic", help="Statistics, named by nearness; eq2 may be added.")
    ] = "mean,median,nearest,farthest",
    alpha: Annotated[float, typer.Option(help="The level of tests and intervals.")] = 0.05,
    folder: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for results and curves.", metavar="DIR")
    ] = DEFAULT_FOLDER,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    shared_dir: SharedDir = None,
    table: Annotated[
        bool, typer.Option("--table", help="Print every word list in full; else a row each from 7 on.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no curves.")] = False,
) -> None:
    """Run every combination of sensible choices, and test whether the conclusion hangs on one of them.

    One exact p for the mean of d over all specifications, maxT for any of them, a curve, what moves d, and how often
    half of a word list turns the sign. The same command again computes only what is missing.
    """
    from weatherglass.api.multiverses import multiverse as carry_out
    from weatherglass.cli.bar import Bar
    from weatherglass.cli.console import print_json, say, width_of
    from weatherglass.encoders import DEFAULT_MODEL

    with interruptible(folder), Bar(quiet or as_json) as bar:
        finished = carry_out(
            models or [DEFAULT_MODEL],
            tests,
            _split(knobs),
            jobs=jobs,
            scheduler=scheduler,
            shared_dir=shared_dir,
            folder=folder,
            progress=bar,
            command=command_line(context),
            similarities=_split(similarities),
            statistics=_split(statistics),
            alpha=alpha,
        )
    if as_json:
        print_json(finished.to_json())
    elif not quiet:
        from weatherglass.report.multiverse.terminal import lines_of

        say(lines_of(finished, width_of(), table))
        say([f"Page: {folder / 'index.html'}"], whole=True)
    if finished.failures:
        raise typer.Exit(3)


def _split(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
