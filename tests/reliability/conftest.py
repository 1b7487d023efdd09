"""Corpora of the session's text, and of lines of a test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from weatherglass.registry import Registry
from weatherglass.reliability.corpus import Corpus, CorpusSettings, encode_corpus


@contextmanager
def installed(registry: Registry[Any], name: str, value: str) -> Iterator[None]:
    """As if a package were installed whose entry point adds a name to the registry."""
    assert registry.group is not None
    point = EntryPoint(name, value, registry.group)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "importlib.metadata.entry_points", lambda group: [point] if group == point.group else []
        )
        vars(registry).pop("_locations", None)  # It reads the entry points once.
        yield
        vars(registry).pop("_locations")


@pytest.fixture(scope="session")
def corpus(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """The session's text, encoded."""
    return encode_corpus("text", text, tmp_path_factory.mktemp("corpora"), CorpusSettings())


@pytest.fixture
def corpus_of(tmp_path: Path) -> Callable[..., Corpus]:
    """Encode some lines."""

    def make(lines: list[str], settings: CorpusSettings | None = None) -> Corpus:
        source = tmp_path / "lines.txt"
        source.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return encode_corpus("lines", source, tmp_path / "corpora", settings or CorpusSettings(min_count=1))

    return make
