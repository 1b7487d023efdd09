"""What might make a word's bias score reliable: its features in one corpus and algorithm (METHODS 7)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Vector
from weatherglass.errors import CorpusError
from weatherglass.reliability.embedding import Embedding, Vectors, load_embedding
from weatherglass.reliability.procrustes import Rows, embedding_stability

if TYPE_CHECKING:
    import polars as pl

    from weatherglass.reliability.lexicon import Lexicon

NO_WORDS = ("<unk>", "<raw_unk>", "<s>", "</s>", "<pad>")
"""Marks that stand in vocabularies: neither words nor neighbours."""
BLOCK_BYTES = 256_000_000


class StoredVectors:
    """The vectors of an embedding file, read a block at a time, so that many seeds need not be in memory."""

    def __init__(self, path: Path) -> None:
        from safetensors import safe_open

        self._file = safe_open(path, framework="numpy")
        self._slice = self._file.get_slice("vectors")
        self.shape: tuple[int, ...] = tuple(self._slice.get_shape())

    def __getitem__(self, rows: slice, /) -> NDArray[Any]:
        block: NDArray[Any] = self._slice[rows.start : min(rows.stop, self.shape[0])]
        return block


def word_features(paths: Sequence[Path], lexicon: Lexicon, only: frozenset[str] | None = None) -> pl.DataFrame:
    """The features of the words that all seeds of one corpus and algorithm share.

    Args:
        paths: the stored embeddings, one per seed.
        lexicon: senses and parts of speech.
        only: the words wanted; all by default. Neighbours are sought in the whole vocabulary either way.

    Returns:
        One row per word: corpus, algorithm, word, frequency, senses, pos, nn_similarity, l2_norm, stability. What
        is unknown of a word is null.

    Raises:
        CorpusError: if the embeddings are of more than one corpus or algorithm, or share no word.
    """
    import polars as pl

    first = load_embedding(paths[0])
    words = _shared_words(first, paths[1:])
    wanted = np.flatnonzero([(only is None or word in only) and word not in NO_WORDS for word in words])
    marks = np.flatnonzero([word in NO_WORDS for word in words])
    similarity, length = np.zeros(len(wanted)), np.zeros(len(wanted))
    seeds: list[Rows] = []
    for path in paths:
        embedding = _of_the_same(first, load_embedding(path), path)
        vectors = _rows_of(embedding, words)
        seeds.append(StoredVectors(path) if vectors is embedding.vectors else vectors)
        similarity += nearest_neighbour_similarity(vectors, wanted, marks)
        length += np.linalg.norm(vectors[wanted].astype(np.float64), axis=1)
    chosen = [words[row] for row in wanted]
    return pl.DataFrame(
        {
            "corpus": [first.corpus] * len(chosen),
            "algorithm": [first.algorithm] * len(chosen),
            "word": chosen,
            "frequency": [int(first.counts[first.index[word]]) for word in chosen],
            "senses": [None if lexicon.senses is None else lexicon.senses.get(word) for word in chosen],
            "pos": [None if lexicon.parts is None else lexicon.parts.get(word) for word in chosen],
            "nn_similarity": similarity / len(paths),
            "l2_norm": length / len(paths),
            "stability": embedding_stability(seeds, wanted),
        },
        schema_overrides={"senses": pl.Int64, "pos": pl.String},
    ).with_columns(pl.col("nn_similarity", "stability").fill_nan(None))


def nearest_neighbour_similarity(vectors: Vectors, rows: Integers, excluded: Integers) -> Vector:
    """The cosine of each of `rows` with its nearest neighbour in the whole vocabulary, itself left out.

    Args:
        vectors: one row per word.
        rows: the words asked for.
        excluded: rows that count as nobody's neighbours.

    Returns:
        One number per word asked for; NaN for a zero vector.
    """
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units = np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)
    nearest = np.empty(len(rows))
    step = max(1, BLOCK_BYTES // (4 * len(units)))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        cosines = units[block] @ units.T
        cosines[:, excluded] = -np.inf
        cosines[np.arange(len(block)), block] = -np.inf
        nearest[start : start + step] = cosines.max(axis=1)
    nearest[lengths[rows, 0] == 0] = np.nan
    return nearest


def _shared_words(first: Embedding, others: Sequence[Path]) -> list[str]:
    """The words of the first embedding that all others have, in its order."""
    words = list(first.words)
    for path in others:
        other = load_embedding(path)
        if other.corpus_hash != first.corpus_hash or not first.corpus_hash:
            words = [word for word in words if word in other.index]
    if not words:
        raise CorpusError(f"{others[0]}: no word in common with the other embeddings of {first.corpus}")
    return words


def _of_the_same(first: Embedding, embedding: Embedding, path: Path) -> Embedding:
    if (embedding.corpus, embedding.algorithm) != (first.corpus, first.algorithm):
        raise CorpusError(
            f"{path}: {embedding.algorithm} on {embedding.corpus}, but the others are {first.algorithm} "
            f"on {first.corpus}; features are of one corpus and algorithm"
        )
    return embedding


def _rows_of(embedding: Embedding, words: Sequence[str]) -> Vectors:
    """The vectors of `words`: the very same array where the vocabulary is the same."""
    if list(embedding.words) == words:
        return embedding.vectors
    return embedding.vectors[[embedding.index[word] for word in words]]
