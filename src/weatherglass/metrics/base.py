"""What a metric is: a value with a shape, which turns the vectors of a test into a Measurement."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.catalogue.test import Test
from weatherglass.metrics.sets import VectorSet

if TYPE_CHECKING:
    from weatherglass.inference.significance.base import Alternative, Significance
    from weatherglass.metrics.weat.covariance import Covariance
    from weatherglass.metrics.weat.tables import NamedSample

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Count:
    """How many sets of a kind a metric takes."""

    least: int
    most: int | None
    """None for any number."""

    def __contains__(self, number: int) -> bool:
        return self.least <= number and (self.most is None or number <= self.most)

    def __str__(self) -> str:
        return str(self.least) if self.most == self.least else f"at least {self.least}"


def exactly(number: int) -> Count:
    """This many sets and no others."""
    return Count(number, number)


AT_LEAST_ONE = Count(1, None)
AT_LEAST_TWO = Count(2, None)


@dataclass(frozen=True, slots=True)
class Shape:
    """How many target and attribute sets a metric takes; WEAT takes two and two."""

    targets: Count
    attributes: Count

    def fits(self, targets: int, attributes: int) -> bool:
        """Whether a test with these numbers of sets can be measured."""
        return targets in self.targets and attributes in self.attributes

    def __str__(self) -> str:
        return f"{self.targets} target and {self.attributes} attribute sets"


@dataclass(frozen=True, slots=True)
class ElementScore:
    """The score of one target element, such as s(w, A, B)."""

    role: str
    """The set it is in: X or Y."""
    text: str
    word: str
    template: str | None
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Exchange:
    """Two groups of scores whose labels the null hypothesis makes exchangeable."""

    x: Vector
    y: Vector
    effect_size: Callable[[Vector, Vector], float]
    """The metric's value for any such scores."""
    significance: Callable[[Vector, Vector, Alternative, np.random.Generator], Significance] | None = None
    """p as the metric's profile has it; None for the exact permutation test."""
    ddof: int = 1
    """Of the standard deviation in d."""
    alternatives: tuple[Alternative, ...] = ()
    """The tails that the profile knows, its default first; empty for all of them."""
    signed_effect_size: float | None = None
    """d with its sign, where the value is printed without."""

    def tail(self, requested: Alternative) -> Alternative:
        """The alternative to test."""
        return requested if not self.alternatives or requested in self.alternatives else self.alternatives[0]


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """The raw measures of a test by unit, and the same without each sentence template."""

    whole: NamedSample
    without_templates: tuple[tuple[str, NamedSample], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What a metric found, before any inference."""

    value: float
    """The metric's number, such as d; NaN where it is not defined."""
    unbiased: float = 0.0
    """What the value is without bias."""
    signed: bool | None = True
    """Whether the sign of the value is a direction; None where neither folder nor registry knows."""
    is_effect_size: bool = True
    """Whether the value is a d, in standard deviations of the scores."""
    test_statistic: float = math.nan
    """What the exchange of labels is about; for WEAT S, the sum of the scores of X less that of Y."""
    target_sizes: tuple[int, ...]
    """How many elements of each target set were used; those that the model does not know are left out."""
    attribute_sizes: tuple[int, ...]
    scores: tuple[ElementScore, ...] = field(default=(), repr=False)
    """One per target element, in the order of the test."""
    exchange: Mapping[str, Exchange] = field(default_factory=dict, repr=False, compare=False)
    """By unit (elements, words): what p exchanges; empty for a metric without such groups. Not stored."""
    samples: Callable[[], Samples] | None = field(default=None, repr=False, compare=False)
    """What intervals and leave-one-out start from. Not stored."""

    @property
    def effect_size(self) -> float:
        """The value, where it is a d; NaN for other metrics."""
        return self.value if self.is_effect_size else math.nan

    @property
    def num_targ1(self) -> int:
        """Elements of X; the next three likewise for Y, A and B, 0 for a set that the test lacks."""
        return _nth(self.target_sizes, 0)

    @property
    def num_targ2(self) -> int:
        return _nth(self.target_sizes, 1)

    @property
    def num_attr1(self) -> int:
        return _nth(self.attribute_sizes, 0)

    @property
    def num_attr2(self) -> int:
        return _nth(self.attribute_sizes, 1)

    @property
    def x_scores(self) -> Vector:
        """The score of each element of X."""
        return scores_of_role(self.scores, "X")

    @property
    def y_scores(self) -> Vector:
        """The score of each element of Y."""
        return scores_of_role(self.scores, "Y")


def _nth(sizes: Sequence[int], place: int) -> int:
    return sizes[place] if place < len(sizes) else 0


def scores_of_role(scores: Sequence[ElementScore], role: str) -> Vector:
    """The scores of the elements of one set, in their order."""
    return np.array([score.score for score in scores if score.role == role])


@dataclass(slots=True)
class Context:
    """What the metrics of one evaluation share."""

    metrics: Sequence[Metric] = ()
    """All that are computed on the same sets, so that they can compute common parts once."""
    permute: str = "elements"
    """The exchangeable unit: elements or words."""
    ddof: int = 1
    covariances: tuple[Covariance, Covariance] | None = None
    """Of A and B, for metrics that need them."""
    _computed: dict[Hashable, Any] = field(default_factory=dict)

    def once(self, name: Hashable, compute: Callable[[], T]) -> T:
        """The value of `compute`, which is called for the first metric that asks for `name` only."""
        if name not in self._computed:
            self._computed[name] = compute()
        return cast(T, self._computed[name])


class Metric(Protocol):
    """A value with parameters; its text is its identity and its spelling everywhere."""

    @property
    def name(self) -> str:
        """As it is spelt on the command line and in the column `metric`, such as "cosine/mean"."""

    @property
    def shape(self) -> Shape:
        """The numbers of sets that it takes."""

    @property
    def signed(self) -> bool:
        """Whether the sign of its value is a direction."""

    @property
    def unbiased(self) -> float:
        """Its value without bias."""

    @property
    def is_effect_size(self) -> bool:
        """Whether its value is a d as in WEAT: the difference of X and Y in standard deviations of the scores."""

    @property
    def whitened(self) -> bool:
        """Whether it needs the covariances of the attribute sets."""

    @property
    def assessed(self) -> bool:
        """Whether intervals and leave-one-out are cheap enough to be computed without being asked for."""

    def texts(self, test: Test) -> tuple[str, ...]:
        """What has to be encoded besides the sets of the test."""

    def measure(self, sets: Sequence[VectorSet], context: Context) -> Measurement:
        """The value and the scores of one test on one model."""
