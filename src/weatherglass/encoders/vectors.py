"""`vectors:PATH`: a file of word vectors; a text is the mean over its words (a continuous bag of words).

The file is read at `encode`, once for all texts, and only for their words. A word is looked up as it is written and
then, by default, in lower case; out-of-vocabulary words are left out of the mean.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Matrix
from weatherglass.encoders.base import Coverage
from weatherglass.encoders.spec import Spec
from weatherglass.errors import SpecError
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.languages.en.tokenise import TOKENISERS
from weatherglass.storage.fingerprint import file_hash
from weatherglass.vectors import check_file, read_vectors, related_files

METHOD = "mean over words, 1"
"""Part of the identity; to be changed when the same file and options would give other vectors."""

CASES = ("exact-then-lower", "exact", "lower")
SHOWN = 10
"""How many words a note lists."""


class VectorEncoder:
    """Averages the vectors of a text's words, in float64."""

    costly: ClassVar[bool] = False

    def __init__(
        self,
        path: Path,
        tokens: str = "words",
        case: str = "exact-then-lower",
        language: str = DEFAULT_LANGUAGE,
    ) -> None:
        check_file(path)
        self.path = path
        self.name = str(Spec("vectors", str(path)))
        self.options: Mapping[str, str] = {"tokens": tokens, "case": case}
        if language != DEFAULT_LANGUAGE:
            self.options = {**self.options, "language": language}
        pack = LANGUAGES.get(language)
        self._lower = pack.lower
        self._tokenise = pack.tokenise if tokens == "words" else TOKENISERS[tokens]
        self._case = case
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._looked_up: set[str] = set()
        self._in_lower_case: dict[str, None] = {}
        self._width: int | None = None
        self._duplicates = 0

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """`vectors:PATH?tokens=words|whitespace|none&case=exact-then-lower|exact|lower&language=en`.

        Raises:
            SpecError: if no file is named or an option is wrong.
            VectorFileError: if the file is missing, empty or a folder.
        """
        if not spec.target:
            raise SpecError(f"'{spec}': name a file of vectors, as in vectors:glove.840B.300d.txt")
        options = spec.reader()
        tokens = options.choice("tokens", ("words", "whitespace", "none"), "words")
        case = options.choice("case", CASES, "exact-then-lower")
        language = options.choice("language", LANGUAGES.names(), DEFAULT_LANGUAGE)
        options.done()
        encoder = cls(Path(spec.target).expanduser(), tokens, case, language)
        encoder.name = str(spec)
        return encoder

    def identity(self) -> str:
        """A hash of the content of the file, what belongs to it, and the options."""
        parts = [METHOD, *map(file_hash, related_files(self.path)), *map("=".join, self.options.items())]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def encode(self, texts: Sequence[str]) -> Matrix:
        """One mean vector per text; NaN where none of its words is in the file."""
        tokens = self._tokens(texts)
        means = np.full((len(texts), self._width or 0), np.nan)
        for row, words in enumerate(tokens):
            vectors = [vector for word in words if (vector := self._vector(word)) is not None]
            if vectors:
                means[row] = np.mean(vectors, axis=0, dtype=np.float64)
        return means

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """The words of each text and those that are not in the file."""
        return [
            Coverage(tuple(words), tuple(word for word in words if self._vector(word) is None))
            for words in self._tokens(texts)
        ]

    def notes(self) -> list[str]:
        """What was found only in lower case, and which words the file has twice."""
        notes = []
        if self._in_lower_case:
            words = list(self._in_lower_case)
            rest = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
            notes.append(
                f"{len(words)} words are in the file only in lower case: {', '.join(words[:SHOWN])}{rest}"
            )
        if self._duplicates:
            notes.append(
                f"{self._duplicates} further entries in the file for words that were looked up; the first one counts"
            )
        return notes

    def _tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """The words of each text; after the call their vectors are loaded."""
        tokens = [self._tokenise(text) for text in texts]
        forms = {form for words in tokens for word in words for form in self._forms(word)}
        wanted = forms - self._looked_up
        if wanted or self._width is None:
            loaded = read_vectors(self.path, wanted)
            self._vectors |= {word: loaded[word] for word in loaded.rows}
            self._looked_up |= wanted
            self._width = loaded.width
            self._duplicates += loaded.duplicates
        return tokens

    def _forms(self, word: str) -> Iterable[str]:
        """How a word may stand in the file, the preferred form first."""
        if self._case == "exact":
            return (word,)
        if self._case == "lower":
            return (self._lower(word),)
        return dict.fromkeys((word, self._lower(word)))

    def _vector(self, word: str) -> NDArray[np.float32] | None:
        for form in self._forms(word):
            if form in self._vectors:
                if form != word and self._case != "lower":
                    self._in_lower_case[word] = None
                return self._vectors[form]
        return None
