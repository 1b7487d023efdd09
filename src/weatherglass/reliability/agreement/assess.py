"""From a score tensor to tidy tables: test–retest, inter-rater and internal consistency of one condition."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.reliability.agreement.icc import (
    Estimates,
    cronbach_alpha,
    inter_rater,
    pearson,
    retest,
    standardise,
)
from weatherglass.reliability.lists import WordList
from weatherglass.reliability.scoring.scores import RATERS, RULES, ScoreTensor

Columns = dict[str, Any]
"""A tidy table, or a part of one: equally long columns by name; a single value stands for all rows."""

WORDS_AT_A_TIME = 4096
SCORES_AT_A_TIME = 2**24
"""128 MB in double precision."""
SCALES = ("raw", "standardised")
"""How rules are brought together: as they are (the paper), or each with one mean and standard deviation."""


@dataclass(frozen=True)
class Condition:
    """What a row of every table is about."""

    corpus: str
    algorithm: str
    pairs: str

    def columns(self) -> Columns:
        return {"corpus": self.corpus, "algorithm": self.algorithm, "pairs": self.pairs}


@dataclass(frozen=True)
class Assessment:
    """The tables of one condition, by name, each as parts that are put together later."""

    tables: Mapping[str, list[Columns]]
    averages: Mapping[str, Vector]
    """Of each rule: the scores of all words, averaged over seeds and pairs."""


def assess(
    condition: Condition, tensor: ScoreTensor, lists: Sequence[WordList], queries: Sequence[WordList]
) -> Assessment:
    """Every agreement table of one corpus, algorithm and set of base pairs.

    Args:
        lists: Target lists; words that the tensor lacks are passed over here and listed as missing elsewhere.
        queries: Sets of words that are thought to share one bias.
    """
    place = {word: number for number, word in enumerate(tensor.words)}
    rows = {target.name: _rows(target, place) for target in lists}
    means = {rule: tensor.mean(rule) for rule in RULES}
    words_retest = {rule: _in_blocks(tensor, rule) for rule in RULES}
    scaled = {scale: _raters(means, scale) for scale in SCALES}
    words_rater = {scale: inter_rater(tables) for scale, tables in scaled.items()}
    head = condition.columns()
    return Assessment(
        {
            "test_retest_words": [
                {**head, "rule": rule, "word": list(tensor.words), **_icc(estimates)}
                for rule, estimates in words_retest.items()
            ],
            "inter_rater_words": [
                {**head, "scale": scale, "word": list(tensor.words), **_icc(estimates)}
                for scale, estimates in words_rater.items()
            ],
            "test_retest_pairs": _retest_of_pairs(head, tensor, rows),
            "inter_rater_pairs": _raters_of_pairs(head, tensor, scaled, rows),
            "consistency_queries": _queries(head, means, queries, place),
            "consistency_pairs": _pair_set(head, means, rows),
            "pearson": [_pearson(head, means, one, other) for one, other in combinations(RATERS, 2)],
            "summary": [
                {**head, "measure": "test–retest", "by": rule, **_summary(name, chosen, estimates)}
                for rule, estimates in words_retest.items()
                for name, chosen in rows.items()
            ]
            + [
                {**head, "measure": "inter-rater", "by": scale, **_summary(name, chosen, estimates)}
                for scale, estimates in words_rater.items()
                for name, chosen in rows.items()
            ],
        },
        {rule: mean.mean(1) for rule, mean in means.items()},
    )


def five_numbers(values: Vector) -> dict[str, float]:
    """What a box plot shows; the whiskers end at the last value within 1.5 times the box."""
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


def _rows(target: WordList, place: Mapping[str, int]) -> Integers:
    return np.array([place[word] for word in target.words if word in place], dtype=np.int64)


def _icc(estimates: Estimates) -> Columns:
    return {"icc": estimates.value, "low": estimates.low, "high": estimates.high}


def _in_blocks(tensor: ScoreTensor, rule: str) -> Estimates:
    """Test–retest of every word; some words at a time, since pairs × seeds in double precision are many numbers."""
    return _joined(
        [
            retest(tensor.block(rule, slice(start, start + WORDS_AT_A_TIME)))
            for start in range(0, len(tensor.words), WORDS_AT_A_TIME)
        ]
    )


def _joined(parts: Sequence[Estimates]) -> Estimates:
    value, low, high = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("value", "low", "high")
    )
    return Estimates(value, low, high, parts[0].reason)


def _raters(means: Mapping[str, Matrix], scale: str) -> NDArray[np.float64]:
    """word × pair × rule."""
    scores = [means[rule] if scale == "raw" else standardise(means[rule]) for rule in RATERS]
    return np.stack(scores, axis=-1)


def _retest_of_pairs(head: Columns, tensor: ScoreTensor, rows: Mapping[str, Integers]) -> list[Columns]:
    parts = []
    for rule in RULES:
        for name, chosen in rows.items():
            estimates = _of_some_pairs_at_a_time(tensor, rule, chosen)
            parts.append({**head, "rule": rule, "list": name, **_of_pairs(tensor, estimates, chosen)})
    return parts


def _of_some_pairs_at_a_time(tensor: ScoreTensor, rule: str, chosen: Integers) -> Estimates:
    """Test–retest of every pair over many words, whose scores of all pairs and seeds may not fit in memory."""
    number = max(1, SCORES_AT_A_TIME // max(1, len(chosen) * len(tensor.seeds)))
    return _joined(
        [
            retest(tensor.of_pairs(some.tolist()).block(rule, chosen).swapaxes(0, 1), rows="words")
            for some in np.split(np.arange(len(tensor.pairs)), np.arange(number, len(tensor.pairs), number))
        ]
    )


def _raters_of_pairs(
    head: Columns,
    tensor: ScoreTensor,
    scaled: Mapping[str, NDArray[np.float64]],
    rows: Mapping[str, Integers],
) -> list[Columns]:
    parts = []
    for scale, tables in scaled.items():
        for name, chosen in rows.items():
            estimates = inter_rater(tables[chosen].swapaxes(0, 1), rows="words")
            parts.append({**head, "scale": scale, "list": name, **_of_pairs(tensor, estimates, chosen)})
    return parts


def _of_pairs(tensor: ScoreTensor, estimates: Estimates, chosen: Integers) -> Columns:
    names = [f"{first}–{second}" for first, second in tensor.pairs]
    return {"pair": names, **_icc(estimates), "words": len(chosen), "note": estimates.reason}


def _queries(
    head: Columns, means: Mapping[str, Matrix], queries: Sequence[WordList], place: Mapping[str, int]
) -> list[Columns]:
    """alpha of each query: its words are the items, base pairs the cases."""
    parts = []
    for rule in RULES:
        for query in queries:
            chosen = _rows(query, place)
            estimates = cronbach_alpha(means[rule][chosen].T, items="words of the query", cases="base pairs")
            parts.append(
                {**head, "rule": rule, "query": query.name, **_alpha(estimates, means[rule][chosen].T)}
            )
    return parts


def _pair_set(head: Columns, means: Mapping[str, Matrix], rows: Mapping[str, Integers]) -> list[Columns]:
    """alpha of the base pairs: they are the items, the words of a list the cases."""
    parts = []
    for rule in RULES:
        for name, chosen in rows.items():
            estimates = cronbach_alpha(means[rule][chosen], items="base pairs", cases="words")
            parts.append({**head, "rule": rule, "list": name, **_alpha(estimates, means[rule][chosen])})
    return parts


def _alpha(estimates: Estimates, table: Matrix) -> Columns:
    return {
        "alpha": float(estimates.value),
        "low": float(estimates.low),
        "high": float(estimates.high),
        "items": table.shape[1],
        "cases": table.shape[0],
        "note": estimates.reason,
    }


def _pearson(head: Columns, means: Mapping[str, Matrix], one: str, other: str) -> Columns:
    """Of scores averaged over seeds and pairs, over the whole vocabulary."""
    averages = {rule: means[rule].mean(1) for rule in (one, other)}
    return pearson_row(head, averages, one, other)


def pearson_row(head: Columns, averages: Mapping[str, Vector], one: str, other: str) -> Columns:
    """A row of the table: how two rules go together over words."""
    found = pearson(averages[one], averages[other])
    return {
        **head,
        "rules": f"{one}-{other}",
        "r": float(found.value),
        "low": float(found.low),
        "high": float(found.high),
        "words": len(averages[one]),
    }


def _summary(name: str, chosen: Integers, estimates: Estimates) -> Columns:
    """A box, and the medians of the intervals' ends."""
    with np.errstate(invalid="ignore"):
        low, high = (
            float(np.nanmedian(ends[chosen])) if np.isfinite(ends[chosen]).any() else float("nan")
            for ends in (estimates.low, estimates.high)
        )
    return {
        "list": name,
        "words": len(chosen),
        **five_numbers(estimates.value[chosen]),
        "median_low": low,
        "median_high": high,
        "note": estimates.reason,
    }
