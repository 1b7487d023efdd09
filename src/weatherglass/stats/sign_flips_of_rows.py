"""Compute the p of `sign_flip_test` for many rows at once, such as all words of a vocabulary (docs/methods 7.2)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.errors import UnitError
from weatherglass.stats.permutation.grid import TIE
from weatherglass.stats.relabelling import COUNTED

DRAWS = 9_999
_SUMS_AT_A_TIME = 2**24


def sign_flip_p_values(table: Matrix, rng: np.random.Generator, draws: int = DRAWS) -> Vector:
    """Return, for every row, the share of sign patterns whose sum is at least as far from 0 as the observed sum.

    All patterns are counted for up to `COUNTED` columns; for more columns, all rows share random patterns.

    >>> sign_flip_p_values(np.array([[1.0, 2.0, 3.0], [1.0, -1.0, 0.0]]), np.random.default_rng(0))
    array([0.25, 1.  ])

    Raises:
        UnitError: if there are no columns, or a score is not finite.
    """
    if not table.shape[1] or not np.isfinite(table).all():
        raise UnitError("a sign-flip test needs at least one score, and all scores must be finite")
    table = np.sort(np.asarray(table, dtype=np.float64), axis=1)
    if table.shape[1] <= COUNTED:
        return _counted(*_integers(table))
    signs = 2.0 * rng.integers(0, 2, (draws, table.shape[1]), dtype=np.int8) - 1.0
    p_values = np.empty(len(table))
    rows = max(1, _SUMS_AT_A_TIME // draws)
    for start in range(0, len(table), rows):
        part = table[start : start + rows]
        reached = np.abs(part.sum(axis=1)) - TIE * np.abs(part).sum(axis=1)
        hits = (np.abs(part @ signs.T) >= reached[:, None]).sum(axis=1)
        p_values[start : start + rows] = (hits + 1) / (draws + 1)
    return p_values


def _integers(table: Matrix) -> tuple[Integers, Integers]:
    """Return each row on a fine integer grid, and the largest difference of sums that is due to rounding."""
    exponents = np.frexp(np.abs(table).max(axis=1))[1]
    scaled = np.ldexp(table, -exponents[:, None])
    bits = min(53, 61 - math.ceil(math.log2(table.shape[1] + 1)))
    slack = np.ceil(np.ldexp(TIE * np.abs(scaled).sum(axis=1), bits)).astype(np.int64)
    return np.rint(np.ldexp(scaled, bits)).astype(np.int64), slack


@njit(cache=True, nogil=True)
def _counted(values: Integers, slack: Integers) -> Vector:
    """Return, for every row, twice the share of sign patterns whose sum is at least |sum| − slack, at most 1."""
    number = values.shape[1]
    half = number // 2
    left, right = np.empty(2**half, np.int64), np.empty(2 ** (number - half), np.int64)
    spare = np.empty_like(right)
    p_values = np.empty(values.shape[0])
    for row in range(values.shape[0]):
        _fill_sorted_sums(values[row, :half], left, spare)
        _fill_sorted_sums(values[row, half:], right, spare)
        threshold = abs(values[row].sum()) - slack[row]
        reaching, place = 0, right.shape[0]
        for one in left:  # the larger it is, the more sums of the right half reach the threshold with it
            while place > 0 and one + right[place - 1] >= threshold:
                place -= 1
            reaching += right.shape[0] - place
        p_values[row] = min(1.0, 2.0 * reaching / 2.0**number)
    return p_values


@njit(cache=True, nogil=True)
def _fill_sorted_sums(values: Integers, sums: Integers, spare: Integers) -> None:
    """Fill in all signed sums in ascending order, merging the sums with −value and those with +value."""
    sums[0] = 0
    length = 1
    for value in values:
        size = abs(value)
        below, above = 0, 0
        place = 0
        while below < length:  # the lower list always ends first
            lower, higher = sums[below] - size, sums[above] + size
            take = int(lower <= higher)
            spare[place] = min(lower, higher)
            below += take
            above += 1 - take
            place += 1
        for rest in range(above, length):
            spare[place] = sums[rest] + size
            place += 1
        length *= 2
        sums[:length] = spare[:length]
