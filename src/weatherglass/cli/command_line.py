"""Groups of commands: their help, and the command line as it was typed, for the record of the run."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

KEY = "weatherglass.command"


class Group(TyperGroup):
    """Commands whose help is plain text: loading rich would take longer than all the rest of `--help`."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands with their first sentence whole; click would cut it at the width of a line."""
        named = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        shown = [(name, command.get_short_help_str(limit=500)) for name, command in named if command]
        with formatter.section("Commands"):
            formatter.write_dl(shown)


class RememberingGroup(Group):
    """Stores its arguments before they are parsed; `sys.argv` may belong to another program."""

    def parse_args(
        self, ctx: Any, args: list[str]
    ) -> list[str]:  # the type of ctx depends on typer's version
        """Parse as usual; all commands below share the context's meta."""
        ctx.meta[KEY] = ("weatherglass", *args)
        return super().parse_args(ctx, args)


def command_line(context: typer.Context) -> tuple[str, ...]:
    """The program name and arguments of the running command."""
    words: tuple[str, ...] = context.meta[KEY]
    return words
