"""Define options that several commands share, make options from `Settings`, and complete names in a shell."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, fields
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from weatherglass.audit.settings import Settings
from weatherglass.cli.command import argument, flag, option, together
from weatherglass.errors import OutputError, WeatherglassError, unwritable
from weatherglass.registry import Registry, one_of
from weatherglass.stats import Budget

STARTUP = {
    "bash": ("~/.bashrc", 'eval "$(_WEATHERGLASS_COMPLETE=bash_source weatherglass)"'),
    "zsh": ("~/.zshrc", 'eval "$(_WEATHERGLASS_COMPLETE=zsh_source weatherglass)"'),
    "fish": (
        "~/.config/fish/completions/weatherglass.fish",
        "_WEATHERGLASS_COMPLETE=fish_source weatherglass | source",
    ),
}
"""The startup file of each shell, and the line in it that loads the completion."""


def names_in(place: str | Sequence[str]) -> Sequence[str]:
    """Return the names of a list, or of a table or registry given as "module:attribute" of weatherglass."""
    if not isinstance(place, str):
        return place
    module, _, attribute = place.partition(":")
    found = getattr(import_module(f"weatherglass.{module}"), attribute)
    return found.names() if isinstance(found, Registry) else list(found)


class Choice(click.Choice[str]):
    """A type for one of a closed list of names, which is loaded when a value is checked or completed."""

    def __init__(self, names: str | Sequence[str]) -> None:
        """Set up the type.

        Args:
            names: the names, or "module:attribute" of them, since their module may be slow to import.
        """
        self.place, self.case_sensitive = names, True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]  # click stores a tuple
        """Return the names."""
        return tuple(names_in(self.place))

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:  # noqa: ARG002 - click's signature
        """Return NAME, since the help text lists the names."""
        return "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:  # noqa: ARG002
        """Return the value.

        Raises:
            UnknownNameError: if the name is unknown; the message suggests the nearest one.
        """
        return one_of(max(param.opts, key=len) if param else "name", value, names_in(self.place))


class Completed(click.types.StringParamType):
    """A text type that a shell completes with the results of a function of the text typed so far."""

    def __init__(self, complete: Callable[[click.Context, str], Iterable[str]]) -> None:
        """Set up the type with the completion function."""
        self._complete = complete

    def shell_complete(self, ctx: click.Context, param: Any, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Return the completions of a text."""
        return [CompletionItem(text) for text in self._complete(ctx, incomplete)]


class Folder(click.Path):
    """A path type for which a shell offers only folders; the command itself checks the path."""

    def shell_complete(self, ctx: click.Context, param: Any, incomplete: str) -> list[CompletionItem]:  # noqa: ARG002
        """Leave the completion of folders to the shell."""
        return [CompletionItem(incomplete, type="dir")]


FILE, DIR = click.Path(path_type=Path), Folder(path_type=Path)


def listed(names: str | Sequence[str]) -> Completed:
    """Return a type for a text that begins with one of some names; the command itself checks the text."""
    return Completed(lambda _, start: starting(start, names_in(names)))


def comma_separated(names: str | Sequence[str]) -> Completed:
    """Return a type for names separated by commas."""

    def complete(_: click.Context, incomplete: str) -> list[str]:
        before, comma, start = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in starting(start, names_in(names))]

    return Completed(complete)


def complete_tests(_: click.Context, incomplete: str) -> list[str]:
    """Return names of tests, topics and files."""
    from weatherglass.catalogue import list_topics
    from weatherglass.catalogue.published import catalogue_names

    return starting(incomplete, [*catalogue_names(), *list_topics()]) + paths(incomplete)


def complete_topics(_: click.Context, incomplete: str) -> list[str]:
    """Return topics of the catalogue."""
    from weatherglass.catalogue import list_topics

    return starting(incomplete, list_topics())


def complete_metrics(_: click.Context, incomplete: str) -> list[str]:
    """Return metrics, and every similarity/statistic of WEAT."""
    from weatherglass.metrics import METRICS
    from weatherglass.metrics.weat.association import known_associations

    return starting(incomplete, [*METRICS.names(), *map(str, known_associations())])


def complete_models(_: click.Context, incomplete: str) -> list[str]:
    """Return presets, kinds of models with a colon, and files, also after NAME=; return transforms after a bar."""
    from weatherglass.encoders import known_kinds
    from weatherglass.encoders.spec import PRESETS

    model, bar, transform = incomplete.rpartition("|")
    if bar:
        blank = transform[: len(transform) - len(transform.lstrip())]
        found = starting(transform.lstrip(), names_in("mitigation.spelling:TRANSFORMS"))
        return [f"{model}{bar}{blank}{one}" for one in found]
    name, equals, rest = incomplete.rpartition("=")
    kinds = [one if kind.example == one else f"{one}:" for one, kind in known_kinds().items()]
    found = starting(rest, [*PRESETS, *kinds]) + paths(rest)
    return [f"{name}{equals}{one}" for one in found]


def complete_tests_of_run(ctx: click.Context, incomplete: str) -> list[str]:
    """Return the tests in the folder of the run that is the first argument."""
    try:
        record = json.loads((Path(ctx.params["run"]) / "run.json").read_text(encoding="utf-8"))
        return starting(incomplete, list(record["tests"]))
    except (OSError, ValueError, KeyError, TypeError):
        return complete_tests(ctx, incomplete)


def starting(incomplete: str, names: Iterable[str]) -> list[str]:
    """Return the names that begin with the incomplete text."""
    return [name for name in names if name.startswith(incomplete)]


def paths(incomplete: str) -> list[str]:
    """Return files and folders whose path begins with the text; return none for an empty text, so that names are not
    hidden.
    """
    if not incomplete:
        return []
    folder, _, start = incomplete.rpartition("/")
    try:
        names = sorted(
            path.name for path in Path(folder or "/" * incomplete.startswith("/") or ".").iterdir()
        )
    except OSError:
        return []
    return [incomplete[: len(incomplete) - len(start)] + name for name in names if name.startswith(start)]


def show_completion() -> None:
    """Print the line that loads the completion in the user's shell."""
    click.echo(STARTUP[_shell()][1])


def install_completion() -> None:
    """Add the line that loads the completion to the startup file of the user's shell.

    Raises:
        OutputError: if the file cannot be written.
    """
    place, line = STARTUP[_shell()]
    path = Path(place).expanduser()
    try:
        present = path.read_text(encoding="utf-8") if path.is_file() else ""
        if line not in present.splitlines():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file:
                file.write(f"{line}\n" if present.endswith("\n") or not present else f"\n{line}\n")
    except (OSError, UnicodeDecodeError) as error:
        raise OutputError(unwritable(path, error)) from error
    click.echo(f"{path}: completion is set up; open a new shell to use it")


def _shell() -> str:
    name = Path(os.environ.get("SHELL", "")).name
    if name not in STARTUP:
        raise OutputError(f"$SHELL is '{name}', which has no completion; use bash, zsh or fish")
    return name


DEFAULT_BUDGET = "2s,1GB"
NUMBER = r"(\d{0,12}\.?\d{1,12})"
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}
OUTPUT, WHERE = "Output", "Where it runs"
"""Groups of options in the help."""

AT_LEAST_1 = click.IntRange(min=1)
TEST, METRIC, MODEL = map(Completed, (complete_tests, complete_metrics, complete_models))
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
