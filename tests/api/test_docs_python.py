"""docs/python.md is a notebook: its blocks are run in their order, as a new user would run them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest
from tests.encoders.transformers.tiny_models import build

import weatherglass

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
IN_PROOFS = "import spacy"
"""spaCy is not installed with the tests; proofs/integrations.py runs that block."""


def blocks(page: str) -> list[str]:
    return BLOCK.findall((ROOT / "docs" / page).read_text(encoding="utf-8"))


@pytest.mark.large
def test_every_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentence_transformers", reason="the transformers extra is not installed")
    build("bert", tmp_path / "my-model")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / "cache"))
    names: dict[str, Any] = {}
    run = [block for block in blocks("python.md") if not block.startswith(IN_PROOFS)]
    assert len(run) == len(blocks("python.md")) - 1
    with mpl.rc_context({"backend": "Agg"}):
        for block in run:
            exec(compile(block, "docs/python.md", "exec"), names)
        import matplotlib.pyplot as plt

        plt.close("all")
    assert (tmp_path / "run-1" / "report.html").exists()
    assert {row.test for row in names["changes"].differences} == {"weather", "sent-weather", "weat6"}


@pytest.mark.parametrize("page", ["writing.md", "gate.md"])
def test_blocks_of_other_pages_run(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    for block in blocks(page):
        exec(compile(block, page, "exec"), {})
    assert "wordllama" in capsys.readouterr().out


def test_the_page_names_every_method_of_a_run() -> None:
    page = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    public: list[tuple[str, Callable[..., Any]]] = [
        (name, value) for name, value in vars(weatherglass.Run).items() if callable(value) and name[0] != "_"
    ]
    internal = {"stored_in", "with_multiverse"}
    assert {name for name, _ in public if f".{name}(" not in page} <= internal
