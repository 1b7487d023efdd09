"""Fourier coefficients of the tilted sum on the subsets of the right size, with a bound on their error."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Vector
from weatherglass.inference.significance.kernel import compiled

CUT = 1e-18
"""A product of factors below this is left out; each factor is at most 1 in modulus."""
_CHUNK = 64
_BLOCK = 12
"""So many factors are multiplied before products that have become negligible are dropped."""
ROUNDING_PER_ELEMENT = 64 * 2.0**-53
"""What one more factor can add to the error of a product of factors of modulus at most 1."""


@dataclass(frozen=True, slots=True, eq=False)
class Weights:
    """Elements that are drawn independently: element j adds values[j] with probability included[j]."""

    values: Integers
    excluded: Vector
    included: Vector


class Coefficients:
    """c_k = E[1(count = size mod counts) · e^(2πi·k·(sum − threshold)/period)] for k = 0, 1, 2, …

    More of them are computed when asked for, in order, and kept. Phases are reduced in whole numbers, so k can be
    as large as it likes without losing a digit.
    """

    def __init__(self, weights: Weights, size: int, threshold: int, period: int, counts: int) -> None:
        # Elements whose fate is least certain come first: their factors are the smallest.
        order = np.argsort(-(weights.excluded * weights.included), kind="stable")
        self._steps = np.append(weights.values[order] % period, threshold % period)
        self._residues = np.zeros_like(self._steps)
        self._excluded, self._included = weights.excluded[order], weights.included[order]
        self._size, self._period, self._counts = size, period, counts
        self._table: NDArray[np.complex128] = np.zeros(1024, dtype=np.complex128)
        self._known = 0
        self.work = 0
        """Multiplications done so far: a measure of time that does not depend on the machine."""
        self.error = ROUNDING_PER_ELEMENT * (len(order) + counts) + CUT
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
            self.work += _coefficients(
                self._steps,
                self._residues,
                self._excluded,
                self._included,
                self._size,
                self._period,
                self._counts,
                self._table[self._known : self._known + chunk],
            )
            self._known += chunk


@compiled
def _coefficients(
    steps: Integers,
    residues: Integers,
    excluded: Vector,
    included: Vector,
    size: int,
    period: int,
    counts: int,
    out: NDArray[np.complex128],
) -> int:
    """The next len(out) coefficients; `residues` holds k·a_j mod period and moves on. Returns the work done."""
    n = len(excluded)
    turn = 2 * math.pi
    root_re, root_im = np.empty(counts), np.empty(counts)
    for i in range(counts):
        root_re[i], root_im[i] = math.cos(turn * i / counts), math.sin(turn * i / counts)
    re, im = np.empty(counts), np.empty(counts)
    at_re, at_im = np.empty(counts), np.empty(counts)
    which = np.empty(counts, dtype=np.int64)
    go_re, go_im = np.empty(_BLOCK), np.empty(_BLOCK)
    work = 0
    for k in range(len(out)):
        for i in range(counts):
            re[i], im[i], at_re[i], at_im[i], which[i] = 1.0, 0.0, root_re[i], root_im[i], i
        alive, j = counts, 0
        while j < n and alive > 0:
            block = min(_BLOCK, n - j)
            work += block * (alive + 24)
            for b in range(block):
                # e^(2πi·u) with |angle| ≤ π/4 after whole quarter turns: polynomials of fdlibm, good to 1 ulp, which
                # the compiler does several at a time; calls of sin and cos took a third of all time.
                u = residues[j + b] / period
                quarters = math.floor(4 * u + 0.5)
                x = turn * (u - 0.25 * quarters)
                z = x * x
                s6 = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
                s3 = -1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * s6)
                sine = x + x * z * (-1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * s3))
                c6 = 2.08757232129817482790e-09 + z * -1.13596475577881948265e-11
                c3 = 2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * c6)
                cosine = (
                    1
                    - 0.5 * z
                    + z * z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * c3))
                )
                swapped = quarters == 1 or quarters == 3
                real, imaginary = (sine, cosine) if swapped else (cosine, sine)
                weight = included[j + b]
                go_re[b] = -weight * real if quarters == 1 or quarters == 2 else weight * real
                go_im[b] = -weight * imaginary if quarters == 2 or quarters == 3 else weight * imaginary
            for b in range(block):
                stay, by_re, by_im = excluded[j + b], go_re[b], go_im[b]
                for i in range(alive):
                    factor_re = stay + (by_re * at_re[i] - by_im * at_im[i])
                    factor_im = by_re * at_im[i] + by_im * at_re[i]
                    product = re[i] * factor_re - im[i] * factor_im
                    im[i] = re[i] * factor_im + im[i] * factor_re
                    re[i] = product
            j += block
            kept = 0
            for i in range(alive):
                if re[i] * re[i] + im[i] * im[i] >= 1e-36:
                    re[kept], im[kept], at_re[kept], at_im[kept] = re[i], im[i], at_re[i], at_im[i]
                    which[kept] = which[i]
                    kept += 1
            alive = kept
        sum_re, sum_im = 0.0, 0.0
        for i in range(alive):
            # Times e^(−2πi·l·size/counts), the frequency's share of "count = size".
            back = (which[i] * size) % counts
            sum_re += re[i] * root_re[back] + im[i] * root_im[back]
            sum_im += im[i] * root_re[back] - re[i] * root_im[back]
        angle = turn * (residues[n] / period)
        turn_re, turn_im = math.cos(angle) / counts, -math.sin(angle) / counts
        out[k] = complex(sum_re * turn_re - sum_im * turn_im, sum_re * turn_im + sum_im * turn_re)
        for i in range(n + 1):
            residue = residues[i] + steps[i]
            residues[i] = residue - period if residue >= period else residue
    return work
