"""The figures of a study, drawn from its tables, one panel per corpus; nothing is computed here."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import matplotlib as mpl
import polars as pl

from weatherglass.reliability.agreement.assess import SCALES
from weatherglass.reliability.agreement.claims import CONSISTENCY, RATER, RETEST, THRESHOLDS
from weatherglass.reliability.scoring.rules import raters
from weatherglass.report.study.plots import Drawing, Plan, Subject, boxes, panels, points
from weatherglass.storage.atomic import whole_file

Tables = Mapping[str, pl.DataFrame]

LOWEST_ALPHA = -1.0
"""Lower end of the axis; alpha has no lower bound."""

RETEST_BY_LIST = Plan(
    "test-retest",
    "Test–retest reliability",
    "ICC(2,1) of each word over seeds, by target list and scoring rule. Box: quartiles; whiskers: the last word within "
    "1.5 boxes; dashed: 0.75, excellent.",
    "ICC(2,1)",
    "median",
    THRESHOLDS[RETEST],
)
RATER_BY_LIST = Plan(
    "inter-rater",
    "Inter-rater consistency",
    "ICC(3,1) of each word over the scoring rules, by target list and corpus; scores as they are, and "
    "standardised. Dashed: 0.60, below which agreement is at most fair.",
    "ICC(3,1)",
    "median",
    THRESHOLDS[RATER],
    by="by",
)
CONSISTENCY_BY_QUERY = Plan(
    "consistency",
    "Internal consistency",
    "Cronbach's alpha of each query with its 95 % interval, by scoring rule. Dashed: 0.70, acceptable; "
    "triangles: below −1. A query without points has fewer than 5 words in the vocabulary.",
    "alpha",
    "alpha",
    THRESHOLDS[CONSISTENCY],
    bottom=LOWEST_ALPHA,
)
RETEST_BY_PAIR = Plan(
    "test-retest-pairs",
    "Test–retest reliability of each base pair",
    "ICC(2,1) over the frequent words with its 95 % interval, by scoring rule. Dashed: 0.75, excellent.",
    "ICC(2,1)",
    "icc",
    THRESHOLDS[RETEST],
)
RATER_BY_PAIR = Plan(
    "inter-rater-pairs",
    "Inter-rater consistency of each base pair",
    "ICC(3,1) over the frequent words with its 95 % interval; scores as they are, and standardised. Dashed: 0.60.",
    "ICC(3,1)",
    "icc",
    THRESHOLDS[RATER],
)
SEED_BATCHES = Plan(
    "seed-batches",
    "Are the seeds enough? Disjoint batches",
    "Test–retest of the frequent words, estimated from disjoint batches of seeds: where the boxes of one size differ, "
    "that many seeds are too few.",
    "ICC(2,1)",
    "median",
    THRESHOLDS[RETEST],
)
SEED_NUMBERS = Plan(
    "seed-numbers",
    "Are the seeds enough? Estimate by number of seeds",
    "Median test–retest of the frequent words with the medians of the interval's ends. Open symbols: more seeds than "
    "there are, extrapolated by the formula of the interval.",
    "ICC(2,1)",
    "icc",
    THRESHOLDS[RETEST],
    across="seeds",
)

PLANS = (
    RETEST_BY_LIST,
    RATER_BY_LIST,
    CONSISTENCY_BY_QUERY,
    RETEST_BY_PAIR,
    RATER_BY_PAIR,
    SEED_BATCHES,
    SEED_NUMBERS,
)


def drawings(tables: Tables) -> Iterator[Drawing]:
    """Every figure of a study: for each set of base pairs and each algorithm, a panel per corpus."""
    conditions = tables["summary"].select("pairs", "algorithm").unique(maintain_order=True)
    for pairs, algorithm in conditions.iter_rows():
        condition = (pl.col("pairs") == pairs) & (pl.col("algorithm") == algorithm)
        selected = {  # An empty table, such as that of batches of a single seed, is passed on as it is.
            name: table if table.is_empty() else table.filter(condition)
            for name, table in tables.items()
            if table.is_empty() or {"pairs", "algorithm"} <= set(table.columns)
        }
        for draw in FIGURES:
            yield from draw(selected, Subject(pairs, algorithm))


def _compared(rows: pl.DataFrame, column: str = "rule") -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows of the rules that are compared with one another, and their names in the study's order."""
    rules = raters(rows[column].unique(maintain_order=True).to_list())
    return rows.filter(pl.col(column).is_in(rules)), rules


def retest_by_list(tables: Tables, subject: Subject) -> Iterator[Drawing]:
    """Test–retest by target list and rule."""
    rows, rules = _compared(tables["summary"].filter(pl.col("measure") == "test–retest"), "by")
    yield from panels(
        RETEST_BY_LIST, subject, rows, lambda axes, part: boxes(axes, part, "list", "by", rules)
    )


def rater_by_list(tables: Tables, subject: Subject) -> Iterator[Drawing]:
    """Inter-rater by target list and corpus; a panel for raw and one for standardised scores."""
    rows = tables["summary"].filter(pl.col("measure") == "inter-rater")
    estimated = rows.filter(pl.col("median").is_finite())
    corpora = estimated["corpus"].unique(maintain_order=True).to_list()
    yield from panels(
        RATER_BY_LIST, subject, rows, lambda axes, part: boxes(axes, part, "list", "corpus", corpora)
    )


def consistency_by_query(tables: Tables, subject: Subject) -> Iterator[Drawing]:
    """Internal consistency by query."""
    rows, rules = _compared(tables["consistency_queries"])
    queries = rows["query"].unique(maintain_order=True).to_list()
    yield from panels(
        CONSISTENCY_BY_QUERY,
        subject,
        rows,
        lambda axes, part: points(axes, part, "query", "rule", rules, "alpha", LOWEST_ALPHA, queries),
    )


def retest_by_pair(tables: Tables, subject: Subject) -> Iterator[Drawing]:
    """Test–retest of each base pair over the frequent words."""
    rows, rules = _compared(tables["test_retest_pairs"].filter(pl.col("list") == "frequent"))
    yield from panels(
        RETEST_BY_PAIR, subject, rows, lambda axes, part: points(axes, part, "pair", "rule", rules, "icc")
    )


def rater_by_pair(tables: Tables, subject: Subject) -> Iterator[Drawing]:
    """Inter-rater of each base pair over the frequent words."""
    rows = tables["inter_rater_pairs"].filter(pl.col("list") == "frequent")
    yield from panels(
        RATER_BY_PAIR, subject, rows, lambda axes, part: points(axes, part, "pair", "scale", SCALES, "icc")
    )


def seed_batches(tables: Tables, subject: Subject) -> Iterator[Drawing]:
    """Box plots of disjoint batches of seeds, side by side."""
    if tables["seed_batches"].is_empty():
        return
    name = pl.col("seeds").cast(str) + " seeds, batch " + pl.col("batch").cast(str)
    rows, rules = _compared(tables["seed_batches"].with_columns(name.alias("batch")))
    yield from panels(
        SEED_BATCHES, subject, rows, lambda axes, part: boxes(axes, part, "batch", "rule", rules)
    )


def seed_numbers(tables: Tables, subject: Subject) -> Iterator[Drawing]:
    """The median estimate and its interval against the number of seeds."""
    if tables["seed_numbers"].is_empty():
        return
    rows, rules = _compared(tables["seed_numbers"])
    yield from panels(
        SEED_NUMBERS, subject, rows, lambda axes, part: points(axes, part, "seeds", "rule", rules, "icc")
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
"""The figures of every set of base pairs and algorithm."""


def remove_outdated_figures(folder: Path, drawn: Collection[str]) -> None:
    """Remove figures that the study no longer has, after a change of its file; other files stay."""
    prefixes = (*(f"{plan.name}-" for plan in PLANS), "regression-")
    for path in folder.glob("*.*"):
        if path.suffix in (".png", ".svg") and path.name.startswith(prefixes) and path.stem not in drawn:
            path.unlink()


def save_drawing(drawing: Drawing, folder: Path) -> Path:
    """Write NAME.png and NAME.svg; return the path of the PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    for suffix, without_date in (("svg", {"Date": None}), ("png", {"Software": None})):
        path = folder / f"{drawing.name}.{suffix}"
        with (
            whole_file(path) as unfinished,
            mpl.rc_context({"svg.hashsalt": drawing.name, "svg.fonttype": "none"}),
        ):
            drawing.figure.savefig(unfinished, format=suffix, dpi=110, metadata=without_date)
    return folder / f"{drawing.name}.png"
