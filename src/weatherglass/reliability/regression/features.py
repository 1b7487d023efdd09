"""Compute word features that may explain reliability, and build the regression's design (docs/methods 7)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Vector, unit_length
from weatherglass.errors import CorpusError, WeatherglassError
from weatherglass.languages.lexicon import UNIVERSAL
from weatherglass.reliability.lists import is_word
from weatherglass.reliability.scoring import RULES
from weatherglass.reliability.training.embedding import Embedding, Vectors, load_embedding
from weatherglass.warnings import Warning

if TYPE_CHECKING:
    import polars as pl

    from weatherglass.languages.lexicon import Lexicon

Floats = NDArray[np.float32]
BLOCK = 2048
"""The number of words processed at a time, which take 79 MB for 32 seeds of 300 dimensions."""


class Rows(Protocol):
    """Vectors that are read in blocks of rows: an array, or a file that is read on demand."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    def __getitem__(self, rows: slice, /) -> NDArray[Any]: ...


def embedding_stability(seeds: Sequence[Rows], rows: Integers | None = None) -> Vector:
    """Return the mean cosine of each word with itself over all pairs of seeds, after orthogonal Procrustes alignment.

    As in the released code of Du et al. (2021), the alignment minimises the squared distance between the vectors over
    the whole vocabulary. The alignment is one rotation (or reflection) per pair, without scaling or centring.

    Args:
        seeds: one matrix per seed; a row is the same word in all of them.
        rows: the rows of the words; all by default.

    Returns:
        One number for each of `rows`; NaN for a zero vector, or if there are fewer than two seeds.
    """
    words, width = seeds[0].shape
    selected = np.arange(words) if rows is None else np.asarray(rows)
    if len(seeds) < 2:
        return np.full(len(selected), np.nan)
    rotations = _rotations(_cross_products(seeds), len(seeds), width)
    pairs = len(seeds) * (len(seeds) - 1) // 2
    stability = np.empty(len(selected))
    order = np.argsort(selected, kind="stable")
    for start in range(0, words, BLOCK):
        inside = order[np.searchsorted(selected, start, sorter=order) :]
        inside = inside[: np.searchsorted(selected[inside], start + BLOCK)]
        if not len(inside):
            continue
        block = _side_by_side(seeds, start)[selected[inside] - start]
        stability[inside] = _sums_of_cosines(block, rotations, width) / pairs
    return stability


def _cross_products(seeds: Sequence[Rows]) -> Floats:
    """Return EᵀE, where E contains the matrices of all seeds side by side; its d×d blocks are the cross products of
    pairs.
    """
    words, width = seeds[0].shape
    gram = np.zeros((len(seeds) * width, len(seeds) * width), np.float32)
    for start in range(0, words, BLOCK):
        block = _side_by_side(seeds, start)
        gram += block.T @ block
    return gram


def _side_by_side(seeds: Sequence[Rows], start: int) -> Floats:
    blocks = [np.asarray(seed[start : start + BLOCK], np.float32) for seed in seeds]
    return np.concatenate(blocks, axis=1)


def _rotations(gram: Floats, seeds: int, width: int) -> Floats:
    """Replace the cross product of seeds i and j by the rotation of seed i onto seed j, for every i < j."""
    for i, j in combinations(range(seeds), 2):
        block = (slice(i * width, (i + 1) * width), slice(j * width, (j + 1) * width))
        left, _, right = np.linalg.svd(gram[block])
        gram[block] = left @ right
    return gram


def _sums_of_cosines(block: Floats, rotations: Floats, width: int) -> Vector:
    """Return, for each row, the sum over all pairs i < j of the cosine between the rotated vector of i and the vector
    of j.
    """
    vectors = block.reshape(len(block), -1, width)
    lengths = np.linalg.norm(vectors, axis=2, keepdims=True)
    units = np.divide(vectors, lengths, out=np.full_like(vectors, np.nan), where=lengths > 0)
    units = units.reshape(len(block), -1)
    total = np.zeros(len(block))
    for first in range(0, units.shape[1] - width, width):
        later = slice(first + width, None)
        rotated = units[:, first : first + width] @ rotations[first : first + width, later]
        total += np.einsum("wk,wk->w", rotated, units[:, later])
    return total


BLOCK_BYTES = 256_000_000
Source = Path | Embedding
"""A stored embedding, read on demand, or one in memory."""


class StoredVectors:
    """The vectors of an embedding file, read in blocks, so that many seeds fit into memory."""

    def __init__(self, path: Path) -> None:
        from safetensors import safe_open

        self._file: Any = safe_open(path, framework="numpy")
        self._slice = self._file.get_slice("vectors")
        self.shape: tuple[int, ...] = tuple(self._slice.get_shape())

    def __getitem__(self, rows: slice, /) -> NDArray[Any]:
        block: NDArray[Any] = self._slice[rows.start : min(rows.stop, self.shape[0])]
        return block


def word_features(embeddings: Sequence[Source], lexicon: Lexicon) -> pl.DataFrame:
    """Compute the features of the words that all seeds of one corpus and algorithm share.

    Features from vectors are computed only for words in the lexicon, since the regression drops the others. Nearest
    neighbours and the alignment of seeds use the whole vocabulary.

    Args:
        embeddings: one per seed: a stored embedding, or one in memory.
        lexicon: senses and parts of speech.

    Returns:
        One row per word: corpus, algorithm, word, frequency, senses, pos, nn_similarity, l2_norm, stability. Unknown
        values are null.

    Raises:
        CorpusError: if the embeddings belong to more than one corpus or algorithm, or share no word.
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
    """Return the cosine of each of `rows` with its nearest neighbour in the whole vocabulary, excluding itself.

    Args:
        vectors: one row per word.
        rows: the rows of the words.
        excluded: rows that do not count as neighbours.

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
    """Return the words of the first embedding that all others have, in its order."""
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
            "the embeddings should belong to one corpus and algorithm, but belong to "
            + " and ".join(f"{a} on {c} {h[:12]} with {d} dimensions" for a, c, h, d in origins)
        )


def _vectors_of(embedding: Embedding, words: Sequence[str]) -> Vectors:
    """Return the vectors of `words`, without copying the array if the vocabulary is the same."""
    if list(embedding.words) == words:
        return embedding.vectors
    return embedding.vectors[[embedding.index[word] for word in words]]


KEYS = ("corpus", "algorithm", "word")

CONTINUOUS: Mapping[str, tuple[str, bool]] = {
    "log freq": ("frequency", True),
    "log senses": ("senses", True),
    "nn similarity": ("nn_similarity", False),
    "l2 norm": ("l2_norm", False),
    "embedding stability": ("stability", False),
}
"""The continuous coefficients, each with its column in the features and whether its logarithm is taken."""

ORDER = ("rule", "log freq", "log senses", "pos", "nn similarity", "l2 norm", "embedding stability")
"""The factors, in the order of the published table."""

REASONS: Mapping[str, Sequence[str]] = {
    "no score": ("score",),
    "no part of speech": ("pos",),
    "no senses": ("senses",),
    "no frequency": ("frequency",),
    "no vector": ("nn_similarity", "l2_norm", "stability"),
}
"""Reasons to drop a row, each with the columns that are then empty; a row is counted under the first reason that
applies.
"""


RANK_TOLERANCE = 1e-10
"""The smallest share of a column's variance that earlier columns must leave unexplained; a smaller share is rounding
error.
"""


@dataclass(frozen=True, slots=True)
class Design:
    """The rows of a regression, as arrays."""

    score: Vector
    columns: Mapping[str, Vector]
    """The column of each coefficient, such as "log freq" and "pos:noun"; reference levels have no column."""
    factors: Mapping[str, Integers]
    """The level of each row in each random factor: algorithm, corpus, word."""
    references: Mapping[str, str]
    """The reference level of each fixed factor."""
    rows: int
    """The number of rows before incomplete rows are dropped."""
    dropped: Mapping[str, int]
    """The number of dropped rows, by reason."""
    warnings: tuple[Warning, ...] = field(default=())
    variance: Vector | None = None
    """The sampling variance of each score; None if it is unknown."""

    def factor_of(self, coefficient: str) -> str:
        """Return the factor of a coefficient: "pos" for "pos:noun", "log freq" for its square.

        A square is meaningless without its base, so the two are removed together.
        """
        return coefficient.partition(":")[0].removesuffix(" squared")

    @property
    def fixed_factors(self) -> list[str]:
        """Return the factors that can be removed."""
        return list(dict.fromkeys(map(self.factor_of, self.columns)))


def build_design(scores: pl.DataFrame, features: pl.DataFrame) -> Design:
    """Join scores with features, drop incomplete rows, and z-score continuous features over the remaining rows.

    Args:
        scores: a table with columns corpus, algorithm, word and score; rule for test–retest; and the variance of the
            score if known.
        features: the tables of `word_features` for all corpora and algorithms.

    Raises:
        WeatherglassError: if a column is missing, no row has features, or fewer than two rows are complete.
    """
    import polars as pl

    _require(scores, (*KEYS, "score"), "scores")
    _require(features, (*KEYS, *(column for column, _ in CONTINUOUS.values()), "pos"), "features")
    joined = scores.with_columns(pl.col("score").cast(pl.Float64).fill_nan(None)).join(
        features, on=KEYS, how="left"
    )
    if joined["l2_norm"].null_count() == joined.height:
        raise WeatherglassError(
            f"none of the {joined.height} scores has features; the features are for other words, corpora or algorithms"
        )
    absent = [column for column in features.columns if joined[column].null_count() == joined.height]
    warnings = [Warning.of("unknown-feature", feature=column) for column in absent]
    complete, dropped = _complete(joined.drop(absent))
    if complete.height < 2:
        raise WeatherglassError(
            f"{complete.height} of {joined.height} rows are complete "
            f"({', '.join((f'{n} with {why}' for why, n in dropped.items()))}), so nothing can be estimated"
        )
    columns: dict[str, Vector] = {}
    references: dict[str, str] = {}
    for factor in ORDER:
        if factor in CONTINUOUS:
            columns |= _continuous(complete, factor, warnings)
        elif factor in complete.columns:
            columns |= _levels(complete, factor, references)
    columns = _independent(columns, warnings)
    return Design(
        score=complete["score"].to_numpy().astype(np.float64),
        columns=columns,
        factors={name: _codes(complete, name) for name in KEYS},
        references=references,
        rows=joined.height,
        dropped=dropped,
        warnings=tuple(warnings),
        variance=_variance(complete),
    )


def _variance(frame: pl.DataFrame) -> Vector | None:
    """Return the column `variance`; a row without a value gets the largest value of the others."""
    if "variance" not in frame.columns:
        return None
    values = frame["variance"].to_numpy().astype(np.float64)
    known = np.isfinite(values)
    return np.where(known, values, values[known].max()) if known.any() else None


def _require(frame: pl.DataFrame, columns: Sequence[str], what: str) -> None:
    for column in columns:
        if column not in frame.columns:
            raise WeatherglassError(
                f"the {what} have no column '{column}' (they have: {', '.join(frame.columns)})"
            )


def _complete(frame: pl.DataFrame) -> tuple[pl.DataFrame, dict[str, int]]:
    """Return the complete rows, and the number of dropped rows by reason."""
    import polars as pl

    dropped = {}
    for reason, columns in REASONS.items():
        present = [column for column in columns if column in frame.columns]
        kept = frame.filter(pl.all_horizontal(pl.col(present).is_not_null())) if present else frame
        if kept.height < frame.height:
            dropped[reason] = frame.height - kept.height
        frame = kept
    return frame, dropped


def _continuous(frame: pl.DataFrame, name: str, warnings: list[Warning]) -> dict[str, Vector]:
    column, logarithm = CONTINUOUS[name]
    if column not in frame.columns:
        return {}
    values = frame[column].to_numpy().astype(np.float64)
    if logarithm:
        values = np.log(values)
    sd = values.std(ddof=1)
    if not sd > 1e-12 * np.abs(values).max():
        warnings.append(Warning.of("constant-feature", feature=name))
        return {}
    z = (values - values.mean()) / sd
    return {name: z, f"{name} squared": z**2} if name == "log freq" else {name: z}


def _levels(frame: pl.DataFrame, name: str, references: dict[str, str]) -> dict[str, Vector]:
    """Return an indicator column for each level except the reference, which is the first level present.

    Rules are in the order of the registry, which starts with dbwa; unknown names follow in alphabetical order.
    """
    values = frame[name].to_numpy()
    known = RULES.names() if name == "rule" else list(UNIVERSAL)
    present = set(values.tolist())
    levels = [level for level in known if level in present]
    levels += sorted(present.difference(known))
    references[name] = levels[0]
    return {f"{name}:{level}": (values == level).astype(np.float64) for level in levels[1:]}


def _independent(columns: dict[str, Vector], warnings: list[Warning]) -> dict[str, Vector]:
    """Return the columns that are linearly independent of earlier columns, as in lme4; with few words, some are
    not.
    """
    names = list(columns)
    correlation = np.atleast_2d(np.corrcoef([columns[name] for name in names]))
    kept: list[int] = []
    for place in range(len(names)):
        shared = correlation[kept, place]
        left = 1 - shared @ np.linalg.solve(correlation[np.ix_(kept, kept)], shared)
        if left > RANK_TOLERANCE:
            kept.append(place)
        else:
            warnings.append(Warning.of("dependent-feature", feature=names[place]))
    return {names[place]: columns[names[place]] for place in kept}


def _codes(frame: pl.DataFrame, name: str) -> Integers:
    codes: Integers = np.unique(frame[name].to_numpy().astype(str), return_inverse=True)[1].astype(np.int64)
    return codes
