"""What a metric is: a value with a shape, which turns the vectors of a test into a Measurement."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.catalogue.test import Test
from weatherglass.metrics.nulls import Exchange, Null
from weatherglass.metrics.sets import VectorSet

if TYPE_CHECKING:
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

    def selections(self, number: int) -> list[tuple[int, ...]]:
        """Which of so many sets are taken together: all, or each by itself; none where neither will do."""
        if number in self:
            return [tuple(range(number))]
        return [(place,) for place in range(number)] if self.most == 1 and number else []

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
    paired: bool = False
    """Whether the first word of X belongs to the first of Y, and so on, so that both must be of one size."""

    def fits(self, targets: int, attributes: int) -> bool:
        """Whether a test with these numbers of sets can be measured."""
        return targets in self.targets and attributes in self.attributes

    def selections(self, targets: int, attributes: int) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Which target and which attribute sets to measure together; a metric that takes one takes each in turn.

        >>> Shape(exactly(1), exactly(2)).selections(2, 2)
        [((0,), (0, 1)), ((1,), (0, 1))]
        >>> Shape(exactly(2), exactly(2)).selections(3, 2)
        []
        """
        return [
            (chosen_targets, chosen_attributes)
            for chosen_targets in self.targets.selections(targets)
            for chosen_attributes in self.attributes.selections(attributes)
        ]

    def __str__(self) -> str:
        paired = "paired " if self.paired else ""
        return f"{self.targets} {paired}target and {self.attributes} attribute sets"


class ElementScore(NamedTuple):
    """The score of one target element, such as s(w, A, B); a tuple, since a large run has a million of them."""

    role: str
    """The set it is in: X or Y."""
    text: str
    word: str
    template: str | None
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """The raw measures of a test by unit, and the scores without each sentence template."""

    whole: NamedSample
    without_templates: tuple[tuple[str, Vector, Vector], ...] = ()
    """A template with the scores of X and of Y without its sentences."""


class Recomputing(Protocol):
    """A value that can be computed again without one of its units."""

    @property
    def groups(self) -> tuple[UnitGroup, ...]:
        """Its units, in groups that are samples of their own."""

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which the value lies."""

    def without(self, group: int, unit: int) -> tuple[float, Null | None]:
        """The value, and what p exchanges, without one unit of a group."""


@dataclass(frozen=True, slots=True)
class UnitGroup:
    """Units that stand for more of their kind: the words of a set, or the pairs of two sets."""

    role: str
    """X, A, …; XY for pairs."""
    names: tuple[str, ...]
    exchanged: bool
    """Whether p exchanges them, so that they are what varies in the interval beside p."""
    sample: str = ""
    """What they are a sample of, where that is more than this group: groups of one sample vary about one mean."""


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
    leans: tuple[str, ...] = ()
    """What a value above and below `unbiased` means, with roles in braces; empty where d says it, or nothing does."""
    details: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    """Further numbers by name; kept in the notes of a result."""
    exchange: Mapping[str, Exchange] = field(default_factory=dict, repr=False, compare=False)
    """By unit (elements, words): scores whose labels p exchanges, as WEAT's are. Not stored."""
    samples: Callable[[], Samples] | None = field(default=None, repr=False, compare=False)
    """What WEAT's intervals and leave-one-out start from. Not stored."""
    null: Null | None = field(default=None, repr=False, compare=False)
    """What else p exchanges; None with `exchange`, and for a metric that has no p. Not stored."""
    recomputing: Recomputing | None = field(default=None, repr=False, compare=False)
    """How intervals and leave-one-out come about where the value is computed anew. Not stored."""

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
