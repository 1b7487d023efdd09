"""`weatherglass reproduce`: a paper's procedure on the models at hand, its numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True, help="Reproduce a paper: its procedure, its numbers beside ours.")

Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        metavar="NAME=SPEC",
        help="One of the paper's models, by its name there; repeat for several.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option(help="Of the random draws.", min=0)]
Jobs = Annotated[int, typer.Option(help="Processes to use.", min=1)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no table.")]


@app.command()
def may2019(
    models: Models = None,
    folder: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the run and Table 4.", metavar="DIR")
    ] = Path("may2019"),
    seed: Seed = 0,
    jobs: Jobs = 1,
    quiet: Quiet = False,
) -> None:
    """May et al. (2019): 46 tests, sampled p, Holm over a family of 644, Table 4 beside ours.

    NAME is one of cbow, infersent, gensen, use, elmo, gpt and bert. Without a model it prints what the paper printed
    and how to name each of the seven. For ELMo and BERT it also shows what the released code's settings give.
    """
    from weatherglass.cli.bar import Bar
    from weatherglass.cli.console import screen
    from weatherglass.report.may2019 import lines, tables
    from weatherglass.reproduce.may2019 import parse_models, reproduce

    specs = parse_models(models or [])
    with Bar(quiet) as bar:
        found = reproduce(specs, folder=folder if specs else None, seed=seed, jobs=jobs, progress=bar)
    if not quiet:
        console = screen()
        for table in tables(found):
            console.print(table)
            console.print()
        for line in lines(found):
            console.print(line, soft_wrap=True)
        if specs:
            console.print(f"Results, record and Table 4: {folder}", soft_wrap=True)
    if found.run.failures or (found.released and found.released.failures):
        raise typer.Exit(3)
