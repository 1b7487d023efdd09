"""Collect the wanted words and vectors of a vector file, for the readers of all formats."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import AnyMatrix, AnyVector
from weatherglass.errors import VectorFileError
from weatherglass.languages.similar_words import fold, twins_among
from weatherglass.warnings import Warning


class RowsOnDisk:
    """A temporary file of float32 rows, which grows; the system deletes it when its last array is forgotten."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def array(self, rows: int, width: int) -> NDArray[np.float32]:
        """Return the file as an array of this many rows; the rows of an earlier array are its first.

        Raises:
            OSError: if the disk is full, or the system cannot reserve a part of it.
        """
        if not hasattr(os, "posix_fallocate"):
            raise OSError("macOS and Windows do not reserve a part of a disk")
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (mapped arrays outlive this object)
        size = max(1, 4 * rows * width)
        # The disk is reserved first, since a write to a mapped file on a full disk would end the process.
        os.posix_fallocate(self._file.fileno(), 0, size)
        mapped = mmap.mmap(self._file.fileno(), size)
        return np.frombuffer(mapped, np.float32, rows * width).reshape(rows, width)


def release_memory(rows: NDArray[Any]) -> None:
    """Let the system take back the memory of rows on disk, which it reads again when they are used."""
    base: Any = rows
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    if isinstance(base, mmap.mmap):
        base.madvise(mmap.MADV_DONTNEED)


FIRST_ROWS = 4096
FIRST_NUMBERS = 2**22
"""The number of rows to allocate if the file does not state it, and the maximum number of values in them."""


Kernel = Callable[
    [NDArray[np.uint8], int, NDArray[np.float32], NDArray[np.uint8], NDArray[np.bool_]], tuple[int, int, int]
]
"""A function that reads plain entries of a buffer into rows, and returns their number, the next position, and the
bytes of words.
"""


@dataclass(frozen=True, slots=True)
class WordVectors:
    """Vectors of words, as read from a file or an object."""

    matrix: AnyMatrix
    """One row per word, in float32 for a file and in the original precision for an object in memory."""
    rows: Mapping[str, int]
    """The row of each word, in the order of the file."""
    format: str
    """The detected format, such as "word2vec binary"."""
    duplicates: int = 0
    """The number of duplicate entries of the wanted words; the first entry counts."""
    counts: NDArray[np.int64] | None = None
    """The count of each word in the training text, if the file states it."""
    twins: tuple[tuple[str, ...], ...] = ()
    """Wanted words, each with the words of the file that look the same (`languages.similar_words`)."""
    warnings: tuple[Warning, ...] = ()
    """Possible problems of the file."""
    from_subwords: frozenset[str] = frozenset()
    """Out-of-vocabulary words whose vectors are computed from their character n-grams."""

    @property
    def width(self) -> int:
        """Return the number of dimensions."""
        return int(self.matrix.shape[1])

    def __contains__(self, word: object) -> bool:
        return word in self.rows

    def __getitem__(self, word: str) -> AnyVector:
        vector: AnyVector = self.matrix[self.rows[word]]
        return vector


class EveryWord:
    """A set that contains every word, for readers of whole files; it writes bytes that are not UTF-8 as \\xff."""

    def __contains__(self, word: bytes) -> bool:
        return bool(word)

    def __getitem__(self, word: bytes) -> str:
        return word.decode("utf-8", "backslashreplace")

    def spell(self, words: bytes, separator: bytes) -> list[str]:
        """Return the words in the given bytes; each ends with the separator."""
        try:
            return words.decode().split(separator.decode())[:-1]
        except UnicodeDecodeError:
            return [self[word] for word in words.split(separator)[:-1]]


class Collector:
    """A collector of the wanted entries of a file, which refuses numbers that are not finite.

    Words are compared as bytes, so that entries with invalid text are ignored unless they are wanted.
    """

    def __init__(
        self, path: Path, words: Collection[str] | None, noun: str = "word", on_disk: bool = False
    ) -> None:
        self.path = path
        self._disk = RowsOnDisk() if on_disk else None
        self.wanted: dict[bytes, str] | EveryWord = (
            EveryWord() if words is None else {to_bytes(word): word for word in words}
        )
        self._noun = noun
        self._rows: dict[str, int] = {}
        self._later: list[str] = []  # words of the rows after those in `_rows`
        self._matrix = np.empty((0, 0), dtype=np.float32)
        self._entries: list[int] = []  # of the words that were added individually
        self._unusual: list[str] = []  # words that may look like another word
        self._duplicates = 0
        self._spellings: dict[str, dict[str, None]] = {}
        for word in words or ():
            self._spellings.setdefault(fold(word), {})[word] = None
        self.warnings: list[Warning] = []

    def notice(self, word: bytes) -> None:
        """Record an entry that is not wanted if it looks the same as a wanted word."""
        text = word.decode("utf-8", "replace")
        if (spellings := self._spellings.get(fold(text))) is not None:
            spellings[text] = None

    def reserve(self, rows: int, width: int, row_bytes: int) -> None:
        """Allocate the rows that a header states, but no more than a file of this size can contain."""
        rows = min(rows, self.path.stat().st_size // row_bytes)
        self._matrix = self._allocated(rows, width)

    def _allocated(self, rows: int, width: int) -> NDArray[np.float32]:
        """Return new rows, or more rows of which the first are those in use on disk; in memory if the disk is full."""
        if self._disk is not None:
            try:
                return self._disk.array(rows, width)
            except OSError:
                self._disk = None
        in_memory = np.empty((rows, width), dtype=np.float32)
        if len(self._matrix):
            in_memory[: len(self._matrix)] = self._matrix
        return in_memory

    def free_rows(self, rows: int, width: int) -> NDArray[np.float32]:
        """Return at least this many free rows, which are valid until an entry is added or `keep` is called."""
        used = len(self._rows) + len(self._later)
        if self._matrix.size == 0:
            first = min(FIRST_ROWS, FIRST_NUMBERS // max(1, width))
            self._matrix = self._allocated(max(rows, first), width)
        elif used + rows > len(self._matrix):
            more = used + max(rows, used // 8)
            if self._disk is not None:
                self._matrix = self._allocated(more, width)
            else:
                # The system moves a large array without copying it. Views of the old memory are not used any more.
                self._matrix.resize((more, width), refcheck=False)
        return self._matrix[used:]

    def keep(self, words: list[str], printable: NDArray[np.bool_]) -> None:
        """Keep the first free rows as the vectors of these words.

        Args:
            words: the words of the next entries.
            printable: whether each word is printable ASCII, so that it cannot look like another word; may be longer
                than `words`.
        """
        self._unusual += [words[number] for number in np.flatnonzero(~printable[: len(words)]).tolist()]
        self._later += words
        release_memory(self._matrix)

    def _index(self) -> None:
        """Index all kept words at once, which is faster than after each block of numbers."""
        first, words, self._later = len(self._rows), self._later, []
        rows = list(map(self._rows.setdefault, words, range(first, first + len(words))))
        if len(self._rows) == first + len(words):
            return
        # Rows of duplicate words are replaced by the next rows.
        kept = [number for number, row in enumerate(rows) if row == first + number]
        self._rows |= {words[number]: first + place for place, number in enumerate(kept)}
        for start in range(0, len(kept), FIRST_ROWS):
            some = kept[start : start + FIRST_ROWS]
            to = first + start
            self._matrix[to : to + len(some)] = self._matrix[[first + number for number in some]]
            release_memory(self._matrix)
        self._duplicates += len(words) - len(kept)

    def add(self, word: bytes, vector: NDArray[Any], entry: int) -> None:
        """Add one wanted entry; `entry` is its number in the file, from 1, for error messages.

        Raises:
            VectorFileError: if a number is not finite in float32.
        """
        if self._later:
            self._index()
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
        self.free_rows(1, len(row))[0] = row
        self._rows[text] = len(self._rows)
        self._entries.append(entry)
        self._unusual.append(text)

    def finish(
        self,
        width: int,
        format: str,
        counts: NDArray[Any] | None = None,
        from_subwords: Collection[str] = (),
    ) -> WordVectors:
        """Return the collected words and vectors, without a copy.

        Args:
            width: the number of dimensions.
            format: the format of the file.
            counts: the count of each entry of the file, if words were added individually.
            from_subwords: the out-of-vocabulary words.
        """
        if self._later:
            self._index()
        matrix, self._matrix = self._matrix, np.empty((0, 0), dtype=np.float32)
        if matrix.flags.owndata:
            matrix.resize((len(self._rows), width), refcheck=False)
        else:
            matrix = matrix[: len(self._rows)]
        if counts is not None:
            counts = counts[np.array(self._entries, dtype=np.int64) - 1].astype(np.int64)
        if isinstance(self.wanted, EveryWord):
            twins = tuple(twins_among(self._unusual, self._rows))
        else:
            twins = tuple(tuple(spellings) for spellings in self._spellings.values() if len(spellings) > 1)
        return WordVectors(
            *(matrix, self._rows, format, self._duplicates, counts),
            *(twins, tuple(self.warnings), frozenset(from_subwords)),
        )


def load_kernel(name: str) -> Kernel | None:
    """Return a compiled loop of `kernels`; None if numba finds no folder for its cache.

    Compiling the loop in each process would cost more time than it saves. Loading numba takes about half a second, but
    commands that read vectors need numba for p-values or scores anyway.
    """
    try:
        from weatherglass.vectors import kernels
    except RuntimeError:
        return None
    return cast(Kernel, getattr(kernels, name))


def to_bytes(word: str) -> bytes:
    """Return a word as UTF-8; a lone surrogate is legal in Python but matches no word of a file."""
    return word.encode("utf-8", "surrogatepass")
