"""All words of a file come back in its order, from every format, as gensim and others write them."""

from __future__ import annotations

import errno
import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from numpy.typing import NDArray
from safetensors.numpy import save_file
from tests.messages import naming

from weatherglass.errors import VectorFileError
from weatherglass.vectors import read_every_word

WORDS = ["the", "New_York", "amy", "naïve", "日本", "0.5", "7"]


@pytest.fixture
def matrix() -> NDArray[np.float32]:
    return np.random.default_rng(7).standard_normal((len(WORDS), 5)).astype(np.float32)


@pytest.fixture
def keyed(matrix: NDArray[np.float32]) -> KeyedVectors:
    vectors = KeyedVectors(matrix.shape[1])
    vectors.add_vectors(WORDS, matrix)
    return vectors


@pytest.fixture
def lines(matrix: NDArray[np.float32]) -> str:
    """As GloVe writes them, without a first line of numbers."""
    return "".join(
        f"{word} {' '.join(map(str, row))}\n" for word, row in zip(WORDS, matrix.tolist(), strict=True)
    )


def check(path: Path, matrix: NDArray[np.float32]) -> None:
    for on_disk in (False, True):
        vectors = read_every_word(path, on_disk)
        assert list(vectors.rows) == WORDS
        assert list(vectors.rows.values()) == list(range(len(WORDS)))
        np.testing.assert_array_equal(vectors.matrix, matrix)


@pytest.mark.parametrize("name", ["v.bin", "v.bin.gz", "v.txt", "v.txt.gz"])
def test_word2vec_files_of_gensim(
    name: str, keyed: KeyedVectors, matrix: NDArray[np.float32], tmp_path: Path
) -> None:
    keyed.save_word2vec_format(str(tmp_path / name), binary=".bin" in name)  # gensim packs what ends in .gz
    check(tmp_path / name, matrix)


@pytest.mark.parametrize("limit", [0, 10**9])
def test_keyed_vectors_in_one_file_or_two(
    limit: int, keyed: KeyedVectors, matrix: NDArray[np.float32], tmp_path: Path
) -> None:
    keyed.save(str(tmp_path / "v.kv"), sep_limit=limit)
    check(tmp_path / "v.kv", matrix)
    assert read_every_word(tmp_path / "v.kv").counts is None


def test_text_without_a_header(lines: str, matrix: NDArray[np.float32], tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text(lines, encoding="utf-8")
    check(path, matrix)
    path.write_bytes(
        gzip.compress(b"\xef\xbb\xbf" + lines.encode())
    )  # the mark of Windows is no part of a word
    check(path, matrix)


def test_named_arrays(matrix: NDArray[np.float32], tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", words=np.array(WORDS), vectors=matrix)
    check(tmp_path / "v.npz", matrix)
    np.savez(tmp_path / "by-word.npz", **dict(zip(WORDS, matrix, strict=True)))
    check(tmp_path / "by-word.npz", matrix)
    save_file({"vectors": matrix}, tmp_path / "v.safetensors", metadata={"words": json.dumps(WORDS)})
    check(tmp_path / "v.safetensors", matrix)


def test_the_header_is_no_word_unless_it_also_stands_below(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("2 3\na 1 2 3\nb 4 5 6\n")
    assert list(read_every_word(path).rows) == ["a", "b"]
    path.write_text("2 3\na 1 2 3\n2 4 5 6\n")
    assert read_every_word(path)["2"].tolist() == [4, 5, 6]


def test_words_with_spaces_are_whole(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text(". . . 1 2\nNew York 3 4\n. 5 6\nb 7 8\n")
    assert list(read_every_word(path).rows) == [". . .", "New York", ".", "b"]


def test_a_binary_file_cannot_hold_a_word_with_spaces_and_says_so(tmp_path: Path) -> None:
    vectors = KeyedVectors(3)
    vectors.add_vectors(["a", "New York", "b"], np.ones((3, 3), dtype=np.float32))
    vectors.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)  # gensim writes what nobody can read
    with pytest.raises(VectorFileError, match="word 3 of 3"):
        read_every_word(tmp_path / "v.bin")


def test_more_words_than_a_block_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weatherglass.vectors.collector.FIRST_ROWS", 3)
    path = tmp_path / "v.txt"
    for number in range(1, 8):
        path.write_text("".join(f"w{i} {i} {i + 1}\n" for i in range(number)))
        assert read_every_word(path).matrix.tolist() == [[i, i + 1] for i in range(number)]


@pytest.fixture
def large_file(tmp_path: Path) -> Path:
    """5 000 words of 500 numbers, 100 of them twice, which the compiled loop reads in blocks."""
    rows = np.random.default_rng(1).standard_normal((5_000, 500)).astype(np.float32)
    words = [f"w{number % 4_900}" for number in range(len(rows))]
    content = b"".join(f"{word} ".encode() + row.tobytes() for word, row in zip(words, rows, strict=True))
    path = tmp_path / "large.bin"
    path.write_bytes(b"5000 500\n" + content)
    return path


@pytest.mark.parametrize("full_at", [1, None])
def test_vectors_on_disk_equal_those_in_memory_and_leave_no_file(
    full_at: int | None, large_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    in_memory = read_every_word(large_file)
    if full_at:
        monkeypatch.setattr("os.posix_fallocate", _disk_that_is_full_at(full_at))
    on_disk = read_every_word(large_file, on_disk=True)
    assert on_disk.rows == in_memory.rows
    assert on_disk.duplicates == in_memory.duplicates == 100
    np.testing.assert_array_equal(on_disk.matrix, in_memory.matrix)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("full_at", [1, 2, 3, None])
def test_vectors_on_disk_grow_and_move_to_memory_if_the_disk_is_full(
    full_at: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weatherglass.vectors.collector.FIRST_ROWS", 3)
    path = tmp_path / "v.txt"
    path.write_text("".join(f"w{i} {i} {i + 1}\n" for i in range(30)))
    if full_at:
        monkeypatch.setattr("os.posix_fallocate", _disk_that_is_full_at(full_at))
    assert read_every_word(path, on_disk=True).matrix.tolist() == [[i, i + 1] for i in range(30)]


def _disk_that_is_full_at(number: int) -> Callable[[int, int, int], None]:
    calls = iter(range(1, 100))
    whole = os.posix_fallocate

    def allocate(file: int, start: int, size: int) -> None:
        if next(calls) >= number:
            raise OSError(errno.ENOSPC, "No space left on device")
        whole(file, start, size)

    return allocate


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="Linux counts memory in /proc")
def test_vectors_on_disk_are_not_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.bin"
    row = np.ones(10_000, dtype=np.float32).tobytes()
    path.write_bytes(b"1000 10000\n" + b"".join(f"w{n} ".encode() + row for n in range(1_000)))  # 40 MB
    read_every_word(path, on_disk=True)
    before = _resident_megabytes()
    vectors = read_every_word(path, on_disk=True)
    assert _resident_megabytes() - before < 20
    assert vectors.matrix.sum() == 1e7


def _resident_megabytes() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1000


def test_of_two_equal_words_the_first_counts(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text("a 1 2\nb 3 4\na 5 6\n")
    vectors = read_every_word(path)
    assert list(vectors.rows) == ["a", "b"]
    assert vectors.matrix.tolist() == [[1, 2], [3, 4]]
    assert vectors.duplicates == 1


def test_words_that_are_no_text_stay_apart(tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_bytes(b"a\xff 1 2\na\xfe 3 4\na 5 6\n")
    vectors = read_every_word(path)
    assert list(vectors.rows) == ["a\\xff", "a\\xfe", "a"]
    assert vectors.matrix.tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize(
    ("content", "facts"),
    [
        ("a 1 2\nb 3\n", ["line 2:", "1 number,", 2]),
        ("a 1 2\nb 3 x\n", ["line 2:", "'x'"]),
        ("a 1 2\nb 3 nan\n", ["line 2 ('b'):", "number 2", "nan"]),
        ("3 2\na 1 2\nb 3 4\n", ["3 words", 2]),
    ],
)
def test_any_damaged_line_is_named(content: str, facts: list[object], tmp_path: Path) -> None:
    path = tmp_path / "v.txt"
    path.write_text(content)
    with pytest.raises(VectorFileError, match=naming(path, *facts)):
        read_every_word(path)


def test_counts_that_gensim_saved_are_read(tmp_path: Path) -> None:
    model = Word2Vec([["a"] * 5 + ["b"] * 3 + ["c"] * 3], vector_size=4, min_count=1, epochs=1)
    model.wv.save(str(tmp_path / "v.kv"))
    vectors = read_every_word(tmp_path / "v.kv")
    assert vectors.counts is not None
    assert dict(zip(vectors.rows, vectors.counts.tolist(), strict=True)) == {"a": 5, "b": 3, "c": 3}


def test_counts_that_gensim_made_up_are_not(keyed: KeyedVectors, tmp_path: Path) -> None:
    keyed.save_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    read = KeyedVectors.load_word2vec_format(str(tmp_path / "v.bin"), binary=True)
    assert read.get_vecattr("the", "count") == len(WORDS)  # though no text was ever seen
    read.save(str(tmp_path / "v.kv"))
    assert read_every_word(tmp_path / "v.kv").counts is None


def test_counts_of_doubled_words_stay_with_the_first(tmp_path: Path) -> None:
    tensors = {"vectors": np.eye(3, dtype=np.float32), "counts": np.array([9, 7, 5])}
    save_file(tensors, tmp_path / "v.safetensors", metadata={"words": '["a", "a", "b"]'})
    vectors = read_every_word(tmp_path / "v.safetensors")
    assert vectors.counts is not None
    assert dict(zip(vectors.rows, vectors.counts.tolist(), strict=True)) == {"a": 9, "b": 5}
