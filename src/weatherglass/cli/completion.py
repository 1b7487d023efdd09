"""Complete names in a shell: closed lists, and names of tests, topics, metrics, models and files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from weatherglass.errors import OutputError, unwritable
from weatherglass.registry import Registry, one_of

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


def tests(_: click.Context, incomplete: str) -> list[str]:
    """Return names of tests, topics and files."""
    from weatherglass.catalogue import list_topics
    from weatherglass.catalogue.published import catalogue_names

    return starting(incomplete, [*catalogue_names(), *list_topics()]) + paths(incomplete)


def topics(_: click.Context, incomplete: str) -> list[str]:
    """Return topics of the catalogue."""
    from weatherglass.catalogue import list_topics

    return starting(incomplete, list_topics())


def metrics(_: click.Context, incomplete: str) -> list[str]:
    """Return metrics, and every similarity/statistic of WEAT."""
    from weatherglass.metrics import METRICS
    from weatherglass.metrics.weat.association import known_associations

    return starting(incomplete, [*METRICS.names(), *map(str, known_associations())])


def models(_: click.Context, incomplete: str) -> list[str]:
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


def tests_of_run(ctx: click.Context, incomplete: str) -> list[str]:
    """Return the tests in the folder of the run that is the first argument."""
    try:
        record = json.loads((Path(ctx.params["run"]) / "run.json").read_text(encoding="utf-8"))
        return starting(incomplete, list(record["tests"]))
    except (OSError, ValueError, KeyError, TypeError):
        return tests(ctx, incomplete)


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
