"""A model that takes long is encoded by other processes, whichever function asks for its vectors."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests import engines

import weatherglass as wg
from weatherglass.audit.encode import Chunk

WORDS = ["nurse", "engineer", "teacher", "plumber"]
ATTRIBUTES = (["he", "man", "boy"], ["she", "woman", "girl"])


def map_of_words(spec: str, **where: str) -> object:
    return wg.word_map(WORDS, ATTRIBUTES, spec, **where)  # type: ignore[arg-type]


def debiased_vectors(spec: str, **where: str) -> object:
    mitigation = wg.mitigate(spec, "mean-difference?classes=male_terms,female_terms", **where)  # type: ignore[arg-type]
    return mitigation.encode(WORDS).tolist()


@pytest.mark.parametrize("function", [map_of_words, debiased_vectors])
def test_another_process_encodes_and_the_result_is_the_same(
    function: Callable[..., object],
    tiny_model: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    spec = f"hf:{tiny_model('bert')}"
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / "alone"))
    alone = function(spec)
    monkeypatch.setenv("WEATHERGLASS_CACHE", str(tmp_path / "several"))
    engine = engines.register(monkeypatch)
    assert function(spec, scheduler=engines.NAME) == alone
    chunks = [unit for unit in engine.seen if isinstance(unit, Chunk)]
    assert [chunk.spec for chunk in chunks] == [spec]
