"""`weatherglass tests`: list, show and export the tests, and make sentences from one's own words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weatherglass.catalogue import (
    AssociationTest,
    ElementSet,
    export_test,
    export_toml,
    list_sets,
    load_test,
    load_tests,
    reference,
    sentence_test,
)

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from weatherglass.catalogue.guess import Reading

app = typer.Typer(no_args_is_help=True, help="The tests: list, show, export, and make sentences from words.")

PIPE_WIDTH = 4000  # nothing is cut or folded where no one looks at a screen

Patterns = Annotated[
    list[str] | None,
    typer.Option(
        "--test", "-t", help="A name, a glob such as 'sent-*', a file or a folder; may be repeated."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="For machines.")]


@app.command("list")
def list_command(
    pattern: Annotated[str, typer.Argument(help="A glob such as 'sent-*', a file or a folder.")] = "*",
    as_json: AsJson = False,
) -> None:
    """The tests: name, sets with their sizes, context, source."""
    tests = load_tests([pattern])
    if as_json:
        print_json([_summary(test) for test in tests])
        return
    table = plain_table("test", "targets X : Y", "attributes A : B", "context", "source")
    for test in tests:
        table.add_row(test.name, _pair(test.targets), _pair(test.attributes), test.context, test.source)
    console().print(table)
    _print_warnings(tests)


@app.command("sets")
def sets_command(as_json: AsJson = False) -> None:
    """The word sets of the catalogue, which a test of one's own can name."""
    sets = list_sets()
    if as_json:
        print_json(
            [{"name": s.name, "category": s.category, "size": s.size, "source": s.source} for s in sets]
        )
        return
    table = plain_table("set", "category", "words", "source")
    for each in sets:
        table.add_row(each.name, each.category, str(each.size), each.source)
    console().print(table)


@app.command("show")
def show_command(
    name: Annotated[str, typer.Argument(help="A name or a file.")],
    as_json: AsJson = False,
) -> None:
    """The elements of one test, side by side."""
    test = load_test(name)
    if as_json:
        print_json(_content(test))
        return
    roles = zip("XYAB", test.sets, strict=True)
    table = plain_table(*(f"{role}: {each.category} ({len(each)})" for role, each in roles))
    longest = max(len(each) for each in test.sets)
    columns = [[*each.texts, *[""] * (longest - len(each))] for each in test.sets]
    for row in zip(*columns, strict=True):
        table.add_row(*row)
    typer.echo(f"{test.name} ({test.context}), {test.source}")
    if test.citation:
        typer.echo(reference(test.citation))
    console().print(table)
    _print_warnings([test])


@app.command("export")
def export_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where to; it is made if need be.")],
    patterns: Patterns = None,
) -> None:
    """Write tests in the published form, one .jsonl file each; default: all 46."""
    tests = load_tests(patterns or ["*"])
    for test in tests:
        export_test(test, folder / f"{test.name}.jsonl")
    typer.echo(f"{len(tests)} {'test' if len(tests) == 1 else 'tests'} written to {folder}")


@app.command("texts")
def texts_command(patterns: Patterns = None, as_json: AsJson = False) -> None:
    """Every text of the tests, once, one per line: what a model has to encode; default: all 46."""
    texts = list(dict.fromkeys(text for test in load_tests(patterns or ["*"]) for text in test.texts))
    if as_json:
        print_json(texts)
    else:
        typer.echo("\n".join(texts))


@app.command("sentences")
def sentences_command(
    file: Annotated[str, typer.Argument(help="A word-level test: a file (.toml or .jsonl) or a name.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A .toml or .jsonl file; default: TOML to the screen."),
    ] = None,
) -> None:
    """Make the sentence-level test of a word-level one, and say how each word was read."""
    from weatherglass.catalogue.toml_form import to_toml

    test, readings = sentence_test(file)
    if output is None:
        typer.echo(to_toml(test), nl=False)
    elif output.suffix.lower() == ".toml":
        export_toml(test, output)
    else:
        export_test(test, output)
    _print_readings([reading for reading in readings if reading.worth_a_look], file)
    _print_warnings([test])
    if output is not None:
        typer.echo(f"{sum(map(len, test.sets))} sentences written to {output}")


def console(stderr: bool = False) -> Console:
    """A console as wide as the screen, and wide enough for anything where there is none."""
    from rich.console import Console

    screen = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not screen.is_terminal:
        screen.width = PIPE_WIDTH
    return screen


def plain_table(*headings: str) -> Table:
    """A table without lines, whose long cells fold instead of being cut."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def print_json(value: object) -> None:
    """JSON as it is read by people and machines."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _pair(sets: tuple[ElementSet, ElementSet]) -> str:
    return " : ".join(f"{each.category} {len(each)}" for each in sets)


def _summary(test: AssociationTest) -> dict[str, Any]:
    sizes = {
        role: {"category": each.category, "size": len(each)}
        for role, each in zip("XYAB", test.sets, strict=True)
    }
    return {
        "name": test.name,
        **sizes,
        "context": test.context,
        "source": test.source,
        "citation": test.citation,
    }


def _content(test: AssociationTest) -> dict[str, Any]:
    content = _summary(test)
    for role, each in zip("XYAB", test.sets, strict=True):
        elements = [{"text": e.text, "word": e.word, "template": e.template} for e in each.elements]
        content[role] = {"category": each.category, "elements": elements}
    return {**content, "warnings": list(test.warnings)}


def _print_warnings(tests: list[AssociationTest]) -> None:
    for test in tests:
        for warning in test.warnings:
            typer.echo(f"warning: test '{test.name}': {warning}", err=True)


def _print_readings(readings: list[Reading], file: str) -> None:
    if not readings:
        return
    table = plain_table("word", "class", "forms", "why")
    for each in readings:
        table.add_row(each.word, each.word_class, each.shown_forms, each.reason)
    console(stderr=True).print(table)
    typer.echo(
        f"To correct one, state it in {file} under [words] (docs/tests.md) and run this again.", err=True
    )
