"""Sign flips: how often would scores whose signs are tossed up sum as far from 0? (docs/methods 13)

The null hypothesis makes each score as likely to be above 0 as below it, such as that of a pair whose two words could
be exchanged. All 2ⁿ sign patterns are counted by meeting in the middle; beyond `COUNTED` scores they are drawn.
"""

from __future__ import annotations

import math

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.errors import UnitError
from weatherglass.stats.permutation.base import Alternative, Significance
from weatherglass.stats.permutation.grid import TIE

COUNTED = 36
"""Scores whose 2ⁿ patterns are counted: two sorted halves of 2¹⁸ sums."""
DRAWS = 99_999
_BLOCK = 10_000


def sign_flip_test(
    scores: Vector, alternative: Alternative, rng: np.random.Generator, draws: int = DRAWS
) -> Significance:
    """The share of the sign patterns whose sum is at least as extreme as that of the scores.

    >>> sign_flip_test(np.array([1.0, 2.0, 3.0]), "greater", np.random.default_rng(0)).p_value
    0.125

    Raises:
        UnitError: if there is no score, or one that is not a finite number.
    """
    if not len(scores) or not np.isfinite(scores).all():
        raise UnitError("sign flips need at least one score, and finite ones")
    values, slack = _integers(np.sort(np.asarray(scores, dtype=np.float64)))
    observed, sizes = int(values.sum()), np.abs(values)
    largest = int(sizes.sum())
    if largest == 0:
        return Significance(1.0, 1.0, 1.0, "enumerate", 1.0, True, 1.0)
    side = "greater" if observed >= 0 else "less"
    if alternative not in ("two-sided", "observed"):
        side = alternative
    reached = observed if side == "greater" else -observed
    threshold, tails = reached - slack, 2 if alternative == "two-sided" else 1
    if len(values) <= COUNTED:
        patterns = 2 ** len(values)
        p = min(1.0, tails * _patterns_reaching(sizes, threshold) / patterns)
        floor = min(1.0, tails * _patterns_reaching(sizes, largest - slack) / patterns)
        return Significance(p, p, p, "enumerate", floor, True, p)
    from weatherglass.stats.permutation.sampled import clopper_pearson

    # A draw is a product of real numbers, which computers are quick at; the slack is far above their rounding.
    hits = _draws_reaching(sizes.astype(np.float64), float(threshold), tails, draws, rng)
    low, high = clopper_pearson(hits, draws)
    p = (hits + 1) / (draws + 1)
    return Significance(p, low, high, "sampled", 1 / (draws + 1), False, p)


def _integers(scores: Vector) -> tuple[Integers, int]:
    """The scores on a fine integer grid, and how far apart sums may be that are one but for the last bits."""
    exponent = math.frexp(float(np.abs(scores).max()))[1]
    scaled = np.ldexp(scores, -exponent)
    bits = min(53, 61 - math.ceil(math.log2(len(scores) + 1)))
    slack = math.ceil(math.ldexp(TIE * math.fsum(np.abs(scaled)), bits))
    return np.rint(np.ldexp(scaled, bits)).astype(np.int64), slack


def _patterns_reaching(sizes: Integers, threshold: int) -> int:
    """How many of the 2ⁿ signed sums are ≥ threshold."""
    half = len(sizes) // 2
    left, right = _signed_sums(sizes[:half]), np.sort(_signed_sums(sizes[half:]))
    return int((len(right) - np.searchsorted(right, threshold - left)).sum())


def _signed_sums(sizes: Integers) -> Integers:
    sums = np.zeros(1, dtype=np.int64)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _draws_reaching(sizes: Vector, threshold: float, tails: int, draws: int, rng: np.random.Generator) -> int:
    hits = 0
    for start in range(0, draws, _BLOCK):
        number = min(_BLOCK, draws - start)
        signs = 2.0 * rng.integers(0, 2, (number, len(sizes)), dtype=np.int8) - 1.0
        sums = signs @ sizes
        reached = sums >= threshold
        hits += int((reached | (sums <= -threshold) if tails == 2 else reached).sum())
    return hits
