"""Define `weatherglass reliability`, which runs a study or one of its steps, prints a word, and tests every seed."""

from __future__ import annotations

import os.path
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weatherglass.cli.command import CommandGroup, argument, command_line, flag, option
from weatherglass.cli.console import complain, print_json, say, width_of
from weatherglass.cli.options import (
    FILE,
    folder_option,
    jobs_option,
    json_option,
    listed,
    quiet_option,
    repeated_metrics,
    repeated_tests,
)
from weatherglass.cli.study import (
    FOLDER,
    Options,
    folder_of,
    named_corpora,
    print_estimate,
    print_warnings,
    report_failures,
    require_tables,
    study_command,
    study_json,
)
from weatherglass.errors import OutputError, output_error
from weatherglass.warnings import described

if TYPE_CHECKING:
    from weatherglass.reliability.regression.explain import Explanation
    from weatherglass.reliability.tables import WordScore

app = CommandGroup(
    "reliability",
    help="Measure how reliable bias scores are over seeds, scoring rules and words (Du et al., 2021).",
)
RULE, ALGORITHM = listed("reliability.scoring:RULES"), listed("reliability.training.train:ALGORITHMS")
study_argument = argument("study", type=FILE, metavar="STUDY", help="Folder of a study, or its file.")
study_folder_option = folder_option(FOLDER, "Folder of the study, if STUDY is a file.")


@app.command(
    "init",
    examples=(
        "weatherglass reliability init study.toml --corpus corpus.txt",
        "weatherglass reliability init study.toml --corpus a.txt --corpus b.txt",
    ),
)
@argument(
    "path", type=FILE, default="study.toml", metavar="[FILE]", help="File to write. Default: study.toml."
)
@option(
    "--corpus",
    multiple=True,
    metavar="[NAME=]PATH",
    help="Path of your corpus, to write into the file; repeat for several.",
)
@option(
    "--targets",
    type=FILE,
    multiple=True,
    metavar="FILE",
    help="Your own target words, a word per line; they precede the built-in lists. Repeat for several.",
)
@json_option
def init(path: Path, corpus: Sequence[str], targets: Sequence[Path], as_json: bool) -> None:
    """Write a study file with comments, for you to edit."""
    from weatherglass.reliability.study_file import new_study
    from weatherglass.storage.atomic import write_whole

    if path.exists():
        raise OutputError(f"{path}: this file already exists; choose another name")
    corpora = {name: _relative_to(path.parent, source) for name, source in named_corpora(corpus).items()}
    lists = [_relative_to(path.parent, source) for source in targets]
    written = new_study(path.name, path.stem, corpora or {"mine": "corpus.txt"}, lists)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, written)
    except OSError as error:
        raise output_error(path, error) from error
    if as_json:
        print_json({"written": [path]})
        return
    next_step = "Next" if corpus else "Set the path of your corpus in this file, then run"
    click.echo(f"{path} written. {next_step}: weatherglass reliability run {path}")
    click.echo(f"How long it takes: weatherglass reliability run {path} --estimate")


def _relative_to(folder: Path, source: Path) -> str:
    """Return the path of a corpus relative to the folder of the study file."""
    if source.is_absolute() or folder.resolve() == Path.cwd():
        return str(source)
    return os.path.relpath(source, folder)


@app.command("run", examples=("weatherglass reliability run study.toml -o my-study",))
@study_command()
def run(options: Options) -> None:
    """Train, score, assess, explain and report a study.

    If the command is stopped, run it again to continue.
    """
    _run_and_print(options, train=True)


@app.command("assess", examples=("weatherglass reliability assess --embeddings 'vectors/*.txt' -o my-study",))
@study_command("demo", "estimate")
def assess(options: Options) -> None:
    """Score, assess, explain and report the embeddings that exist, without training."""
    _run_and_print(options, train=False)


def _run_and_print(options: Options, *, train: bool) -> None:
    from weatherglass.api.studies import run_study
    from weatherglass.cli.progress import progress
    from weatherglass.report.study.terminal import answer_lines, claim_lines

    study, folder = options.chosen_study(), options.folder
    if options.estimate:
        print_estimate(study, folder, options.jobs, options.silent, options.as_json)
        return
    with progress(options.silent, folder) as bar:
        result = run_study(
            study, folder, options.backend(), bar, train=train, senses=options.senses, parts=options.parts
        )
    if options.as_json:
        print_json(study_json(result))
        report_failures(result.failures)
        return
    if not options.quiet:
        say([*answer_lines(study, result.tables, width_of()), ""])
        print_explanations(result.explanations, options.table)
    print_warnings(result.warnings, result.explanations, options.verbose)
    if not options.quiet:
        say(["", *claim_lines(result.tables, width_of(), options.table), ""])
    click.echo(f"Page: {result.page}")
    report_failures(result.failures)


@app.command("train", examples=("weatherglass reliability train study.toml --jobs 4",))
@study_command("embeddings", "pairs", "targets", "frequent", "senses", "parts", "table", "demo")
def train(options: Options) -> None:
    """Encode the corpora and train the embeddings; each embedding is saved as soon as it is finished."""
    from weatherglass.api.studies import group_warnings
    from weatherglass.cli.progress import progress
    from weatherglass.reliability.study import study_folder, train_study
    from weatherglass.report.numbers import counted

    study, folder = options.chosen_study(), options.folder
    if options.estimate:
        print_estimate(study, folder, options.jobs, options.silent, options.as_json)
        return
    with study_folder(folder), progress(options.silent, folder) as bar:
        groups, failures = train_study(study, folder, options.backend(), bar)
    warnings = group_warnings(groups)
    if options.as_json:
        counts = [{"corpus": g.corpus, "algorithm": g.algorithm, "embeddings": len(g.paths)} for g in groups]
        print_json({"groups": counts, "warnings": described(warnings), "failures": list(failures)})
    else:
        for group in groups:
            click.echo(f"{group.corpus}, {group.algorithm}: {counted(len(group.paths), 'embedding')}")
        print_warnings(warnings, verbose=options.verbose)
    report_failures(failures)


@app.command("score", examples=("weatherglass reliability score study.toml",))
@study_command("targets", "frequent", "senses", "parts", "table", "estimate", "demo")
def score(options: Options) -> None:
    """Score every word of the embeddings that exist, with every rule and base pair."""
    from weatherglass.api.studies import TABLES, group_warnings
    from weatherglass.cli.progress import progress
    from weatherglass.reliability.agreement.assess_study import average_score_table
    from weatherglass.reliability.study import imported_groups, score_study, study_folder, trained_groups
    from weatherglass.reliability.tables import write_tables

    study, folder = options.chosen_study(), options.folder
    with study_folder(folder), progress(options.silent, folder) as bar:
        groups = [*trained_groups(study, folder), *imported_groups(study, folder, bar)]
        warnings = group_warnings(groups)
        scored = score_study(study, groups, folder, options.backend(), bar)
        write_tables(folder / TABLES, {"scores": average_score_table(study, scored)})
    written = folder / TABLES / "scores.tsv"
    sizes = [
        {"corpus": group.corpus, "algorithm": group.algorithm}
        | {"words": len(tensor.words), "pairs": len(tensor.pairs), "seeds": len(tensor.seeds)}
        for group, tensor in scored
    ]
    if options.as_json:
        print_json({"groups": sizes, "warnings": described(warnings), "written": [written]})
        return
    for size in sizes:
        click.echo("{corpus}, {algorithm}: {words} words × {pairs} pairs × {seeds} seeds".format(**size))
    click.echo(f"averages over seeds and pairs: {written}")
    print_warnings(warnings, verbose=options.verbose)


@app.command("explain", examples=("weatherglass reliability explain study.toml --senses senses.tsv",))
@study_command("pairs", "targets", "frequent", "jobs", "scheduler", "estimate", "demo")
def explain(options: Options) -> None:
    """Regress the reliability of the words of an assessed study on their features."""
    from weatherglass.api.studies import FIGURES, TABLES, group_warnings
    from weatherglass.cli.progress import progress
    from weatherglass.reliability.regression.explain import explain_study
    from weatherglass.reliability.study import imported_groups, study_folder, trained_groups
    from weatherglass.reliability.tables import read_tables
    from weatherglass.report.study.figures import save_drawing
    from weatherglass.report.study.plots import coefficient_drawing

    study, folder = options.chosen_study(), options.folder
    with study_folder(folder), progress(options.silent, folder) as bar:
        groups = [*trained_groups(study, folder), *imported_groups(study, folder, bar)]
        tables = read_tables(folder / TABLES)
        explanations = explain_study(groups, tables, folder, options.senses, options.parts, bar)
    figures = [
        save_drawing(coefficient_drawing(explanation, pairs), folder / FIGURES)
        for pairs, explanation in explanations.items()
        if explanation.parts
    ]
    warnings = group_warnings(groups)
    if options.as_json:
        missing = {pairs: list(explanation.missing) for pairs, explanation in explanations.items()}
        regression = read_tables(folder / TABLES).get("regression")
        rows = [] if regression is None else regression.to_dicts()
        print_json(
            {"regression": rows, "figures": figures, "missing": missing, "warnings": described(warnings)}
        )
        return
    if not options.quiet:
        print_explanations(explanations, options.table)
    print_warnings(warnings, explanations, options.verbose)
    for figure in figures:
        click.echo(f"figure: {figure}")
    click.echo(f"tables: {folder / TABLES}, regression and features")


def print_explanations(explanations: Mapping[str, Explanation], every_row: bool = False) -> None:
    """Print the regressions for each set of base pairs and, with `every_row`, every estimate."""
    from weatherglass.report.study.terminal import explanation_lines

    say(explanation_lines(explanations, width_of(), every_row))


@app.command("word", examples=("weatherglass reliability word my-study nurse",))
@study_argument
@argument("word", metavar="WORD", help="The word, spelt as in the corpus.")
@option("--pairs", metavar="NAME", help="Only this set of base pairs.")
@option("--rule", type=listed("reliability.scoring:RULES"), metavar="NAME", help="Only this scoring rule.")
@option("--corpus", metavar="NAME", help="Only this corpus.")
@option(
    "--algorithm",
    type=listed("reliability.training.train:ALGORITHMS"),
    metavar="NAME",
    help="Only this algorithm.",
)
@flag("--all", "every", help="Print a line for each condition, not only the first.")
@flag("--json", "as_json", help="Print JSON, with all conditions.")
@study_folder_option
def word(study: Path, word: str, every: bool, as_json: bool, folder: Path, **chosen: str | None) -> None:
    """Print whether a word leans to one end of the base pairs, and how certain that is."""
    from weatherglass.registry import one_of
    from weatherglass.reliability.tables import FOLDER as TABLES
    from weatherglass.reliability.tables import read_word

    require_tables()
    rows = read_word(folder_of(study, folder) / TABLES, word)
    for name, value in chosen.items():
        if value is not None:
            one_of(name, value, list(dict.fromkeys(getattr(row, name) for row in rows)))
            rows = [row for row in rows if getattr(row, name) == value]
    if as_json:
        print_json([asdict(row) for row in rows])
    elif every:
        say(map(word_line, rows))
    else:
        say([word_line(rows[0]) + _others(rows)])


def word_line(row: WordScore) -> str:
    """Return the verdict on a word in one condition, with all its numbers."""
    from weatherglass.reliability.tables import CANNOT_TELL

    said = f"leans to '{row.toward}', {row.verdict}"
    if row.verdict == CANNOT_TELL:
        said = f"it is uncertain whether the word leans to '{row.toward}'"
    return (
        f"{row.word}: {said} ({row.corpus}, {row.algorithm}, {row.pairs}, {row.rule}): "
        f"score {row.score:+.3f}, 95 % CI {row.low:+.3f} to {row.high:+.3f}; p {row.p_value:.2g}, corrected over the "
        f"{row.family_size} words of {row.family} {row.p_adjusted:.2g}; p for these seeds {row.p_these_seeds:.2g}; "
        f"test–retest {row.icc:.2f}; rank {row.rank} of {row.of}"
    )


def _others(rows: Sequence[WordScore]) -> str:
    """Return a phrase on how many conditions agree with the first."""
    from weatherglass.reliability.tables import SHOWN

    if len(rows) == 1:
        return ""
    side = rows[0].score >= 0
    alike = [row for row in rows if (row.score >= 0) == side and row.pairs == rows[0].pairs]
    of = sum(row.pairs == rows[0].pairs for row in rows)
    shown = sum(row.verdict == SHOWN for row in alike)
    return (
        f"; in {len(alike)} of {of} conditions with {rows[0].pairs} pairs, the score has the same sign, "
        f"and in {shown} of them it differs from 0 (--all prints them)"
    )


@app.command("audit", examples=("weatherglass reliability audit my-study -t 'weat*'",))
@study_argument
@repeated_tests(("weat*",))
@repeated_metrics("", "A metric, or a glob; repeat for several.")
@option(
    "--within",
    type=click.FloatRange(min=0.001),
    default=0.1,
    metavar="D",
    help="Precision of the mean over seeds (± this value), for which the needed number of seeds is computed.",
)
@study_folder_option
@jobs_option
@quiet_option
@json_option
def audit(
    study: Path,
    tests: Sequence[str],
    metrics: Sequence[str],
    within: float,
    folder: Path,
    jobs: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Run tests on every seed of a study, and print the spread and reliability of d and the needed number of seeds."""
    from weatherglass.api.studies import AUDIT, audit_study
    from weatherglass.cli.progress import progress
    from weatherglass.cli.run import family_lines

    chosen = folder_of(study, folder)
    with progress(quiet or as_json, chosen) as bar:
        finished, report = audit_study(chosen, tests, metrics, within, jobs, bar, command_line())
    if as_json:
        print_json(report.to_json(), indent=None)
    else:
        say(family_lines(report))
        click.echo(f"d of every seed: {chosen / AUDIT / 'results.tsv'}")
    for line in dict.fromkeys(f"{failure.test}: {failure.reason}" for failure in finished.failures):
        complain(f"warning: {line}")
