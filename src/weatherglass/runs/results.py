"""What comes out: a Result per test, model and measure, and the Run that holds them with its record."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.metrics.units import mean_by_unit, unit_numbers
from weatherglass.metrics.weat.measure import is_signed


@dataclass(frozen=True, slots=True)
class ElementScore:
    """s(w, A, B) of one target element."""

    role: str
    """X or Y."""
    text: str
    word: str
    template: str | None
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Everything known about one test × model × measure; the fields up to `seconds` are the columns of results.tsv."""

    model: str = ""
    """The model's spec, which runs it again."""
    options: str = ""
    """Every choice made in encoding, defaults included."""
    test: str = ""
    p_value: float
    """Share of the permutations at least as extreme; see p_method."""
    effect_size: float
    """d of Caliskan et al.; NaN where all scores are equal."""
    num_targ1: int
    """Elements of X that were scored; the next three likewise for Y, A and B."""
    num_targ2: int
    num_attr1: int
    num_attr2: int
    measure: str
    permute: str
    """What was exchanged: elements (the published procedure) or words."""
    alternative: str
    ddof: int
    test_statistic: float
    """S: the sum of the scores of X less that of Y."""
    p_low: float | None
    p_high: float | None
    p_method: str
    p_floor: float
    """The smallest p that sets of this size can reach."""
    p_words: float | None = None
    """p with whole words exchanged, for tests with several sentences a word."""
    effect_size_words: float | None = None
    ci_low: float | None = None
    """95 % bootstrap interval of d."""
    ci_high: float | None = None
    p_adjusted: float | None = None
    """p corrected for the family of tests; known only when the plan is complete."""
    significance: str = ""
    """* where p ≤ alpha, ** where p_adjusted is too."""
    oov: str = ""
    """Words that the model does not know."""
    seconds: float = 0.0

    p_middle: float
    """The best single guess of the exact p; for certified bounds p_value is the upper one."""
    certified: bool
    """Whether [p_low, p_high] is sure to hold the exact p."""
    signed: bool | None = True
    """Whether the sign of d is a direction; None where neither folder nor registry knows the statistic."""
    context: str = "word"
    categories: tuple[str, str, str, str] = ("X", "Y", "A", "B")
    scores: tuple[ElementScore, ...] = field(default=(), repr=False)
    """One per target element, in the order of the test."""
    warnings: tuple[str, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """How the numbers came about where that needs saying: words missing, covariance estimates."""
    details: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """How far to trust d: interval, leave-one-out, null distribution; empty where it was not asked for."""

    @property
    def x_scores(self) -> Vector:
        """s(w, A, B) of each element of X."""
        return np.array([score.score for score in self.scores if score.role == "X"])

    @property
    def y_scores(self) -> Vector:
        """s(w, A, B) of each element of Y."""
        return np.array([score.score for score in self.scores if score.role == "Y"])

    @property
    def signed_effect_size(self) -> float:
        """d with its sign, also where a profile prints |d|."""
        signed = self.notes.get("profile", {}).get("signed_effect_size")
        return self.effect_size if signed is None else float(signed)

    @property
    def lean(self) -> int | None:
        """1 where X leans to A, -1 where it leans to B, 0 where to neither; None where there is no direction."""
        d = self.signed_effect_size
        return None if math.isnan(d) or not self.signed else (d > 0) - (d < 0)

    @property
    def direction(self) -> str:
        """The sign of d in words."""
        x, y, a, b = self.categories
        if math.isnan(self.signed_effect_size):
            return "none: all scores are equal"
        if not self.signed:
            statistic = self.measure.partition("/")[2]
            unknown = f"not known: the statistic {statistic} is not registered"
            return unknown if self.signed is None else f"none: {statistic} is unsigned"
        if self.lean == 0:
            return "none"
        if self.lean == -1:
            a, b = b, a
        return f"{x} lean to {a}, {y} to {b}"

    def units(self) -> tuple[int, int]:
        """How many exchangeable units X and Y have: elements, or words."""
        if self.permute == "elements":
            return self.num_targ1, self.num_targ2
        x, y = ({score.word for score in self.scores if score.role == role} for role in "XY")
        return len(x), len(y)

    def columns(self) -> dict[str, str]:
        """The row of results.tsv: numbers in full, what is not known as an empty cell."""
        return {name: cell(getattr(self, name)) for name in COLUMNS}

    @classmethod
    def from_columns(cls, columns: Mapping[str, str]) -> Result:
        """The inverse of `columns`, as far as a row tells; a column that an older table lacks counts as empty.

        Raises:
            ValueError: if a cell that should hold a number does not.
        """
        values = {name: _value(name, columns.get(name, "")) for name in COLUMNS}
        signed = is_signed(values["measure"])
        return cls(**values, p_middle=values["p_value"], certified=False, signed=signed, context="")

    def to_json(self) -> dict[str, Any]:
        """Plain values, NaN as None, for the journal and for machines."""
        record: dict[str, Any] = {f.name: _plain(getattr(self, f.name)) for f in fields(self)}
        record["scores"] = [[s.role, s.text, s.word, s.template, s.score] for s in self.scores]
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Result:
        """The inverse of `to_json`."""
        values = {"signed": is_signed(record["measure"]), **record}  # An older journal does not say it.
        values["scores"] = tuple(ElementScore(*row) for row in values["scores"])
        values["categories"] = tuple(values["categories"])
        values["warnings"] = tuple(values["warnings"])
        for name in ("effect_size", "test_statistic"):
            if values[name] is None:
                values[name] = math.nan
        return cls(**values)


_FIELDS = [f.name for f in fields(Result)]
COLUMNS: tuple[str, ...] = tuple(_FIELDS[: _FIELDS.index("seconds") + 1])
"""The nine published columns first, in their order, then ours."""
_TYPES = {f.name: str(f.type) for f in fields(Result)}
_OLDER = {"measure": "cosine/mean", "permute": "elements", "alternative": "greater", "ddof": 1}
"""What a table without these columns, such as one of the published code, was made with."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A unit that could not be computed, and why; the others are not touched by it."""

    model: str
    test: str
    reason: str


@dataclass(frozen=True, slots=True)
class Run:
    """Results with the record of how they came about."""

    results: list[Result]
    failures: list[Failure]
    record: dict[str, Any]
    """What run.json says: versions, models, settings, hashes of inputs, words missing, warnings, citations."""

    @property
    def warnings(self) -> list[str]:
        """What a reader should know before quoting a number."""
        return list(self.record.get("warnings", []))


def word_scores(result: Result) -> list[tuple[str, str, float, int]]:
    """The mean score of each word's elements: role, word, score, how many elements."""
    names = [(score.role, score.word) for score in result.scores]
    means = mean_by_unit(np.array([score.score for score in result.scores]), unit_numbers(names))
    elements = Counter(names)
    return [
        (*name, mean, elements[name]) for name, mean in zip(dict.fromkeys(names), means.tolist(), strict=True)
    ]


def cell(value: object) -> str:
    """A value as results.tsv writes it: what is not known is empty, tabs and line breaks are spaces."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return repr(value)
    return str(value).replace("\t", " ").replace("\n", " ").replace("\r", " ")


def _value(name: str, text: str) -> Any:
    """The inverse of `cell` for one column."""
    if text == "" and name in _OLDER:
        return _OLDER[name]
    kind = _TYPES[name]
    if kind == "str":
        return text
    if kind == "int":
        return int(text or 0)
    if text == "":
        return math.nan if kind == "float" else None
    return float(text)


def _plain(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    return value
