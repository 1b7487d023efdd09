"""Define options that several commands share, and make options from `Settings`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from functools import wraps
from pathlib import Path
from typing import Any

import click

from weatherglass.audit.settings import Settings
from weatherglass.cli import completion
from weatherglass.cli.command import argument, flag, option, together
from weatherglass.cli.completion import DIR, Choice, Completed
from weatherglass.errors import WeatherglassError
from weatherglass.stats import Budget

DEFAULT_BUDGET = "2s,1GB"
NUMBER = r"(\d{0,12}\.?\d{1,12})"
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
OUTPUT, WHERE = "Output", "Where it runs"
"""Groups of options in the help."""

AT_LEAST_1 = click.IntRange(min=1)
TEST, METRIC, MODEL = map(Completed, (completion.tests, completion.metrics, completion.models))
MODEL_HELP = "The model: a path, a preset or kind:target?option=value, as for 'weatherglass run'."
TESTS_HELP = "Name, glob, topic, folder or file of tests (.toml, .jsonl, .csv, .xlsx); repeat for several."

json_option = flag("--json", "as_json", help="Print JSON.", group=OUTPUT)
quiet_option = flag("--quiet", "-q", help="Do not print progress and results.", group=OUTPUT)
verbose_option = flag("--verbose", help="Print every warning in full.", group=OUTPUT)
alpha_option = option("--alpha", type=float, default=0.05, metavar="P", help="Significance level.")
size_option = option(
    "--size",
    metavar="SIZE",
    help="Size of figures: one-column, two-columns, a width such as 12cm, or both such as 16x9cm or 6.3x4in.",
)
jobs_option = option(
    "--jobs", type=AT_LEAST_1, default=1, metavar="N", help="Number of processes.", group=WHERE
)
scheduler_option = option(
    "--scheduler",
    metavar="ADDRESS",
    help=(
        "Address of a Dask cluster (tcp://HOST:PORT or a scheduler file), or ENGINE:ADDRESS with an "
        "engine of another package."
    ),
    group=WHERE,
)
shared_dir_option = option(
    "--shared-dir",
    type=DIR,
    metavar="DIR",
    help="Folder that all machines of the cluster can read and write.",
    group=WHERE,
)
where_it_runs = together(jobs_option, scheduler_option, shared_dir_option)
run_argument = argument("run", type=DIR, metavar="RUN", help="Folder of a run.")


def models_argument(help: str) -> Callable[[Any], Any]:
    """Return the argument `models`, which may be given any number of times."""
    return argument("models", type=MODEL, nargs=-1, metavar="[MODEL]...", help=help)


def repeated_tests(
    default: Sequence[str] = ("*",), help: str = TESTS_HELP, metavar: str = "TEST", group: str = ""
) -> Callable[[Any], Any]:
    """Return the option `-t`, which can be repeated."""
    names = ("-t", "--test", "tests")
    return option(*names, type=TEST, multiple=True, default=default, metavar=metavar, help=help, group=group)


def repeated_metrics(group: str, help: str, default: str = "cosine/mean") -> Callable[[Any], Any]:
    """Return the option `-m`, which can be repeated."""
    return option(
        "-m",
        "--metric",
        "metrics",
        type=METRIC,
        multiple=True,
        default=[default],
        metavar="METRIC",
        help=help,
        group=group,
    )


def folder_option(default: str, help: str, name: str = "folder") -> Callable[[Any], Any]:
    """Return the option `-o` for a folder."""
    return option("-o", "--output", name, type=DIR, default=default, metavar="DIR", help=help, group=OUTPUT)


def contexts_options(group: str = "") -> Callable[[Any], Any]:
    """Return the options `--contexts` and `--per-word`."""
    return together(
        option(
            "--contexts",
            type=click.Path(path_type=Path),
            metavar="CORPUS",
            help="Encode each word in sentences of this corpus (text, .zst, parquet, a folder, or contexts.json of a "
            "run), and average its vectors.",
            group=group,
        ),
        option(
            "--per-word",
            type=AT_LEAST_1,
            default=100,
            show_default=True,
            metavar="N",
            help="Largest number of sentences per word, with --contexts.",
            group=group,
        ),
    )


def settings_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add an option for every field of `Settings` to a command, and call the command with checked `settings`."""

    @wraps(command)
    def called(**given: Any) -> None:
        from weatherglass.audit.settings import chosen_settings

        context = click.get_current_context()
        chosen = {each.name: given.pop(each.name) for each in fields(Settings)}
        # A profile has its own defaults, so only the options that were given count.
        stated = {
            name: value
            for name, value in chosen.items()
            if context.get_parameter_source(name) is not click.core.ParameterSource.DEFAULT
        }
        command(settings=chosen_settings(None, stated), **given)

    with_options: Callable[..., None] = called
    for field in reversed(fields(Settings)):  # the help lists the option that was added last first
        with_options = _setting(field)(with_options)
    return with_options


def _setting(field: Field[Any]) -> Callable[[Any], Any]:
    """Return the option of a field, with its name, type, default and help."""
    about, kind = field.metadata, str(field.type).removesuffix(" | None")
    shown: dict[str, Any] = {"metavar": "FILE"}
    if about["choices"]:
        shown = {"type": Choice(about["choices"])}
    elif kind == "Budget":
        shown = {"callback": lambda _, __, text: parse_budget(text), "metavar": "SECONDS,MEMORY"}
    elif kind == "int":
        shown = {"type": click.IntRange(**about["range"]), "metavar": "N"}
    elif kind == "float":
        shown = {"type": float, "metavar": "NUMBER"}
    default = DEFAULT_BUDGET if kind == "Budget" else field.default
    return option(
        f"--{field.name.replace('_', '-')}", default=default, show_default=default is not None,
        help=about["help"], group=about["group"], **shown,
    )  # fmt: skip


def parse_budget(text: str) -> Budget:
    """Return a text like `2s,1GB` as seconds and bytes.

    >>> parse_budget("0.5s,300MB")
    Budget(seconds=0.5, bytes=300000000)

    Raises:
        WeatherglassError: if the text has another form.
    """
    match = re.fullmatch(rf"\s*{NUMBER}\s*s?\s*,\s*{NUMBER}\s*([KMG]?)B?\s*", text, re.IGNORECASE)
    if match is None:
        raise WeatherglassError(f"the budget '{text}' should be SECONDS,MEMORY, such as 2s,1GB")
    return Budget(float(match[1]), int(float(match[2]) * UNITS[match[3].upper()]))
