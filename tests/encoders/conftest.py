"""What the tests of encoders share: a cache of their own, and folders of tiny models."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from tests.encoders.transformers.tiny_models import build


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or fills the user's cache."""
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny model by family, made once; skipped where transformers is not installed."""
    pytest.importorskip("torch", reason="the transformers extra is not installed")
    pytest.importorskip("transformers", reason="the transformers extra is not installed")

    @cache
    def folder(family: str) -> Path:
        return build(family, tmp_path_factory.mktemp("models") / family)

    return folder
