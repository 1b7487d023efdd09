"""Define `Result`, the outcome of one metric on one test and model, and its mark."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from weatherglass.audit.shown import Shown
from weatherglass.catalogue.names import direction, set_name
from weatherglass.catalogue.test import set_roles
from weatherglass.metrics.base import ElementScore, Estimate, MetricInfo
from weatherglass.metrics.sets import mean_by_unit, unit_numbers
from weatherglass.stats import Outcome as Outcome
from weatherglass.stats.robustness import Robustness
from weatherglass.stats.topic import AttributeTables
from weatherglass.warnings import Warning

if TYPE_CHECKING:
    from weatherglass.audit.verdict import Verdict

NO_DIRECTION = "no clear direction"
NO_P = "none: "
"""The prefix of p_method if there is no p; the reason follows it."""

__all__ = [
    "COLUMNS",
    "NO_P",
    "ElementScore",
    "Failure",
    "Result",
    "cell",
    "plain_value",
    "word_scores",
]


@dataclass(frozen=True, kw_only=True)
class ResultKey:
    """The identity of a result: the metric, the test, the model, the sets, and the units exchanged for p."""

    model: str = ""
    """The NAME of NAME=SPEC, or the spec."""
    options: str = ""
    """Every encoding option, including defaults."""
    test: str = ""
    context: str = "word"
    sets: str = ""
    """The roles of the sets that were used, such as "X A B"; a metric may use a part of a test."""
    categories: tuple[str, ...] = ("X", "Y", "A", "B")
    """The names of the used sets, targets first."""
    metric: str
    permute: str
    """The exchanged units: elements (the published procedure) or words."""
    alternative: str


@dataclass(frozen=True, kw_only=True)
class Inference:
    """The p, intervals and robustness of a value."""

    p_value: float
    """The share of permutations that are at least as extreme; see p_method."""
    p_low: float | None
    p_high: float | None
    p_method: str
    p_floor: float
    """The smallest p possible with sets of this size."""
    p_middle: float
    """The best single estimate of the exact p; if there are certified bounds, p_value is the upper bound."""
    certified: bool
    """Whether [p_low, p_high] is certain to contain the exact p."""
    units_x: int = 0
    """The number of exchangeable units of X, which are words, or elements with permute="elements"."""
    units_y: int = 0
    p_elements: float | None = None
    """The p with single sentences exchanged, as published, for tests with several sentences per word."""
    effect_size_elements: float | None = None
    ci_low: float | None = None
    """The interval of d at level 1 − alpha, for fixed attribute words (and templates)."""
    ci_high: float | None = None
    p_random: float | None = None
    """The two-sided p for random attributes, which generalises to other target words and attribute words (and
    templates).
    """
    effect_size_random: float | None = None
    """d∞, the d with infinitely many attribute words; None if it is not estimable."""
    ci_random_low: float | None = None
    ci_random_high: float | None = None
    score_reliability: float | None = None
    """The share of the variance of word scores that is not due to the choice of attribute words."""
    robustness: Robustness | None = field(default=None, repr=False)
    """Leave-one-out values, the null distribution, and the reason if an interval is missing; None if they were not
    computed.
    """
    not_tested: str = ""
    """The reason why the row is measured but not tested, such as a token shared within X or Y; empty if it is
    tested.
    """
    expected_level: float | None = None
    """The probability that p by words is ≤ 0.05 if every token were independent noise; only for rows that are not
    tested.
    """
    tables: AttributeTables | None = field(default=None, repr=False, compare=False)
    """The measures between target words (X first) and single attribute words; None if the scores are not based on
    them.
    """
    pieces: tuple[float, ...] | None = field(default=None, repr=False)
    """The mean number of tokens of each target word's texts, X first; None if the tokenizer is unknown."""


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """Fields that are known only after all results of a run are computed."""

    p_adjusted: float | None = None
    """The p corrected for the rows of the run, as in papers; no outcome depends on it."""
    mark: str = ""
    """The mark * if p ≤ alpha, and ** if p_adjusted is, too; only for tables of published procedures."""
    outcome: str | None = None
    """The outcome: robust, limited, unconfirmed, small or inconclusive; None if the row is not tested or has no
    verdict.
    """
    limit: str | None = None
    """The reasons that limit the outcome: attribute words, one word or pieces."""
    marked: bool = False
    """Whether the row is significant after correction for the tests of its topic and for all topics."""
    p_max_t: float | None = None
    """The p adjusted for the tests of its topic."""
    p_pieces: float | None = None
    """The p after adjustment for the number of tokens; None if that number does not vary."""
    effect_size_pieces: float | None = None
    """The d adjusted for the number of tokens."""
    power: Mapping[str, float] = field(default_factory=dict, repr=False)
    """The power of a test of this size, by effect size."""
    minimum_detectable: float | None = None
    """The smallest d that a test of this size detects with 80 % power."""
    small: bool | None = None
    """Whether |d| is shown to be smaller than `smallest`, the smallest effect of interest; None if none was stated."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Result(Shown, ResultKey, Estimate, Inference, Judgement):
    """The result of one metric on one test and model, with its identity, estimate, inference and judgement."""

    kind: ClassVar[str] = "ResultView"
    warnings: tuple[Warning, ...] = ()
    """Facts that a reader should know before quoting the number."""
    notes: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Details of the computation, such as out-of-vocabulary words and covariance estimates."""
    oov: str = ""
    """Words that the model does not know."""
    fitted_words: str = ""
    """Words of the test that the model's transforms were fitted on."""
    seconds: float = 0.0

    @property
    def target_categories(self) -> tuple[str, ...]:
        """Return the names of the target sets."""
        return self.categories[: len(self.target_sizes)]

    @property
    def attribute_categories(self) -> tuple[str, ...]:
        """Return the names of the attribute sets."""
        return self.categories[len(self.target_sizes) :]

    @property
    def why_no_p(self) -> str:
        """Return why there is no p; empty if there is a p."""
        return self.p_method.removeprefix(NO_P) if self.p_method.startswith(NO_P) else ""

    @property
    def lean(self) -> int | None:
        """Return 1 if X leans to A, -1 if it leans to B, and 0 if it leans to neither; None if there is no
        direction.
        """
        bias = self.bias
        return None if math.isnan(bias) or not self.signed else (bias > 0) - (bias < 0)

    @property
    def has_direction(self) -> bool:
        """Return whether the interval excludes the value without bias, so that the sign may be stated."""
        if self.ci_low is None or self.ci_high is None:
            return False
        return not self.ci_low <= self.unbiased <= self.ci_high

    @property
    def direction(self) -> str:
        """Return the sign of d in words, but only if the interval excludes the value without bias."""
        if math.isnan(self.bias):
            return f"none: {'all scores are equal' if self.info.from_scores else 'the value is not defined'}"
        if not self.signed:
            scale = f", and {self.info.scale}" if self.info.scale else ""
            return f"none: {self.metric} is unsigned{scale}"
        if not self.has_direction:
            return NO_DIRECTION
        if self.info.leans:
            return self._lean_in_words(self.info.leans[0 if self.lean == 1 else 1])
        if len(self.categories) != 4:
            return f"{'above' if self.lean == 1 else 'below'} {self.unbiased:g}, the value without bias"
        return self.direction_of(-1 if self.lean == -1 else 1)

    def _lean_in_words(self, lean: str) -> str:
        names = {"X": 0, "Y": 1}
        targets, attributes = self.target_categories, self.attribute_categories
        for role, place in names.items():
            lean = lean.replace(f"{{{role}}}", set_name(targets[place]) if place < len(targets) else role)
        for role, place in {"A": 0, "B": 1}.items():
            name = set_name(attributes[place]) if place < len(attributes) else role
            lean = lean.replace(f"{{{role}}}", name)
        return lean

    def direction_of(self, sign: int) -> str:
        """Return in words what a value of this sign means; empty unless two targets were compared on two
        attributes.
        """
        if (len(self.target_sizes), len(self.attribute_sizes)) != (2, 2):
            return ""
        return direction([[category] for category in self.categories], sign)

    @property
    def roles(self) -> tuple[str, ...]:
        """Return the roles of the sets that were used."""
        whole = set_roles(len(self.target_sizes), len(self.attribute_sizes))
        return tuple(self.sets.split()) or whole

    @property
    def related_words(self) -> str:
        """Return the words of a set that share a stem or a word, such as "B: her, hers"; empty if there are none."""
        found = [warning.values for warning in self.warnings if warning.kind == "related-words"]
        return "; ".join(f"{one.get('role')}: {', '.join(map(str, one.get('words', ())))}" for one in found)

    @property
    def row(self) -> str:
        """Return the test, with the sets that were used if some were not: "weat6 (X A B)"."""
        return f"{self.test} ({self.sets})" if self.notes.get("part_of") else self.test

    @property
    def uses_part(self) -> bool:
        """Return whether the metric used only some sets of the test."""
        return bool(self.notes.get("part_of"))

    def units(self) -> tuple[int, int]:
        """Return the number of exchangeable units, which are words or elements, of X and of Y."""
        return self.units_x, self.units_y

    def columns(self) -> dict[str, str]:
        """Return the row of results.tsv, with numbers in full precision and unknown values as empty cells."""
        return {name: cell(getattr(self, name)) for name in COLUMNS}

    def to_json(self) -> dict[str, Any]:
        """Return a JSON-compatible dict of the columns of results.tsv and of the fields that it omits, with NaN as
        None.
        """
        record: dict[str, Any] = {name: getattr(self, name) for name in (*COLUMNS, *_BESIDE)}
        for name, value in record.items():
            if not isinstance(value, str | int | None):
                record[name] = plain_value(value)
        record["scores"] = [
            [s.role, s.text, s.word, s.template, s.score if math.isfinite(s.score) else None]
            for s in self.scores
        ]
        record["info"] = self.info.to_json()
        record["trust"] = self.robustness.to_json() if self.robustness else None
        record["tables"] = self.tables.to_json() if self.tables else None
        record["warnings"] = [warning.to_json() for warning in self.warnings]
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Result:
        """Return the result that `to_json` stored.

        Raises:
            KeyError, TypeError, ValueError: if the record is of another version or damaged.
        """
        values = {name: record[name] for name in _STORED}
        for name in _NUMBERS:
            values[name] = math.nan if values[name] is None else values[name]
        for name in ("categories", "target_sizes", "attribute_sizes"):
            values[name] = tuple(values[name])
        scores = tuple(map(ElementScore._make, record["scores"]))
        if None in [score.score for score in scores]:
            scores = tuple(s._replace(score=math.nan) if s.score is None else s for s in scores)
        values["scores"] = scores
        values["info"] = MetricInfo.from_json(record["info"])
        values["robustness"] = Robustness.from_json(record["trust"]) if record["trust"] else None
        values["tables"] = AttributeTables.from_json(record["tables"]) if record.get("tables") else None
        values["pieces"] = tuple(map(float, record["pieces"])) if record["pieces"] is not None else None
        values["warnings"] = tuple(map(Warning.from_json, record["warnings"]))
        return cls(**values)


COLUMNS: tuple[str, ...] = (
    *("model", "options", "test", "p_value", "effect_size"),
    *("num_targ1", "num_targ2", "num_attr1", "num_attr2"),
    *("metric", "sets", "value", "unbiased", "permute", "alternative", "ddof", "test_statistic"),
    *("p_low", "p_high", "p_method", "p_floor", "units_x", "units_y"),
    *("p_elements", "effect_size_elements", "ci_low", "ci_high"),
    *("p_random", "effect_size_random", "ci_random_low", "ci_random_high", "score_reliability"),
    *(
        "outcome",
        "limit",
        "marked",
        "p_max_t",
        "p_pieces",
        "effect_size_pieces",
        "not_tested",
        "expected_level",
        "related_words",
    ),
    *("p_adjusted", "oov", "fitted_words", "seconds"),
)
"""The columns of results.tsv, starting with the nine columns of May et al. (2019) in their order."""
_NOT_PLAIN = (
    "info",
    "null",
    "by_elements",
    "resample",
    "details",
    "scores",
    "robustness",
    "tables",
    "warnings",
)
_STORED = tuple(f.name for f in fields(Result) if f.init and f.name not in _NOT_PLAIN)
_NUMBERS = tuple(f.name for f in fields(Result) if f.init and f.type == "float")
"""Fields that are NaN, never None, if they are not defined."""
_BESIDE = tuple(name for name in _STORED if name not in COLUMNS)


@dataclass(frozen=True, slots=True)
class Failure:
    """A test that could not be computed on a model, and the reason; other tests are not affected."""

    model: str
    test: str
    reason: str


class UnitScore(NamedTuple):
    """The score of a unit that the test permutes, which is an element, or a word with the mean over its elements."""

    role: str
    """The set that contains the unit."""
    name: str
    """The element's text, or the word."""
    score: float
    elements: int
    """The number of elements in the mean."""


def unit_scores(scores: Sequence[ElementScore], permute: str) -> list[UnitScore]:
    """Return the score of each element, or of each word of a set, in order of first appearance."""
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
    """Return the mean score of each word's elements."""
    return unit_scores(result.scores, "words")


def cell(value: object) -> str:
    """Return a value as a cell of a table; an unknown value is an empty cell."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float):
        return repr(value)
    return str(value)


def finite(value: float) -> float | None:
    """Return the number, or None if it is NaN."""
    return None if math.isnan(value) else value


def plain_value(value: Any) -> Any:
    """Return a JSON-serialisable value.

    A non-finite number becomes None. A path becomes its text. An object with a name, such as an encoder or a
    test, becomes <class name>.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Mapping):
        return {str(name): plain_value(item) for name, item in value.items()}
    if isinstance(value, Sequence):
        return [plain_value(item) for item in value]
    if isinstance(value, Path):
        return str(value)
    if isinstance(name := getattr(value, "name", None), str):
        return f"<{type(value).__name__} {name}>"
    if is_dataclass(value) and not isinstance(value, type):
        return plain_value(asdict(value))
    return f"<{type(value).__name__}>"


class Mark(Enum):
    """The outcome of a row or topic, in the order in which topics are listed."""

    ROBUST = (Outcome.ROBUST.mark, "#", Outcome.ROBUST.value, "**")
    LIMITED = (Outcome.LIMITED.mark, "+", Outcome.LIMITED.value, "*")
    CONFLICTING = (Outcome.CONFLICTING.mark, "x", Outcome.CONFLICTING.value)
    ISOLATED = (Outcome.ISOLATED.mark, "!", Outcome.ISOLATED.value)
    UNCONFIRMED = (Outcome.UNCONFIRMED.mark, "o", Outcome.UNCONFIRMED.value)
    SMALL = (Outcome.SMALL.mark, "~", Outcome.SMALL.value)
    INCONCLUSIVE = (Outcome.INCONCLUSIVE.mark, ".", Outcome.INCONCLUSIVE.value)
    MEASURED = ("–", "-", "measured, not tested")
    NOT_JUDGED = ("", "", "not judged")

    def __init__(self, glyph: str, ascii_glyph: str, words: str, stars: str = "") -> None:
        self.glyph = glyph
        self.ascii = ascii_glyph
        """A replacement for output that cannot contain the glyph."""
        self.words = words
        self.stars = stars
        """The mark of a row in tables and figures for print; empty for a row of a published procedure."""


_MARKS = {mark.words: mark for mark in Mark}


def mark_of(judged: Result | Verdict) -> Mark:
    """Return the mark of a row of a complete run, or of a topic; a sanity check that was found is not marked."""
    if isinstance(judged, Result):
        only_measured = bool(judged.not_tested)
    else:
        only_measured = bool(judged.measured and not judged.tests)
    return Mark.MEASURED if only_measured else _MARKS.get(judged.outcome or "", Mark.NOT_JUDGED)


def published_p(result: Result) -> float | None:
    """Return the one-sided p of Caliskan et al. and May et al.; None if it cannot be computed from the result.

    If X and Y have the same size, they can be swapped, so that the statistic is symmetric around 0 under the null
    hypothesis, and a two-sided p is twice the one-sided p of the observed side. If d is below 0, partitions with
    exactly the observed value are not counted; usually there is only one.
    """
    if not result.info.from_scores or not result.signed:
        return None
    p = result.p_value if result.p_elements is None else result.p_elements
    d = result.value if result.effect_size_elements is None else result.effect_size_elements
    if p != p or d != d:
        return None
    if result.alternative == "greater":
        return p
    if result.alternative != "two-sided" or len(set(result.target_sizes)) != 1:
        return None
    return p / 2 if d > 0 else 1 - p / 2
