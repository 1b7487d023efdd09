"""The command line: one file per group of commands; they parse arguments, call the library and print."""

from __future__ import annotations

import gc
import os
import sys
from typing import Annotated

import typer

from weatherglass.cli.command_line import App, LazyGroup
from weatherglass.cli.last_handler import exit_code_of

app = App(
    name="weatherglass",
    cls=LazyGroup,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run a command; a mistake or what nobody foresaw is one line on stderr, never a traceback."""
    # A command is short and makes few cycles; by Python's own threshold, looking for them took a thirtieth of a run.
    gc.set_threshold(100_000, 20, 50)
    # Idle threads of BLAS sleep after 2^20 cycles, not 2^26, which a short command spends on waiting for nothing.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    code = exit_code_of(app)
    # Nor is there anything to gain from two last looks for cycles as the process ends.
    gc.freeze()
    sys.exit(code)


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
