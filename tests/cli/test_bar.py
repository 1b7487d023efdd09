"""The progress bar of a command."""

from __future__ import annotations

import pytest

from weatherglass.cli.bar import Bar


def test_time_left_is_told_where_each_step_takes_minutes() -> None:
    now = 0.0
    with Bar(quiet=True) as bar:
        bar._progress.get_time = lambda: now
        bar.stage("training", 10)
        bar.advance(2)  # What an earlier run has done says nothing about the speed.
        for _ in range(3):
            now += 600.0
            bar.advance()
        assert bar._progress.tasks[0].time_remaining == pytest.approx(5 * 600, abs=1)
