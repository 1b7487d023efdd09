"""Encode with word vectors in memory: dicts, frames, gensim's KeyedVectors and spaCy pipelines."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weatherglass.arrays import AnyMatrix, AnyVector, ArrayError, masked_row, real_array
from weatherglass.encoders.vectors import METHOD, WordEncoder
from weatherglass.errors import EncoderError
from weatherglass.languages import DEFAULT_LANGUAGE
from weatherglass.vectors import WordVectors


@dataclass(frozen=True, slots=True)
class WordTable:
    """Vectors by word, from any object."""

    width: int
    vector: Callable[[str], AnyVector | None]
    """A function that returns the vector of a word exactly as written, or None."""
    content: Callable[[], str]
    """A function that returns a hash of all words and vectors."""
    subwords: Callable[[str], AnyVector | None] = lambda _: None
    """A function that returns the vector of an out-of-vocabulary word from its character n-grams, or None."""
    duplicates: int = 0
    """The number of words that occur more than once; the first occurrence counts."""


def of_mapping(vectors: Mapping[str, Any]) -> WordTable:
    """Return the table for a dict of vectors by word.

    Raises:
        EncoderError: if a key is not text, a value is not a vector of real numbers, or vectors differ in length.
    """
    rows = {_word(word): _real(f"'{word}'", vector) for word, vector in vectors.items()}
    first, width = next((word, row.shape) for word, row in rows.items())
    for word, row in rows.items():
        if row.shape != width:
            raise EncoderError(f"'{word}' has {_numbers(row)}, but '{first}' has {_numbers(rows[first])}")
    return WordTable(
        width[0],
        rows.get,
        lambda: _content(sorted(rows), (np.ascontiguousarray(rows[word]) for word in sorted(rows))),
    )


def of_rows(words: Sequence[object], matrix: AnyMatrix) -> WordTable:
    """Return the table for a matrix with one row per word."""
    row_of: dict[object, int] = {}
    for row, word in enumerate(words):
        row_of.setdefault(word, row)

    def vector(word: str) -> AnyVector | None:
        return matrix[row_of[word]] if word in row_of else None

    return WordTable(
        matrix.shape[1],
        vector,
        lambda: _content(list(map(str, words)), [np.ascontiguousarray(matrix)]),
        duplicates=len(words) - len(row_of),
    )


def of_pandas(frame: Any) -> WordTable:
    """Return the table for a pandas frame, whose words are its index or its only text column, and whose other columns
    are numbers.
    """
    numbers = frame.select_dtypes("number")
    others = [name for name in frame.columns if name not in numbers.columns]
    texts = [name for name in others if all(isinstance(value, str) for value in frame[name])]
    nested = [name for name in others if name not in texts]
    words = frame[texts[0]] if texts else frame.index
    return _of_columns(
        "pandas", list(words), len(texts), numbers.to_numpy(), [list(frame[name]) for name in nested]
    )


def of_polars(frame: Any) -> WordTable:
    """Return the table for a polars frame, whose words are its only text column, and whose vectors are numbers or
    lists.
    """
    texts = [name for name, kind in frame.schema.items() if str(kind) == "String"]
    numbers = [name for name, kind in frame.schema.items() if kind.is_numeric()]
    nested = [name for name in frame.columns if name not in (*texts, *numbers)]
    if not texts:
        raise EncoderError(
            f"a polars frame of word vectors needs a column of words; this one has {_columns(frame)}"
        )
    return _of_columns(
        "polars",
        frame[texts[0]].to_list(),
        len(texts),
        frame.select(numbers).to_numpy(),
        [frame[name].to_list() for name in nested],
    )


def _of_columns(
    library: str, words: list[object], texts: int, numbers: Any, nested: Sequence[Sequence[Any]]
) -> WordTable:
    """Return the table for several columns of numbers, or for one column whose cells are vectors.

    Raises:
        EncoderError: if it is unclear which columns contain words and vectors.
    """
    expected = (
        f"a {library} frame of word vectors should have one column of words, and either columns of numbers "
        "or one column of lists"
    )
    if texts > 1 or len(nested) > 1 or (nested and numbers.shape[1]):
        raise EncoderError(
            f"{expected}; this one has {texts} of text, {numbers.shape[1]} of numbers and {len(nested)} "
            "others"
        )
    if nested:
        try:
            numbers = np.array([np.asarray(real_array(cell), dtype=np.float64) for cell in nested[0]])
        except ValueError:
            raise EncoderError(f"{expected}; the lists differ in length or contain other values") from None
    if numbers.ndim != 2 or not numbers.size:
        raise EncoderError(f"{expected}; this one has no numbers")
    if not any(isinstance(word, str) for word in words):
        raise EncoderError(
            f"{expected}; its words are {type(words[0]).__name__}, not text: set them as the index"
        )
    return of_rows(words, _real(f"a {library} frame of word vectors", numbers))


def _columns(frame: Any) -> str:
    return ", ".join(map(str, frame.columns[:5])) + (", …" if len(frame.columns) > 5 else "")


def of_keyed_vectors(keyed: Any) -> WordTable:
    """Return the table for gensim's KeyedVectors; fastText's KeyedVectors also have vectors for out-of-vocabulary
    words.
    """
    index, matrix = keyed.key_to_index, keyed.vectors
    if (row := masked_row(matrix)) is not None:
        raise EncoderError(f"'{keyed.index_to_key[row]}' has masked values; fill them, or remove the word")

    def vector(word: str) -> AnyVector | None:
        return matrix[index[word]] if word in index else None

    def subwords(word: str) -> AnyVector | None:
        try:
            return np.asarray(keyed.get_vector(word)) if word not in index else None
        except KeyError:  # no n-gram of the word is known
            return None

    ngrams = getattr(keyed, "vectors_ngrams", None)
    arrays = [matrix] if ngrams is None else [matrix, ngrams]
    names = ("min_n", "max_n", "bucket")
    settings = [] if ngrams is None else [f"{name}={getattr(keyed, name, None)}" for name in names]

    def content() -> str:
        return _content([*map(str, keyed.index_to_key), *settings], map(np.ascontiguousarray, arrays))

    return WordTable(
        int(keyed.vector_size), vector, content, subwords if ngrams is not None else lambda _: None
    )


def of_spacy(pipeline: Any) -> WordTable:
    """Return the table for a spaCy pipeline; words are looked up as in spaCy.

    Raises:
        EncoderError: if the pipeline has no vectors.
    """
    vocab = pipeline.vocab
    width = int(vocab.vectors_length)
    if not width:
        raise EncoderError(
            f"the spaCy pipeline '{pipeline.meta.get('name')}' has no word vectors; load one with vectors, such as "
            "en_core_web_md"
        )

    def vector(word: str) -> AnyVector | None:
        return np.asarray(vocab.get_vector(word)) if vocab.has_vector(word) else None

    return WordTable(width, vector, lambda: hashlib.sha256(vocab.vectors.to_bytes()).hexdigest())


def _word(given: object) -> str:
    if not isinstance(given, str):
        raise EncoderError(f"words should be text, but {given!r} is {type(given).__name__}")
    return given


def _real(name: str, values: Any) -> AnyMatrix:
    try:
        return real_array(values)
    except ArrayError as error:
        raise EncoderError(f"{name} {error}") from None


def _content(words: Sequence[str], arrays: Iterable[AnyMatrix]) -> str:
    whole = hashlib.sha256(json.dumps(words).encode())
    for array in arrays:
        whole.update(f"{array.dtype.str} {array.shape}".encode())
        whole.update(array.view(np.uint8).data)
    return whole.hexdigest()


def _numbers(row: AnyVector) -> str:
    return f"{len(row)} numbers" if row.ndim == 1 else f"an array of shape {row.shape}"


class InMemoryWords(WordEncoder):
    """An encoder that averages the vectors of a text's words in float64."""

    def __init__(
        self,
        name: str,
        table: WordTable,
        tokens: str = "words",
        case: str = "exact-then-lower",
        language: str = DEFAULT_LANGUAGE,
    ) -> None:
        super().__init__(name, tokens, case, language)
        self._table = table

    def identity(self) -> str:
        """Return a hash of all words, vectors and options."""
        parts = [METHOD, "in memory", self._table.content(), *map("=".join, self.options.items())]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def notes(self) -> list[str]:
        """Return how many words were found only in lower case, have subword vectors, or occur twice."""
        twice = self._table.duplicates
        return super().notes() + (
            [f"{twice} words occur more than once; the first occurrence counts"] if twice else []
        )

    def _read(self, words: Collection[str]) -> WordVectors:
        rows: dict[str, AnyVector] = {}
        from_subwords = []
        for word in sorted(words):
            vector = self._table.vector(word)
            if vector is None and (vector := self._table.subwords(word)) is not None:
                from_subwords.append(word)
            if vector is not None:
                rows[word] = self._finite(word, vector)
        matrix = np.stack(list(rows.values())) if rows else np.empty((0, self._table.width))
        places = {word: row for row, word in enumerate(rows)}
        return WordVectors(matrix, places, "in memory", from_subwords=frozenset(from_subwords))

    def _finite(self, word: str, vector: AnyVector) -> AnyVector:
        if not np.isfinite(vector).all():
            wrong = int(np.flatnonzero(~np.isfinite(vector))[0])
            raise EncoderError(
                f"{self.name}, '{word}': number {wrong + 1} is {vector[wrong]}, which is not finite"
            )
        return vector
