"""Word vectors: no file makes the reader allocate, wait or fail in more than one line."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from tests.cases import every
from tests.hostile import vectors
from tests.hostile.limits import outcome_of, refusal
from tests.messages import mentions

from weatherglass.encoders import load_encoder
from weatherglass.encoders.encodings import read_encodings
from weatherglass.storage.checksum import file_hash
from weatherglass.storage.torch_file import read_torch
from weatherglass.storage.unpickle import read_pickle
from weatherglass.vectors import read_every_word, read_vectors


def identity(spec: str) -> str:
    """What the key of results is made from: every file of the model is read."""
    return load_encoder(spec, cache=False).identity()


@pytest.mark.parametrize("name", every(4, vectors.FILES))
def test_a_header_that_promises_what_is_not_there(name: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(vectors.FILES[name])
    for read in (read_every_word, lambda path: read_vectors(path, ["a", "b"])):
        assert refusal(read, path).startswith(str(path))


def test_a_long_word_of_many_dimensions_takes_no_matrix_of_its_ngrams(tmp_path: Path) -> None:
    path = tmp_path / "vectors.bin"
    path.write_bytes(vectors.fasttext_word(b"x" * 5_000, 6, width=50_000))
    assert path.stat().st_size < 2**20
    assert outcome_of(read_every_word, path) == "read"
    ngrams = sum(5_002 - length + 1 for length in range(3, 7))
    assert read_every_word(path).matrix == pytest.approx(1 / (1 + ngrams))


@pytest.mark.large
def test_a_stream_unpacks_to_no_more_than_it_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(vectors.gzip_of_lines(3 * 2**20))
    monkeypatch.setenv("WEATHERGLASS_MAX_UNPACKED", "1M")
    assert mentions(refusal(lambda: read_vectors(path, ["a"])), path, "1 MB", "WEATHERGLASS_MAX_UNPACKED")
    monkeypatch.setenv("WEATHERGLASS_MAX_UNPACKED", "5M")
    assert read_vectors(path, ["a"]).duplicates > 0


@pytest.mark.parametrize("kind", ["pipe", "device", "socket", "folder"])
def test_only_regular_files_are_read(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as unix:
            unix.bind(os.path.relpath(path))
    elif kind == "folder":
        path.mkdir()
    else:
        path = Path("/dev/zero")
    readers = (read_every_word, read_encodings, read_pickle, read_torch, file_hash)
    for read in readers:
        assert mentions(refusal(read, path), path, kind)
    if kind != "folder":
        for spec in (str(path), f"vectors:{path}", f"hf:{path}", f"encodings:{path}"):
            assert refusal(identity, spec)


KINDS = (
    "vectors",
    "hf",
    "st",
    "encodings",
    "spacy",
    "onnx",
    "gguf",
    "elmo",
    "use",
    "model2vec",
    "gensen",
    "infersent",
)


@pytest.mark.parametrize("kind", every(4, ["", *(f"{kind}:" for kind in KINDS)]))
@pytest.mark.parametrize("name", ["x" * 300, "a/" + "x" * 300, "x\0y", "~nobody/x", "a b", "?", "x?y"])
def test_names_that_no_file_can_have(kind: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    assert refusal(identity, kind + name)
