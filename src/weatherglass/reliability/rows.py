"""What a row of a study's table is: a class for each table, from where it is made to where a page reads it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, TypeVar

Columns = dict[str, Any]
"""A tidy table, or a part of one: columns of equal length by name; a single value applies to all rows."""

SHOWN, THESE_SEEDS, CANNOT_TELL = "shown", "shown for these seeds", "cannot tell"
"""Whether a word leans to one end: also with other seeds, with the seeds of the study, or neither."""


@dataclass(frozen=True, slots=True)
class Condition:
    """Corpus, algorithm and set of base pairs: the key of a row in every table."""

    corpus: str
    algorithm: str
    pairs: str

    def columns(self) -> Columns:
        return {"corpus": self.corpus, "algorithm": self.algorithm, "pairs": self.pairs}


@dataclass(frozen=True, slots=True)
class MeanScore(Condition):
    """The table `scores`: the mean over pairs and seeds of one word; it has a further column for each rule."""

    word: str


@dataclass(frozen=True, slots=True)
class WordScore(Condition):
    """The table `words`: the score of a word by a rule, and how sure it is (docs/methods 10.5)."""

    rule: str
    word: str
    score: float
    """Mean over base pairs and seeds; above 0 it leans to the pairs' first words."""
    low: float
    """The 95 % interval for other base pairs and seeds like these."""
    high: float
    toward: str
    """The word of the first base pair at the end to which the score leans."""
    verdict: str
    """`SHOWN`, `THESE_SEEDS` or `CANNOT_TELL`, by the corrected p at 0.05."""
    p_value: float
    """That the mean over other pairs and seeds is 0, two-sided."""
    p_adjusted: float
    """Benjamini–Hochberg over the words of this condition and rule."""
    p_these_seeds: float
    """Exact, of the signs of the pairs' means: for these seeds only."""
    p_these_seeds_adjusted: float
    icc: float
    """Test–retest over seeds."""
    icc_low: float
    icc_high: float
    rank: int
    """1 for the word that leans most to the first words."""
    of: int
    """How many words have a rank."""


@dataclass(frozen=True, slots=True)
class WordRetest(Condition):
    """The table `test_retest_words`: ICC(2,1) of a word over seeds, by a rule."""

    rule: str
    word: str
    icc: float
    low: float
    high: float
    low_groups: float
    """The interval that knows of base pairs with a common word."""
    high_groups: float
    groups: int


@dataclass(frozen=True, slots=True)
class WordInterRater(Condition):
    """The table `inter_rater_words`: ICC(3,1) of a word over rules."""

    scale: str
    word: str
    icc: float
    low: float
    high: float
    low_groups: float
    high_groups: float
    groups: int


@dataclass(frozen=True, slots=True)
class PairRetest(Condition):
    """The table `test_retest_pairs`: ICC(2,1) of a base pair over seeds, by a rule; rows are words of a list."""

    rule: str
    list: str
    pair: str
    icc: float
    low: float
    high: float
    words: int
    note: str


@dataclass(frozen=True, slots=True)
class PairInterRater(Condition):
    """The table `inter_rater_pairs`: ICC(3,1) of a base pair over rules; rows are words of a list."""

    scale: str
    list: str
    pair: str
    icc: float
    low: float
    high: float
    words: int
    note: str


@dataclass(frozen=True, slots=True)
class QueryConsistency(Condition):
    """The table `consistency_queries`: alpha of a query, by a rule; its words are the items."""

    rule: str
    query: str
    alpha: float
    low: float
    high: float
    items: int
    cases: int
    note: str
    low_groups: float
    high_groups: float
    groups: int
    note_groups: str


@dataclass(frozen=True, slots=True)
class PairConsistency(Condition):
    """The table `consistency_pairs`: alpha of the base pairs, by a rule; the words of a list are the cases."""

    rule: str
    list: str
    alpha: float
    low: float
    high: float
    items: int
    cases: int
    note: str


@dataclass(frozen=True, slots=True)
class Correlation(Condition):
    """The table `pearson`: r of two rules over words."""

    rules: str
    r: float
    low: float
    high: float
    words: int


@dataclass(frozen=True, slots=True)
class BoxSummary(Condition):
    """The table `summary`: a box of the box plots, and the medians of the intervals' ends."""

    measure: str
    by: str
    list: str
    words: int
    low_whisker: float
    lower_quartile: float
    median: float
    upper_quartile: float
    high_whisker: float
    median_low: float
    median_high: float
    note: str
    median_low_groups: float
    median_high_groups: float
    groups: int
    note_groups: str


@dataclass(frozen=True, slots=True)
class SeedBatch(Condition):
    """The table `seed_batches`: the box plot of test–retest with one batch of seeds."""

    rule: str
    seeds: int
    batch: int
    which: str
    low_whisker: float
    lower_quartile: float
    median: float
    upper_quartile: float
    high_whisker: float


@dataclass(frozen=True, slots=True)
class SeedNumber(Condition):
    """The table `seed_numbers`: the median test–retest with a number of seeds."""

    rule: str
    seeds: int
    icc: float
    low: float
    high: float
    width: float
    extrapolated: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """The table `claims`: a claim of Du et al. in one condition, under a rule or scale."""

    claim: str
    corpus: str
    algorithm: str
    pairs: str
    by: str
    median: float
    threshold: float
    verdict: str
    size: str
    low: float
    high: float
    note: str


@dataclass(frozen=True, slots=True)
class PairCoverage(Condition):
    """The table `pairs`: how many base pairs of a set occur."""

    present: int
    of: int


@dataclass(frozen=True, slots=True)
class Missing:
    """The table `missing`: a base pair or word that does not occur."""

    corpus: str
    algorithm: str
    kind: str
    name: str
    entry: str


ROWS: dict[str, type] = {
    "scores": MeanScore,
    "words": WordScore,
    "test_retest_words": WordRetest,
    "inter_rater_words": WordInterRater,
    "test_retest_pairs": PairRetest,
    "inter_rater_pairs": PairInterRater,
    "consistency_queries": QueryConsistency,
    "consistency_pairs": PairConsistency,
    "pearson": Correlation,
    "summary": BoxSummary,
    "seed_batches": SeedBatch,
    "seed_numbers": SeedNumber,
    "claims": Claim,
    "pairs": PairCoverage,
    "missing": Missing,
}
"""Every table of a study by its name, and what its rows are."""

Row = TypeVar("Row")


def columns(kind: type[Row], condition: Condition, **values: Any) -> Columns:
    """A part of the table of such rows, in the order of its columns.

    Raises:
        TypeError: if a column is missing or is not one of the table's.
    """
    given = {**condition.columns(), **values}
    names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    if set(given) != set(names):
        raise TypeError(f"columns of {kind.__name__}: {sorted(set(given) ^ set(names))} missing or unknown")
    return {name: given[name] for name in names}
