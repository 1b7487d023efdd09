"""A file that is not what it should be is told in one line: which file, where, what was expected."""

from __future__ import annotations

import errno
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
from tests.messages import mentions, naming

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
    ("content", "where", "facts"),
    [
        ("", ": ", ["empty"]),
        ("\n\n", ": ", ["word vectors", "blank"]),
        (HTML, ": ", ["word vectors", "'<!DOCTYPE html>'", "web page"]),
        ("just some prose\nof two lines and more\n", ": ", ["word vectors", "'just some prose'"]),
        ("a 1 2 3\nb 1 2\nc 1 2 3\n", ", line 2: ", ["2 numbers", "most lines", 3]),
        ("a 1 2 3\nc 1 2 3\nb 1 2", ", line 3: ", ["2 numbers", "most lines", 3]),
        ("a 1 2 3\nc 1 2 3\nb 0.5 1.5 2.5 3.5\n", ", line 3: ", ["4 numbers", "most lines", 3]),
        ("3 2\nb 1 2\nc 1\na 1 2\n", ", line 3: ", ["1 number,", "first line", 2]),
        ("3 2\nb 1 2 \nc 1 \na 1 2 \n", ", line 3: ", ["1 number,", "first line", 2]),
        ("3 2\nb 1 2\na 1 2\n", ": ", ["first line", "3 words", 2]),
        ("1 2\nb 1 2\na 1 2\n", ": ", ["first line", "1 words", 2]),
        ("400000 300", ": ", ["first line", "400000 words", 0]),
        ("2 3\na 1 2 3\nb\n", ", line 3: ", ["0 numbers", "first line", 3]),
        ("2 3\na\nb 1 2 3\n", ", line 2: ", ["0 numbers", "first line", 3]),
        ("b 1 2\na 1 x\n", ", line 2: ", ["'x'"]),
        ("b 1 2\na 1 nan\n", ", line 2 ('a'): ", ["number 2", "nan"]),
        ("b 1 2\na -inf 1\n", ", line 2 ('a'): ", ["number 1", "-inf"]),
        ("b 1 2\na 1 1e39\n", ", line 2 ('a'): ", ["number 2", "1e+39"]),
    ],
)
def test_text(content: str, where: str, facts: list[object], tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text(content)
    said = complaint(path)
    assert said.startswith(where)
    assert mentions(said, *facts)


@pytest.mark.parametrize("spelling", ["1_000", "0x1p3", "\uff11", "1,5", "--1", "1e"])
def test_what_only_python_or_nobody_reads_as_a_number_is_refused(spelling: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text(f"b 1 2\na {spelling} 2\n", encoding="utf-8")
    assert complaint(path).startswith(f", line 2: {spelling!r} ")
    with pytest.raises(VectorFileError, match=naming("line 2:", repr(spelling))):
        read_every_word(path)


def test_a_number_that_is_not_finite_does_no_harm_in_other_words(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("b nan 2\na 1 2\n")
    assert read_vectors(path, ["a"])["a"].tolist() == [1, 2]


@pytest.mark.parametrize("length", range(4, len(BINARY)))
def test_a_binary_file_cut_anywhere_is_noticed(length: int, tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    path.write_bytes(BINARY[:length])
    assert re.match(r", word \d of 2: |: .*\b2 words\b|, line \d: \d numbers", complaint(path))


def test_a_binary_file_that_goes_on_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    path.write_bytes(BINARY + b"\nc ")
    assert mentions(complaint(path), "first line", "2 words")


def test_a_binary_file_with_a_number_that_is_not_finite(tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    path.write_bytes(b"1 2\na " + np.array([1, np.nan], dtype="<f4").tobytes())
    assert mentions(complaint(path), ", word 1 ('a'): ", "number 2", "nan")


def test_a_binary_file_without_spaces_is_given_up_early(tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    path.write_bytes(b"9 2\n" + b"\0" * 2**21)
    assert mentions(complaint(path), ", word 1 of 9: ", "8 bytes (2 numbers)")


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    assert mentions(complaint(tmp_path / "nowhere.txt"), os.strerror(errno.ENOENT))
    assert mentions(complaint(tmp_path), "folder")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt"
    path.write_text("a 1 2\n")
    path.chmod(0)
    assert mentions(complaint(path), os.strerror(errno.EACCES))


@pytest.mark.parametrize("damage", [lambda b: b[:-9], lambda b: b[:30] + b"\0\0\0" + b[33:], lambda b: b[:5]])
def test_a_gzip_file_that_is_cut_off_or_damaged(damage: object, tmp_path: Path) -> None:
    path = tmp_path / "vectors.txt.gz"
    content = gzip.compress("".join(f"w{n} {n} {n / 7}\n" for n in range(999)).encode())
    path.write_bytes(damage(content))  # type: ignore[operator]
    assert mentions(complaint(path), "gzip", "damaged")


@pytest.mark.parametrize(
    ("start", "facts"),
    [(b"\x89HDF\r\n\x1a\n", ["HDF5", "encodings:FILE"]), (b"\x93NUMPY\x01\x00", ["array", "words"])],
)
def test_other_kinds_of_files_are_called_by_their_name(
    start: bytes, facts: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(start + bytes(99))
    assert mentions(complaint(path), *facts)


def test_npz(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    np.savez(path, words=np.array(["a", "b"]), vectors=np.zeros((3, 2)))
    assert mentions(complaint(path), "2 words", "3 vectors")
    np.savez(path, words=np.array(["a", "b"]), vectors=np.zeros(2))
    assert mentions(complaint(path), "shape (2,)", "float64")
    np.savez(path, words=np.array(["a"]), vectors=np.array([[np.inf]]))
    assert mentions(complaint(path), ", word 1 ('a'): ", "number 1", "inf")
    np.savez(path, b=np.zeros(3), a=np.zeros(2))
    assert mentions(complaint(path), ", array 'a': ", "(2,)", "float64", "(3,)", "'b'")
    path.write_bytes(path.read_bytes()[:-50])
    assert mentions(complaint(path), ".npz", "damaged")


def test_an_npz_with_a_compression_that_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "vectors.npz"
    np.savez(path, words=np.array(["a"]), vectors=np.zeros((1, 2)))
    content = bytearray(path.read_bytes())
    for start in (content.find(b"PK\x01\x02"), content.rfind(b"PK\x01\x02")):
        content[start + 10] = 77  # the method of compression, in the directory of the archive
    path.write_bytes(content)
    assert mentions(complaint(path), ".npz", "damaged", "compression method")


def test_an_npz_with_python_objects_is_refused_without_unpickling(tmp_path: Path) -> None:
    path, marker = tmp_path / "vectors.npz", tmp_path / "it-ran"

    class Payload:
        def __reduce__(self) -> tuple[object, ...]:
            return os.mkdir, (str(marker),)

    np.savez(path, words=np.array([Payload()], dtype=object), vectors=np.zeros((1, 2)))
    assert mentions(complaint(path, error=UnsafeFileError), "'words'", "Python objects")
    assert not marker.exists()


def test_a_zip_archive_of_a_text_file(tmp_path: Path) -> None:
    import zipfile

    path = tmp_path / "glove.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("glove.txt", "a 1 2\n")
    assert mentions(complaint(path), "'glove.txt'", "zip archive")


def test_safetensors(tmp_path: Path) -> None:
    path = tmp_path / "v.safetensors"
    matrix = np.zeros((2, 3), dtype=np.float32)
    save_file({"weight": matrix}, path)
    assert mentions(complaint(path), "'vectors'", "weight")
    save_file({"vectors": matrix}, path)
    assert mentions(complaint(path), "metadata", "'words'", "v.words.json")
    save_file({"vectors": matrix}, path, metadata={"words": json.dumps({"a": 1})})
    assert mentions(complaint(path), ", metadata 'words': ", "JSON list")
    save_file({"vectors": matrix}, path, metadata={"words": json.dumps(["a"])})
    assert mentions(complaint(path), "1 words", "2 vectors")
    path.write_bytes(path.read_bytes()[:-5])
    assert mentions(complaint(path), ".safetensors file")


def test_gensim(tmp_path: Path) -> None:
    path = tmp_path / "v.kv"
    vectors = KeyedVectors(2)
    vectors.add_vectors(["a"], np.ones((1, 2), dtype=np.float32))
    vectors.save(str(path), sep_limit=0)
    (tmp_path / "v.kv.vectors.npy").unlink()
    assert mentions(complaint(path), "v.kv.vectors.npy")
    vectors.save(str(path))
    path.write_bytes(path.read_bytes()[:-30])
    assert mentions(complaint(path), "pickle", "damaged")
    path.write_bytes(pickle.dumps({"a": [1, 2]}))
    assert mentions(complaint(path), "pickle", "KeyedVectors")


def test_a_whole_gensim_model_is_refused_with_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "model"
    Word2Vec([["a", "b"]] * 3, vector_size=2, min_count=1).save(str(path))
    text = complaint(path, error=UnsafeFileError)
    assert mentions(text, "gensim.models.word2vec.Word2Vec", "model.wv.save(path)")
