"""Test files as a user would write them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

WriteJsonl = Callable[..., Path]
WriteToml = Callable[[str], Path]


def published_form(**changes: Any) -> dict[str, Any]:
    """A small test in the published format, with some of its keys replaced; None takes a key away."""
    content: dict[str, Any] = {
        "targ1": {"category": "Flowers", "examples": ["aster", "rose"]},
        "targ2": {"category": "Insects", "examples": ["ant", "flea"]},
        "attr1": {"category": "Pleasant", "examples": ["love", "peace"]},
        "attr2": {"category": "Unpleasant", "examples": ["filth", "grief"]},
    }
    content.update(changes)
    return {key: value for key, value in content.items() if value is not None}


@pytest.fixture
def write_jsonl(tmp_path: Path) -> WriteJsonl:
    """Writes `published_form` with changes to a file and gives its path."""

    def write(name: str = "own.jsonl", **changes: Any) -> Path:
        path = tmp_path / name
        path.write_text(json.dumps(published_form(**changes), indent=2), encoding="utf-8")
        return path

    return write


@pytest.fixture
def write_toml(tmp_path: Path) -> WriteToml:
    """Writes a text to a .toml file and gives its path."""

    def write(text: str) -> Path:
        path = tmp_path / "own.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write
