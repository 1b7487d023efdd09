"""`weatherglass reliability`: train, score and assess over seeds, rules and words."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weatherglass.cli.study_options import Options, study_command
from weatherglass.cli.study_output import interruptible, print_claims, print_notices, report_failures
from weatherglass.errors import OutputError

app = typer.Typer(
    help="How far can a bias score be trusted? Over seeds, scoring rules and words (Du et al. 2021).",
    no_args_is_help=True,
)


@app.command()
def init(
    path: Annotated[Path, typer.Argument(metavar="[STUDY.toml]")] = Path("study.toml"),
    corpus: Annotated[str, typer.Option(help="The corpus to write into it.")] = "corpus.txt",
) -> None:
    """Write a commented study file to start from."""
    from weatherglass.reliability.study_file import TEMPLATE
    from weatherglass.storage.atomic import write_whole

    if path.exists():
        raise OutputError(f"{path}: exists already; name another file")
    write_whole(path, TEMPLATE.format(file=path.name, name=path.stem, corpus=corpus))
    typer.echo(f"{path}: set the path of your corpus in it, then: weatherglass reliability run {path}")


@app.command()
@study_command()
def run(options: Options) -> None:
    """Train, score, assess, explain and report; the same command goes on where it was stopped."""
    _conduct(options, train=True)


@app.command()
@study_command()
def assess(options: Options) -> None:
    """Assess the embeddings that are there, and train no more."""
    _conduct(options, train=False)


@app.command()
@study_command("embeddings", "pairs", "targets", "senses", "parts")
def train(options: Options) -> None:
    """Encode the corpora and train the embeddings, each stored as soon as it is finished."""
    from weatherglass.api.studies import notices_of
    from weatherglass.cli.bar import Bar
    from weatherglass.reliability.study import study_folder, train_study

    study, folder = options.chosen_study(), options.folder
    with interruptible(folder), study_folder(folder), Bar(options.quiet) as bar:
        groups, failures = train_study(study, folder, options.backend(), bar)
    for group in groups:
        typer.echo(f"{group.corpus}, {group.algorithm}: {len(group.paths)} embeddings")
    print_notices(notices_of(groups))
    report_failures(failures)


@app.command()
@study_command("targets", "senses", "parts")
def score(options: Options) -> None:
    """Score every word of the embeddings that are there, by every rule and base pair."""
    from weatherglass.api.studies import TABLES, notices_of
    from weatherglass.cli.bar import Bar
    from weatherglass.reliability.agreement.assess_study import scores_of_study
    from weatherglass.reliability.study import (
        brought_groups,
        remove_unnamed_scores,
        score_study,
        study_folder,
        trained_groups,
    )
    from weatherglass.reliability.tables import write_tables

    study, folder = options.chosen_study(), options.folder
    with interruptible(folder), study_folder(folder), Bar(options.quiet) as bar:
        groups = [*trained_groups(study, folder), *brought_groups(study, folder, bar)]
        notices = [*notices_of(groups), *remove_unnamed_scores(folder)]
        scored = score_study(study, groups, folder, options.backend(), bar)
        write_tables(folder / TABLES, {"scores": scores_of_study(study, scored)})
    for group, tensor in scored:
        typer.echo(
            f"{group.corpus}, {group.algorithm}: {len(tensor.words)} words × {len(tensor.pairs)} pairs × "
            f"{len(tensor.seeds)} seeds"
        )
    typer.echo(f"averages over seeds and pairs: {folder / TABLES / 'scores.tsv'}")
    print_notices(notices)


def _conduct(options: Options, *, train: bool) -> None:
    from weatherglass.api.studies import conduct
    from weatherglass.cli.bar import Bar
    from weatherglass.cli.reliability_explain import print_explanations

    study, folder = options.chosen_study(), options.folder
    with interruptible(folder), Bar(options.quiet) as bar:
        conducted = conduct(
            study, folder, options.backend(), bar, train=train, senses=options.senses, parts=options.parts
        )
    if not options.quiet:
        print_claims(conducted.tables)
        print_explanations(conducted.explanations)
    typer.echo(f"page: {conducted.page}")
    print_notices(conducted.notices)
    report_failures(conducted.failures)
