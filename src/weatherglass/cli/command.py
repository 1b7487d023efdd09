"""Build commands on click, with grouped options, help that does not break words, examples and lazy imports."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from weatherglass.cli.errors import EXIT_CODES
from weatherglass.registry import unknown

KEY = "weatherglass.command"
WIDEST_NAME = 28
"""The number of columns for an option's name in the help; the text of a wider name begins on the next line."""
GROUPS_FROM = 12
"""The number of parameters from which the help lists them in groups."""


class Formatter(click.HelpFormatter):
    """A formatter that breaks lines of help only between words, whereas click also breaks names at hyphens."""

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        indent = " " * self.current_indent
        paragraphs = (self._lines(paragraph, indent) for paragraph in text.split("\n\n"))
        self.write("\n\n".join(map("\n".join, paragraphs)) + "\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = WIDEST_NAME, col_spacing: int = 2
    ) -> None:
        """Write names and their texts in two columns."""
        rows = list(rows)
        indent = " " * (self.current_indent + min(col_max, max(len(name) for name, _ in rows)) + col_spacing)
        for name, text in rows:
            first, *further = self._lines(text, indent) or [""]
            head = " " * self.current_indent + name
            fits = len(head) + col_spacing <= len(indent)
            lines = [head.ljust(len(indent)) + first.strip()] if fits else [head, first]
            self.write("\n".join([*lines, *further]).rstrip() + "\n")

    def _lines(self, text: str, indent: str) -> list[str]:
        return textwrap.wrap(
            text,
            self.width,
            initial_indent=indent,
            subsequent_indent=indent,
            break_long_words=False,
            break_on_hyphens=False,
        )


class HelpContext(click.Context):
    """A context that uses `Formatter`."""

    formatter_class = Formatter


class Option(click.Option):
    """An option that the help lists in a group, with its default."""

    def __init__(self, *names: Any, group: str = "", **given: Any) -> None:
        shown = bool(given.get("default")) and not given.get("is_flag")
        super().__init__(*names, **{"show_default": shown, **given})
        self.group = group

    def get_help_extra(self, ctx: click.Context) -> click.types.OptionHelpExtra:
        """Return the default without the range, which click shows as x>=1; error messages state the range."""
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        return extra


class Argument(click.Argument):
    """An argument with a help text, which click supports from version 8.5."""

    def __init__(self, *names: Any, help: str, **given: Any) -> None:
        super().__init__(*names, **given)
        self.about = help

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Return the name and the text of the argument in the help."""
        return self.make_metavar(ctx), self.about


option = partial(click.option, cls=Option)
flag = partial(option, is_flag=True)
file_option = partial(option, type=click.Path(path_type=Path), metavar="FILE")
argument = partial(click.argument, cls=Argument)


def together(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return one decorator that adds several options to a command."""

    def add(command: Any) -> Any:
        for one in reversed(options):
            command = one(command)
        return command

    return add


class Command(click.Command):
    """A command whose help shows its options in groups and ends with examples."""

    context_class = HelpContext

    def __init__(self, *given: Any, examples: Sequence[str], **more: Any) -> None:
        super().__init__(*given, **more)
        self.examples = examples

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write arguments and options by group, in the order of their declaration."""
        groups: dict[str, list[tuple[str, str]]] = {}
        parameters = self.get_params(ctx)
        in_groups = len(parameters) >= GROUPS_FROM
        for parameter in parameters:
            if record := parameter.get_help_record(ctx):
                kind = "Arguments" if isinstance(parameter, Argument) else "Options"
                group = getattr(parameter, "group", "") if in_groups else ""
                groups.setdefault(group or kind, []).append(record)
        if len(groups["Options"]) == 1:  # a group with only --help comes last
            groups["Options"] = groups.pop("Options")
        for title, records in groups.items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """Write the examples, each on one line, so that they can be copied."""
        _write_examples(self.examples, formatter)


def _write_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    with formatter.section("Example" if len(examples) == 1 else "Examples"):
        formatter.write("".join(f"{'':{formatter.current_indent}}{example}\n" for example in examples))


command = partial(click.command, cls=Command)


class CommandGroup(click.Group):
    """A group of commands, listed with the first paragraph of their help."""

    context_class = HelpContext
    command_class = Command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in full; click would cut their texts at the line width, or after "et al."."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.summary(ctx, name)) for name in self.list_commands(ctx)])

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of declaration."""
        return list(self.commands)

    def summary(self, ctx: click.Context, name: str) -> str:
        """Return the text of a command in the list."""
        found = self.get_command(ctx, name)
        return first_paragraph((found and found.help) or "")

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command.

        Raises:
            UnknownNameError: if the command is unknown; the message suggests the nearest one.
        """
        found = super().get_command(ctx, cmd_name)
        if found is None and not cmd_name.startswith("-") and not ctx.resilient_parsing:
            raise unknown("command", cmd_name, self.list_commands(ctx))
        return found


def first_paragraph(text: str) -> str:
    """Return the first paragraph of a help text in one line."""
    return " ".join(text.strip().split("\n\n")[0].split())


class LazyGroup(CommandGroup):
    """The program; a command is imported when it is called, and the help imports no command."""

    def __init__(
        self, places: Mapping[str, tuple[str, str]], examples: Sequence[str] = (), **given: Any
    ) -> None:
        """Set up the program.

        Args:
            places: for each command, "module:attribute" in weatherglass.cli and the first paragraph of its help.
            examples: examples of the whole program.
            given: arguments of click.
        """
        super().__init__(**given)
        self.places, self.examples = places, examples

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names in the order of the table."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command at its first use, and return it."""
        if cmd_name not in self.places:
            return super().get_command(ctx, cmd_name)
        module, _, attribute = self.places[cmd_name][0].partition(":")
        found: click.Command = getattr(import_module(f"weatherglass.cli.{module}"), attribute)
        return found

    def summary(self, ctx: click.Context, name: str) -> str:  # noqa: ARG002
        """Return the text of a command in the table."""
        return self.places[name][1]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the exit codes of all commands, followed by examples."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), meaning) for code, meaning in EXIT_CODES.items()])
        _write_examples(self.examples, formatter)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as usual, and keep the arguments for the record of a run; `sys.argv` may be another program's.

        Raises:
            click.UsageError: if an argument is not UTF-8, which the record of a run and its page could not contain.
        """
        for argument in args:
            try:
                argument.encode()
            except UnicodeEncodeError:
                ctx.fail(f"the argument {argument!a} is not UTF-8; rename the file or folder")
        ctx.meta[KEY] = ("weatherglass", *args)
        return super().parse_args(ctx, args)


def command_line() -> tuple[str, ...]:
    """Return the program name and arguments of the running command."""
    words: tuple[str, ...] = click.get_current_context().meta[KEY]
    return words
