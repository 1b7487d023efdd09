"""The n-th call that changes the folder fails: one line, nothing lost, nothing half-written, and the next run is whole.

`pytest -m large -s tests/faults/test_failing_calls.py` tries each n of a run and of commands that write few files, 20
of each other command, and prints what failed and with which exit code each command ended.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
from tests.faults.commands import ALL_COMMANDS, COMMANDS, WRITERS, Server
from tests.faults.conftest import Undisturbed
from tests.faults.test_full_disk import assert_nothing_half_written

EXIT_CODES = (0, 1, 2, 3)
"""Those of docs/cli.md without 4, which is for mistakes of ours; 0 where the call was not needed, as for a lock."""
MOST_CALLS = 10_000


class Failing:
    """A command whose n-th change of its folder fails."""

    def __init__(self, name: str, server: Server, data: Path, expected: Undisturbed, home: Path) -> None:
        self.command, self.server, self.data, self.expected = ALL_COMMANDS[name], server, data, expected
        self.folder, self.seen = home / "failing", home / "seen"
        self.ends: Counter[tuple[str, int]] = Counter()
        """How often a call of a kind failed and the command ended with an exit code."""

    def fails_at(self, number: int) -> bool:
        """Let a call fail in a fresh folder, look at what is left, and finish; False if there are fewer calls."""
        folder, command = self.folder, self.command
        folder.mkdir()
        self.seen.unlink(missing_ok=True)
        words = command.of(self.data, folder)
        failing = {"fail_at": number, "below": str(folder), "seen": str(self.seen)}
        ended = self.server.run(*words, cwd=self.data, **failing)
        if not self.seen.exists():
            shutil.rmtree(folder)
            return False
        call, _, path = self.seen.read_text(encoding="utf-8").partition(" ")
        where = f"call {number}, {call} {path}: {ended}"
        self.ends[call, ended.code] += 1
        assert ended.code in EXIT_CODES, where
        assert "Traceback" not in ended.err, where
        assert ended.code == 0 or ended.err.splitlines()[-1].startswith("weatherglass"), where
        if call != "os.remove":  # what cannot be removed is removed by the next run
            assert_nothing_half_written(folder)
        before = command.finished(folder)
        if ended.code == 0:
            assert command.numbers(folder) == self.expected.numbers, where
        if (
            ended.code == 0 and self.expected.results == 0
        ):  # all is written; some commands write no file a second time
            shutil.rmtree(folder)
            return True
        ended = self.server.run(*words, cwd=self.data)
        after = command.finished(folder)
        assert ended.code == 0, f"{where}, then {ended}"
        assert all(after.get(key) == content for key, content in before.items()), where
        assert command.numbers(folder) == self.expected.numbers, where
        assert_nothing_half_written(folder)
        shutil.rmtree(folder)
        return True

    def calls(self) -> int:
        """How many calls there are: the last that can fail, found by doubling and halving."""
        last, first_too_many = 1, 2
        while first_too_many < MOST_CALLS and self.fails_at(first_too_many):
            last, first_too_many = first_too_many, 2 * first_too_many
        while first_too_many - last > 1:
            middle = (last + first_too_many) // 2
            last, first_too_many = (middle, first_too_many) if self.fails_at(middle) else (last, middle)
        return last


@pytest.fixture
def failing(
    request: pytest.FixtureRequest,
    server: Server,
    data: Path,
    undisturbed: Callable[[str], Undisturbed],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Failing]:
    made = Failing(request.param, server, data, undisturbed(request.param), tmp_path)
    yield made
    with capsys.disabled():
        if request.node.get_closest_marker("large"):
            print(f"\n{request.param}: {dict(made.ends)}")  # noqa: T201


@pytest.mark.parametrize("failing", ["run"], indirect=True)
@pytest.mark.parametrize("number", [1, 4, 9])
def test_a_call_that_fails_loses_and_changes_nothing(failing: Failing, number: int) -> None:
    assert failing.fails_at(number)


@pytest.mark.large
@pytest.mark.parametrize("failing", ["run", *WRITERS], indirect=True)
def test_each_call_of_a_short_command_may_fail(failing: Failing) -> None:
    number = 1
    while failing.fails_at(number):
        number += 1
    assert number > 3


@pytest.mark.large
@pytest.mark.parametrize("failing", [name for name in COMMANDS if name != "run"], indirect=True)
def test_twenty_calls_of_a_long_command_may_fail(failing: Failing) -> None:
    last = failing.calls()
    for number in sorted(Random(0).sample(range(1, last + 1), min(20, last))):
        assert failing.fails_at(number)
