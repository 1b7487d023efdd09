"""What a command says while it works: a bar on a terminal, one line a minute in a log."""

from __future__ import annotations

import io
import sys
import time

import pytest
from rich.cells import cell_len
from tests.messages import mentions

from weatherglass.cli.bar import Bar, Drawing, Log, stage_name


def test_time_left_is_told_where_each_step_takes_minutes() -> None:
    now = 0.0
    bar = Drawing()
    bar.progress.get_time = lambda: now
    bar.stage("training", 10)
    bar.advance(2)  # What an earlier run has done says nothing about the speed.
    for _ in range(3):
        now += 600.0
        bar.advance(1)
    assert bar.progress.tasks[0].time_remaining == pytest.approx(5 * 600, abs=1)


def test_a_log_says_what_is_done_how_far_and_how_long_it_takes() -> None:
    log = Log(60, write=str)
    log.stage("testing wordllama", 46)
    assert mentions(log.line(log._began + 61), "testing wordllama", 0, 46, "1 min")
    for _ in range(23):
        log.advance(1)
    half = log.line(log._stage_began + 600)
    assert mentions(half, "testing wordllama", 23, 46)
    assert half.count("10 min") == 2  # so far, and left
    log.advance(23)
    done = log.line(log._stage_began + 700)
    assert mentions(done, "testing wordllama", "12 min")
    assert not mentions(done, 46)


def test_off_a_terminal_a_line_is_written_now_and_then_though_no_step_is_done(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with Bar(quiet=False, log_every=0.02) as bar:
        bar.stage("estimating covariances", 20)
        deadline = time.monotonic() + 60
        while written.getvalue().count("\n") < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
    lines = written.getvalue().splitlines()
    assert len(lines) >= 2
    for line in lines[1:]:
        assert line.startswith("weatherglass: ")
        assert mentions(line, "estimating covariances", 0, 20)
    time.sleep(0.1)
    assert written.getvalue().splitlines() == lines  # it has ended with the work


def test_quiet_work_leaves_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.StringIO()
    monkeypatch.setattr(sys, "stderr", written)
    with Bar(quiet=True, log_every=0.02) as bar:
        bar.stage("testing", 20)
        time.sleep(0.1)
    assert written.getvalue() == ""


@pytest.mark.parametrize("room", [20, 30, 70])
@pytest.mark.parametrize(
    "path", ["/data/" + "very-long/" * 30 + "glove.txt", "模型/" * 40 + "模型", "x" * 300]
)
def test_a_model_path_never_squeezes_the_bar(path: str, room: int) -> None:
    name = stage_name(f"testing vectors:{path}", room)
    assert cell_len(name) <= room
    assert name.startswith("testing …")
    assert name.endswith(path[-3:])
