"""Find the exponential tilt that moves a threshold from the tail to the centre, and a saddlepoint estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.stats.permutation.grid import Tail

_LEAST_PULL = 2.5
"""The smallest value of λ times the standard deviation of the sum, so that e^(−λu) also decreases near the mean."""
_AIMS = (0.999, 0.99, 0.97, 0.94, 0.9, 0.8, 0.6, 0.4, 0.2, 0.0)
"""Shares of the way from the mean to the largest sum to which the tilt may move the mean, largest first; the first
share that leaves some variance is used.
"""
_LEAST_VARIANCE = 0.25
_ENOUGH = 1e-6
"""The tolerated error of the mean count, in elements. Any tilt is valid, but an accurate one gives narrow bounds."""


@dataclass(frozen=True, slots=True, eq=False)
class Tilt:
    """A tilt, under which element j is drawn independently with log-odds λ·(a_j − centre) + μ."""

    rate: float
    """λ, per grid unit; positive."""
    offset: float
    """μ."""
    centre: int
    """The grid value that is subtracted from all others, which makes the tilted sum and count uncorrelated."""
    sd: float
    """The standard deviation of the tilted sum, given the count."""
    count_sd: float
    """The standard deviation of the tilted count."""
    log_p: float
    """A saddlepoint estimate of the logarithm of the tail's share; it is accurate to about 20 % and is never
    reported.
    """
    density: float
    """The estimated density of the sum at the threshold, per grid unit, divided by the tail's share."""


@lru_cache(maxsize=8)
def find_tilt(tail: Tail) -> Tilt:
    """Solve the saddlepoint equations (mean count = size, mean sum = threshold) for a tail beyond the mean.

    The result is cached, because predicting the cost of counting and computing bounds need the same tilt.
    """
    values = tail.values.astype(np.float64)
    mean, sd = float(values.mean()), float(values.std())
    scores = (values - mean) / sd
    reach = (tail.threshold - tail.size * mean) / sd
    furthest = (tail.greatest - tail.size * mean) / sd
    for aim in _AIMS:
        rate, offset = _solve(scores, tail.size, min(reach, aim * furthest))
        spread = _spread(scores, rate, offset)
        if spread.count_sd**2 > _LEAST_VARIANCE and spread.sd > 0:
            break
    log_p, density = _estimate(scores, tail, rate, offset, reach, spread.sd)
    if rate * spread.sd < _LEAST_PULL:
        rate = _LEAST_PULL / spread.sd
        offset = _solve_offset(scores, tail.size, rate, offset)
        spread = _spread(scores, rate, offset)
    centre = round(mean + sd * spread.centre)
    offset += rate * (centre - mean) / sd
    return Tilt(rate / sd, offset, centre, spread.sd * sd, spread.count_sd, log_p, density / sd)


@dataclass(frozen=True, slots=True)
class _Spread:
    centre: float
    sd: float
    count_sd: float


def _odds(scores: Vector, rate: float, offset: float) -> tuple[Vector, Vector]:
    """Return the inclusion probabilities and their variances."""
    # np.clip would take ten times as long for a few dozen numbers.
    exponent = np.minimum(np.maximum(rate * scores + offset, -700.0), 700.0)
    included = 1 / (1 + np.exp(-exponent))
    return included, included / (1 + np.exp(exponent))


def _spread(scores: Vector, rate: float, offset: float) -> _Spread:
    _, variances = _odds(scores, rate, offset)
    count = max(float(variances.sum()), 1e-300)
    centre = float(variances @ scores) / count
    return _Spread(centre, math.sqrt(float(variances @ (scores - centre) ** 2)), math.sqrt(count))


def _solve(scores: Vector, size: int, reach: float) -> tuple[float, float]:
    """Minimise the convex function Σ log(1 + e^(λ·s + μ)) − μ·size − λ·reach by Newton's method."""
    n = len(scores)
    rate, offset = reach * (n - 1) / (size * (n - size)), math.log(size / (n - size))
    value = _objective(scores, size, reach, rate, offset)
    for _ in range(100):
        included, variances = _odds(scores, rate, offset)
        slope_rate, slope_offset = float(included @ scores) - reach, float(included.sum()) - size
        weighted = variances * scores
        of_rate, cross, of_offset = float(weighted @ scores), float(weighted.sum()), float(variances.sum())
        determinant = of_rate * of_offset - cross * cross
        if not determinant > 1e-12 * of_rate * of_offset > 0:
            break
        step_rate = (of_offset * slope_rate - cross * slope_offset) / determinant
        step_offset = (of_rate * slope_offset - cross * slope_rate) / determinant
        decrease = slope_rate * step_rate + slope_offset * step_offset
        if decrease < 1e-12:
            break
        length = 1.0
        while length > 1e-6:
            trial = rate - length * step_rate, offset - length * step_offset
            reached = _objective(scores, size, reach, *trial)
            if reached <= value - 0.1 * length * decrease:
                break
            length /= 2
        else:
            break
        (rate, offset), value = trial, reached
    return rate, offset


def _objective(scores: Vector, size: int, reach: float, rate: float, offset: float) -> float:
    return float(np.logaddexp(0.0, rate * scores + offset).sum()) - offset * size - rate * reach


def _solve_offset(scores: Vector, size: int, rate: float, offset: float) -> float:
    """Return the μ for which the mean count equals the size, for a given λ, by Newton's method within safe bounds."""
    middle = math.log(size / (len(scores) - size))
    low, high = middle - rate * float(scores.max()), middle - rate * float(scores.min())
    for _ in range(60):
        if not low < offset < high:
            offset = (low + high) / 2
        included, variances = _odds(scores, rate, offset)
        excess, variance = float(included.sum()) - size, float(variances.sum())
        low, high = (low, offset) if excess > 0 else (offset, high)
        if abs(excess) < _ENOUGH:
            break
        # A step that leaves the bounds, or an infinite one if the slope is 0, is replaced by a bisection.
        offset -= excess / variance if variance > 0 else math.inf
    return offset


def _estimate(
    scores: Vector, tail: Tail, rate: float, offset: float, reach: float, sd: float
) -> tuple[float, float]:
    """Estimate the logarithm of the share, and the density divided by the share, with a double saddlepoint (Robinson
    1982).
    """
    from scipy.special import erfcx

    _, variances = _odds(scores, rate, offset)
    log_weight = _objective(scores, tail.size, reach, rate, offset)
    log_mass = -0.5 * math.log(2 * math.pi * max(float(variances.sum()), 0.1))
    beyond = 0.5 * float(erfcx(max(rate, 0.0) * sd / math.sqrt(2)))
    log_p = log_weight + log_mass + math.log(beyond) - math.log(tail.subsets)
    return min(log_p, 0.0), 1 / (sd * math.sqrt(2 * math.pi) * beyond)


@dataclass(frozen=True, slots=True)
class JointTilt:
    """A tilt of several strata, with a common λ and a separate μ and centre for each stratum."""

    rate: float
    offsets: tuple[float, ...]
    centres: tuple[int, ...]
    log_p: float
    density: float


def joint_tilt(strata: Sequence[tuple[Integers, int]], threshold: int) -> JointTilt | None:
    """Solve the saddlepoint equations of a sum over strata, for a threshold beyond its mean.

    The mean count of each stratum equals its size, and the mean sum equals the threshold. Return None if no tilt leaves
    any variance.

    Args:
        strata: the values of each stratum, ascending, and the number of drawn values.
        threshold: the value that the sum must reach.
    """
    means = [float(values.mean()) for values, _ in strata]
    sd = math.sqrt(
        sum(float(((v - m).astype(np.float64) ** 2).sum()) for (v, _), m in zip(strata, means, strict=True))
    )
    sd /= math.sqrt(sum(len(values) for values, _ in strata))
    parts = [
        ((values.astype(np.float64) - mean) / sd, size)
        for (values, size), mean in zip(strata, means, strict=True)
    ]
    reach = (threshold - sum(size * mean for (_, size), mean in zip(strata, means, strict=True))) / sd
    furthest = sum(float(scores[len(scores) - size :].sum()) for scores, size in parts)
    for aim in _AIMS:
        rate, offsets = _solve_rate(parts, min(reach, aim * furthest))
        spreads = [_spread(scores, rate, offset) for (scores, _), offset in zip(parts, offsets, strict=True)]
        total = math.sqrt(sum(spread.sd**2 for spread in spreads))
        if sum(spread.count_sd**2 for spread in spreads) > _LEAST_VARIANCE and total > 0:
            break
    else:
        return None
    log_p, density = _estimate_joint(parts, rate, offsets, reach, total)
    if rate * total < _LEAST_PULL:
        rate = _LEAST_PULL / total
        offsets = [
            _solve_offset(scores, size, rate, offset)
            for (scores, size), offset in zip(parts, offsets, strict=True)
        ]
        spreads = [_spread(scores, rate, offset) for (scores, _), offset in zip(parts, offsets, strict=True)]
    centres = [round(mean + sd * spread.centre) for mean, spread in zip(means, spreads, strict=True)]
    shifted = [
        offset + rate * (centre - mean) / sd
        for offset, centre, mean in zip(offsets, centres, means, strict=True)
    ]
    return JointTilt(rate / sd, tuple(shifted), tuple(centres), log_p, density / sd)


def _solve_rate(parts: Sequence[tuple[Vector, int]], reach: float) -> tuple[float, list[float]]:
    """Return the λ at which the mean sum is `reach` and mean counts equal the sizes, by bounded Newton steps."""
    rate, low, high = 0.0, 0.0, math.inf
    offsets = [math.log(size / (len(scores) - size)) for scores, size in parts]
    for _ in range(60):
        offsets = [
            _solve_offset(scores, size, rate, offset)
            for (scores, size), offset in zip(parts, offsets, strict=True)
        ]
        mean = sum(
            float(_odds(scores, rate, offset)[0] @ scores)
            for (scores, _), offset in zip(parts, offsets, strict=True)
        )
        variance = sum(
            _spread(scores, rate, offset).sd ** 2 for (scores, _), offset in zip(parts, offsets, strict=True)
        )
        missing = reach - mean
        if missing**2 < 1e-8 * variance or high - low < 1e-9 * high:
            break
        low, high = (rate, high) if missing > 0 else (low, rate)
        step = rate + missing / variance if variance > 0 else math.inf
        if not low < step < high:
            step = (low + high) / 2 if math.isfinite(high) else 2 * rate + 1
        rate = step
    return rate, offsets


def _estimate_joint(
    parts: Sequence[tuple[Vector, int]], rate: float, offsets: Sequence[float], reach: float, sd: float
) -> tuple[float, float]:
    """Compute the same estimate as `_estimate` for several strata."""
    from scipy.special import erfcx

    log_p = -rate * reach
    for (scores, size), offset in zip(parts, offsets, strict=True):
        _, variances = _odds(scores, rate, offset)
        log_p += _objective(scores, size, 0.0, rate, offset)
        log_p -= 0.5 * math.log(2 * math.pi * max(float(variances.sum()), 0.1))
        log_p -= math.log(math.comb(len(scores), size))
    beyond = 0.5 * float(erfcx(max(rate, 0.0) * sd / math.sqrt(2)))
    return min(log_p + math.log(beyond), 0.0), 1 / (sd * math.sqrt(2 * math.pi) * beyond)
