"""The benchmarks can fail: on a crash, on unequal results, on a missed goal; the quick run only on the first two."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

import pytest
from benchmarks import __main__ as benchmarks
from benchmarks._rows import Row, exponent
from benchmarks.goals import GOALS, Goal
from tests.messages import mentions


def exit_code(monkeypatch: pytest.MonkeyPatch, rows: list[Row], code: int, *arguments: str) -> int:
    """Of `python -m benchmarks commands` where the part's process gives these rows and this exit code."""

    def given(_: str, __: Namespace) -> tuple[list[Row], int]:
        return rows, code

    monkeypatch.setattr(benchmarks, "run_part", given)
    monkeypatch.setattr(sys, "argv", ["benchmarks", "commands", *arguments])
    try:
        benchmarks.main()
    except SystemExit as stopped:
        return 0 if stopped.code in (None, 0) else 1
    return 0


def test_a_crash_and_unequal_results_fail_also_when_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    fine, unequal = Row("--help", 0.1, equal=True), Row("--help", 0.1, equal=False)
    assert exit_code(monkeypatch, [fine], 0, "--quick") == 0
    assert exit_code(monkeypatch, [fine], 3, "--quick") == 1
    assert exit_code(monkeypatch, [unequal], 0, "--quick") == 1


def test_a_missed_goal_fails_unless_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Row("--help", 2 * (GOALS["--help"].at_most or 0))
    assert exit_code(monkeypatch, [slow], 0, "--quick") == 0
    assert exit_code(monkeypatch, [slow], 0) == 1


def test_a_part_that_is_measured_alone_leaves_the_others_of_the_page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "performance.md"
    other = benchmarks.section("growth", [Row("growth with seeds, exponent", 1.0)], [])
    path.write_text(benchmarks.page({"commands": "## commands\n\nold\n", "growth": other}), encoding="utf-8")
    slow = Row("--help", 2 * (GOALS["--help"].at_most or 0))
    assert exit_code(monkeypatch, [slow], 0, "--write", str(path)) == 1
    written = path.read_text(encoding="utf-8")
    assert "old" not in written
    goal = f"goal ≤ {GOALS['--help'].at_most:g}"
    assert any(mentions(line, "commands", "--help", goal, "missed") for line in written.splitlines())
    assert benchmarks.sections_of(path)["growth"] == other
    assert benchmarks.page(benchmarks.sections_of(path)) == written


def test_what_was_not_run_is_shown_as_such() -> None:
    assert "not run" in benchmarks.shown(Row("WEAT with p, 25 + 25, against WEFE", None, "WEFE"))


def test_a_goal_is_a_ratio_to_the_peer_or_a_limit() -> None:
    assert Goal(at_least_times=10).missed(Row("r", 1.0, "peer", 9.0))
    assert not Goal(at_least_times=10).missed(Row("r", 1.0, "peer", 11.0))
    assert Goal(at_most=0.5).missed(Row("r", 0.6))


def test_the_exponent_of_a_square_is_two() -> None:
    assert exponent([1, 10, 100], [3.0, 300.0, 30_000.0]) == pytest.approx(2)
