"""Provide the input of scoring rules, store scores in files, and combine the scores of all seeds."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers
from weatherglass.reliability.lists import is_word
from weatherglass.reliability.scoring.scorers import Scores, ScoringContext, WordScorer
from weatherglass.reliability.training.embedding import Embedding
from weatherglass.storage.array_file import save_array
from weatherglass.storage.atomic import whole_file
from weatherglass.storage.checksum import LENGTH, is_whole, seal

NEIGHBOURS = 100
SCORE_FILE = re.compile(r"\.(?P<rule>[^.]+)-v(?P<version>\d+)\.npy$")


@dataclass(frozen=True)
class ScoreTensor:
    """The scores of one corpus and algorithm (rule × word × pair × seed), memory-mapped seed by seed."""

    words: Sequence[str]
    pairs: Sequence[tuple[str, str]]
    seeds: Sequence[int]
    parts: Sequence[Mapping[str, Scores]]
    """The scores of each seed by rule, word × pair."""
    places: Integers | None = None
    """The selected columns of the parts; None for all."""

    @cached_property
    def row_of(self) -> dict[str, int]:
        """Return the row of each word."""
        return {word: row for row, word in enumerate(self.words)}

    @property
    def rules(self) -> tuple[str, ...]:
        """Return the rules, in the order of the study."""
        return tuple(self.parts[0])

    def block(self, rule: str, words: slice | Integers) -> NDArray[np.float64]:
        """Return the scores of one rule in double precision, word × pair × seed."""
        return np.stack([self._select(part, rule, words) for part in self.parts], axis=-1, dtype=np.float64)

    def mean(self, rule: str) -> NDArray[np.float64]:
        """Return the scores averaged over seeds, word × pair."""
        total = np.zeros((len(self.words), len(self.pairs)))
        for part in self.parts:
            total += self._select(part, rule, slice(None))
        return total / len(self.parts)

    def _select(self, part: Mapping[str, Scores], rule: str, words: slice | Integers) -> Scores:
        """Return the scores of one seed, word × pair."""
        scores: Scores = part[rule][words]
        return scores if self.places is None else scores[:, self.places]

    def select_pairs(self, places: Sequence[int]) -> ScoreTensor:
        """Return the tensor of some of the pairs, without reading the files."""
        kept = np.asarray(places, dtype=np.int64)
        return replace(
            self,
            pairs=[self.pairs[place] for place in places],
            places=kept if self.places is None else self.places[kept],
        )


def scorable(embedding: Embedding, min_frequency: int = 0) -> Integers:
    """Return the rows of an embedding that are words, have a vector and occur at least `min_frequency` times."""
    rows = [
        row
        for row, (word, count) in enumerate(zip(embedding.words, embedding.counts.tolist(), strict=True))
        if count >= min_frequency and is_word(word)
    ]
    kept = np.array(rows, dtype=np.int64)
    return kept[embedding.vectors[kept].any(axis=1)]


def scoring_context(
    embedding: Embedding, pairs: Sequence[tuple[str, str]], targets: Integers, k: int = NEIGHBOURS
) -> ScoringContext:
    """Return the input of scoring rules, without vocabulary entries that are not words.

    Args:
        embedding: the embedding.
        pairs: base pairs whose words are both in the vocabulary.
        targets: rows of the embedding, selected from `scorable(embedding)`.
        k: the number of neighbours; if there are fewer, all other words.
    """
    rows = scorable(embedding)
    all_words = len(rows) == len(embedding.words)
    place = {int(row): number for number, row in enumerate(rows)}
    return ScoringContext(
        words=embedding.words if all_words else [embedding.words[row] for row in rows],
        vectors=embedding.vectors if all_words else embedding.vectors[rows],
        pairs=pairs,
        first=np.array([place[embedding.index[one]] for one, _ in pairs], dtype=np.int64),
        second=np.array([place[embedding.index[other]] for _, other in pairs], dtype=np.int64),
        targets=np.array([place[int(row)] for row in targets], dtype=np.int64),
        k=min(k, len(rows) - 1),
    )


def score_paths(stem: Path, rules: Iterable[WordScorer]) -> dict[str, Path]:
    """Return the file of the scores of one embedding for each rule; its name contains the rule and its version."""
    return {rule.name: stem.with_name(f"{stem.name}.{rule.file_name}-v{rule.version}.npy") for rule in rules}


def save_scores(path: Path, scores: Scores) -> None:
    """Write the scores of one embedding and rule atomically, followed by a checksum."""
    with whole_file(path) as unfinished:
        with unfinished.open("wb") as file:
            save_array(file, scores)
            file.write(b" " * LENGTH)
        seal(unfinished, -LENGTH)


def scores_are_whole(path: Path) -> bool:
    """Return whether a score file is unchanged since `save_scores` wrote it."""
    return is_whole(path, -LENGTH)


def load_scores(stem: Path, rules: Iterable[WordScorer]) -> dict[str, Scores]:
    """Return the stored scores of one embedding by rule, memory-mapped."""
    return {
        rule: np.load(path, mmap_mode="r", allow_pickle=False)
        for rule, path in score_paths(stem, rules).items()
    }


def remove_other_versions(folder: Path, rules: Iterable[WordScorer]) -> None:
    """Remove the score files of other versions of these rules, which are no longer used."""
    versions = {rule.file_name: rule.version for rule in rules}
    for path in folder.glob("*.npy"):
        named = SCORE_FILE.search(path.name)
        if named and versions.get(named["rule"], int(named["version"])) != int(named["version"]):
            path.unlink()
