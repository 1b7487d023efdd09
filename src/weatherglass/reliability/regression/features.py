"""Word features that may explain reliability: frequency, senses, part of speech, vectors (docs/methods 7)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Vector, unit_length
from weatherglass.errors import CorpusError
from weatherglass.reliability.lists import is_word
from weatherglass.reliability.regression.procrustes import Rows, embedding_stability
from weatherglass.reliability.training.embedding import Embedding, Vectors, load_embedding

if TYPE_CHECKING:
    import polars as pl

    from weatherglass.languages.lexicon.lexicon import Lexicon

BLOCK_BYTES = 256_000_000
Source = Path | Embedding
"""A stored embedding, read on demand, or one in memory."""


class StoredVectors:
    """The vectors of an embedding file, read a block at a time, so that many seeds fit in memory."""

    def __init__(self, path: Path) -> None:
        from safetensors import safe_open

        self._file: Any = safe_open(path, framework="numpy")
        self._slice = self._file.get_slice("vectors")
        self.shape: tuple[int, ...] = tuple(self._slice.get_shape())

    def __getitem__(self, rows: slice, /) -> NDArray[Any]:
        block: NDArray[Any] = self._slice[rows.start : min(rows.stop, self.shape[0])]
        return block


def word_features(embeddings: Sequence[Source], lexicon: Lexicon) -> pl.DataFrame:
    """The features of the words that all seeds of one corpus and algorithm share.

    Features from vectors are computed only for words in the lexicon, since the regression drops the others. The
    nearest neighbour is searched for, and seeds are aligned, in the whole vocabulary.

    Args:
        embeddings: one per seed: a stored embedding, or one in memory.
        lexicon: senses and parts of speech.

    Returns:
        One row per word: corpus, algorithm, word, frequency, senses, pos, nn_similarity, l2_norm, stability. Unknown
        values are null.

    Raises:
        CorpusError: if the embeddings are of more than one corpus or algorithm, or share no word.
    """
    import polars as pl

    first = _load(embeddings[0])
    words = _shared_words(first, embeddings[1:])
    known = np.flatnonzero([is_word(word) and lexicon.knows(word) for word in words])
    marks = np.flatnonzero([not is_word(word) for word in words])
    similarity, length = np.zeros(len(words)), np.zeros(len(words))
    seeds: list[Rows] = []
    for source in embeddings:
        embedding = _load(source)
        _require_same_origin(first, embedding)
        vectors = _vectors_of(embedding, words)
        stored = isinstance(source, Path) and vectors is embedding.vectors
        seeds.append(StoredVectors(source) if stored and isinstance(source, Path) else vectors)
        similarity[known] += nearest_neighbour_similarity(vectors, known, marks)
        length += np.linalg.norm(vectors.astype(np.float64), axis=1)
    stability = np.zeros(len(words))
    stability[known] = embedding_stability(seeds, known)
    table = pl.DataFrame(
        {
            "corpus": [first.corpus] * len(words),
            "algorithm": [first.algorithm] * len(words),
            "word": words,
            "frequency": [int(first.counts[first.index[word]]) or None for word in words],
            "senses": [None if lexicon.senses is None else lexicon.senses.get(word) for word in words],
            "pos": [None if lexicon.parts is None else lexicon.parts.get(word) for word in words],
            "nn_similarity": _nan_except(similarity / len(embeddings), known),
            "l2_norm": length / len(embeddings),
            "stability": _nan_except(stability, known),
        },
        schema_overrides={"frequency": pl.Int64, "senses": pl.Int64, "pos": pl.String},
    )
    return table.with_columns(pl.col("nn_similarity", "stability").fill_nan(None))


def _nan_except(values: Vector, rows: Integers) -> Vector:
    masked = np.full(len(values), np.nan)
    masked[rows] = values[rows]
    return masked


def nearest_neighbour_similarity(vectors: Vectors, rows: Integers, excluded: Integers) -> Vector:
    """The cosine of each of `rows` with its nearest neighbour in the whole vocabulary, itself excluded.

    Args:
        vectors: one row per word.
        rows: the words to compute it for.
        excluded: rows that cannot be neighbours.

    Returns:
        One number for each of `rows`; NaN for a zero vector.
    """
    units = unit_length(vectors)
    nearest = np.empty(len(rows))
    step = max(1, BLOCK_BYTES // (4 * len(units)))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        cosines = units[block] @ units.T
        cosines[:, excluded] = -np.inf
        cosines[np.arange(len(block)), block] = -np.inf
        nearest[start : start + step] = cosines.max(axis=1)
    nearest[~units[rows].any(axis=1)] = np.nan
    return nearest


def _load(source: Source) -> Embedding:
    return load_embedding(source) if isinstance(source, Path) else source


def _shared_words(first: Embedding, others: Sequence[Source]) -> list[str]:
    """The words of the first embedding that all others have, in its order; seeds of one corpus share a vocabulary."""
    words = list(first.words)
    if first.corpus_hash:
        return words
    for source in others:
        index = _load(source).index
        words = [word for word in words if word in index]
    if not words:
        raise CorpusError(f"the embeddings of {first.algorithm} on {first.corpus} have no word in common")
    return words


def _require_same_origin(first: Embedding, other: Embedding) -> None:
    origins = [(e.algorithm, e.corpus, e.corpus_hash, e.vectors.shape[1]) for e in (first, other)]
    if origins[0] != origins[1]:
        raise CorpusError(
            "the embeddings should be of one corpus and algorithm, but are "
            + " and ".join(f"{a} on {c} {h[:12]} in {d} dimensions" for a, c, h, d in origins)
        )


def _vectors_of(embedding: Embedding, words: Sequence[str]) -> Vectors:
    """The vectors of `words`: the same array, not a copy, if the vocabulary is the same."""
    if list(embedding.words) == words:
        return embedding.vectors
    return embedding.vectors[[embedding.index[word] for word in words]]
