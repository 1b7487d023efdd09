"""The figures of a study, drawn from its tables: one panel per corpus, nothing is computed here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

import matplotlib as mpl
import polars as pl

from weatherglass.reliability.assess import SCALES
from weatherglass.reliability.claims import CONSISTENCY, RATER, RETEST, THRESHOLDS
from weatherglass.reliability.plots import LABELS, Drawing, boxes, panels, points
from weatherglass.reliability.scores import RATERS

Tables = Mapping[str, pl.DataFrame]


def drawings(tables: Tables) -> Iterator[Drawing]:
    """Every figure of a study: for each set of base pairs and each algorithm, a panel per corpus."""
    if "summary" not in tables:
        return
    conditions = tables["summary"].select("pairs", "algorithm").unique(maintain_order=True)
    for pairs, algorithm in conditions.iter_rows():
        of_these = (pl.col("pairs") == pairs) & (pl.col("algorithm") == algorithm)
        mine = {
            name: table.filter(of_these)
            for name, table in tables.items()
            if "pairs" in table.columns and "algorithm" in table.columns
        }
        what = f"{algorithm}, {LABELS.get(pairs, pairs).replace('_', ' ')} pairs"
        for draw in FIGURES:
            yield from draw(mine, what, f"{pairs}-{algorithm}")


def retest_by_list(tables: Tables, what: str, key: str) -> Iterator[Drawing]:
    """Test–retest by target list and rule."""
    rows = tables["summary"].filter((pl.col("measure") == "test–retest") & pl.col("by").is_in(list(RATERS)))
    yield from panels(
        f"test-retest-{key}",
        f"Test–retest reliability: {what}",
        "ICC(2,1) of each word over seeds, by target list and scoring rule. Box: quartiles; whiskers: the last word "
        "within 1.5 boxes; dashed: 0.75, excellent.",
        rows,
        lambda axes, of_corpus: boxes(axes, of_corpus, "list", "by", RATERS),
        THRESHOLDS[RETEST],
        "ICC(2,1)",
        "median",
    )


def rater_by_list(tables: Tables, what: str, key: str) -> Iterator[Drawing]:
    """Inter-rater by target list and corpus; a panel for raw and one for standardised scores."""
    rows = tables["summary"].filter(pl.col("measure") == "inter-rater")
    corpora = rows["corpus"].unique(maintain_order=True).to_list()
    yield from panels(
        f"inter-rater-{key}",
        f"Inter-rater consistency: {what}",
        "ICC(3,1) of each word over the rules DB/WA, RIPA and NBM, by target list and corpus; scores as they are, and "
        "standardised. Dashed: 0.60, below which agreement is at most fair.",
        rows,
        lambda axes, of_scale: boxes(axes, of_scale, "list", "corpus", corpora),
        THRESHOLDS[RATER],
        "ICC(3,1)",
        "median",
        by="by",
        order=SCALES,
    )


def consistency_by_query(tables: Tables, what: str, key: str) -> Iterator[Drawing]:
    """Internal consistency by query."""
    yield from panels(
        f"consistency-{key}",
        f"Internal consistency: {what}",
        "Cronbach's alpha of each query with its 95 % interval, by scoring rule. Dashed: 0.70, acceptable.",
        tables["consistency_queries"].filter(pl.col("rule").is_in(list(RATERS))),
        lambda axes, of_corpus: points(axes, of_corpus, "query", "rule", RATERS, "alpha"),
        THRESHOLDS[CONSISTENCY],
        "alpha",
        "alpha",
        bottom=-1.0,
    )


def retest_by_pair(tables: Tables, what: str, key: str) -> Iterator[Drawing]:
    """Test–retest of each base pair over the frequent words."""
    rows = tables["test_retest_pairs"].filter(
        (pl.col("list") == "frequent") & pl.col("rule").is_in(list(RATERS))
    )
    yield from panels(
        f"test-retest-pairs-{key}",
        f"Test–retest reliability of each base pair: {what}",
        "ICC(2,1) over the frequent words with its 95 % interval, by scoring rule. Dashed: 0.75, excellent.",
        rows,
        lambda axes, of_corpus: points(axes, of_corpus, "pair", "rule", RATERS, "icc"),
        THRESHOLDS[RETEST],
        "ICC(2,1)",
        "icc",
    )


def rater_by_pair(tables: Tables, what: str, key: str) -> Iterator[Drawing]:
    """Inter-rater of each base pair over the frequent words."""
    rows = tables["inter_rater_pairs"].filter(pl.col("list") == "frequent")
    yield from panels(
        f"inter-rater-pairs-{key}",
        f"Inter-rater consistency of each base pair: {what}",
        "ICC(3,1) over the frequent words with its 95 % interval; scores as they are, and standardised. Dashed: 0.60.",
        rows,
        lambda axes, of_corpus: points(axes, of_corpus, "pair", "scale", SCALES, "icc"),
        THRESHOLDS[RATER],
        "ICC(3,1)",
        "icc",
    )


def seed_batches(tables: Tables, what: str, key: str) -> Iterator[Drawing]:
    """Box plots of disjoint batches of seeds, side by side."""
    if tables["seed_batches"].is_empty():
        return
    rows = tables["seed_batches"].with_columns(
        (pl.col("seeds").cast(str) + " seeds, " + pl.col("batch").cast(str)).alias("batch")
    )
    yield from panels(
        f"seed-batches-{key}",
        f"Are the seeds enough? Disjoint batches: {what}",
        "Test–retest of the frequent words, estimated from disjoint batches of seeds: where the boxes of one size "
        "differ, that many seeds are too few.",
        rows,
        lambda axes, of_corpus: boxes(axes, of_corpus, "batch", "rule", RATERS),
        THRESHOLDS[RETEST],
        "ICC(2,1)",
        "median",
    )


def seed_numbers(tables: Tables, what: str, key: str) -> Iterator[Drawing]:
    """The median estimate and its interval against the number of seeds."""
    if tables["seed_numbers"].is_empty():
        return
    yield from panels(
        f"seed-numbers-{key}",
        f"Are the seeds enough? Estimate by number of seeds: {what}",
        "Median test–retest of the frequent words with the medians of the interval's ends. Open symbols: more seeds "
        "than there are, extrapolated by the formula of the interval.",
        tables["seed_numbers"],
        lambda axes, of_corpus: points(axes, of_corpus, "seeds", "rule", RATERS, "icc"),
        THRESHOLDS[RETEST],
        "ICC(2,1)",
        "icc",
    )


FIGURES = (
    retest_by_list,
    rater_by_list,
    consistency_by_query,
    retest_by_pair,
    rater_by_pair,
    seed_batches,
    seed_numbers,
)
"""What is drawn of every set of base pairs and algorithm."""


def save_drawing(drawing: Drawing, folder: Path) -> Path:
    """Write NAME.png and NAME.svg; the path of the first."""
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, without_date in (("svg", {"Date": None}), ("png", {"Software": None})):
        path = folder / f"{drawing.name}.{suffix}"
        temporary = path.with_name(f".{path.name}.{os.getpid()}")
        with mpl.rc_context({"svg.hashsalt": drawing.name}):
            drawing.figure.savefig(temporary, format=suffix, dpi=110, metadata=without_date)
        temporary.replace(path)
    return folder / f"{drawing.name}.png"
