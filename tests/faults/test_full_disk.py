"""A disk that fills up at several moments: one line, exit code 1, nothing half-written, the next run is identical."""

from __future__ import annotations

import errno
import os
import re
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.faults.commands import COMMANDS, NAMES, Ended, Server, left_over
from tests.faults.conftest import Disk, Undisturbed
from tests.messages import mentions

from weatherglass.encoders.base import Asked, Coverage, Encoding
from weatherglass.encoders.cache import EncodingCache
from weatherglass.storage.journal import append_whole

SHARES = (0.0, 0.2, 0.5, 0.8)
"""How much of what the command writes has room."""


def assert_one_line(ended: Ended) -> None:
    assert ended.code == 1, ended
    assert ended.err.count("\n") == 1, ended.err
    assert len(ended.err) <= 301
    assert ended.err.startswith("weatherglass: ")
    assert "Traceback" not in ended.err


def assert_nothing_half_written(folder: Path) -> None:
    assert not left_over(folder)
    for journal in folder.rglob("*.jsonl"):
        content = journal.read_bytes()
        assert not content or content.endswith(b"\n")


@pytest.mark.parametrize(
    "share", [SHARES[1], *(pytest.param(one, marks=pytest.mark.large) for one in (SHARES[0], *SHARES[2:]))]
)
@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_is_one_line_and_the_next_run_is_identical(
    name: str,
    share: float,
    server: Server,
    data: Path,
    undisturbed: Callable[[str], Undisturbed],
    disk: Callable[[int], Disk],
) -> None:
    expected, command = undisturbed(name), COMMANDS[name]
    small = disk(max(8, int(share * expected.bytes / 1024)))
    arguments = command.of(data, small.place)
    ended = server.run(*arguments, cwd=data)
    assert_one_line(ended)
    assert_nothing_half_written(small.place)
    if safe := re.search(r"(\d+) results?\b[^;]*\bjournal\.jsonl", ended.err):
        assert int(safe[1]) == len(command.finished(small.place)) > 0
    small.remount("size=64m")
    ended = server.run(*arguments, cwd=data)
    assert ended.code == 0, ended.err
    assert command.numbers(small.place) == expected.numbers


@pytest.mark.parametrize(
    "suffix",
    ["npz", *(pytest.param(one, marks=pytest.mark.large) for one in ("safetensors", "parquet", "h5"))],
)
def test_encode_writes_the_whole_file_or_none(
    suffix: str, server: Server, data: Path, disk: Callable[[int], Disk]
) -> None:
    small = disk(4)
    file = small.place / f"e.{suffix}"
    arguments = ("encode", data / "v.txt", "-t", "weat[678]", "-o", file, "-q")
    assert_one_line(server.run(*arguments, cwd=data))
    assert list(small.place.iterdir()) == []
    small.remount("size=64m")
    assert server.run(*arguments, cwd=data).code == 0
    assert [path.name for path in small.place.iterdir()] == [file.name]


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "RUN", "-o", "DISK/page.html"),
        ("report", "RUN", "-f", "csv", "-o", "DISK/results.csv"),
        ("tests", "export", "DISK/tests"),
        ("mitigate", "DATA/v.txt", "--with", "centre", "-o", "DISK/v.bin"),
        ("mitigate", "DATA/v.txt", "--with", "hard-debias", "-o", "DISK/hard.transform"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_other_commands_say_so_in_one_line(
    arguments: tuple[str, ...], server: Server, data: Path, disk: Callable[[int], Disk], tmp_path: Path
) -> None:
    small = disk(4)
    places = {"RUN": tmp_path / "run", "DISK": small.place, "DATA": data}
    if "RUN" in arguments:
        assert server.run(*COMMANDS["run"].of(data, tmp_path / "run"), cwd=data).code == 0
    (small.place / "in the way").write_bytes(b"x" * 4096)
    words = []
    for argument in arguments:
        for name, place in places.items():
            argument = argument.replace(name, str(place))
        words.append(argument)
    assert_one_line(server.run(*words, cwd=data))
    assert_nothing_half_written(small.place)


def test_the_cache_goes_without_and_later_works(disk: Callable[[int], Disk]) -> None:
    """A full disk costs time, never a result."""
    small = disk(64)
    cache = EncodingCache(small.place / "encodings.sqlite")
    encodings: dict[Asked, Encoding] = {
        f"text {n}": Encoding(np.full(100, float(n)), Coverage((str(n),))) for n in range(200)
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        cache.put("identity", "model", encodings)
        kept = cache.get("identity", list(encodings))
    assert len(caught) == len(cache.problems) == 1
    assert mentions(cache.problems[0], small.place / "encodings.sqlite", "full")
    assert kept == {}  # all or nothing
    small.remount("size=8m")
    cache.put("identity", "model", encodings)
    found = cache.get("identity", list(encodings))
    assert {text: one.values.tolist() for text, one in found.items()} == {
        text: one.values.tolist() for text, one in encodings.items()
    }


def test_a_line_is_appended_whole_or_not_at_all(disk: Callable[[int], Disk]) -> None:
    path = disk(16).place / "journal"
    with path.open("ab", buffering=0) as file:
        append_whole(file.fileno(), b"a" * 5000 + b"\n")
        with pytest.raises(OSError, match=os.strerror(errno.ENOSPC)):
            append_whole(file.fileno(), b"b" * 50_000 + b"\n")
        assert path.read_bytes() == b"a" * 5000 + b"\n"
        append_whole(file.fileno(), b"c\n")
    assert path.read_bytes() == b"a" * 5000 + b"\nc\n"
