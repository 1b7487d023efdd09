"""A class of inputs: good samples of it, what reads them, and what a reader may not overlook."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tests.hostile.mutations import CONTENT, Mutation, damaged

Read = Callable[[Path], "Reading"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader gave for an input that it did not refuse."""

    value: Any
    """All that is used of it, in a form that can be compared."""
    warned: bool = False
    """Whether the user is told that something may be wrong."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A good input: a file, or a folder of files."""

    files: Mapping[str, bytes]
    """By their names; the first is the one that is read, unless `main` names another."""
    content: Mapping[str, Mutation] = field(default_factory=dict)
    """For some of the files: changes the content and packs it as it should be."""
    main: str = ""
    """What is read: a file's name, or "." for the folder."""
    text: bool = True
    """Whether the files are text, so that tokens and lines are changed, too."""

    @property
    def read_from(self) -> str:
        """Below the folder of the sample."""
        return self.main or next(iter(self.files))

    def hostile(self, random: Random) -> tuple[str, str, bytes]:
        """Which file is changed, what was done to it, and its bytes."""
        name = random.choice(list(self.files))
        if name in self.content and random.random() < 0.5:
            return name, CONTENT, self.content[name](random, self.files[name])
        kind, changed = damaged(random, self.files[name], self.text)
        return name, kind, changed


def nothing_wrong(_sample: Sample, _before: Reading, _after: Reading, _kind: str) -> str:
    """For formats in which every text is some other text."""
    return ""


Check = Callable[[Sample, Reading, Reading, str], str]
"""What is silently wrong: of a sample, its reading before, the reading of the changed one, and what was done."""


def same_after(*kinds: str) -> Check:
    """Changes of these kinds are noticed by the format: refused, warned of, or without effect on what is read."""

    def check(_sample: Sample, before: Reading, after: Reading, kind: str) -> str:
        unnoticed = kind in kinds and not after.warned and after.value != before.value
        return f"other numbers after {kind}, without a word" if unnoticed else ""

    return check


@dataclass(frozen=True, slots=True)
class Target:
    """A row of the table."""

    name: str
    """The class of inputs, as the table names it."""
    samples: Callable[[Path], Sequence[Sample]]
    """The good inputs; the folder is for those that can only be written to files."""
    read: Read
    check: Check = nothing_wrong
    group: str = "text"
    """Classes of one group share a process: what they import is imported once."""
    child_imports: tuple[str, ...] = ()
    """Modules of the child process that reads its files (`child_server.py`)."""
    weight: int = 1
    """How many times as much time as the others it has: inputs of some classes cannot be tried in milliseconds."""
