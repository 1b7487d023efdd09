"""`weatherglass tests`: list, show and export tests, and make sentence-level tests from words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weatherglass import catalogue
from weatherglass.cli.command_line import App, Group
from weatherglass.cli.completion import complete_test, complete_topic
from weatherglass.cli.console import plain_table, print_json, say, screen, width_of
from weatherglass.cli.tests_import import import_command
from weatherglass.errors import OutputError, UnknownNameError, output_error

if TYPE_CHECKING:
    from weatherglass.catalogue import ElementSet, Test
    from weatherglass.languages.base import Reading

app = App(
    cls=Group, no_args_is_help=True, help="The tests: list, show, export, and make sentences from words."
)

Patterns = Annotated[
    list[str],
    typer.Option(
        "-t",
        "--test",
        help="Name, glob, topic, file or folder; repeat for several.",
        metavar="TEST",
        autocompletion=complete_test,
    ),
]
app.command("import")(import_command)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_command(
    patterns: Annotated[
        list[str],
        typer.Argument(
            metavar="[TEST]…",
            help="Names, globs such as 'sent-*', topics, files or folders.",
            autocompletion=complete_test,
        ),
    ] = [],  # noqa: B006 - typer reads it, nobody changes it
    topic: Annotated[
        str,
        typer.Option("--topic", help="Only tests of this topic: religion.", autocompletion=complete_topic),
    ] = "",
    language: Annotated[str, typer.Option("--language", help="Only tests in this language: fr.")] = "",
    as_json: AsJson = False,
) -> None:
    """List tests: name, topic, sets with their sizes, context, source. Default: the 46 published ones; those in other
    fields and languages are listed by `fields`, by their topic or language."""
    from weatherglass.catalogue.fields import GROUP as FIELDS

    everywhere = ["*", FIELDS] if topic or language else ["*"]
    tests = [
        test
        for test in catalogue.load_tests(patterns or everywhere)
        if (not topic or test.topic.startswith(topic)) and language in ("", test.language)
    ]
    if not tests:
        known = ", ".join(catalogue.list_topics())
        raise UnknownNameError(f"no test has this topic and language (topics: {known})")
    if as_json:
        print_json([_summary(test) for test in tests])
        return
    say(_test_lines(tests, width_of()))
    _print_warnings(tests)


@app.command("sets")
def sets_command(as_json: AsJson = False) -> None:
    """List the word sets of the catalogue, for use in your own tests."""
    sets = catalogue.list_sets()
    if as_json:
        print_json([asdict(entry) for entry in sets])
        return
    table = plain_table("set", "category", "words", "source")
    for entry in sets:
        table.add_row(entry.name, entry.category, str(entry.size), entry.source)
    screen().print(table)


@app.command("show")
def show_command(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name or a file.", autocompletion=complete_test)
    ],
    as_json: AsJson = False,
) -> None:
    """Show the elements of one test, side by side."""
    test = catalogue.load_test(name)
    if as_json:
        print_json(_content(test))
        return
    table = plain_table(
        *(f"{role}: {elements.category} ({len(elements)})" for role, elements in _roles(test))
    )
    longest = max(len(elements) for elements in test.sets)
    columns = [[*elements.texts, *[""] * (longest - len(elements))] for elements in test.sets]
    for row in zip(*columns, strict=True):
        table.add_row(*row)
    details = test.topic, "" if test.language == "en" else test.language, test.context, test.source
    say([f"{test.name}  {'; '.join(filter(None, details))}"])
    screen().print(table)
    say([f"Cite: {catalogue.reference(test.citation)}"] if test.citation else [])
    from weatherglass.catalogue.fields import licence

    terms = licence(test.name)
    say([f"Licence: {terms}"] if terms else [])
    _print_warnings([test])


@app.command("export")
def export_command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder to write to; it is created if necessary.")
    ],
    patterns: Patterns = ["*"],  # noqa: B006
    as_json: AsJson = False,
) -> None:
    """Write tests in the published format, one .jsonl file each. Default: all 46."""
    tests = catalogue.load_tests(patterns)
    for test in tests:
        catalogue.export_test(test, folder / f"{test.name}.jsonl")
    if as_json:
        print_json({"written": [folder / f"{test.name}.jsonl" for test in tests]})
        return
    typer.echo(f"{len(tests)} {'test' if len(tests) == 1 else 'tests'} written to {folder}", err=True)


@app.command("init")
def init_command(
    path: Annotated[Path, typer.Argument(metavar="[TEST.toml]")] = Path("my-test.toml"),
    as_json: AsJson = False,
) -> None:
    """Write a test file with comments, to edit."""
    from weatherglass.catalogue.example import EXAMPLE
    from weatherglass.storage.atomic import write_whole

    if path.exists():
        raise OutputError(f"{path}: this file already exists; choose another name")
    try:
        write_whole(path, EXAMPLE.format(name=path.stem))
    except OSError as error:
        raise output_error(path, error) from error
    if as_json:
        print_json({"written": [path]})
        return
    typer.echo(f"{path} written. Put your words into it, then run: weatherglass run -t {path}")


@app.command("texts")
def texts_command(patterns: Patterns = ["*"], as_json: AsJson = False) -> None:  # noqa: B006
    """Print every distinct text of the tests, one per line: what a model has to encode. A text may contain a
    line break; use --json to see it."""
    tests = catalogue.load_tests(patterns)
    texts = list(dict.fromkeys(text for test in tests for text in test.texts))
    if as_json:
        print_json(texts)
    else:
        typer.echo("\n".join(texts))


@app.command("sentences")
def sentences_command(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="A word-level test, .toml or .jsonl (or the name of one).")
    ],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A .toml or .jsonl file. Default: TOML to stdout."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a sentence-level test from a word-level test, and show how each word was classified."""
    test, readings = catalogue.sentence_test(file)
    if as_json:
        if output is not None:
            catalogue.write_test(test, output)
        guessed = [asdict(reading) for reading in readings if reading.worth_a_look]
        print_json({"test": _content(test), "to_check": guessed, "written": [output] if output else []})
        return
    if output is None:
        typer.echo(catalogue.to_toml(test), nl=False)
    else:
        catalogue.write_test(test, output)
    _print_readings([reading for reading in readings if reading.worth_a_look])
    _print_warnings([test])
    if output is not None:
        typer.echo(f"{sum(map(len, test.sets))} sentences written to {output}", err=True)


def _test_lines(tests: list[Test], width: int) -> Iterator[str]:
    """One line a test: its name and topic; on a wide terminal its sets with their sizes, context and source, too."""
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
    """Elements of each set, the targets first: 8+8 : 8+8."""
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
    return {"name": test.name, **sizes, **description, "warnings": list(test.warnings)}


def _content(test: Test) -> dict[str, Any]:
    sets = {role: {**asdict(elements), "size": len(elements)} for role, elements in _roles(test)}
    return {**_summary(test), **sets}


def _print_warnings(tests: list[Test]) -> None:
    for test in tests:
        for warning in test.warnings:
            say([f"warning: test '{test.name}': {warning}"], err=True)


def _print_readings(readings: list[Reading]) -> None:
    if not readings:
        return
    table = plain_table("word", "class", "forms", "why")
    for reading in readings:
        table.add_row(reading.word, reading.word_class, reading.shown_forms, reading.reason)
    screen(stderr=True).print(table)
    typer.echo(
        "To correct a line, state the word's class or forms under [words] in the test's TOML.", err=True
    )
