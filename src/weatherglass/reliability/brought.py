"""Embeddings that were trained elsewhere: one file per seed, in any format of word vectors."""

from __future__ import annotations

import gzip
from glob import glob
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from weatherglass.errors import VectorFileError
from weatherglass.reliability.embedding import SUFFIX, Embedding, load_embedding
from weatherglass.vectors import read_vectors

BROUGHT = "brought"


def embedding_files(pattern: str) -> list[Path]:
    """The files that a glob names, in the order of their names; each stands for one seed.

    Raises:
        VectorFileError: if there are none.
    """
    paths = sorted(Path(path) for path in glob(pattern))  # noqa: PTH207 - the pattern may be absolute
    if not paths:
        raise VectorFileError(
            f"{pattern}: no file has such a name; put the pattern in quotes: 'folder/*.txt'"
        )
    return paths


def read_embedding(path: Path, corpus: str, algorithm: str, seed: int) -> Embedding:
    """One of our embeddings, or a text file of vectors, whose words are taken to be ordered by frequency.

    Raises:
        VectorFileError: if it is neither.
    """
    if path.suffix == SUFFIX:
        return load_embedding(path)
    vectors = read_vectors(path, list(_words(path)))
    words = list(vectors.rows)
    return Embedding(words, np.zeros(len(words), dtype=np.int64), vectors.matrix, algorithm, seed, corpus)


def _words(path: Path) -> dict[str, None]:
    """What stands before the first space of each line."""
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    words: dict[str, None] = {}
    with cast(BinaryIO, gzip.open(path) if packed else path.open("rb")) as file:
        for number, line in enumerate(file):
            if number == 0 and b"\0" in line:
                raise VectorFileError(f"{path}: a binary file; save the vectors as text or as {SUFFIX}")
            words[line.split(b" ", 1)[0].split(b"\t", 1)[0].decode("utf-8", "replace")] = None
    return words
