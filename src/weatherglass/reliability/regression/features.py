"""What might make a word's bias score reliable: its features in one corpus and algorithm (docs/methods 7)."""

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
"""A stored embedding, read as it is needed, or one in memory."""


class StoredVectors:
    """The vectors of an embedding file, read a block at a time, so that many seeds need not be in memory."""

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

    What needs the vectors is computed only for words that the lexicon knows, since the others leave the regression;
    neighbours are sought, and spaces aligned, in the whole vocabulary either way.

    Args:
        embeddings: one per seed: a stored embedding, or one in memory.
        lexicon: senses and parts of speech.

    Returns:
        One row per word: corpus, algorithm, word, frequency, senses, pos, nn_similarity, l2_norm, stability. What
        is unknown of a word is null.

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
        embedding = _of_the_same(first, _load(source))
        vectors = _rows_of(embedding, words)
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
            "nn_similarity": _only(similarity / len(embeddings), known),
            "l2_norm": length / len(embeddings),
            "stability": _only(stability, known),
        },
        schema_overrides={"frequency": pl.Int64, "senses": pl.Int64, "pos": pl.String},
    )
    return table.with_columns(pl.col("nn_similarity", "stability").fill_nan(None))


def _only(values: Vector, rows: Integers) -> Vector:
    kept = np.full(len(values), np.nan)
    kept[rows] = values[rows]
    return kept


def nearest_neighbour_similarity(vectors: Vectors, rows: Integers, excluded: Integers) -> Vector:
    """The cosine of each of `rows` with its nearest neighbour in the whole vocabulary, itself left out.

    Args:
        vectors: one row per word.
        rows: the words asked for.
        excluded: rows that count as nobody's neighbours.

    Returns:
        One number per word asked for; NaN for a zero vector.
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
    """The words of the first embedding that all others have, in its order; one corpus has one vocabulary."""
    words = list(first.words)
    if first.corpus_hash:
        return words
    for source in others:
        index = _load(source).index
        words = [word for word in words if word in index]
    if not words:
        raise CorpusError(f"the embeddings of {first.algorithm} on {first.corpus} have no word in common")
    return words


def _of_the_same(first: Embedding, embedding: Embedding) -> Embedding:
    names = [(one.algorithm, one.corpus, one.corpus_hash, one.vectors.shape[1]) for one in (first, embedding)]
    if names[0] != names[1]:
        raise CorpusError(
            "features are of one corpus and algorithm, but the embeddings are "
            + " and ".join(f"{a} on {c} {h[:12]} in {d} dimensions" for a, c, h, d in names)
        )
    return embedding


def _rows_of(embedding: Embedding, words: Sequence[str]) -> Vectors:
    """The vectors of `words`: the very same array where the vocabulary is the same."""
    if list(embedding.words) == words:
        return embedding.vectors
    return embedding.vectors[[embedding.index[word] for word in words]]
