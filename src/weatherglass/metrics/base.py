"""Define metrics: the facts that a metric declares in its MetricInfo, and the Estimate that it computes for a test."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.catalogue.test import Test
from weatherglass.metrics.exchange import Null
from weatherglass.metrics.sets import VectorSet

if TYPE_CHECKING:
    from weatherglass.metrics.exchange import Resample
    from weatherglass.metrics.weat.covariance import Covariance

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Count:
    """The number of sets of a kind that a metric takes."""

    least: int
    most: int | None
    """The largest number; None for any number."""

    def __contains__(self, number: int) -> bool:
        return self.least <= number and (self.most is None or number <= self.most)

    def __str__(self) -> str:
        return str(self.least) if self.most == self.least else f"at least {self.least}"


def exactly(number: int) -> Count:
    """Return the count that allows exactly this many sets."""
    return Count(number, number)


AT_LEAST_ONE = Count(1, None)
AT_LEAST_TWO = Count(2, None)


@dataclass(frozen=True, slots=True)
class Shape:
    """The number of target sets and of attribute sets that a metric takes; WEAT takes two of each."""

    targets: Count
    attributes: Count
    paired: bool = False
    """Whether the words of X and Y are pairs, in their order, so that both sets must have the same size."""

    def fits(self, targets: int, attributes: int) -> bool:
        """Return whether a test with these numbers of sets can be measured."""
        return targets in self.targets and attributes in self.attributes

    def selections(self, targets: int, attributes: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Return the combinations of target and attribute sets to measure; a metric that takes one set gets each set
        alone.

        >>> Shape(exactly(1), exactly(2)).selections(2, 2)
        [((0,), (0, 1)), ((1,), (0, 1))]
        >>> Shape(exactly(2), exactly(2)).selections(3, 2)
        []
        """
        ways = []
        for count, number in ((self.targets, targets), (self.attributes, attributes)):
            if number in count:
                ways.append([tuple(range(number))])
            else:
                ways.append([(place,) for place in range(number)] if count.most == 1 else [])
        return [(chosen, attribute) for chosen in ways[0] for attribute in ways[1]]

    def __str__(self) -> str:
        paired = "paired " if self.paired else ""
        return f"{self.targets} {paired}target and {self.attributes} attribute sets"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricInfo:
    """The facts that a metric declares about itself; no other part of weatherglass depends on the name of a metric."""

    shape: Shape
    """The numbers of sets that the metric takes."""
    needs: str = "vectors"
    """The kind of model observations from which the metric is computed."""
    covariances: bool = False
    """Whether the metric also needs the covariances of the attribute sets."""
    signed: bool = True
    """Whether the sign of `value - unbiased` is a direction."""
    unbiased: float = 0.0
    """The value without bias."""
    bounds: tuple[float, float] = (-math.inf, math.inf)
    """The smallest and the largest possible value."""
    exchanges: str = ""
    """The units that are exchanged for p: words of "targets" or "attributes", or "pairs"; empty without p."""
    one_sample: bool = False
    """Whether the words of all target sets form one sample, so that the value does not depend on their sets."""
    one_reading: bool = False
    """Whether p exchanges all sampled units, so that no second p is needed to generalise to other units.
    """
    contrasts: str = ""
    """The sets whose difference is tested: "targets", "attributes" or "both"; empty if p tests something else.

    `mitigate --judge` counts a significant p only if it tests a difference between the ends of the attribute."""
    removed_by_projection: bool = False
    """Whether the metric is computed along a direction, so that projecting it out makes the value small by
    construction.
    """
    poolable: bool = False
    """Whether values of different tests are on the same scale, which is standard deviations of the scores.

    Values on this scale are drawn on one axis, averaged over the tests of a topic, and judged together in a
    verdict.
    """
    from_scores: bool = False
    """Whether the stored scores of X and Y determine the value and its p.

    If so, the power of the test, the paired change between two runs and the maxT correction do not need vectors.
    """
    cheap_to_resample: bool = True
    """Whether intervals and leave-one-out are computed by default."""
    symbol: str = "value"
    """The name of the value in tables, such as "d"."""
    quantity: str = "value"
    """The name of the value in captions, such as "effect size d"."""
    unit: str = ""
    """The unit of the value, such as "standard deviations"; empty if there is no common unit."""
    decimals: int = 3
    """The number of printed decimals."""
    negligible: float = 0.0
    """The distance from `unbiased` below which no direction is named."""
    leans: tuple[str, ...] = ()
    """The meaning of a value above and below `unbiased`, with roles in braces; empty for "X lean to A, Y to B"."""
    summary: str = field(default="", compare=False)
    """A one-line description of what the metric measures."""
    direction: str = field(default="", compare=False)
    """The meaning of a larger value."""
    source: str = field(default="", compare=False)
    """The paper that introduced the metric."""
    caution: str = field(default="", compare=False)
    """A caution about reading the numbers, printed once per run."""

    @property
    def scale(self) -> str:
        """Return how to read a value without a unit, such as "1 without bias"; empty if the value has a unit."""
        return "" if self.unit else f"{self.unbiased:g} without bias"

    def to_json(self) -> dict[str, Any]:
        """Return the facts for readers of a stored result: only those that differ from the default, without
        descriptions.
        """
        facts = {
            name: getattr(self, name) for name, default in _FACTS.items() if getattr(self, name) != default
        }
        if "bounds" in facts:
            facts["bounds"] = [end if math.isfinite(end) else None for end in self.bounds]
        targets, attributes = self.shape.targets, self.shape.attributes
        sizes = [targets.least, targets.most, attributes.least, attributes.most]
        return {"shape": [*sizes, self.shape.paired], **facts}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> MetricInfo:
        """Return the info from the result of `to_json`.

        Raises:
            KeyError, TypeError, ValueError: if the record is damaged or has another version.
        """
        least, most, least_attributes, most_attributes, paired = record["shape"]
        shape = Shape(Count(least, most), Count(least_attributes, most_attributes), paired)
        facts = {**record, "shape": shape}
        if "bounds" in facts:
            low, high = facts["bounds"]
            facts["bounds"] = (
                -math.inf if low is None else float(low),
                math.inf if high is None else float(high),
            )
        if "leans" in facts:
            facts["leans"] = tuple(map(str, facts["leans"]))
        info = cls(**facts)
        for name, default in _FACTS.items():
            given = getattr(info, name)
            if not isinstance(given, type(default)) and not (
                isinstance(default, float) and type(given) is int
            ):
                raise TypeError(f"{name} of a metric is {given!r}")
        if not 0 <= info.decimals <= MOST_DECIMALS:
            raise ValueError(f"a metric declares {info.decimals} decimals")
        return info


MOST_DECIMALS = 9


_DESCRIPTIONS = ("summary", "direction", "source", "caution")
_FACTS = {f.name: f.default for f in fields(MetricInfo) if f.name not in ("shape", *_DESCRIPTIONS)}
"""The facts that are stored with a result, and their defaults."""


class ElementScore(NamedTuple):
    """The score of one target element, such as s(w, A, B); a tuple, since a large run has a million of them."""

    role: str
    """The set of the element, such as X or Y."""
    text: str
    word: str
    template: str | None
    score: float


class ByElements(NamedTuple):
    """The value of a test if single elements, not words, are exchanged, as in the papers."""

    value: float
    null: Null


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The value of a metric, with the data for p, intervals and leave-one-out."""

    info: MetricInfo = field(repr=False)
    """The facts that the metric declares."""
    value: float
    """The number of the metric, such as d; NaN if it is undefined."""
    signed_value: float | None = None
    """The signed value, if the value is reported without a sign; otherwise None."""
    test_statistic: float = math.nan
    """The statistic of the permutation test; for WEAT, the sum S of the scores of X minus that of Y."""
    ddof: int = 1
    """Delta degrees of freedom of the standard deviation in the value."""
    target_sizes: tuple[int, ...]
    """The number of elements used in each target set; unknown elements are left out."""
    attribute_sizes: tuple[int, ...]
    scores: tuple[ElementScore, ...] = field(default=(), repr=False)
    """The scores, one per target element, in the order of the test."""
    details: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Further numbers by name, which are stored in the notes of a result."""
    null: Null | None = field(default=None, repr=False, compare=False)
    """The null hypothesis; None for a metric without p. This field is not stored."""
    by_elements: ByElements | None = field(default=None, repr=False, compare=False)
    """The result with single elements exchanged, if words with several sentences are exchanged. This field is not
    stored.
    """
    resample: Resample | None = field(default=None, repr=False, compare=False)
    """An object that recomputes the value for intervals and leave-one-out; None if there is none. This field is not
    stored.
    """
    unbiased: float = field(init=False, repr=False, compare=False)
    """The value without bias."""
    signed: bool = field(init=False, repr=False, compare=False)
    """Whether the sign of the value is a direction."""
    bias: float = field(init=False, repr=False, compare=False)
    """The signed distance of the value from the value without bias."""
    effect_size: float = field(init=False, repr=False, compare=False)
    """The value if it is a d, in standard deviations; NaN for other metrics."""
    num_targ1: int = field(init=False, repr=False, compare=False)
    """The number of elements of X; the next three fields are the numbers for Y, A and B, and 0 for a missing set."""
    num_targ2: int = field(init=False, repr=False, compare=False)
    num_attr1: int = field(init=False, repr=False, compare=False)
    num_attr2: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        info, known = self.info, self.__dict__  # the class is frozen, so that attributes cannot be assigned
        known["unbiased"], known["signed"] = info.unbiased, info.signed
        known["bias"] = (self.value if self.signed_value is None else self.signed_value) - info.unbiased
        known["effect_size"] = self.value if info.poolable else math.nan
        known["num_targ1"], known["num_targ2"], *_ = *self.target_sizes, 0, 0
        known["num_attr1"], known["num_attr2"], *_ = *self.attribute_sizes, 0, 0

    @property
    def x_scores(self) -> Vector:
        """Return the score of each element of X."""
        return scores_of_role(self.scores, "X")

    @property
    def y_scores(self) -> Vector:
        """Return the score of each element of Y."""
        return scores_of_role(self.scores, "Y")


def scores_of_role(scores: Sequence[ElementScore], role: str) -> Vector:
    """Return the scores of the elements of one set, in the given order."""
    return np.array([score.score for score in scores if score.role == role])


@dataclass(slots=True)
class Context:
    """The data that the metrics of one evaluation share."""

    metrics: Sequence[Metric] = ()
    """All metrics that are computed on the same sets, so that common parts are computed once."""
    permute: str = "elements"
    """The exchangeable unit: elements or words."""
    ddof: int = 1
    covariances: tuple[Covariance, Covariance] | None = None
    """The covariances of A and B, for metrics that need them."""
    shared: dict[Hashable, Any] = field(default_factory=dict)
    """Results that one metric computed for others, by a common key."""


class Metric(Protocol):
    """A metric with its parameters; its text is both its identity and its spelling."""

    @property
    def name(self) -> str:
        """Return the spelling on the command line and in the column `metric`, such as "cosine/mean"."""

    @property
    def info(self) -> MetricInfo:
        """Return the facts that the metric declares."""

    def texts(self, test: Test) -> tuple[str, ...]:
        """Return the texts to encode besides the sets of the test."""

    def evaluate(self, sets: Sequence[VectorSet], context: Context) -> Estimate:
        """Return the value and the scores of one test on one model."""
