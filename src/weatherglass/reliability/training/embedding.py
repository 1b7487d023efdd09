"""One trained embedding and its file: words, counts, vectors and settings; written atomically."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers
from weatherglass.errors import VectorFileError, unreadable
from weatherglass.storage.atomic import whole_file
from weatherglass.storage.checksum import State, set_aside
from weatherglass.storage.safetensors_file import require_whole, safetensors_state, write_safetensors

Vectors = NDArray[np.float32]
SUFFIX = ".safetensors"


@dataclass(frozen=True)
class Embedding:
    """The vectors of one corpus, algorithm and seed."""

    words: Sequence[str]
    """The vocabulary, the most frequent word first."""
    counts: Integers
    """How often each word occurs in the corpus."""
    vectors: Vectors
    """One row per word."""
    algorithm: str
    """sgns, cbow, glove or sgns-window; for imported vectors any name, "imported" by default."""
    seed: int
    corpus: str
    """The name of the corpus."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the training: dimensions, window, epochs, …"""
    corpus_hash: str = ""
    """Hash of the encoded corpus; embeddings with the same hash have the same vocabulary."""

    def __post_init__(self) -> None:
        if not len(self.words) == len(self.counts) == len(self.vectors):
            raise ValueError(
                f"{len(self.words)} words, {len(self.counts)} counts and {len(self.vectors)} vectors do not match"
            )

    @cached_property
    def index(self) -> dict[str, int]:
        """The row of each word."""
        return {word: row for row, word in enumerate(self.words)}


def save_embedding(path: Path, embedding: Embedding) -> None:
    """Write `embedding` as .safetensors: the same embedding gives the same bytes, and a kill leaves no partial file.

    The tensors are `vectors` and `counts`; the metadata holds the words as a JSON list, so that other programs can
    read the file as word vectors, and all other fields.
    """
    vectors = np.ascontiguousarray(embedding.vectors, dtype="<f4")
    counts = np.ascontiguousarray(embedding.counts, dtype="<i8")
    metadata = {
        "words": json.dumps(list(embedding.words), ensure_ascii=False),
        "algorithm": embedding.algorithm,
        "seed": str(embedding.seed),
        "corpus": embedding.corpus,
        "corpus_hash": embedding.corpus_hash,
        "settings": json.dumps(dict(embedding.settings), sort_keys=True),
    }
    tensors = {"counts": ("I64", counts.shape), "vectors": ("F32", vectors.shape)}
    with whole_file(path) as unfinished:
        write_safetensors(unfinished, metadata, tensors, (counts, vectors))


def is_whole_embedding(path: Path) -> bool:
    """Return whether a file that `save_embedding` wrote is as it was written; one without a checksum is not."""
    return safetensors_state(path) is State.WHOLE


def set_damaged_aside(paths: Sequence[Path], then: str) -> None:
    """Set aside those stored embeddings that are there and damaged.

    Args:
        paths: of files that `save_embedding` wrote, no others.
        then: what happens now, for the warning.
    """
    stored = [path for path in paths if path.is_file()]
    set_aside([path for path in stored if not is_whole_embedding(path)], then)


@dataclass(frozen=True)
class Description:
    """Everything about a stored embedding except its vectors."""

    words: Sequence[str]
    dimensions: int
    has_counts: bool
    """Whether it is known how often each word occurs."""
    algorithm: str
    corpus: str
    corpus_hash: str
    settings: Mapping[str, Any]

    @property
    def origin(self) -> tuple[str, str, str]:
        """Corpus, algorithm and corpus hash: the same for all seeds of one embedding."""
        return self.corpus, self.algorithm, self.corpus_hash


def describe_embedding(path: Path) -> Description | None:
    """Describe what `save_embedding` wrote; None for any other file.

    Raises:
        VectorFileError: if it is damaged.
    """
    from safetensors import SafetensorError, safe_open

    try:
        require_whole(path)
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            return Description(
                words=json.loads(metadata["words"]),
                dimensions=file.get_slice("vectors").get_shape()[1],
                has_counts=bool(file.get_tensor("counts").any()),
                algorithm=metadata["algorithm"],
                corpus=metadata["corpus"],
                corpus_hash=metadata["corpus_hash"],
                settings=json.loads(metadata["settings"]),
            )
    except (OSError, SafetensorError, KeyError, ValueError, TypeError):
        return None


def load_embedding(path: Path) -> Embedding:
    """Read what `save_embedding` wrote.

    Raises:
        VectorFileError: if the file is missing, damaged or was written by something else.
    """
    from safetensors import SafetensorError, safe_open

    try:
        require_whole(path)
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            return Embedding(
                words=json.loads(metadata["words"]),
                counts=file.get_tensor("counts"),
                vectors=file.get_tensor("vectors"),
                algorithm=metadata["algorithm"],
                seed=int(metadata["seed"]),
                corpus=metadata["corpus"],
                settings=json.loads(metadata["settings"]),
                corpus_hash=metadata["corpus_hash"],
            )
    except OSError as error:
        raise VectorFileError(unreadable(path, error)) from None
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise VectorFileError(f"{path}: not an embedding stored by weatherglass ({error})") from None
