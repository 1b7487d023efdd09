"""`weatherglass tests`: list, show and export tests, and make sentence-level tests from words."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weatherglass import catalogue
from weatherglass.catalogue.fields import GROUP as FIELDS
from weatherglass.catalogue.fields import licence
from weatherglass.cli.command_line import Group
from weatherglass.cli.console import PIPE_WIDTH, plain_table, print_json, screen
from weatherglass.cli.tests_import import import_command
from weatherglass.errors import OutputError, UnknownNameError, unwritable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from weatherglass.catalogue import ElementSet, Test
    from weatherglass.languages.base import Reading

app = typer.Typer(
    cls=Group, no_args_is_help=True, help="The tests: list, show, export, and make sentences from words."
)

Patterns = Annotated[
    list[str],
    typer.Option("-t", "--test", help="Name, glob, file or folder; repeat for several.", metavar="TEST"),
]
app.command("import")(import_command)
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command("list")
def list_command(
    patterns: Annotated[
        list[str],
        typer.Argument(metavar="[TEST]…", help="Names, globs such as 'sent-*', topics, files or folders."),
    ] = [],  # noqa: B006 - typer reads it, nobody changes it
    topic: Annotated[str, typer.Option("--topic", help="Only tests of this topic: religion.")] = "",
    language: Annotated[str, typer.Option("--language", help="Only tests in this language: fr.")] = "",
    as_json: AsJson = False,
) -> None:
    """List tests: name, topic, sets with their sizes, context, source. Default: the 46 published ones; those in other
    fields and languages are listed by `fields`, by their topic or language."""
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
    console = screen()
    table = _test_table(tests)
    if _width(table) <= console.width:
        console.print(table)
    else:
        for test in tests:
            _print_title(test, console)
            console.print(f"    {_sizes(test.targets)} | {_sizes(test.attributes)}", soft_wrap=True)
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
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name or a file.")], as_json: AsJson = False
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
    console = screen()
    _print_title(test, console)
    console.print(table)
    if test.citation:
        console.print(f"Cite: {catalogue.reference(test.citation)}", soft_wrap=True)
    if terms := licence(test.name):
        console.print(f"Licence: {terms}", soft_wrap=True)
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
        raise OutputError(unwritable(path, error)) from error
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


def _test_table(tests: list[Test]) -> Table:
    table = plain_table("test", "topic", "context", "targets X : Y", "attributes A : B", "source")
    for test in tests:
        sets = _sizes(test.targets), _sizes(test.attributes)
        table.add_row(test.name, test.topic, test.context, *sets, test.source)
    return table


def _width(table: Table) -> int:
    """The width of a table if nothing is folded."""
    console = screen()
    console.width = PIPE_WIDTH
    return console.measure(table).maximum


def _print_title(test: Test, console: Console) -> None:
    from rich.text import Text

    details = test.topic, "" if test.language == "en" else test.language, test.context, test.source
    title = Text.assemble((test.name, "bold"), f"  {'; '.join(filter(None, details))}")
    console.print(title, soft_wrap=True)


def _roles(test: Test) -> list[tuple[str, ElementSet]]:
    return list(zip(test.roles, test.sets, strict=True))


def _sizes(sets: tuple[ElementSet, ...]) -> str:
    return " : ".join(f"{elements.category} {len(elements)}" for elements in sets)


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
            typer.echo(f"warning: test '{test.name}': {warning}", err=True)


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
