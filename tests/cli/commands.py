"""Every command, found as a user finds it: through the groups."""

from __future__ import annotations

from collections.abc import Iterator

import click

from weatherglass.cli import app
from weatherglass.cli.command import Command

CONTEXT = click.Context(app, info_name="weatherglass")


def leaves(
    group: click.Group = app, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], Command]]:
    """Yield the words of each command and the command."""
    for name in group.list_commands(CONTEXT):
        found = group.get_command(CONTEXT, name)
        if isinstance(found, click.Group):
            yield from leaves(found, (*words, name))
        else:
            assert isinstance(found, Command)
            yield (*words, name), found


LEAVES = dict(leaves())
