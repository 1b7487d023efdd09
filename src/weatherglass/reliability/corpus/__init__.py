"""Encode a corpus once into a vocabulary with counts and an array of word ids, which all seeds share."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers
from weatherglass.errors import CorpusError
from weatherglass.languages import LANGUAGES
from weatherglass.languages.known import LISTED, listed_words
from weatherglass.registry import one_of
from weatherglass.reliability.corpus.readers import READERS, as_file, documents, reader_versions, source_files
from weatherglass.storage.array_file import write_array
from weatherglass.storage.atomic import scratch_folder, whole_folder, write_whole
from weatherglass.storage.checksum import (
    MISMATCH,
    damaged_files,
    file_hash,
    folder_hash,
    set_aside,
    write_sums,
)

URL = re.compile(r"(?:https?://|www\.)\S+")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+")
MARK = re.compile(r"(</?[A-Za-z]+>)")
"""A mark such as <unk> in WikiText, which is one token, so that it is not confused with the word "unk"."""
LOOSE_APOSTROPHE = re.compile(r"'(?:(?![^\W_])|(?<![^\W_]'))")
"""An apostrophe that is not between two letters or digits."""

Split = Literal["words", "whitespace"]


@dataclass(frozen=True)
class Tokeniser:
    """A function that splits a line into tokens."""

    split: Split = "words"
    """With `words`, tokens are <marks>, and letters and digits with inner apostrophes; with `whitespace`, the text is
    already tokenised.
    """
    lowercase: bool = True
    keep_urls: bool = False
    sentences: bool = False
    """Whether a line is split into sentences; a context does not extend beyond its sentence."""

    def __post_init__(self) -> None:
        one_of("split", self.split, get_args(Split))

    def __call__(self, line: str) -> Iterator[list[str]]:
        """Yield the tokens of each sentence, or of the line as one sentence."""
        if not self.keep_urls and ("://" in line or "www." in line):
            line = URL.sub(" ", line)
        for part in SENTENCE_END.split(line) if self.sentences else (line,):
            text = part.lower() if self.lowercase else part
            yield words_and_marks(text) if self.split == "words" else text.split()


PREPARED: Mapping[str, Mapping[str, Any]] = {
    "wikitext": {"split": "whitespace", "lowercase": False, "keep_urls": True},
    "reddit": {"split": "words", "lowercase": True, "keep_urls": False, "sentences": True},
}
"""The settings of Du et al. (2021): WikiText-103 is unchanged, with punctuation and case; Reddit comments are in lower
case, without URLs and split into sentences."""


def prepared(name: str, **settings: Any) -> Tokeniser:
    """Return the tokeniser for a kind of corpus, with some settings changed; `name` may be empty.

    Raises:
        UnknownNameError: if no kind of corpus has this name.
    """
    kind = PREPARED[one_of("preparation", name, list(PREPARED))] if name else {}
    return Tokeniser(**{**kind, **settings})


def words_and_marks(text: str) -> list[str]:
    r"""Return the matches of `</?[A-Za-z]+>|[^\W_]+(?:'[^\W_]+)*`, three times as fast as the expression does."""
    if "<" not in text:
        return _words(text)
    tokens: list[str] = []
    for number, part in enumerate(MARK.split(text)):
        tokens += (part,) if number % 2 else _words(part)
    return tokens


class _Characters(dict[int, int]):
    """A translation table, filled on demand, that keeps the characters of words and replaces others by spaces."""

    def __missing__(self, code: int) -> int:
        self[code] = code if chr(code).isalnum() else ord(" ")
        return self[code]


_CHARACTERS = _Characters({ord("'"): ord("'"), ord("’"): ord("'")})


def _words(text: str) -> list[str]:
    spaced = text.translate(_CHARACTERS)
    return (LOOSE_APOSTROPHE.sub(" ", spaced) if "'" in spaced else spaced).split()


TOKENS, OFFSETS, VOCABULARY, RECORD = "tokens.i32", "offsets.i64", "vocabulary.tsv", "corpus.json"
PARTS = (TOKENS, OFFSETS, VOCABULARY, RECORD)
LENGTHS = "lengths.i64"
BUFFER = 2**20
"""The number of tokens in memory before they are written."""
LEFT_OUT = -1
"""The id, used while ids are assigned, of a word that is too rare for the vocabulary."""


@dataclass(frozen=True)
class CorpusSettings:
    """Settings for encoding a source."""

    tokeniser: Tokeniser = dataclasses.field(default_factory=Tokeniser)
    min_count: int = 5
    """The smallest count of a word; rarer words are left out before contexts are formed, as in word2vec and GloVe."""
    share: float = 1.0
    """The share of documents to read, spread evenly over the source."""
    max_types: int = 20_000_000
    """The maximum number of distinct words during counting; beyond it, the rarest are dropped, so that memory is
    bounded.
    """
    format: str = ""
    """A name in READERS; if empty, the format is detected."""
    field: str = ""
    """The field or column with the text; if empty, the default of the format is used."""
    where: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    """A filter; only records whose fields have one of the given values are read, such as {"subreddit":
    ("askscience",)}.
    """

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise CorpusError(
                f"share = {self.share}, but the share of documents must be above 0 and at most 1"
            )
        if self.min_count < 1:
            raise CorpusError(f"min_count = {self.min_count}, but it must be at least 1")
        if self.format:
            one_of("corpus format", self.format, READERS.names())


@dataclass(frozen=True)
class Corpus:
    """An encoded corpus; its arrays are memory-mapped."""

    name: str
    folder: Path
    words: list[str]
    """The vocabulary, sorted by frequency and then alphabetically; the index of a word is its id."""
    counts: Integers
    tokens: NDArray[np.int32]
    """The ids of the tokens of all lines, concatenated."""
    offsets: Integers
    """The start of each line, and the end of the last line."""
    hash: str
    """The SHA-256 hash of the source's content and of the settings."""

    @property
    def lines(self) -> int:
        return len(self.offsets) - 1


def encode_corpus(name: str, source: Path, cache: Path, settings: CorpusSettings) -> Corpus:
    """Return the encoded corpus from `cache`, after encoding it if it is not there.

    The source is streamed and tokenised once. Words are numbered as they occur; after counting, these numbers are
    replaced by ids in the order of frequency. Only the distinct words are in memory, with about 200 bytes each.

    Raises:
        CorpusError: if the source cannot be read, or no word is frequent enough.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with as_file(source, cache) as path:
        files = source_files(path)
        recipe = _recipe(path, files, settings)
        key = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()
        folder = cache / f"{name}-{key[:12]}"
        if folder.is_dir() and damaged_files(folder, PARTS):
            set_aside([folder], "and encoded again")
        if not (folder / RECORD).is_file():
            with whole_folder(folder) as unfinished:
                _encode(unfinished, path, files, settings)
                record = {"name": name, "hash": key, "source": path.name, **recipe}
                write_whole(unfinished / RECORD, json.dumps(record, indent=1) + "\n")
                write_sums(unfinished, PARTS)
    return open_corpus(folder)


def _recipe(source: Path, files: list[Path], settings: CorpusSettings) -> dict[str, Any]:
    """Return everything that determines the encoded corpus, without empty settings."""
    content = folder_hash(source) if source.is_dir() else file_hash(source)
    chosen = {name: value for name, value in asdict(settings).items() if value not in ("", {})}
    readers = {"readers": versions} if (versions := reader_versions(files, settings.format)) else {}
    return {"content": content, **chosen, **readers}


def open_corpus(folder: Path) -> Corpus:
    """Open the corpus that `encode_corpus` wrote to `folder`.

    Raises:
        CorpusError: if one of its files is damaged.
    """
    if damaged := damaged_files(folder, PARTS):
        raise CorpusError(
            f"{folder / damaged[0]}: {MISMATCH}; to encode the corpus again, run: weatherglass reliability "
            "run STUDY.toml"
        )
    record = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    vocabulary = [
        line.split("\t") for line in (folder / VOCABULARY).read_text(encoding="utf-8").split("\n")[:-1]
    ]
    return Corpus(
        name=record["name"],
        folder=folder,
        words=[word for word, _ in vocabulary],
        counts=np.array([int(count) for _, count in vocabulary], dtype=np.int64),
        tokens=np.memmap(folder / TOKENS, dtype=np.int32, mode="r"),
        offsets=np.memmap(folder / OFFSETS, dtype=np.int64, mode="r"),
        hash=record["hash"],
    )


def sentences(files: Iterable[Path], settings: CorpusSettings) -> Iterator[list[str]]:
    """Yield the tokens of every sentence in the selected share of lines."""
    tokenise, share = settings.tokeniser, settings.share
    lines = (
        line for path in files for line in documents(path, settings.format, settings.field, settings.where)
    )
    # The share is taken over the lines of all files together, so that it also works for a folder of files with one
    # line each. Lines are evenly spread: line n is read if n · share passes an integer there.
    for number, line in enumerate(lines):
        if share == 1 or int((number + 1) * share) > int(number * share):
            yield from tokenise(line)


def _encode(folder: Path, source: Path, files: list[Path], settings: CorpusSettings) -> None:
    with scratch_folder(folder) as scratch:
        types = _Types(settings.max_types)
        batches = _write_numbers(scratch, sentences(files, settings), types)
        vocabulary = sorted(
            ((word, count) for word, count in types.counts() if count >= settings.min_count),
            key=lambda entry: (-entry[1], entry[0]),
        )
        if not any(types.counts()):
            raise CorpusError(f"{source}: {_why_empty(settings.where)}")
        if not vocabulary:
            raise CorpusError(
                f"{source}: no word occurs {settings.min_count} times; lower min_count or add text"
            )
        write_whole(folder / VOCABULARY, "".join(f"{word}\t{count}\n" for word, count in vocabulary))
        _write_ids(folder, scratch, batches, types.ids_in(word for word, _ in vocabulary))


def _why_empty(where: Mapping[str, tuple[str, ...]]) -> str:
    if not where:
        return "the source is empty, or contains no text"
    conditions = " and ".join(
        f"{field} = {' or '.join(map(repr, values))}" for field, values in where.items()
    )
    return f"no record with {conditions} has a text; check the values of where"


class _Types:
    """The distinct words so far, with their counts, numbered by first occurrence."""

    def __init__(self, max_types: int) -> None:
        self._max_types = max_types
        self._floor = 0
        self._numbers: defaultdict[str, int] = defaultdict(itertools.count().__next__)
        self._counts: Integers = np.zeros(0, dtype=np.int64)

    def numbers_of(self, tokens: list[str]) -> NDArray[np.int32]:
        """Return the number of each token, and count the tokens."""
        numbers = np.fromiter(map(self._numbers.__getitem__, tokens), np.int32, len(tokens))
        added = np.bincount(numbers, minlength=len(self._counts))
        added[: len(self._counts)] += self._counts
        self._counts = added
        self._drop_rarest()
        return numbers

    def _drop_rarest(self) -> None:
        """Drop the rarest words if there are too many; a word that occurs again gets a new number."""
        while len(self._numbers) > self._max_types:
            self._floor += 1
            for word in [word for word, count in self.counts() if count <= self._floor]:
                del self._numbers[word]

    def counts(self) -> Iterator[tuple[str, int]]:
        """Yield each word and its count."""
        for word, number in self._numbers.items():
            yield word, int(self._counts[number])

    def ids_in(self, vocabulary: Iterable[str]) -> NDArray[np.int32]:
        """Return an array from the number of a word to its index in the vocabulary, or LEFT_OUT."""
        ids = np.full(len(self._counts), LEFT_OUT, dtype=np.int32)
        for place, word in enumerate(vocabulary):
            ids[self._numbers[word]] = place
        return ids


def _write_numbers(scratch: Path, lines: Iterable[list[str]], types: _Types) -> list[int]:
    """Write the number of every token and the length of every line; return the number of lines in each batch."""
    batches = []
    with (scratch / TOKENS).open("wb") as tokens_file, (scratch / LENGTHS).open("wb") as lengths_file:
        for tokens, lengths in _batches(lines):
            write_array(tokens_file, types.numbers_of(tokens))
            lengths.tofile(lengths_file)
            batches.append(len(lengths))
    return batches


def _batches(lines: Iterable[list[str]]) -> Iterator[tuple[list[str], array[int]]]:
    """Yield the tokens and line lengths in batches of at least BUFFER tokens; the last batch may be smaller."""
    tokens: list[str] = []
    lengths = array("q")
    for line in lines:
        tokens += line
        lengths.append(len(line))
        if len(tokens) >= BUFFER:
            yield tokens, lengths
            tokens, lengths = [], array("q")
    yield tokens, lengths


def _write_ids(folder: Path, scratch: Path, batches: Iterable[int], ids: NDArray[np.int32]) -> None:
    """Replace the numbers of tokens by ids, and write them without rare words and empty lines."""
    end = np.zeros(1, dtype=np.int64)
    with (
        (scratch / TOKENS).open("rb") as numbers_file,
        (scratch / LENGTHS).open("rb") as lengths_file,
        (folder / TOKENS).open("wb") as tokens_file,
        (folder / OFFSETS).open("wb") as offsets_file,
    ):
        write_array(offsets_file, end)
        for lines in batches:
            ends = np.cumsum(np.fromfile(lengths_file, np.int64, lines))
            tokens = ids[np.fromfile(numbers_file, np.int32, ends[-1] if lines else 0)]
            kept = tokens != LEFT_OUT
            write_array(tokens_file, tokens[kept])
            kept_before = np.r_[0, np.cumsum(kept)]
            offsets = np.r_[end, end + kept_before[ends]]
            write_array(offsets_file, offsets[1:][np.diff(offsets) > 0])
            end = offsets[-1:]


LEAST = 0.5
"""The share of tokens that must be in a language's word list; for ordinary text, about 0.9 are."""


def detected_language(words: Sequence[str], counts: Integers) -> tuple[str, float]:
    """Return the language whose list of frequent words contains the largest share of the tokens, and that share.

    The language is empty if no list contains half of the tokens.
    """
    letters = np.array([word.isalpha() for word in words], dtype=bool)
    total = max(1, int(counts[letters].sum()))
    shares = {}
    for language in LISTED:
        listed = listed_words(language) or frozenset()
        held = np.array([word.lower() in listed for word in words], dtype=bool)
        shares[language] = int(counts[letters & held].sum()) / total
    best = max(shares, key=lambda language: shares[language])
    return (best if shares[best] >= LEAST else "", shares[best])


def language_fact(words: Sequence[str], counts: Integers) -> str:
    """Return a phrase about the language of a corpus, for the page.

    >>> import numpy as np
    >>> language_fact(["der", "und", "frau"], np.array([5, 5, 5]))
    'German (100 % of its words are in the word list)'
    """
    language, share = detected_language(words, counts)
    name = LANGUAGES.get(language).name if language else "a language that has no word list"
    return f"{name} ({share:.0%} of its words are in the word list)".replace("%", " %")
