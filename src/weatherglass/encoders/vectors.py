"""`vectors:PATH` and `spacy:PIPELINE`: word vectors; a text is the mean over its words (a continuous bag of words).

The file is read at `encode`, once for all texts, and only for their words. A word is looked up as it is written and
then, by default, in lower case; out-of-vocabulary words are left out of the mean, unless the file is a fastText model
with subwords, which give any word a vector. Of a spaCy pipeline only its files are read: no code of it is run, and
spaCy is not needed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from weatherglass.arrays import AnyVector, Matrix
from weatherglass.encoders.base import STATIC, Coverage, Encoder, What
from weatherglass.encoders.spec import Spec
from weatherglass.errors import SpecError
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.languages.lookalike import shown_twins
from weatherglass.languages.tokenise import TOKENISERS
from weatherglass.storage.checksum import file_hash
from weatherglass.vectors import WordVectors, check_file, has_subwords, read_vectors, related_files
from weatherglass.vectors.spacy import find_pipeline, pipeline_files, read_pipeline
from weatherglass.warnings import Warning

METHOD = "mean over words, 1"
"""Part of the identity; to be changed when the same file and options would give other vectors."""

TOKENS = ("words", "whitespace", "none")
CASES = ("exact-then-lower", "exact", "lower")
SHOWN = 10
"""How many words a note lists."""


class WordEncoder(Encoder):
    """Averages the vectors of a text's words, in float64, wherever `_read` gets them from."""

    costly: ClassVar[bool] = False

    def __init__(
        self,
        name: str,
        tokens: str = "words",
        case: str = "exact-then-lower",
        language: str = DEFAULT_LANGUAGE,
    ) -> None:
        self.name = name
        self.options: Mapping[str, str] = {"tokens": tokens, "case": case}
        if language != DEFAULT_LANGUAGE:
            self.options = {**self.options, "language": language}
        pack = LANGUAGES.get(language)
        self._lower = pack.lower
        self._tokenise = pack.tokenise if tokens == "words" else TOKENISERS[tokens]
        self._case = case
        self._vectors: dict[str, AnyVector] = {}
        self._looked_up: set[str] = set()
        self._encoded: dict[str, None] = {}
        self._in_lower_case: dict[str, None] = {}
        self._split: dict[str, list[str]] = {}
        self._forms_of: dict[str, tuple[str, ...]] = {}
        self._from_subwords: dict[str, AnyVector] = {}
        self._width: int | None = None
        self._duplicates = 0
        self._twins: dict[tuple[str, ...], None] = {}
        self._file_warnings: tuple[Warning, ...] = ()

    def _read(self, words: Collection[str]) -> WordVectors:
        """Return the vectors of those of `words` that there are."""
        raise NotImplementedError

    @property
    def gives(self) -> frozenset[What]:
        return STATIC

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one mean vector per text; NaN where none of its words is in the file."""
        tokens = self._tokens(texts)
        means = np.full((len(texts), self._width or 0), np.nan)
        for row, words in enumerate(tokens):
            vectors = [vector for word in words if (vector := self._vector(word)) is not None]
            if vectors:
                means[row] = np.mean(vectors, axis=0, dtype=np.float64)
        return means

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """Return the words of each text, those that have no vector, and a remark on those that have one of subwords."""
        return [self._coverage(words) for words in self._tokens(texts)]

    def _coverage(self, words: Sequence[str]) -> Coverage:
        missing = tuple(word for word in words if self._vector(word) is None)
        of_subwords = [word for word in dict.fromkeys(words) if self._is_of_subwords(word)]
        note = f"out-of-vocabulary, vector of subwords: {', '.join(of_subwords)}" if of_subwords else ""
        return Coverage(tuple(words), missing, note)

    def notes(self) -> list[str]:
        """Return what was found only in lower case, what has subword vectors, and which words the file has twice."""
        notes = []
        if self._in_lower_case:
            notes.append(
                f"{len(self._in_lower_case)} words are in the file only in lower case: {_some(self._in_lower_case)}"
            )
        if used := [word for word in self._encoded if self._is_of_subwords(word)]:
            notes.append(
                f"{len(used)} out-of-vocabulary words have subword vectors (subwords=no leaves them out): {_some(used)}"
            )
        if self._duplicates:
            notes.append(
                f"{self._duplicates} further entries in the file for words that were looked up; the first one counts"
            )
        return notes

    def warnings(self) -> list[Warning]:
        """Return what may be wrong with the file, and words that look the same but are not."""
        warnings = list(self._file_warnings)
        if self._twins:
            warnings.append(Warning.of("lookalikes-in-file", words=shown_twins(sorted(self._twins))))
        return warnings

    def _tokens(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text; after the call their vectors are loaded."""
        for text in texts:
            if text not in self._split:
                self._split[text] = self._tokenise(text)
        tokens = [self._split[text] for text in texts]
        self._encoded |= dict.fromkeys(word for words in tokens for word in words)
        forms = {form for words in tokens for word in words for form in self._forms(word)}
        wanted = forms - self._looked_up
        if wanted or self._width is None:
            loaded = self._read(wanted)
            for word in loaded.rows:
                known = self._from_subwords if word in loaded.from_subwords else self._vectors
                known[word] = loaded[word]
            self._looked_up |= wanted
            self._width = loaded.width
            self._duplicates += loaded.duplicates
            self._twins |= dict.fromkeys(loaded.twins)
            self._file_warnings = loaded.warnings
        return tokens

    def _forms(self, word: str) -> tuple[str, ...]:
        """Return how a word may appear in the file, the preferred form first; found once for each word."""
        if word not in self._forms_of:
            lower = word if self._case == "exact" else self._lower(word)
            self._forms_of[word] = (lower,) if self._case == "lower" else tuple(dict.fromkeys((word, lower)))
        return self._forms_of[word]

    def _vector(self, word: str) -> AnyVector | None:
        for form in self._forms(word):
            if form in self._vectors:
                if form != word and self._case != "lower":
                    self._in_lower_case[word] = None
                return self._vectors[form]
        # A form of the vocabulary is preferred to subwords, which are those of the word as it is written.
        return self._from_subwords.get(self._forms(word)[0])

    def _is_of_subwords(self, word: str) -> bool:
        forms = self._forms(word)
        return forms[0] in self._from_subwords and not any(form in self._vectors for form in forms)


class VectorEncoder(WordEncoder):
    """The word vectors of a file."""

    def __init__(
        self,
        path: Path,
        tokens: str = "words",
        case: str = "exact-then-lower",
        language: str = DEFAULT_LANGUAGE,
        subwords: bool = True,
    ) -> None:
        self._check(path)
        super().__init__(str(Spec("vectors", str(path))), tokens, case, language)
        self.path = path
        self._subwords = subwords

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """`vectors:PATH?tokens=words|whitespace|none&case=exact-then-lower|exact|lower&language=en&subwords=yes`.

        Raises:
            SpecError: if no file is named or an option is wrong.
            VectorFileError: if the file is missing, empty or a folder.
        """
        if not spec.target:
            raise SpecError(f"'{spec}': name a file of vectors, as in vectors:glove.840B.300d.txt")
        path = Path(spec.target).expanduser()
        check_file(path)
        options = spec.reader()
        tokens = options.choice("tokens", TOKENS, "words")
        case = options.choice("case", CASES, "exact-then-lower")
        language = options.choice("language", LANGUAGES.names(), DEFAULT_LANGUAGE)
        with_subwords = has_subwords(path)
        subwords = options.flag("subwords", True) if with_subwords else True
        options.done()
        encoder = cls(path, tokens, case, language, subwords)
        if with_subwords:
            encoder.options = {**encoder.options, "subwords": "yes" if subwords else "no"}
        encoder.name = str(spec)
        return encoder

    @staticmethod
    def _check(path: Path) -> None:
        check_file(path)

    def _read(self, words: Collection[str]) -> WordVectors:
        return read_vectors(self.path, words, self._subwords)

    def _files(self) -> list[Path]:
        return related_files(self.path)

    def identity(self) -> str:
        """Return a hash of the content of the file, what belongs to it, and the options."""
        parts = [METHOD, *map(file_hash, self._files()), *map("=".join, self.options.items())]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _some(words: Collection[str]) -> str:
    """Return the first few words, and how many more there are."""
    rest = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return f"{', '.join(list(words)[:SHOWN])}{rest}"


class SpacyEncoder(VectorEncoder):
    """Averages the vectors of a text's words; by default a word is looked up as spaCy does, exactly as written."""

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """`spacy:NAME-OR-FOLDER?tokens=words|whitespace|none&case=exact|exact-then-lower|lower&language=en`.

        Raises:
            SpecError: if no pipeline is named or an option is wrong.
            VectorFileError: if there is no such pipeline, or it has no vectors.
        """
        if not spec.target:
            raise SpecError(f"'{spec}': name an installed pipeline or its folder, as in spacy:en_core_web_md")
        options = spec.reader()
        tokens = options.choice("tokens", TOKENS, "words")
        case = options.choice("case", CASES, "exact")
        language = options.choice("language", LANGUAGES.names(), DEFAULT_LANGUAGE)
        options.done()
        encoder = cls(find_pipeline(spec.target), tokens, case, language)
        encoder.name = str(spec)
        return encoder

    @staticmethod
    def _check(path: Path) -> None:
        """Nothing: `find_pipeline` has looked."""

    def _read(self, words: Collection[str]) -> WordVectors:
        return read_pipeline(self.path, words)

    def _files(self) -> list[Path]:
        return pipeline_files(self.path)
