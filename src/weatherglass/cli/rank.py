"""Define `weatherglass rank`, and print reports and comparisons of finished ranking audits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weatherglass.cli.command import command, command_line, file_option, flag, option
from weatherglass.cli.console import complain, print_json, say, send, width_of
from weatherglass.cli.options import (
    DIR,
    OUTPUT,
    Completed,
    alpha_option,
    folder_option,
    json_option,
    models_argument,
    paths,
    quiet_option,
    starting,
    where_it_runs,
)
from weatherglass.cli.run import gate_files
from weatherglass.errors import WeatherglassError, output_error

if TYPE_CHECKING:
    from weatherglass.gate.ranking import RankingBreach
    from weatherglass.ranking.change import RankingComparison
    from weatherglass.ranking.ranking import Ranking

WHAT, GATE = "What to rank", "Gate"
"""Groups of the options in the help."""


def _groupings(_: click.Context, incomplete: str) -> list[str]:
    """Return completions: the groupings of the package, and files."""
    from weatherglass.ranking.texts import group_names

    return [*starting(incomplete, group_names()), *paths(incomplete)]


def _data_sets(_: click.Context, incomplete: str) -> list[str]:
    """Return completions: the data set with variants, and files."""
    from weatherglass.ranking.variants import GREP_BIASIR

    return [*starting(incomplete, [GREP_BIASIR]), *paths(incomplete)]


@command(
    "rank",
    examples=(
        "weatherglass rank",
        "weatherglass rank st:all-MiniLM-L6-v2 --groups gender",
        "weatherglass rank MODEL --queries ads.csv --passages cvs.csv --groups age",
        "weatherglass rank MODEL --variants grep-biasir",
        "weatherglass rank MODEL --fail-if 'impact_ratio_high < 0.8'",
    ),
)
@models_argument("A model, as for 'weatherglass run'. By default, the embedded model is used.")
@file_option(
    "--queries",
    help="Queries, such as job advertisements: TOML, JSON lines, CSV, Excel, or one per line. A column "
    "topic is optional. By default, advertisements for 12 occupations are used.",
    group=WHAT,
)
@file_option(
    "--passages",
    help="Passages with the slot {name}, such as CVs; {they}, {them}, {their} and {title} are optional. By "
    "default, CVs for 12 occupations are used.",
    group=WHAT,
)
@option(
    "--groups",
    type=Completed(_groupings),
    metavar="NAME|FILE",
    help="Names to compare: race (the default), gender, race-gender, age, or a file with the columns group and name.",
    group=WHAT,
)
@option(
    "--top",
    default="10%",
    metavar="SHARE|N",
    help="Share of each query's pool, or number of places, that counts as selected.",
    group=WHAT,
)
@file_option(
    "--background",
    help=(
        "File of other passages, one per line. Each copy is ranked alone among them to see whether it is "
        "selected."
    ),
    group=WHAT,
)
@option(
    "--variants",
    type=Completed(_data_sets),
    metavar="FILE|grep-biasir",
    help="Queries with their passages in given variants, such as male and female ones: a table with the columns query, "
    "variant and text, or Grep-BiasIR. The option replaces --queries, --passages and --groups.",
    group=WHAT,
)
@file_option(
    "--scores",
    help="Table with the columns query, passage, name and score, for a ranker that is not an embedding.",
    group=WHAT,
)
@alpha_option
@option(
    "--smallest",
    type=float,
    metavar="NUMBER",
    help=(
        "Smallest distance of the win rate from 0.5 that is of interest; results shown to be below it are "
        "called small."
    ),
)
@folder_option("weatherglass-ranking", "Folder for the results.")
@flag(
    "--table",
    help=(
        "Print the topics of every pair of groups. By default, only the pair with the clearest difference "
        "is printed."
    ),
    group=OUTPUT,
)
@json_option
@quiet_option
@option(
    "--fail-if",
    multiple=True,
    metavar="CONDITION",
    help="Exit with 1 if a comparison over all topics meets this condition, such as 'impact_ratio_high < "
    "0.8'. A condition that names 'topic' is checked for every topic. Repeat for several.",
    group=GATE,
)
@option(
    "--baseline",
    type=DIR,
    metavar="DIR",
    help="Folder of an earlier audit of the same texts. Exit with 1 if a difference between groups has grown "
    "significantly since.",
    group=GATE,
)
@gate_files
@where_it_runs
def rank(
    models: Sequence[str],
    queries: Path | None,
    passages: Path | None,
    groups: str | None,
    top: str,
    background: Path | None,
    variants: str | None,
    scores: Path | None,
    alpha: float,
    smallest: float | None,
    folder: Path,
    table: bool,
    as_json: bool,
    quiet: bool,
    fail_if: Sequence[str],
    baseline: Path | None,
    junit: Path | None,
    summary: Path | None,
    **where: Any,
) -> None:
    """Measure whether the same text ranks the same under another name, in search, retrieval and screening.

    Every passage is ranked under every name of two or more groups. The result is how often names of one group outrank
    those of another, with an exact p over names, and the impact ratio of the selection. If you repeat the command, it
    computes only what is missing.
    """
    from weatherglass.api.rankings import rank as run
    from weatherglass.cli.console import print_json, say, width_of
    from weatherglass.cli.progress import progress
    from weatherglass.cli.run import check_places
    from weatherglass.encoders import DEFAULT_MODEL
    from weatherglass.gate.ranking import judge_changes, judge_ranking, ranking_conditions
    from weatherglass.ranking.ranking import load_ranking

    if scores and models:
        raise WeatherglassError("--scores replaces the model; remove either MODEL or --scores")
    conditions = ranking_conditions(fail_if)
    earlier = load_ranking(baseline) if baseline else None
    check_places(junit, summary)
    with progress(quiet or as_json, folder) as bar:
        found = run(
            list(models) or [DEFAULT_MODEL],
            queries,
            passages,
            groups or "race",
            top=top,
            alpha=alpha,
            smallest=smallest,
            background=background,
            variants=variants,
            scores=scores,
            folder=folder,
            progress=bar,
            command=command_line(),
            **where,
        )
    breaches = judge_ranking(conditions, found)
    comparison = earlier.compare(found, alpha=alpha) if earlier else None
    if comparison:
        breaches += judge_changes(comparison, found)
    if as_json:
        print_json(
            {**found.to_json(), **({"gate": list(map(str, breaches))} if conditions or earlier else {})},
            indent=None,
        )
    elif not quiet:
        from weatherglass.report.ranking import lines_of

        say(lines_of(found, width_of(), table))
        say(
            ["", f"Page: {folder / 'index.html'}", f"Impact statement: {folder / 'statement.md'}"], whole=True
        )
    write_ranking_gate(found, breaches, bool(conditions or earlier), comparison, junit, summary)
    if breaches:
        raise click.exceptions.Exit(1)
    if found.failures:
        raise click.exceptions.Exit(3)


TEXTS, FIGURES = ("md", "csv", "methods", "sentences", "model-card"), ("png", "svg", "pdf")


def has_ranking(folder: Path) -> bool:
    """Return whether a folder contains a ranking audit and no run."""
    from weatherglass.audit.folder import RECORD as OF_RUN
    from weatherglass.ranking.ranking import RECORD

    return (folder / RECORD).is_file() and not (folder / OF_RUN).is_file()


def report_ranking(folder: Path, form: str, output: Path | None, as_json: bool) -> None:
    """Write the page, a text or a figure per model of a ranking audit.

    Raises:
        WeatherglassError: if the format is for runs only, or the folder is damaged.
    """
    from weatherglass.ranking.ranking import load_ranking
    from weatherglass.report.ranking.page import PAGE, page
    from weatherglass.storage.atomic import write_whole

    if form not in ("html", *TEXTS, *FIGURES):
        known = ", ".join(("html", *TEXTS, *FIGURES))
        raise WeatherglassError(f"a ranking audit cannot be written as {form}; use one of {known}")
    found = load_ranking(folder)
    text, written = "", []
    try:
        if form in FIGURES:
            written = _figures(found, output or folder, form)
        elif form == "html" or output:
            text = page(found) if form == "html" else _text(found, form, output)
            written = [output or folder / PAGE]
            write_whole(written[0], text)
        else:
            text = _text(found, form)
    except OSError as error:
        raise output_error(error.filename or output or folder, error) from error
    if as_json:
        print_json({"format": form, "written": written, "text": None if written else text, "warnings": []})
    elif written:
        say(list(map(str, written)), whole=True)
    else:
        send(text)


def _text(found: Ranking, form: str, output: Path | None = None) -> str:
    from weatherglass.report.ranking import writing
    from weatherglass.report.writing import put_into
    from weatherglass.storage.atomic import is_stream

    if form == "sentences":
        return "\n\n".join(writing.sentences(found)) + "\n"
    if form == "methods":
        return writing.methods_paragraph(found) + "\n"
    if form == "model-card":
        block = writing.model_card_block(found)
        if output and output.is_file() and not is_stream(output):
            return put_into(output.read_text(encoding="utf-8"), block)
        return block
    return {"md": writing.markdown, "csv": writing.comma_separated}[form](found)


def _figures(found: Ranking, folder: Path, form: str) -> list[Path]:
    """Write a forest of win rates for each model."""
    from weatherglass.report.figures import save_figure
    from weatherglass.report.ranking.page import figure_of

    if folder.is_file():
        raise WeatherglassError(f"{folder} is a file; there may be several figures, so -o should be a folder")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    models = list(dict.fromkeys(one.model for one in found.comparisons))
    for number, model in enumerate(models, start=1):
        figure = figure_of([one for one in found.comparisons if one.model == model], found.alpha)
        path = folder / (f"win-rates.{form}" if len(models) == 1 else f"win-rates-{number}.{form}")
        save_figure(figure, path, form)
        paths.append(path)
    return paths


def compare_stored_rankings(
    before: Path,
    after: Path | None,
    alpha: float,
    *,
    table: bool,
    gated: bool,
    junit: Path | None,
    summary: Path | None,
    as_json: bool,
) -> None:
    """Print the comparison of two ranking audits, or of the models of one, and write the files of its gate."""
    from weatherglass.gate.ranking import judge_changes
    from weatherglass.ranking.change import compare_ranked_models, compare_rankings
    from weatherglass.ranking.ranking import load_ranking
    from weatherglass.report.ranking import change_lines

    first = load_ranking(before)
    second = first if after is None else load_ranking(after)
    found = compare_ranked_models(first, alpha) if after is None else compare_rankings(first, second, alpha)
    breaches = judge_changes(found, second) if gated else []
    if as_json:
        print_json({**found.to_json(), **({"gate": list(map(str, breaches))} if gated else {})})
    else:
        say(change_lines(found, width_of(), table))
    write_ranking_gate(second, breaches, gated, found, junit, summary)
    if breaches:
        raise click.exceptions.Exit(1)


def write_ranking_gate(
    ranking: Ranking,
    breaches: Sequence[RankingBreach],
    gated: bool,
    comparison: RankingComparison | None,
    junit: Path | None,
    summary: Path | None,
) -> None:
    """Print to stderr why the gate of a ranking audit failed, and write the requested files."""
    for breach in breaches:
        complain(f"gate: {breach}")
    if junit:
        from weatherglass.gate.junit import write_ranking_junit

        write_ranking_junit(junit, ranking, breaches)
    if summary:
        from weatherglass.report.ranking.writing import pull_request_summary
        from weatherglass.storage.atomic import write_whole

        reasons = [str(breach) for breach in breaches]
        try:
            write_whole(summary, pull_request_summary(ranking, reasons, gated, comparison))
        except OSError as error:
            raise output_error(summary, error) from error
