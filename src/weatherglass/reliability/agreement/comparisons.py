"""Compare sets of base pairs, and corpora, from the tables of a study.

The box plots are those of Figures 1b, 2b, 3 and 10 to 41 in the reproduction of Du et al., which compares them in
section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from weatherglass.arrays import Vector
from weatherglass.reliability.agreement.assess import five_number_summary
from weatherglass.reliability.agreement.icc import FEWEST, too_few
from weatherglass.reliability.lists import FREQUENT_LIST, VOCABULARY_LIST, StudyWordList
from weatherglass.reliability.study import Group
from weatherglass.reliability.tables import Columns
from weatherglass.reliability.training.embedding import load_embedding

if TYPE_CHECKING:
    from weatherglass.arrays import Vector

BASE_PAIRS = "base pairs"
"""The name under which the base pairs appear among the queries."""
RAW = "raw"
"""The scale on which the paper compares its rules."""
Tables = Mapping[str, pl.DataFrame]


def pair_boxes(tables: Tables) -> Iterator[Columns]:
    """Yield the rows of `summary_pairs`, which are boxes over base pairs for each condition, rule or scale, and target
    list.
    """
    keys = ["corpus", "algorithm", "pairs"]
    for measure, name, by in _PAIR_TABLES:
        for key, part in tables[name].group_by([*keys, by, "list"], maintain_order=True):
            few = too_few("base pairs", part.height)
            values = _values(part, "icc")
            yield {
                **dict(zip([*keys, "by", "list"], key, strict=True)),
                "measure": measure,
                "base_pairs": part.height,
                **five_number_summary(values * np.nan if few else values),
                "note": few or part["note"][0],
            }


def consistency_boxes(tables: Tables, rules: Sequence[str]) -> Iterator[Columns]:
    """Yield the rows of `summary_consistency`, which are boxes of each query and of the base pairs over algorithms and
    rules.

    Args:
        tables: the tables of the study.
        rules: the compared rules.
    """
    ensembles = tables["consistency_pairs"].filter(pl.col("list") == FREQUENT_LIST)
    columns = ["corpus", "algorithm", "pairs", "rule", "query", "alpha"]
    alphas = pl.concat(
        [
            tables["consistency_queries"].select(columns),
            ensembles.with_columns(query=pl.lit(BASE_PAIRS)).select(columns),
        ]
    ).filter(pl.col("rule").is_in(list(rules)))
    # Grouped by corpus and set first, so that the base pairs follow their queries.
    for (corpus, pairs), own in alphas.group_by(["corpus", "pairs"], maintain_order=True):
        for (query,), part in own.group_by(["query"], maintain_order=True):
            values = _values(part, "alpha")
            yield {
                "corpus": corpus,
                "pairs": pairs,
                "query": query,
                "scores": int(np.isfinite(values).sum()),
                **five_number_summary(values),
            }


def each_pair_boxes(tables: Tables, rules: Sequence[str]) -> Iterator[Columns]:
    """Yield the rows of `summary_each_pair`, which are boxes of each base pair over corpora, algorithms and rules.

    All words of the vocabularies are used; rules are compared by their raw scores, as in the paper.
    """
    for measure, name, by in _PAIR_TABLES:
        compared = list(rules) if by == "rule" else [RAW]
        rows = tables[name].filter((pl.col("list") == VOCABULARY_LIST) & pl.col(by).is_in(compared))
        for (pairs, pair), part in rows.group_by(["pairs", "pair"], maintain_order=True):
            values = _values(part, "icc")
            yield {
                "pairs": pairs,
                "measure": measure,
                "pair": pair,
                "scores": int(np.isfinite(values).sum()),
                **five_number_summary(values),
            }


def compare_sets(tables: Tables, rules: Sequence[str]) -> Iterator[Columns]:
    """Yield the rows of `pair_sets`, which compare the first set of base pairs with every other set, by measure.

    Only conditions in which both sets can be estimated are counted.

    Args:
        tables: the tables of the study, including the boxes.
        rules: the compared rules.
    """
    sets = tables["pairs"]["pairs"].unique(maintain_order=True).to_list()
    for measure, unit, rows in _compared(tables, rules):
        known = rows.filter(pl.col("value").is_finite())
        for other in sets[1:]:
            first, second = (known.filter(pl.col("pairs") == name).drop("pairs") for name in (sets[0], other))
            keys = [column for column in first.columns if column not in ("value", "width")]
            both = first.join(second, on=keys, suffix="_other", maintain_order="left")
            if not both.is_empty():
                yield {
                    "measure": measure,
                    "unit": unit,
                    "first": sets[0],
                    "second": other,
                    "conditions": both.height,
                    **_described("first", _values(both, "value"), _values(both, "width")),
                    **_described("second", _values(both, "value_other"), _values(both, "width_other")),
                    "higher": int((both["value_other"] > both["value"]).sum()),
                    "wider": int((both["width_other"] > both["width"]).sum()),
                }


_PAIR_TABLES = (
    ("test–retest", "test_retest_pairs", "rule"),
    ("inter-rater", "inter_rater_pairs", "scale"),
)


def _compared(tables: Tables, rules: Sequence[str]) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Yield each measure and unit with a table of its conditions: their keys, set, median and height of the box."""
    width = (pl.col("upper_quartile") - pl.col("lower_quartile")).alias("width")
    value = pl.col("median").alias("value")
    for measure, _, by in _PAIR_TABLES:
        compared = list(rules) if by == "rule" else [RAW]
        chosen = (pl.col("measure") == measure) & pl.col("by").is_in(compared)
        for unit, name in (("words", "summary"), (BASE_PAIRS, "summary_pairs")):
            rows = tables[name].filter(chosen)
            yield measure, unit, rows.select("pairs", "corpus", "algorithm", "by", "list", value, width)
    of_queries = tables["summary_consistency"].filter(pl.col("query") != BASE_PAIRS)
    yield "alpha", "queries", of_queries.select("pairs", "corpus", "query", value, width)
    ensembles = tables["consistency_pairs"].filter(
        (pl.col("list") == FREQUENT_LIST) & pl.col("rule").is_in(list(rules))
    )
    yield (
        "alpha",
        BASE_PAIRS,
        ensembles.select(
            "pairs", "corpus", "algorithm", "rule", value=pl.col("alpha"), width=pl.lit(None, pl.Float64)
        ),
    )


def _described(which: str, values: Vector, widths: Vector) -> Columns:
    """Return the median, the range, and the median height of the boxes, which is NaN if there are no boxes."""
    return {
        f"{which}_median": float(np.median(values)),
        f"{which}_low": float(values.min()),
        f"{which}_high": float(values.max()),
        f"{which}_width": float(np.median(widths[np.isfinite(widths)]))
        if np.isfinite(widths).any()
        else float("nan"),
    }


def _values(rows: pl.DataFrame, column: str) -> Vector:
    values: Vector = rows[column].cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return values


MEASURES = {"retest": "test–retest", "rater": "inter-rater"}
"""Measures by column: the mean ICC over seeds of the compared rules, and the ICC over rules for raw scores."""
ALIKE = 0.5
"""The largest |log₂ ratio| of a word's two frequencies at which it counts as equally frequent in both corpora."""
EDGES = (0, 1, 3, 10, 30, 100, 300, 1000)
"""The lower ends of the frequency classes, in occurrences per million tokens."""
KEYS = ["algorithm", "pairs"]


def listed_words(group: Group, lists: Sequence[StudyWordList]) -> pl.DataFrame:
    """Return the target words and frequent words of one group, with their occurrences per million tokens.

    The frequency is NaN if imported files have no counts.
    """
    wanted = {word for one in lists if one.name != VOCABULARY_LIST for word in one.words}
    source = group.encoded or load_embedding(group.paths[0])
    total = float(source.counts.sum())
    found = [
        (word, 1e6 * float(count) / total if total else float("nan"))
        for word, count in zip(source.words, source.counts.tolist(), strict=True)
        if word in wanted
    ]
    return pl.DataFrame(
        {
            "corpus": [group.corpus] * len(found),
            "algorithm": [group.algorithm] * len(found),
            "word": [word for word, _ in found],
            "per_million": [frequency for _, frequency in found],
        },
        schema={"corpus": pl.String, "algorithm": pl.String, "word": pl.String, "per_million": pl.Float64},
    )


def reliabilities(
    tables: Mapping[str, pl.DataFrame], words: Sequence[pl.DataFrame], rules: Sequence[str]
) -> pl.DataFrame:
    """Return a row per word and condition, with frequency, test–retest reliability and inter-rater reliability.

    Args:
        tables: the tables of the study.
        words: the results of `listed_words`.
        rules: the compared rules.
    """
    keys = ["corpus", "algorithm", "pairs", "word"]
    known = pl.col("icc").is_finite()
    retest = (
        tables["test_retest_words"]
        .filter(pl.col("rule").is_in(list(rules)) & known)
        .group_by(keys, maintain_order=True)
        .agg(pl.col("icc").mean().alias("retest"))
    )
    rater = tables["inter_rater_words"].filter((pl.col("scale") == RAW) & known)
    rated = rater.select(*keys, pl.col("icc").alias("rater"))
    listed = pl.concat(words) if words else pl.DataFrame(schema=dict.fromkeys(keys, pl.String))
    return (
        retest.join(rated, on=keys, how="full", coalesce=True, maintain_order="left_right")
        .join(listed, on=["corpus", "algorithm", "word"], maintain_order="left")
        .select(*keys, "per_million", "retest", "rater")
    )


def corpus_words(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the words that two corpora share, with both frequencies and reliabilities.

    Args:
        rows: the result of `reliabilities`.
    """
    values = ["per_million", *MEASURES]
    parts = []
    corpora = rows["corpus"].unique(maintain_order=True).to_list()
    for first, second in combinations(corpora, 2):
        one, other = (
            rows.filter(pl.col("corpus") == corpus).drop("corpus").rename({v: f"{side}_{v}" for v in values})
            for corpus, side in ((first, "first"), (second, "second"))
        )
        both = one.join(other, on=[*KEYS, "word"], maintain_order="left")
        parts.append(both.with_columns(first=pl.lit(first), second=pl.lit(second)))
    return pl.concat(parts) if parts else pl.DataFrame()


def compare_corpora(words: pl.DataFrame) -> Iterator[Columns]:
    """Yield the rows of `corpus_pairs`, which compare two corpora over their common words.

    Args:
        words: the result of `corpus_words`.
    """
    if words.is_empty():
        return
    for key, part in words.group_by(["first", "second", *KEYS], maintain_order=True):
        for column, measure in MEASURES.items():
            one, other = (_values(part, f"{side}_{column}") for side in ("first", "second"))
            known = np.isfinite(one) & np.isfinite(other)
            if known.sum() < FEWEST:
                continue
            difference = (other - one)[known]
            with np.errstate(divide="ignore", invalid="ignore"):
                frequencies = _values(part, "second_per_million") / _values(part, "first_per_million")
                ratio = np.log2(frequencies)[known]
            alike = np.abs(ratio) <= ALIKE
            yield {
                **dict(zip(["first", "second", *KEYS], key, strict=True)),
                "measure": measure,
                "words": int(known.sum()),
                "first_median": float(np.median(one[known])),
                "second_median": float(np.median(other[known])),
                "difference": float(np.median(difference)),
                "alike_words": int(alike.sum()),
                "alike_difference": float(np.median(difference[alike]))
                if alike.sum() >= FEWEST
                else float("nan"),
                "correlation": _rank_correlation(ratio, difference),
            }


def frequency_curves(rows: pl.DataFrame) -> Iterator[Columns]:
    """Yield the rows of `corpus_curves`, which are quartiles of reliability by frequency class.

    There are no rows for a study of one corpus. Words of unknown frequency are left out.

    Args:
        rows: the result of `reliabilities`.
    """
    if rows["corpus"].n_unique() < 2:
        return
    for key, part in rows.group_by(["corpus", *KEYS], maintain_order=True):
        frequency = _values(part, "per_million")
        for column, measure in MEASURES.items():
            values = _values(part, column)
            ends = zip(frequency_classes(), EDGES, (*EDGES[1:], np.inf), strict=True)
            for name, low, high in ends:
                own = values[(frequency >= low) & (frequency < high) & np.isfinite(values)]
                if len(own) >= FEWEST:
                    lower, median, upper = np.quantile(own, [0.25, 0.5, 0.75])
                    yield {
                        **dict(zip(["corpus", *KEYS], key, strict=True)),
                        "measure": measure,
                        "per_million": name,
                        "words": len(own),
                        "low": float(lower),
                        "median": float(median),
                        "high": float(upper),
                    }


def frequency_classes() -> list[str]:
    """Return the names of the frequency classes, in order."""
    return [*(f"{low}–{high}" for low, high in pairwise(EDGES)), f"≥ {EDGES[-1]}"]


def _rank_correlation(one: Vector, other: Vector) -> float:
    from scipy.stats import spearmanr

    finite = np.isfinite(one)
    if finite.sum() < FEWEST or not np.ptp(one[finite]) or not np.ptp(other[finite]):
        return float("nan")
    return float(spearmanr(one[finite], other[finite]).statistic)
