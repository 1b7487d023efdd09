"""Store trained embeddings, one file per seed, and import embeddings that were trained elsewhere."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from glob import glob
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers
from weatherglass.errors import CorpusError, VectorFileError, unreadable
from weatherglass.languages.similar_words import shown_twins
from weatherglass.mitigation import Transform, split_transforms
from weatherglass.progress import Progress, Silent
from weatherglass.storage.array_file import require_whole, safetensors_state, write_safetensors
from weatherglass.storage.atomic import whole_file
from weatherglass.storage.checksum import State, file_hash, set_aside
from weatherglass.vectors import WordVectors, read_every_word, related_files
from weatherglass.warnings import Warning, as_warning

Vectors = NDArray[np.float32]
SUFFIX = ".safetensors"


@dataclass(frozen=True)
class Embedding:
    """The vectors of one corpus, algorithm and seed."""

    words: Sequence[str]
    """The vocabulary, the most frequent word first."""
    counts: Integers
    """The number of occurrences of each word in the corpus."""
    vectors: Vectors
    """One row per word."""
    algorithm: str
    """The algorithm: sgns, cbow, glove or sgns-window; for imported vectors any name, "imported" by default."""
    seed: int
    corpus: str
    """The name of the corpus."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the training: dimensions, window, epochs, …"""
    corpus_hash: str = ""
    """The hash of the encoded corpus; embeddings with the same hash have the same vocabulary."""

    def __post_init__(self) -> None:
        if not len(self.words) == len(self.counts) == len(self.vectors):
            raise ValueError(
                f"{len(self.words)} words, {len(self.counts)} counts and {len(self.vectors)} vectors do not match"
            )

    @cached_property
    def index(self) -> dict[str, int]:
        """Return the row of each word."""
        return {word: row for row, word in enumerate(self.words)}


def save_embedding(path: Path, embedding: Embedding) -> None:
    """Write an embedding atomically as .safetensors; the same embedding always gives the same bytes.

    The tensors are `vectors` and `counts`. The metadata contains the words as a JSON list, so that other programs can
    read the file as word vectors, and all other fields.
    """
    vectors = np.ascontiguousarray(embedding.vectors, dtype="<f4")
    counts = np.ascontiguousarray(embedding.counts, dtype="<i8")
    metadata = {
        "words": json.dumps(list(embedding.words), ensure_ascii=False),
        "algorithm": embedding.algorithm,
        "seed": str(embedding.seed),
        "corpus": embedding.corpus,
        "corpus_hash": embedding.corpus_hash,
        "settings": json.dumps(dict(embedding.settings), sort_keys=True),
    }
    tensors = {"counts": ("I64", counts.shape), "vectors": ("F32", vectors.shape)}
    with whole_file(path) as unfinished:
        write_safetensors(unfinished, metadata, tensors, (counts, vectors))


def is_whole_embedding(path: Path) -> bool:
    """Return whether a file is unchanged since `save_embedding` wrote it; False for a file without a checksum."""
    return safetensors_state(path) is State.WHOLE


def set_damaged_aside(paths: Sequence[Path], then: str) -> None:
    """Set damaged stored embeddings aside.

    Args:
        paths: files that `save_embedding` wrote; they may be missing.
        then: what happens next, for the warning.
    """
    stored = [path for path in paths if path.is_file()]
    set_aside([path for path in stored if not is_whole_embedding(path)], then)


@dataclass(frozen=True)
class Description:
    """Everything about a stored embedding except its vectors."""

    words: Sequence[str]
    dimensions: int
    has_counts: bool
    """Whether the counts of words are known."""
    algorithm: str
    corpus: str
    corpus_hash: str
    settings: Mapping[str, Any]

    @property
    def origin(self) -> tuple[str, str, str]:
        """Return the corpus, algorithm and corpus hash, which all seeds of one embedding share."""
        return self.corpus, self.algorithm, self.corpus_hash


def describe_embedding(path: Path) -> Description | None:
    """Describe a file that `save_embedding` wrote; return None for other files.

    Raises:
        VectorFileError: if it is damaged.
    """
    from safetensors import SafetensorError, safe_open

    try:
        require_whole(path)
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            return Description(
                words=json.loads(metadata["words"]),
                dimensions=file.get_slice("vectors").get_shape()[1],
                has_counts=bool(file.get_tensor("counts").any()),
                algorithm=metadata["algorithm"],
                corpus=metadata["corpus"],
                corpus_hash=metadata["corpus_hash"],
                settings=json.loads(metadata["settings"]),
            )
    except (OSError, SafetensorError, KeyError, ValueError, TypeError):
        return None


def load_embedding(path: Path) -> Embedding:
    """Read an embedding that `save_embedding` wrote.

    Raises:
        VectorFileError: if the file is missing or damaged, or another program wrote it.
    """
    from safetensors import SafetensorError, safe_open

    try:
        require_whole(path)
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            return Embedding(
                words=json.loads(metadata["words"]),
                counts=file.get_tensor("counts"),
                vectors=file.get_tensor("vectors"),
                algorithm=metadata["algorithm"],
                seed=int(metadata["seed"]),
                corpus=metadata["corpus"],
                settings=json.loads(metadata["settings"]),
                corpus_hash=metadata["corpus_hash"],
            )
    except OSError as error:
        raise VectorFileError(unreadable(path, error)) from None
    except (SafetensorError, KeyError, ValueError, TypeError) as error:
        raise VectorFileError(f"{path}: not an embedding stored by weatherglass ({error})") from None


BLOCK = 4096
"""The number of rows that are transformed at a time."""
UNNAMED = "imported/imported"
"""The default corpus and algorithm, for files that do not state them."""


@dataclass(frozen=True)
class Imported:
    """Imported embeddings of one corpus and algorithm."""

    corpus: str
    algorithm: str
    paths: tuple[Path, ...]
    """The stored files, one per seed."""
    has_counts: bool
    """Whether every file has the counts of words."""
    warnings: tuple[Warning, ...]


def import_embeddings(name: str, pattern: str, folder: Path, progress: Progress | None = None) -> Imported:
    """Read the files that match a glob, check that they can be seeds of one embedding, and store them.

    Args:
        name: "corpus/algorithm"; with `UNNAMED`, embeddings trained by weatherglass keep their names.
        pattern: the glob, optionally followed by transforms that are applied to each file, as in
            `vectors/*.txt | hard-debias`.
        folder: the folder for the stored embeddings; files that are already stored are not read again.
        progress: an object that is updated after each file.

    Raises:
        VectorFileError: if no file matches, or one is damaged.
        CorpusError: if the files differ in corpus, algorithm or dimensions, or have no word in common.
    """
    progress = progress or Silent()
    pattern, transforms = split_transforms(pattern)
    files = embedding_files(pattern)
    origin = _origin(files)
    corpus, algorithm = origin if origin and name == UNNAMED else name.split("/")
    hashes = [_content_hash(file, transforms) for file in files]
    progress.stage("reading embeddings", len(files))
    paths = []
    for seed, (file, content) in enumerate(zip(files, hashes, strict=True), start=1):
        path = file
        if transforms or origin != (corpus, algorithm):
            path = folder / f"{corpus}-{algorithm}-imported{seed:03d}-{content[:12]}{SUFFIX}"
            set_damaged_aside([path], "and imported again")
            if not path.is_file():
                save_embedding(path, changed(read_embedding(file, corpus, algorithm, seed), transforms))
        paths.append(path)
        progress.advance()
    descriptions = [_stored_description(path) for path in paths]
    _check_dimensions(files, descriptions)
    warnings = (
        *(
            as_warning(each)
            for description in descriptions
            for each in description.settings.get("warnings", [])
        ),
        *_duplicate_word_warnings(files, descriptions),
        *_identical_file_warnings(files, hashes),
        *_vocabulary_warnings(name, files, descriptions),
    )
    has_counts = all(description.has_counts for description in descriptions)
    return Imported(corpus, algorithm, tuple(paths), has_counts, warnings)


def embedding_files(pattern: str) -> list[Path]:
    """Return the files that match a glob, sorted by name; each is one seed.

    Companion files, such as the arrays of gensim's KeyedVectors, are left out.

    Raises:
        VectorFileError: if no file matches.
    """
    paths = sorted(Path(path) for path in glob(pattern))  # noqa: PTH207 - the pattern may be absolute
    if not paths:
        raise VectorFileError(f"{pattern}: no file matches; quote the pattern: 'folder/*.txt'")
    companions = {part for path in paths for part in related_files(path)[1:]}
    return [path for path in paths if path not in companions]


def read_embedding(path: Path, corpus: str, algorithm: str, seed: int) -> Embedding:
    """Read an embedding that weatherglass stored, or any file of word vectors, with the most frequent word first.

    If the file has no counts, its words are assumed to be ordered by frequency.

    Raises:
        VectorFileError: if the file is neither a stored embedding nor a file of word vectors.
    """
    if describe_embedding(path) is not None:
        return replace(load_embedding(path), corpus=corpus, algorithm=algorithm, seed=seed)
    content = read_every_word(path)
    words, vectors, counts = list(content.rows), content.matrix, content.counts
    if counts is None:
        counts = np.zeros(len(words), dtype=np.int64)
    order = np.argsort(-counts, kind="stable")
    if (np.diff(order) != 1).any():
        words, vectors, counts = [words[row] for row in order], vectors[order], counts[order]
    settings = {
        "file": path.name,
        "format": content.format,
        "duplicates": content.duplicates,
        "warnings": [warning.to_json() for warning in (*content.warnings, *_twin_warnings(path, content))],
    }
    return Embedding(words, counts, vectors, algorithm, seed, corpus, settings)


def _twin_warnings(path: Path, content: WordVectors) -> list[Warning]:
    twins = Warning("lookalikes-in-file", str(path), {"words": shown_twins(content.twins)})
    return [twins] if content.twins else []


def changed(embedding: Embedding, transforms: Sequence[Transform]) -> Embedding:
    """Return the embedding after applying the transforms in turn; each is fitted on the embedding's own words."""
    vectors, words = embedding.vectors, list(embedding.words)
    for transform in transforms:
        rows = [embedding.index.get(text) for text in transform.texts()]
        unknown = np.full(vectors.shape[1], np.nan)
        own = np.array([unknown if row is None else vectors[row] for row in rows], dtype=np.float64)
        change = transform.fit(own.reshape(len(rows), vectors.shape[1]))
        vectors = vectors.copy()
        for start in range(0, len(vectors), BLOCK):
            block = slice(start, start + BLOCK)
            vectors[block] = change(vectors[block].astype(np.float64), words[block])
    names = [transform.name for transform in transforms]
    settings = {**embedding.settings, **({"transforms": names} if names else {})}
    return replace(embedding, vectors=vectors, settings=settings)


def _content_hash(path: Path, transforms: Sequence[Transform]) -> str:
    """Return a hash of the file, its companion files and the transforms."""
    parts = [*map(file_hash, related_files(path)), *(transform.identity() for transform in transforms)]
    return hashlib.sha256("".join(parts).encode()).hexdigest()


def _stored_description(path: Path) -> Description:
    description = describe_embedding(path)
    if description is None:
        raise VectorFileError(
            f"{path}: this file was damaged after it was stored; delete it and run the command again"
        )
    return description


def _origin(files: Sequence[Path]) -> tuple[str, str] | None:
    """Return the corpus and algorithm if weatherglass stored the files; None for other files."""
    first: Description | None = None
    for number, file in enumerate(files):
        description = describe_embedding(file)
        if number == 0:
            first = description
        elif (first and first.origin) != (description and description.origin):
            raise CorpusError(
                f"{files[0]} is {_origin_text(first)}, but {file} is {_origin_text(description)}; the "
                "files of one pattern must be seeds of one embedding, so list these separately under "
                "[embeddings] in a study file"
            )
    return None if first is None else first.origin[:2]


def _origin_text(description: Description | None) -> str:
    if description is None:
        return "not from weatherglass"
    return f"{description.algorithm} on {description.corpus} {description.corpus_hash[:8]}".rstrip()


def _check_dimensions(files: Sequence[Path], descriptions: Sequence[Description]) -> None:
    expected = descriptions[0].dimensions
    for file, description in zip(files, descriptions, strict=True):
        if description.dimensions != expected:
            raise CorpusError(
                f"{file}: {description.dimensions} dimensions, but {files[0]} has {expected}; the files of "
                "one pattern must be seeds of one embedding"
            )


def _duplicate_word_warnings(files: Sequence[Path], descriptions: Sequence[Description]) -> list[Warning]:
    return [
        Warning.of("repeated-entries", file=file.name, count=duplicates)
        for file, description in zip(files, descriptions, strict=True)
        if (duplicates := description.settings.get("duplicates", 0))
    ]


def _identical_file_warnings(files: Sequence[Path], hashes: Sequence[str]) -> list[Warning]:
    return [
        Warning.of("identical-files", file=file.name, first=files[first].name)
        for number, (file, content) in enumerate(zip(files, hashes, strict=True))
        if (first := hashes.index(content)) < number
    ]


def _vocabulary_warnings(
    name: str, files: Sequence[Path], descriptions: Sequence[Description]
) -> list[Warning]:
    common = set(descriptions[0].words)
    for description in descriptions[1:]:
        common.intersection_update(description.words)
    if not common:
        raise CorpusError(f"{name}: the {len(files)} files have no word in common")
    sizes = sorted({len(description.words) for description in descriptions})
    if sizes == [len(common)]:
        return []
    found = {"least": sizes[0], "most": sizes[-1], "common": len(common), "files": len(files)}
    return [Warning.of("vocabularies", **found)]
