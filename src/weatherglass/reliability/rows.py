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
class WordScore:
    """The table `words`: the score of a word by a rule, and how sure it is (docs/methods 10.5)."""

    corpus: str
    algorithm: str
    pairs: str
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
