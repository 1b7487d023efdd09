"""Help commands that read tables: ask for what a table does not state, and show what was read."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weatherglass.cli.console import complain, say
from weatherglass.errors import WeatherglassError
from weatherglass.storage.reading import is_regular_file
from weatherglass.storage.tables import NOT_READ, TABLES

if TYPE_CHECKING:
    from weatherglass.catalogue import Test
    from weatherglass.catalogue.words import ReadWordList


def columns_in(text: str) -> dict[str, str]:
    """Return the parts of a text like X=maths,Y=arts.

    Raises:
        WeatherglassError: if a part has no equals sign.
    """
    parts = [part.partition("=") for part in re.split(r",(?=[^,=]+=)", text) if text]
    for name, equals, value in parts:
        if not (name.strip() and equals and value.strip()):
            raise WeatherglassError(
                f"--columns: '{name}' should be ROLE=NAME, such as X=maths,Y=arts,A=men,B=women"
            )
    return {name.strip(): value.strip() for name, _, value in parts}


def asked_columns(table_file: Path, given: Mapping[str, str], reading: Mapping[str, Any]) -> dict[str, str]:
    """Ask for the set of each role, if it is not stated and the session is interactive.

    Args:
        table_file: the table.
        given: the columns that the user stated. reading: options for reading the table.
    """
    from weatherglass.catalogue.lists import read_sets

    if not on_terminal():
        return {}
    read = read_sets(table_file, columns=given, **reading)
    if len(read.tests) != 1 or read.tests[0].roles or len(read.tests[0].words) < 2:
        return {}
    names = list(read.tests[0].words)
    sizes = ", ".join(f"{name} ({len(words)})" for name, words in read.tests[0].words.items())
    say([f"{read.described}: {sizes}"])
    asked = {
        "X": "first target set",
        "Y": "second target set",
        "A": "first attribute set",
        "B": "second attribute set",
    }
    return {
        role: click.prompt(f"{role}, the {what}", type=click.Choice(names), show_choices=False)
        for role, what in asked.items()
    }


def on_terminal() -> bool:
    """Return whether the session is interactive, that is, stdin and stdout are terminals."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def show_read(tests: Sequence[Test]) -> None:
    """Print what was read from tables to stderr, so that the user notices a misreading."""
    from weatherglass.catalogue.lists import read_back

    say([f"read {test.name}: {read_back(test)} from {test.source}" for test in tests], err=True)


def check_expanded(models: Sequence[str]) -> None:
    """Refuse a test file in place of a model, which means that the shell expanded a pattern after -t.

    Raises:
        WeatherglassError: if a test file is among the models; the message names the first file and the correct
            command.
    """
    from weatherglass.catalogue.select import FILE_KINDS, is_table

    files = [name for name in models if Path(name).suffix.lower() in FILE_KINDS or is_table(Path(name))]
    expanded = [name for name in files if is_regular_file(name) and Path(name).suffix.lower() != ".txt"]
    if expanded:
        raise WeatherglassError(
            f"{expanded[0]}: this is a test file, not a model; if the shell expanded a pattern after -t, "
            "put the pattern in quotes (-t 'weat*'), or write -t before each file"
        )


def show_tables(patterns: Iterable[str], warn: bool = True) -> None:
    """Print what was read from tests that are tables.

    Args:
        patterns: names, globs, topics and paths of tests.
        warn: whether to print assumptions about the file, such as its encoding.
    """
    from weatherglass.catalogue.select import is_table, load_tests

    for pattern in patterns:
        if not is_table(Path(pattern)):
            continue
        tests = load_tests([pattern])
        show_read(tests)
        assumed = [str(warning) for test in tests for warning in test.warnings if warning.kind == "table"]
        for line in dict.fromkeys(assumed if warn else ()):
            complain(f"warning: {line}")


def asked_words(
    given: Sequence[str], facts: str | None, column: str | None, sheet: str, quiet: bool
) -> dict[str, float | None]:
    """Return the words of the command line and of files, with their facts; empty if none are given.

    Args:
        given: words and files; a word that is also the name of a file means the file.
        facts: a column of the files, or a file of words and numbers.
        column: the column of the words.
        sheet: the sheet of an Excel file that has several.
        quiet: whether not to print what was read.

    Raises:
        WeatherglassError: if a file cannot be read, or facts are requested without a table.
    """
    from weatherglass.catalogue.words import read_words

    in_column = None if facts is None or _is_file(facts) else facts
    files = [name for name in given if _is_file(name)]
    if in_column is not None and not files:
        raise WeatherglassError(
            f"--facts {in_column}: neither a file nor a column of a table that --words gives; add --words FILE"
        )
    words: dict[str, float | None] = {}
    for name in given:
        found: dict[str, float | None] = {name: None}
        if name in files:
            read = read_words(Path(name), in_column, column, sheet)
            _show_words(read, quiet, offer=facts is None)
            found = read.words
        words |= {word: fact for word, fact in found.items() if words.get(word) is None}
    if facts is None or in_column is not None:
        return words
    known = read_words(Path(facts), "", column, sheet)
    _show_words(known, quiet, offer=False)
    if words and not quiet:
        say([f"{sum(word in known.words for word in words)} of {len(words)} words have a fact"], err=True)
    return {word: known.words.get(word) for word in words} if words else known.words


def _is_file(name: str) -> bool:
    """Return whether a text is the name of a file.

    Raises:
        WeatherglassError: if it is blank, or can only be the name of a file that does not exist.
    """
    path = Path(name)
    if not name.strip():
        raise WeatherglassError("a word is blank; give a word or a file")
    if is_regular_file(path):
        return True
    if path.suffix.lower() in (*TABLES, *NOT_READ, ".txt", ".jsonl") or "/" in name:
        raise WeatherglassError(f"{name}: there is no such file; a word of this form must be in a file")
    return False


def _show_words(read: ReadWordList, quiet: bool, offer: bool) -> None:
    if not quiet:
        column = read.other_numbers[0] if read.other_numbers and offer else ""
        unused = f"; --facts {column} correlates the scores with that column" if column else ""
        say([f"read {read.described}{unused}"], err=True)
    for note in read.notes:
        complain(f"warning: {read.file}: {note}")
