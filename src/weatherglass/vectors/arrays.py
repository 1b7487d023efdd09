"""Read vectors that are stored as arrays: .npz, .safetensors and gensim's `KeyedVectors.save`.

An .npz file has arrays `words` (texts) and `vectors` (one row per word), or one array per word under the word's name.
A .safetensors file has a tensor `vectors`, and the words as a JSON list, either in the metadata under `words` or in a
file in the same folder (`name.safetensors` with `name.words.json`). gensim writes a pickle, with large arrays in .npy
files in the same folder. The pickle is read as inert records, so that gensim is not needed. Files of gensim 1 to 4 are
supported.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import UnsafeFileError, VectorFileError
from weatherglass.storage.array_file import Npz, map_array, require_whole
from weatherglass.storage.reading import errors_in_one_line, reading
from weatherglass.storage.unpickle import Record, read_pickle
from weatherglass.vectors.collector import Collector, WordVectors, to_bytes

SHOWN = 20
"""The maximum number of names in an error message."""


def collect_rows(
    words: Sequence[str], vectors: NDArray[Any], collector: Collector, format: str, counts: object = None
) -> WordVectors:
    """Collect the rows of the wanted words, and their counts if each word has a whole number.

    Raises:
        VectorFileError: if there is not exactly one row of numbers for each word.
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
    """Yield the wanted words with their positions, in the order of the file."""
    for index, (word, spelt) in enumerate((word, to_bytes(word)) for word in words):
        if spelt in collector.wanted:
            yield index, spelt
        elif not word.isascii() or word[-1:].isspace():
            collector.notice(spelt)


def read_npz(path: Path, collector: Collector) -> WordVectors:
    """Read the wanted words of an .npz file.

    Raises:
        UnsafeFileError: if an array contains Python objects.
        VectorFileError: if the file is damaged or its arrays do not match.
    """
    with reading(path, noun="this .npz file"), Npz(path) as archive:
        if not archive.names:
            raise VectorFileError(
                f"{path}: this zip archive contains no arrays; if it contains vectors, unpack it"
            )
        if "words" in archive and "vectors" in archive:
            words = archive["words"]
            if words.dtype.kind in "US":
                return collect_rows(_texts(words, path), archive["vectors"], collector, "npz")
        return _collect_members(archive, collector)


def _collect_members(archive: Npz, collector: Collector) -> WordVectors:
    """Collect the wanted words of an archive with one array per word; only these arrays are unpacked."""
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
        raise VectorFileError(
            f"{path}: the words are bytes that are not UTF-8 ({error}); save them as UTF-8"
        ) from None


def read_safetensors(path: Path, collector: Collector) -> WordVectors:
    """Read the wanted words of a .safetensors file.

    Raises:
        VectorFileError: if the file is damaged, or the tensor or the words are missing.
    """
    from safetensors import safe_open

    with reading(path, noun="this .safetensors file"):
        require_whole(path)
        with safe_open(path, framework="numpy") as file:
            if "vectors" not in file.keys():  # noqa: SIM118 - this is not a mapping
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
        raise VectorFileError(
            f"{path}: it has no words, which should be in its metadata under 'words' or in {beside.name}"
        )
    with errors_in_one_line(source, "not a JSON list of words", "get it again", VectorFileError):
        words = json.loads(text)
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise VectorFileError(f"{source}: should be a JSON list of words")
    return words


KEYED_VECTORS = tuple(
    f"gensim.models.keyedvectors.{name}"
    for name in ("KeyedVectors", "Word2VecKeyedVectors", "EuclideanKeyedVectors")
)
RECORDS = (*KEYED_VECTORS, "gensim.models.keyedvectors.Vocab", "gensim.models.word2vec.Vocab")

WORDS = ("index_to_key", "index2word", "index2entity")
VECTORS = ("vectors", "syn0")
"""The names of the attributes in gensim's versions, newest first."""

LONGEST_WORD = 2**14
"""The maximum number of characters of a word; without it, a small pickle could use one long word for every row."""


def read_gensim(file: BinaryIO, collector: Collector) -> WordVectors:
    """Read the wanted words of a saved `KeyedVectors`.

    Raises:
        UnsafeFileError: if the pickle contains anything else, such as a whole model.
        VectorFileError: if words or vectors are missing or do not match.
    """
    try:
        record = read_pickle(file, RECORDS, name=str(collector.path))
    except UnsafeFileError as error:
        if "would call gensim." in str(error):
            remedy = "only the vectors of a gensim model are read; save them with: model.wv.save(path)"
            raise UnsafeFileError(f"{error}; {remedy}") from None
        raise
    if not isinstance(record, Record) or record.class_name not in KEYED_VECTORS:
        raise VectorFileError(f"{collector.path}: this pickle does not contain gensim's KeyedVectors")
    words = _words(record, collector.path)
    vectors = _vectors(record, collector.path)
    return collect_rows(words, vectors, collector, "gensim KeyedVectors", _counts(record, words))


def _words(record: Record, path: Path) -> list[str]:
    for name in WORDS:
        words = record.state.get(name)
        if isinstance(words, list):
            # The text of other objects could have any length, since a list may contain a list twice, and so on.
            if any(not isinstance(word, str | int) for word in words):
                raise VectorFileError(
                    f"{path}: these KeyedVectors have a word that is neither a text nor a number"
                )
            texts = [str(word) for word in words]
            if (longest := max(map(len, texts), default=0)) > LONGEST_WORD:
                raise VectorFileError(
                    f"{path}: a word of the KeyedVectors has {longest} characters; the limit is {LONGEST_WORD}"
                )
            return texts
    raise VectorFileError(f"{path}: these KeyedVectors have no list of words ({' or '.join(WORDS)})")


def _counts(record: Record, words: list[str]) -> NDArray[Any] | None:
    """Return the count of each word, which is in an array in gensim 4 and in a dictionary in gensim 3.

    For vectors from a file without counts, gensim invents counts: n for the first word, then n − 1, and so on. In real
    text, many rare words have equal counts, so numbers that are all different are not counts.
    """
    expandos, vocabulary = record.state.get("expandos"), record.state.get("vocab")
    counts = expandos.get("count") if isinstance(expandos, dict) else None
    if isinstance(vocabulary, dict):
        entries = [vocabulary.get(word) for word in words]
        numbers = [entry.state.get("count") if isinstance(entry, Record) else None for entry in entries]
        counts = np.array(numbers) if all(isinstance(number, int) for number in numbers) else None
    if isinstance(counts, np.ndarray) and counts.dtype.kind in "iu" and len(np.unique(counts)) < counts.size:
        return counts
    return None


def _vectors(record: Record, path: Path) -> NDArray[Any]:
    for name in VECTORS:
        vectors = record.state.get(name)
        if isinstance(vectors, np.ndarray):
            return np.asarray(vectors)
        if name in _text_list(record.state.get("__numpys")):
            return _array_beside(path.with_name(f"{path.name}.{name}.npy"), path)
    raise VectorFileError(f"{path}: these KeyedVectors have no array of vectors ({' or '.join(VECTORS)})")


def _array_beside(beside: Path, path: Path) -> NDArray[Any]:
    """Return an array that gensim wrote to a separate file, memory-mapped, so that only wanted rows are read."""
    if not beside.exists():
        raise VectorFileError(
            f"{path}: its numbers should be in {beside.name} in the same folder, which is missing"
        )
    return map_array(beside)


def _text_list(value: object) -> list[str]:
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []
