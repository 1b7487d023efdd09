"""Vectors as named arrays: .npz and .safetensors.

.npz: arrays `words` (texts) and `vectors` (one row per word), or one array per word under the word's name.
.safetensors: a tensor `vectors`, and the words as a JSON list, either in the metadata under `words` or in a
file beside it (`name.safetensors` with `name.words.json`).
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import UnsafeFileError, VectorFileError
from weatherglass.storage.safetensors_file import require_whole
from weatherglass.vectors.collector import Collector, WordVectors, to_bytes

DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, ValueError, KeyError, RuntimeError, MemoryError)
"""What the zip and array readers raise for damaged, encrypted or impossible content."""


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
    try:
        with np.load(path, allow_pickle=False) as archive:
            if not archive.files:
                raise VectorFileError(
                    f"{path}: this zip archive holds no arrays; if vectors are in it, unpack it"
                )
            if {"words", "vectors"} <= set(archive.files):
                words = _member(archive, "words", path)
                if words.dtype.kind in "US":
                    return collect_rows(
                        _texts(words, path), _member(archive, "vectors", path), collector, "npz"
                    )
            return _collect_members(archive, collector)
    except DAMAGED as error:
        raise VectorFileError(f"{path}: this .npz file is cut off or damaged ({error})") from None


def _collect_members(archive: Any, collector: Collector) -> WordVectors:
    """One array per word: only the wanted ones are unpacked."""
    width = _member(archive, archive.files[0], collector.path).size
    for index, word in _wanted(archive.files, collector):
        vector = _member(archive, collector.wanted[word], collector.path)
        if vector.shape != (width,) or vector.dtype.kind not in "fiu" or not width:
            raise VectorFileError(
                f"{collector.path}, array '{collector.wanted[word]}': shape {vector.shape} of {vector.dtype}, "
                f"but expected ({width},) numbers, as '{archive.files[0]}' has"
            )
        collector.add(word, vector, index + 1)
    return collector.finish(width, "npz")


def _member(archive: Any, name: str, path: Path) -> NDArray[Any]:
    try:
        member = archive[name]
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise UnsafeFileError(
            f"{path}: refused, because '{name}' is an array of Python objects, which only a pickle can make; "
            "save texts with dtype str and numbers with dtype float32"
        ) from None
    if not isinstance(member, np.ndarray):
        raise VectorFileError(
            f"{path}: '{name}' in this zip archive is no array; if vectors are in it, unpack it"
        )
    return member


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
    from safetensors import SafetensorError, safe_open

    require_whole(path)
    try:
        with safe_open(path, framework="numpy") as file:
            if "vectors" not in file.keys():  # noqa: SIM118 - this is no mapping
                raise VectorFileError(
                    f"{path}: no tensor called 'vectors' (it has: {', '.join(sorted(file.keys()))})"
                )
            words = _safetensors_words(file.metadata(), path)
            counts = file.get_tensor("counts") if "counts" in file.keys() else None  # noqa: SIM118
            return collect_rows(words, file.get_tensor("vectors"), collector, "safetensors", counts)
    except (SafetensorError, TypeError, ValueError) as error:  # TypeError: a type of number that numpy lacks
        raise VectorFileError(f"{path}: this .safetensors file cannot be read ({error})") from None


def _safetensors_words(metadata: dict[str, str] | None, path: Path) -> list[str]:
    beside = path.with_name(f"{path.name.removesuffix('.safetensors')}.words.json")
    if metadata and "words" in metadata:
        source, text = f"{path}, metadata 'words'", metadata["words"]
    elif beside.is_file():
        source, text = str(beside), beside.read_text(encoding="utf-8")
    else:
        raise VectorFileError(f"{path}: no words, neither in its metadata under 'words' nor in {beside.name}")
    words = json.loads(text)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise VectorFileError(f"{source}: should be a JSON list of words")
    return words
