"""The view of a run: plain JSON that pages and terminals can be drawn from, and nothing else is computed."""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from click.testing import CliRunner
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.audit.run import Run
from weatherglass.audit.stored import read_run
from weatherglass.cli import app
from weatherglass.report.page import page
from weatherglass.report.rows import results_lines, spread_lines
from weatherglass.report.terminal import reasons, screen_lines
from weatherglass.report.view import VIEW_ENTRIES, run_of_view, view

SOURCE = Path(wg.__file__).parent
LOOKED_UP = {
    *(("base.py", name) for name in ("effect_size", "bias", "unbiased", "signed", "scale")),
    ("outcome.py", "mark"),
    *(("robustness.py", name) for name in ("decisive", "<listcomp>", "<lambda>")),
}
"""What a report may call in the numeric rooms: properties of a result, and looking through what is stored."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two models and several metrics, with unknown words, a failure and warnings."""
    models = [
        HashedEncoder(name="a"),
        HashedEncoder(width=7, name="b", unknown=wg.load_test("weat7").targets[0].texts[1:]),
    ]
    tests = ["weat1", "weat2", "weat6", "weat7", "weat8"]
    return wg.run(
        models, tests, ["cosine/mean", "euclidean/median", "mac"], folder=tmp_path_factory.mktemp("r")
    )


def terminal(run: Run) -> list[str]:
    """All that a terminal shows of a run."""
    verdicts = run.verdicts()
    return [
        *results_lines(run, 200),
        *spread_lines(run.results),
        *map(str, run.warnings),
        *screen_lines(run, verdicts, 120),
        *reasons(verdicts, run.alpha),
    ]


def computed(call: Callable[[], Any]) -> set[tuple[str, str]]:
    """The functions of the rooms that compute, with the names of their files, that a call enters."""
    rooms = tuple(str(SOURCE / room) for room in ("stats", "metrics"))
    numeric = (*rooms, *(str(SOURCE / "runs" / name) for name in ("judge.py", "compare.py")))
    entered: set[tuple[str, str]] = set()

    def watch(frame: FrameType, event: str, argument: object) -> None:
        del argument
        if event == "call" and frame.f_code.co_filename.startswith(numeric):
            entered.add((Path(frame.f_code.co_filename).name, frame.f_code.co_name))

    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return entered


def test_a_view_is_plain_json_with_all_that_is_shown(run: Run) -> None:
    made = view(run)
    assert json.loads(json.dumps(made, allow_nan=False)) == made
    assert {*VIEW_ENTRIES, "verdicts", "agreement", "warnings", "missing_words", "power", "failures"} <= set(
        made
    )
    assert made["agreement"]["tests"] == 4
    assert len(made["agreement"]["pairs"]) == 3
    assert made["missing_words"]["b"]["weat7"]
    assert [row["effect_size"] for row in made["results"]] == [
        None if r.effect_size != r.effect_size else r.effect_size for r in run.results
    ]
    for row, result in zip(made["results"], run.results, strict=True):
        assert made["columns"][row["column"]]["model"] == result.model
        assert made["rows"][row["row"]]["name"] == result.row


def test_page_and_terminal_are_drawn_from_the_view_alone(run: Run) -> None:
    assert run.failures
    assert run.agreement
    expected = page([run]), terminal(run)
    seen = run_of_view(json.loads(json.dumps(view(run))))
    assert seen.verdicts() == run.verdicts()
    found: list[Any] = []
    assert computed(lambda: found.extend([page([seen]), terminal(seen)])) <= LOOKED_UP
    assert found[0] == expected[0]
    assert found[1] == expected[1]


def test_the_watch_sees_what_is_computed(run: Run) -> None:
    from weatherglass.audit.agreement import metric_agreement

    assert ("ranking.py", "rank_agreement") in computed(lambda: metric_agreement(run.results))


def test_a_stored_run_has_the_same_view(run: Run) -> None:
    assert run.folder
    stored = read_run(run.folder)
    assert view(stored) == json.loads(json.dumps(view(run)))


def test_what_a_record_lacks_is_rebuilt_when_it_is_read(run: Run, tmp_path: Path) -> None:
    without = {name: value for name, value in run.record.items() if name not in ("agreement", "verdicts")}
    wg.Run(run.results, run.failures, without, run.keys).save(tmp_path / "older")
    rebuilt = read_run(tmp_path / "older")
    assert rebuilt.record["agreement"] == run.record["agreement"]
    assert rebuilt.record["verdicts"] == json.loads(json.dumps(run.record["verdicts"]))


def test_the_command_prints_the_view(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["run", "-t", "weat6", "-o", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout) == view(read_run(tmp_path))


def imports() -> Iterator[tuple[str, str]]:
    for path in (SOURCE / "report").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                yield path.name, node.module or ""
            elif isinstance(node, ast.Import):
                yield from ((path.name, alias.name) for alias in node.names)
            elif isinstance(node, ast.Attribute) and node.attr == "random":
                yield path.name, "numpy.random"


def test_no_report_draws_at_random_or_calls_scipy() -> None:
    found = list(imports())
    assert len(found) > 100
    assert [pair for pair in found if pair[1].startswith(("scipy", "numpy.random", "random"))] == []
