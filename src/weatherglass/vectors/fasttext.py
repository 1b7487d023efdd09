"""Read binary fastText models (.bin): word vectors, and character n-grams from which the vector of any other word is
computed.

The file has a header, a dictionary and two matrices. Only the first matrix is used, memory-mapped. It has a row for
each word and then a row for each bucket of hashed n-grams. The vector of a word is the mean of its own row and the
rows of its n-grams; an out-of-vocabulary word has only n-grams (Bojanowski et al. 2017, section 3.2).
"""

from __future__ import annotations

import mmap
import struct
from array import array
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import VectorFileError
from weatherglass.vectors.collector import Collector, EveryWord, WordVectors

MAGIC = struct.pack("<i", 793712314)
VERSION = 12
FORMAT = "fastText binary"

_ARGUMENTS = struct.Struct("<12id")
"""The arguments dim, ws, epoch, minCount, neg, wordNgrams, loss, model, bucket, minn, maxn, lrUpdateRate and t."""
_SIZES = struct.Struct("<iiiqq")
"""The numbers of entries, words, labels, tokens of the training text, and kept n-grams (-1 for all)."""
_ENTRY = struct.Struct("<qb")
"""The count of an entry, and whether it is a word (0) or a label (1)."""
_SHAPE = struct.Struct("<qq")

LONGEST_NGRAM = 16
"""The maximum number of characters of an n-gram (6 by default in fastText); a word is hashed for each length at each
of its positions.
"""

END_OF_SENTENCE = b"</s>"
"""The only word without n-grams."""


@dataclass(frozen=True, slots=True)
class _Layout:
    """The layout of the vectors, from the header."""

    width: int
    buckets: int
    shortest: int
    longest: int
    """The lengths of the shortest and the longest n-gram, in characters."""

    @property
    def has_subwords(self) -> bool:
        return self.buckets > 0 and self.longest > 0


@dataclass(frozen=True, slots=True)
class _Model:
    """The layout, the wanted words of the dictionary, and the mapped matrix."""

    layout: _Layout
    words: dict[bytes, int]
    counts: NDArray[np.int64]
    """The counts of all words of the dictionary."""
    matrix: NDArray[np.float32]

    def vector(self, word: bytes) -> NDArray[np.float64] | None:
        """Return the mean of the word's own row, if it has one, and the rows of its n-grams; None if it has no
        rows.
        """
        first = len(self.counts)
        rows = np.array([self.words[word]] if word in self.words else [], dtype=np.int64)
        if word != END_OF_SENTENCE and self.layout.has_subwords:
            rows = np.append(rows, first + np.asarray(_buckets(word, self.layout)))
        if not len(rows):
            return None
        if len(rows) > len(self.matrix):  # many are duplicates, and all rows might not fit into memory
            distinct, times = np.unique(rows, return_counts=True)
            return np.average(self.matrix[distinct], axis=0, weights=times)
        mean: NDArray[np.float64] = self.matrix[rows].mean(axis=0, dtype=np.float64)
        return mean


def read_fasttext(path: Path, collector: Collector, subwords: bool = True) -> WordVectors:
    """Return the wanted words; vectors of out-of-vocabulary words are computed from n-grams, unless `subwords` is
    false.

    Raises:
        VectorFileError: if the file is quantised, truncated or damaged, or has another version.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        model = _read_model(path, content, collector)
    for word, row in model.words.items():
        vector = model.vector(word)
        if vector is not None:
            collector.add(word, vector, row + 1)
    from_subwords = []
    if subwords and not isinstance(collector.wanted, EveryWord):
        for word, text in collector.wanted.items():
            if word and word not in model.words and (vector := model.vector(word)) is not None:
                collector.add(word, vector, len(model.counts) + 1)
                from_subwords.append(text)
    # Out-of-vocabulary words have a further entry with the count 0.
    counts = np.append(model.counts, 0)
    return collector.finish(model.layout.width, FORMAT, counts, from_subwords)


def _read_model(path: Path, content: mmap.mmap, collector: Collector) -> _Model:
    try:
        layout, sizes, start = _header(path, content)
        words, counts, start = _dictionary(path, content, start, sizes, collector)
        matrix = _matrix(path, content, start, layout, len(counts))
    except struct.error:
        raise VectorFileError(f"{path}: this fastText model is cut off in its header or dictionary") from None
    return _Model(layout, words, counts, matrix)


def _header(path: Path, content: mmap.mmap) -> tuple[_Layout, tuple[int, int], int]:
    """Return the layout, the number of words, the number of labels, and the start of the dictionary."""
    (version,) = struct.unpack_from("<i", content, len(MAGIC))
    if version != VERSION:
        raise VectorFileError(
            f"{path}: a fastText model of version {version}; only version {VERSION} is supported (save it "
            "with fastText 0.9)"
        )
    start = len(MAGIC) + 4
    width, *_, buckets, shortest, longest, _, _ = _ARGUMENTS.unpack_from(content, start)
    start += _ARGUMENTS.size
    entries, words, labels, _, kept = _SIZES.unpack_from(content, start)
    if kept >= 0:
        raise VectorFileError(f"{path}: {_QUANTISED}")
    plausible = width > 0 and buckets >= 0 and shortest >= 0 and longest >= 0 and words >= 0 and labels >= 0
    # The shortest entry is a zero byte, a count and a type.
    if not plausible or entries != words + labels or entries * (1 + _ENTRY.size) > len(content):
        raise VectorFileError(
            f"{path}: damaged: its header states {entries} entries ({words} words, {labels} labels) of {width} "
            f"dimensions, which do not fit together or into {len(content)} bytes"
        )
    if buckets and longest > LONGEST_NGRAM:
        raise VectorFileError(
            f"{path}: its header states n-grams of up to {longest} characters, but only {LONGEST_NGRAM} "
            "are supported; get the file again if it is damaged, or train the model with a smaller maxn "
            "(fastText's default is 6)"
        )
    return _Layout(width, buckets, shortest, longest), (words, labels), start + _SIZES.size


_QUANTISED = "a quantised fastText model (.ftz), which is not supported; use the .bin that it was made from"


def _dictionary(
    path: Path, content: mmap.mmap, start: int, sizes: tuple[int, int], collector: Collector
) -> tuple[dict[bytes, int], NDArray[np.int64], int]:
    """Return the rows of the wanted words, the count of every word, and the start of the matrix; labels come last."""
    count, labels = sizes
    words: dict[bytes, int] = {}
    counts = np.empty(count, dtype=np.int64)
    for row in range(count + labels):
        end = content.find(b"\0", start)
        if end < 0:
            raise VectorFileError(
                f"{path}: the dictionary is cut off after {row} of {count + labels} entries"
            )
        occurrences, is_label = _ENTRY.unpack_from(content, end + 1)
        if is_label != (row >= count):
            raise VectorFileError(
                f"{path}: damaged: words and labels are mixed at entry {row + 1} of the dictionary"
            )
        if not is_label:
            counts[row] = occurrences
            if (word := content[start:end]) in collector.wanted:
                words.setdefault(word, row)
        start = end + 1 + _ENTRY.size
    return words, counts, start


def _matrix(path: Path, content: mmap.mmap, start: int, layout: _Layout, words: int) -> NDArray[np.float32]:
    """Return the memory-mapped matrix of words and buckets, after checking the sizes of both matrices."""
    (quantised,) = struct.unpack_from("<?", content, start)
    if quantised:
        raise VectorFileError(f"{path}: {_QUANTISED}")
    rows, width = _SHAPE.unpack_from(content, start + 1)
    if (rows, width) != (words + layout.buckets, layout.width):
        raise VectorFileError(
            f"{path}: a matrix of {rows} × {width}, but {words} words and {layout.buckets} buckets of "
            f"{layout.width} dimensions need {words + layout.buckets} × {layout.width}"
        )
    start += 1 + _SHAPE.size
    end = start + 4 * rows * width
    needed = end + 1 + _SHAPE.size
    if needed <= len(content):
        output_rows, output_width = _SHAPE.unpack_from(content, end + 1)
        needed += 4 * output_rows * output_width
    if needed != len(content):
        raise VectorFileError(
            f"{path}: {len(content)} bytes, but its matrices need {needed}; the file is cut off or damaged"
        )
    return np.memmap(path, dtype="<f4", mode="r", offset=start, shape=(rows, width))


def _buckets(word: bytes, layout: _Layout) -> array[int]:
    """Return the bucket of every n-gram of <word>, with lengths in characters; a single bracket is not an n-gram.

    The hash is 32-bit FNV-1a as in fastText, where bytes are signed, so that 0x80 and above also set the upper bits.
    The hash of an n-gram continues from the hash of the shorter n-gram at the same position.
    """
    marked = b"<" + word + b">"
    starts = [place for place, byte in enumerate(marked) if byte & 0xC0 != 0x80] + [len(marked)]
    characters = len(starts) - 1
    ends = {place - 1 for place in starts}
    steps = [(byte if byte < 0x80 else byte | 0xFFFFFF00, at in ends) for at, byte in enumerate(marked)]
    buckets = array("q")  # a list would take five times the memory
    for first in range(characters):
        value, length = 2166136261, 0
        for byte, is_end in steps[starts[first] : starts[min(first + layout.longest, characters)]]:
            value = (value ^ byte) * 16777619 & 0xFFFFFFFF
            if is_end:
                length += 1
                if length >= layout.shortest and (length > 1 or 0 < first < characters - 1):
                    buckets.append(value % layout.buckets)
    return buckets
