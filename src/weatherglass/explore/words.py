"""Keep what a model has encoded, and find words of its vocabulary: suggestions and nearest words."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from weatherglass.arrays import AnyMatrix, AnyVector
from weatherglass.catalogue.published import list_sets, word_set
from weatherglass.encoders.base import Asked, Encoding, Model, Observations, What, plain
from weatherglass.encoders.vectors import VectorEncoder
from weatherglass.errors import WeatherglassError
from weatherglass.languages.known import listed_words
from weatherglass.vectors.collector import release_memory

KEPT = 50_000
"""Number of encoded texts that are kept in memory for each model."""
AT_ONCE = 16
"""Number of texts that a costly model encodes before it is asked whether the answer is still wanted."""
BLOCK = 20_000
"""Number of rows of a vocabulary that are compared at once, so that no second copy of it is in memory."""


class StaleError(WeatherglassError):
    """Raised if a later question has replaced the one that is being answered."""


class RememberingModel:
    """A model that keeps the vectors of texts in memory, and stops encoding if the answer is no longer wanted."""

    in_parts = False

    def __init__(self, inner: Model) -> None:
        self.inner = inner
        self.name = inner.name
        self.options = inner.options
        self.gives = inner.gives
        self.costly = bool(getattr(inner, "costly", False))
        self.wanted: Callable[[], bool] = lambda: True
        """Return whether the answer is still needed."""
        self.done, self.total = 0, 0
        """Number of texts that are encoded, and that are to be encoded, for the question that is being answered."""
        self._known: dict[tuple[What, Asked], Encoding] = {}

    def identity(self) -> str | None:
        """Return the identity of the model."""
        return self.inner.identity()

    def notes(self) -> list[str]:
        """Return the notes of the model."""
        return self.inner.notes()

    def warnings(self) -> Sequence[Any]:
        """Return the warnings of the model."""
        return self.inner.warnings()

    def encode(self, texts: Sequence[str]) -> Any:
        """Return one vector per text."""
        return self.observe(texts).values

    def coverage(self, texts: Sequence[str]) -> list[Any]:
        """Return how the model reads each text."""
        return self.observe(texts).coverage

    def missing(self, texts: Sequence[Asked], what: What = "vectors") -> list[Asked]:
        """Return the distinct texts that are not in memory."""
        return [asked for asked in dict.fromkeys(map(plain, texts)) if (what, asked) not in self._known]

    def known_texts(self) -> list[str]:
        """Return the texts that are in memory."""
        return [asked for what, asked in self._known if what == "vectors" and isinstance(asked, str)]

    def observe(self, inputs: Sequence[Asked], what: What = "vectors") -> Observations:
        """Return the observations; only texts that are new are encoded.

        Raises:
            StaleError: if the answer is no longer wanted.
        """
        new = self.missing(inputs, what)
        if len(self._known) + len(new) > KEPT:
            self._known.clear()
            new = self.missing(inputs, what)
        size = AT_ONCE if self.costly else max(1, len(new))
        try:
            for start in range(0, len(new), size):
                if not self.wanted():
                    raise StaleError("a later question has replaced this one")
                self.done, self.total = start, len(new)
                seen = self.inner.observe(new[start : start + size], what)
                self._known |= {(what, asked): each for asked, each in seen.by_input().items()}
        finally:
            self.done = self.total = 0
        rows = [self._known[what, plain(asked)] for asked in inputs]
        values = [row.values for row in rows]
        coverage = [row.coverage for row in rows]
        return Observations(inputs, what, np.array(values) if what == "vectors" else values, coverage)


class Vocabulary:
    """The words that a model can be asked for: those of its file, or those of the catalogue and of English."""

    def __init__(self, model: RememberingModel, transformed: bool) -> None:
        self.model = model
        inner: Any = model.inner
        reader = inner.inner if hasattr(inner, "inner") else inner
        whole = reader.read_whole_file() if isinstance(reader, VectorEncoder) else None
        self.of_file = whole is not None
        """Whether the words are those of the model's file."""
        self._searchable = whole if whole is not None and reader is inner and not transformed else None
        self._transformed = transformed
        if whole is not None:
            self._rank = whole.rows
            self._sorted = sorted(whole.rows)
        else:
            words = dict.fromkeys([*catalogue_words(), *sorted(listed_words("en") or ())])
            self._rank = {word: place for place, word in enumerate(words)}
            self._sorted = sorted(words)

    def __len__(self) -> int:
        return len(self._sorted)

    def starting_with(self, prefix: str, most: int = 8) -> list[str]:
        """Return the first words of the vocabulary, by their place in it, that start with a prefix."""
        if not prefix:
            return []
        first = bisect_left(self._sorted, prefix)
        last = bisect_left(self._sorted, prefix + "\U0010ffff")
        found = self._sorted[first:last]
        return sorted(found, key=self._rank.__getitem__)[:most]

    def nearest(self, word: str, most: int = 10) -> tuple[list[tuple[str, float]], str]:
        """Return the words with the highest cosine to a word, and the words that were searched."""
        if self._transformed:
            return [], "not available for a model with transforms"
        if self._searchable is not None:
            return self._nearest_of_file(word, most), f"{len(self):,} words of the file".replace(",", " ")
        model = self.model
        pool = model.known_texts() if model.costly else catalogue_words()
        pool = [text for text in dict.fromkeys(pool) if text.casefold() != word.casefold()]
        if not pool:
            return [], "no other words are encoded yet"
        vectors = np.asarray(model.encode([word, *pool]), dtype=np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        cosines = np.nan_to_num(units[1:] @ np.nan_to_num(units[0]), nan=-2.0)
        best = np.argsort(-cosines, kind="stable")[:most]
        where = "words used so far" if model.costly else "words of the catalogue"
        return [(pool[row], float(cosines[row])) for row in best if cosines[row] > -2], f"{len(pool)} {where}"

    def _nearest_of_file(self, word: str, most: int) -> list[tuple[str, float]]:
        whole = self._searchable
        own = np.asarray(self.model.encode([word]), dtype=np.float32)[0]
        if whole is None or np.isnan(own).any() or not own.any():
            return []
        with np.errstate(invalid="ignore", divide="ignore"):
            cosines = np.concatenate([self._cosines(rows, own) for rows in self._blocks(whole.matrix)])
        rows = np.argpartition(-cosines, min(most + 4, len(cosines) - 1))[: most + 4]
        rows = rows[np.argsort(-cosines[rows], kind="stable")]
        words = list(whole.rows)
        found = [
            (words[row], float(cosines[row])) for row in rows if words[row].casefold() != word.casefold()
        ]
        return found[:most]

    @staticmethod
    def _blocks(matrix: AnyMatrix) -> Iterator[AnyMatrix]:
        """Yield blocks of rows; only one of them is in memory if the rows are on disk."""
        for start in range(0, len(matrix), BLOCK):
            yield matrix[start : start + BLOCK]
            release_memory(matrix)

    @staticmethod
    def _cosines(rows: AnyMatrix, own: AnyVector) -> AnyVector:
        lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(own)
        return np.asarray(np.nan_to_num((rows @ own) / lengths, nan=-2.0))


def catalogue_words() -> list[str]:
    """Return the words of all sets of the catalogue, each once."""
    texts = (text for each in list_sets() for text in word_set(each.name).texts)
    return list(dict.fromkeys(texts))
