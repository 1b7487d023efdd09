"""Run the command line; commands parse arguments, call the library and print."""

from __future__ import annotations

import gc
import os
import sys

import click

from weatherglass.cli.command import LazyGroup, Option
from weatherglass.cli.errors import exit_code_of

COMMANDS = {
    "run": (
        "run:run",
        "Run association tests on models, and write effect sizes, p-values, a table and a report.",
    ),
    "report": (
        "stored:report",
        "Make a page, a table for a paper, or figures from one or more runs, or from a ranking audit.",
    ),
    "explain": (
        "stored:explain",
        "Print the steps from scores to effect size and p for one test, and what other tools would report.",
    ),
    "compare": (
        "stored:compare",
        "Show which effects changed between two runs, or between the models of one.",
    ),
    "verdict": ("stored:verdict", "Print what the tests of each topic show together, and why."),
    "explore": (
        "explore:explore",
        "Type words and watch effect size, exact p and interval change, on a page that this machine serves.",
    ),
    "multiverse": (
        "questions:multiverse",
        "Run every combination of reasonable choices, and test whether they change the conclusion.",
    ),
    "rank": (
        "rank:rank",
        "Measure whether the same text ranks the same under another name, in search, retrieval and screening.",
    ),
    "mitigate": (
        "questions:mitigate",
        "Fit transforms, write the changed vectors, and judge whether the mitigation worked.",
    ),
    "words": (
        "questions:words",
        "Show which of two attribute sets each word leans to, and whether facts agree (WEFAT, SC-WEAT).",
    ),
    "reliability": (
        "reliability:app",
        "Measure how reliable bias scores are over seeds, scoring rules and words (Du et al., 2021).",
    ),
    "calibrate": (
        "calibrate:calibrate",
        "Plant doses of a stereotype in a corpus, train on it, and show which metrics respond.",
    ),
    "reproduce": (
        "reproduce:app",
        "Run the procedure of a paper, and compare the results with its published numbers.",
    ),
    "tests": ("tests:app", "List, show, check, import and export tests, and make sentences from words."),
    "metrics": (
        "models:metrics",
        "List the metrics with the sets that they take, their range and their meaning.",
    ),
    "models": ("models:models", "List the kinds of models, and how to install and name each."),
    "try": (
        "models:try_model",
        "Show how a model reads texts, with their tokens, unknown words and nearest texts.",
    ),
    "encode": (
        "models:encode",
        "Write the vectors of a model, or the log-probabilities of tokens, to a file that 'run' reads.",
    ),
    "cache": ("models:cache", "Show or clear the cache of encodings."),
    "docs": ("manual:docs", "Print a page of the manual, or the list of its pages."),
}
"""The place of each command and the first paragraph of its help, in help order."""


def _answer(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    """Answer an option that needs no command, then exit."""
    if not asked or ctx.resilient_parsing:
        return
    if param.name == "version":
        from weatherglass import __version__

        click.echo(f"weatherglass {__version__}")
    else:
        from weatherglass.cli import options

        getattr(options, param.name or "")()
    ctx.exit()


def _flag(name: str, help: str) -> Option:
    return Option([name], is_flag=True, is_eager=True, expose_value=False, callback=_answer, help=help)


app = LazyGroup(
    COMMANDS,
    name="weatherglass",
    help="Measure social bias in embeddings, and how far each number can be trusted.",
    params=[
        _flag("--version", "Print the version."),
        _flag("--install-completion", "Make your shell complete commands, options and names."),
        _flag("--show-completion", "Print the line that --install-completion adds for your shell."),
    ],
    examples=("weatherglass run", "weatherglass run vectors:glove.txt -t 'weat*' -o first"),
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run a command; an error is printed as one line on stderr, without a traceback."""
    # A command is short and makes few cycles; with Python's default threshold, searching them took 3 % of a run.
    gc.set_threshold(100_000, 20, 50)
    # Idle threads of BLAS sleep after 2^20 cycles; a short command would spend the default of 2^26 waiting.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "20")
    code = exit_code_of(app)
    # The garbage collector has nothing to gain as the process ends.
    gc.freeze()
    sys.exit(code)
