"""Folders that are read-only, gone or in use, memory that runs out, clocks that jump: one line, and nothing is lost."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from tests.faults.commands import CHEAP, COMMANDS, NAMES, QUICK, Ended, Server
from tests.faults.conftest import Disk, Undisturbed
from tests.messages import mentions

from weatherglass.cli.progress import Log


def assert_one_line(ended: Ended, code: int) -> None:
    assert ended.code == code, ended
    assert ended.err.count("\n") == 1, ended.err
    assert len(ended.err) <= 301
    assert ended.err.startswith("weatherglass: ")


@pytest.mark.parametrize("name", CHEAP)
def test_a_read_only_folder_is_one_line_and_stays_as_it_is(
    name: str,
    server: Server,
    data: Path,
    undisturbed: Callable[[str], Undisturbed],
    disk: Callable[[int], Disk],
) -> None:
    """Root may write everywhere, but not to a file system that is read-only."""
    command, place = COMMANDS[name], disk(65_536)
    folder = place.place / "made-before"
    folder.mkdir()
    ended = server.run(*command.of(data, folder), cwd=data, kill_at=undisturbed(name).cpu_seconds / 2)
    before = command.finished(folder)
    place.remount("ro")
    assert_one_line(server.run(*command.of(data, folder), cwd=data), 2)
    assert_one_line(server.run(*command.of(data, place.place / "new"), cwd=data), 2)
    place.remount("rw")
    assert command.finished(folder) == before
    ended = server.run(*command.of(data, folder), cwd=data)
    assert ended.code == 0, ended.err
    assert command.numbers(folder) == undisturbed(name).numbers


def start(arguments: list[str], cwd: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-m", "weatherglass", *arguments],
        cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


LOCKS = {
    **dict.fromkeys(
        ("run", "run in contexts", "reliability run", "multiverse", "rank", "calibrate"), ".lock"
    ),
    "mitigate": "judged/run/.lock",
}
"""The lock of each command that has one; report has none, since it replaces a single file."""
LOCKING = [name if name == QUICK else pytest.param(name, marks=pytest.mark.large) for name in LOCKS]


def is_locked(path: Path) -> bool:
    """Return whether a process has locked the file; the file exists a moment earlier."""
    inode = f":{path.stat().st_ino} " if path.exists() else "no file"
    return inode in Path("/proc/locks").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", LOCKING)
def test_a_second_writer_is_told_so_and_the_first_loses_nothing(
    name: str, server: Server, data: Path, undisturbed: Callable[[str], Undisturbed], tmp_path: Path
) -> None:
    command, folder = COMMANDS[name], tmp_path / "shared"
    folder.mkdir()
    first = start(command.of(data, folder), data)
    while first.poll() is None and not is_locked(folder / LOCKS[name]):
        time.sleep(0.005)
    first.send_signal(signal.SIGSTOP)  # it has the folder, and takes its time
    second = server.run(*command.of(data, folder), cwd=data)
    first.send_signal(signal.SIGCONT)
    assert_one_line(second, 2)
    assert mentions(second.err, folder, "-o")
    assert first.wait() == 0
    assert _undrawn(command.numbers(folder)) == _undrawn(undisturbed(name).numbers)


def _undrawn(numbers: Mapping[str, object]) -> dict[str, object]:
    """Without pictures, and pages that hold them, which the server's processes do not draw."""
    return {
        name: held for name, held in numbers.items() if Path(name).suffix not in (".svg", ".png", ".html")
    }


@pytest.mark.parametrize("name", LOCKING)
def test_a_folder_that_is_deleted_under_a_command_leaves_no_traceback(
    name: str, server: Server, data: Path, undisturbed: Callable[[str], Undisturbed], tmp_path: Path
) -> None:
    command, folder = COMMANDS[name], tmp_path / "deleted"
    folder.mkdir()
    first = start(command.of(data, folder), data)
    while first.poll() is None and not (folder / LOCKS[name]).exists():
        time.sleep(0.005)
    shutil.rmtree(folder, ignore_errors=True)
    _, err = first.communicate()
    assert "Traceback" not in err
    assert first.returncode in (0, 2, 3), err
    assert first.returncode == 0 or len(err.splitlines()) == 1
    folder.mkdir(exist_ok=True)
    assert server.run(*command.of(data, folder), cwd=data).code == 0
    assert command.numbers(folder) == undisturbed(name).numbers


# 8 MB is the stack of a thread: where memory ends just when gensim starts one, Python would wait for it for ever.
@pytest.mark.parametrize(
    "kilobytes", [1024, *(pytest.param(n, marks=pytest.mark.large) for n in (64, 8192, 16384, 32768))]
)
@pytest.mark.parametrize("name", NAMES)
def test_memory_that_runs_out_is_one_line(
    name: str,
    kilobytes: int,
    server: Server,
    data: Path,
    undisturbed: Callable[[str], Undisturbed],
    tmp_path: Path,
) -> None:
    command, folder = COMMANDS[name], tmp_path / "short"
    folder.mkdir()
    ended = server.run(*command.of(data, folder), cwd=data, memory=kilobytes * 1024)
    if ended.code:
        assert ended.code in (2, 3, 4), ended
        assert "Traceback" not in ended.err
        assert ended.code != 4 or len(ended.err.splitlines()) == 1, ended.err
    ended = server.run(*command.of(data, folder), cwd=data)
    assert ended.code == 0, ended.err
    assert command.numbers(folder) == undisturbed(name).numbers


@pytest.mark.parametrize("name", CHEAP)
def test_a_clock_that_jumps_changes_no_number(
    name: str, server: Server, data: Path, undisturbed: Callable[[str], Undisturbed], tmp_path: Path
) -> None:
    command, folder = COMMANDS[name], tmp_path / "jumping"
    folder.mkdir()
    for moment in (undisturbed(name).cpu_seconds / 2, None):
        ended = server.run(*command.of(data, folder), cwd=data, clock=1e8, kill_at=moment)
    assert ended.code == 0, ended.err
    assert command.numbers(folder) == undisturbed(name).numbers


def test_a_clock_that_is_set_back_gives_no_negative_time() -> None:
    log = Log(60)
    log.stage("testing", 10)
    log.advance(1)
    log.advance(1)
    assert "-" not in log.line(time.monotonic() - 5000)
