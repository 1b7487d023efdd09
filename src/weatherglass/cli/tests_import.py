"""`weatherglass tests import`: tests that others published, from their files to ours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weatherglass.cli.console import complain, plain_table, print_json, screen


def import_command(
    path: Annotated[
        Path, typer.Argument(metavar="DIR|FILE", help="What you fetched: a file, or a folder of files.")
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="A .toml file for one test, a new folder for several. Default: stdout."
        ),
    ] = None,
    language: Annotated[
        str, typer.Option("--language", help="Code of the words' language. Default: what the file says.")
    ] = "",
    targets: Annotated[
        list[str],
        typer.Option("--target", metavar="SET", help="A target set, where a file has sets and no tests."),
    ] = [],  # noqa: B006 - typer reads it, nobody changes it
    attributes: Annotated[
        list[str], typer.Option("--attribute", metavar="SET", help="An attribute set, likewise; repeat both.")
    ] = [],  # noqa: B006
    name: Annotated[str, typer.Option("--name", help="Name of the test made from such sets.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Import tests of WEATHub, XWEAT, sent-bias, responsibly, WEFE or plain word lists; the format is detected."""
    from weatherglass.catalogue import import_tests, write_import

    imported = import_tests(path, language, targets, attributes, name)
    written = write_import(imported, output) if output else []
    if as_json:
        tests = [
            {
                "name": each.test.name,
                "language": each.test.language,
                "topic": each.test.topic,
                "form": each.form,
            }
            | {"notes": list(each.notes), "toml": each.to_toml()}
            for each in imported.tests
        ]
        print_json({"tests": tests, "not_read": list(imported.passed_over), "written": list(written)})
        return
    if output is None and len(imported.tests) == 1:
        typer.echo(imported.tests[0].to_toml(), nl=False)
    else:
        table = plain_table("test", "language", "topic", "sets", "from")
        for each in imported.tests:
            sizes = ", ".join(f"{elements.category} {len(elements)}" for elements in each.test.sets)
            table.add_row(each.test.name, each.test.language, each.test.topic, sizes, each.form)
        screen().print(table)
    for each in imported.tests:
        for note in each.notes:
            complain(f"note: {each.test.name}: {note}")
    for line in imported.passed_over:
        complain(f"not read: {line}")
    if written:
        typer.echo(f"{len(written)} {'test' if len(written) == 1 else 'tests'} written to {output}", err=True)
    elif len(imported.tests) > 1:
        typer.echo("nothing written; -o DIR writes one .toml file for each test", err=True)
