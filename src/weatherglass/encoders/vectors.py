"""Encode with word vectors, `vectors:PATH` or `spacy:PIPELINE`; the vector of a text is the mean over its words
(CBOW).

The file is read when texts are first encoded, once for all texts and only for their words. A word is looked up as
written and then, by default, in lower case. Out-of-vocabulary words are left out of the mean, unless the file is a
fastText model, which has subword vectors for any word. A spaCy pipeline is read from its files; its code is not run,
and spaCy is not needed.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Self

import numpy as np

from weatherglass.arrays import AnyVector, Matrix
from weatherglass.encoders.base import STATIC, Coverage, Encoder
from weatherglass.encoders.spec import OptionReader, Spec
from weatherglass.errors import SpecError, VectorFileError
from weatherglass.languages import DEFAULT_LANGUAGE, LANGUAGES
from weatherglass.languages.similar_words import shown_twins
from weatherglass.languages.tokenise import TOKENISERS
from weatherglass.storage.checksum import file_hash
from weatherglass.vectors import (
    WordVectors,
    check_file,
    has_subwords,
    read_every_word,
    read_vectors,
    related_files,
)
from weatherglass.vectors.spacy import find_pipeline, pipeline_files, read_pipeline
from weatherglass.warnings import Warning

METHOD = "mean over words, 1"
"""A part of the identity, which must change when the same file and options give different vectors."""

TOKENS = ("words", "whitespace", "none")
CASES = ("exact-then-lower", "exact", "lower")
MOST_SPLIT = 50_000
"""The number of texts whose words are remembered; above it, they are forgotten before the next texts."""
IN_MEMORY = 2**25
"""The size in bytes up to which all vectors of a file are kept in memory."""
SHOWN = 10
"""The maximum number of words in a note."""
GLOVE = Path(__file__).parent / "glove" / "glove.6B.50d.safetensors"
"""Frequent words of GloVe 6B in half precision; proofs/embedded.py writes the file."""


def word_options(options: OptionReader, case: str = CASES[0]) -> tuple[str, str, str]:
    """Return the options `tokens`, `case` and `language` of a spec; the argument sets the default of `case`."""
    return (
        options.choice("tokens", TOKENS, "words"),
        options.choice("case", CASES, case),
        options.choice("language", LANGUAGES.names(), DEFAULT_LANGUAGE),
    )


class WordEncoder(Encoder):
    """An encoder that averages the vectors of a text's words in float64; a subclass reads the vectors (`_read`)."""

    gives = STATIC

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
        self._split: dict[str, list[str]] = {}
        self._looked_up: set[str] = set()
        self._vectors: dict[str, AnyVector] = {}
        self._from_subwords: dict[str, AnyVector] = {}
        self._found: dict[str, AnyVector | None] = {}
        self._in_lower_case: list[str] = []
        self._of_subwords: dict[str, None] = {}
        self._width: int | None = None
        self._duplicates = 0
        self._twins: dict[tuple[str, ...], None] = {}
        self._file_warnings: tuple[Warning, ...] = ()

    def _read(self, words: Collection[str]) -> WordVectors:
        """Return the vectors of the words that have one."""
        raise NotImplementedError

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return one mean vector per text; NaN if none of its words is in the file."""
        tokens = self._look_up(texts)
        means = np.full((len(texts), self._width or 0), np.nan)
        for row, words in enumerate(tokens):
            vectors = [vector for word in words if (vector := self._found[word]) is not None]
            if vectors:
                means[row] = np.mean(vectors, axis=0, dtype=np.float64)
        return means

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """Return the words of each text, the words without a vector, and a note on words with a subword vector."""
        covered = []
        for words in self._look_up(texts):
            missing = tuple(word for word in words if self._found[word] is None)
            of_subwords = [word for word in dict.fromkeys(words) if word in self._of_subwords]
            note = f"out-of-vocabulary, vector from subwords: {', '.join(of_subwords)}" if of_subwords else ""
            covered.append(Coverage(tuple(words), missing, note))
        return covered

    def notes(self) -> list[str]:
        """Return how many words were found only in lower case, have subword vectors, or are in the file twice."""
        notes = []
        if self._in_lower_case:
            notes.append(
                f"{len(self._in_lower_case)} words are in the file only in lower case: {_some(self._in_lower_case)}"
            )
        if self._of_subwords:
            notes.append(
                f"{len(self._of_subwords)} out-of-vocabulary words have subword vectors (use subwords=no "
                f"to leave them out): {_some(self._of_subwords)}"
            )
        if self._duplicates:
            notes.append(
                f"{self._duplicates} duplicate entries in the file for words that were looked up; the "
                "first entry counts"
            )
        return notes

    def warnings(self) -> list[Warning]:
        """Return warnings about the file, and about different words that look the same."""
        warnings = list(self._file_warnings)
        if self._twins:
            warnings.append(Warning.of("lookalikes-in-file", words=shown_twins(sorted(self._twins))))
        return warnings

    def _look_up(self, texts: Sequence[str]) -> list[list[str]]:
        """Return the words of each text, after finding the vector of every word that is new."""
        if len(self._split) > MOST_SPLIT:
            self._split.clear()
        for text in texts:
            if text not in self._split:
                self._split[text] = self._tokenise(text)
        tokens = [self._split[text] for text in texts]
        new = [word for word in dict.fromkeys(itertools.chain(*tokens)) if word not in self._found]
        lower = {word: word if self._case == "exact" else self._lower(word) for word in new}
        # The forms in which each word may be in the file, the preferred form first.
        exact = lower if self._case != "lower" else lower.values()
        forms = list(zip(exact, lower.values(), strict=True))
        wanted = set(itertools.chain(*forms)) - self._looked_up
        if wanted or self._width is None:
            loaded = self._read(wanted)
            for form, row in loaded.rows.items():
                known = self._from_subwords if form in loaded.from_subwords else self._vectors
                known[form] = loaded.matrix[row]
            self._looked_up |= wanted
            self._width = loaded.width
            self._duplicates += loaded.duplicates
            self._twins |= dict.fromkeys(loaded.twins)
            self._file_warnings = loaded.warnings
        for word, (first, second) in zip(new, forms, strict=True):
            self._found[word] = self._vectors.get(first)
            if self._found[word] is None and (vector := self._vectors.get(second)) is not None:
                self._found[word] = vector
                self._in_lower_case.append(word)
            elif self._found[word] is None and (vector := self._from_subwords.get(first)) is not None:
                # Subwords come last, and are those of the preferred form.
                self._found[word] = vector
                self._of_subwords[word] = None
        return tokens


class VectorEncoder(WordEncoder):
    """An encoder that averages word vectors from a file."""

    def __init__(
        self,
        path: Path,
        tokens: str = "words",
        case: str = "exact-then-lower",
        language: str = DEFAULT_LANGUAGE,
        subwords: bool = True,
    ) -> None:
        super().__init__(str(Spec("vectors", str(path))), tokens, case, language)
        self.path = path
        self._subwords = subwords
        self._whole: WordVectors | None = None

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Read `vectors:PATH?tokens=words|whitespace|none&case=exact-then-lower|exact|lower&language=en&subwords=yes`.

        Raises:
            SpecError: if no file is named or an option is wrong.
            VectorFileError: if the file is missing, empty or a folder.
        """
        if not spec.target:
            raise SpecError(f"'{spec}': give a file of vectors, as in vectors:glove.840B.300d.txt")
        path = Path(spec.target).expanduser()
        check_file(path)
        options = spec.reader()
        choices = word_options(options)
        with_subwords = has_subwords(path)
        subwords = options.flag("subwords", True) if with_subwords else True
        options.done()
        encoder = cls(path, *choices, subwords)
        if with_subwords:
            encoder.options = {**encoder.options, "subwords": "yes" if subwords else "no"}
        encoder.name = str(spec)
        return encoder

    def read_whole_file(self) -> WordVectors | None:
        """Read every word, so that no later word needs a pass over the file; a large file's vectors are kept on disk.

        Returns:
            All words of the file; None if it has subwords, or if the vector of any word cannot be read. Words are then
            read from the file as before.
        """
        if self._whole is None and not has_subwords(self.path):
            try:
                self._whole = read_every_word(self.path, self.path.stat().st_size > IN_MEMORY)
            except VectorFileError:
                return None
        return self._whole

    def _read(self, words: Collection[str]) -> WordVectors:
        whole = self._whole
        if whole is None:
            return read_vectors(self.path, words, self._subwords)
        found = [word for word in words if word in whole.rows]
        rows = {word: row for row, word in enumerate(found)}
        return replace(
            whole, matrix=whole.matrix[[whole.rows[word] for word in found]], rows=rows, duplicates=0
        )

    def _files(self) -> list[Path]:
        return related_files(self.path)

    def identity(self) -> str:
        """Return a hash of the options and of the content of all files that belong to the vectors."""
        parts = [METHOD, *map(file_hash, self._files()), *map("=".join, self.options.items())]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()


class EmbeddedGlove(VectorEncoder):
    """An encoder with the frequent words of GloVe 6B (Pennington et al. 2014), which are part of the package."""

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Read `glove?tokens=words|whitespace|none&case=exact-then-lower|exact|lower`.

        Raises:
            SpecError: if the spec has a target or a wrong option.
        """
        if spec.target:
            raise SpecError(
                f"'{spec}': 'glove' is a single model; write it without a file, or vectors:{spec.target} for a file"
            )
        options = spec.reader()
        encoder = cls(GLOVE, *word_options(options))
        options.done()
        encoder.name = str(spec)
        return encoder


def _some(words: Collection[str]) -> str:
    """Return the first few words and the number of words left out."""
    rest = f" and {len(words) - SHOWN} more" if len(words) > SHOWN else ""
    return f"{', '.join(list(words)[:SHOWN])}{rest}"


class SpacyEncoder(VectorEncoder):
    """An encoder that averages the word vectors of a spaCy pipeline; by default, words are looked up exactly as
    written.
    """

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Read `spacy:NAME-OR-FOLDER?tokens=words|whitespace|none&case=exact|exact-then-lower|lower&language=en`.

        Raises:
            SpecError: if no pipeline is named or an option is wrong.
            VectorFileError: if the pipeline does not exist or has no vectors.
        """
        if not spec.target:
            raise SpecError(f"'{spec}': name an installed pipeline or its folder, as in spacy:en_core_web_md")
        options = spec.reader()
        choices = word_options(options, case="exact")
        options.done()
        encoder = cls(find_pipeline(spec.target), *choices)
        encoder.name = str(spec)
        return encoder

    def read_whole_file(self) -> None:
        """Return None: a pipeline is a folder, which is read word by word."""

    def _read(self, words: Collection[str]) -> WordVectors:
        return read_pipeline(self.path, words)

    def _files(self) -> list[Path]:
        return pipeline_files(self.path)
