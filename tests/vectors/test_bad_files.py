"""A file that is not what it should be is told in one line: which file, where, what was expected."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from gensim.models import KeyedVectors, Word2Vec
from safetensors.numpy import save_file

from weatherglass.errors import UnsafeFileError, VectorFileError, WeatherglassError
from weatherglass.vectors import read_every_word, read_vectors

HTML = "<!DOCTYPE html>\n<html><head><title>404</title></head>\n<body><p>Not found</p>\n</body></html>\n"
BINARY = b"2 3\n" + b"".join(w + b" " + np.arange(3, dtype="<f4").tobytes() for w in (b"a", b"b"))


def complaint(path: Path, *words: str, error: type[WeatherglassError] = VectorFileError) -> str:
    """The one line that reading `path` ends in, without the folder."""
    with pytest.raises(error) as caught:
        read_vectors(path, words or ("a",))
    text = str(caught.value)
    assert text.startswith(str(path))
    assert "\n" not in text
    return text.removeprefix(str(path))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", ": the file is empty"),
        ("\n\n", ": this is no file of word vectors"),
        (
            HTML,
            ": this is no file of word vectors (it begins with '<!DOCTYPE html>'; it looks like a web page)",
        ),
        ("just some prose\nof two lines and more\n", ": this is no file of word vectors"),
        ("a 1 2 3\nb 1 2\nc 1 2 3\n", ", line 2: 2 numbers, but most lines have 3"),
        ("a 1 2 3\nc 1 2 3\nb 1 2", ", line 3: 2 numbers, but most lines have 3"),
        ("a 1 2 3\nc 1 2 3\nb 0.5 1.5 2.5 3.5\n", ", line 3: 4 numbers, but most lines have 3"),
        ("3 2\nb 1 2\nc 1\na 1 2\n", ", line 3: 1 numbers, but the first line promises 2"),
        ("3 2\nb 1 2 \nc 1 \na 1 2 \n", ", line 3: 1 numbers, but the first line promises 2"),
        ("3 2\nb 1 2\na 1 2\n", ": the first line promises 3 words, but 2 follow; the file may be cut off"),
        ("1 2\nb 1 2\na 1 2\n", ": the first line promises 1 words, but 2 follow"),
        ("400000 300", ": the first line promises 400000 words, but 0 follow"),
        ("2 3\na 1 2 3\nb\n", ", line 3: 0 numbers, but the first line promises 3"),
        ("2 3\na\nb 1 2 3\n", ", line 2: 0 numbers, but the first line promises 3"),
        ("b 1 2\na 1 x\n", ", line 2: 'x' is not a number"),
        ("b 1 2\na 1 nan\n", ", line 2 ('a'): number 2 is nan, which is not finite"),
        ("b 1 2\na -inf 1\n", ", line 2 ('a'): number 1 is -inf, which is not finite"),
        ("b 1 2\na 1 1e39\n", ", line 2 ('a'): number 2 is 1e+39, which is not finite"),
    ],
)
def test_text(content: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text(content)
    assert complaint(path).startswith(expected)


@pytest.mark.parametrize("spelling", ["1_000", "0x1p3", "\uff11", "1,5", "--1", "1e"])
def test_what_only_python_or_nobody_reads_as_a_number_is_refused(spelling: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text(f"b 1 2\na {spelling} 2\n", encoding="utf-8")
    assert complaint(path) == f", line 2: {spelling!r} is not a number"
    with pytest.raises(VectorFileError, match="is not a number"):
        read_every_word(path)


def test_a_number_that_is_not_finite_does_no_harm_in_other_words(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("b nan 2\na 1 2\n")
    assert read_vectors(path, ["a"])["a"].tolist() == [1, 2]


@pytest.mark.parametrize("length", range(4, len(BINARY)))
def test_a_binary_file_cut_anywhere_is_noticed(length: int, tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    path.write_bytes(BINARY[:length])
    assert re.match(
        r", word \d of 2: expected|: the first line promises 2|, line \d: \d numbers", complaint(path)
    )


def test_a_binary_file_that_goes_on_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    path.write_bytes(BINARY + b"\nc ")
    assert complaint(path) == ": the first line promises 2 words, but the file goes on after"


def test_a_binary_file_with_a_number_that_is_not_finite(tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    path.write_bytes(b"1 2\na " + np.array([1, np.nan], dtype="<f4").tobytes())
    assert complaint(path) == ", word 1 ('a'): number 2 is nan, which is not finite"


def test_a_binary_file_without_spaces_is_given_up_early(tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    path.write_bytes(b"9 2\n" + b"\0" * 2**21)
    assert complaint(path).startswith(", word 1 of 9: expected a word, a space and 8 bytes (2 numbers)")


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    assert complaint(tmp_path / "nowhere.txt") == ": cannot be read (No such file or directory)"
    assert complaint(tmp_path) == ": this is a folder; name the file of vectors in it"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("a 1 2\n")
    path.chmod(0)
    assert complaint(path) == ": cannot be read (Permission denied)"


@pytest.mark.parametrize("damage", [lambda b: b[:-9], lambda b: b[:30] + b"\0\0\0" + b[33:], lambda b: b[:5]])
def test_a_gzip_file_that_is_cut_off_or_damaged(damage: object, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt.gz"
    content = gzip.compress("".join(f"w{n} {n} {n / 7}\n" for n in range(999)).encode())
    path.write_bytes(damage(content))  # type: ignore[operator]
    assert complaint(path).startswith(": the gzip file is cut off or damaged")


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (b"\x89HDF\r\n\x1a\n", ": this is an HDF5 file; if it holds encodings, name it as encodings:FILE"),
        (b"\x93NUMPY\x01\x00", ": this is a bare array without words"),
    ],
)
def test_other_kinds_of_files_are_called_by_their_name(start: bytes, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(start + bytes(99))
    assert complaint(path).startswith(expected)


def test_npz(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    np.savez(path, words=np.array(["a", "b"]), vectors=np.zeros((3, 2)))
    assert complaint(path) == ": 2 words, but 3 vectors"
    np.savez(path, words=np.array(["a", "b"]), vectors=np.zeros(2))
    assert "expected one row of numbers for each word" in complaint(path)
    np.savez(path, words=np.array(["a"]), vectors=np.array([[np.inf]]))
    assert complaint(path) == ", word 1 ('a'): number 1 is inf, which is not finite"
    np.savez(path, b=np.zeros(3), a=np.zeros(2))
    assert complaint(path).startswith(", array 'a': shape (2,) of float64, but expected (3,) numbers")
    path.write_bytes(path.read_bytes()[:-50])
    assert complaint(path).startswith(": this .npz file is cut off or damaged")


def test_an_npz_with_a_compression_that_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    np.savez(path, words=np.array(["a"]), vectors=np.zeros((1, 2)))
    content = bytearray(path.read_bytes())
    for start in (content.find(b"PK\x01\x02"), content.rfind(b"PK\x01\x02")):
        content[start + 10] = 77  # the method of compression, in the directory of the archive
    path.write_bytes(content)
    assert complaint(path).startswith(": this .npz file is cut off or damaged (That compression method")


def test_an_npz_with_python_objects_is_refused_without_unpickling(tmp_path: Path) -> None:
    path, marker = tmp_path / "vectors.npz", tmp_path / "it-ran"

    class Payload:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(marker),)

    np.savez(path, words=np.array([Payload()], dtype=object), vectors=np.zeros((1, 2)))
    assert ": refused, because 'words' is an array of Python objects" in complaint(
        path, error=UnsafeFileError
    )
    assert not marker.exists()


def test_a_zip_archive_of_a_text_file(tmp_path: Path) -> None:
    import zipfile

    path = tmp_path / "glove.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("glove.txt", "a 1 2\n")
    assert complaint(path) == ": 'glove.txt' in this zip archive is no array; if vectors are in it, unpack it"


def test_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "v.safetensors"
    matrix = np.zeros((2, 3), dtype=np.float32)
    save_file({"weight": matrix}, path)
    assert complaint(path) == ": no tensor called 'vectors' (it has: weight)"
    save_file({"vectors": matrix}, path)
    assert complaint(path) == ": no words, neither in its metadata under 'words' nor in v.words.json"
    save_file({"vectors": matrix}, path, metadata={"words": json.dumps({"a": 1})})
    assert complaint(path) == ", metadata 'words': should be a JSON list of words"
    save_file({"vectors": matrix}, path, metadata={"words": json.dumps(["a"])})
    assert complaint(path) == ": 1 words, but 2 vectors"
    path.write_bytes(path.read_bytes()[:-5])
    assert complaint(path).startswith(": this .safetensors file cannot be read")


def test_gensim(tmp_path: Path) -> None:
    path = tmp_path / "v.kv"
    vectors = KeyedVectors(2)
    vectors.add_vectors(["a"], np.ones((1, 2), dtype=np.float32))
    vectors.save(str(path), sep_limit=0)
    (tmp_path / "v.kv.vectors.npy").unlink()
    assert complaint(path) == ": its numbers are in v.kv.vectors.npy, which should lie beside it"
    vectors.save(str(path))
    path.write_bytes(path.read_bytes()[:-30])
    assert complaint(path).startswith(": this pickle is cut off or damaged")
    path.write_bytes(pickle.dumps({"a": [1, 2]}))
    assert complaint(path) == ": this pickle does not hold gensim's KeyedVectors"


def test_a_whole_gensim_model_is_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "model"
    Word2Vec([["a", "b"]] * 3, vector_size=2, min_count=1).save(str(path))
    text = complaint(path, error=UnsafeFileError)
    assert "would call gensim.models.word2vec.Word2Vec" in text
    assert text.endswith("save them with: model.wv.save(path)")
