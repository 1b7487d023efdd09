"""Represent pooled scores as integers, and every alternative hypothesis as tails to count.

Every alternative is reduced to one problem: how many subsets of a given size have a sum of at least a threshold?
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.errors import UnitError
from weatherglass.stats import Alternative

TIE = 1e-12
"""The share of the largest |s| within which scores are ties; sums within this share of Σ|s| are ties, too."""
FEW_PARTITIONS = 10**8
"""The maximum number of partitions for which ties of sums are merged. With more partitions, sums are this close by
chance, and a single partition does not change p.
"""
SPACING_FIT = 1e-13
"""The largest deviation of scores from a common spacing, as a share of the largest |s|."""
LEAST_SPACING = 1e-8
"""The share of the largest |s| below which a common spacing cannot be distinguished from chance."""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """The pooled scores of X and Y as integers; only sums of |X| scores matter, so the smallest score is 0."""

    values: Integers
    """All n scores, ascending and without a common divisor; their sum cannot overflow."""
    size: int
    """|X|."""
    observed: int
    """The sum of the scores of X."""
    slack: int = 0
    """The largest difference from the observed sum that counts as a tie, up to rounding (docs/methods 3)."""
    n: int = field(init=False)
    total: int = field(init=False)
    """The sum of the scores of X and Y."""
    constant: bool = field(init=False)
    """Whether every partition has the same sum."""
    partitions: int = field(init=False)
    """The number of subsets of size |X|."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", len(self.values))
        object.__setattr__(self, "total", int(self.values.sum()))
        object.__setattr__(self, "constant", int(self.values[-1]) == 0)
        object.__setattr__(self, "partitions", math.comb(self.n, self.size))


def on_grid(x: Vector, y: Vector) -> Grid:
    """Sort the scores of X and Y together, merge ties and round the scores to a common integer grid.

    The grid is the common spacing of the scores if they have one (ranks, counts, decimals). Otherwise it is a power of
    two that represents the last bit of the largest score, or the finest that n scores allow without overflow.

    Raises:
        UnitError: if a set is empty or a score is not a finite number.
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    scores = np.concatenate([x, y])
    if not len(x) or not len(y):
        raise UnitError("a permutation test needs at least one score in X and one in Y")
    if not np.isfinite(scores).all():
        raise UnitError("a permutation test needs finite scores; NaN or infinity was given")
    # Scaling by a power of two brings the largest |s| into [1/2, 1) without rounding.
    exponent = math.frexp(float(np.abs(scores).max()))[1]
    scaled = np.ldexp(scores, -exponent)
    order = np.argsort(scaled, kind="stable")
    # Scores that are closer than the tolerance are ties and get one value, the midpoint.
    ordered = scaled[order]
    starts = np.flatnonzero(np.concatenate([[True], np.diff(ordered) > TIE * float(np.abs(ordered).max())]))
    ends = np.concatenate([starts[1:], [len(ordered)]]) - 1
    runs = np.repeat(np.arange(len(starts)), ends - starts + 1)
    levels = ordered[starts] / 2 + ordered[ends] / 2
    integers = _common_spacing(levels)
    slack = 0
    if integers is None:
        bits = min(53, 61 - math.ceil(math.log2(len(scores))))
        integers = np.rint(np.ldexp(levels, bits)).astype(np.int64)
        if math.comb(len(scores), len(x)) <= FEW_PARTITIONS:
            slack = math.ceil(math.ldexp(TIE * math.fsum(np.abs(scaled)), bits))
    integers = integers - integers[0]
    divisor = int(np.gcd.reduce(integers))
    values = (integers // max(divisor, 1))[runs]
    slack = -(-slack // max(divisor, 1))
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return Grid(values, len(x), int(values[rank[: len(x)]].sum()), slack)


def _common_spacing(levels: Vector) -> Integers | None:
    """Return the levels as multiples of their common spacing; None if they have no spacing that is coarse enough.

    0.1 + 0.2 and 0.3 are equal to the person who wrote the scores, but not in binary. Therefore the spacing is found
    by Euclid's algorithm on the differences, and accepted only if every level fits.
    """
    largest = float(np.abs(levels).max())
    steps = levels - levels[0]
    spacing = 0.0
    for step in steps[1:].tolist():
        larger, smaller = step, spacing
        while smaller > LEAST_SPACING / 2 * largest:
            larger, smaller = smaller, abs(math.remainder(larger, smaller))
        spacing = larger
        if spacing < LEAST_SPACING * largest:
            return None
    if spacing == 0.0:
        return np.zeros(len(levels), dtype=np.int64)
    # The widest step, divided by its number of spacings, has the smallest relative error.
    spacing = float(steps[-1]) / round(float(steps[-1]) / spacing)
    multiples = np.rint(steps / spacing)
    if np.abs(steps - multiples * spacing).max() > SPACING_FIT * largest:
        return None
    integers: Integers = multiples.astype(np.int64)
    return integers


@dataclass(frozen=True, slots=True, eq=False)
class Tail:
    """The subsets of `size` of the `values` whose sum is at least `threshold`."""

    values: Integers
    """The values, ascending; the smallest is 0."""
    size: int
    threshold: int

    subsets: int = field(init=False)
    """The number of all subsets of that size."""
    least: int = field(init=False)
    """The smallest sum."""
    greatest: int = field(init=False)
    """The largest sum."""
    beyond_the_mean: bool = field(init=False)
    """Whether the threshold is above the mean sum, compared without rounding."""

    def __post_init__(self) -> None:
        n, size = len(self.values), self.size
        object.__setattr__(self, "subsets", math.comb(n, size))
        object.__setattr__(self, "least", int(self.values[:size].sum()))
        object.__setattr__(self, "greatest", int(self.values[n - size :].sum()))
        object.__setattr__(self, "beyond_the_mean", self.threshold * n > size * int(self.values.sum()))

    @property
    def known(self) -> int | None:
        """Return the count if it is known without counting (none, all, or only the largest sum); otherwise None."""
        greatest = self.greatest
        if self.threshold > greatest:
            return 0
        if self.threshold <= self.least:
            return self.subsets
        # For the smallest step down from the largest sum, the smallest member is replaced by the next smaller value or,
        # if an equal value is outside, the next larger member is replaced by that value.
        n = len(self.values)
        boundary = self.values[n - self.size]
        below, above = self.values[self.values < boundary], self.values[self.values > boundary]
        steps = [int(boundary - below[-1])] if len(below) else []
        if len(above) and self.values[n - self.size - 1] == boundary:
            steps.append(int(above[0] - boundary))
        if self.threshold <= greatest - min(steps, default=greatest + 1):
            return None
        # A largest sum contains all values above its smallest member; only values equal to that can be exchanged.
        return math.comb(n - len(below) - len(above), self.size - len(above))

    def mirrored(self) -> Tail:
        """Return the tail of sums ≤ threshold, with negated values that are shifted so that the smallest is 0."""
        top = int(self.values[-1])
        return Tail(
            np.ascontiguousarray(top - self.values[::-1]), self.size, self.size * top - self.threshold
        )

    def rest(self) -> Tail:
        """Return the tail of the subsets below the threshold; the result is cached, so that its tilt is computed only
        once.
        """
        return _rest(self)


@lru_cache(maxsize=8)
def _rest(tail: Tail) -> Tail:
    return Tail(tail.values, tail.size, tail.threshold - 1).mirrored()


@dataclass(frozen=True, slots=True)
class Extreme:
    """The sums at least as extreme as a given one, which are those ≥ high and those ≤ low."""

    high: int | None
    low: int | None

    def tails(self, grid: Grid) -> tuple[Tail, ...]:
        """Return the disjoint tails whose counts add up."""
        # A sum over X reaches a threshold if the sum over Y stays below the rest, so the smaller set is counted.
        size, complement = min(grid.size, grid.n - grid.size), 2 * grid.size > grid.n
        tails = []
        if self.high is not None:
            high = Tail(grid.values, size, grid.total - self.high if complement else self.high)
            tails.append(high.mirrored() if complement else high)
        if self.low is not None:
            if self.high is not None and 2 * grid.size == grid.n:
                # Exchanging X and Y maps one tail onto the other.
                return (tails[0], tails[0])
            low = Tail(grid.values, size, grid.total - self.low if complement else self.low)
            tails.append(low if complement else low.mirrored())
        return tuple(tails)

    def among(self, sums: Integers) -> int:
        """Return the number of sums that are at least as extreme."""
        hits = np.zeros(len(sums), dtype=bool)
        if self.high is not None:
            hits |= sums >= self.high
        if self.low is not None:
            hits |= sums <= self.low
        return int(hits.sum())


def direction(grid: Grid, alternative: Alternative) -> Alternative:
    """Return the observed side of the null mean for `observed`; return other alternatives unchanged."""
    if alternative != "observed":
        return alternative
    return "greater" if grid.observed * grid.n >= grid.size * grid.total else "less"


def as_extreme_as(grid: Grid, observed: int, side: Alternative, slack: int = 0) -> Extreme:
    """Return the sums that are at least as extreme as `observed` under an alternative, up to the slack."""
    if side == "greater":
        return Extreme(observed - slack, None)
    if side == "less":
        return Extreme(None, observed + slack)
    # For |S − mean| ≥ |observed − mean|, the observed sum is reflected about the mean, in integers.
    reflected_times_n = 2 * grid.size * grid.total - grid.n * observed
    if observed * grid.n > reflected_times_n:
        high, low = observed - slack, reflected_times_n // grid.n + slack
    else:
        high, low = -(-reflected_times_n // grid.n) - slack, observed + slack
    return Extreme(high, low) if high > low else Extreme(0, None)
