"""The table of commands: where each is defined, and its line of the help; a command is imported when it is called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import typer

from weatherglass.cli.command_line import App
from weatherglass.cli.exit_codes import state_exit_codes


@dataclass(frozen=True, slots=True)
class Entry:
    """A command, or a group of commands."""

    place: str
    """module:name below weatherglass.cli, of a function or of an App."""
    summary: str
    """The first sentence of its help, so that listing all commands imports none of them."""


COMMANDS: Mapping[str, Entry] = {
    "run": Entry(
        "run:run",
        "Run association tests on models: effect sizes, p-values, correction, a table and a report.",
    ),
    "report": Entry("report:report", "Make a page, a table for a paper, or figures from one or more runs."),
    "explain": Entry(
        "explain:explain",
        "Print the steps from scores to effect size and p for one test, and what other tools would report.",
    ),
    "compare": Entry(
        "compare:compare",
        "Show which effects changed between two runs or the models of one, with intervals, and what has no "
        "counterpart.",
    ),
    "multiverse": Entry(
        "multiverse:multiverse",
        "Run every combination of sensible choices, and test whether the conclusion hangs on one of them.",
    ),
    "verdict": Entry(
        "verdict:verdict",
        "Say what the tests of each topic show together, and why: shown, suggested, cannot tell, …",
    ),
    "mitigate": Entry(
        "mitigate:mitigate",
        "Fit transforms on named words; write the changed vectors, and judge whether the cure worked.",
    ),
    "words": Entry(
        "words:words",
        "To which of two attribute sets single words lean, with exact p, and whether facts agree (WEFAT, SC-WEAT).",
    ),
    "metrics": Entry(
        "metrics:metrics",
        "List every metric: the sets it takes, its range, its value without bias, what more of it means, its source.",
    ),
    "models": Entry(
        "models:models",
        "List every kind of model: what it is, whether it is installed, how to install it, and an example.",
    ),
    "try": Entry(
        "models:try_model",
        "Show how a model reads texts: tokens, out-of-vocabulary words, and which texts are near each other.",
    ),
    "encode": Entry(
        "models:encode",
        "Write a model's vectors to a file, to use as `encodings:FILE`, also on another machine.",
    ),
    "docs": Entry("docs:docs", "Print a page of the manual; without a topic, list them."),
    "tests": Entry("tests:app", "The tests: list, show, export, and make sentences from words."),
    "reproduce": Entry(
        "reproduce:app", "Reproduce a paper: run its procedure, and show its numbers beside ours."
    ),
    "cache": Entry("models:cache_app", "The cache of encodings: show it or clear it."),
    "reliability": Entry(
        "reliability:app",
        "How far can a bias score be trusted? Over seeds, scoring rules and words (Du et al., 2021).",
    ),
}
"""In the order of the help."""


class LazyCommands(Mapping[str, Any]):
    """The commands of the table by name, each built when it is first asked for."""

    def __init__(self) -> None:
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            self._built[name] = _built(name, COMMANDS[name])
        return self._built[name]

    def __contains__(self, name: object) -> bool:
        return name in COMMANDS

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)

    def summary(self, name: str) -> str:
        """Its line of the help."""
        return COMMANDS[name].summary


def _built(name: str, entry: Entry) -> Any:
    """The command as click takes it."""
    module, _, attribute = entry.place.partition(":")
    defined = getattr(import_module(f"weatherglass.cli.{module}"), attribute)
    if isinstance(defined, App):
        state_exit_codes(defined, (name,))
        command: Any = typer.main.get_group(defined)
        command.name = name
        return command
    alone = App(add_completion=False)
    alone.command(name)(defined)
    state_exit_codes(alone)
    return typer.main.get_command(alone)
