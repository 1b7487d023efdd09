"""Keep the sentences of a corpus that contain the words of tests, and average each word over its sentences.

A sentence encoder has no vector for a word alone, only for a word in a sentence (docs/how-to/contexts.md). The
sentences are stored with the run, so that others can repeat it without the corpus.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from weatherglass.arrays import AnyMatrix, Matrix
from weatherglass.audit.encode import Encodings, observe
from weatherglass.audit.evaluate import WordRows
from weatherglass.audit.folder import CONTEXTS
from weatherglass.catalogue.test import CORPUS, Test
from weatherglass.encoders.base import Asked, Coverage, Input, Model
from weatherglass.errors import CorpusError, EncoderError, WeatherglassError
from weatherglass.languages.tokenise import without_spaces
from weatherglass.mitigation.base import Transform
from weatherglass.parallel import Backend
from weatherglass.progress import Progress
from weatherglass.storage.checksum import MISMATCH, State, read_checked_json, write_checked_json
from weatherglass.storage.documents import reading_document
from weatherglass.storage.reading import is_regular_file
from weatherglass.warnings import Warning

START = b'{\n "sha256": "'
"""The first bytes of such a file."""
FEW = 5
"""A word with fewer contexts is listed in a warning."""
NOT_FOUND = "it does not occur in the corpus"


@dataclass(frozen=True, slots=True)
class WordContexts:
    """A sample of the sentences that contain a word."""

    found: int
    """Number of sentences in the corpus that contain the word, with repetitions."""
    sample: tuple[Input, ...]
    """Distinct sentences with the place of the word, in random order, so that the first ones are a smaller sample."""


@dataclass(frozen=True, slots=True)
class Contexts:
    """The sampled sentences of each word, and where they come from."""

    source: Mapping[str, Any]
    """The name of the corpus, a hash of its content, and how it was sampled."""
    words: Mapping[str, WordContexts]

    def limited_to(self, per_word: int) -> Contexts:
        """Return a sample with at most this many sentences per word, which is a part of this one."""
        words = {word: replace(each, sample=each.sample[:per_word]) for word, each in self.words.items()}
        return Contexts({**self.source, "per_word": min(per_word, self.source["per_word"])}, words)

    def halves(self) -> tuple[Contexts, Contexts]:
        """Return two random halves of the sentences of each word; the first has one more if their number is odd."""
        first, second = {}, {}
        for word, each in self.words.items():
            middle = (len(each.sample) + 1) // 2
            first[word] = replace(each, sample=each.sample[:middle])
            second[word] = replace(each, sample=each.sample[middle:])
        return Contexts(self.source, first), Contexts(self.source, second)

    def cut_around(self, number: int) -> Contexts:
        """Return the contexts without what is further from the word than `number` words on each side."""
        words = {
            word: replace(each, sample=tuple(_cut(asked, number) for asked in each.sample))
            for word, each in self.words.items()
        }
        return Contexts(self.source, words)

    def only(self, words: Iterable[str]) -> Contexts:
        """Return the contexts of these words, in their order."""
        return Contexts(self.source, {word: self.words[word] for word in words})

    def fingerprint(self, texts: Iterable[str]) -> str:
        """Return a hash of the sentences of some words."""
        content = [[text, _plain(self.words[text])] for text in sorted(set(texts))]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def counts(self, texts: Iterable[str]) -> dict[str, int]:
        """Return the number of sampled sentences of each word."""
        return {text: len(self.words[text].sample) for text in texts}

    def write(self, folder: Path) -> None:
        """Write contexts.json with its checksum into the folder of a run."""
        words = {word: _plain(each) for word, each in self.words.items()}
        write_checked_json(folder / CONTEXTS, {"contexts": dict(self.source), "words": words})


def _plain(each: WordContexts) -> dict[str, Any]:
    places = ((asked.span or (0, 0), asked.text) for asked in each.sample)
    return {"found": each.found, "sentences": [[*span, text] for span, text in places]}


_CHUNK = re.compile(r"\S+")


def _cut(asked: Input, number: int) -> Input:
    """Return a sentence without what is further from the word than `number` words on each side.

    >>> _cut(Input("We saw that the old nurse, who was late, left.", (20, 25)), 2).text
    'the old nurse, who was'
    """
    start, end = asked.span or (0, len(asked.text))
    before, after = _words_in(asked.text[:start]), _words_in(asked.text[end:])
    first = before[-number][0] if len(before) > number else 0
    last = end + after[number - 1][1] if len(after) > number else len(asked.text)
    return replace(asked, text=asked.text[first:last], span=(start - first, end - first))


def _words_in(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each word; in scripts without spaces, each character is a word."""
    found = []
    for chunk in _CHUNK.finditer(text):
        start = chunk.start()
        for place in range(chunk.start(), chunk.end()):
            if without_spaces(text[place]):
                found += [(start, place), (place, place + 1)]
                start = place + 1
        found.append((start, chunk.end()))
    return [(first, last) for first, last in found if any(map(str.isalnum, text[first:last]))]


def is_contexts_file(path: Path) -> bool:
    """Return whether a file starts like contexts.json; a pipe is not opened, because that could last for ever."""
    if not is_regular_file(path):
        return False
    try:
        with path.open("rb") as file:
            return file.read(len(START)) == START
    except OSError:
        return False


def read_contexts(path: Path) -> Contexts:
    """Read contexts.json.

    Raises:
        CorpusError: if the file is damaged, or is not a file of contexts.
    """
    with reading_document(path, CorpusError):
        record, state = read_checked_json(path.read_bytes())
        if state is not State.WHOLE:
            raise CorpusError(f"{path}: {MISMATCH}; name the corpus itself, or get the file again")
        if "contexts" not in record or "words" not in record:
            raise CorpusError(f"{path}: not a file of contexts; use a corpus, or {CONTEXTS} of a run")
        try:
            words = {
                str(word): WordContexts(
                    int(each["found"]),
                    tuple(Input(str(text), (int(start), int(end))) for start, end, text in each["sentences"]),
                )
                for word, each in record["words"].items()
            }
        except EncoderError as error:
            raise CorpusError(f"{path}: {error}; get the file again") from None
        source = record["contexts"]
        return Contexts(
            {**source, "corpus": str(source["corpus"]), "per_word": int(source["per_word"])}, words
        )


def in_contexts(test: Test) -> Test:
    """Return a test of single words as a test of these words in sentences of a corpus.

    Raises:
        WeatherglassError: if its words are in sentences already.
    """
    if test.context != "word":
        raise WeatherglassError(
            f"{test.name} is made of sentences already; with contexts, choose tests of single words, such as 'weat*'"
        )
    return replace(test, name=f"context-{test.name}", context=CORPUS)


def check_gives_words(model: Model) -> None:
    """Refuse a model that has no vector of a word in a sentence.

    Raises:
        EncoderError: if it has none; the message names the kinds that have.
    """
    if "token-vectors" not in model.gives:
        raise EncoderError(
            f"'{model.name}' gives vectors of whole texts, not of a word in a sentence, which contexts need; "
            "use hf:, st: or word vectors"
        )


@dataclass(frozen=True, slots=True)
class EncodedContexts:
    """The vectors of words in their sentences, and the mean of each word."""

    encodings: Encodings
    """The mean vector of each word; NaN for a word without a sentence that the model could read."""
    rows: Mapping[str, list[int]]
    """By word, the rows of `vectors` that are averaged, in the order of the sample."""
    read: Mapping[str, list[Input]]
    """By word, its sentences in the order of these rows."""
    vectors: Matrix

    def transformed(self, transforms: Sequence[Transform]) -> EncodedContexts:
        """Return the vectors after applying each transform in turn, fitted on the means of its own texts."""
        if not transforms:
            return self
        changes, encodings = self.encodings.fitted(transforms)
        words = [""] * len(self.vectors)
        for word, rows in self.rows.items():
            for row in rows:
                words[row] = word
        vectors = self.vectors
        for change in changes:
            vectors = change(vectors, words)
        return replace(self, encodings=encodings, vectors=vectors)

    def stacked(self) -> Matrix:
        """Return the means and then the vectors of single contexts, in one array."""
        return np.concatenate([self.encodings.vectors, self.vectors])

    def rows_for(self, texts: Iterable[str]) -> dict[str, WordRows]:
        """Return the contexts of words, with their rows in the array of `stacked`."""
        first = len(self.encodings.vectors)
        return {text: WordRows([first + row for row in self.rows[text]], self.read[text]) for text in texts}


def encode_contexts(
    model: Model, contexts: Contexts, texts: Sequence[str], backend: Backend, progress: Progress
) -> EncodedContexts:
    """Encode each word in its sentences, and average the vectors of a word.

    Sentences of similar length are encoded together, and a sentence that contains several of the words is
    encoded only once.

    Raises:
        EncoderError: if the model has no vectors of words in a sentence.
    """
    check_gives_words(model)
    observed = observe(model, inputs_of(contexts, texts), "token-vectors", backend, progress)
    return averaged(contexts, texts, observed.inputs, observed.matrix, observed.coverage)


def inputs_of(contexts: Contexts, texts: Iterable[str]) -> list[Input]:
    """Return the distinct sentences of words, the shortest first."""
    asked = {each for text in texts for each in contexts.words[text].sample}
    return sorted(asked, key=lambda each: (len(each.text), each.text, each.span))


def averaged(
    contexts: Contexts,
    texts: Sequence[str],
    inputs: Sequence[Asked],
    matrix: AnyMatrix,
    coverage_of: Sequence[Coverage],
) -> EncodedContexts:
    """Average the vectors of each word over its sentences.

    Args:
        contexts: the sentences of each word.
        texts: the words.
        inputs: the sentences that a model was asked about; all sentences of the words are among them.
        matrix: the vector of the word in each of these inputs.
        coverage_of: how the model read each of these inputs.
    """
    distinct = list(dict.fromkeys(texts))
    row_of = {each: row for row, each in enumerate(inputs)}
    vectors = matrix.astype(np.float64, copy=False).reshape(len(inputs), -1)
    known: list[bool] = np.asarray(np.isfinite(vectors).all(axis=1)).tolist()
    means = np.full((len(distinct), vectors.shape[1]), np.nan)
    coverage, rows, read = [], {}, {}
    for number, text in enumerate(distinct):
        sample = contexts.words[text].sample
        read[text] = [each for each in sample if known[row_of[each]]]
        rows[text] = [row_of[each] for each in read[text]]
        if rows[text]:
            # The mean of equal vectors is exactly that vector, so that static vectors give WEAT's numbers.
            first = vectors[rows[text][0]]
            means[number] = first + (vectors[rows[text]] - first).mean(axis=0)
        lost = [coverage_of[row_of[each]] for each in sample if not known[row_of[each]]]
        coverage.append(_coverage(text, [coverage_of[row] for row in rows[text]], lost, len(sample)))
    numbers = {text: number for number, text in enumerate(distinct)}
    return EncodedContexts(Encodings(numbers, means, coverage), rows, read, vectors)


def _coverage(text: str, read: Sequence[Coverage], lost: Sequence[Coverage], number: int) -> Coverage:
    """Return how a model read a word in its sentences: the pieces in the first, and why others are lost."""
    if not number:
        return Coverage((text,), (text,), NOT_FOUND)
    reasons = dict.fromkeys(each.note or "unknown to the model" for each in lost)
    note = f"{len(lost)} of {number} contexts lost: {'; '.join(reasons)}" if lost else ""
    return Coverage(read[0].tokens if read else (text,), () if read else (text,), note)


def _mixed(word: str) -> str:
    """Return a remark if a word has letters that look alike in several scripts; it then occurs in no usual text."""
    found = {unicodedata.name(character, "").partition(" ")[0] for character in word}
    scripts = [script.capitalize() for script in LOOK_ALIKE if script in found]
    return f", has {' and '.join(scripts)} letters" if len(scripts) > 1 else ""


LOOK_ALIKE = ("LATIN", "CYRILLIC", "GREEK")
"""Scripts with letters that look the same."""


def context_warnings(test: Test, roles: Sequence[str], encoded: EncodedContexts) -> list[Warning]:
    """Return warnings about words of a test with few or no contexts, and about contexts that were lost."""
    sets = (one for role, one in zip(test.roles, test.sets, strict=True) if role in roles)
    texts = list(dict.fromkeys(text for one in sets for text in one.texts))
    used = {text: len(encoded.rows[text]) for text in texts}
    warnings = []
    if few := [f"{text} ({number}{_mixed(text)})" for text, number in used.items() if number < FEW]:
        warnings.append(Warning.of("few-contexts", words=few, least=FEW))
    places, covered = encoded.encodings.row, encoded.encodings.coverage
    notes = {text: covered[places[text]].note for text in texts}
    if lost := [f"{text}: {note}" for text, note in notes.items() if note and note != NOT_FOUND]:
        warnings.append(Warning.of("lost-contexts", words=lost))
    return warnings
