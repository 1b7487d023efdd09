"""Word vectors written in every format are read back, by our readers and by gensim."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors
from numpy.typing import NDArray
from tests.messages import naming

from weatherglass.errors import OutputError, VectorFileError
from weatherglass.vectors import read_every_word, write_vectors

WORDS = ["the", "naïve", "北京", "x" * 60, "-0.5"]
ROWS = np.random.default_rng(0).standard_normal((len(WORDS), 7)).astype(np.float32) * np.float32(1e-3)


def blocks(size: int = 2) -> Iterator[NDArray[np.float32]]:
    for start in range(0, len(ROWS), size):
        yield ROWS[start : start + size]


@pytest.mark.parametrize("ending", ["safetensors", "txt", "vec", "bin"])
def test_what_is_written_is_read_back_to_the_last_bit(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"out.{ending}"
    write_vectors(path, WORDS, 7, blocks())
    read = read_every_word(path)
    assert list(read.rows) == WORDS
    assert (read.matrix == ROWS).all()


@pytest.mark.parametrize(("ending", "binary"), [("txt", False), ("bin", True)])
def test_gensim_reads_the_same(tmp_path: Path, ending: str, binary: bool) -> None:
    path = tmp_path / f"out.{ending}"
    write_vectors(path, WORDS, 7, blocks())
    read = KeyedVectors.load_word2vec_format(str(path), binary=binary)
    assert read.index_to_key == WORDS
    assert (read.vectors == ROWS).all()


@pytest.mark.parametrize("ending", ["txt", "bin"])
def test_a_word_with_a_space_is_refused_and_nothing_is_left(tmp_path: Path, ending: str) -> None:
    with pytest.raises(VectorFileError, match=naming("'New York'", "space", ".safetensors")):
        write_vectors(tmp_path / f"out.{ending}", ["New York", "b"], 7, [ROWS[:2]])
    assert not list(tmp_path.iterdir())


def test_a_failure_in_the_middle_leaves_the_old_file(tmp_path: Path) -> None:
    def failing() -> Iterator[NDArray[np.float32]]:
        yield ROWS[:2]
        raise RuntimeError("stopped")

    path = tmp_path / "out.bin"
    path.write_bytes(b"old")
    with pytest.raises(RuntimeError):
        write_vectors(path, WORDS, 7, failing())
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["out.bin"]


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match=naming(tmp_path / "out.npz", ".safetensors", ".txt", ".bin")):
        write_vectors(tmp_path / "out.npz", WORDS, 7, blocks())
