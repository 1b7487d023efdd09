"""These attributes: would other target words of this kind give the same effect? (docs/methods 10.1)"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.stats.interval import Interval, ends, upper_point
from weatherglass.stats.jackknife import jackknife_bias, jackknife_variance
from weatherglass.stats.leave_one_out import without_each_word
from weatherglass.stats.reason import Reason
from weatherglass.stats.scale import Within, within

LARGEST_P_USED = 0.5
"""Above it t* comes near 0 and says nothing of the spread; the variance within the sets stands in."""
LEAST_SHRINK = 0.5


@dataclass(frozen=True, slots=True)
class TheseAttributes:
    """An effect with A, B and the templates as they are."""

    effect_size: float
    """d; NaN where all scores are equal."""
    p: float
    """Of the exact permutation test, two-sided, as it was given."""
    interval: Interval | None
    reason: Reason | None
    """Why there is no interval."""


def these_attributes(x: Vector, y: Vector, p: float, alpha: float = 0.05, ddof: int = 1) -> TheseAttributes:
    """The interval of d at level 1 − alpha that leaves out 0 exactly when p ≤ alpha.

    Args:
        x: scores of the words of X.
        y: scores of the words of Y.
        p: the two-sided p of the exact permutation test of these scores.
        alpha: at most 0.5.
        ddof: of the sd in d.
    """
    scores = within(np.concatenate([x, y]).astype(np.float64), len(x), ddof)
    d = float(scores.scale.effect_size(scores.g))
    if min(len(x), len(y)) < 2:
        return TheseAttributes(d, p, None, Reason.TOO_FEW_WORDS)
    if scores.squares == 0:
        return TheseAttributes(d, p, None, Reason.NO_SPREAD)
    low, high = these_ends(scores, np.asarray(p), alpha)
    if np.isnan(low) or np.isnan(high):
        return TheseAttributes(d, p, None, Reason.ONE_WORD_SPREAD)
    return TheseAttributes(d, p, Interval(float(low), float(high), 1 - alpha), None)


def these_ends(scores: Within, p: Vector, alpha: float) -> tuple[Vector, Vector]:
    """The low and high end of each interval of d; NaN where it is not estimable."""
    scale, g = scores.scale, scores.g
    t = upper_point(alpha / 2, scale.df)
    variance, shrink = variance_and_shrink(scores)
    with np.errstate(divide="ignore", invalid="ignore"):
        # A makes the t-test of g = 0 give the exact p: √A = g / t*, so that Q₀ = t²·A is g² at p = alpha.
        at_zero = np.where(
            p <= LARGEST_P_USED, (g * (t / upper_point(p / 2, scale.df))) ** 2, t**2 * scale.variance_factor
        )
    low, high = ends(g, at_zero, t**2 * variance, p <= alpha, shrink)
    return scale.effect_size(low), scale.effect_size(high)


def variance_and_shrink(scores: Within) -> tuple[Vector, Vector]:
    """v and k: the jackknife variance of g over words, and what takes the bias of g off the near end."""
    g, without = scores.g, without_each_word(scores).g
    with np.errstate(divide="ignore", invalid="ignore"):
        sets = without[..., : scores.scale.n_x], without[..., scores.scale.n_x :]
        variance = jackknife_variance(sets[0]) + jackknife_variance(sets[1])
        bias = jackknife_bias(sets[0], g) + jackknife_bias(sets[1], g)
        return variance, np.where(g == 0, 1.0, np.clip(1 - bias / g, LEAST_SHRINK, 1.0))
