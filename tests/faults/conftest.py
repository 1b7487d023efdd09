"""Processes to disturb, what they end with if nobody does, and file systems that are small or read-only."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.faults.commands import ALL_COMMANDS, Server, left_over, make_data, served


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    make_data(folder)
    return folder


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with served(tmp_path_factory.mktemp("server")) as running:
        yield running


@dataclass(frozen=True, slots=True)
class Undisturbed:
    """A command that nobody disturbed."""

    numbers: Mapping[str, object]
    results: int
    """How many pieces of work it finished."""
    cpu_seconds: float
    bytes: int


@pytest.fixture(scope="session")
def undisturbed(
    server: Server, data: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Undisturbed]:
    known: dict[str, Undisturbed] = {}

    def of(name: str) -> Undisturbed:
        if name not in known:
            command, folder = ALL_COMMANDS[name], tmp_path_factory.mktemp("undisturbed")
            ended = server.run(*command.of(data, folder), cwd=folder)
            assert ended.code == 0, ended.err
            assert not left_over(folder)
            size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
            results = len(command.finished(folder))
            known[name] = Undisturbed(command.numbers(folder), results, ended.cpu_seconds, size)
        return known[name]

    return of


class Disk:
    """A real file system in memory, with a limit."""

    def __init__(self, place: Path) -> None:
        self.place = place

    def remount(self, options: str) -> None:
        subprocess.run(["mount", "-o", f"remount,{options}", str(self.place)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Callable[[int], Disk]]:
    """Mounts a file system of so many kB."""
    place = tmp_path / "disk"
    mounted = []

    def mount(kilobytes: int) -> Disk:
        place.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "weatherglass-tests", str(place)]
        if os.name != "posix" or os.geteuid() or subprocess.run(command, capture_output=True).returncode:
            pytest.skip("only root may mount a file system")
        mounted.append(place)
        return Disk(place)

    yield mount
    for path in mounted:
        subprocess.run(["umount", str(path)], check=True)
