"""What comes out: a Result per test, model and metric, and the Run that holds them with its record."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from weatherglass.catalogue.test import set_roles
from weatherglass.inference.trust import Trust
from weatherglass.metrics.base import ElementScore, Measurement
from weatherglass.metrics.units import mean_by_unit, unit_numbers

if TYPE_CHECKING:
    from weatherglass.runs.joint import JointP
    from weatherglass.runs.verdict import Verdict

NO_P = "none: "
"""What p_method begins with where there is no p; the reason follows."""

__all__ = [
    "COLUMNS",
    "NO_P",
    "ElementScore",
    "Failure",
    "Result",
    "Run",
    "cell",
    "plain_value",
    "word_scores",
]


@dataclass(frozen=True, kw_only=True)
class ResultKey:
    """What was measured: by which metric, on which test and model, and what was exchanged for p."""

    model: str = ""
    """The model's name: the spec that runs it again, or NAME of NAME=SPEC."""
    options: str = ""
    """Every choice made in encoding, defaults included."""
    test: str = ""
    context: str = "word"
    sets: str = ""
    """The roles of the sets that were used, such as "X A B": a metric may take a part of a test."""
    categories: tuple[str, ...] = ("X", "Y", "A", "B")
    """The names of these sets, targets first."""
    metric: str
    permute: str
    """What was exchanged: elements (the published procedure) or words."""
    alternative: str
    ddof: int


@dataclass(frozen=True, kw_only=True)
class Inference:
    """How far the number could be chance, and how far it can be trusted."""

    p_value: float
    """Share of the permutations at least as extreme; see p_method."""
    p_low: float | None
    p_high: float | None
    p_method: str
    p_floor: float
    """The smallest p that sets of this size can reach."""
    p_middle: float
    """The best single guess of the exact p; for certified bounds p_value is the upper one."""
    certified: bool
    """Whether [p_low, p_high] is sure to hold the exact p."""
    units_x: int = 0
    """Exchangeable units of X: words, or elements with permute="elements"."""
    units_y: int = 0
    p_elements: float | None = None
    """p with single sentences exchanged, as published, for tests with several sentences a word."""
    effect_size_elements: float | None = None
    ci_low: float | None = None
    """Interval of d at level 1 − alpha, with these attribute words (and templates)."""
    ci_high: float | None = None
    p_attr: float | None = None
    """p over target words and attribute words (and templates) of this kind, two-sided."""
    effect_size_attr: float | None = None
    """d∞: what d would be with endless attribute words of this kind; None where that is not estimable."""
    ci_attr_low: float | None = None
    ci_attr_high: float | None = None
    score_reliability: float | None = None
    """The share of the variance of word scores that is not owed to the choice of attribute words."""
    trust: Trust | None = field(default=None, repr=False)
    """Reasons, leave-one-out, null distribution; None where it was not asked for."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What is known only when all results of a run are."""

    p_adjusted: float | None = None
    """p corrected for the family of tests."""
    p_both_adjusted: float | None = None
    """The larger p of both readings (p_value and p_attr), corrected likewise; None where p_attr is not known."""
    significance: str = ""
    """* where p ≤ alpha, ** where p_adjusted is too."""
    power: Mapping[str, float] = field(default_factory=dict, repr=False)
    """The chance that a test of this size finds an effect, by its size."""
    minimum_detectable: float | None = None
    """The smallest d that a test of this size finds with a chance of 80 %."""
    small: bool | None = None
    """Whether |d| is shown to be smaller than the `smallest` of interest; None where none was stated."""


@dataclass(frozen=True, kw_only=True)
class Result(ResultKey, Measurement, Inference, Judgement):
    """One metric on one test and model: what was measured, the measurement, the inference, and the judgement."""

    warnings: tuple[str, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """How the numbers came about where that needs saying: out-of-vocabulary words, covariance estimates."""
    oov: str = ""
    """Words that the model does not know."""
    fitted_words: str = ""
    """Words of the test that the model's transforms were fitted on."""
    seconds: float = 0.0

    @property
    def signed_effect_size(self) -> float:
        """d with its sign, also where a profile prints |d|."""
        signed = self.notes.get("profile", {}).get("signed_effect_size")
        return self.effect_size if signed is None else float(signed)

    @property
    def target_categories(self) -> tuple[str, ...]:
        """The names of the target sets."""
        return self.categories[: len(self.target_sizes)]

    @property
    def attribute_categories(self) -> tuple[str, ...]:
        """The names of the attribute sets."""
        return self.categories[len(self.target_sizes) :]

    @property
    def bias(self) -> float:
        """How far the value is from that without bias, with its sign: d, or the value less `unbiased`."""
        return self.signed_effect_size if self.is_effect_size else self.value - self.unbiased

    @property
    def why_no_p(self) -> str:
        """Why there is no p; empty where there is one."""
        return self.p_method.removeprefix(NO_P) if self.p_method.startswith(NO_P) else ""

    @property
    def lean(self) -> int | None:
        """1 where X leans to A, -1 where it leans to B, 0 where to neither; None where there is no direction."""
        bias = self.bias
        return None if math.isnan(bias) or not self.signed else (bias > 0) - (bias < 0)

    @property
    def direction(self) -> str:
        """The sign of d in words."""
        if math.isnan(self.bias):
            return "none: all scores are equal" if self.is_effect_size else "none: the value is not defined"
        if not self.signed:
            without_bias = "" if self.is_effect_size else f", and {self.unbiased:g} without bias"
            return f"none: {self.metric} is unsigned{without_bias}"
        if self.lean == 0:
            return "none"
        if self.leans:
            return self._lean_in_words(self.leans[0 if self.lean == 1 else 1])
        if len(self.categories) != 4:
            return f"{'above' if self.lean == 1 else 'below'} {self.unbiased:g}, the value without bias"
        return self.direction_of(-1 if self.lean == -1 else 1)

    def _lean_in_words(self, lean: str) -> str:
        names = {"X": 0, "Y": 1}
        targets, attributes = self.target_categories, self.attribute_categories
        for role, place in names.items():
            lean = lean.replace(f"{{{role}}}", targets[place] if place < len(targets) else role)
        for role, place in {"A": 0, "B": 1}.items():
            lean = lean.replace(f"{{{role}}}", attributes[place] if place < len(attributes) else role)
        return lean

    def direction_of(self, sign: int) -> str:
        """What a value of this sign means in words; empty unless two targets were compared on two attributes."""
        if (len(self.target_sizes), len(self.attribute_sizes)) != (2, 2):
            return ""
        x, y, a, b = self.categories
        if sign < 0:
            a, b = b, a
        return f"{x} lean to {a}, {y} to {b}"

    @property
    def roles(self) -> tuple[str, ...]:
        """The roles of the sets that were used."""
        whole = set_roles(len(self.target_sizes), len(self.attribute_sizes))
        return tuple(self.sets.split()) or whole

    @property
    def row(self) -> str:
        """The test, and which of its sets were used where it was not all: "weat6 (X A B)"."""
        return f"{self.test} ({self.sets})" if self.uses_part else self.test

    @property
    def uses_part(self) -> bool:
        """Whether the metric took only some sets of the test."""
        return bool(self.notes.get("part_of"))

    def units(self) -> tuple[int, int]:
        """How many exchangeable units X and Y have: words, or elements."""
        return self.units_x, self.units_y

    def columns(self) -> dict[str, str]:
        """The row of results.tsv: numbers in full, what is not known as an empty cell."""
        return {name: cell(getattr(self, name)) for name in COLUMNS}

    def to_json(self) -> dict[str, Any]:
        """Plain values by name, NaN as None: the columns, and what does not fit a row of the table."""
        record = {name: plain_value(getattr(self, name)) for name in (*COLUMNS, *_BESIDE)}
        record["scores"] = [
            [s.role, s.text, s.word, s.template, s.score if math.isfinite(s.score) else None]
            for s in self.scores
        ]
        record["trust"] = self.trust.to_json() if self.trust else None
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Result:
        """The inverse of `to_json`.

        Raises:
            KeyError, TypeError, ValueError: if the record is of another version or damaged.
        """
        values = {name: record[name] for name in _STORED}
        for name in _NUMBERS:
            values[name] = math.nan if values[name] is None else values[name]
        for name in ("categories", "warnings", "target_sizes", "attribute_sizes", "leans"):
            values[name] = tuple(values[name])
        scores = tuple(map(ElementScore._make, record["scores"]))
        if None in [score.score for score in scores]:
            scores = tuple(s._replace(score=math.nan) if s.score is None else s for s in scores)
        values["scores"] = scores
        values["trust"] = Trust.from_json(record["trust"]) if record["trust"] else None
        return cls(**values)


COLUMNS: tuple[str, ...] = (
    *("model", "options", "test", "p_value", "effect_size"),
    *("num_targ1", "num_targ2", "num_attr1", "num_attr2"),
    *("metric", "sets", "value", "unbiased", "permute", "alternative", "ddof", "test_statistic"),
    *("p_low", "p_high", "p_method", "p_floor", "units_x", "units_y"),
    *("p_elements", "effect_size_elements", "ci_low", "ci_high"),
    *("p_attr", "effect_size_attr", "ci_attr_low", "ci_attr_high", "score_reliability"),
    *("p_adjusted", "significance", "oov", "fitted_words", "seconds"),
)
"""The columns of results.tsv: the nine of May et al. (2019) first, in their order, then ours."""
_NOT_PLAIN = ("exchange", "samples", "null", "recomputing", "details", "scores", "trust")
_STORED = tuple(f.name for f in fields(Result) if f.name not in _NOT_PLAIN)
_NUMBERS = tuple(f.name for f in fields(Result) if f.type == "float")
"""What is NaN where it is not defined, never None."""
_BESIDE = tuple(name for name in _STORED if name not in COLUMNS)


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
    keys: tuple[str, ...] = ()
    """The key of each result, in their order."""
    judged: tuple[Verdict, ...] | None = field(default=None, kw_only=True, repr=False, compare=False)
    """What `verdicts` gives, where it is known already."""

    @property
    def warnings(self) -> list[str]:
        """What a reader should know before quoting a number."""
        return list(self.record.get("warnings", []))

    def verdicts(self, joint_p: JointP | None = None) -> list[Verdict]:
        """What the tests of each topic show together, by model and metric; controls last.

        Args:
            joint_p: of topics of which a multiverse was run.
        """
        if self.judged is not None and joint_p is None:
            return list(self.judged)
        from weatherglass.runs.verdict import recorded_verdicts

        return recorded_verdicts(self.results, self.record, joint_p)


class UnitScore(NamedTuple):
    """The score of a unit that p exchanges: an element, or a word with the mean over its elements."""

    role: str
    """The set it is in."""
    name: str
    """The element's text, or the word."""
    score: float
    elements: int
    """How many it is the mean of."""


def unit_scores(scores: Sequence[ElementScore], permute: str) -> list[UnitScore]:
    """The score of each element, or of each word of a set, in order of first appearance."""
    if permute == "elements":
        return [UnitScore(score.role, score.text, score.score, 1) for score in scores]
    names = [(score.role, score.word) for score in scores]
    means = mean_by_unit(np.array([score.score for score in scores]), unit_numbers(names))
    elements = Counter(names)
    return [
        UnitScore(*name, mean, elements[name])
        for name, mean in zip(dict.fromkeys(names), means.tolist(), strict=True)
    ]


def word_scores(result: Result) -> list[UnitScore]:
    """The mean score of each word's elements."""
    return unit_scores(result.scores, "words")


def cell(value: object) -> str:
    """A value as tables write it: what is not known is empty."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return repr(value)
    return str(value)


def plain_value(value: object) -> object:
    """A value as JSON has it: a number that is not finite as None, in whatever it is."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, tuple | list):
        return [plain_value(item) for item in value]
    if isinstance(value, Mapping):
        return {name: plain_value(item) for name, item in value.items()}
    return value
