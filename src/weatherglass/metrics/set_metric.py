"""Build metrics of whole sets, whose value is recomputed for every subset and labelling of the vectors.

A metric of this kind consists of a few pure functions of matrices. This module converts words to rows, in an order
that depends only on their content, and builds an Estimate with the null hypothesis and leave-one-out values. If words
are exchanged, the row of a word is the mean of the vectors of its sentences.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.catalogue.test import Test
from weatherglass.errors import UnitError, WeatherglassError
from weatherglass.metrics.base import Context, ElementScore, Estimate, MetricInfo
from weatherglass.metrics.exchange import Null, Recompute, UnitGroup
from weatherglass.metrics.sets import (
    VectorSet,
    mean_by_unit,
    name_zero_vector,
    order_by_content,
    too_small,
    unit_names,
    unit_numbers,
)
from weatherglass.registry import suggestion

Matrices = Sequence[Matrix]


class SetMetric(ABC):
    """Base class of the metrics of whole sets."""

    info: ClassVar[MetricInfo]
    scored: ClassVar[str]
    """Which words have scores: "targets" or "attributes"."""
    of_directions: ClassVar[bool] = True
    """Whether the metric uses cosines, which are undefined for a zero vector."""
    least: ClassVar[Mapping[str, int]] = {}
    """The smallest number of words in each kind of set, if it is more than one."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the spelling of the metric."""

    @abstractmethod
    def value_and_scores(self, targets: Matrices, attributes: Matrices) -> tuple[float, list[Vector]]:
        """Return the value, which is NaN if undefined, and the scores of the words of each scored set."""

    @abstractmethod
    def null(self, targets: Matrices, attributes: Matrices) -> Null | None:
        """Return the null hypothesis; None for a metric without p."""

    def bounds_for(self, targets: Sequence[int], attributes: Sequence[int]) -> tuple[float, float]:
        """Return the smallest and the largest possible value for sets of these sizes."""
        del targets, attributes
        return self.info.bounds

    def details(self, targets: Matrices, attributes: Matrices) -> dict[str, Any]:
        """Return further numbers by name; an array has one entry per score."""
        del targets, attributes
        return {}

    def __str__(self) -> str:
        return self.name

    def texts(self, test: Test) -> tuple[str, ...]:
        """Return no texts, since only the sets are needed."""
        del test
        return ()

    def evaluate(self, sets: Sequence[VectorSet], context: Context) -> Estimate:
        """Return the value and the scores of the words, with the null hypothesis and the means for leave-one-out."""
        for element_set in sets:
            least = self.least.get(kind_of(element_set.role), 1)
            if len(element_set) < least:
                raise too_small(element_set, least)
        if self.of_directions and any(not s.vectors.any(axis=1).all() for s in sets):
            raise UnitError(name_zero_vector(sets))
        units = [_units(element_set, context.permute) for element_set in sets]
        targets = [u for u in units if kind_of(u.role) == "targets"]
        attributes = [u for u in units if kind_of(u.role) == "attributes"]
        paired = self.info.shape.paired
        targets = _paired(targets, self.name) if paired else [_by_content(u) for u in targets]
        resample = RecomputedValue(self, targets, [_by_content(u) for u in attributes])
        value, scores, null = resample.whole()
        return Estimate(
            info=self.info,
            value=value,
            ddof=context.ddof,
            target_sizes=tuple(len(s) for s in sets if kind_of(s.role) == "targets"),
            attribute_sizes=tuple(len(s) for s in sets if kind_of(s.role) == "attributes"),
            scores=resample.element_scores(units, scores),
            details=resample.details(),
            null=null,
            resample=resample,
        )


def kind_of(role: str) -> str:
    """Return "targets" for X, Y, X3, … and "attributes" for A, B, A3, …"""
    return "targets" if role[0] in "XY" else "attributes"


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """The words (or elements) of a set, each with one vector."""

    role: str
    names: tuple[str, ...]
    vectors: Matrix

    def taken(self, places: Integers) -> Units:
        """Return the units at the given positions, in that order."""
        return Units(self.role, tuple(self.names[place] for place in places), self.vectors[places])


def _units(element_set: VectorSet, permute: str) -> Units:
    elements = element_set.elements
    names = unit_names(elements, permute)
    numbers = unit_numbers(names)
    return Units(element_set.role, tuple(dict.fromkeys(names)), mean_by_unit(element_set.vectors, numbers))


def _by_content(units: Units) -> Units:
    return units.taken(order_by_content(units.vectors))


def _paired(targets: Sequence[Units], name: str) -> list[Units]:
    sizes = [len(units.names) for units in targets]
    if len(set(sizes)) > 1:
        raise UnitError(
            f"{name} pairs the words of X and Y in their order, but the sets have {' and '.join(map(str, sizes))} words"
        )
    order = order_by_content(np.concatenate([units.vectors for units in targets], axis=1))
    return [units.taken(order) for units in targets]


@dataclass(frozen=True, slots=True, eq=False)
class RecomputedValue(Recompute):
    """The value of a metric on given units, and on all but one of them."""

    metric: SetMetric
    targets: list[Units]
    attributes: list[Units]

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the smallest and the largest value."""
        return self.metric.bounds_for(
            *([len(u.names) for u in kind] for kind in (self.targets, self.attributes))
        )

    @property
    def groups(self) -> tuple[UnitGroup, ...]:
        """Return the units of each set; the two target sets are one group of pairs in a paired metric."""
        exchanged = self.metric.info.exchanges or "targets"
        attributes = [UnitGroup(u.role, u.names, exchanged == "attributes") for u in self.attributes]
        if self.metric.info.shape.paired:
            pairs = [" – ".join(pair) for pair in zip(*(u.names for u in self.targets), strict=True)]
            return (UnitGroup("XY", tuple(pairs), exchanged in ("pairs", "targets")), *attributes)
        sample = "targets" if self.metric.info.one_sample else ""
        targets = [UnitGroup(u.role, u.names, exchanged == "targets", sample) for u in self.targets]
        return (*targets, *attributes)

    def whole(self) -> tuple[float, list[Vector], Null | None]:
        """Return the value, the scores of the scored sets, and the null hypothesis."""
        targets, attributes = _matrices(self.targets), _matrices(self.attributes)
        value, scores = self.metric.value_and_scores(targets, attributes)
        return value, scores, self.metric.null(targets, attributes)

    def without(self, group: int, unit: int) -> tuple[float, Null | None]:
        """Return the value and the null hypothesis without one unit of a group."""
        targets, attributes = _matrices(self.targets), _matrices(self.attributes)
        if self.metric.info.shape.paired:
            if group == 0:
                targets = [np.delete(rows, unit, axis=0) for rows in targets]
            else:
                attributes[group - 1] = np.delete(attributes[group - 1], unit, axis=0)
        elif group < len(targets):
            targets[group] = np.delete(targets[group], unit, axis=0)
        else:
            place = group - len(targets)
            attributes[place] = np.delete(attributes[place], unit, axis=0)
        kinds = {"targets": targets, "attributes": attributes}
        if any(len(rows) < self.metric.least.get(kind, 1) for kind, sets in kinds.items() for rows in sets):
            return math.nan, None
        value, _ = self.metric.value_and_scores(targets, attributes)
        return value, self.metric.null(targets, attributes)

    def details(self) -> dict[str, Any]:
        """Return further numbers by name; an array becomes a dict by word."""
        scored = self.targets if self.metric.scored == "targets" else self.attributes
        names = [name for units in scored for name in units.names]
        details = self.metric.details(_matrices(self.targets), _matrices(self.attributes))
        return {
            name: dict(zip(names, value.tolist(), strict=True)) if isinstance(value, np.ndarray) else value
            for name, value in details.items()
        }

    def element_scores(self, given: Sequence[Units], scores: Sequence[Vector]) -> tuple[ElementScore, ...]:
        """Return the scores of the units, in the order of the test."""
        scored = self.targets if self.metric.scored == "targets" else self.attributes
        by_name = {
            (units.role, name): float(score)
            for units, values in zip(scored, scores, strict=True)
            for name, score in zip(units.names, values, strict=True)
        }
        return tuple(
            ElementScore(units.role, name, name, None, by_name[units.role, name])
            for units in given
            for name in units.names
            if (units.role, name) in by_name
        )


def _matrices(units: Sequence[Units]) -> list[Matrix]:
    return [u.vectors for u in units]


def unit_rows(rows: Matrix) -> Matrix:
    """Return the rows, scaled to length 1."""
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True))


def cosines(rows: Matrix, columns: Matrix) -> Matrix:
    """Return the cosine of every row of the first matrix with every row of the second."""
    return np.asarray(unit_rows(rows) @ unit_rows(columns).T)


def read_parameters(
    metric: str, arguments: Sequence[str], named: Mapping[str, str], known: Sequence[str]
) -> dict[str, str]:
    """Return the parameters of a metric by name, from the arguments in parentheses; unnamed arguments are in the order
    of `known`.

    Raises:
        WeatherglassError: if a parameter is unknown, or there are too many.
    """
    takes = f"it takes {', '.join(known)}" if known else "it takes no parameters"
    if len(arguments) > len(known):
        raise WeatherglassError(f"{metric} has no parameter '{arguments[len(known)]}'; {takes}")
    for name in named:
        if name not in known:
            raise WeatherglassError(
                f"{metric} has no parameter '{name}'; {takes}{suggestion(name, list(known))}"
            )
    return dict(zip(known, arguments, strict=False)) | dict(named)


def read_yes_or_no(metric: str, name: str, given: str) -> bool:
    """Return the value of a parameter that is yes or no.

    Raises:
        WeatherglassError: if the value is neither.
    """
    if given not in ("yes", "no"):
        raise WeatherglassError(f"{metric}: {name} is '{given}', but should be yes or no")
    return given == "yes"
