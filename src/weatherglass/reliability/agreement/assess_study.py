"""Compute all tables of a study from the scores of its corpora and algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from weatherglass.arrays import Integers
from weatherglass.progress import Progress, Silent
from weatherglass.reliability.agreement.assess import ConditionTables, assess, pearson_row, rows_of
from weatherglass.reliability.agreement.claims import CONSISTENCY, ENSEMBLE, RATER, RETEST, claims
from weatherglass.reliability.agreement.comparisons import (
    compare_corpora,
    compare_sets,
    consistency_boxes,
    corpus_words,
    each_pair_boxes,
    frequency_curves,
    listed_words,
    pair_boxes,
    reliabilities,
)
from weatherglass.reliability.agreement.medians import (
    MedianInterval,
    consistency_interval,
    ensemble_interval,
    rater_intervals,
    retest_interval,
)
from weatherglass.reliability.agreement.seeds import batches_of_seeds, estimate_by_seeds
from weatherglass.reliability.lists import (
    FREQUENT_LIST,
    VOCABULARY_LIST,
    BasePairs,
    StudyWordList,
    base_pairs,
    frequent_words,
    queries,
    target_list,
)
from weatherglass.reliability.scoring import raters
from weatherglass.reliability.scoring.scores import ScoreTensor
from weatherglass.reliability.study import Group
from weatherglass.reliability.study_file import Study
from weatherglass.reliability.tables import COLUMNS, Columns, StudyCondition, build_table

if TYPE_CHECKING:
    import polars as pl

ALL_CORPORA = "all corpora"


def assess_study(
    study: Study, scored: Sequence[tuple[Group, ScoreTensor]], progress: Progress | None = None
) -> dict[str, pl.DataFrame]:
    """Return all tidy tables of the study by name."""
    progress = progress or Silent()
    progress.stage("assessing", len(scored) * len(study.pairs))
    parts: dict[str, list[Columns]] = {name: [] for name in COLUMNS}
    assessments: dict[StudyCondition, ConditionTables] = {}
    words: list[pl.DataFrame] = []
    intervals: dict[tuple[str, StudyCondition, str], MedianInterval] = {}
    for group, tensor in scored:
        lists = target_lists(study, tensor.words)
        parts["missing"] += _missing_words(group, tensor, lists)
        words.append(listed_words(group, lists))
        for name in study.pairs:
            pairs = base_pairs(name)
            condition = StudyCondition(group.corpus, group.algorithm, pairs.name)
            selected, coverage, missing = _select_pairs(condition, tensor, pairs)
            parts["pairs"].append(coverage)
            parts["missing"] += missing
            if selected is not None:
                parts["scores"].append(average_scores(condition, selected))
                assessments[condition] = assess(condition, selected, lists, queries())
                frequent = rows_of(lists[-2], tensor)
                parts["seed_batches"] += map(asdict, batches_of_seeds(condition, selected, frequent))
                parts["seed_numbers"] += map(asdict, estimate_by_seeds(condition, selected, frequent))
                intervals |= _median_intervals(condition, selected, frequent)
            progress.advance()
    for assessment in assessments.values():
        for table, rows in assessment.tables.items():
            parts[table].extend(rows)
    parts["pearson"] += _pearson_over_all_corpora(assessments, raters(study.rules))
    tables = {name: build_table(name, rows, study.rules) for name, rows in parts.items()}
    compared = raters(study.rules)
    derived: dict[str, Callable[[], Iterable[Columns]]] = {
        "summary_pairs": lambda: pair_boxes(tables),
        "summary_consistency": lambda: consistency_boxes(tables, compared),
        "summary_each_pair": lambda: each_pair_boxes(tables, compared),
        "pair_sets": lambda: compare_sets(tables, compared),
    }
    for name, derive in derived.items():  # Each uses the tables before it.
        tables[name] = build_table(name, list(derive()), study.rules)
    tables |= _corpora_compared(tables, words, compared, study)
    unscored = [StudyCondition(*key) for *key, present, _ in tables["pairs"].iter_rows() if present == 0]
    verdicts = claims(
        tables["summary"],
        tables["consistency_queries"],
        tables["consistency_pairs"],
        compared,
        intervals,
        unscored,
    )
    return {**tables, "claims": build_table("claims", verdicts, study.rules)}


def _corpora_compared(
    tables: Mapping[str, pl.DataFrame], words: Sequence[pl.DataFrame], rules: Sequence[str], study: Study
) -> dict[str, pl.DataFrame]:
    """Return the tables that compare corpora word by word; they are empty for a single corpus."""
    rows = reliabilities(tables, words, rules)
    common = corpus_words(rows)
    listed = [] if common.is_empty() else [common.to_dict(as_series=False)]
    return {
        "corpus_words": build_table("corpus_words", listed, study.rules),
        "corpus_pairs": build_table("corpus_pairs", list(compare_corpora(common)), study.rules),
        "corpus_curves": build_table("corpus_curves", list(frequency_curves(rows)), study.rules),
    }


def average_score_table(study: Study, scored: Sequence[tuple[Group, ScoreTensor]]) -> pl.DataFrame:
    """Return the table `scores`, without assessing the study."""
    rows = []
    for group, tensor in scored:
        for name in study.pairs:
            pairs = base_pairs(name)
            condition = StudyCondition(group.corpus, group.algorithm, pairs.name)
            selected, _, _ = _select_pairs(condition, tensor, pairs)
            if selected is not None:
                rows.append(average_scores(condition, selected))
    return build_table("scores", rows, study.rules)


def average_scores(condition: StudyCondition, tensor: ScoreTensor) -> Columns:
    """Return the score of every word with every rule, averaged over seeds and pairs."""
    averages = {rule: tensor.mean(rule).mean(1) for rule in tensor.rules}
    return {**condition.columns(), "word": list(tensor.words), **averages}


def target_lists(study: Study, vocabulary: Sequence[str]) -> list[StudyWordList]:
    """Return the study's lists, followed by the frequent words and the whole vocabulary."""
    if isinstance(study.frequent, int):
        frequent = frequent_words(vocabulary, study.frequent)
    else:
        word_list = target_list(study.frequent)
        frequent = StudyWordList(FREQUENT_LIST, word_list.words, word_list.source)
    all_words = StudyWordList(VOCABULARY_LIST, tuple(vocabulary), "every word of the corpus")
    return [*(target_list(name) for name in study.targets), frequent, all_words]


def _median_intervals(
    condition: StudyCondition, tensor: ScoreTensor, frequent: Integers
) -> dict[tuple[str, StudyCondition, str], MedianInterval]:
    """Return the interval of the median for each claim and each rule or scale in one condition."""
    intervals = {}
    query_rows = [rows_of(query, tensor) for query in queries()]
    for rule in raters(tensor.rules):
        tables = [tensor.block(rule, rows) for rows in query_rows]
        scores = tensor.block(rule, frequent)
        intervals[RETEST, condition, rule] = retest_interval(scores)
        intervals[ENSEMBLE, condition, rule] = ensemble_interval(scores)
        intervals[CONSISTENCY, condition, rule] = consistency_interval(tables)
    for scale, interval in rater_intervals(tensor, frequent).items():
        intervals[RATER, condition, scale] = interval
    return intervals


def _select_pairs(
    condition: StudyCondition, tensor: ScoreTensor, pairs: BasePairs
) -> tuple[ScoreTensor | None, Columns, list[Columns]]:
    """Return the scores of one set of pairs, and its rows of the tables `pairs` and `missing`."""
    index_of = {pair: number for number, pair in enumerate(tensor.pairs)}
    present = [pair for pair in pairs.pairs if pair in index_of]
    missing = [
        _missing_row(condition.corpus, condition.algorithm, "base pair", pairs.name, f"{first}–{second}")
        for first, second in pairs.pairs
        if (first, second) not in index_of
    ]
    coverage = {**condition.columns(), "present": len(present), "of": len(pairs.pairs)}
    selected = tensor.select_pairs([index_of[pair] for pair in present]) if present else None
    return selected, coverage, missing


def _missing_words(group: Group, tensor: ScoreTensor, lists: Sequence[StudyWordList]) -> list[Columns]:
    vocabulary = set(tensor.words)
    return [
        _missing_row(group.corpus, group.algorithm, kind, entry.name, word)
        for kind, entries in (("target", lists), ("query", queries()))
        for entry in entries
        for word in entry.words
        if word not in vocabulary
    ]


def _missing_row(*values: str) -> Columns:
    return dict(zip(COLUMNS["missing"], values, strict=True))


def _pearson_over_all_corpora(
    assessments: Mapping[StudyCondition, ConditionTables], rules: Sequence[str]
) -> list[Columns]:
    """Compute Pearson's r over the concatenated vocabularies (Tables 2, 4 and 5 of the reproduction)."""
    rows = []
    keys = dict.fromkeys((condition.pairs, condition.algorithm) for condition in assessments)
    for pairs, algorithm in keys:
        stacked = [
            assessment.averages
            for condition, assessment in assessments.items()
            if (condition.pairs, condition.algorithm) == (pairs, algorithm)
        ]
        scores = {rule: np.concatenate([averages[rule] for averages in stacked]) for rule in rules}
        for one, other in combinations(rules, 2):
            rows.append(
                pearson_row(StudyCondition(ALL_CORPORA, algorithm, pairs).columns(), scores, one, other)
            )
    return rows
