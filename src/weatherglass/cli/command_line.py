"""The command line as it was typed, for the record of the run."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

KEY = "weatherglass.command"


class RememberingGroup(TyperGroup):
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
