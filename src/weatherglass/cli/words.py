"""`weatherglass words`: a map of single words, such as which occupations lean male."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weatherglass.cli.completion import complete_model, complete_test
from weatherglass.cli.worker_options import Jobs, Scheduler, SharedDir
from weatherglass.errors import WeatherglassError
from weatherglass.inference import DEFAULT_CORRECTION
from weatherglass.storage.printable import printable_json

if TYPE_CHECKING:
    from weatherglass.audit.word_map import WordMap


def words(
    model: Annotated[
        str,
        typer.Argument(
            metavar="[MODEL]", help="As in 'run'.", show_default=False, autocompletion=complete_model
        ),
    ] = "",
    file: Annotated[
        Path | None,
        typer.Option(
            "-w", "--words", help="Words, one a line; or a table with tabs and a header.", metavar="FILE"
        ),
    ] = None,
    attributes: Annotated[
        str,
        typer.Option(
            "-t",
            "--test",
            help="A test whose A and B the words stand between.",
            metavar="TEST",
            autocompletion=complete_test,
        ),
    ] = "weat7",
    facts: Annotated[
        str | None,
        typer.Option(help="Column of the table to correlate with, such as share_of_women.", metavar="COLUMN"),
    ] = None,
    correction: Annotated[
        str, typer.Option(help="Over the words: holm or benjamini-hochberg.")
    ] = DEFAULT_CORRECTION,
    alpha: Annotated[float, typer.Option(help="Level of the marks.")] = 0.05,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the map as a table (.tsv).", metavar="FILE")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Draw the map (.svg, .png or .pdf).", metavar="FILE")
    ] = None,
    jobs: Jobs = 1,
    scheduler: Scheduler = None,
    shared_dir: SharedDir = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """To which of two attribute sets single words lean, with exact p, and whether facts agree (WEFAT, SC-WEAT).

    Without --words: the target words of the test themselves.
    """
    from weatherglass.audit.word_map import word_map
    from weatherglass.catalogue import load_test
    from weatherglass.cli.bar import Bar
    from weatherglass.encoders import DEFAULT_MODEL
    from weatherglass.report.word_map import save_word_map, write_word_table
    from weatherglass.storage.word_table import read_word_table

    if file is None and facts is not None:
        raise WeatherglassError("--facts names a column of the table that --words gives; add --words FILE")
    test = load_test(attributes)
    given = (
        read_word_table(file, facts)
        if file
        else dict.fromkeys(text for targets in test.targets for text in targets.texts)
    )
    with Bar(as_json) as bar:
        found = word_map(
            given,
            test,
            model or DEFAULT_MODEL,
            correction=correction,
            jobs=jobs,
            scheduler=scheduler,
            shared_dir=shared_dir,
            progress=bar,
        )
    if output:
        write_word_table(found, output)
    if figure:
        save_word_map(found, figure, alpha)
    if as_json:
        typer.echo(printable_json(json.dumps(found.to_json(), ensure_ascii=False)))
    else:
        _show(found, alpha)


def _show(found: WordMap, alpha: float) -> None:
    from weatherglass.cli.console import say, width_of
    from weatherglass.report.word_map import word_lines, word_table

    say([*word_table(found, alpha, width_of()), *word_lines(found, alpha)])
