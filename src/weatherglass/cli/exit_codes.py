"""The exit codes of all commands, stated here and in the help of each of them."""

from __future__ import annotations

from collections.abc import Mapping

import typer

EXIT_CODES: Mapping[int, str] = {
    0: "done",
    1: "a gate failed",
    2: "an error in the command or its files; one line on stderr says which",
    3: "a part of the work failed or was stopped; the rest is kept",
}
WITH_A_GATE = ("run", "compare")
"""The commands that can end with 1."""


def codes_of(command: str) -> list[int]:
    """The exit codes that a command can end with; `command` is its name without those of its groups."""
    return [code for code in EXIT_CODES if code != 1 or command in WITH_A_GATE]


def state_exit_codes(app: typer.Typer, groups: tuple[str, ...] = ()) -> None:
    """Write the exit codes below the help of every command of an app and of its groups."""
    for command in app.registered_commands:
        name = command.name or (command.callback.__name__ if command.callback else "")
        codes = codes_of(name if not groups else "")
        command.epilog = "Exit codes: " + "; ".join(f"{code}: {EXIT_CODES[code]}" for code in codes) + "."
    for group in app.registered_groups:
        if group.typer_instance is not None:
            state_exit_codes(group.typer_instance, (*groups, group.name or ""))
