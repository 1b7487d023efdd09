"""The command line: one file per group of commands; they parse arguments, call the library and print."""

from __future__ import annotations

import sys
import warnings
from typing import Annotated, TextIO

import typer

from weatherglass.cli.command_line import App, LazyGroup
from weatherglass.errors import DamageWarning, RenamedWarning, WeatherglassError

app = App(
    name="weatherglass",
    cls=LazyGroup,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run a command; a user's mistake is one line on stderr, never a traceback, and so is an old name."""
    with warnings.catch_warnings():
        warnings.simplefilter("once", RenamedWarning)
        warnings.showwarning = _print_warning
        try:
            app()
        except WeatherglassError as error:
            typer.echo(f"weatherglass: {error}", err=True)
            sys.exit(error.exit_code)


def _print_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Ours without the line of code that it came from, which is not the user's."""
    ours = issubclass(category, (RenamedWarning, DamageWarning))
    shown = (
        f"warning: {message}\n" if ours else warnings.formatwarning(message, category, filename, lineno, line)
    )
    print(shown, end="", file=file or sys.stderr)


def _print_version(requested: bool) -> None:
    if requested:
        from weatherglass import __version__

        typer.echo(f"weatherglass {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Measure social bias in embeddings, and how far each number can be trusted."""
