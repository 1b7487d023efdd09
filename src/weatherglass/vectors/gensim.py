"""Vectors as gensim saves them (`KeyedVectors.save`): a pickle, with large arrays in .npy files beside it.

gensim itself is not needed: the pickle is read as inert records. Files of gensim 1 to 4 are known.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import UnsafeFileError, VectorFileError
from weatherglass.storage.array_file import map_array
from weatherglass.storage.unpickle import Record, read_pickle
from weatherglass.vectors.arrays import collect_rows
from weatherglass.vectors.collector import Collector, WordVectors

KEYED_VECTORS = tuple(
    f"gensim.models.keyedvectors.{name}"
    for name in ("KeyedVectors", "Word2VecKeyedVectors", "EuclideanKeyedVectors")
)
RECORDS = (*KEYED_VECTORS, "gensim.models.keyedvectors.Vocab", "gensim.models.word2vec.Vocab")

WORDS = ("index_to_key", "index2word", "index2entity")
VECTORS = ("vectors", "syn0")
"""What the attributes have been called, newest first."""

LONGEST_WORD = 2**14
"""Characters; one long word in the file could be the name of every row."""


def read_gensim(file: BinaryIO, collector: Collector) -> WordVectors:
    """Read the wanted words of a saved `KeyedVectors`.

    Raises:
        UnsafeFileError: if the pickle holds anything else, such as a whole model.
        VectorFileError: if words and vectors are missing or do not fit.
    """
    try:
        record = read_pickle(file, RECORDS, name=str(collector.path))
    except UnsafeFileError as error:
        if "would call gensim." in str(error):
            remedy = "of a gensim model only the vectors are read; save them with: model.wv.save(path)"
            raise UnsafeFileError(f"{error}; {remedy}") from None
        raise
    if not isinstance(record, Record) or record.class_name not in KEYED_VECTORS:
        raise VectorFileError(f"{collector.path}: this pickle does not hold gensim's KeyedVectors")
    words = _words(record, collector.path)
    vectors = _vectors(record, collector.path)
    return collect_rows(words, vectors, collector, "gensim KeyedVectors", _counts(record, words))


def _words(record: Record, path: Path) -> list[str]:
    for name in WORDS:
        words = record.state.get(name)
        if isinstance(words, list):
            # Text of one that is neither could be of any length: a list may hold a list twice, and so on.
            if any(not isinstance(word, str | int) for word in words):
                raise VectorFileError(
                    f"{path}: these KeyedVectors have a word that is neither a text nor a number"
                )
            texts = [str(word) for word in words]
            if (longest := max(map(len, texts), default=0)) > LONGEST_WORD:
                raise VectorFileError(f"{path}: these KeyedVectors have a word of {longest} characters")
            return texts
    raise VectorFileError(f"{path}: these KeyedVectors have no list of words ({' or '.join(WORDS)})")


def _counts(record: Record, words: list[str]) -> NDArray[Any] | None:
    """How often each word occurred: an array of gensim 4, or in the entries of gensim 3's dictionary.

    Where gensim read the vectors from a file without counts, it made some up: n for the first word, then n − 1,
    and so on. In a text many rare words occur equally often, so numbers that are all different are no counts.
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
        if name in _texts(record.state.get("__numpys")):
            return _array_beside(path.with_name(f"{path.name}.{name}.npy"), path)
    raise VectorFileError(f"{path}: these KeyedVectors have no array of vectors ({' or '.join(VECTORS)})")


def _array_beside(beside: Path, path: Path) -> NDArray[Any]:
    """An array that gensim put into a file of its own; mapped, so that only the wanted rows are read."""
    if not beside.exists():
        raise VectorFileError(f"{path}: its numbers are in {beside.name}, which should lie beside it")
    return map_array(beside)


def _texts(value: object) -> list[str]:
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []
