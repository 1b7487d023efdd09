"""Compute the tables of one condition from its scores: word scores, test–retest, inter-rater and consistency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.reliability.agreement.icc import (
    GroupInterval,
    IccEstimates,
    agreement_icc,
    alpha_of,
    connected_groups,
    consistency_icc,
    cronbach_alpha,
    group_interval,
    inter_rater,
    pearson,
    retest,
    standardise,
)
from weatherglass.reliability.lists import FREQUENT_LIST, VOCABULARY_LIST, StudyWordList
from weatherglass.reliability.scoring import raters
from weatherglass.reliability.scoring.scores import ScoreTensor
from weatherglass.reliability.tables import (
    CANNOT_TELL,
    SHOWN,
    THESE_SEEDS,
    Columns,
    StudyCondition,
    WordScore,
    columns,
)
from weatherglass.stats.multiplicity import adjust
from weatherglass.stats.seeds import crossed_mean
from weatherglass.stats.sign_flips_of_rows import sign_flip_p_values

WORDS_AT_A_TIME = 4096
SCORES_AT_A_TIME = 2**24
"""The maximum number of scores in memory at once, which take 128 MB in double precision."""
SCALES = ("raw", "standardised")
"""The scales on which rules are compared: raw scores, as in the paper, or scores standardised for each rule."""


@dataclass(frozen=True)
class ConditionTables:
    """The tables of one condition by name, each as a list of parts for `build_table`."""

    tables: Mapping[str, list[Columns]]
    averages: Mapping[str, Vector]
    """The scores of all words by rule, averaged over seeds and pairs."""


def assess(
    condition: StudyCondition,
    tensor: ScoreTensor,
    lists: Sequence[StudyWordList],
    queries: Sequence[StudyWordList],
) -> ConditionTables:
    """Compute every agreement table of one corpus, algorithm and set of base pairs.

    Args:
        condition: the corpus, algorithm and set of base pairs.
        tensor: the scores.
        lists: target lists; words without scores are skipped and listed in the table `missing`.
        queries: sets of words that are assumed to share one bias.
    """
    rows = {target.name: rows_of(target, tensor) for target in lists}
    means = {rule: tensor.mean(rule) for rule in tensor.rules}
    averages = {rule: mean.mean(1) for rule, mean in means.items()}
    groups = connected_groups(tensor.pairs)
    word_retest = {rule: _word_retest(tensor, rule, groups) for rule in tensor.rules}
    scaled = {scale: _rule_scores(means, scale) for scale in SCALES}
    word_inter_rater = {
        scale: (inter_rater(tables), group_interval(tables, groups, consistency_icc))
        for scale, tables in scaled.items()
    }
    keys = condition.columns()
    return ConditionTables(
        {
            "words": [
                word_scores(condition, tensor, rule, estimates, lists)
                for rule, (estimates, _) in word_retest.items()
            ],
            "test_retest_words": [
                {**keys, "rule": rule, "word": list(tensor.words), **_word_columns(estimates, over_groups)}
                for rule, (estimates, over_groups) in word_retest.items()
            ],
            "inter_rater_words": [
                {**keys, "scale": scale, "word": list(tensor.words), **_word_columns(estimates, over_groups)}
                for scale, (estimates, over_groups) in word_inter_rater.items()
            ],
            "test_retest_pairs": _pair_retest(keys, tensor, rows),
            "inter_rater_pairs": _pair_inter_rater(keys, tensor, scaled, rows),
            "consistency_queries": _query_consistency(keys, tensor, means, queries, groups),
            "consistency_pairs": _pair_consistency(keys, means, rows),
            "pearson": [
                pearson_row(keys, averages, one, other) for one, other in combinations(raters(means), 2)
            ],
            "summary": [
                {
                    **keys,
                    "measure": "test–retest",
                    "by": rule,
                    **_summary(name, chosen, estimates, over_groups),
                }
                for rule, (estimates, over_groups) in word_retest.items()
                for name, chosen in rows.items()
            ]
            + [
                {
                    **keys,
                    "measure": "inter-rater",
                    "by": scale,
                    **_summary(name, chosen, estimates, over_groups),
                }
                for scale, (estimates, over_groups) in word_inter_rater.items()
                for name, chosen in rows.items()
            ],
        },
        averages,
    )


def five_number_summary(values: Vector) -> dict[str, float]:
    """Return the five numbers of a box plot, whose whiskers end at the last value within 1.5 box widths of the box."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return dict.fromkeys(
            ("low_whisker", "lower_quartile", "median", "upper_quartile", "high_whisker"), np.nan
        )
    q1, median, q3 = np.quantile(finite, [0.25, 0.5, 0.75])
    inside = finite[(finite >= q1 - 1.5 * (q3 - q1)) & (finite <= q3 + 1.5 * (q3 - q1))]
    return {
        "low_whisker": float(inside.min()),
        "lower_quartile": float(q1),
        "median": float(median),
        "upper_quartile": float(q3),
        "high_whisker": float(inside.max()),
    }


def rows_of(target: StudyWordList, tensor: ScoreTensor) -> Integers:
    """Return the rows of the words of a list that have scores."""
    return np.array([tensor.row_of[word] for word in target.words if word in tensor.row_of], dtype=np.int64)


def _icc_columns(estimates: IccEstimates) -> Columns:
    return {"icc": estimates.value, "low": estimates.low, "high": estimates.high}


def _word_columns(estimates: IccEstimates, interval: GroupInterval) -> Columns:
    ends = {"low_groups": interval.low, "high_groups": interval.high, "groups": interval.groups}
    return {**_icc_columns(estimates), **ends}


def _word_retest(tensor: ScoreTensor, rule: str, groups: Integers) -> tuple[IccEstimates, GroupInterval]:
    """Compute the test–retest of every word, in blocks of words, since all scores may not fit into memory."""
    estimates, intervals = [], []
    for start in range(0, len(tensor.words), WORDS_AT_A_TIME):
        scores = tensor.block(rule, slice(start, start + WORDS_AT_A_TIME))
        estimates.append(retest(scores))
        intervals.append(group_interval(scores, groups, agreement_icc))
    low, high = (
        np.concatenate([getattr(interval, end) for interval in intervals]) for end in ("low", "high")
    )
    return _concatenate(estimates), replace(intervals[0], low=low, high=high)


def _concatenate(parts: Sequence[IccEstimates]) -> IccEstimates:
    value, low, high = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("value", "low", "high")
    )
    return IccEstimates(value, low, high, parts[0].reason)


def _rule_scores(means: Mapping[str, Matrix], scale: str) -> NDArray[np.float64]:
    """Return an array of scores, word × pair × rule."""
    scores = [means[rule] if scale == "raw" else standardise(means[rule]) for rule in raters(means)]
    return np.stack(scores, axis=-1)


def _pair_retest(keys: Columns, tensor: ScoreTensor, rows: Mapping[str, Integers]) -> list[Columns]:
    parts = []
    for rule in tensor.rules:
        for name, chosen in rows.items():
            estimates = _pair_retest_in_blocks(tensor, rule, chosen)
            parts.append({**keys, "rule": rule, "list": name, **_pair_columns(tensor, estimates, chosen)})
    return parts


def _pair_retest_in_blocks(tensor: ScoreTensor, rule: str, chosen: Integers) -> IccEstimates:
    """Compute the test–retest of every pair, in blocks of pairs, since all scores may not fit into memory."""
    number = max(1, SCORES_AT_A_TIME // max(1, len(chosen) * len(tensor.seeds)))
    return _concatenate(
        [
            retest(tensor.select_pairs(block.tolist()).block(rule, chosen).swapaxes(0, 1), rows="words")
            for block in np.split(np.arange(len(tensor.pairs)), np.arange(number, len(tensor.pairs), number))
        ]
    )


def _pair_inter_rater(
    keys: Columns,
    tensor: ScoreTensor,
    scaled: Mapping[str, NDArray[np.float64]],
    rows: Mapping[str, Integers],
) -> list[Columns]:
    parts = []
    for scale, tables in scaled.items():
        for name, chosen in rows.items():
            estimates = inter_rater(tables[chosen].swapaxes(0, 1), rows="words")
            parts.append({**keys, "scale": scale, "list": name, **_pair_columns(tensor, estimates, chosen)})
    return parts


def _pair_columns(tensor: ScoreTensor, estimates: IccEstimates, chosen: Integers) -> Columns:
    names = [f"{first}–{second}" for first, second in tensor.pairs]
    return {"pair": names, **_icc_columns(estimates), "words": len(chosen), "note": estimates.reason}


def _query_consistency(
    keys: Columns,
    tensor: ScoreTensor,
    means: Mapping[str, Matrix],
    queries: Sequence[StudyWordList],
    groups: Integers,
) -> list[Columns]:
    """Compute alpha of each query, with words as items and base pairs as cases."""
    parts = []
    for rule in means:
        for query in queries:
            chosen = rows_of(query, tensor)
            table = means[rule][chosen].T
            estimates = cronbach_alpha(table, items="words of the query", cases="base pairs")
            over_groups = group_interval(table, groups, alpha_of)
            if estimates.reason:
                nothing = np.full((), np.nan)
                over_groups = replace(over_groups, low=nothing, high=nothing, reason=estimates.reason)
            parts.append(
                {
                    **keys,
                    "rule": rule,
                    "query": query.name,
                    **_alpha_columns(estimates, table),
                    "low_groups": float(over_groups.low),
                    "high_groups": float(over_groups.high),
                    "groups": over_groups.groups,
                    "note_groups": over_groups.reason,
                }
            )
    return parts


def _pair_consistency(
    keys: Columns, means: Mapping[str, Matrix], rows: Mapping[str, Integers]
) -> list[Columns]:
    """Compute alpha of the base pairs, with pairs as items and the words of a list as cases."""
    parts = []
    for rule in means:
        for name, chosen in rows.items():
            estimates = cronbach_alpha(means[rule][chosen], items="base pairs", cases="words")
            parts.append(
                {**keys, "rule": rule, "list": name, **_alpha_columns(estimates, means[rule][chosen])}
            )
    return parts


def _alpha_columns(estimates: IccEstimates, table: Matrix) -> Columns:
    return {
        "alpha": float(estimates.value),
        "low": float(estimates.low),
        "high": float(estimates.high),
        "items": table.shape[1],
        "cases": table.shape[0],
        "note": estimates.reason,
    }


def pearson_row(keys: Columns, averages: Mapping[str, Vector], one: str, other: str) -> Columns:
    """Return a row of the table with Pearson's r of two rules over words."""
    estimate = pearson(averages[one], averages[other])
    return {
        **keys,
        "rules": f"{one}-{other}",
        "r": float(estimate.value),
        "low": float(estimate.low),
        "high": float(estimate.high),
        "words": len(averages[one]),
    }


def _summary(name: str, chosen: Integers, estimates: IccEstimates, over_groups: GroupInterval) -> Columns:
    """Return the box plot of a target list, and the medians of the ends of the words' intervals."""
    with np.errstate(invalid="ignore"):
        low, high, low_groups, high_groups = (
            float(np.nanmedian(ends[chosen])) if np.isfinite(ends[chosen]).any() else float("nan")
            for ends in (estimates.low, estimates.high, over_groups.low, over_groups.high)
        )
    return {
        "list": name,
        "words": len(chosen),
        **five_number_summary(estimates.value[chosen]),
        "median_low": low,
        "median_high": high,
        "note": estimates.reason,
        "median_low_groups": low_groups,
        "median_high_groups": high_groups,
        "groups": over_groups.groups,
        "note_groups": over_groups.reason,
    }


ALPHA = 0.05
FEWEST_SEEDS = 3
"""The smallest number of seeds for inference about other seeds; with two, t has only one degree of freedom."""


def word_scores(
    condition: StudyCondition,
    tensor: ScoreTensor,
    rule: str,
    retest: IccEstimates,
    lists: Sequence[StudyWordList],
) -> Columns:
    """Return the rows of the table `words` for one rule, with p corrected within each family.

    Args:
        condition: the corpus, algorithm and set of base pairs.
        tensor: the scores.
        rule: the scoring rule.
        retest: the test–retest of every word with this rule.
        lists: the lists of the study, target lists first; each list is a family.
    """
    parts = []
    rng = np.random.default_rng(0)  # used for more than 36 pairs; fixed, so that the table is reproducible
    for start in range(0, len(tensor.words), WORDS_AT_A_TIME):
        scores = tensor.block(rule, slice(start, start + WORDS_AT_A_TIME))
        crossed = crossed_mean(scores)
        these_seeds = sign_flip_p_values(scores.mean(2), rng)
        parts.append(np.stack([crossed.mean, crossed.low, crossed.high, crossed.p_value, these_seeds]))
    score, low, high, p_value, p_these_seeds = np.concatenate(parts, axis=1)
    families = word_families(tensor.words, lists)
    p_adjusted = adjust_families(p_value, families)
    p_these_seeds_adjusted = adjust_families(p_these_seeds, families)
    family, size = np.empty(len(score), dtype=object), np.empty(len(score), dtype=np.int64)
    for name, places in families.items():
        family[places], size[places] = name, len(places)
    first, second = tensor.pairs[0]
    return columns(
        WordScore,
        condition,
        rule=rule,
        word=list(tensor.words),
        score=score,
        low=low,
        high=high,
        toward=np.where(score >= 0, first, second).tolist(),
        verdict=_verdicts(p_adjusted, p_these_seeds_adjusted, len(tensor.seeds)),
        p_value=p_value,
        p_adjusted=p_adjusted,
        p_these_seeds=p_these_seeds,
        p_these_seeds_adjusted=p_these_seeds_adjusted,
        family=family.tolist(),
        family_size=size,
        icc=retest.value,
        icc_low=retest.low,
        icc_high=retest.high,
        rank=_ranks(score),
        of=len(tensor.words),
    )


def word_families(words: Sequence[str], lists: Sequence[StudyWordList]) -> dict[str, Integers]:
    """Return the positions of the words of each family; a word belongs to the first list that contains it.

    Words outside all lists belong to the family of the vocabulary. Families without words are left out.
    """
    names = [word_list.name for word_list in lists]
    first: dict[str, int] = {}
    for number, word_list in enumerate(lists):
        for word in word_list.words:
            first.setdefault(word, number)
    numbers = np.array([first.get(word, len(lists)) for word in words], dtype=np.int64)
    families: dict[str, Integers] = {}
    for number, name in enumerate([*names, VOCABULARY_LIST]):
        places = np.flatnonzero(numbers == number)
        if len(places):
            families[name] = np.concatenate([families.get(name, places[:0]), places])
    return families


def adjust_families(p_values: Vector, families: Mapping[str, Integers]) -> Vector:
    """Return p corrected within each family.

    A target list is fixed before anyone sees a score, so p is corrected with Holm's method, which controls the
    family-wise error. Frequent words and the rest of the vocabulary are explored, so Benjamini and Hochberg's method
    is used, which controls the false discovery rate.
    """
    adjusted = np.empty_like(p_values)
    for name, places in families.items():
        searched = name in (FREQUENT_LIST, VOCABULARY_LIST)
        adjusted[places] = adjust(p_values[places], "benjamini-hochberg" if searched else "holm")
    return adjusted


def _verdicts(p_adjusted: Vector, p_these_seeds_adjusted: Vector, seeds: int) -> list[str]:
    shown = (p_adjusted <= ALPHA) & (seeds >= FEWEST_SEEDS)
    these_seeds = np.where(p_these_seeds_adjusted <= ALPHA, THESE_SEEDS, CANNOT_TELL)
    verdicts: list[str] = np.where(shown, SHOWN, these_seeds).tolist()
    return verdicts


def _ranks(scores: Vector) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Rank words, starting at 1 for the word that leans most to the first words of the pairs; ties favour frequent
    words.
    """
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks
