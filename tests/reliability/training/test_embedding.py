"""An embedding is stored whole, and the same one gives the same bytes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.messages import in_order, naming

from weatherglass.errors import VectorFileError
from weatherglass.reliability.training.embedding import Embedding, load_embedding, save_embedding
from weatherglass.vectors import read_vectors


@pytest.fixture
def embedding() -> Embedding:
    vectors = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    return Embedding(
        ["the", "naïve", '"'], np.array([9, 5, 5]), vectors, "sgns", 7, "tiny", {"window": 5}, "h"
    )


def test_an_embedding_is_read_as_it_was_written(embedding: Embedding, tmp_path: Path) -> None:
    save_embedding(tmp_path / "e.safetensors", embedding)
    read = load_embedding(tmp_path / "e.safetensors")
    assert (read.vectors == embedding.vectors).all()
    assert (read.counts == embedding.counts).all()
    for name in ("words", "algorithm", "seed", "corpus", "settings", "corpus_hash"):
        assert getattr(read, name) == getattr(embedding, name)


def test_it_also_serves_as_word_vectors(embedding: Embedding, tmp_path: Path) -> None:
    save_embedding(tmp_path / "e.safetensors", embedding)
    vectors = read_vectors(tmp_path / "e.safetensors", ["naïve", "absent"])
    assert (vectors["naïve"] == embedding.vectors[1]).all()
    assert "absent" not in vectors


def test_nothing_but_the_file_is_left_behind(embedding: Embedding, tmp_path: Path) -> None:
    save_embedding(tmp_path / "e.safetensors", embedding)
    assert [path.name for path in tmp_path.iterdir()] == ["e.safetensors"]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "e.safetensors").write_bytes(b"no tensors")
    with pytest.raises(VectorFileError, match=naming(str(tmp_path / "e.safetensors"), "embedding")):
        load_embedding(tmp_path / "e.safetensors")


def test_words_and_vectors_must_match() -> None:
    with pytest.raises(ValueError, match=in_order("2 words", 1, 1)):
        Embedding(["a", "b"], np.array([1]), np.zeros((1, 2), np.float32), "sgns", 1, "c")
