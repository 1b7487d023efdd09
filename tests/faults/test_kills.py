"""kill -9 at random moments: what was finished stays, and the end is that of a run that nobody disturbed.

`pytest -m large -s tests/faults/test_kills.py` kills each command 50 times and prints the table.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from tests.faults.commands import ALL_COMMANDS, CHEAP, COMMANDS, WRITERS, Command, Ended, Server, left_over
from tests.faults.conftest import Undisturbed

from weatherglass.encoders.base import Asked, Coverage, Encoding
from weatherglass.encoders.cache import EncodingCache

LONGEST_CHAIN = 4
"""So many times a command is killed in one folder, at most, before it may end."""


@dataclass
class Tally:
    """What became of a command that was killed."""

    kills: int = 0
    again: int = 0
    """Of these, kills of a command that went on after an earlier one."""
    before: int = 0
    """Kills before the first result, between results, and after the last one, while tables and pages are made."""
    between: int = 0
    after: int = 0
    ends: int = 0
    """How often it came to its end."""
    lost: int = 0
    """Finished work that was gone afterwards, changed, or done a second time."""
    changed: int = 0
    """Ends with another file, or another content of a file, than the undisturbed command has."""
    left: int = 0
    """Half-written files at an end, and at any time files that were set aside as damaged."""
    orphans: int = 0
    traceback: int = 0

    @property
    def failures(self) -> dict[str, int]:
        names = ("lost", "changed", "left", "orphans", "traceback")
        return {name: count for name in names if (count := getattr(self, name))}

    def __str__(self) -> str:
        counts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return "".join(f"{name:>10}" for name in counts) + "\n" + "".join(f"{n:>10}" for n in counts.values())


class Disturbed:
    """A command in a folder, killed again and again; each time it goes on from where it was killed."""

    def __init__(
        self, command: Command, server: Server, data: Path, expected: Undisturbed, folder: Path
    ) -> None:
        self.command, self.server, self.data, self.expected, self.folder = (
            command,
            server,
            data,
            expected,
            folder,
        )
        self.tally = Tally()
        self.chain = 0
        """Kills in this folder so far."""
        self.changes: dict[str, str] = {}
        """Files that were not as expected at an end, and from where on."""

    def go_on(self, **kill: Any) -> Ended:
        """Run it, perhaps to its kill; at its end look at all that it made, and remove it."""
        tally, command, folder = self.tally, self.command, self.folder
        folder.mkdir(exist_ok=True)
        before = command.finished(folder)
        ended = self.server.run(*command.of(self.data, folder), cwd=self.data, **kill)
        after = command.finished(folder)
        tally.lost += any(after.get(key) != content for key, content in before.items())
        tally.orphans += ended.orphans
        tally.traceback += "Traceback" in ended.err or (not ended.killed and ended.code != 0)
        if ended.killed:
            tally.kills += 1
            tally.again += self.chain > 0
            tally.before += not after
            tally.between += 0 < len(after) < self.expected.results
            tally.after += 0 < len(after) == self.expected.results
            tally.left += any(name.endswith(".damaged") for name in left_over(folder))
            self.chain += 1
            return ended
        tally.ends += 1
        tally.left += bool(left_over(folder))
        changed = differences(command.numbers(folder), self.expected.numbers)
        tally.changed += bool(changed)
        self.changes |= changed
        shutil.rmtree(folder)
        self.chain = 0
        return ended


def differences(found: Mapping[str, object], expected: Mapping[str, object]) -> dict[str, str]:
    """By the names of files: the first places at which their content is another."""
    changed = [name for name in {**found, **expected} if found.get(name) != expected.get(name)]
    return {name: _first_difference(repr(found.get(name)), repr(expected.get(name))) for name in changed}


def _first_difference(one: str, other: str) -> str:
    place = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return " / ".join(text[max(0, place - 40) : place + 40] for text in (one, other))


def kill_at_random_moments(disturbed: Disturbed, kills: int, seed: int = 0) -> Tally:
    """Moments evenly spread over the time that the command takes, in chains of some kills in one folder."""
    tally, expected = disturbed.tally, disturbed.expected
    rng = Random(seed)
    moments = [(number + rng.random()) / kills * expected.cpu_seconds for number in range(kills)]
    rng.shuffle(moments)
    longest = rng.randint(1, LONGEST_CHAIN)
    while tally.kills < kills:
        if not disturbed.go_on(kill_at=moments[tally.kills]).killed:
            moments[tally.kills] *= 0.9  # the last moments can come too late, also in a fresh folder
        if disturbed.chain == longest:
            disturbed.go_on()
            longest = rng.randint(1, LONGEST_CHAIN)
    if disturbed.chain:
        disturbed.go_on()
    return tally


def kill_before_writes(disturbed: Disturbed, step: int) -> Tally:
    """Kills just before the first, the (1 + step)-th, … change of a fresh folder, which is then finished."""
    number = 1
    while disturbed.go_on(kill_before=number, below=str(disturbed.folder)).killed:
        disturbed.go_on()
        number += step
    return disturbed.tally


@pytest.fixture
def disturbed(
    request: pytest.FixtureRequest,
    server: Server,
    data: Path,
    undisturbed: Callable[[str], Undisturbed],
    tmp_path: Path,
) -> Disturbed:
    name = request.param
    return Disturbed(ALL_COMMANDS[name], server, data, undisturbed(name), tmp_path / "killed")


@pytest.mark.parametrize("disturbed", CHEAP, indirect=True)
def test_a_killed_command_goes_on_and_ends_as_if_it_had_not_been_killed(disturbed: Disturbed) -> None:
    tally = kill_at_random_moments(disturbed, 2)
    assert (tally.kills, tally.failures) == (2, {}), disturbed.changes


@pytest.mark.large
@pytest.mark.parametrize("disturbed", COMMANDS, indirect=True)
def test_fifty_kills_lose_and_change_nothing(
    disturbed: Disturbed, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    tally = kill_at_random_moments(disturbed, 50)
    with capsys.disabled():
        print(f"\n{request.node.callspec.id}, killed at random moments\n{tally}")  # noqa: T201
    assert (tally.kills, tally.failures) == (50, {}), disturbed.changes


@pytest.mark.large
@pytest.mark.parametrize(
    ("disturbed", "step"),
    [
        *(("run", 1), ("reliability run", 7), ("multiverse", 1), ("mitigate", 2), ("rank", 1), ("report", 1)),
        ("calibrate", 7),
        ("run in contexts", 1),
        *((name, 1) for name in WRITERS),
    ],
    indirect=["disturbed"],
)
def test_a_kill_just_before_any_write_loses_and_changes_nothing(
    disturbed: Disturbed, step: int, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    """Between two writes that belong together there is little time, which random moments rarely meet."""
    tally = kill_before_writes(disturbed, step)
    with capsys.disabled():
        print(f"\n{request.node.callspec.id}, killed just before a write\n{tally}")  # noqa: T201
    assert tally.kills > (5 if disturbed.expected.results else 1)
    assert tally.failures == {}, disturbed.changes


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.large)])
def test_a_cache_that_is_cleared_is_whole_or_empty(
    kills: int, server: Server, data: Path, tmp_path: Path
) -> None:
    here: dict[str, Any] = {"environment": {"WEATHERGLASS_CACHE": str(tmp_path / "cache")}, "cwd": data}

    def cached() -> int:
        told = server.run("cache", "info", "--json", **here)
        assert told.code == 0, told.err
        return sum(model["texts"] for model in json.loads(told.out)["models"])

    texts: dict[Asked, Encoding] = {
        f"text {n}": Encoding(np.full(100, float(n)), Coverage(())) for n in range(500)
    }
    store = EncodingCache(tmp_path / "cache" / "encodings.sqlite")
    rng, killed = Random(0), 0
    while killed < kills:
        store.put("identity", "model", texts)
        ended = server.run("cache", "clear", kill_at=rng.random() * 0.1, **here)
        killed += ended.killed
        assert cached() in ((0, len(texts)) if ended.killed else (0,))
        assert not left_over(tmp_path)
    assert server.run("cache", "clear", **here).code == 0
    assert cached() == 0
