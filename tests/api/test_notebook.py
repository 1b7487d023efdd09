"""Progress below the cell of a notebook, and nothing anywhere else."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
from tests.models import HashedEncoder

import weatherglass
from weatherglass.progress import Silent, progress_here


class Shown:
    """What IPython's `display` was given, and how often."""

    def __init__(self) -> None:
        self.contents: list[dict[str, str]] = []

    def __call__(self, content: dict[str, str], raw: bool, display_id: bool) -> Shown:
        assert raw
        assert display_id
        self.contents.append(content)
        return self

    def update(self, content: dict[str, str], raw: bool) -> None:
        assert raw
        self.contents.append(content)


def ipython(shell: str, shown: Shown) -> dict[str, ModuleType]:
    """IPython as it looks from inside such a shell; the real one is tried in proofs/notebook.py."""
    package, display = ModuleType("IPython"), ModuleType("IPython.display")
    instance = type(shell, (), {})()
    package.get_ipython = lambda: instance  # type: ignore[attr-defined]
    display.display = shown  # type: ignore[attr-defined]
    return {"IPython": package, "IPython.display": display}


def test_a_notebook_shows_a_bar_for_each_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = Shown()
    for name, module in ipython("ZMQInteractiveShell", shown).items():
        monkeypatch.setitem(sys.modules, name, module)
    weatherglass.run(HashedEncoder(name="<b>"), "weat6")
    texts = [content["text/plain"] for content in shown.contents]
    assert texts[0].endswith("<b> 0/32")
    assert texts[0].replace("0/32", "32/32") in texts
    assert "<b>" not in shown.contents[0]["text/html"]


@pytest.mark.parametrize("shell", ["TerminalInteractiveShell", "NoneType"])
def test_elsewhere_nothing_is_shown(monkeypatch: pytest.MonkeyPatch, shell: str, capsys: Any) -> None:
    shown = Shown()
    for name, module in ipython(shell, shown).items():
        monkeypatch.setitem(sys.modules, name, module)
    assert isinstance(progress_here(), Silent)
    weatherglass.run(HashedEncoder(), "weat6")
    assert shown.contents == []
    assert capsys.readouterr() == ("", "")
