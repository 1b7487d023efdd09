"""`weatherglass reliability`: train, score and assess over seeds, rules and words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weatherglass.errors import CorpusError, InterruptedRunError, OutputError, UnitError

if TYPE_CHECKING:
    import polars as pl

    from weatherglass.reliability.study_file import Study

app = typer.Typer(
    help="How far can a bias score be trusted? Over seeds, scoring rules and words (Du et al. 2021).",
    no_args_is_help=True,
)

StudyFile = Annotated[
    Path | None, typer.Argument(metavar="[STUDY.toml]", help="See 'reliability init'.", show_default=False)
]
Folder = Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Where everything is kept.")]
Corpora = Annotated[
    list[str] | None,
    typer.Option("--corpus", metavar="[NAME=]PATH", help="A corpus without a study file; repeat."),
]
Embeddings = Annotated[
    str | None,
    typer.Option(metavar="'GLOB'", help="Embeddings from elsewhere, one file per seed: 'folder/*.txt'."),
]
Pairs = Annotated[
    list[str] | None,
    typer.Option("--pairs", metavar="NAME|FILE", help="Base pairs, two words a line; repeat."),
]
Targets = Annotated[
    list[str] | None, typer.Option("--targets", metavar="NAME|FILE", help="Target words, one a line; repeat.")
]
Seeds = Annotated[int | None, typer.Option(help="How many seeds, from 1.", min=1)]
Jobs = Annotated[int, typer.Option(help="Embeddings that are trained side by side.", min=1)]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="A Dask cluster instead: tcp://HOST:PORT or a scheduler file; its workers must see -o and the corpora.",
        metavar="ADDRESS",
        show_default=False,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no tables.")]

Senses = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Word, tab, number of senses; instead of WordNet.", show_default=False),
]
Parts = Annotated[
    Path | None,
    typer.Option(
        "--pos",
        metavar="FILE",
        help="Word, tab, part of speech; instead of Brill's lexicon.",
        show_default=False,
    ),
]

FOLDER = Path("weatherglass-study")


@app.command()
def init(
    path: Annotated[Path, typer.Argument(metavar="[STUDY.toml]")] = Path("study.toml"),
    corpus: Annotated[str, typer.Option(help="The corpus to write into it.")] = "corpus.txt",
) -> None:
    """Write a commented study file to start from."""
    from weatherglass.files import write_whole
    from weatherglass.reliability.study_file import TEMPLATE

    if path.exists():
        raise OutputError(f"{path}: exists already; name another file")
    write_whole(path, TEMPLATE.format(file=path.name, name=path.stem, corpus=corpus))
    typer.echo(f"{path}: set the path of your corpus in it, then: weatherglass reliability run {path}")


@app.command()
def run(
    study: StudyFile = None,
    folder: Folder = FOLDER,
    corpus: Corpora = None,
    embeddings: Embeddings = None,
    pairs: Pairs = None,
    targets: Targets = None,
    seeds: Seeds = None,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    senses: Senses = None,
    parts: Parts = None,
    quiet: Quiet = False,
) -> None:
    """Train, score, assess, explain and report; the same command goes on where it was stopped."""
    _conduct(
        chosen_study(study, corpus, embeddings, pairs, targets, seeds),
        folder,
        jobs,
        scheduler,
        quiet,
        True,
        (senses, parts),
    )


@app.command()
def assess(
    study: StudyFile = None,
    folder: Folder = FOLDER,
    corpus: Corpora = None,
    embeddings: Embeddings = None,
    pairs: Pairs = None,
    targets: Targets = None,
    seeds: Seeds = None,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    senses: Senses = None,
    parts: Parts = None,
    quiet: Quiet = False,
) -> None:
    """Assess the embeddings that are there, and train no more."""
    _conduct(
        chosen_study(study, corpus, embeddings, pairs, targets, seeds),
        folder,
        jobs,
        scheduler,
        quiet,
        False,
        (senses, parts),
    )


@app.command()
def train(
    study: StudyFile = None,
    folder: Folder = FOLDER,
    corpus: Corpora = None,
    seeds: Seeds = None,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
) -> None:
    """Encode the corpora and train the embeddings, each stored as soon as it is finished."""
    from weatherglass.cli.bar import Bar
    from weatherglass.parallel import backend
    from weatherglass.reliability.study import study_folder, train_study

    chosen = chosen_study(study, corpus, None, None, None, seeds)
    with interruptible(folder), study_folder(folder), Bar(quiet) as bar:
        groups, failures = train_study(chosen, folder, backend(jobs, scheduler), bar)
    for group in groups:
        typer.echo(f"{group.corpus}, {group.algorithm}: {len(group.paths)} embeddings")
    _report_failures(failures)


@app.command()
def score(
    study: StudyFile = None,
    folder: Folder = FOLDER,
    corpus: Corpora = None,
    embeddings: Embeddings = None,
    pairs: Pairs = None,
    seeds: Seeds = None,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
) -> None:
    """Score every word of the embeddings that are there, by every rule and base pair."""
    from weatherglass.cli.bar import Bar
    from weatherglass.parallel import backend
    from weatherglass.reliability.study import brought_groups, score_study, study_folder, trained_groups

    chosen = chosen_study(study, corpus, embeddings, pairs, None, seeds)
    with interruptible(folder), study_folder(folder), Bar(quiet) as bar:
        groups = [*trained_groups(chosen, folder), *brought_groups(chosen)]
        scored = score_study(chosen, groups, folder, backend(jobs, scheduler), bar)
    for group, tensor in scored:
        typer.echo(
            f"{group.corpus}, {group.algorithm}: {len(tensor.words)} words × {len(tensor.pairs)} pairs × "
            f"{len(tensor.seeds)} seeds"
        )


def chosen_study(
    path: Path | None,
    corpora: list[str] | None,
    embeddings: str | None,
    pairs: list[str] | None,
    targets: list[str] | None,
    seeds: int | None,
) -> Study:
    """The study of the file, or one made of the options; options win."""
    from weatherglass.reliability.corpus import CorpusSettings
    from weatherglass.reliability.study_file import Study, read_study
    from weatherglass.reliability.train import default_settings

    if path is None and not corpora and not embeddings:
        raise CorpusError(
            "name a study file, a --corpus or --embeddings; 'weatherglass reliability init' writes a file"
        )
    study = Study("study") if path is None else read_study(path)
    if corpora:
        named = {
            name or Path(source).name.split(".")[0]: Path(source) for name, source in map(_named, corpora)
        }
        study = replace(study, corpora={name: (source, CorpusSettings()) for name, source in named.items()})
        if path is None:
            study = replace(
                study, algorithms={"sgns": default_settings("sgns"), "glove": default_settings("glove")}
            )
    if embeddings:
        study = replace(study, embeddings={**study.embeddings, "brought/brought": embeddings})
    if pairs:
        study = replace(study, pairs=tuple(pairs))
    if targets:
        study = replace(study, targets=tuple(targets))
    if seeds:
        study = replace(study, seeds=tuple(range(1, seeds + 1)))
    return study


def _named(text: str) -> tuple[str, str]:
    name, equals, source = text.partition("=")
    return (name, source) if equals else ("", text)


def _conduct(
    study: Study,
    folder: Path,
    jobs: int,
    scheduler: str | None,
    quiet: bool,
    train: bool,
    lexicon: tuple[Path | None, Path | None],
) -> None:
    from weatherglass.cli.bar import Bar
    from weatherglass.cli.reliability_explain import print_explanations
    from weatherglass.parallel import backend
    from weatherglass.reliability.conduct import conduct

    with interruptible(folder), Bar(quiet) as bar:
        conducted = conduct(study, folder, backend(jobs, scheduler), bar, train, *lexicon)
    if not quiet:
        print_claims(conducted.tables)
        print_explanations(conducted.explanations)
    typer.echo(f"page: {conducted.page}")
    _report_failures(conducted.failures)


def print_claims(tables: Mapping[str, pl.DataFrame]) -> None:
    """How many base pairs occur, and the claims with their medians and verdicts."""
    from weatherglass.cli.console import plain_table, screen

    console = screen()
    for row in tables["pairs"].iter_rows(named=True):
        console.print(
            f"{row['pairs']}, {row['corpus']}, {row['algorithm']}: {row['present']} of {row['of']} base pairs occur"
        )
    table = plain_table("claim", "base pairs", "corpus", "algorithm", "by", "median", "verdict", "")
    for row in tables["claims"].iter_rows(named=True) if "claims" in tables else ():
        median = "–" if row["median"] != row["median"] else f"{row['median']:.2f}"
        names = (row["claim"], row["pairs"], row["corpus"], row["algorithm"], row["by"])
        table.add_row(*names, median, row["verdict"], row["size"])
    console.print(table)


def _report_failures(failures: Sequence[str]) -> None:
    if failures:
        raise UnitError(f"{len(failures)} embeddings could not be trained; the first: {failures[0]}")


@contextmanager
def interruptible(folder: Path) -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise InterruptedRunError(
            f"stopped; what was finished is in {folder}, and the same command goes on from there"
        ) from None


def du2021(
    corpus: Annotated[list[str], typer.Argument(metavar="[NAME=]PATH…", help="The corpora, one or more.")],
    folder: Folder = Path("du2021"),
    seeds: Annotated[int, typer.Option(help="How many; the paper has 32.", min=2)] = 32,
    share: Annotated[float, typer.Option(help="Of the lines of each corpus, evenly spread.")] = 1.0,
    dimensions: Annotated[int, typer.Option(help="The paper has 300.", min=2)] = 300,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    quiet: Quiet = False,
) -> None:
    """Du et al. (2021) on these corpora: Pearson tables beside the published ones, and the three claims."""
    from weatherglass.cli.bar import Bar
    from weatherglass.cli.console import plain_table, screen
    from weatherglass.parallel import backend
    from weatherglass.reliability.conduct import conduct
    from weatherglass.reproduce.du2021 import correlations, study, verdicts

    named = {name or Path(source).name.split(".")[0]: Path(source) for name, source in map(_named, corpus)}
    with interruptible(folder), Bar(quiet) as bar:
        conducted = conduct(study(named, seeds, share, dimensions), folder, backend(jobs, scheduler), bar)
    if not quiet:
        print_claims(conducted.tables)
        table = plain_table("base pairs", "algorithm", "rules", "ours", "reproduction", "original")
        for row in correlations(conducted.tables):
            numbers = (row.ours, row.reproduced, row.original)
            table.add_row(
                row.pairs, row.algorithm, row.rules, *("–" if r is None else f"{r:.3f}" for r in numbers)
            )
        console = screen()
        console.print("\nPearson's r between rules, over the vocabularies of all corpora")
        console.print(table)
        for verdict in verdicts(conducted.tables):
            console.print(str(verdict), soft_wrap=True)
    typer.echo(f"page: {conducted.page}")
    _report_failures(conducted.failures)
