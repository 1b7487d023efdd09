"""Read and write files of word vectors; the format is detected from the content.

The supported formats are word2vec text and binary, GloVe text, fastText .vec and gensim's KeyedVectors, each also
compressed with gzip, as well as .npz, .safetensors and fastText .bin. `spacy.py` reads the vectors of a spaCy
pipeline, which is a folder.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import OutputError, VectorFileError, output_error
from weatherglass.storage.array_file import write_safetensors
from weatherglass.storage.atomic import whole_file
from weatherglass.storage.reading import LimitedStream, UnpackLimit, is_folder, reading
from weatherglass.vectors.collector import Collector, WordVectors
from weatherglass.vectors.fasttext import MAGIC as FASTTEXT
from weatherglass.vectors.fasttext import read_fasttext
from weatherglass.vectors.text import is_binary, read_binary, read_text

__all__ = [
    "WordVectors",
    "check_file",
    "has_subwords",
    "read_every_word",
    "read_vectors",
    "related_files",
]

HEAD = 2**16
"""The number of bytes used to detect the format, which is enough for one line of 5 000 numbers."""

GZIP = b"\x1f\x8b"
ZIP = b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"
PICKLE = tuple(bytes([0x80, protocol]) for protocol in (2, 3, 4, 5))

NOT_WORD_VECTORS = {
    b"\x89HDF": "an HDF5 file; if it contains encodings, write it as encodings:FILE",
    b"\x93NUMPY": "a bare array without words; save words and vectors together as .npz",
    b"BZh": "compressed with bzip2; unpack it first",
    b"\xfd7zXZ": "compressed with xz; unpack it first",
}
"""The first bytes of files that are not word vectors, and what the user can do with them."""


def check_file(path: Path) -> None:
    """Check that a path is a readable file that is not empty.

    Raises:
        VectorFileError: if it is a folder, is missing, or is empty.
    """
    if is_folder(path):
        raise VectorFileError(f"{path}: this is a folder; name the file of vectors in it")
    with reading(path), path.open("rb") as file:
        if not file.read(1):
            raise VectorFileError(f"{path}: the file is empty")


def has_subwords(path: Path) -> bool:
    """Return whether a file is a binary fastText model, which has vectors for out-of-vocabulary words."""
    with path.open("rb") as file:
        return file.read(len(FASTTEXT)) == FASTTEXT


def related_files(path: Path) -> list[Path]:
    """Return a file and its companion files, which contain the arrays of gensim or the words of a .safetensors
    file.
    """
    words = path.name.removesuffix(".safetensors") + ".words.json"
    names = (f"{path.name}.vectors.npy", f"{path.name}.syn0.npy", words)
    return [path, *(beside for name in names if (beside := path.with_name(name)).is_file())]


def read_vectors(
    path: Path, words: Collection[str] | None, subwords: bool = True, on_disk: bool = False
) -> WordVectors:
    """Return the vectors of the words that a file contains, or for which it has subword vectors.

    Only wanted words are parsed and stored, so that memory depends on the number of words and not on the size of the
    file, except for formats with one compressed or pickled array. If a word occurs twice, its first vector is used.

    Args:
        path: the file.
        words: the wanted words; None for all.
        subwords: whether out-of-vocabulary words get a vector from a fastText model (`WordVectors.from_subwords`).
        on_disk: whether the vectors are kept in a temporary file instead of memory.

    Raises:
        VectorFileError: if the file is missing, truncated, ragged or not a file of vectors, or if a wanted word has a
            number that is not finite. The error names the file and the line or the word.
        UnsafeFileError: if reading the file would run code.
    """
    check_file(path)
    with path.open("rb") as file:
        head = file.read(HEAD)
    compressed = head.startswith(GZIP)
    collect = partial(Collector, path, words, on_disk=on_disk)
    with reading(path, noun="the gzip file" if compressed else "the file"):
        if head.startswith(FASTTEXT):
            return read_fasttext(path, collect(), subwords)
        if compressed:
            with _unpacked(path) as stream:
                head = stream.read(HEAD)
        return _read(path, head, compressed, collect)


def read_every_word(path: Path, on_disk: bool = False) -> WordVectors:
    """Return the vectors of all words of a file, in its order; with `on_disk`, they are kept in a temporary file.

    Raises:
        VectorFileError: in the same cases as `read_vectors`, for any word.
        UnsafeFileError: if reading the file would run code.
    """
    return read_vectors(path, None, on_disk=on_disk)


def _unpacked(path: Path) -> BinaryIO:
    return cast(BinaryIO, LimitedStream(cast(BinaryIO, gzip.open(path)), UnpackLimit(path)))


def _read(path: Path, head: bytes, compressed: bool, collect: Callable[..., Collector]) -> WordVectors:
    """Read a file whose format is detected from `head`, its first bytes."""
    if not head:
        raise VectorFileError(f"{path}: the file is empty")
    if head.startswith(FASTTEXT):  # an uncompressed model was read by the caller
        raise VectorFileError(f"{path}: a binary model of fastText inside gzip; unpack it first (gunzip)")
    for start, description in NOT_WORD_VECTORS.items():
        if head.startswith(start):
            raise VectorFileError(f"{path}: this is {description}")
    if not compressed and head.startswith((ZIP, EMPTY_ZIP)):
        from weatherglass.vectors.arrays import read_npz

        return read_npz(path, collect())
    # A safetensors file begins with the length of its header, which is JSON.
    header_fits = int.from_bytes(head[:8], "little") <= path.stat().st_size - 8
    if not compressed and header_fits and head[8:9] == b"{":
        from weatherglass.vectors.arrays import read_safetensors

        return read_safetensors(path, collect())
    with _unpacked(path) if compressed else path.open("rb") as stream:
        if head.startswith(PICKLE):
            from weatherglass.vectors.arrays import read_gensim

            return read_gensim(stream, collect())
        if is_binary(head):
            return read_binary(stream, collect())
        return read_text(stream, collect(noun="line"))


Blocks = Iterable[NDArray[np.float32]]
"""Blocks of rows, in the order of the words."""


def write_vectors(path: Path, words: Sequence[str], width: int, blocks: Blocks) -> str:
    """Write words and their vectors in the format of the file's suffix.

    A `.safetensors` file has a tensor `vectors`, and the words as JSON in its metadata. `.txt` and `.vec` are word2vec
    text with nine digits, which represent float32 exactly. `.bin` is word2vec binary.

    Returns:
        The name of the format.

    Raises:
        OutputError: if the suffix is unknown, or the file cannot be written.
        VectorFileError: if a word cannot be written in this format.
    """
    if path.suffix.lower() not in FORMATS:
        raise OutputError(f"{path}: unknown suffix; choose a format with one of {', '.join(FORMATS)}")
    format, write = FORMATS[path.suffix.lower()]
    try:
        with whole_file(path) as unfinished:
            write(unfinished, path, words, width, blocks)
    except OSError as error:
        raise output_error(path, error) from None
    return format


def _write_safetensors(
    unfinished: Path, path: Path, words: Sequence[str], width: int, blocks: Blocks
) -> None:
    del path
    metadata = {"words": json.dumps(list(words), ensure_ascii=False)}
    tensors = {"vectors": ("F32", (len(words), width))}
    write_safetensors(unfinished, metadata, tensors, (block.astype("<f4", copy=False) for block in blocks))


def _write_text(unfinished: Path, path: Path, words: Sequence[str], width: int, blocks: Blocks) -> None:
    _check_words(path, words)
    line = " %.9g" * width + "\n"
    start = 0
    with unfinished.open("wb") as file:
        file.write(f"{len(words)} {width}\n".encode())
        for block in blocks:
            rows = zip(words[start : start + len(block)], block.tolist(), strict=True)
            file.write("".join(word + line % tuple(row) for word, row in rows).encode())
            start += len(block)


def _write_binary(unfinished: Path, path: Path, words: Sequence[str], width: int, blocks: Blocks) -> None:
    _check_words(path, words)
    start = 0
    with unfinished.open("wb") as file:
        file.write(f"{len(words)} {width}\n".encode())
        for block in blocks:
            rows = np.ascontiguousarray(block, dtype="<f4")
            for word, row in zip(words[start : start + len(rows)], rows, strict=True):
                file.write(word.encode() + b" " + row.tobytes() + b"\n")
            start += len(rows)


def _check_words(path: Path, words: Sequence[str]) -> None:
    """Refuse words with spaces, which a reader of word2vec's formats would split."""
    for word in words:
        if not word or len(word.split()) != 1 or word != word.strip():
            raise VectorFileError(
                f"{path}: the word {word!r} contains a space, which word2vec's formats cannot store; write "
                "a .safetensors file"
            )


FORMATS: dict[str, tuple[str, Callable[[Path, Path, Sequence[str], int, Blocks], None]]] = {
    ".safetensors": ("safetensors", _write_safetensors),
    ".txt": ("word2vec text", _write_text),
    ".vec": ("word2vec text", _write_text),
    ".bin": ("word2vec binary", _write_binary),
}
