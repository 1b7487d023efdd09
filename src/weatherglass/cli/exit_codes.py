"""The exit codes of all commands, stated here and in the help of each of them."""

from __future__ import annotations

from collections.abc import Mapping

import typer

EXIT_CODES: Mapping[int, str] = {
    0: "done",
    1: "a gate failed, or the disk is full",
    2: "an error in the command or its files; one line on stderr says which",
    3: "a part of the work failed or was stopped; the rest is kept",
    4: "an internal error; the traceback is in the log that the line on stderr names",
}
WITH_A_GATE = ("run", "compare")
WITHOUT_A_GATE = {1: "the disk is full"}


def codes_of(command: str) -> dict[int, str]:
    """The exit codes that a command can end with; `command` is its name without those of its groups."""
    return {**EXIT_CODES, **({} if command in WITH_A_GATE else WITHOUT_A_GATE)}


def state_exit_codes(app: typer.Typer, groups: tuple[str, ...] = ()) -> None:
    """Write the exit codes below the help of every command of an app and of its groups."""
    for command in app.registered_commands:
        name = command.name or (command.callback.__name__ if command.callback else "")
        codes = codes_of(name if not groups else "")
        command.epilog = "Exit codes: " + "; ".join(f"{code}: {means}" for code, means in codes.items()) + "."
    for group in app.registered_groups:
        if group.typer_instance is not None:
            state_exit_codes(group.typer_instance, (*groups, group.name or ""))
