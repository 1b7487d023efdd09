"""The tables of a whole study, from the score tensors of its corpora and algorithms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from weatherglass.arrays import Integers
from weatherglass.progress import Progress, Silent
from weatherglass.reliability.agreement.assess import Assessment, Columns, Condition, assess, pearson_row
from weatherglass.reliability.agreement.claims import claims
from weatherglass.reliability.agreement.seeds import batches_of_seeds, estimate_by_seeds
from weatherglass.reliability.lists import (
    FREQUENT_LIST,
    VOCABULARY_LIST,
    BasePairs,
    WordList,
    base_pairs,
    frequent_words,
    queries,
    target_list,
)
from weatherglass.reliability.scoring.scores import RATERS, RULES, ScoreTensor
from weatherglass.reliability.study import Group
from weatherglass.reliability.study_file import Study
from weatherglass.reliability.tables import COLUMNS, table_of

if TYPE_CHECKING:
    import polars as pl

EVERYWHERE = "all corpora"


def assess_study(
    study: Study, scored: Sequence[tuple[Group, ScoreTensor]], progress: Progress | None = None
) -> dict[str, pl.DataFrame]:
    """Every tidy table of the study, by name."""
    progress = progress or Silent()
    progress.stage("assessing", len(scored) * len(study.pairs))
    parts: dict[str, list[Columns]] = {name: [] for name in COLUMNS}
    assessments: dict[Condition, Assessment] = {}
    for group, tensor in scored:
        lists = target_lists(study, tensor.words)
        parts["missing"] += _missing_words(group, tensor, lists)
        for name in study.pairs:
            pairs = base_pairs(name)
            condition = Condition(group.corpus, group.algorithm, pairs.name)
            of_set, coverage, missing = _select(condition, tensor, pairs)
            parts["pairs"].append(coverage)
            parts["missing"] += missing
            if of_set is not None:
                parts["scores"].append(average_scores(condition, of_set))
                assessments[condition] = assess(condition, of_set, lists, queries())
                frequent = _rows(lists[-2], tensor.words)
                parts["seed_batches"] += batches_of_seeds(condition, of_set, frequent)
                parts["seed_numbers"] += estimate_by_seeds(condition, of_set, frequent)
            progress.advance()
    for assessment in assessments.values():
        for table, rows in assessment.tables.items():
            parts[table].extend(rows)
    parts["pearson"] += _pearson_everywhere(assessments)
    tables = {name: table_of(name, rows) for name, rows in parts.items()}
    without = [Condition(*key) for *key, present, _ in tables["pairs"].iter_rows() if present == 0]
    verdicts = claims(tables["summary"], tables["consistency_queries"], without)
    return {**tables, "claims": table_of("claims", verdicts)}


def scores_of_study(study: Study, scored: Sequence[tuple[Group, ScoreTensor]]) -> pl.DataFrame:
    """The table `scores` alone, for a study that is not assessed yet."""
    rows = []
    for group, tensor in scored:
        for name in study.pairs:
            pairs = base_pairs(name)
            condition = Condition(group.corpus, group.algorithm, pairs.name)
            of_set, _, _ = _select(condition, tensor, pairs)
            if of_set is not None:
                rows.append(average_scores(condition, of_set))
    return table_of("scores", rows)


def average_scores(condition: Condition, tensor: ScoreTensor) -> Columns:
    """How biased every word is by every rule, averaged over seeds and pairs."""
    averages = {rule: tensor.mean(rule).mean(1) for rule in RULES}
    return {**condition.columns(), "word": list(tensor.words), **averages}


def target_lists(study: Study, vocabulary: Sequence[str]) -> list[WordList]:
    """The study's lists, then the frequent words, then the whole vocabulary."""
    if isinstance(study.frequent, int):
        frequent = frequent_words(vocabulary, study.frequent)
    else:
        given = target_list(study.frequent)
        frequent = WordList(FREQUENT_LIST, given.words, given.source)
    everything = WordList(VOCABULARY_LIST, tuple(vocabulary), "every word of the corpus")
    return [*(target_list(name) for name in study.targets), frequent, everything]


def _rows(target: WordList, words: Sequence[str]) -> Integers:
    place = {word: number for number, word in enumerate(words)}
    return np.array([place[word] for word in target.words if word in place], dtype=np.int64)


def _select(
    condition: Condition, tensor: ScoreTensor, pairs: BasePairs
) -> tuple[ScoreTensor | None, Columns, list[Columns]]:
    """The tensor of one set of pairs, how many of them occur, and those that do not."""
    place = {pair: number for number, pair in enumerate(tensor.pairs)}
    there = [pair for pair in pairs.pairs if pair in place]
    missing = [
        _absent(condition.corpus, condition.algorithm, "base pair", pairs.name, f"{first}–{second}")
        for first, second in pairs.pairs
        if (first, second) not in place
    ]
    coverage = {**condition.columns(), "present": len(there), "of": len(pairs.pairs)}
    return (tensor.of_pairs([place[pair] for pair in there]) if there else None), coverage, missing


def _missing_words(group: Group, tensor: ScoreTensor, lists: Sequence[WordList]) -> list[Columns]:
    vocabulary = set(tensor.words)
    return [
        _absent(group.corpus, group.algorithm, kind, entry.name, word)
        for kind, entries in (("target", lists), ("query", queries()))
        for entry in entries
        for word in entry.words
        if word not in vocabulary
    ]


def _absent(*values: str) -> Columns:
    return dict(zip(COLUMNS["missing"], values, strict=True))


def _pearson_everywhere(assessments: Mapping[Condition, Assessment]) -> list[Columns]:
    """Pearson's r with the vocabularies of all corpora stacked (the reproduction's Tables 2, 4 and 5)."""
    rows = []
    keys = dict.fromkeys((condition.pairs, condition.algorithm) for condition in assessments)
    for pairs, algorithm in keys:
        stacked = [
            assessment.averages
            for condition, assessment in assessments.items()
            if (condition.pairs, condition.algorithm) == (pairs, algorithm)
        ]
        scores = {rule: np.concatenate([averages[rule] for averages in stacked]) for rule in RATERS}
        for one, other in combinations(RATERS, 2):
            rows.append(pearson_row(Condition(EVERYWHERE, algorithm, pairs).columns(), scores, one, other))
    return rows
