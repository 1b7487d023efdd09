"""`weatherglass tests`: list, show and export the tests, and make sentences from one's own words."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weatherglass import catalogue
from weatherglass.cli.console import PIPE_WIDTH, plain_table, print_json, screen

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from weatherglass.catalogue import AssociationTest, ElementSet
    from weatherglass.languages.base import Reading

app = typer.Typer(no_args_is_help=True, help="The tests: list, show, export, and make sentences from words.")

Patterns = Annotated[
    list[str],
    typer.Option("-t", "--test", help="Name, glob, file or folder; repeat for several.", metavar="TEST"),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print for machines.")]


@app.command("list")
def list_command(
    patterns: Annotated[
        list[str], typer.Argument(metavar="[TEST]…", help="Names, globs such as 'sent-*', files or folders.")
    ] = ["*"],  # noqa: B006 - typer reads it, nobody changes it
    as_json: AsJson = False,
) -> None:
    """The tests: name, sets with their sizes, context, source."""
    tests = catalogue.load_tests(patterns)
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
            console.print(f"    {_pair(test.targets)} | {_pair(test.attributes)}", soft_wrap=True)
    _print_warnings(tests)


@app.command("sets")
def sets_command(as_json: AsJson = False) -> None:
    """The word sets of the catalogue, which a test of one's own can name."""
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
    """The elements of one test, side by side."""
    test = catalogue.load_test(name)
    if as_json:
        print_json(_content(test))
        return
    table = plain_table(*(f"{role}: {each.category} ({len(each)})" for role, each in _roles(test)))
    longest = max(len(each) for each in test.sets)
    columns = [[*each.texts, *[""] * (longest - len(each))] for each in test.sets]
    for row in zip(*columns, strict=True):
        table.add_row(*row)
    console = screen()
    _print_title(test, console)
    console.print(table)
    if test.citation:
        console.print(f"Cite: {catalogue.reference(test.citation)}", soft_wrap=True)
    _print_warnings([test])


@app.command("export")
def export_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to; it is made if need be.")],
    patterns: Patterns = ["*"],  # noqa: B006
) -> None:
    """Write tests in the published form, one .jsonl file each; without -t all 46."""
    tests = catalogue.load_tests(patterns)
    for test in tests:
        catalogue.export_test(test, folder / f"{test.name}.jsonl")
    typer.echo(f"{len(tests)} {'test' if len(tests) == 1 else 'tests'} written to {folder}", err=True)


@app.command("texts")
def texts_command(patterns: Patterns = ["*"], as_json: AsJson = False) -> None:  # noqa: B006
    """Every text of the tests, each once, a line each: what a model has to encode. A text may itself hold a
    line break; --json tells."""
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
        typer.Option("-o", "--output", help="A .toml or .jsonl file; without it, TOML to stdout."),
    ] = None,
) -> None:
    """Make the sentence-level test of a word-level one, and say how each word was read."""
    test, readings = catalogue.sentence_test(file)
    if output is None:
        typer.echo(catalogue.to_toml(test), nl=False)
    else:
        catalogue.write_test(test, output)
    _print_readings([reading for reading in readings if reading.worth_a_look])
    _print_warnings([test])
    if output is not None:
        typer.echo(f"{sum(map(len, test.sets))} sentences written to {output}", err=True)


def _test_table(tests: list[AssociationTest]) -> Table:
    table = plain_table("test", "context", "targets X : Y", "attributes A : B", "source")
    for test in tests:
        table.add_row(test.name, test.context, _pair(test.targets), _pair(test.attributes), test.source)
    return table


def _width(table: Table) -> int:
    """The columns that a table takes when nothing is folded."""
    endless = screen()
    endless.width = PIPE_WIDTH
    return endless.measure(table).maximum


def _print_title(test: AssociationTest, console: Console) -> None:
    from rich.text import Text

    title = Text.assemble((test.name, "bold"), f"  {test.context}; {test.source}")
    console.print(title, soft_wrap=True)


def _roles(test: AssociationTest) -> list[tuple[str, ElementSet]]:
    return list(zip("XYAB", test.sets, strict=True))


def _pair(sets: tuple[ElementSet, ElementSet]) -> str:
    return " : ".join(f"{each.category} {len(each)}" for each in sets)


def _summary(test: AssociationTest) -> dict[str, Any]:
    sizes = {role: {"category": each.category, "size": len(each)} for role, each in _roles(test)}
    about = {"context": test.context, "source": test.source, "citation": test.citation}
    return {"name": test.name, **sizes, **about, "warnings": list(test.warnings)}


def _content(test: AssociationTest) -> dict[str, Any]:
    elements = {role: {**asdict(each), "size": len(each)} for role, each in _roles(test)}
    return {**_summary(test), **elements}


def _print_warnings(tests: list[AssociationTest]) -> None:
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
