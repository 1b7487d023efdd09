"""Headers of arrays are compared with what follows them, wherever an array is read."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tests.hostile import arrays
from tests.hostile.limits import refusal
from tests.messages import mentions

from weatherglass.encoders.encodings import read_encodings
from weatherglass.reliability.training.embedding import load_embedding
from weatherglass.storage.array_file import map_array
from weatherglass.vectors import read_every_word, read_vectors


@pytest.mark.parametrize("name", arrays.HEADERS)
def test_an_array_whose_header_is_wrong(name: str, tmp_path: Path) -> None:
    header, path = arrays.HEADERS[name], tmp_path / "v.npz"
    path.write_bytes(arrays.npz(words=header, vectors=header, texts=header))
    for read in (read_every_word, read_encodings):
        assert refusal(read, path).startswith(f"{path}: ")
    alone = tmp_path / "v.npy"
    alone.write_bytes(header)
    if name != "fewer numbers than there are":
        line = refusal(lambda: map_array(alone))
        assert line.startswith(f"{alone}: ")
        assert mentions(line, "array")


def test_an_array_whose_vectors_alone_are_wrong(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    path.write_bytes(arrays.npz(words=arrays.texts("a"), vectors=arrays.HEADERS["8 TB"]))
    assert mentions(refusal(lambda: read_vectors(path, ["a"])), path, "bytes", 0, "header")


def test_an_archive_unpacks_to_no_more_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v.npz"
    np.savez_compressed(path, words=np.array(["a"]), vectors=np.zeros((1, 2**18)))
    monkeypatch.setenv("WEATHERGLASS_MAX_UNPACKED", "1M")
    assert mentions(refusal(lambda: read_vectors(path, ["a"])), path, "1 MB", "WEATHERGLASS_MAX_UNPACKED")
    monkeypatch.setenv("WEATHERGLASS_MAX_UNPACKED", "3 MB")
    assert read_vectors(path, ["a"]).width == 2**18
    monkeypatch.setenv("WEATHERGLASS_MAX_UNPACKED", "much")
    line = refusal(lambda: read_vectors(path, ["a"]))
    assert mentions(line, "WEATHERGLASS_MAX_UNPACKED=much", "500M", "8G")


@pytest.mark.parametrize("compression", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2])
def test_compressions_that_numpy_does_not_write(compression: int, tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    path.write_bytes(arrays.npz(compression, words=arrays.texts("a"), vectors=arrays.texts("a")))
    assert mentions(refusal(lambda: read_vectors(path, ["a"])), path, "compressed", "numpy")


@pytest.mark.parametrize("name", arrays.SAFETENSORS)
def test_a_safetensors_file_that_is_wrong(name: str, tmp_path: Path) -> None:
    path = tmp_path / "v.safetensors"
    path.write_bytes(arrays.SAFETENSORS[name])
    for read in (read_every_word, read_encodings):
        assert refusal(read, path).startswith(str(path))


def test_a_name_with_a_zero_byte_in_an_archive_is_refused(tmp_path: Path) -> None:
    """The library cuts it off there; a word was passed over without a word."""
    path = tmp_path / "v.npz"
    np.savez(path, the=np.ones(3), rose=np.ones(3))
    content = path.read_bytes()
    assert content.count(b"rose.npy") == 2
    place = content.rindex(b"rose.npy")
    path.write_bytes(content[:place] + b"\0" + content[place + 1 :])
    assert mentions(refusal(read_every_word, path), path, "zero byte")


def test_an_embedding_of_ours_whose_words_are_no_list_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "e.safetensors"
    metadata = dict.fromkeys(("algorithm", "corpus", "corpus_hash"), "x")
    metadata |= {"words": "7", "seed": "1", "settings": "{}"}
    save_file({"counts": np.ones(2), "vectors": np.ones((2, 3))}, path, metadata)
    assert mentions(refusal(load_embedding, path), path, "embedding")
