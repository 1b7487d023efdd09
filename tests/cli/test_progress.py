"""What a command says while it works: a bar on a terminal, one line a minute in a log."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

import pytest
from tests.messages import mentions, naming

from weatherglass.cli.console import ERASE
from weatherglass.cli.progress import Bar, Log, progress, stage_name
from weatherglass.errors import InterruptedRunError
from weatherglass.storage.printable import cell_len


def test_a_bar_moves_within_a_long_step_and_tells_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    bar = Bar(write=str)
    bar.stage("training", 10)
    bar.advance(2)  # What an earlier run has done says nothing about the speed.
    assert mentions(bar.line(bar._stage_began + 1), "training", 2, 10)
    assert not mentions(bar.line(bar._stage_began + 1), "left")
    for _ in range(3):
        bar.advance(1)
    assert mentions(bar.line(bar._stage_began + 3 * 600), 5, 10, "50 min")
    before = bar.line(bar._stage_began + 3 * 600).count("█")
    bar.advance(0.5)
    within = bar.line(bar._stage_began + 3 * 600)
    assert mentions(within, 5, 10, "55%")
    assert within.count("█") > before
    bar.advance(0.5)
    assert mentions(bar.line(bar._stage_began + 4 * 600), 6, 10)
    assert "%" not in bar.line(bar._stage_began + 4 * 600)


def test_a_bar_is_drawn_in_one_line_of_a_terminal_and_erased(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    written = Terminal()
    monkeypatch.setattr(sys, "stderr", written)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    with progress(quiet=False) as bar:
        bar.stage("testing a model with a very long name " * 3, 46)
        deadline = time.monotonic() + 60
        while written.getvalue().count("\r") < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
    lines = written.getvalue().split(ERASE)
    assert len(lines) >= 3
    assert lines[-1] == ""
    assert "\n" not in written.getvalue()
    assert max(map(cell_len, lines)) < 60


def test_ctrl_c_says_where_finished_work_is_or_ends_the_command(tmp_path: Path) -> None:
    with pytest.raises(InterruptedRunError, match=naming(str(tmp_path))), progress(True, tmp_path):
        raise KeyboardInterrupt
    with pytest.raises(KeyboardInterrupt), progress(True):
        raise KeyboardInterrupt


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
    monkeypatch.setattr("weatherglass.cli.progress.LOG_EVERY", 0.02)
    with progress(quiet=False) as bar:
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
    monkeypatch.setattr("weatherglass.cli.progress.LOG_EVERY", 0.02)
    with progress(quiet=True) as bar:
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
