"""Compiling ahead of time, and saying so."""

from __future__ import annotations

import pytest

from weatherglass.inference.significance import kernel, prepare


def test_compiling_is_announced_only_where_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    prepare.prepare(said.append)
    del said[:]
    assert kernel.all_cached(besides=prepare.LATTICE)
    prepare.prepare(said.append)
    assert said == []
    monkeypatch.setattr(prepare, "all_cached", lambda **_: False)
    prepare.prepare(said.append)
    assert said == [prepare.COMPILING]


def test_kernels_work_where_nothing_can_be_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(**options: bool) -> object:
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return lambda function: function

    monkeypatch.setattr(kernel, "njit", refuse)
    monkeypatch.setattr(kernel, "_KERNELS", [])
    assert kernel.compiled(lambda: 7)() == 7
