"""The wanted words of a vector file and their vectors, collected by the readers of all formats."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import VectorFileError

BLOCK_ROWS = 4096
"""Rows that are allocated at a time; memory of this size goes back to the system when it is freed."""


@dataclass(frozen=True, slots=True)
class WordVectors:
    """The vectors of the wanted words that the file has."""

    matrix: NDArray[np.float32]
    """One row per word, as in the file."""
    rows: Mapping[str, int]
    """The row of each word, in the order of the file."""
    format: str
    """What the content was recognised as, such as "word2vec binary"."""
    duplicates: int = 0
    """How many further entries these words had; the first one counts."""
    counts: NDArray[np.int64] | None = None
    """How often each word occurred in the training text, where the file says so."""
    from_subwords: frozenset[str] = frozenset()
    """Out-of-vocabulary words whose vectors are made of their character n-grams."""

    @property
    def width(self) -> int:
        """The number of dimensions."""
        return int(self.matrix.shape[1])

    def __contains__(self, word: object) -> bool:
        return word in self.rows

    def __getitem__(self, word: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.matrix[self.rows[word]]
        return vector


class EveryWord:
    """Stands for the wanted words where all words are wanted; bytes that are no UTF-8 are spelt out as \\xff."""

    def __contains__(self, word: bytes) -> bool:
        return bool(word)

    def __getitem__(self, word: bytes) -> str:
        return word.decode("utf-8", "backslashreplace")


class Collector:
    """Collects the wanted entries of one file and refuses numbers that are not finite.

    Words are compared as bytes, so entries that are no valid text do no harm unless they are wanted.
    """

    def __init__(self, path: Path, words: Collection[str] | None, noun: str = "word") -> None:
        self.path = path
        self.wanted: dict[bytes, str] | EveryWord = (
            EveryWord() if words is None else {to_bytes(word): word for word in words}
        )
        self._noun = noun
        self._rows: dict[str, int] = {}
        self._blocks: list[NDArray[np.float32]] = []
        self._entries: list[int] = []
        self._duplicates = 0

    def add(self, word: bytes, vector: NDArray[Any], entry: int) -> None:
        """Add one wanted entry; `entry` is its number in the file, from 1, for error messages.

        Raises:
            VectorFileError: if a number is not finite in float32.
        """
        text = self.wanted[word]
        if text in self._rows:
            self._duplicates += 1
            return
        with np.errstate(over="ignore"):
            row = np.array(vector, dtype=np.float32)
        if not np.isfinite(row).all():
            wrong = int(np.flatnonzero(~np.isfinite(row))[0])
            where = f"{self.path}, {self._noun} {entry} ('{text}')"
            raise VectorFileError(f"{where}: number {wrong + 1} is {vector[wrong]}, which is not finite")
        number = len(self._rows)
        if number % BLOCK_ROWS == 0:
            self._blocks.append(np.empty((BLOCK_ROWS, len(row)), dtype=np.float32))
        self._blocks[-1][number % BLOCK_ROWS] = row
        self._rows[text] = number
        self._entries.append(entry)

    def finish(
        self,
        width: int,
        format: str,
        counts: NDArray[Any] | None = None,
        from_subwords: Collection[str] = (),
    ) -> WordVectors:
        """What was collected, moved rather than copied, so that memory is that of the vectors once.

        Args:
            width: the number of dimensions.
            format: what the file is.
            counts: how often the word of each entry occurred, wanted or not.
            from_subwords: the words that are not in the file's vocabulary.
        """
        matrix = np.empty((len(self._rows), width), dtype=np.float32)
        while self._blocks:
            block = self._blocks.pop()
            part = matrix[len(self._blocks) * BLOCK_ROWS :][:BLOCK_ROWS]
            part[:] = block[: len(part)]
        if counts is not None:
            counts = counts[np.array(self._entries, dtype=np.int64) - 1].astype(np.int64)
        return WordVectors(matrix, self._rows, format, self._duplicates, counts, frozenset(from_subwords))


def to_bytes(word: str) -> bytes:
    """A word as it stands in a file; a lone surrogate is legal in Python and matches no word."""
    return word.encode("utf-8", "surrogatepass")
