"""Commands and groups of them: their help, and the command line as it was typed, for the record of the run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup

KEY = "weatherglass.command"
Function = TypeVar("Function", bound=Callable[..., Any])


class App(typer.Typer):
    """A group whose commands have our help: plain, since loading rich takes as long as all the rest of it."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**{"rich_markup_mode": None, "pretty_exceptions_enable": False, **given})

    def command(self, name: str | None = None, **given: Any) -> Callable[[Function], Function]:
        """Register a command."""
        return super().command(name, **{"cls": Command, **given})


class Command(TyperCommand):
    """A command whose help has its options in groups, then its exit codes, and ends with examples."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as usual, with values that need no conversion taken as they are."""
        for parameter in self.get_params(ctx):
            _take_plain_values(parameter)
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments and options by group, as declared; `--help` comes last if only it has no group."""
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            if record := parameter.get_help_record(ctx):
                kind = "Arguments" if parameter.param_type_name == "argument" else "Options"
                groups.setdefault(getattr(parameter, "rich_help_panel", None) or kind, []).append(record)
        if len(groups["Options"]) == 1:
            groups["Options"] = groups.pop("Options")
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """The exit codes, then examples, each on one line, to be copied."""
        super().format_epilog(ctx, formatter)
        write_examples(ctx, formatter)


def _take_plain_values(parameter: Any) -> None:
    """Have a parameter take defaults, text and paths as they are.

    Recent versions of typer convert every value with pydantic, whose import takes as long as numpy's.
    """
    descriptor = getattr(parameter, "type_descriptor", None)
    if descriptor is None or parameter.required or "process_value" in vars(parameter):
        return
    convert, callback = parameter.process_value, parameter.callback

    def process_value(ctx: Any, value: Any) -> Any:
        if value is parameter.default:
            taken = list(value) if isinstance(value, list) else value
        elif descriptor.annotation in (str, Path) and isinstance(value, str):
            taken = descriptor.annotation(value)
        elif descriptor.annotation == list[str] and isinstance(value, list | tuple):
            taken = list(value)
        else:
            return convert(ctx, value)
        return taken if callback is None else callback(ctx, parameter, taken)

    parameter.process_value = process_value


def write_examples(ctx: Any, formatter: Any) -> None:
    """The examples of a command, whatever the program is called."""
    from weatherglass.cli.examples import EXAMPLES

    words: list[str] = []
    while ctx.parent is not None:
        words.insert(0, ctx.info_name)
        ctx = ctx.parent
    if examples := EXAMPLES.get(" ".join(words)):
        with formatter.section("Example" if len(examples) == 1 else "Examples"):
            formatter.write("".join(f"{'':{formatter.current_indent}}{example}\n" for example in examples))


class Group(TyperGroup):
    """Commands whose help is plain text: loading rich would take longer than all the rest of `--help`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse as usual, with values that need no conversion taken as they are."""
        for parameter in self.get_params(ctx):
            _take_plain_values(parameter)
        return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands with their first sentence whole; click would cut it at the width of a line."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.summary(name)) for name in self.list_commands(ctx)])

    def summary(self, name: str) -> str:
        """What the list says of a command."""
        text: str = self.commands[name].get_short_help_str(limit=500)
        return text

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Examples, each on one line, to be copied."""
        write_examples(ctx, formatter)


class LazyGroup(Group):
    """All commands, which are imported when they are called; stores its arguments before they are parsed, since
    `sys.argv` may belong to another program.
    """

    def __init__(self, **given: Any) -> None:
        from weatherglass.cli.commands import LazyCommands

        super().__init__(**given)
        self._lazy = LazyCommands()
        self.commands: Any = self._lazy

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - click's signature
        """Their names, in the order of the help."""
        return list(self._lazy)

    def summary(self, name: str) -> str:
        """From the table: the help of all commands loads none of them."""
        return self._lazy.summary(name)

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
