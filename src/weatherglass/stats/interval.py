"""Build confidence intervals of an effect that agree with its p, and compute jackknife variances (docs/methods 10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Vector

Flags = NDArray[np.bool_]
SMALLEST = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of an effect size."""

    low: float
    high: float
    level: float

    @property
    def excludes_zero(self) -> bool:
        """Return whether the effect is significant at 1 − level; an end at 0 counts as excluded."""
        return self.low >= 0 or self.high <= 0

    @property
    def largest(self) -> float:
        """Return the larger absolute end; larger effects are excluded."""
        return max(abs(self.low), abs(self.high))


def upper_point(tail: Vector | float, df: Vector | float) -> Vector:
    """Return the point that t(df) exceeds with probability `tail`, even for tails so small that 1 − tail is rounded to
    1.
    """
    from scipy.special import stdtrit  # imported here, so that reading a finished run does not wait for it

    return np.asarray(-stdtrit(df, np.maximum(tail, SMALLEST)), dtype=np.float64)


def two_sided_p(t: Vector, df: Vector | float) -> Vector:
    """Return the two-sided p of a t statistic."""
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(df, -np.abs(t)), dtype=np.float64)


def ends(
    g: Vector,
    at_zero: Vector,
    at_estimate: Vector,
    significant: Flags,
    shrink: Vector | float = 1.0,
) -> tuple[Vector, Vector]:
    """Return the lower and upper end of an interval of g.

    The squared half-width is linear between `at_zero` (Q₀), which a test of g = 0 uses, and `at_estimate` (Q₁).

    Args:
        g: the estimate, of either sign.
        at_zero: Q₀.
        at_estimate: Q₁.
        significant: whether p is at most 1 − level. This is equivalent to g² ≥ Q₀, but is decided only once, so that
            rounding cannot make an interval and its p disagree.
        shrink: k, which removes the bias of g from the near end of a significant effect.
    """
    size = np.abs(g)
    # Without an effect, neither side is the near one. The wider half-width is used for both, so that swapping X and Y
    # negates the interval.
    wider = np.maximum(at_zero, at_estimate)
    at_zero, at_estimate = np.where(g == 0, wider, at_zero), np.where(g == 0, wider, at_estimate)
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = (at_estimate - at_zero) / size
        # This is the smaller root of z² − bz + (g² − Q₀) = 0 with b = 2g + growth, written without cancellation. The
        # discriminant b² − 4(g² − Q₀) is 4·Q₁ + growth².
        root = 2 * size + growth + np.sqrt(4 * at_estimate + growth**2)
        beyond_zero = shrink * 2 * np.maximum(size**2 - at_zero, 0) / root
    near = np.where(significant, beyond_zero, np.minimum(size - np.sqrt(at_zero), -SMALLEST))
    far = np.maximum(size + np.sqrt(at_estimate), SMALLEST)
    return np.where(g < 0, -far, near), np.where(g < 0, -near, far)


class Reason(StrEnum):
    """A reason why an interval or an effect size is not estimable."""

    TOO_FEW_WORDS = "not estimable: a target set has fewer than 2 words"
    NO_SPREAD = "not estimable: the scores do not vary within X and Y"
    ONE_WORD_SPREAD = "not estimable: without one of the words, the scores do not vary within X and Y"
    TOO_FEW_ATTRIBUTES = "not estimable: an attribute set has fewer than 3 words"
    NO_ATTRIBUTES = "not estimable: a test of pairs has no attribute words"
    NOISE = "not estimable: the attribute words disagree about the target words (score reliability below 0.1)"


def jackknife_variance(without_each: Vector) -> Vector:
    """Return the jackknife variance (m − 1)/m · Σ (value without i − mean of these values)² along the last axis."""
    m = without_each.shape[-1]
    centred = without_each - without_each.mean(axis=-1, keepdims=True)
    return np.asarray((m - 1) / m * np.einsum("...i,...i->...", centred, centred))


def jackknife_bias(without_each: Vector, value: Vector) -> Vector:
    """Return the jackknife bias (m − 1) · (mean of the values without each − the value)."""
    m = without_each.shape[-1]
    return np.asarray((m - 1) * (without_each.mean(axis=-1) - value))


def combined_df(variances: Sequence[Vector], dfs: Sequence[float]) -> Vector:
    """Return the degrees of freedom of a sum of independent variances (Satterthwaite 1946), at least 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        df = sum(variances) ** 2 / sum(v**2 / df for v, df in zip(variances, dfs, strict=True))
    return np.asarray(np.fmax(df, 1.0), dtype=np.float64)
