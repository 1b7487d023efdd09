"""The notebooks of docs/ run from the first to the last cell, and what a cell shows can be shown."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))
LARGEST = 50_000
"""Bytes of HTML that a value may take in a notebook."""


def code_cells(path: Path) -> list[str]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def shown(cell: str, names: dict[str, Any]) -> Any:
    """Execute a cell and return the value of its last expression, as a notebook would show it."""
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return (
        eval(compile(ast.Expression(last.value), "cell", "eval"), names)
        if isinstance(last, ast.Expr)
        else None
    )


def test_there_are_four() -> None:
    assert {path.stem for path in NOTEBOOKS} == {"two-models", "own-test", "reliability", "rankings"}


@pytest.mark.parametrize(
    "path",
    [pytest.param(path, marks=pytest.mark.large) if path.stem != "own-test" else path for path in NOTEBOOKS],
    ids=lambda path: path.stem,
)
def test_every_cell_runs_and_what_it_shows_is_small(
    path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    mpl.use("agg")
    names: dict[str, Any] = {"__name__": "notebook"}
    for cell in code_cells(path):
        value = shown(cell, names)
        if hasattr(value, "_repr_html_"):
            assert 0 < len(value._repr_html_().encode()) < LARGEST


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_stored_notebook_was_executed(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    counts = [cell["execution_count"] for cell in cells if cell["cell_type"] == "code"]
    assert counts == list(range(1, len(counts) + 1)), "run: python docs/hooks/notebooks.py"
