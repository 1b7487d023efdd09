"""Judge the three claims of Du et al. (2021) in every condition, by comparing the interval of a median with a
threshold.

The second claim has two parts, about the words of a query and about the base pairs, which are judged separately.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weatherglass.reliability.agreement.medians import MedianInterval
from weatherglass.reliability.lists import FREQUENT_LIST
from weatherglass.reliability.tables import Columns, StudyCondition

if TYPE_CHECKING:
    import polars as pl

RETEST, CONSISTENCY, RATER = "high test–retest", "high internal consistency", "low inter-rater"
ENSEMBLE = "high internal consistency of base pairs"
THRESHOLDS = {RETEST: 0.75, CONSISTENCY: 0.70, ENSEMBLE: 0.70, RATER: 0.60}
NAMES = {
    RETEST: "High test–retest reliability",
    CONSISTENCY: "High internal consistency of queries",
    ENSEMBLE: "High internal consistency of base pairs",
    RATER: "Low inter-rater consistency",
}
STATEMENTS = {
    RETEST: "random seeds hardly change the scores: median ICC(2,1) over the frequent words ≥ 0.75",
    CONSISTENCY: "the words of a query share one bias: median alpha over the queries ≥ 0.70",
    ENSEMBLE: "the base pairs of a set measure one concept: alpha of the pairs over the frequent words ≥ 0.70",
    RATER: "scoring rules disagree with one another: median ICC(3,1) over the frequent words < 0.60",
}
NO_RULE = "–"
"""The text in place of a rule or scale if no base pair occurs."""
HOLDS, FAILS, UNDECIDED, UNKNOWN = "holds", "does not hold", "undecided", "not estimable"
"""The verdict if the threshold is inside the interval of the median, or there is no interval."""

Intervals = Mapping[tuple[str, StudyCondition, str], MedianInterval]
"""The interval of the median, or of the alpha of the base pairs, by claim, condition, and rule or scale."""


NO_INTERVAL = MedianInterval(float("nan"), float("nan"))


@dataclass(frozen=True, slots=True)
class ClaimVerdict:
    """One claim over all corpora, algorithms, pair sets and rules."""

    claim: str
    statement: str
    holds: int
    undecided: int
    estimable: int

    def __str__(self) -> str:
        if not self.estimable:
            return f"{self.claim}: not estimable with these corpora"
        fails = self.estimable - self.holds - self.undecided
        outcomes = {self.holds: "holds", fails: "does not hold", self.undecided: "undecided"}
        word = outcomes.get(self.estimable, "holds in part" if self.holds else "holds nowhere")
        open_conditions = f", undecided in {self.undecided}" if self.undecided else ""
        return (
            f"{self.claim}: {word}, in {self.holds} of {self.estimable} conditions{open_conditions} "
            f"({self.statement})"
        )

    @property
    def name(self) -> str:
        """Return the claim as the subject of a sentence."""
        return NAMES[self.claim]

    @property
    def count(self) -> str:
        """Return the predicate of the sentence, with the number of conditions in which the claim holds."""
        if not self.estimable:
            return "cannot be estimated with these corpora"
        conditions = "condition" if self.estimable == 1 else "conditions"
        undecided = f" and is undecided in {self.undecided}" if self.undecided else ""
        return f"holds in {self.holds or 'none'} of {self.estimable} {conditions}{undecided}"


@dataclass(frozen=True, slots=True)
class Concept:
    """Cronbach's alpha of one set's base pairs over all corpora, algorithms and rules; a low alpha suggests several
    concepts.
    """

    pairs: str
    below: int
    """The number of conditions in which alpha is below the threshold."""
    surely: int
    """The number of conditions in which the whole interval is below the threshold."""
    estimable: int
    lowest: float
    highest: float

    @property
    def doubtful(self) -> bool:
        return self.below > 0

    def __str__(self) -> str:
        """Return a sentence about the set; doubts are worded as in section 5.5 of the reproduction."""
        ends = dict.fromkeys(_alpha_in_words(alpha) for alpha in (self.lowest, self.highest))
        alphas = " to ".join(ends)
        conditions = f"{self.estimable} condition{'' if self.estimable == 1 else 's'}"
        if not self.doubtful:
            return (
                f"alpha of the base pairs is {alphas} in {conditions}, never below {THRESHOLDS[ENSEMBLE]:.2f}"
            )
        return (
            f"alpha of the base pairs is {alphas}; it is below {THRESHOLDS[ENSEMBLE]:.2f} in {self.below} "
            f"of {conditions} (with the whole 95 % interval in {self.surely or 'none'}), so the pairs may "
            "not measure one concept"
        )


def _alpha_in_words(alpha: float) -> str:
    """Return alpha with two digits; alpha has no lower bound, and values below −10 are not distinguished."""
    return f"{round(alpha, 2) + 0.0:.2f}".replace("-", "−") if alpha >= -10 else "less than −10"


@dataclass(frozen=True, slots=True)
class ClaimRow:
    """One claim for one set of base pairs, corpus and algorithm, with a cell for each rule or scale."""

    pairs: str
    corpus: str
    algorithm: str
    cells: tuple[Columns | None, ...]
    """The rows of the table of claims, in the order of `judged_by`; an entry is None if nothing can be estimated."""
    reason: str
    """The reason why some cells are None."""


def icc_label(value: float) -> str:
    """Return Cicchetti's (1994) label of an ICC."""
    return "poor" if value < 0.40 else "fair" if value < 0.60 else "good" if value < 0.75 else "excellent"


def alpha_label(value: float) -> str:
    """Return a label that states whether alpha reaches 0.70."""
    return "not acceptable" if value < 0.70 else "acceptable"


def claims(
    summary: pl.DataFrame,
    consistency: pl.DataFrame,
    ensembles: pl.DataFrame,
    rules: Sequence[str],
    intervals: Intervals,
    unscored: Sequence[StudyCondition] = (),
) -> list[Columns]:
    """Judge every claim in every condition, with test–retest and consistency by rule and inter-rater reliability by
    scale.

    Args:
        summary: the table `summary`.
        consistency: the table `consistency_queries`.
        ensembles: the table `consistency_pairs`.
        rules: the compared rules.
        intervals: the intervals of the medians.
        unscored: conditions in which no base pair occurs, which therefore have no rows in the tables.
    """
    import polars as pl

    rows: list[Columns] = []
    frequent = summary.filter(pl.col("list") == FREQUENT_LIST)
    for row in frequent.iter_rows(named=True):
        claim = RETEST if row["measure"] == "test–retest" else RATER
        if claim == RATER or row["by"] in rules:
            rows.append(_row(claim, row, row["by"], row["median"], row["note"], intervals))
    keys = ["corpus", "algorithm", "pairs", "rule"]
    rater_rows = consistency.filter(pl.col("rule").is_in(list(rules)))
    medians = rater_rows.group_by(keys, maintain_order=True).agg(
        pl.col("alpha").fill_nan(None).median(), pl.col("note").max()
    )
    for row in medians.iter_rows(named=True):
        value = float("nan") if row["alpha"] is None else row["alpha"]
        rows.append(_row(CONSISTENCY, row, row["rule"], value, row["note"], intervals))
    of_pairs = ensembles.filter((pl.col("list") == FREQUENT_LIST) & pl.col("rule").is_in(list(rules)))
    rows += [
        _row(ENSEMBLE, row, row["rule"], row["alpha"], row["note"], intervals)
        for row in of_pairs.iter_rows(named=True)
    ]
    for condition in unscored:
        rows += [
            _row(claim, condition.columns(), NO_RULE, float("nan"), "no base pair occurs", {})
            for claim in STATEMENTS
        ]
    order = list(STATEMENTS)
    return sorted(rows, key=lambda row: (row["pairs"], order.index(row["claim"])))


def _row(claim: str, row: Columns, by: str, median: float, note: str, intervals: Intervals) -> Columns:
    threshold = THRESHOLDS[claim]
    condition = StudyCondition(row["corpus"], row["algorithm"], row["pairs"])
    interval = intervals.get((claim, condition, by), NO_INTERVAL)
    if median != median:
        interval = NO_INTERVAL
        verdict, size = UNKNOWN, note.removeprefix(f"{UNKNOWN}: ")
    else:
        verdict = _verdict(claim, interval)
        size = alpha_label(median) if claim in (CONSISTENCY, ENSEMBLE) else icc_label(median)
    return {
        "claim": claim,
        **condition.columns(),
        "by": by,
        "median": median,
        "threshold": threshold,
        "verdict": verdict,
        "size": size,
        "low": interval.low,
        "high": interval.high,
        "note": interval.reason,
    }


def _verdict(claim: str, interval: MedianInterval) -> str:
    """Return the verdict, which depends on whether the interval is above, below or around the threshold."""
    if interval.low >= THRESHOLDS[claim]:
        return FAILS if claim == RATER else HOLDS
    if interval.high < THRESHOLDS[claim]:
        return HOLDS if claim == RATER else FAILS
    return UNDECIDED


def verdicts(tables: Mapping[str, pl.DataFrame]) -> list[ClaimVerdict]:
    """Count, for each claim, the conditions in which it holds and those in which it can be estimated."""
    counts = []
    for claim, statement in STATEMENTS.items():
        outcomes = [row["verdict"] for row in tables["claims"].iter_rows(named=True) if row["claim"] == claim]
        estimable = len(outcomes) - outcomes.count(UNKNOWN)
        counts.append(
            ClaimVerdict(claim, statement, outcomes.count(HOLDS), outcomes.count(UNDECIDED), estimable)
        )
    return counts


def concepts(table: pl.DataFrame) -> list[Concept]:
    """Return, for each set of base pairs with an alpha, how often alpha reaches the threshold."""
    found: dict[str, list[Columns]] = {}
    for row in table.iter_rows(named=True):
        if row["claim"] == ENSEMBLE and row["verdict"] != UNKNOWN:
            found.setdefault(row["pairs"], []).append(row)
    counted = []
    for pairs, rows in found.items():
        alphas = [row["median"] for row in rows]
        below = sum(alpha < THRESHOLDS[ENSEMBLE] for alpha in alphas)
        surely = sum(row["verdict"] == FAILS for row in rows)
        counted.append(Concept(pairs, below, surely, len(rows), min(alphas), max(alphas)))
    return counted


def judged_by(table: pl.DataFrame, claim: str) -> list[str]:
    """Return the rules or scales under which a claim is judged, in the study's order."""
    names = dict.fromkeys(row["by"] for row in table.iter_rows(named=True) if row["claim"] == claim)
    return [name for name in names if name != NO_RULE]


def claim_rows(table: pl.DataFrame, claim: str) -> list[ClaimRow]:
    """Return one claim as a table with a row for each condition and a cell for each rule or scale."""
    conditions: dict[tuple[str, str, str], dict[str, Columns]] = {}
    for row in table.iter_rows(named=True):
        if row["claim"] == claim:
            condition = (row["pairs"], row["corpus"], row["algorithm"])
            conditions.setdefault(condition, {})[row["by"]] = row
    names = judged_by(table, claim)
    rows = []
    for condition, by in conditions.items():
        estimated = {name: row for name, row in by.items() if row["verdict"] != UNKNOWN}
        reasons = {row["size"] for row in by.values() if row["verdict"] == UNKNOWN}
        cells = tuple(estimated.get(name) for name in names)
        rows.append(ClaimRow(*condition, cells, "; ".join(sorted(reasons))))
    return rows
