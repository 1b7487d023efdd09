"""Print reports and comparisons of finished ranking audits, for `weatherglass report` and `weatherglass compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from weatherglass.cli.console import complain, print_json, say, send, width_of
from weatherglass.errors import WeatherglassError, output_error

if TYPE_CHECKING:
    from weatherglass.gate.ranking import RankingBreach
    from weatherglass.ranking.change import RankingComparison
    from weatherglass.ranking.ranking import Ranking

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
    from weatherglass.report.ranking.changes import change_lines

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
