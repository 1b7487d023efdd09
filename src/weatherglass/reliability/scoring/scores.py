"""Bias scores of words for base pairs: the scoring rules of Du et al. (2021), for all words at once; score files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numba import njit
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from weatherglass.arrays import Integers, unit_length
from weatherglass.reliability.lists import is_word
from weatherglass.reliability.scoring.neighbours import neighbours
from weatherglass.reliability.training.embedding import Embedding, Vectors
from weatherglass.storage.atomic import whole_file

RULE_VERSIONS: Mapping[str, int] = {"dbwa": 1, "ripa": 1, "ripa-raw": 1, "nbm": 1}
"""Rule -> version. Raise it when a rule gives other numbers: stored scores are then computed again."""
RULES = tuple(RULE_VERSIONS)
RATERS = ("dbwa", "ripa", "nbm")
"""The rules that Du et al. compare with one another."""
NEIGHBOURS = 100
ROWS_AT_A_TIME = 2048
"""Rows that fit in the processor's cache."""

Scores = NDArray[np.float32]
"""word × pair of one rule."""


@dataclass(frozen=True)
class ScoreTensor:
    """The scores of one corpus and algorithm: rule × word × pair × seed, memory-mapped seed by seed."""

    words: Sequence[str]
    pairs: Sequence[tuple[str, str]]
    seeds: Sequence[int]
    parts: Sequence[Mapping[str, Scores]]
    """For each seed: rule -> word × pair."""
    places: Integers | None = None
    """Columns of the parts that are selected; None for all."""

    def block(self, rule: str, words: slice | Integers) -> NDArray[np.float64]:
        """word × pair × seed of one rule, in double precision."""
        return np.stack([self._select(part, rule, words) for part in self.parts], axis=-1, dtype=np.float64)

    def mean(self, rule: str) -> NDArray[np.float64]:
        """word × pair, averaged over seeds."""
        total = np.zeros((len(self.words), len(self.pairs)))
        for part in self.parts:
            total += self._select(part, rule, slice(None))
        return total / len(self.parts)

    def _select(self, part: Mapping[str, Scores], rule: str, words: slice | Integers) -> Scores:
        """word × pair of one seed."""
        scores: Scores = part[rule][words]
        return scores if self.places is None else scores[:, self.places]

    def select_pairs(self, places: Sequence[int]) -> ScoreTensor:
        """The tensor of some of the pairs; the parts stay on the disk."""
        kept = np.asarray(places, dtype=np.int64)
        return replace(
            self,
            pairs=[self.pairs[place] for place in places],
            places=kept if self.places is None else self.places[kept],
        )


def scorable(embedding: Embedding, min_frequency: int = 0) -> Integers:
    """The rows of an embedding that are words, have a vector and occur at least `min_frequency` times."""
    rows = [
        row
        for row, (word, count) in enumerate(zip(embedding.words, embedding.counts.tolist(), strict=True))
        if count >= min_frequency and is_word(word)
    ]
    kept = np.array(rows, dtype=np.int64)
    return kept[embedding.vectors[kept].any(axis=1)]


def score_embedding(
    embedding: Embedding, pairs: Sequence[tuple[str, str]], targets: Integers, k: int = NEIGHBOURS
) -> dict[str, Scores]:
    """Rule -> target × pair, for all of RULES.

    Args:
        pairs: Both words of each must be in the vocabulary.
        targets: Rows of the embedding, a selection of `scorable(embedding)`.
        k: Number of neighbours for NBM.
    """
    words = scorable(embedding)
    vectors = embedding.vectors if len(words) == len(embedding.words) else embedding.vectors[words]
    place = {int(row): number for number, row in enumerate(words)}
    first = np.array([place[embedding.index[one]] for one, _ in pairs], dtype=np.int64)
    second = np.array([place[embedding.index[other]] for _, other in pairs], dtype=np.int64)
    rows = np.array([place[int(row)] for row in targets], dtype=np.int64)
    dbwa, ripa, ripa_raw = projections(vectors, first, second)
    return {
        "dbwa": dbwa[rows],
        "ripa": ripa[rows],
        "ripa-raw": ripa_raw[rows],
        "nbm": nbm(vectors, dbwa, rows, min(k, len(words) - 1)),
    }


def projections(vectors: Vectors, first: Integers, second: Integers) -> tuple[Scores, Scores, Scores]:
    """DB/WA, RIPA (w normalised, as Du et al. do) and raw RIPA of every row with every pair: one matrix product."""
    between_ends = unit_length(vectors[first]) - unit_length(vectors[second])
    directions = np.concatenate([between_ends, unit_length(vectors[first] - vectors[second])]).T
    scores = np.empty((3, len(vectors), len(first)), dtype=np.float32)
    # For products this thin, threads spend more time waiting than they save.
    with threadpool_limits(1):
        for start in range(0, len(vectors), ROWS_AT_A_TIME):
            part = slice(start, start + ROWS_AT_A_TIME)
            products = vectors[part] @ directions
            inverse = 1 / np.sqrt(np.einsum("vd,vd->v", vectors[part], vectors[part]))[:, None]
            scores[2, part] = products[:, len(first) :]
            products *= inverse
            scores[0, part], scores[1, part] = products[:, : len(first)], products[:, len(first) :]
    return scores[0], scores[1], scores[2]


def nbm(vectors: Vectors, dbwa: Scores, rows: Integers, k: int) -> Scores:
    """(share of the k neighbours with DB/WA ≥ 0) − (share with DB/WA < 0), of `rows` for every pair."""
    leaning = np.where(dbwa >= 0, np.int8(1), np.int8(-1))
    scores = np.empty((len(rows), dbwa.shape[1]), dtype=np.float32)
    for part, nearest in neighbours(vectors, rows, k):
        _average_leaning(leaning, nearest, scores[part])
    return scores


@njit(cache=True, nogil=True)
def _average_leaning(leaning: NDArray[np.int8], nearest: Integers, scores: Scores) -> None:
    k = nearest.shape[1]
    for line in range(nearest.shape[0]):
        total = np.zeros(leaning.shape[1], dtype=np.int32)
        for place in range(k):
            for pair in range(leaning.shape[1]):
                total[pair] += leaning[nearest[line, place], pair]
        for pair in range(leaning.shape[1]):
            scores[line, pair] = total[pair] / k


def score_paths(stem: Path) -> dict[str, Path]:
    """Rule -> the file of its scores of one embedding; the file's name has the rule and its version."""
    return {
        rule: stem.with_name(f"{stem.name}.{rule}-v{number}.npy") for rule, number in RULE_VERSIONS.items()
    }


def save_scores(stem: Path, scores: Mapping[str, Scores]) -> None:
    """Store the scores of one embedding, one file for each rule, written atomically."""
    for rule, path in score_paths(stem).items():
        with whole_file(path) as unfinished, unfinished.open("wb") as file:
            np.save(file, scores[rule], allow_pickle=False)


def load_scores(stem: Path) -> dict[str, Scores]:
    """Rule -> the stored scores of one embedding, memory-mapped."""
    return {
        rule: np.load(path, mmap_mode="r", allow_pickle=False) for rule, path in score_paths(stem).items()
    }
