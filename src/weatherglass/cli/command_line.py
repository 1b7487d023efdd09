"""The words of the command as they were typed, for the record of the run that it asks for."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

KEY = "weatherglass.command"


class RememberingGroup(TyperGroup):
    """Keeps its arguments before they are parsed; `sys.argv` may be another program's."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # typer has a click of its own, or not
        """Parse as usual; all commands below share the context's meta."""
        ctx.meta[KEY] = ("weatherglass", *args)
        return super().parse_args(ctx, args)


def command_line(context: typer.Context) -> tuple[str, ...]:
    """The words of the command that is running, to be given again."""
    words: tuple[str, ...] = context.meta[KEY]
    return words
