"""The one counting problem behind every alternative: subsets of a size whose sum reaches a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from weatherglass.arrays import Integers
from weatherglass.stats.permutation.base import Alternative
from weatherglass.stats.permutation.grid import Grid


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """How many subsets of `size` of the `values` have a sum ≥ `threshold`?"""

    values: Integers
    """Ascending, the least one 0."""
    size: int
    threshold: int

    @property
    def subsets(self) -> int:
        """The number of all subsets of that size."""
        return math.comb(len(self.values), self.size)

    @property
    def least(self) -> int:
        """The smallest sum."""
        return int(self.values[: self.size].sum())

    @property
    def greatest(self) -> int:
        """The largest sum."""
        return int(self.values[len(self.values) - self.size :].sum())

    @property
    def known(self) -> int | None:
        """The count where it needs no counting: none, all, or only the largest sum."""
        greatest = self.greatest
        if self.threshold > greatest:
            return 0
        if self.threshold <= self.least:
            return self.subsets
        # The smallest step down from the largest sum: the least member is replaced by the next value below it or, where
        # an equal of it is outside, the next value above it is replaced by that one.
        n = len(self.values)
        boundary = self.values[n - self.size]
        below, above = self.values[self.values < boundary], self.values[self.values > boundary]
        steps = [int(boundary - below[-1])] if len(below) else []
        if len(above) and self.values[n - self.size - 1] == boundary:
            steps.append(int(above[0] - boundary))
        if self.threshold <= greatest - min(steps, default=greatest + 1):
            return None
        # A largest sum takes all that is above its smallest member; only equals of that can be exchanged.
        return math.comb(n - len(below) - len(above), self.size - len(above))

    @property
    def beyond_the_mean(self) -> bool:
        """Whether the threshold lies above the mean sum, compared without rounding."""
        return self.threshold * len(self.values) > self.size * int(self.values.sum())

    def mirrored(self) -> Tail:
        """The same question about sums ≤ threshold: negate the values and lift the least one to 0."""
        top = int(self.values[-1])
        return Tail(
            np.ascontiguousarray(top - self.values[::-1]), self.size, self.size * top - self.threshold
        )

    def rest(self) -> Tail:
        """The subsets that do not reach the threshold; the same object each time, so that its tilt is found once."""
        return _rest(self)

    def with_the_smaller_side(self) -> Tail:
        """The same count, asked of the complements where those have fewer elements."""
        n = len(self.values)
        if 2 * self.size <= n:
            return self
        return Tail(self.values, n - self.size, int(self.values.sum()) - self.threshold).mirrored()


@lru_cache(maxsize=8)
def _rest(tail: Tail) -> Tail:
    return Tail(tail.values, tail.size, tail.threshold - 1).mirrored()


@dataclass(frozen=True, slots=True)
class Extreme:
    """Which sums are at least as extreme as a given one: those ≥ high, and those ≤ low."""

    high: int | None
    low: int | None

    def tails(self, grid: Grid) -> tuple[Tail, ...]:
        """The disjoint tails whose counts add up."""
        tails = []
        if self.high is not None:
            tails.append(Tail(grid.values, grid.size, self.high).with_the_smaller_side())
        if self.low is not None:
            if self.high is not None and 2 * grid.size == grid.n:
                # Exchanging X and Y maps one tail onto the other.
                return (tails[0], tails[0])
            tails.append(Tail(grid.values, grid.size, self.low).mirrored().with_the_smaller_side())
        return tuple(tails)

    def among(self, sums: Integers) -> int:
        """How many of these sums are as extreme."""
        hits = np.zeros(len(sums), dtype=bool)
        if self.high is not None:
            hits |= sums >= self.high
        if self.low is not None:
            hits |= sums <= self.low
        return int(hits.sum())


def direction(grid: Grid, alternative: Alternative) -> Alternative:
    """`observed` as the side of the null mean on which the data lie; the others as they are."""
    if alternative != "observed":
        return alternative
    return "greater" if grid.observed * grid.n >= grid.size * grid.total else "less"


def as_extreme_as(grid: Grid, observed: int, side: Alternative, slack: int = 0) -> Extreme:
    """The sums at least as extreme as `observed` under greater, less or two-sided, and those less so by the slack."""
    if side == "greater":
        return Extreme(observed - slack, None)
    if side == "less":
        return Extreme(None, observed + slack)
    # |S − mean| ≥ |observed − mean|: reflect the observed sum in the mean, in whole numbers.
    reflected_times_n = 2 * grid.size * grid.total - grid.n * observed
    if observed * grid.n > reflected_times_n:
        high, low = observed - slack, reflected_times_n // grid.n + slack
    else:
        high, low = -(-reflected_times_n // grid.n) - slack, observed + slack
    return Extreme(high, low) if high > low else Extreme(0, None)
