"""Fourier coefficients of the tilted sum on the subsets of the right size, with a bound on their error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Vector
from weatherglass.stats.permutation.kernel import compiled

_CHUNK = 64
_TURNS = 16
"""Phases are computed anew for one k in so many, from whole numbers; in between each is the one before, turned."""
_ROUNDING = 64 * 2.0**-53
"""What one frequency of the count can add to the error of their sum."""
ROUNDING_PER_ELEMENT = 40 * _TURNS * 2.0**-53
"""What one more factor can add to the error of a product of factors of modulus at most 1: turning has its part."""


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Elements that are drawn independently: element j adds values[j] with probability included[j]."""

    values: Integers
    excluded: Vector
    included: Vector


class Coefficients:
    """c_k = E[1(count = size mod counts) · e^(2πi·k·(sum − threshold)/period)] for k = 0, 1, 2, …

    More of them are computed when asked for, in order, and kept. Phases are reduced in whole numbers, so k can be
    as large as it likes without losing a digit. A product of factors below `cut` is left out; each factor is at most 1
    in modulus.
    """

    def __init__(
        self, weights: Weights, size: int, threshold: int, period: int, counts: int, cut: float
    ) -> None:
        # Elements whose fate is least certain come first: their factors are the smallest.
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
        """Multiplications done so far: a measure of time that does not depend on the machine."""
        self.error = ROUNDING_PER_ELEMENT * len(order) + _ROUNDING * counts + cut
        """Bound of the error of every coefficient."""

    @property
    def values(self) -> NDArray[np.complex128]:
        """The coefficients so far."""
        return self._table[: self._known]

    def extend(self, terms: int, work: int) -> None:
        """Compute coefficients until there are `terms`, or until `work` multiplications have been done in all."""
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
    """Cosines and sines."""
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
    """The next len(out) coefficients; `residues` holds k·a_j mod period and moves on. Returns the work done.

    Of each element, and last of the threshold, the phase at k, and by how much it turns from k to k + 1, are two
    numbers each; so are the roots of unity. What it works in is given: code that allocates takes longer to compile.
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
            # Times e^(−2πi·l·size/counts), the frequency's share of "count = size".
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
