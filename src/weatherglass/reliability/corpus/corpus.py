"""Encode a corpus once: a vocabulary with counts, and a memory-mapped array of word ids that all seeds share."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers
from weatherglass.errors import CorpusError
from weatherglass.reliability.corpus.readers import documents, reader_versions, source_files
from weatherglass.reliability.corpus.tokeniser import Tokeniser
from weatherglass.storage.atomic import whole_folder, write_whole
from weatherglass.storage.fingerprint import file_hash, folder_hash

TOKENS, OFFSETS, VOCABULARY, RECORD = "tokens.i32", "offsets.i64", "vocabulary.tsv", "corpus.json"
BUFFER = 2**20
"""Tokens in memory before they are written."""


@dataclass(frozen=True)
class CorpusSettings:
    """How a source is encoded."""

    tokeniser: Tokeniser = field(default_factory=Tokeniser)
    min_count: int = 5
    """Rarer words are left out before contexts are formed, as word2vec and GloVe do."""
    share: float = 1.0
    """The share of the documents that is read, evenly spread over the source."""
    max_types: int = 20_000_000
    """With more distinct words than this, the rarest are dropped while counting, so that memory stays bounded."""

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise CorpusError(
                f"share = {self.share}: the share of the documents must be above 0 and at most 1"
            )
        if self.min_count < 1:
            raise CorpusError(f"min_count = {self.min_count}: must be at least 1")


@dataclass(frozen=True)
class Corpus:
    """An encoded corpus; its arrays are memory-mapped."""

    name: str
    folder: Path
    words: list[str]
    """Sorted by frequency, then alphabetically. A word's index is its id."""
    counts: Integers
    tokens: NDArray[np.int32]
    """The ids of all lines, one after another."""
    offsets: Integers
    """Where each line begins, and the end of the last."""
    hash: str
    """SHA-256 of the source's content and the settings."""

    @property
    def lines(self) -> int:
        return len(self.offsets) - 1


def encode_corpus(name: str, source: Path, cache: Path, settings: CorpusSettings) -> Corpus:
    """The encoded corpus from `cache`; it is encoded first if it is not there.

    The source is streamed twice: once to count, once to encode. Only the distinct words are in memory.

    Raises:
        CorpusError: if the source cannot be read or has no word that is frequent enough.
    """
    files = source_files(source)
    content = folder_hash(source) if source.is_dir() else file_hash(source)
    readers = {"readers": versions} if (versions := reader_versions(files)) else {}
    recipe = json.dumps({"content": content, **asdict(settings), **readers}, sort_keys=True)
    key = hashlib.sha256(recipe.encode()).hexdigest()
    folder = cache / f"{name}-{key[:12]}"
    if not (folder / RECORD).is_file():
        cache.mkdir(parents=True, exist_ok=True)
        with whole_folder(folder) as unfinished:
            _encode(unfinished, source, files, settings)
            record = {"name": name, "hash": key, "source": source.name, **json.loads(recipe)}
            write_whole(unfinished / RECORD, json.dumps(record, indent=1) + "\n")
    return open_corpus(folder)


def open_corpus(folder: Path) -> Corpus:
    """The corpus that `encode_corpus` left in `folder`."""
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
    """The tokens of every sentence of the lines that are read."""
    tokenise, share = settings.tokeniser, settings.share
    for path in files:
        for number, line in enumerate(documents(path)):
            # Evenly spread: line n is read if n · share passes an integer there.
            if share == 1 or int((number + 1) * share) > int(number * share):
                yield from tokenise(line)


def _encode(folder: Path, source: Path, files: list[Path], settings: CorpusSettings) -> None:
    counts = _count(files, settings)
    vocabulary = sorted(
        ((word, count) for word, count in counts.items() if count >= settings.min_count),
        key=lambda entry: (-entry[1], entry[0]),
    )
    if not vocabulary:
        raise CorpusError(f"{source}: no word occurs {settings.min_count} times; lower min_count or add text")
    write_whole(folder / VOCABULARY, "".join(f"{word}\t{count}\n" for word, count in vocabulary))
    ids = {word: number for number, (word, _) in enumerate(vocabulary)}
    _write_ids(folder, sentences(files, settings), ids)


def _count(files: list[Path], settings: CorpusSettings) -> Counter[str]:
    counts: Counter[str] = Counter()
    floor = 0
    for tokens in sentences(files, settings):
        counts.update(tokens)
        while len(counts) > settings.max_types:
            floor += 1
            counts = Counter({word: count for word, count in counts.items() if count > floor})
    return counts


def _write_ids(folder: Path, lines: Iterable[list[str]], ids: dict[str, int]) -> None:
    total = 0
    buffer, offsets = array("i"), array("q", [0])
    with (folder / TOKENS).open("wb") as tokens_file, (folder / OFFSETS).open("wb") as offsets_file:
        for tokens in lines:
            buffer.extend([ids[token] for token in tokens if token in ids])
            end = total + len(buffer)
            if end > offsets[-1]:
                offsets.append(end)
            if len(buffer) > BUFFER:
                total = end
                buffer.tofile(tokens_file)
                offsets[:-1].tofile(offsets_file)
                buffer, offsets = array("i"), offsets[-1:]
        buffer.tofile(tokens_file)
        offsets.tofile(offsets_file)
