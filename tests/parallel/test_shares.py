"""Progress within units: a unit that another process computes reports in a file."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from weatherglass.parallel.base import UnitProgress, reported_in_file


class Recorded:
    def __init__(self) -> None:
        self.done = 0.0

    def stage(self, name: str, total: int) -> None: ...

    def advance(self, steps: float = 1) -> None:
        self.done += steps


def test_a_unit_in_another_process_moves_the_progress(tmp_path: Path) -> None:
    progress, targets = Recorded(), [tmp_path / "one", tmp_path / "two"]
    shares = UnitProgress(progress, targets, in_process=False)
    shares.read()
    assert progress.done == 0
    with reported_in_file(targets[0]) as report:
        for expected in (0.25, 0.5, 0.75):
            report(0.25)
            shares.read()
            assert progress.done == pytest.approx(expected)
    assert not list(tmp_path.iterdir())
    shares.read()
    assert progress.done == pytest.approx(0.75)
    shares.finish(targets[0])
    shares.finish(targets[1])
    assert progress.done == pytest.approx(2)


def test_a_unit_that_begins_again_does_not_move_the_progress_back(tmp_path: Path) -> None:
    progress, target = Recorded(), tmp_path / "one"
    shares = UnitProgress(progress, [target], in_process=False)
    for share, expected in ((0.6, 0.6), (0.2, 0.6), (0.9, 0.9)):
        with reported_in_file(target) as report:
            report(share)
            shares.read()
        assert progress.done == pytest.approx(expected)


def test_the_files_are_read_while_the_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weatherglass.parallel.base.EVERY", 0.001)
    progress, target = Recorded(), tmp_path / "one"
    with UnitProgress(progress, [target], in_process=False), reported_in_file(target) as report:
        report(0.5)
        for _ in range(2000):
            if progress.done:
                break
            time.sleep(0.005)
    assert progress.done == pytest.approx(0.5)


def test_a_folder_that_cannot_be_written_costs_only_the_progress(tmp_path: Path) -> None:
    with reported_in_file(tmp_path / "absent" / "one") as report:
        report(0.5)
