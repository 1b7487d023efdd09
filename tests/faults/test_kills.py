"""kill -9 at random moments: what was finished stays, and the end is that of a run that nobody disturbed.

`pytest -m large -s tests/faults/test_kills.py` kills each command 50 times and prints the table.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest
from tests.faults.commands import COMMANDS, NAMES, Ended, Server
from tests.faults.conftest import Undisturbed


@dataclass
class Tally:
    """What became of a command that was killed."""

    kills: int = 0
    ends: int = 0
    """How often it came to its end in between, or at last."""
    lost: int = 0
    changed: int = 0
    traceback: int = 0

    def __str__(self) -> str:
        counts = (self.kills, self.ends, self.lost, self.changed, self.traceback)
        return "".join(f"{count:>11}" for count in counts)


HEAD = f"{'command':16}" + "".join(
    f"{name:>11}" for name in ("kills", "ends", "lost", "changed", "traceback")
)


def disturb(name: str, kills: int, server: Server, data: Path, expected: Undisturbed, folder: Path) -> Tally:
    """Kill a command again and again; each time it goes on from where it was killed."""
    command, moments, tally = COMMANDS[name], Random(f"{name} {kills}"), Tally()

    def go_on(moment: float | None) -> Ended:
        folder.mkdir(exist_ok=True)
        before = command.finished(folder)
        ended = server.run(*command.of(data, folder), cwd=data, kill_at=moment)
        after = command.finished(folder)
        tally.lost += any(after.get(key) != content for key, content in before.items())
        tally.traceback += "Traceback" in ended.err or (not ended.killed and ended.code != 0)
        if not ended.killed:
            tally.ends += 1
            tally.changed += command.numbers(folder) != expected.numbers
        return ended

    while tally.kills < kills:
        if go_on(moments.uniform(0, expected.cpu_seconds)).killed:
            tally.kills += 1
        else:
            shutil.rmtree(folder)
    go_on(None)
    return tally


@pytest.mark.parametrize("name", NAMES)
def test_a_killed_command_goes_on_and_ends_as_if_it_had_not_been_killed(
    name: str, server: Server, data: Path, undisturbed: Callable[[str], Undisturbed], tmp_path: Path
) -> None:
    tally = disturb(name, 2, server, data, undisturbed(name), tmp_path / "killed")
    assert (tally.kills, tally.lost, tally.changed, tally.traceback) == (2, 0, 0, 0)


@pytest.mark.large
@pytest.mark.parametrize("name", COMMANDS)
def test_fifty_kills_lose_and_change_nothing(
    name: str,
    server: Server,
    data: Path,
    undisturbed: Callable[[str], Undisturbed],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tally = disturb(name, 50, server, data, undisturbed(name), tmp_path / "killed")
    with capsys.disabled():
        print(f"\n{HEAD}\n{name:16}{tally}")  # noqa: T201
    assert (tally.kills, tally.lost, tally.changed, tally.traceback) == (50, 0, 0, 0)
