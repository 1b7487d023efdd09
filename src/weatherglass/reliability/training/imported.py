"""Embeddings that were trained elsewhere: one file per seed, in any format of word vectors.

Each file is read once, in one pass, and stored in the folder of the study like an embedding of ours: scoring and
explaining read that, block by block, whatever the file was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from glob import glob
from pathlib import Path

import numpy as np

from weatherglass.errors import CorpusError, VectorFileError
from weatherglass.progress import Progress, Silent
from weatherglass.reliability.training.embedding import (
    SUFFIX,
    Description,
    Embedding,
    describe_embedding,
    load_embedding,
    save_embedding,
)
from weatherglass.storage.fingerprint import file_hash
from weatherglass.vectors import read_every_word, related_files

UNNAMED = "brought/brought"
"""Corpus and algorithm of files that do not say theirs, unless the study names them."""


@dataclass(frozen=True)
class Brought:
    """Embeddings of one corpus and algorithm from elsewhere."""

    corpus: str
    algorithm: str
    paths: tuple[Path, ...]
    """As they are stored, one per seed."""
    counted: bool
    """Whether it is known how often each word occurs."""
    notices: tuple[str, ...]
    """What a reader of the results has to know."""


def bring(name: str, pattern: str, folder: Path, progress: Progress | None = None) -> Brought:
    """Read the files that a glob names, check that they can be seeds of one embedding, and store them.

    Args:
        name: "corpus/algorithm"; `UNNAMED` takes the names that embeddings of ours carry.
        pattern: the glob.
        folder: where they are stored; what is there already is not read again.
        progress: where to show how far it is.

    Raises:
        VectorFileError: if there is no such file, or one is damaged.
        CorpusError: if they differ in corpus, algorithm or dimensions, or have no word in common.
    """
    progress = progress or Silent()
    files = embedding_files(pattern)
    origin = _origin(files)
    corpus, algorithm = origin if origin and name == UNNAMED else name.split("/")
    hashes = [_content_hash(file) for file in files]
    progress.stage("reading embeddings", len(files))
    paths = []
    for seed, (file, content) in enumerate(zip(files, hashes, strict=True), start=1):
        path = file
        if origin != (corpus, algorithm):
            path = folder / f"{corpus}-{algorithm}-brought{seed:03d}-{content[:12]}{SUFFIX}"
            if not path.is_file():
                save_embedding(path, read_embedding(file, corpus, algorithm, seed))
        paths.append(path)
        progress.advance()
    stored = [_described(path) for path in paths]
    _check_dimensions(files, stored)
    notices = (
        *_doubled_words(files, stored),
        *_equal_files(files, hashes),
        *_different_vocabularies(name, files, stored),
    )
    return Brought(corpus, algorithm, tuple(paths), all(one.counted for one in stored), notices)


def embedding_files(pattern: str) -> list[Path]:
    """The files that a glob names, in the order of their names; each stands for one seed.

    Files that belong to another one, such as the array beside gensim's KeyedVectors, are left out.

    Raises:
        VectorFileError: if there are none.
    """
    paths = sorted(Path(path) for path in glob(pattern))  # noqa: PTH207 - the pattern may be absolute
    if not paths:
        raise VectorFileError(
            f"{pattern}: no file has such a name; put the pattern in quotes: 'folder/*.txt'"
        )
    beside = {part for path in paths for part in related_files(path)[1:]}
    return [path for path in paths if path not in beside]


def read_embedding(path: Path, corpus: str, algorithm: str, seed: int) -> Embedding:
    """An embedding of ours, or a file of vectors; the most frequent word first.

    Where the file has no counts, its words are taken to be ordered by frequency.

    Raises:
        VectorFileError: if it is neither.
    """
    if describe_embedding(path) is not None:
        return replace(load_embedding(path), corpus=corpus, algorithm=algorithm, seed=seed)
    found = read_every_word(path)
    words, vectors, counts = list(found.rows), found.matrix, found.counts
    if counts is None:
        counts = np.zeros(len(words), dtype=np.int64)
    order = np.argsort(-counts, kind="stable")
    if (np.diff(order) != 1).any():
        words, vectors, counts = [words[row] for row in order], vectors[order], counts[order]
    settings = {"file": path.name, "format": found.format, "duplicates": found.duplicates}
    return Embedding(words, counts, vectors, algorithm, seed, corpus, settings)


def _content_hash(path: Path) -> str:
    """Changes with the file and with those that belong to it."""
    return hashlib.sha256("".join(file_hash(part) for part in related_files(path)).encode()).hexdigest()


def _described(path: Path) -> Description:
    description = describe_embedding(path)
    if description is None:
        raise VectorFileError(f"{path}: damaged since it was stored; delete it and start again")
    return description


def _origin(files: Sequence[Path]) -> tuple[str, str] | None:
    """Corpus and algorithm, where the files are embeddings of ours."""
    first: Description | None = None
    for number, file in enumerate(files):
        found = describe_embedding(file)
        if number == 0:
            first = found
        elif (first and first.origin) != (found and found.origin):
            raise CorpusError(
                f"{files[0]} is {_spelt(first)}, but {file} {_spelt(found)}; the files of one pattern are seeds of "
                "one embedding: name them apart, under [embeddings] in a study file"
            )
    return None if first is None else first.origin[:2]


def _spelt(description: Description | None) -> str:
    if description is None:
        return "from elsewhere"
    return f"{description.algorithm} on {description.corpus} {description.corpus_hash[:8]}".rstrip()


def _check_dimensions(files: Sequence[Path], stored: Sequence[Description]) -> None:
    for file, one in zip(files, stored, strict=True):
        if one.dimensions != stored[0].dimensions:
            raise CorpusError(
                f"{file}: {one.dimensions} dimensions, but {files[0]} has {stored[0].dimensions}; the files of one "
                "pattern are seeds of one embedding"
            )


def _doubled_words(files: Sequence[Path], stored: Sequence[Description]) -> list[str]:
    return [
        f"{file.name}: {doubled} entries repeat a word; the first vector of each counts"
        for file, one in zip(files, stored, strict=True)
        if (doubled := one.settings.get("duplicates", 0))
    ]


def _equal_files(files: Sequence[Path], hashes: Sequence[str]) -> list[str]:
    return [
        f"{file.name} has the content of {files[first].name}: the same seed twice makes scores look too reliable"
        for number, (file, content) in enumerate(zip(files, hashes, strict=True))
        if (first := hashes.index(content)) < number
    ]


def _different_vocabularies(name: str, files: Sequence[Path], stored: Sequence[Description]) -> list[str]:
    common = set(stored[0].words)
    for one in stored[1:]:
        common.intersection_update(one.words)
    if not common:
        raise CorpusError(f"{name}: the {len(files)} files have no word in common")
    sizes = sorted({len(one.words) for one in stored})
    if sizes == [len(common)]:
        return []
    return [
        f"the vocabularies differ ({sizes[0]} to {sizes[-1]} words): scored are the {len(common)} words of all "
        f"{len(files)} files, while the neighbours of nbm are sought in each whole file"
    ]
