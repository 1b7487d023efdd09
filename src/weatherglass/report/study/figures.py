"""Draw the figures of a study from its tables, without computing any number.

`FigurePlan.published` has the numbers of the corresponding figures in the reproduction of Du et al.; where the paper
has a figure per corpus, weatherglass draws a panel per corpus.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import partial
from pathlib import Path

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes

from weatherglass.reliability.agreement.assess import SCALES
from weatherglass.reliability.agreement.claims import CONSISTENCY, ENSEMBLE, RATER, RETEST, THRESHOLDS
from weatherglass.reliability.agreement.comparisons import BASE_PAIRS, frequency_classes
from weatherglass.reliability.lists import VOCABULARY_LIST
from weatherglass.reliability.scoring import raters
from weatherglass.report.study.plots import (
    Drawing,
    FigurePlan,
    FigureSubject,
    Legend,
    Rows,
    boxes,
    panels,
    points,
)
from weatherglass.storage.atomic import whole_file

Tables = Mapping[str, pl.DataFrame]

LOWEST_ALPHA = -1.0
"""The lower end of the axis, since alpha has no lower bound."""

RETEST_BY_LIST = FigurePlan(
    "test-retest",
    "Test–retest reliability",
    "ICC(2,1) of each word over seeds, by target list and scoring rule. Boxes show quartiles, whiskers "
    "end at the last word within 1.5 box widths, and the dashed line is at 0.75 (excellent).",
    "ICC(2,1)",
    "median",
    THRESHOLDS[RETEST],
    published={
        "gender-sgns": "1a, 4–6",
        "gender-glove": "7–9",
        "sexual_orientation-sgns": "16–18",
        "sexual_orientation-glove": "19–21",
    },
)
RETEST_OF_PAIRS = FigurePlan(
    "test-retest-base-pairs",
    "Test–retest reliability of the base pairs",
    "ICC(2,1) of each base pair over seeds, by target list and scoring rule: each box covers the base "
    "pairs. Whiskers end at the last pair within 1.5 box widths, and the dashed line is at 0.75 (excellent).",
    "ICC(2,1)",
    "median",
    THRESHOLDS[RETEST],
    published={
        "gender-sgns": "1b, 10–12",
        "gender-glove": "13–15",
        "sexual_orientation-sgns": "22–24",
        "sexual_orientation-glove": "25–27",
    },
)
RATER_BY_LIST = FigurePlan(
    "inter-rater",
    "Inter-rater consistency",
    "ICC(3,1) of each word over the scoring rules, by target list and corpus, with raw and with "
    "standardised scores. Below the dashed line at 0.60, agreement is at most fair.",
    "ICC(3,1)",
    "median",
    THRESHOLDS[RATER],
    by="by",
    published={
        "gender-sgns": "28",
        "gender-glove": "2a, 30",
        "sexual_orientation-sgns": "32",
        "sexual_orientation-glove": "34",
    },
)
RATER_OF_PAIRS = FigurePlan(
    "inter-rater-base-pairs",
    "Inter-rater consistency of the base pairs",
    "ICC(3,1) of each base pair over the scoring rules, by target list and corpus: each box covers the "
    "base pairs, with raw and with standardised scores. Below the dashed line at 0.60, agreement is at "
    "most fair.",
    "ICC(3,1)",
    "median",
    THRESHOLDS[RATER],
    by="by",
    published={
        "gender-sgns": "29",
        "gender-glove": "2b, 31",
        "sexual_orientation-sgns": "33",
        "sexual_orientation-glove": "35",
    },
)
CONSISTENCY_OVER_ALGORITHMS = FigurePlan(
    "consistency-boxes",
    "Internal consistency over algorithms and rules",
    "Cronbach's alpha of each query, and of the ensemble of base pairs over the frequent words, by "
    "corpus: each box covers the algorithms and scoring rules. Dashed: 0.70, acceptable.",
    "alpha",
    "median",
    THRESHOLDS[CONSISTENCY],
    by="pairs",
    bottom=LOWEST_ALPHA,
    panel_width=8.0,
    published={"gender": "3, 36", "sexual_orientation": "37"},
)
RETEST_OF_EACH_PAIR = FigurePlan(
    "test-retest-each-pair",
    "Test–retest reliability of each base pair over all conditions",
    "ICC(2,1) of each base pair on the whole vocabularies: each box covers the corpora, algorithms and "
    "scoring rules. "
    "Dashed: 0.75, excellent.",
    "ICC(2,1)",
    "median",
    THRESHOLDS[RETEST],
    by="pairs",
    panel_width=8.0,
    published={"gender": "38", "sexual_orientation": "40"},
)
RATER_OF_EACH_PAIR = FigurePlan(
    "inter-rater-each-pair",
    "Inter-rater consistency of each base pair over all conditions",
    "ICC(3,1) of each base pair on the whole vocabularies, with raw scores: each box covers the corpora "
    "and algorithms. "
    "Dashed: 0.60.",
    "ICC(3,1)",
    "median",
    THRESHOLDS[RATER],
    by="pairs",
    panel_width=8.0,
    published={"gender": "39", "sexual_orientation": "41"},
)
CONSISTENCY_BY_QUERY = FigurePlan(
    "consistency",
    "Internal consistency",
    "Cronbach's alpha of each query, and of the base pairs over the frequent words, with its 95 % interval, by scoring "
    "rule. Dashed: 0.70, acceptable; "
    "triangles: below −1. A query without points has fewer than 5 words in the vocabulary.",
    "alpha",
    "alpha",
    THRESHOLDS[CONSISTENCY],
    bottom=LOWEST_ALPHA,
)
RETEST_BY_PAIR = FigurePlan(
    "test-retest-pairs",
    "Test–retest reliability of each base pair",
    "ICC(2,1) over the whole vocabulary with its 95 % interval, by scoring rule. Dashed: 0.75, excellent.",
    "ICC(2,1)",
    "icc",
    THRESHOLDS[RETEST],
)
RATER_BY_PAIR = FigurePlan(
    "inter-rater-pairs",
    "Inter-rater consistency of each base pair",
    "ICC(3,1) over the whole vocabulary with its 95 % interval, with raw and with standardised scores. "
    "Dashed: 0.60.",
    "ICC(3,1)",
    "icc",
    THRESHOLDS[RATER],
)
SEED_BATCHES = FigurePlan(
    "seed-batches",
    "Are the seeds enough? Disjoint batches",
    "Test–retest of the frequent words, estimated from disjoint batches of seeds: if the boxes for one "
    "number of seeds differ, that number is too small.",
    "ICC(2,1)",
    "median",
    THRESHOLDS[RETEST],
)
SEED_NUMBERS = FigurePlan(
    "seed-numbers",
    "Are the seeds enough? Estimate by number of seeds",
    "Median test–retest of the frequent words with the medians of the interval's ends. Open symbols: "
    "extrapolated to more seeds with the formula of the interval.",
    "ICC(2,1)",
    "icc",
    THRESHOLDS[RETEST],
    across="seeds",
)

BY_FREQUENCY = FigurePlan(
    "frequency",
    "Why does one corpus agree better? Reliability by frequency",
    "Median and quartiles of the ICC of the target words and frequent words, by how often a word occurs per million: "
    "if the corpora differ at the same frequency, frequency is not the reason. Test–retest is the mean over the "
    "scoring rules; inter-rater consistency uses raw scores.",
    "ICC",
    "median",
    float("nan"),
    by="measure",
    across="occurrences per million",
    panel_width=5.2,
)

PLANS = (
    RETEST_BY_LIST,
    RETEST_OF_PAIRS,
    RATER_BY_LIST,
    RATER_OF_PAIRS,
    CONSISTENCY_OVER_ALGORITHMS,
    CONSISTENCY_BY_QUERY,
    RETEST_OF_EACH_PAIR,
    RATER_OF_EACH_PAIR,
    RETEST_BY_PAIR,
    RATER_BY_PAIR,
    SEED_BATCHES,
    SEED_NUMBERS,
    BY_FREQUENCY,
)


def drawings(tables: Tables) -> Iterator[Drawing]:
    """Draw every figure of a study, first for each set of base pairs and algorithm, then for each set over all
    algorithms.
    """
    conditions = tables["summary"].select("pairs", "algorithm").unique(maintain_order=True)
    for pairs, algorithm in conditions.iter_rows():
        condition = (pl.col("pairs") == pairs) & (pl.col("algorithm") == algorithm)
        selected = {  # An empty table, such as that of batches of a single seed, is not filtered.
            name: table if table.is_empty() else table.filter(condition)
            for name, table in tables.items()
            if table.is_empty() or {"pairs", "algorithm"} <= set(table.columns)
        }
        for draw in FIGURES:
            yield from draw(selected, FigureSubject(pairs, algorithm))
    for pairs in conditions["pairs"].unique(maintain_order=True).to_list():
        for draw in FIGURES_OF_A_SET:
            yield from draw(tables, FigureSubject(pairs))


def _compared(rows: pl.DataFrame, column: str = "rule") -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return the rows and the names of the compared rules, in the study's order."""
    rules = raters(rows[column].unique(maintain_order=True).to_list())
    return rows.filter(pl.col(column).is_in(rules)), rules


def retest_boxes(plan: FigurePlan, table: str, tables: Tables, subject: FigureSubject) -> Iterator[Drawing]:
    """Draw test–retest reliability by target list and rule, from the table of words or of base pairs."""
    rows, rules = _compared(tables[table].filter(pl.col("measure") == "test–retest"), "by")
    yield from panels(plan, subject, rows, lambda axes, part: boxes(axes, part, "list", "by", rules))


def rater_boxes(plan: FigurePlan, table: str, tables: Tables, subject: FigureSubject) -> Iterator[Drawing]:
    """Draw inter-rater consistency by target list and corpus, with a panel for raw scores and one for standardised
    scores.
    """
    rows = tables[table].filter(pl.col("measure") == "inter-rater")
    corpora = _estimated_corpora(rows)
    yield from panels(plan, subject, rows, lambda axes, part: boxes(axes, part, "list", "corpus", corpora))


def _estimated_corpora(rows: pl.DataFrame) -> list[str]:
    return list(rows.filter(pl.col("median").is_finite())["corpus"].unique(maintain_order=True))


def consistency_over_algorithms(tables: Tables, subject: FigureSubject) -> Iterator[Drawing]:
    """Draw the internal consistency of queries and base pairs as boxes over algorithms and rules, by corpus."""
    rows = tables["summary_consistency"].filter(pl.col("pairs") == subject.pairs)
    corpora = _estimated_corpora(rows)
    queries = rows["query"].unique(maintain_order=True).to_list()
    yield from panels(
        CONSISTENCY_OVER_ALGORITHMS,
        subject,
        rows,
        lambda axes, part: boxes(axes, part, "query", "corpus", corpora, queries),
    )


def each_pair(plan: FigurePlan, measure: str, tables: Tables, subject: FigureSubject) -> Iterator[Drawing]:
    """Draw a measure of each base pair as a box over corpora, algorithms and, for test–retest reliability, rules."""
    own = (pl.col("pairs") == subject.pairs) & (pl.col("measure") == measure)
    rows = tables["summary_each_pair"].filter(own)

    def draw(axes: Axes, part: Rows) -> Legend:
        boxes(axes, part, "pair", "pairs", [subject.pairs])
        return []  # The title names the set.

    yield from panels(plan, subject, rows, draw)


def consistency_by_query(tables: Tables, subject: FigureSubject) -> Iterator[Drawing]:
    """Draw the internal consistency of each query and of the base pairs."""
    # The interval in the claims covers other base pairs; that of the formula covers only other words.
    judged = tables["claims"].filter((pl.col("claim") == ENSEMBLE) & pl.col("median").is_finite())
    named = judged.rename({"by": "rule", "median": "alpha"}).with_columns(query=pl.lit(BASE_PAIRS))
    columns = ["corpus", "rule", "query", "alpha", "low", "high"]
    rows, rules = _compared(pl.concat([tables["consistency_queries"].select(columns), named.select(columns)]))
    queries = rows["query"].unique(maintain_order=True).to_list()
    yield from panels(
        CONSISTENCY_BY_QUERY,
        subject,
        rows,
        lambda axes, part: points(axes, part, "query", "rule", rules, "alpha", LOWEST_ALPHA, queries),
    )


def retest_by_pair(tables: Tables, subject: FigureSubject) -> Iterator[Drawing]:
    """Draw the test–retest reliability of each base pair over the whole vocabulary."""
    rows, rules = _compared(tables["test_retest_pairs"].filter(pl.col("list") == VOCABULARY_LIST))
    yield from panels(
        RETEST_BY_PAIR, subject, rows, lambda axes, part: points(axes, part, "pair", "rule", rules, "icc")
    )


def rater_by_pair(tables: Tables, subject: FigureSubject) -> Iterator[Drawing]:
    """Draw the inter-rater consistency of each base pair over the whole vocabulary."""
    rows = tables["inter_rater_pairs"].filter(pl.col("list") == VOCABULARY_LIST)
    yield from panels(
        RATER_BY_PAIR, subject, rows, lambda axes, part: points(axes, part, "pair", "scale", SCALES, "icc")
    )


def seed_batches(tables: Tables, subject: FigureSubject) -> Iterator[Drawing]:
    """Draw box plots of disjoint batches of seeds, side by side."""
    if tables["seed_batches"].is_empty():
        return
    name = pl.col("seeds").cast(str) + " seeds, batch " + pl.col("batch").cast(str)
    rows, rules = _compared(tables["seed_batches"].with_columns(name.alias("batch")))
    yield from panels(
        SEED_BATCHES, subject, rows, lambda axes, part: boxes(axes, part, "batch", "rule", rules)
    )


def seed_numbers(tables: Tables, subject: FigureSubject) -> Iterator[Drawing]:
    """Draw the median estimate and its interval against the number of seeds."""
    if tables["seed_numbers"].is_empty():
        return
    rows, rules = _compared(tables["seed_numbers"])
    yield from panels(
        SEED_NUMBERS, subject, rows, lambda axes, part: points(axes, part, "seeds", "rule", rules, "icc")
    )


def by_frequency(tables: Tables, subject: FigureSubject) -> Iterator[Drawing]:
    """Draw reliability by frequency class, with corpora side by side; draw nothing for a single corpus."""
    rows = tables["corpus_curves"]
    if rows.is_empty() or rows["corpus"].n_unique() < 2:
        return
    corpora = rows["corpus"].unique(maintain_order=True).to_list()
    there = set(rows["per_million"])
    classes = [name for name in frequency_classes() if name in there]
    yield from panels(
        BY_FREQUENCY,
        subject,
        rows,
        lambda axes, part: points(axes, part, "per_million", "corpus", corpora, "median", groups=classes),
    )


Draw = Callable[[Tables, FigureSubject], Iterator[Drawing]]
FIGURES: tuple[Draw, ...] = (
    partial(retest_boxes, RETEST_BY_LIST, "summary"),
    partial(retest_boxes, RETEST_OF_PAIRS, "summary_pairs"),
    partial(rater_boxes, RATER_BY_LIST, "summary"),
    partial(rater_boxes, RATER_OF_PAIRS, "summary_pairs"),
    consistency_by_query,
    retest_by_pair,
    rater_by_pair,
    seed_batches,
    seed_numbers,
    by_frequency,
)
"""The figures for every set of base pairs and algorithm."""
FIGURES_OF_A_SET: tuple[Draw, ...] = (
    consistency_over_algorithms,
    partial(each_pair, RETEST_OF_EACH_PAIR, "test–retest"),
    partial(each_pair, RATER_OF_EACH_PAIR, "inter-rater"),
)
"""The figures for every set of base pairs, over all corpora and algorithms."""


def remove_outdated_figures(folder: Path, drawn: Collection[str]) -> None:
    """Remove figures that the changed study file no longer defines; keep other files."""
    prefixes = (*(f"{plan.name}-" for plan in PLANS), "regression-")
    for path in folder.glob("*.*"):
        if path.suffix in (".png", ".svg") and path.name.startswith(prefixes) and path.stem not in drawn:
            path.unlink()


def save_drawing(drawing: Drawing, folder: Path) -> Path:
    """Write NAME.png and NAME.svg; return the path of the PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    # The layout takes as long as drawing; its positions are fractions of the figure, so both files share them.
    drawing.figure.set_dpi(110)
    drawing.figure.draw_without_rendering()
    drawing.figure.set_layout_engine("none")
    for suffix, without_date in (("svg", {"Date": None}), ("png", {"Software": None})):
        path = folder / f"{drawing.name}.{suffix}"
        with (
            whole_file(path) as unfinished,
            mpl.rc_context({"svg.hashsalt": drawing.name, "svg.fonttype": "none"}),
        ):
            drawing.figure.savefig(unfinished, format=suffix, dpi=110, metadata=without_date)
    return folder / f"{drawing.name}.png"
