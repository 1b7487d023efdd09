"""`weatherglass report`: the results of runs as a page, tables or figures."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from weatherglass.errors import OutputError, WeatherglassError, unreadable, unwritable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from weatherglass.runs.stored import StoredRun


class Format(StrEnum):
    """Formats of a report."""

    html = "html"
    md = "md"
    latex = "latex"
    csv = "csv"
    png = "png"
    svg = "svg"
    pdf = "pdf"


def report(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="Folders of runs.", show_default=False)
    ],
    form: Annotated[Format, typer.Option("--format", "-f", help="Output format.")] = Format.html,
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
            help="File for html, md, latex and csv; folder for figures. Default: report.html and figures go into "
            "the run's folder, or the current folder for several runs; tables are printed.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Make a page, a table for a paper, or figures from one or more runs.

    A report only reads the folders of runs and computes nothing. Two runs are also shown side by side.
    """
    from weatherglass.runs.stored import labelled, read_run

    runs = labelled(read_run(folder) for folder in folders)
    home = folders[0] if len(folders) == 1 else Path()
    try:
        if form is Format.html:
            _page(runs, output or home / "report.html", _comparison(comparison), _multiverse(multiverse))
        elif form in (Format.png, Format.svg, Format.pdf):
            _figures(runs, output or home, form.value)
        else:
            _table(runs, output, form)
    except OSError as error:
        raise OutputError(unwritable(error.filename or output or home, error)) from error
    for run in runs:
        for notice in run.notices:
            typer.echo(f"warning: {run.label}: {notice}", err=True)


def _comparison(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        comparison = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OutputError(unreadable(path, error)) from error
    except ValueError as error:
        raise OutputError(f"{path}: not JSON ({error})") from error
    if not _is_comparison(comparison):
        raise OutputError(f"{path}: not the output of 'weatherglass compare --json'")
    return cast(dict[str, Any], comparison)


def _is_comparison(content: object) -> bool:
    differences = content.get("differences") if isinstance(content, dict) else None
    return isinstance(differences, list) and all("metric" in difference for difference in differences)


def _multiverse(path: Path | None) -> list[dict[str, Any]]:
    if path is None:
        return []
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise OutputError(unreadable(path, error)) from error
    except ValueError as error:
        raise OutputError(f"{path}: not JSON ({error})") from error
    topics = content.get("topics") if isinstance(content, dict) else None
    if not isinstance(topics, list) or not all("specifications" in entry for entry in topics):
        raise OutputError(f"{path}: not the output of 'weatherglass multiverse --json'")
    return cast(list[dict[str, Any]], topics)


def _page(
    runs: Sequence[StoredRun],
    path: Path,
    comparison: dict[str, Any] | None,
    multiverse: list[dict[str, Any]],
) -> None:
    from weatherglass.report.page.html import page
    from weatherglass.storage.atomic import write_whole

    write_whole(path, page(runs, comparison, multiverse))
    typer.echo(path)


def _figures(runs: Sequence[StoredRun], folder: Path, kind: str) -> None:
    from weatherglass.report.figures import write_figures

    if folder.is_file():
        raise WeatherglassError(f"{folder} is a file; there are several figures, so -o should be a folder")
    folder.mkdir(parents=True, exist_ok=True)
    for path in write_figures(runs, folder, kind):
        typer.echo(path)


def _table(runs: Sequence[StoredRun], path: Path | None, form: Format) -> None:
    from weatherglass.report import tables
    from weatherglass.storage.atomic import write_whole

    make = {Format.md: tables.markdown, Format.latex: tables.latex, Format.csv: tables.comma_separated}[form]
    text = make(runs)
    if path is None:
        typer.echo(text, nl=False)
    else:
        write_whole(path, text)
        typer.echo(path)
