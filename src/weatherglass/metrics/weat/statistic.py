"""Statistics: what becomes of a word's raw measures to all of A and to all of B (docs/methods 1).

A statistic is given each word's measures **sorted ascending**, one row a word: they are sorted once for all
statistics, and what is summed in sorted order cannot depend on the order in which attributes were listed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from weatherglass.arrays import Matrix, Vector


class Statistic(Protocol):
    """Turns raw measures into scores."""

    @property
    def signed(self) -> bool:
        """Whether a score above 0 means nearer to A and one below 0 nearer to B; else scores have no direction."""
        ...

    def association(self, to_a: Matrix, to_b: Matrix, orientation: int) -> Vector:
        """s(w, A, B) of every row w, from its sorted measures to A and to B."""
        ...


@dataclass(frozen=True, slots=True)
class SetStatistic:
    """A number f for each set: s is f over A less f over B, turned round for a distance.

    A user's own takes one line:

        STATISTICS.register("midrange", SetStatistic(lambda rows: (rows[:, 0] + rows[:, -1]) / 2))
    """

    signed: ClassVar[bool] = True
    of_set: Callable[[Matrix], Vector]
    """f of every row of sorted raw measures."""

    def association(self, to_a: Matrix, to_b: Matrix, orientation: int) -> Vector:
        """o · (f over A − f over B)."""
        return orientation * (self.of_set(to_a) - self.of_set(to_b))


@dataclass(frozen=True, slots=True)
class PairStatistic:
    """A number for the two sets together that has no direction, such as the paper's equation 2."""

    signed: ClassVar[bool] = False
    of_sets: Callable[[Matrix, Matrix], Vector]

    def association(self, to_a: Matrix, to_b: Matrix, orientation: int) -> Vector:  # noqa: ARG002
        """The number as it is: an unsigned one is not turned round for a distance."""
        return self.of_sets(to_a, to_b)


def mean(rows: Matrix) -> Vector:
    """The mean of each row."""
    means: Vector = rows.mean(axis=1)
    return means


def median(rows: Matrix) -> Vector:
    """The middle of each sorted row, or the mean of the two in the middle."""
    size = rows.shape[1]
    middle: Vector = (rows[:, (size - 1) // 2] + rows[:, size // 2]) / 2
    return middle


def minimum(rows: Matrix) -> Vector:
    """The first of each sorted row."""
    return rows[:, 0]


def maximum(rows: Matrix) -> Vector:
    """The last of each sorted row."""
    return rows[:, -1]


def nearest_pair(to_a: Matrix, to_b: Matrix) -> Vector:
    """min over a∈A, b∈B of |m(w,a) − m(w,b)| (Azarpanah & Farhadloo 2021, equation 2).

    The nearest a and b are neighbours once the two rows are merged: whatever lay between them would be
    nearer to one of them. The stable sort merges two sorted runs in linear time.
    """
    merged = np.concatenate([to_a, to_b], axis=1)
    order = np.argsort(merged, axis=1, kind="stable")
    from_a = order < to_a.shape[1]
    gaps = np.diff(np.take_along_axis(merged, order, axis=1), axis=1)
    gaps[from_a[:, 1:] == from_a[:, :-1]] = np.inf
    nearest: Vector = gaps.min(axis=1)
    return nearest


MEAN = SetStatistic(mean)
MEDIAN = SetStatistic(median)
MIN = SetStatistic(minimum)
MAX = SetStatistic(maximum)
EQ2 = PairStatistic(nearest_pair)
