"""Every format is told from its content and read to the values that were written."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gensim.models import KeyedVectors
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from safetensors.numpy import save_file

from weatherglass.vectors import read_vectors

WORDS = ["the", "Amy", "amy", "'s", "naïve", "日本", "New_York", "-", "0.5"]
Writer = Callable[[Path, list[str], NDArray[np.float32]], Path]


@pytest.fixture
def matrix() -> NDArray[np.float32]:
    return np.random.default_rng(7).standard_normal((len(WORDS), 5)).astype(np.float32)


def keyed(words: list[str], matrix: NDArray[np.float32]) -> Any:
    vectors = KeyedVectors(matrix.shape[1])
    vectors.add_vectors(words, matrix)
    return vectors


def word2vec_text(folder: Path, words: list[str], matrix: NDArray[np.float32]) -> Path:
    keyed(words, matrix).save_word2vec_format(folder / "v", binary=False)
    return folder / "v"


def word2vec_binary(folder: Path, words: list[str], matrix: NDArray[np.float32]) -> Path:
    keyed(words, matrix).save_word2vec_format(folder / "v", binary=True)
    return folder / "v"


def original_binary(folder: Path, words: list[str], matrix: NDArray[np.float32]) -> Path:
    """As Google's own tool writes it: a newline after each entry."""
    entries = b"".join(
        word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, matrix, strict=True)
    )
    (folder / "v").write_bytes(f"{len(words)} {matrix.shape[1]}\n".encode() + entries)
    return folder / "v"


def gensim_one_file(folder: Path, words: list[str], matrix: NDArray[np.float32]) -> Path:
    keyed(words, matrix).save(str(folder / "v"))
    return folder / "v"


def gensim_two_files(folder: Path, words: list[str], matrix: NDArray[np.float32]) -> Path:
    keyed(words, matrix).save(str(folder / "v"), sep_limit=0)
    assert (folder / "v.vectors.npy").exists()
    return folder / "v"


def glove(folder: Path, words: list[str], matrix: NDArray[np.float32]) -> Path:
    lines = [" ".join([word, *map(str, row.tolist())]) for word, row in zip(words, matrix, strict=True)]
    (folder / "v").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "v"


def fasttext(folder: Path, words: list[str], matrix: NDArray[np.float32]) -> Path:
    """A .vec file: a header, and every line ends in a space."""
    lines = [f"{word} {' '.join(map(str, row.tolist()))} " for word, row in zip(words, matrix, strict=True)]
    (folder / "v").write_text("\n".join([f"{len(words)} {matrix.shape[1]}", *lines, ""]), encoding="utf-8")
    return folder / "v"


def windows_with_tabs(folder: Path, words: list[str], matrix: NDArray[np.float32]) -> Path:
    lines = ["\t".join([word, *map(str, row.tolist())]) for word, row in zip(words, matrix, strict=True)]
    (folder / "v").write_bytes(("\ufeff" + "\r\n".join(lines)).encode())  # no end of the last line
    return folder / "v"


def npz(folder: Path, words: list[str], matrix: NDArray[np.float32]) -> Path:
    np.savez_compressed(folder / "v.npz", words=np.array(words), vectors=matrix)
    return folder / "v.npz"


def npz_of_bytes(folder: Path, words: list[str], matrix: NDArray[np.float32]) -> Path:
    np.savez(folder / "v.npz", words=np.array([word.encode() for word in words]), vectors=matrix)
    return folder / "v.npz"


def npz_by_word(folder: Path, words: list[str], matrix: NDArray[np.float32]) -> Path:
    arrays: dict[str, Any] = dict(zip(words, matrix, strict=True))
    np.savez(folder / "v.npz", **arrays)
    return folder / "v.npz"


def safetensors(folder: Path, words: list[str], matrix: NDArray[np.float32]) -> Path:
    save_file({"vectors": matrix}, folder / "v", metadata={"words": json.dumps(words)})
    return folder / "v"


def safetensors_and_json(folder: Path, words: list[str], matrix: NDArray[np.float32]) -> Path:
    save_file({"vectors": matrix}, folder / "v.safetensors")
    (folder / "v.words.json").write_text(json.dumps(words), encoding="utf-8")
    return folder / "v.safetensors"


FORMATS: dict[Writer, str] = {
    word2vec_text: "word2vec text",
    word2vec_binary: "word2vec binary",
    original_binary: "word2vec binary",
    glove: "GloVe text",
    fasttext: "word2vec text",
    windows_with_tabs: "GloVe text",
    gensim_one_file: "gensim KeyedVectors",
    gensim_two_files: "gensim KeyedVectors",
    npz: "npz",
    npz_of_bytes: "npz",
    npz_by_word: "npz",
    safetensors: "safetensors",
    safetensors_and_json: "safetensors",
}
COMPRESSED = [word2vec_text, word2vec_binary, original_binary, glove, fasttext, gensim_one_file]


@pytest.mark.parametrize("write", FORMATS)
def test_the_wanted_words_are_read_to_the_values_written(
    write: Writer, matrix: NDArray[np.float32], tmp_path: Path
) -> None:
    path = write(tmp_path, WORDS, matrix)
    vectors = read_vectors(path, ["日本", "Amy", "absent", "'s", "0.5"])
    assert vectors.format == FORMATS[write]
    assert list(vectors.rows) == ["Amy", "'s", "日本", "0.5"]
    np.testing.assert_array_equal(vectors.matrix, matrix[[1, 3, 5, 8]])
    assert vectors.matrix.dtype == np.float32
    assert vectors.duplicates == 0


@pytest.mark.parametrize("write", COMPRESSED)
def test_a_compressed_file_reads_as_the_file_itself(
    write: Writer, matrix: NDArray[np.float32], tmp_path: Path
) -> None:
    path = write(tmp_path, WORDS, matrix)
    path.write_bytes(gzip.compress(path.read_bytes()))
    np.testing.assert_array_equal(read_vectors(path, WORDS).matrix, matrix)


@pytest.mark.parametrize("write", FORMATS)
def test_a_file_without_the_wanted_words_still_has_its_width(
    write: Writer, matrix: NDArray[np.float32], tmp_path: Path
) -> None:
    vectors = read_vectors(write(tmp_path, WORDS, matrix), ["absent"])
    assert vectors.matrix.shape == (0, 5)
    assert "absent" not in vectors


@pytest.mark.parametrize("write", [word2vec_text, word2vec_binary, gensim_one_file])
def test_gensim_reads_the_same_numbers(write: Writer, matrix: NDArray[np.float32], tmp_path: Path) -> None:
    path = write(tmp_path, WORDS, matrix)
    theirs = (
        KeyedVectors.load(str(path))
        if write is gensim_one_file
        else KeyedVectors.load_word2vec_format(path, binary=write is word2vec_binary)
    )
    ours = read_vectors(path, WORDS)
    for word in WORDS:
        np.testing.assert_array_equal(ours[word], theirs[word])


@pytest.mark.parametrize("write", [original_binary, glove, fasttext, npz, safetensors])
def test_the_first_of_two_equal_words_counts(
    write: Writer, matrix: NDArray[np.float32], tmp_path: Path
) -> None:
    words = ["a", "b", "a", "c", "b", "a", "d", "e", "e"]
    vectors = read_vectors(write(tmp_path, words, matrix), ["a", "b", "c"])
    np.testing.assert_array_equal(vectors.matrix, matrix[[0, 1, 3]])
    assert vectors.duplicates == 3


def test_a_file_of_gensim_3_is_read(matrix: NDArray[np.float32], tmp_path: Path) -> None:
    # gensim 3 called the list index2word and wrote protocol 2; a real file of it is in test_news_vectors.py.
    path = tmp_path / "v"
    old = keyed(WORDS, matrix)
    old.index2word = old.__dict__.pop("index_to_key")
    old.save(str(path), pickle_protocol=2)
    np.testing.assert_array_equal(read_vectors(path, WORDS).matrix, matrix)


@pytest.mark.parametrize("write", [glove, word2vec_text])
def test_a_word_may_contain_spaces(write: Writer, matrix: NDArray[np.float32], tmp_path: Path) -> None:
    words = [".", ". . .", "at name@domain.com", "area 51", "at", "b", "c", "d", "e"]
    vectors = read_vectors(write(tmp_path, words, matrix), [". . .", "at", "area 51"])
    np.testing.assert_array_equal(vectors[". . ."], matrix[1])
    np.testing.assert_array_equal(vectors["at"], matrix[4])
    np.testing.assert_array_equal(vectors["area 51"], matrix[3])


def test_a_line_whose_word_has_spaces_does_not_pass_for_its_first_part(
    matrix: NDArray[np.float32], tmp_path: Path
) -> None:
    words = [". . .", *"abcdefg", "."]
    vectors = read_vectors(glove(tmp_path, words, matrix), ["."])
    np.testing.assert_array_equal(vectors.matrix, matrix[[8]])
    assert vectors.duplicates == 0


def test_bytes_that_are_no_text_do_no_harm_in_other_words(tmp_path: Path) -> None:
    path = tmp_path / "v"
    path.write_bytes(b"a 1 2\n\xff\xfe\x00 3 4\nb 5 6\n")
    assert read_vectors(path, ["b", "\udcff"])["b"].tolist() == [5, 6]


def test_a_vector_of_zeros_is_read(tmp_path: Path) -> None:
    path = tmp_path / "v"
    path.write_text("a 0 0 0\nb 1 2 3\n")
    assert read_vectors(path, ["a"])["a"].tolist() == [0, 0, 0]


@pytest.mark.parametrize("rows", [b"ABCDEFGHIJKLMNOP", b"ABCDEFGHIJKLMNO\xc0"])
@pytest.mark.parametrize("write", [word2vec_binary, original_binary])
def test_binary_numbers_whose_bytes_are_all_printable_are_numbers(
    write: Writer, rows: bytes, tmp_path: Path
) -> None:
    matrix = np.frombuffer(rows, "<f4").reshape(2, 2)
    vectors = read_vectors(write(tmp_path, ["a", "b"], matrix), ["a", "b"])
    np.testing.assert_array_equal(vectors.matrix, matrix)


def test_lines_longer_than_a_block_and_words_across_blocks_are_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = np.random.default_rng(1).standard_normal((40, 30)).astype(np.float32)
    words = [f"word{number}" for number in range(40)]
    monkeypatch.setattr("weatherglass.vectors.text.BLOCK", 257)
    for write in (glove, fasttext, word2vec_binary):
        np.testing.assert_array_equal(read_vectors(write(tmp_path, words, matrix), words).matrix, matrix)


# Any text without what separates words and lines in these formats.
odd_words = st.text(
    st.characters(exclude_characters=" \t\n\r", exclude_categories=["Cs"]), min_size=1, max_size=12
)


@pytest.mark.parametrize("write", [word2vec_text, word2vec_binary, glove, gensim_one_file, npz, safetensors])
@given(words=st.lists(odd_words, min_size=2, max_size=9, unique=True), data=st.data())
def test_odd_words_come_back(
    write: Writer, words: list[str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    if write is npz:  # numpy's texts cannot end in a NUL
        words = [word for word in words if not word.endswith("\0")] or ["x"]
    numbers = st.lists(st.floats(-9, 9, width=32), min_size=2 * len(words), max_size=2 * len(words))
    matrix = np.array(data.draw(numbers), dtype=np.float32).reshape(len(words), 2)
    path = write(tmp_path_factory.mktemp("odd"), words, matrix)
    vectors = read_vectors(path, words)
    assert list(vectors.rows) == words
    np.testing.assert_array_equal(vectors.matrix, matrix)
