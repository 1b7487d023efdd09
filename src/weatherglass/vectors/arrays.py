"""Vectors as named arrays: .npz and .safetensors.

.npz: arrays `words` (texts) and `vectors` (one row per word), or one array per word under the word's name.
.safetensors: a tensor `vectors`, and the words as a JSON list, either in the metadata under `words` or in a
file beside it (`name.safetensors` with `name.words.json`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import VectorFileError
from weatherglass.storage.array_file import Npz
from weatherglass.storage.reading import one_line, reading
from weatherglass.storage.safetensors_file import require_whole
from weatherglass.vectors.collector import Collector, WordVectors, to_bytes

SHOWN = 20
"""Names that an error lists."""


def collect_rows(
    words: Sequence[str], vectors: NDArray[Any], collector: Collector, format: str, counts: object = None
) -> WordVectors:
    """Collect the rows of the wanted words of a matrix, and their counts, if they are whole numbers, one for each word.

    Raises:
        VectorFileError: if there is not one row of numbers for each word.
    """
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or vectors.shape[1] == 0:
        raise VectorFileError(
            f"{collector.path}: the vectors are an array of shape {vectors.shape} and type {vectors.dtype}; "
            "expected one row of numbers for each word"
        )
    if len(words) != len(vectors):
        raise VectorFileError(f"{collector.path}: {len(words)} words, but {len(vectors)} vectors")
    for row, word in _wanted(words, collector):
        collector.add(word, vectors[row], row + 1)
    if isinstance(counts, np.ndarray) and counts.dtype.kind in "iu" and counts.shape == (len(words),):
        return collector.finish(vectors.shape[1], format, counts)
    return collector.finish(vectors.shape[1], format)


def _wanted(words: Iterable[str], collector: Collector) -> Iterable[tuple[int, bytes]]:
    """The wanted words with their positions, in the order of the file."""
    for index, (word, spelt) in enumerate((word, to_bytes(word)) for word in words):
        if spelt in collector.wanted:
            yield index, spelt
        elif not word.isascii() or word[-1:].isspace():
            collector.notice(spelt)


def read_npz(path: Path, collector: Collector) -> WordVectors:
    """Read the wanted words of an .npz file.

    Raises:
        UnsafeFileError: if an array holds Python objects.
        VectorFileError: if the file is damaged or its arrays do not fit.
    """
    with reading(path, noun="this .npz file"), Npz(path) as archive:
        if not archive.names:
            raise VectorFileError(
                f"{path}: this zip archive holds no arrays; if vectors are in it, unpack it"
            )
        if "words" in archive and "vectors" in archive:
            words = archive["words"]
            if words.dtype.kind in "US":
                return collect_rows(_texts(words, path), archive["vectors"], collector, "npz")
        return _collect_members(archive, collector)


def _collect_members(archive: Npz, collector: Collector) -> WordVectors:
    """One array per word: only the wanted ones are unpacked."""
    first = archive.names[0]
    width = archive[first].size
    for index, word in _wanted(archive.names, collector):
        vector = archive[collector.wanted[word]]
        if vector.shape != (width,) or vector.dtype.kind not in "fiu" or not width:
            raise VectorFileError(
                f"{collector.path}, array '{collector.wanted[word]}': shape {vector.shape} of {vector.dtype}, "
                f"but expected ({width},) numbers, as '{first}' has"
            )
        collector.add(word, vector, index + 1)
    return collector.finish(width, "npz")


def _texts(words: NDArray[Any], path: Path) -> list[str]:
    if words.dtype.kind == "U":
        return [str(word) for word in words.ravel()]
    try:
        return [bytes(word).decode("utf-8") for word in words.ravel()]
    except UnicodeDecodeError as error:
        raise VectorFileError(f"{path}: the words are bytes that are no UTF-8 ({error})") from None


def read_safetensors(path: Path, collector: Collector) -> WordVectors:
    """Read the wanted words of a .safetensors file.

    Raises:
        VectorFileError: if the file is damaged, or the tensor or the words are not there.
    """
    from safetensors import safe_open

    with reading(path, noun="this .safetensors file cannot be read: it"):
        require_whole(path)
        with safe_open(path, framework="numpy") as file:
            if "vectors" not in file.keys():  # noqa: SIM118 - this is no mapping
                names = ", ".join(sorted(file.keys())[:SHOWN])
                raise VectorFileError(f"{path}: no tensor called 'vectors' (it has: {names})")
            words = _safetensors_words(file.metadata(), path)
            counts = file.get_tensor("counts") if "counts" in file.keys() else None  # noqa: SIM118
            return collect_rows(words, file.get_tensor("vectors"), collector, "safetensors", counts)


def _safetensors_words(metadata: dict[str, str] | None, path: Path) -> list[str]:
    beside = path.with_name(f"{path.name.removesuffix('.safetensors')}.words.json")
    if metadata and "words" in metadata:
        source, text = f"{path}, metadata 'words'", metadata["words"]
    elif beside.is_file():
        source, text = str(beside), beside.read_text(encoding="utf-8")
    else:
        raise VectorFileError(f"{path}: no words, neither in its metadata under 'words' nor in {beside.name}")
    with one_line(source, "no JSON list of words", "get it again", VectorFileError):
        words = json.loads(text)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise VectorFileError(f"{source}: should be a JSON list of words")
    return words
