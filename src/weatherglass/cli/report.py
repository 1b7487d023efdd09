"""`weatherglass report`: the results of runs as a page, tables or figures."""

from __future__ import annotations

from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from weatherglass.cli.console import complain, print_json
from weatherglass.errors import OutputError, WeatherglassError, output_error
from weatherglass.storage.documents import json_document

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from weatherglass.runs.stored import StoredRun


class Format(StrEnum):
    """Formats of a report."""

    html = "html"
    md = "md"
    latex = "latex"
    csv = "csv"
    methods = "methods"
    sentences = "sentences"
    bibtex = "bibtex"
    model_card = "model-card"
    png = "png"
    svg = "svg"
    pdf = "pdf"


def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Folders of runs.", show_default=False)
    ],
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            "-f",
            metavar="FORMAT",
            help=f"What to write: {', '.join(each.value for each in Format)}.",
        ),
    ] = Format.html,
    comparison: Annotated[
        Path | None,
        typer.Option(
            help="For the page of two runs: a file with the output of 'weatherglass compare DIR DIR --json'.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    multiverse: Annotated[
        Path | None,
        typer.Option(
            help="For the page: a file with the output of 'weatherglass multiverse --json', or its multiverse.json.",
            metavar="FILE",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="File for a page or text (an existing model card gets the new block in place of its old one); folder "
            "for figures. Default: report.html and figures go into the run's folder, or the current folder for several "
            "runs; text is printed.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Make a page, a table for a paper, or figures from one or more runs.

    A report only reads the folders of runs and computes nothing. Two runs are also shown side by side.
    """
    from weatherglass.runs.stored import labelled, read_whole_run
    from weatherglass.storage.atomic import is_stream

    runs = labelled(read_whole_run(folder) for folder in folders)
    home = folders[0] if len(folders) == 1 else Path()
    text = ""
    try:
        if form is Format.html:
            path = output or home / "report.html"
            written = _page(runs, path, _comparison(comparison), _multiverse(multiverse))
        elif form in (Format.png, Format.svg, Format.pdf):
            written = _figures(runs, output or home, form.value)
        else:
            with _rendering(runs):
                text = _text(runs, form)
            written = _write_text(text, output, form)
    except OSError as error:
        raise output_error(error.filename or output or home, error) from error
    if as_json:
        notices = [f"{run.label}: {notice}" for run in runs for notice in run.notices]
        print_json(
            {
                "format": form.value,
                "written": written,
                "text": text if not written else None,
                "warnings": notices,
            }
        )
        return
    if not written:
        typer.echo(text, nl=False)
    for path in written:
        if not is_stream(path):  # standard output has the content, and should have nothing else
            typer.echo(str(path))
    for run in runs:
        for notice in run.notices:
            complain(f"warning: {run.label}: {notice}")


def _comparison(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    comparison = json_document(path, OutputError)
    if not _is_comparison(comparison):
        raise OutputError(f"{path}: not the output of 'weatherglass compare --json'")
    return cast(dict[str, Any], comparison)


def _is_comparison(content: object) -> bool:
    differences = content.get("differences") if isinstance(content, dict) else None
    return isinstance(differences, list) and all(
        isinstance(difference, dict) and "metric" in difference for difference in differences
    )


def _multiverse(path: Path | None) -> list[dict[str, Any]]:
    if path is None:
        return []
    from weatherglass.runs.joint import read_multiverse

    content = read_multiverse(path)
    topics = content.get("topics") if isinstance(content, dict) else None
    if not isinstance(topics, list) or not all(
        isinstance(entry, dict) and "specifications" in entry for entry in topics
    ):
        raise OutputError(f"{path}: not the output of 'weatherglass multiverse --json'")
    return cast(list[dict[str, Any]], topics)


def _page(
    runs: Sequence[StoredRun],
    path: Path,
    comparison: dict[str, Any] | None,
    multiverse: list[dict[str, Any]],
) -> list[Path]:
    from weatherglass.report.page.html import page
    from weatherglass.storage.atomic import write_whole

    with _rendering(runs):
        content = page(runs, comparison, multiverse)
    write_whole(path, content)
    return [path]


@contextmanager
def _rendering(runs: Sequence[StoredRun]) -> Iterator[None]:
    """Whatever a page or a text cannot show of edited files becomes one line that names them."""
    from weatherglass.storage.reading import one_line

    with one_line(
        ", ".join(str(run.path) for run in runs),
        "cannot be shown: a record, comparison or multiverse has an entry that these programs do not write",
        "write it again with the command that made it",
        OutputError,
    ):
        yield


def _figures(runs: Sequence[StoredRun], folder: Path, kind: str) -> list[Path]:
    from weatherglass.report.figures import write_figures

    if folder.is_file():
        raise WeatherglassError(f"{folder} is a file; there are several figures, so -o should be a folder")
    folder.mkdir(parents=True, exist_ok=True)
    return write_figures(runs, folder, kind)


def _text(runs: Sequence[StoredRun], form: Format) -> str:
    from weatherglass.report import tables
    from weatherglass.report.model_card import model_card_block
    from weatherglass.report.paper import bibtex, methods_paragraph
    from weatherglass.report.write_up import sentences

    if form is Format.methods:
        return "\n\n".join(methods_paragraph(run.results, run.record) for run in runs) + "\n"
    if form is Format.sentences:
        return "\n\n".join(line for run in runs for line in sentences(run.verdicts(), run.alpha)) + "\n"
    if form is Format.bibtex:
        return bibtex(_joined_record(runs))
    if form is Format.model_card:
        return "\n".join(
            model_card_block(run.results, run.record, [one.to_json() for one in run.verdicts()])
            for run in runs
        )
    make = {Format.md: tables.markdown, Format.latex: tables.latex, Format.csv: tables.comma_separated}[form]
    return make(runs)


def _joined_record(runs: Sequence[StoredRun]) -> dict[str, Any]:
    """The first record with the citations of all."""
    citations = dict.fromkeys(key for run in runs for key in run.record.get("citations", []))
    return {**runs[0].record, "citations": list(citations)}


def _write_text(text: str, path: Path | None, form: Format) -> list[Path]:
    from weatherglass.report.model_card import put_into
    from weatherglass.storage.atomic import is_stream, write_whole

    if path is None:
        return []
    if form is Format.model_card and path.is_file() and not is_stream(path):
        text = put_into(path.read_text(encoding="utf-8"), text)
    write_whole(path, text)
    return [path]
