"""`weatherglass reproduce`: run a paper's procedure, and print its numbers beside ours."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weatherglass.cli import study_options
from weatherglass.cli.command_line import App, Group, command_line
from weatherglass.cli.console import print_json
from weatherglass.cli.study_output import interruptible, print_claims, report_failures, study_json
from weatherglass.cli.worker_options import Jobs, Scheduler

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table

    from weatherglass.runs.results import Run

app = App(
    cls=Group,
    no_args_is_help=True,
    help="Reproduce a paper: run its procedure, and show its numbers beside ours.",
)

Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME=SPEC",
        help="One of the paper's models, by its name there; repeat for several.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option(help="Random seed.", min=0)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no table.")]


@app.command()
def may2019(
    context: typer.Context,
    models: Models = None,
    folder: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the run and Table 4.", metavar="DIR")
    ] = Path("may2019"),
    seed: Seed = 0,
    jobs: Jobs = 1,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """May et al. (2019): 46 tests, sampled p, Holm over a family of 644, Table 4 beside ours.

    NAME is one of cbow, infersent, gensen, use, elmo, gpt and bert. Without a model it prints the published numbers
    and how to name each of the seven models. For ELMo and BERT it also shows the results with the released settings.
    """
    from weatherglass.cli.bar import Bar
    from weatherglass.reproduce.may2019.procedure import parse_models, reproduce
    from weatherglass.reproduce.may2019.report import lines, tables

    specs = parse_models(models or [])
    with Bar(quiet or as_json) as bar:
        reproduction = reproduce(
            specs,
            folder=folder if specs else None,
            seed=seed,
            jobs=jobs,
            progress=bar,
            command=command_line(context),
        )
    if as_json:
        print_json(_reproduction_json(reproduction.run, lines(reproduction), folder if specs else None))
    elif not quiet:
        _show(
            tables(reproduction),
            [*lines(reproduction), *([f"Results, record and Table 4: {folder}"] if specs else [])],
        )
    if reproduction.run.failures or (reproduction.released and reproduction.released.failures):
        raise typer.Exit(3)


@app.command()
def azarpanah2021(
    context: typer.Context,
    models: Models = None,
    folder: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the run, tables and figures.", metavar="DIR")
    ] = Path("azarpanah2021"),
    synonyms: Annotated[
        str, typer.Option(help="For the covariances: a TOML file, catalogue or wordnet.", metavar="FILE")
    ] = "catalogue",
    covariance: Annotated[str, typer.Option(help="glasso (the paper's) or ledoit-wolf.")] = "glasso",
    sensitivity: Annotated[
        bool, typer.Option(help="Run the Mahalanobis measures again with other synonyms and covariances.")
    ] = True,
    seed: Seed = 0,
    jobs: Jobs = 1,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Azarpanah & Farhadloo (2021): ten tests under twenty measures; Tables 3 and 4, aggregates, verdicts.

    NAME is one of glove, word2vec, elmo, bert, gpt and gpt2, or a new name for another model. Without a model it
    runs on the embedded model.
    """
    from weatherglass.cli.bar import Bar
    from weatherglass.reproduce.azarpanah2021.procedure import parse_models, reproduce
    from weatherglass.reproduce.azarpanah2021.report import lines, tables, write_reproduction

    specs = parse_models(models or [])
    with Bar(quiet or as_json) as bar:
        reproduction = reproduce(
            specs,
            synonyms=synonyms,
            covariance=covariance,
            sensitivity=sensitivity,
            folder=folder,
            seed=seed,
            jobs=jobs,
            progress=bar,
            command=command_line(context),
        )
        bar.stage("drawing tables and figures", 1)
        write_reproduction(reproduction, folder)
    if as_json:
        print_json(_reproduction_json(reproduction.run, lines(reproduction), folder))
    elif not quiet:
        _show(tables(reproduction), [*lines(reproduction), f"Results, tables and figures: {folder}"])
    if reproduction.run.failures:
        raise typer.Exit(3)


@app.command()
def du2021(
    corpus: Annotated[list[str], typer.Argument(metavar="[NAME=]PATH…", help="One or more corpora.")],
    folder: study_options.Folder = Path("du2021"),
    seeds: Annotated[int, typer.Option(help="Number of seeds; the paper has 32.", min=2)] = 32,
    share: Annotated[
        float, typer.Option(help="Share of the lines of each corpus to read, evenly spread.")
    ] = 1.0,
    dimensions: Annotated[
        int, typer.Option(help="Dimensions of the vectors; the paper has 300.", min=2)
    ] = 300,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    quiet: study_options.Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Du et al. (2021) on these corpora: Pearson tables beside the published ones, and the three claims."""
    study_options.require_tables()
    from weatherglass.api.studies import run_study
    from weatherglass.cli.bar import Bar
    from weatherglass.cli.console import plain_table
    from weatherglass.parallel import backend
    from weatherglass.reproduce.du2021.procedure import correlations, study, verdicts

    chosen = study(study_options.named_corpora(corpus), seeds, share, dimensions)
    with interruptible(folder), Bar(quiet or as_json) as bar:
        result = run_study(chosen, folder, backend(jobs, scheduler), bar)
    if as_json:
        pearson = [asdict(row) for row in correlations(result.tables)]
        claims = [str(verdict) for verdict in verdicts(result.tables)]
        print_json({**study_json(result), "pearson": pearson, "verdicts": claims})
        report_failures(result.failures)
        return
    if not quiet:
        print_claims(result.tables)
        table = plain_table("base pairs", "algorithm", "rules", "ours", "reproduction", "original")
        for row in correlations(result.tables):
            numbers = (row.ours, row.reproduced, row.original)
            table.add_row(
                row.pairs, row.algorithm, row.rules, *("–" if r is None else f"{r:.3f}" for r in numbers)
            )
        typer.echo("\nPearson's r between rules, over the vocabularies of all corpora")
        _show([table], map(str, verdicts(result.tables)))
    typer.echo(f"Page: {result.page}")
    report_failures(result.failures)


def _reproduction_json(run: Run, said: Iterable[str], folder: Path | None) -> dict[str, Any]:
    """The results of the paper's procedure, what they say of the paper, and where they are."""
    failures = [asdict(failure) for failure in run.failures]
    results = [result.to_json() for result in run.results]
    return {"folder": folder, "says": list(said), "results": results, "failures": failures}


def _show(tables: Iterable[Table], lines: Iterable[str]) -> None:
    """Print tables with an empty line after each, then the lines."""
    from weatherglass.cli.console import say, width_of
    from weatherglass.report.layout import Column, table_in_blocks

    width = width_of()
    for table in tables:
        columns = [
            Column(
                str(column.header),
                right=column.justify == "right",
                shorten="middle" if place == 0 else None if column.no_wrap else "end",
                least=12,
            )
            for place, column in enumerate(table.columns)
        ]
        cells = [list(map(str, column.cells)) for column in table.columns]
        say([str(table.title)] if table.title else [])
        say([*table_in_blocks(columns, list(zip(*cells, strict=True)), width), ""])
    say(lines)
