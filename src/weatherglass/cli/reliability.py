"""`weatherglass reliability`: train, score, assess and report a study."""

from __future__ import annotations

import json
import os.path
from pathlib import Path
from typing import Annotated

import typer

from weatherglass.cli.command_line import App, Group
from weatherglass.cli.console import print_json
from weatherglass.cli.reliability_audit import audit
from weatherglass.cli.reliability_explain import explain
from weatherglass.cli.reliability_word import word
from weatherglass.cli.study_options import Options, study_command
from weatherglass.cli.study_output import (
    interruptible,
    print_claims,
    print_warnings,
    report_failures,
    study_json,
)
from weatherglass.errors import OutputError

app = App(
    cls=Group,
    help="How far can a bias score be trusted? Over seeds, scoring rules and words (Du et al., 2021).",
    no_args_is_help=True,
)


@app.command()
def init(
    path: Annotated[Path, typer.Argument(metavar="[STUDY.toml]")] = Path("study.toml"),
    corpus: Annotated[
        str | None, typer.Option(help="Path of your corpus, to write into the file.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a study file with comments, to edit."""
    from weatherglass.reliability.study_file import TEMPLATE
    from weatherglass.storage.atomic import write_whole

    if path.exists():
        raise OutputError(f"{path}: this file already exists; choose another name")
    source = "corpus.txt" if corpus is None else _relative_to(path.parent, Path(corpus))
    write_whole(
        path, TEMPLATE.format(file=path.name, name=path.stem, corpus=json.dumps(source, ensure_ascii=False))
    )
    if as_json:
        print_json({"written": [path]})
        return
    command = f"weatherglass reliability run {path}"
    if corpus is None:
        typer.echo(f"{path} written. Set the path of your corpus in it, then run: {command}")
    else:
        typer.echo(f"{path} written. Next: {command}")


def _relative_to(folder: Path, source: Path) -> str:
    """As a study file in that folder has to name it; the user gave it as seen from here."""
    if source.is_absolute() or folder.resolve() == Path.cwd():
        return str(source)
    return os.path.relpath(source, folder)


@app.command()
@study_command()
def run(options: Options) -> None:
    """Train, score, assess, explain and report. Stopped? The same command continues where it was."""
    _run_and_print(options, train=True)


@app.command()
@study_command("demo")
def assess(options: Options) -> None:
    """Score, assess, explain and report the embeddings that exist, without training."""
    _run_and_print(options, train=False)


@app.command()
@study_command("embeddings", "pairs", "targets", "senses", "parts", "table", "demo")
def train(options: Options) -> None:
    """Encode the corpora and train the embeddings; each is saved as soon as it is finished."""
    from weatherglass.api.studies import group_warnings
    from weatherglass.cli.bar import Bar
    from weatherglass.reliability.study import study_folder, train_study

    study, folder = options.chosen_study(), options.folder
    with interruptible(folder), study_folder(folder), Bar(options.silent) as bar:
        groups, failures = train_study(study, folder, options.backend(), bar)
    if options.as_json:
        counts = [{"corpus": g.corpus, "algorithm": g.algorithm, "embeddings": len(g.paths)} for g in groups]
        print_json({"groups": counts, "warnings": group_warnings(groups), "failures": list(failures)})
        report_failures(failures)
        return
    for group in groups:
        number = len(group.paths)
        typer.echo(f"{group.corpus}, {group.algorithm}: {number} embedding{'s' if number != 1 else ''}")
    print_warnings(group_warnings(groups), verbose=options.verbose)
    report_failures(failures)


@app.command()
@study_command("targets", "senses", "parts", "table", "demo")
def score(options: Options) -> None:
    """Score every word of the embeddings that exist, with every rule and base pair."""
    from weatherglass.api.studies import TABLES, group_warnings
    from weatherglass.cli.bar import Bar
    from weatherglass.reliability.agreement.assess_study import average_score_table
    from weatherglass.reliability.study import imported_groups, score_study, study_folder, trained_groups
    from weatherglass.reliability.tables import write_tables

    study, folder = options.chosen_study(), options.folder
    with interruptible(folder), study_folder(folder), Bar(options.silent) as bar:
        groups = [*trained_groups(study, folder), *imported_groups(study, folder, bar)]
        warnings = group_warnings(groups)
        scored = score_study(study, groups, folder, options.backend(), bar)
        write_tables(folder / TABLES, {"scores": average_score_table(study, scored)})
    if options.as_json:
        sizes = [
            {"corpus": group.corpus, "algorithm": group.algorithm, "words": len(tensor.words)}
            | {"pairs": len(tensor.pairs), "seeds": len(tensor.seeds)}
            for group, tensor in scored
        ]
        print_json({"groups": sizes, "warnings": warnings, "written": [folder / TABLES / "scores.tsv"]})
        return
    for group, tensor in scored:
        typer.echo(
            f"{group.corpus}, {group.algorithm}: {len(tensor.words)} words × {len(tensor.pairs)} pairs × "
            f"{len(tensor.seeds)} seeds"
        )
    typer.echo(f"averages over seeds and pairs: {folder / TABLES / 'scores.tsv'}")
    print_warnings(warnings, verbose=options.verbose)


def _run_and_print(options: Options, *, train: bool) -> None:
    from weatherglass.api.studies import run_study
    from weatherglass.cli.bar import Bar
    from weatherglass.cli.reliability_explain import print_explanations

    study, folder = options.chosen_study(), options.folder
    with interruptible(folder), Bar(options.silent) as bar:
        result = run_study(
            study, folder, options.backend(), bar, train=train, senses=options.senses, parts=options.parts
        )
    if options.as_json:
        print_json(study_json(result))
        report_failures(result.failures)
        return
    if not options.quiet:
        print_explanations(result.explanations, options.table)
    print_warnings(result.warnings, result.explanations, options.verbose)
    if not options.quiet:
        typer.echo()
        print_claims(result.tables, options.table)
        typer.echo()
    typer.echo(f"Page: {result.page}")
    report_failures(result.failures)


app.command("explain")(explain)
app.command("word")(word)
app.command("audit")(audit)
