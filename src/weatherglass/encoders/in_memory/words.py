"""An encoder over word vectors that the caller holds; a text is the mean over its words, as with `vectors:`."""

from __future__ import annotations

import hashlib
from collections.abc import Collection

import numpy as np

from weatherglass.arrays import AnyVector
from weatherglass.encoders.in_memory.tables import WordTable
from weatherglass.encoders.vectors import METHOD, WordEncoder
from weatherglass.errors import EncoderError
from weatherglass.languages import DEFAULT_LANGUAGE
from weatherglass.vectors import WordVectors


class InMemoryWords(WordEncoder):
    """Averages the vectors of a text's words, in float64."""

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
        """A hash of all words, vectors and options."""
        parts = [METHOD, "in memory", self._table.content(), *map("=".join, self.options.items())]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def notes(self) -> list[str]:
        """What was found only in lower case, what has subword vectors, and how many words occur twice."""
        twice = self._table.duplicates
        return super().notes() + (
            [f"{twice} words occur more than once; the first one counts"] if twice else []
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
