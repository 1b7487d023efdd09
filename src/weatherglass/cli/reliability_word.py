"""`weatherglass reliability word`: does a word lean to one end of the base pairs here, and how sure is that?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weatherglass.cli.study_options import FOLDER, folder_of, require_tables

if TYPE_CHECKING:
    from weatherglass.reliability.rows import WordScore


def word(
    study: Annotated[
        Path, typer.Argument(metavar="STUDY", help="Folder of a study, or its file.", show_default=False)
    ],
    word: Annotated[str, typer.Argument(help="The word, as the corpus spells it.", show_default=False)],
    pairs: Annotated[str | None, typer.Option(help="A set of base pairs.", show_default=False)] = None,
    rule: Annotated[str | None, typer.Option(help="A scoring rule.", show_default=False)] = None,
    corpus: Annotated[str | None, typer.Option(help="A corpus.", show_default=False)] = None,
    algorithm: Annotated[str | None, typer.Option(help="An algorithm.", show_default=False)] = None,
    every: Annotated[
        bool, typer.Option("--all", help="A line for each condition, not the first only.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, all conditions.")] = False,
    folder: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", help="Folder of the study, if STUDY is a file.")
    ] = FOLDER,
) -> None:
    """Say whether a word leans to one end of the base pairs, and how sure that is."""
    from dataclasses import asdict

    from weatherglass.cli.console import print_json
    from weatherglass.registry import one_of
    from weatherglass.reliability.tables import FOLDER as TABLES
    from weatherglass.reliability.tables import read_word

    require_tables()
    rows = read_word(folder_of(study, folder) / TABLES, word)
    for name, chosen in (("pairs", pairs), ("rule", rule), ("corpus", corpus), ("algorithm", algorithm)):
        if chosen is not None:
            one_of(name, chosen, list(dict.fromkeys(getattr(row, name) for row in rows)))
            rows = [row for row in rows if getattr(row, name) == chosen]
    if as_json:
        print_json([{name: _json_number(value) for name, value in asdict(row).items()} for row in rows])
    elif every:
        for row in rows:
            typer.echo(word_line(row))
    else:
        typer.echo(word_line(rows[0]) + _others(rows))


def word_line(row: WordScore) -> str:
    """The verdict on one word in one condition, with every number that it rests on."""
    from weatherglass.reliability.rows import CANNOT_TELL

    said = f"leans to '{row.toward}', {row.verdict}"
    if row.verdict == CANNOT_TELL:
        said = f"cannot tell whether it leans to '{row.toward}'"
    return (
        f"{row.word}: {said} ({row.corpus}, {row.algorithm}, {row.pairs}, {row.rule}): "
        f"score {row.score:+.3f}, 95 % {row.low:+.3f} to {row.high:+.3f}; p {row.p_value:.2g}, corrected over "
        f"{row.of} words {row.p_adjusted:.2g}; p for these seeds {row.p_these_seeds:.2g}; "
        f"test–retest {row.icc:.2f}; rank {row.rank} of {row.of}"
    )


def _others(rows: Sequence[WordScore]) -> str:
    """How far the other conditions say the same, so that the first one is not taken for all of them."""
    from weatherglass.reliability.rows import SHOWN

    if len(rows) == 1:
        return ""
    side = rows[0].score >= 0
    alike = [row for row in rows if (row.score >= 0) == side and row.pairs == rows[0].pairs]
    of = sum(row.pairs == rows[0].pairs for row in rows)
    shown = sum(row.verdict == SHOWN for row in alike)
    return f"; {len(alike)} of {of} conditions of {rows[0].pairs} lean so, {shown} shown (--all prints them)"


def _json_number(value: object) -> object:
    """JSON has no NaN."""
    return None if value != value else value
