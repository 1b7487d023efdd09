"""The reference of the command line, made from the commands themselves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import click

from weatherglass.cli import app


def command_pages() -> str:
    """A section for each command: what it does, how it is called, its arguments and options."""
    return "\n\n".join(_sections(click.Context(app), app, "weatherglass"))


def _sections(context: click.Context, command: click.Command, path: str) -> Iterator[str]:
    if not isinstance(command, click.Group):
        yield _section(command, path)
        return
    for name in command.list_commands(context):
        if found := command.get_command(context, name):
            yield from _sections(context, found, f"{path} {name}")


def _section(command: click.Command, path: str) -> str:
    context = click.Context(command, info_name=path)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    parts = [f"## {path}", inspect.cleandoc(command.help or ""), f"```text\n{usage}\n```"]
    for kind in ("argument", "option"):
        records = [one.get_help_record(context) for one in command.params if one.param_type_name == kind]
        if rows := [record for record in records if record]:
            parts.append(_table(kind, rows))
    return "\n\n".join(parts)


def _table(head: str, rows: list[tuple[str, str]]) -> str:
    lines = [f"| `{_cell(name)}` | {_cell(text).replace('<', '&lt;')} |" for name, text in rows]
    return "\n".join([f"| {head} | meaning |", "|---|---|", *lines])


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
