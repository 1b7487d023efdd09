"""Compiling ahead of time, and saying so."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weatherglass.stats.permutation import kernels


def test_compiling_is_announced_only_where_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    kernels.prepare(said.append)
    del said[:]
    assert kernels.all_cached(besides=kernels.LATTICE)
    kernels.prepare(said.append)
    assert said == []
    monkeypatch.setattr(kernels, "all_cached", lambda **_: False)
    kernels.prepare(said.append)
    assert said == [kernels.COMPILING]


IN_ANOTHER_CACHE = """
from weatherglass.stats.permutation import kernels
said = []
kernels.prepare(said.append)
print(len(said))
"""


def compilings(cache: Path) -> int:
    """How often another process says that it compiles, with this folder of numba's."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, "-c", IN_ANOTHER_CACHE], env=environment, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.large
def test_code_is_at_hand_though_its_source_was_touched_and_not_where_its_index_is_damaged(
    tmp_path: Path,
) -> None:
    """numba goes by what the source says, not by when it was written: a checkout touches every file."""
    assert compilings(tmp_path) == 1
    for index in tmp_path.rglob("*.nbi"):
        os.utime(index, (0, 0))
    assert compilings(tmp_path) == 0
    (walk,) = tmp_path.rglob("meet_in_the_middle._walk-*.nbi")
    walk.write_bytes(walk.read_bytes()[:-40])
    assert compilings(tmp_path) == 1
    assert compilings(tmp_path) == 0


def test_kernels_work_where_nothing_can_be_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**options: bool) -> object:
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(kernels, "njit", refuse)
    monkeypatch.setattr(kernels, "_KERNELS", [])
    assert kernels.compiled(lambda: 7)() == 7
