"""Compute certain bounds of a tail, using a tilted characteristic function, a majorant and a minorant.

docs/methods/significance.md derives the construction and every error term.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Vector
from weatherglass.stats.permutation.grid import Tail
from weatherglass.stats.permutation.kernels import compiled
from weatherglass.stats.permutation.tilt import find_tilt

_CHUNK = 64
_TURNS = 16
"""The number of values of k after which phases are recomputed from integers; in between, each is rotated from the
previous one.
"""
_ROUNDING = 64 * 2.0**-53
"""A bound of the error that one frequency of the count adds to the sum of the frequencies."""
ROUNDING_PER_ELEMENT = 40 * _TURNS * 2.0**-53
"""A bound of the error, including rotation, that one factor adds to a product of factors of modulus at most 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Elements that are drawn independently; element j adds values[j] with probability included[j]."""

    values: Integers
    excluded: Vector
    included: Vector


class Coefficients:
    """c_k = E[1(count = size mod counts) · e^(2πi·k·(sum − threshold)/period)] for k = 0, 1, 2, …

    The coefficients are computed on demand, in order, and stored. Phases are reduced in integer arithmetic, so that no
    digits are lost for large k. Products below `cut` are left out; each factor has a modulus of at most 1.
    """

    def __init__(
        self, weights: Weights, size: int, threshold: int, period: int, counts: int, cut: float
    ) -> None:
        # The least certain elements come first, because their factors are the smallest.
        order = np.argsort(-(weights.excluded * weights.included), kind="stable")
        self._steps = np.append(weights.values[order] % period, threshold % period)
        self._residues = np.zeros_like(self._steps)
        self._excluded, self._included = weights.excluded[order], weights.included[order]
        self._size, self._period, self._counts, self._cut = size, period, counts, cut
        roots = _unit_circle([2 * math.pi * part / counts for part in range(counts)])
        turns = _unit_circle([2 * math.pi * (step / period) for step in self._steps.tolist()])
        self._roots, self._turns, self._phases = roots, turns, np.empty_like(turns)
        self._products, self._which = np.empty((4, counts)), np.empty(counts, dtype=np.int64)
        self._table: NDArray[np.complex128] = np.zeros(1024, dtype=np.complex128)
        self._known = 0
        self.work = 0
        """The number of multiplications so far, a measure of time that does not depend on the machine."""
        self.error = ROUNDING_PER_ELEMENT * len(order) + _ROUNDING * counts + cut
        """A bound of the error of every coefficient."""

    @property
    def values(self) -> NDArray[np.complex128]:
        """Return the coefficients that have been computed."""
        return self._table[: self._known]

    def extend(self, terms: int, work: int) -> None:
        """Compute coefficients until there are `terms`, or until `work` multiplications have been done in total."""
        while self._known < terms and self.work < work:
            chunk = min(terms - self._known, _CHUNK)
            if self._known + chunk > len(self._table):
                self._table = np.concatenate([self._table, np.zeros_like(self._table)])
            given: tuple[Any, ...] = (
                *(self._steps, self._residues, *self._turns, *self._phases),
                *(self._excluded, self._included, *self._roots, *self._products, self._which),
                *(self._size, self._period, self._cut, self._table[self._known : self._known + chunk]),
            )
            self.work += _coefficients(*given)
            self._known += chunk


def _unit_circle(angles: Sequence[float]) -> NDArray[np.float64]:
    """Return the cosines and the sines."""
    return np.array([[math.cos(angle) for angle in angles], [math.sin(angle) for angle in angles]])


@compiled
def _coefficients(
    steps: Integers,
    residues: Integers,
    turn_re: Vector,
    turn_im: Vector,
    phase_re: Vector,
    phase_im: Vector,
    excluded: Vector,
    included: Vector,
    root_re: Vector,
    root_im: Vector,
    re: Vector,
    im: Vector,
    at_re: Vector,
    at_im: Vector,
    which: Integers,
    size: int,
    period: int,
    cut: float,
    out: NDArray[np.complex128],
) -> int:
    """Compute the next len(out) coefficients and return the work done; `residues`, k·a_j mod period, is updated.

    Phases, rotations from k to k + 1 and roots of unity are complex numbers, each given as two arrays; the last element
    is the threshold. The caller provides the work space, because code that allocates takes longer to compile.
    """
    n, counts = len(excluded), len(root_re)
    work = 0
    for k in range(len(out)):
        if k % _TURNS == 0:
            for j in range(n + 1):
                angle = 2 * math.pi * (residues[j] / period)
                phase_re[j], phase_im[j] = math.cos(angle), math.sin(angle)
        for i in range(counts):
            re[i] = 1.0
            im[i] = 0.0
            at_re[i] = root_re[i]
            at_im[i] = root_im[i]
            which[i] = i
        alive, j = counts, 0
        while j < n and alive > 0:
            stop = j + 8 if j + 8 < n else n
            work += (stop - j) * (alive + 4)
            while j < stop:
                stay = excluded[j]
                go_re, go_im = included[j] * phase_re[j], included[j] * phase_im[j]
                for i in range(alive):
                    factor_re = stay + (go_re * at_re[i] - go_im * at_im[i])
                    factor_im = go_re * at_im[i] + go_im * at_re[i]
                    product = re[i] * factor_re - im[i] * factor_im
                    im[i] = re[i] * factor_im + im[i] * factor_re
                    re[i] = product
                j += 1
            kept = 0
            for i in range(alive):
                if re[i] * re[i] + im[i] * im[i] >= cut * cut:
                    re[kept] = re[i]
                    im[kept] = im[i]
                    at_re[kept] = at_re[i]
                    at_im[kept] = at_im[i]
                    which[kept] = which[i]
                    kept += 1
            alive = kept
        sum_re, sum_im = 0.0, 0.0
        for i in range(alive):
            # The factor e^(−2πi·l·size/counts) selects "count = size".
            back = (which[i] * size) % counts
            sum_re += re[i] * root_re[back] + im[i] * root_im[back]
            sum_im += im[i] * root_re[back] - re[i] * root_im[back]
        back_re, back_im = phase_re[n] / counts, -phase_im[n] / counts
        out[k] = complex(sum_re * back_re - sum_im * back_im, sum_re * back_im + sum_im * back_re)
        work += n
        for j in range(n + 1):
            turned = phase_re[j] * turn_re[j] - phase_im[j] * turn_im[j]
            phase_im[j] = phase_re[j] * turn_im[j] + phase_im[j] * turn_re[j]
            phase_re[j] = turned
            residue = residues[j] + steps[j]
            residues[j] = residue - period if residue >= period else residue
    return work


_UNIT = 2.0**-53
_WRAP_SHARE = 1e-4
"""The share of the requested precision by which wrapped mass may widen the interval; omitted products may add as
much.
"""
_CERTAIN = 300.0
"""The log-odds above which elements are fixed; the subsets that are left out weigh at most e^(−300) each."""
_PULLS = np.geomspace(0.5, 64, 29)
"""The arguments, per standard deviation, at which Chernoff's inequality is evaluated."""
_LONGEST_PERIOD = 2**62
"""The longest period for which the sum of two residues cannot overflow."""


@dataclass(frozen=True, slots=True)
class TailInterval:
    """Two numbers that certainly enclose the share of a tail."""

    low: float
    high: float

    def complement(self) -> TailInterval:
        """Return the interval of the subsets outside the tail."""
        return TailInterval(max(1 - self.high - _UNIT, 0.0), min(1 - self.low + _UNIT, 1.0))

    def __add__(self, other: TailInterval) -> TailInterval:
        """Return the interval of the union of two disjoint tails."""
        low, high = self.low + other.low, self.high + other.high
        return TailInterval(low * (1 - 2 * _UNIT), min(high * (1 + 2 * _UNIT), 1.0))


def bound_tail(tail: Tail, precision: float, work: int) -> TailInterval:
    """Return an interval that contains the tail's share of all subsets, with a relative width of `precision` if
    possible.

    `work` limits the number of multiplications, so that the result does not depend on the speed of the machine.
    """
    if tail.known is not None:
        share = tail.known / tail.subsets
        return TailInterval(share * (1 - 2 * _UNIT), min(share * (1 + 2 * _UNIT), 1.0))
    if not tail.beyond_the_mean:
        return bound_tail(tail.rest(), precision, work).complement()
    tilt = find_tilt(tail)
    part = TiltedStratum(tail.values, tail.size, tilt.offset, tilt.centre)
    return bound_tilted(
        [part], tail.threshold, tilt.rate, tilt.log_p, tilt.density, precision=precision, work=work
    )


@dataclass(frozen=True, slots=True, eq=False)
class TiltedStratum:
    """A stratum of words whose labels are exchanged with each other, with `size` of them in X, and the stratum's
    tilt.
    """

    values: Integers
    size: int
    offset: float
    """μ: the log-odds of a word at the centre."""
    centre: int
    """The value that is subtracted from all others."""

    @property
    def subsets(self) -> int:
        """Return the number of labellings of this stratum."""
        return math.comb(len(self.values), self.size)


def bound_tilted(
    strata: Sequence[TiltedStratum],
    threshold: int,
    rate: float,
    log_p: float,
    density: float,
    *,
    precision: float,
    work: int,
) -> TailInterval:
    """Return an interval that contains the share of labellings whose sum over all strata reaches the threshold.

    Args:
        strata: the strata with their tilts.
        threshold: a threshold above the mean of the sum.
        rate: λ, the same in all strata.
        log_p: an estimate of the logarithm of the share.
        density: an estimate of the density at the threshold divided by the share.
        precision: the requested relative width.
        work: the maximum number of multiplications.
    """
    tilted = TiltedTail(strata, threshold, rate, log_p, precision)
    if not tilted.sound:
        return TailInterval(0.0, 1.0)
    terms = math.ceil(min(1.105 * tilted.period * density / precision, 1e15))
    gap = math.inf
    while True:
        terms = min(terms, tilted.period)
        reached = min(terms, tilted.extend(terms, work))
        interval = tilted.interval(reached)
        wider, gap = gap, interval.high - interval.low
        if gap <= precision * interval.low or reached < terms or terms == tilted.period or gap > 0.9 * wider:
            return interval
        # The gap decreases like 1/terms until single sums are distinguished.
        missing = gap / (precision * interval.low) if interval.low > 0 else math.inf
        terms = math.ceil(terms * min(max(1.05 * missing, 1.25), 4.0))


@dataclass(frozen=True, slots=True, eq=False)
class _Free:
    """The elements of a stratum that are random."""

    weights: Weights
    size: int
    exponents: Vector
    offset: float


class TiltedTail:
    """A tail under its tilt, with weights, the logarithm of the prefactor, a safe period, and error bounds.

    Given their counts, strata are independent under the tilt, so that their Fourier coefficients are multiplied.
    """

    def __init__(
        self, strata: Sequence[TiltedStratum], threshold: int, rate: float, log_p: float, precision: float
    ) -> None:
        self.rate = rate
        self.left_out = 0.0
        self.threshold = threshold
        self._parts = [self._free(stratum) for stratum in strata]
        self.values = np.concatenate([part.weights.values for part in self._parts])
        self.excluded: Vector = np.concatenate([part.weights.excluded for part in self._parts])
        self.included: Vector = np.concatenate([part.weights.included for part in self._parts])
        self._weigh([math.log(stratum.subsets) for stratum in strata])
        expected = max(min(log_p - self.log_prefactor, 0.0), -60.0)
        tolerated = math.log(_WRAP_SHARE * precision) + expected
        self.period = self._period(tolerated)
        self.wrapped = 6 * len(strata) * math.exp(tolerated) / -math.expm1(-self.rate * self.period)
        self._coefficients = [
            Coefficients(
                part.weights,
                part.size,
                self.threshold if place == 0 else 0,
                self.period,
                self._counts(part, tolerated),
                cut=math.exp(tolerated),
            )
            for place, part in enumerate(self._parts)
        ]
        # Every factor has a modulus of at most 1, so the error of a product is at most the sum of the errors of its
        # factors, apart from second-order terms and the rounding of the multiplications.
        others = len(strata) - 1
        self.error = sum(part.error for part in self._coefficients) * (1 + 1e-6 * others) + 8 * others * _UNIT

    @property
    def sound(self) -> bool:
        """Return whether the sums fit into integers, and a subset of the size exists with the fixed elements."""
        return self.period < _LONGEST_PERIOD and all(
            0 <= part.size <= len(part.weights.values) for part in self._parts
        )

    def extend(self, terms: int, work: int) -> int:
        """Compute coefficients until there are `terms`, or until `work` is done; return their number."""
        for part in self._coefficients:
            part.extend(terms, work // len(self._coefficients))
        return min(len(part.values) for part in self._coefficients)

    def interval(self, terms: int) -> TailInterval:
        """Return bounds from the first `terms` coefficients, which is a band limit of terms/period."""
        c, k = self._coefficients[0].values[:terms], np.arange(terms)
        for part in self._coefficients[1:]:
            c = c * part.values[:terms]
        majorant, fejer, rounding = extremal_transforms(terms, self.rate * (self.period / terms))
        weights = np.where(k == 0, 1.0, 2.0) / terms
        errors = (np.abs(majorant) + 1) * (self.error + 48 * _UNIT) + rounding
        error = _sum(weights * errors)
        above = _sum(weights * (majorant * c).real) + error + self.left_out
        # The minorant is shifted down by one grid unit, so that sums at the threshold count; no sum lies in between.
        one_lower = c * np.exp(2j * math.pi * (k / self.period))
        below = _sum(weights * ((majorant - fejer) * one_lower).real) - error - self.wrapped
        return TailInterval(
            self._share(below, self.rate - self.log_error), min(self._share(above, self.log_error), 1.0)
        )

    def _free(self, stratum: TiltedStratum) -> _Free:
        """Fix the elements that are almost certainly included or excluded, and return the others."""
        shifted = stratum.values - stratum.centre
        exponents = self.rate * shifted.astype(np.float64) + stratum.offset
        always, free = exponents > _CERTAIN, np.abs(exponents) <= _CERTAIN
        self.left_out += math.exp(-_CERTAIN) * int((~free).sum())
        self.threshold -= stratum.size * stratum.centre + int(shifted[always].sum())
        exponents = exponents[free]
        weights = Weights(shifted[free], 1 / (1 + np.exp(exponents)), 1 / (1 + np.exp(-exponents)))
        return _Free(weights, stratum.size - int(always.sum()), exponents, stratum.offset)

    def _share(self, weight: float, log_factor: float) -> float:
        """Return a tilted weight as a share of all subsets."""
        return math.exp(min(self.log_prefactor + log_factor + math.log(weight), 1.0)) if weight > 0 else 0.0

    def _weigh(self, log_subsets: Sequence[float]) -> None:
        """Set the logarithm of the factor from tilted weight to share, and the largest error for any subset."""
        log_terms = [
            *(-np.log(self.excluded)).tolist(),
            *(-part.offset * part.size for part in self._parts),
            -self.rate * self.threshold,
            *(-subsets for subsets in log_subsets),
        ]
        self.log_prefactor = math.fsum(log_terms)
        of_elements = sum(
            part.size
            * (4 * float(np.abs(part.exponents - part.offset).max(initial=0.0)) + 8 * abs(part.offset) + 32)
            for part in self._parts
        )
        furthest = self.rate * (float(self.values[self.values > 0].sum()) + abs(self.threshold))
        self.log_error = 8 * _UNIT * (of_elements + _sum(np.abs(log_terms)) + furthest + 16)

    def _period(self, tolerated: float) -> int:
        """Return a period for which the mass that wraps around at either end is below e^tolerated."""
        values = self.values.astype(np.float64)
        below, above = _reach(values, self.excluded, self.included, float(self.threshold), tolerated)
        return max(math.ceil(below - tolerated / self.rate), math.ceil(above) + 1, 2)

    @staticmethod
    def _counts(part: _Free, tolerated: float) -> int:
        """Return the number of frequencies that distinguish the count `size` from other counts."""
        n, weights = len(part.weights.values), part.weights
        below, above = _reach(np.ones(n), weights.excluded, weights.included, float(part.size), tolerated)
        return min(max(math.ceil(max(below, above)), 1), max(part.size, n - part.size) + 1)


def _reach(
    values: Vector, excluded: Vector, included: Vector, at: float, tolerated: float
) -> tuple[float, float]:
    """Return distances below and above `at` beyond which a tilted sum has mass of at most e^tolerated (Chernoff)."""
    spread = math.sqrt(float((excluded * included) @ values**2)) or 1.0
    pulls = _PULLS / spread
    log_excluded, log_included = np.log(excluded), np.log(included)
    distances = []
    for sign in (-1.0, 1.0):
        log_moment = np.logaddexp(log_excluded, log_included + (sign * pulls)[:, None] * values).sum(axis=1)
        distances.append(float(((log_moment - sign * pulls * at - tolerated) / pulls).min()))
    return distances[0], distances[1]


def extremal_transforms(terms: int, rate: float) -> tuple[NDArray[np.complex128], Vector, Vector]:
    """Return the Fourier transform of the least majorant of e^(−rate·u)·1(u ≥ 0) with band [−1, 1], at k/terms ≥ 0.

    The majorant is that of Graham & Vaaler (1981). The second result is the Fejér kernel; the majorant minus this
    kernel is the greatest minorant. The third result bounds the rounding error of the first.
    """
    k = np.arange(terms)
    fejer = (terms - k) / terms
    # The geometric sum has period 1; using the smaller of the two angles loses no digits.
    angles = 2j * math.pi * (np.where(2 * k > terms, k - terms, k) / terms)
    geometric = -1 / np.expm1(-rate - angles)
    at_zero = -rate / math.expm1(-rate)
    slopes = np.where(k > 0, at_zero - rate * geometric, 0.0) / (2j * math.pi)
    rounding = 32 * _UNIT * (fejer * np.abs(geometric) + at_zero + rate * np.abs(geometric))
    return fejer * geometric + slopes, fejer, rounding


def _sum(terms: Vector) -> float:
    """Return the correctly rounded sum."""
    return math.fsum(terms.tolist())
