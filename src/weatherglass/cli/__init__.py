"""The command line: one file per group of commands; they parse arguments, call the library and print."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from weatherglass.cli import models, reliability, reproduce, tests
from weatherglass.cli.command_line import App, RememberingGroup
from weatherglass.cli.compare import compare
from weatherglass.cli.docs import docs
from weatherglass.cli.exit_codes import state_exit_codes
from weatherglass.cli.explain import explain
from weatherglass.cli.last_handler import exit_code_of
from weatherglass.cli.metrics import metrics
from weatherglass.cli.mitigate import mitigate
from weatherglass.cli.multiverse import multiverse
from weatherglass.cli.reliability_audit import audit
from weatherglass.cli.reliability_explain import explain as explain_study
from weatherglass.cli.reliability_word import word
from weatherglass.cli.report import report
from weatherglass.cli.run import run
from weatherglass.cli.verdict import verdict
from weatherglass.cli.words import words

app = App(
    name="weatherglass",
    cls=RememberingGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: loading rich takes as long as all the rest of it
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(run)
app.command()(report)
app.command()(explain)
app.command()(compare)
app.command()(multiverse)
app.command()(verdict)
app.command()(mitigate)
app.add_typer(tests.app, name="tests")
app.add_typer(reproduce.app, name="reproduce")
app.command("words")(words)
app.command("metrics")(metrics)
app.command("models")(models.models)
app.command("try")(models.try_model)
app.command("encode")(models.encode)
app.add_typer(models.cache_app, name="cache")
app.command("docs")(docs)
reliability.app.command("explain")(explain_study)
reliability.app.command("word")(word)
reliability.app.command("audit")(audit)
app.add_typer(reliability.app, name="reliability")

state_exit_codes(app)


def main() -> None:
    """Run a command; a mistake, an old name or what nobody foresaw is one line on stderr, never a traceback."""
    sys.exit(exit_code_of(app))


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
