"""Word-vector files: read the words that are wanted, or all, in the format that the content shows.

word2vec text and binary, GloVe text, fastText .vec and gensim's KeyedVectors, each also compressed with gzip;
.npz, .safetensors and fastText .bin. The vectors of a spaCy pipeline, which is a folder, are read by `spacy.py`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Collection, Iterable, Sequence
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
"""Bytes from which the format is detected; enough for one line of 5 000 numbers."""

GZIP = b"\x1f\x8b"
ZIP = b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"
PICKLE = tuple(bytes([0x80, protocol]) for protocol in (2, 3, 4, 5))

NOT_WORD_VECTORS = {
    b"\x89HDF": "an HDF5 file; if it holds encodings, name it as encodings:FILE",
    b"\x93NUMPY": "a bare array without words; save words and vectors together as .npz",
    b"BZh": "compressed with bzip2; unpack it first",
    b"\xfd7zXZ": "compressed with xz; unpack it first",
}
"""First bytes of files that are not word vectors, and what to do with them."""


def check_file(path: Path) -> None:
    """Refuse what cannot be a file of vectors, without reading it.

    Raises:
        VectorFileError: if there is no such file, or it is a folder, empty or unreadable.
    """
    if is_folder(path):
        raise VectorFileError(f"{path}: this is a folder; name the file of vectors in it")
    with reading(path), path.open("rb") as file:
        if not file.read(1):
            raise VectorFileError(f"{path}: the file is empty")


def has_subwords(path: Path) -> bool:
    """Return whether this is a binary model of fastText, which has vectors for words that are not in its vocabulary."""
    return _begins_with(path, FASTTEXT)


def _begins_with(path: Path, start: bytes) -> bool:
    with path.open("rb") as file:
        return file.read(len(start)) == start


def related_files(path: Path) -> list[Path]:
    """Return the file itself and those beside it that belong to it: gensim's arrays, the words of a .safetensors
    file.
    """
    words = path.name.removesuffix(".safetensors") + ".words.json"
    names = (f"{path.name}.vectors.npy", f"{path.name}.syn0.npy", words)
    return [path, *(beside for name in names if (beside := path.with_name(name)).is_file())]


def read_vectors(path: Path, words: Collection[str], subwords: bool = True) -> WordVectors:
    """Return the vectors of those of `words` that the file has, or that its subwords give
    (`WordVectors.from_subwords`).

    Only wanted words are parsed and stored: memory is that of the words, not of the file (a format that stores
    one compressed or pickled array has to unpack it). A word that occurs twice has its first vector.

    Raises:
        VectorFileError: if the file is missing, no file of vectors, cut off or ragged, or if a wanted word
            has a number that is not finite. Errors name the file and the line or the word.
        UnsafeFileError: if reading it would run code.
    """
    return _read_file(path, words, subwords)


def read_every_word(path: Path) -> WordVectors:
    """Return the vectors of all words of the file, in its order, in one pass; memory is that of the vectors.

    Raises:
        VectorFileError: as `read_vectors`, for any word.
        UnsafeFileError: if reading it would run code.
    """
    return _read_file(path, None)


def _read_file(path: Path, words: Collection[str] | None, subwords: bool = True) -> WordVectors:
    check_file(path)
    compressed = _begins_with(path, GZIP)
    with reading(path, noun="the gzip file" if compressed else "the file"):
        if has_subwords(path):
            return read_fasttext(path, Collector(path, words), subwords)
        return _read(path, compressed, words)


def _open(path: Path, compressed: bool) -> BinaryIO:
    if not compressed:
        return path.open("rb")
    return cast(BinaryIO, LimitedStream(cast(BinaryIO, gzip.open(path)), UnpackLimit(path)))


def _read(path: Path, compressed: bool, words: Collection[str] | None) -> WordVectors:
    """Detect the format from the first bytes and read the file."""
    with _open(path, compressed) as stream:
        head = stream.read(HEAD)
    if not head:
        raise VectorFileError(f"{path}: the file is empty")
    if head.startswith(FASTTEXT):  # not compressed, it would have been read already
        raise VectorFileError(f"{path}: a binary model of fastText inside gzip; unpack it first (gunzip)")
    for start, description in NOT_WORD_VECTORS.items():
        if head.startswith(start):
            raise VectorFileError(f"{path}: this is {description}")
    if not compressed and head.startswith((ZIP, EMPTY_ZIP)):
        from weatherglass.vectors.arrays import read_npz

        return read_npz(path, Collector(path, words))
    if not compressed and _is_safetensors(head, path.stat().st_size):
        from weatherglass.vectors.arrays import read_safetensors

        return read_safetensors(path, Collector(path, words))
    with _open(path, compressed) as stream:
        if head.startswith(PICKLE):
            from weatherglass.vectors.arrays import read_gensim

            return read_gensim(stream, Collector(path, words))
        if is_binary(head):
            return read_binary(stream, Collector(path, words))
        return read_text(stream, Collector(path, words, noun="line"))


def _is_safetensors(head: bytes, size: int) -> bool:
    """Eight bytes with the length of a header, which is JSON."""
    return int.from_bytes(head[:8], "little") <= size - 8 and head[8:9] == b"{"


Blocks = Iterable[NDArray[np.float32]]
"""Rows in the order of the words."""


def write_vectors(path: Path, words: Sequence[str], width: int, blocks: Blocks) -> str:
    """Write words and their vectors in the format that the name's ending asks for.

    `.safetensors` has a tensor `vectors` and the words as JSON in its metadata; `.txt` and `.vec` are word2vec's text,
    with nine digits, which are all that float32 has; `.bin` is word2vec's binary.

    Returns:
        The format in words.

    Raises:
        OutputError: if the ending is another, or the file cannot be written.
        VectorFileError: if a word cannot be written in this format.
    """
    if path.suffix.lower() not in FORMATS:
        raise OutputError(f"{path}: the name should end in {', '.join(FORMATS)}, which says the format")
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
    """Refuse words that a reader of word2vec's formats would take for two."""
    for word in words:
        if not word or len(word.split()) != 1 or word != word.strip():
            raise VectorFileError(
                f"{path}: the word {word!r} has a space in it, which word2vec's formats cannot hold; "
                "write .safetensors"
            )


FORMATS: dict[str, tuple[str, Callable[[Path, Path, Sequence[str], int, Blocks], None]]] = {
    ".safetensors": ("safetensors", _write_safetensors),
    ".txt": ("word2vec text", _write_text),
    ".vec": ("word2vec text", _write_text),
    ".bin": ("word2vec binary", _write_binary),
}
