"""Define `weatherglass tests`, which lists, shows, checks, imports and exports tests, and makes sentences from
words.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from weatherglass import catalogue
from weatherglass.catalogue.select import is_table
from weatherglass.cli.command import CommandGroup, argument, file_option, flag, option
from weatherglass.cli.console import complain, print_json, say, table, width_of
from weatherglass.cli.options import (
    DIR,
    FILE,
    TEST,
    Choice,
    Completed,
    complete_topics,
    json_option,
    listed,
    repeated_tests,
)
from weatherglass.cli.tables import asked_columns, columns_in, show_read, show_tables
from weatherglass.errors import CatalogueError, OutputError, UnknownNameError, output_error
from weatherglass.registry import shown, unknown
from weatherglass.report.numbers import counted
from weatherglass.warnings import Warning, described

if TYPE_CHECKING:
    from weatherglass.catalogue import ElementSet, Test
    from weatherglass.catalogue.imports import Import
    from weatherglass.languages.base import WordReading

app = CommandGroup("tests", help="List, show, check, import and export tests, and make sentences from words.")
LANGUAGE = listed("languages:LANGUAGES")


@app.command("import", examples=("weatherglass tests import xweat -o my-tests",))
@argument("path", type=FILE, metavar="DIR|FILE", help="The downloaded file, or a folder of files.")
@option(
    "-o",
    "--output",
    type=FILE,
    metavar="PATH",
    help="A .toml file for one test, or a new folder for several. By default, a test is printed.",
)
@option(
    "--language",
    type=LANGUAGE,
    default="",
    metavar="CODE",
    help="Code of the language; by default, the language of the file.",
)
@option(
    "--target",
    "targets",
    multiple=True,
    metavar="SET",
    help="Name of a target set, if a file has sets but no tests; repeat for several.",
)
@option(
    "--attribute",
    "attributes",
    multiple=True,
    metavar="SET",
    help="Name of an attribute set, if a file has sets but no tests; repeat for several.",
)
@option("--name", default="", metavar="NAME", help="Name of the test that is made from the named sets.")
@json_option
def import_command(
    path: Path,
    output: Path | None,
    language: str,
    targets: Sequence[str],
    attributes: Sequence[str],
    name: str,
    as_json: bool,
) -> None:
    """Import tests of WEATHub, XWEAT, sent-bias, responsibly or WEFE, tables (.csv, .xlsx) or plain word lists.

    The format is detected from the content.
    """
    if str(path) == "grep-biasir":
        raise CatalogueError(
            "grep-biasir has passages in variants, not tests; run: weatherglass rank MODEL --variants grep-biasir"
        )
    imported = catalogue.import_tests(path, language, targets, attributes, name)
    written = catalogue.write_import(imported, output) if output else []
    found = [(each.test, each) for each in imported.tests]
    if as_json:
        tests = [
            {"name": test.name, "language": test.language, "topic": test.topic, "form": each.form}
            | {"notes": list(each.notes), "toml": each.to_toml()}
            for test, each in found
        ]
        print_json({"tests": tests, "not_read": list(imported.passed_over), "written": list(written)})
        return
    if output is None and len(found) == 1:
        click.echo(imported.tests[0].to_toml(), nl=False)
    else:
        rows = [
            [
                test.name,
                test.language,
                test.topic,
                ", ".join(f"{s.category} {len(s)}" for s in test.sets),
                each.form,
            ]
            for test, each in found
        ]
        say(table(["test", "language", "topic", "sets", "from"], rows))
    _print_notes(imported)
    for line in imported.passed_over:
        complain(f"not read: {line}")
    if written:
        click.echo(f"{counted(len(written), 'test')} written to {output}", err=True)
    elif len(found) > 1:
        click.echo("nothing was written; use -o DIR to write one .toml file per test", err=True)


@app.command("list", examples=("weatherglass tests list 'sent-*'", "weatherglass tests list --language fr"))
@argument(
    "patterns",
    type=TEST,
    nargs=-1,
    metavar="[TEST]...",
    help="Names, globs such as 'sent-*', topics, files or folders.",
)
@option(
    "--topic",
    type=Completed(complete_topics),
    default="",
    metavar="TOPIC",
    help="Only tests of this topic, such as religion.",
)
@option(
    "--language", type=LANGUAGE, default="", metavar="CODE", help="Only tests in this language, such as fr."
)
@json_option
def list_command(patterns: Sequence[str], topic: str, language: str, as_json: bool) -> None:
    """List tests with their topic, sets, sizes, context and source.

    By default, the 46 published tests are listed. To list tests in other fields and languages, use `fields`, --topic
    or --language.
    """
    from weatherglass.catalogue.published import FIELDS

    everywhere = ["*", FIELDS] if topic or language else ["*"]
    tests = [
        test
        for test in catalogue.load_tests(list(patterns) or everywhere)
        if (not topic or test.topic.startswith(topic)) and language in ("", test.language)
    ]
    if not tests:
        raise _none_of(topic, language)
    if as_json:
        print_json([_summary(test) for test in tests])
        return
    say(_test_lines(tests, width_of()))
    _print_warnings(tests, related=False)


@app.command("sets", examples=("weatherglass tests sets",))
@json_option
def sets_command(as_json: bool) -> None:
    """List the word sets of the catalogue, for use in your own tests."""
    sets = catalogue.list_sets()
    if as_json:
        print_json([asdict(entry) for entry in sets])
        return
    rows = [[entry.name, entry.category, str(entry.size), entry.source] for entry in sets]
    say(table(["set", "category", "words", "source"], rows))


@app.command("show", examples=("weatherglass tests show weat6",))
@argument("name", type=TEST, metavar="TEST", help="Name or file of a test.")
@json_option
def show_command(name: str, as_json: bool) -> None:
    """Show the elements of one test, side by side."""
    from weatherglass.catalogue.published import licence

    test = catalogue.load_test(name)
    if as_json:
        print_json(_content(test))
        return
    details = test.topic, "" if test.language == "en" else test.language, test.context, test.source
    headings = [f"{role}: {elements.category} ({len(elements)})" for role, elements in _roles(test)]
    rows = list(zip_longest(*(elements.texts for elements in test.sets), fillvalue=""))
    say([f"{test.name}  {'; '.join(filter(None, details))}", *table(headings, rows)])
    terms, why = licence(test.name), _why_not_tested(test)
    say([f"Cite: {catalogue.reference(test.citation)}"] if test.citation else [])
    say([f"Licence: {terms}"] if terms else [])
    say([f"Measured, not tested: {why}."] if why else [])
    _print_warnings([test])


@app.command("check", examples=("weatherglass tests check my-test.toml",))
@argument(
    "patterns",
    type=TEST,
    nargs=-1,
    required=True,
    metavar="TEST...",
    help="Files, names, globs, topics or folders.",
)
@json_option
def check_command(patterns: Sequence[str], as_json: bool) -> None:
    """Check tests before a run, and report errors, warnings, and tests that can only be measured.

    A test is measured but not tested if X and Y differ in a token or template that their texts share (docs/methods
    10.6). The check compares words; a model's own tokens can give a different answer.
    """
    tests = catalogue.load_tests(list(patterns))
    if as_json:
        print_json([_summary(test) for test in tests])
        return
    show_tables(patterns, warn=False)
    for test in tests:
        why = _why_not_tested(test)
        say([f"{test.name}: measured, not tested: {why}" if why else f"{test.name}: tested"])
    _print_warnings(tests)


@app.command("export", examples=("weatherglass tests export my-tests -t 'weat*'",))
@argument("folder", type=DIR, metavar="DIR", help="Folder to write to; it is created if necessary.")
@repeated_tests()
@json_option
def export_command(folder: Path, tests: Sequence[str], as_json: bool) -> None:
    """Write tests in the published format, one .jsonl file each.

    By default, all 46 published tests are written.
    """
    loaded = catalogue.load_tests(list(tests))
    for test in loaded:
        catalogue.export_test(test, folder / f"{test.name}.jsonl")
    if as_json:
        print_json({"written": [folder / f"{test.name}.jsonl" for test in loaded]})
    else:
        click.echo(f"{counted(len(loaded), 'test')} written to {folder}", err=True)


@app.command(
    "init",
    examples=(
        "weatherglass tests init my-test.toml",
        "weatherglass tests init jobs.toml --from jobs.xlsx",
        "weatherglass tests init j.toml --from j.csv --columns X=art,Y=law,A=he,B=she",
    ),
)
@argument(
    "path", type=FILE, default="my-test.toml", metavar="[FILE]", help="File to write. Default: my-test.toml."
)
@file_option(
    "--from",
    "table_file",
    metavar="TABLE",
    help="Table with the words: .csv, .tsv, .txt or .xlsx, with a column per set or a row per word.",
)
@option(
    "--columns",
    default="",
    metavar="ROLE=NAME,...",
    help="The set of each role, as in X=maths,Y=arts,A=men,B=women. For a table with a row per word, also "
    "its columns, as in set=NAME,word=NAME. A column can be given by its number.",
)
@option(
    "--layout", type=Choice("catalogue.lists:LAYOUTS"), help="wide: a column per set; long: a row per word."
)
@option("--sheet", default="", metavar="NAME", help="Sheet to read, if an Excel file has several.")
@flag("--no-header", help="The first row contains words, not names.")
@option("--language", type=LANGUAGE, default="", metavar="CODE", help="Code of the language. Default: en.")
@json_option
def init_command(
    path: Path,
    table_file: Path | None,
    columns: str,
    layout: str | None,
    sheet: str,
    no_header: bool,
    language: str,
    as_json: bool,
) -> None:
    """Write a test file for you to edit, from an example with comments or from the words of a table.

    If a table does not state which sets are compared, the command asks for them on a terminal.
    """
    from weatherglass.catalogue.imports import import_table
    from weatherglass.catalogue.toml_format import example
    from weatherglass.storage.atomic import write_whole

    if path.exists():
        hint = f", such as: weatherglass tests init {path.stem}.toml --from {path}" if is_table(path) else ""
        raise OutputError(f"{path}: this file already exists; choose another name for the test file{hint}")
    if table_file is None:
        try:
            write_whole(path, example(path.stem))
        except OSError as error:
            raise output_error(path, error) from error
        written = [path]
    else:
        reading: dict[str, Any] = {"layout": layout or "", "sheet": sheet, "header": not no_header}
        given = columns_in(columns)
        given |= asked_columns(table_file, given, reading)
        imported = import_table(table_file, language, path.stem, columns=given, **reading)
        written = catalogue.write_import(imported, path)
        show_read([each.test for each in imported.tests])
        _print_notes(imported)
    if as_json:
        print_json({"written": written})
    else:
        do = "Check it" if table_file else "Put your words into this file"
        click.echo(f"{path} written. {do}, then run: weatherglass run -t {path}")


@app.command("texts", examples=("weatherglass tests texts -t weat6",))
@repeated_tests()
@json_option
def texts_command(tests: Sequence[str], as_json: bool) -> None:
    """Print every distinct text that a model has to encode for the tests, one per line.

    A text may contain a line break; use --json to see line breaks.
    """
    loaded = catalogue.load_tests(list(tests))
    texts = list(dict.fromkeys(text for test in loaded for text in test.texts))
    if as_json:
        print_json(texts)
    else:
        click.echo("\n".join(texts))


@app.command("sentences", examples=("weatherglass tests sentences weat6 -o sent-weat6.toml",))
@argument("file", type=TEST, metavar="TEST", help="Name or file (.toml, .jsonl) of a word-level test.")
@file_option("-o", "--output", help="File to write (.toml, .jsonl). By default, the test is printed as TOML.")
@json_option
def sentences_command(file: str, output: Path | None, as_json: bool) -> None:
    """Make a sentence-level test from a word-level test, and show how each word was classified."""
    test, readings = catalogue.sentence_test(file)
    guessed = [reading for reading in readings if reading.worth_a_look]
    if output is not None:
        catalogue.write_test(test, output)
    if as_json:
        checks = [asdict(reading) for reading in guessed]
        print_json({"test": _content(test), "to_check": checks, "written": [output] if output else []})
        return
    if output is None:
        click.echo(catalogue.to_toml(test), nl=False)
    _print_readings(guessed)
    _print_warnings([test])
    if output is not None:
        click.echo(f"{sum(map(len, test.sets))} sentences written to {output}", err=True)


def _none_of(topic: str, language: str) -> UnknownNameError:
    """Return the error for a topic and a language that no test has, which lists the existing ones."""
    from weatherglass.catalogue.published import FIELDS

    every = catalogue.load_tests(["*", FIELDS])
    if not any(test.topic.startswith(topic) for test in every):
        return unknown("topic", topic, catalogue.list_topics())
    of_topic = [test for test in every if test.topic.startswith(topic)]
    languages = ", ".join(sorted({test.language for test in of_topic}))
    about = f" of the topic '{topic}'" if topic else ""
    return UnknownNameError(f"no test{about} is in the language '{shown(language)}' (languages: {languages})")


def _test_lines(tests: list[Test], width: int) -> Iterator[str]:
    """Yield one line per test, with name, topic and sizes and, on a wide terminal, also context, sets and source."""
    from weatherglass.report.layout import Column, table_lines, widest_name

    columns = [
        Column("test", shorten="middle", least=16, most=widest_name(width)),
        Column("topic", shorten="end", least=10),
        Column("sizes"),
        Column("context", from_width=100),
        Column("targets X : Y", shorten="end", least=24, from_width=120),
        Column("attributes A : B", shorten="end", least=24, from_width=120),
        Column("source", shorten="end", least=10, from_width=160),
    ]
    rows = [
        [
            test.name,
            test.topic,
            _counts(test),
            test.context,
            " : ".join(elements.category for elements in test.targets),
            " : ".join(elements.category for elements in test.attributes),
            test.source,
        ]
        for test in tests
    ]
    yield from table_lines(columns, rows, width)


def _counts(test: Test) -> str:
    """Return the number of elements of each set, the targets first, as in 8+8 : 8+8."""
    return " : ".join("+".join(str(len(one)) for one in sets) for sets in (test.targets, test.attributes))


def _roles(test: Test) -> list[tuple[str, ElementSet]]:
    return list(zip(test.roles, test.sets, strict=True))


def _summary(test: Test) -> dict[str, Any]:
    sizes = {role: {"category": elements.category, "size": len(elements)} for role, elements in _roles(test)}
    description = {
        "topic": test.topic,
        "language": test.language,
        "context": test.context,
        "source": test.source,
        "citation": test.citation,
    }
    return {
        "name": test.name,
        **sizes,
        **description,
        "not_tested": _why_not_tested(test),
        "warnings": described(_warnings(test)),
    }


def _why_not_tested(test: Test) -> str:
    from weatherglass.audit.known_sets import confounded_by_words

    return confounded_by_words(test)


def _content(test: Test) -> dict[str, Any]:
    sets = {role: {**asdict(elements), "size": len(elements)} for role, elements in _roles(test)}
    return {**_summary(test), **sets}


def _print_warnings(tests: list[Test], related: bool = True) -> None:
    from weatherglass.report.warning_summary import in_full

    for test in tests:
        warnings = _warnings(test) if related else test.warnings
        say([in_full(warning.about(f"test '{test.name}'")) for warning in warnings], err=True)


def _warnings(test: Test) -> list[Warning]:
    """Return the warnings of a test, and those about related words in its sets."""
    from weatherglass.audit.known_sets import related_words_in

    return [*test.warnings, *related_words_in(zip(test.roles, test.sets, strict=True), test.language)]


def _print_notes(imported: Import) -> None:
    for each in imported.tests:
        for note in each.notes:
            complain(f"note: {each.test.name}: {note}")


def _print_readings(readings: Sequence[WordReading]) -> None:
    if not readings:
        return
    rows = [[one.word, one.word_class, one.shown_forms, one.reason] for one in readings]
    say(table(["word", "class", "forms", "why"], rows, width_of(sys.stderr)), err=True)
    say(["To correct a line, state the word's class or forms under [words] in the test's TOML."], err=True)
