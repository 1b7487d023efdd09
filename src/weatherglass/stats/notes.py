"""Warnings about an effect: where its numbers are weaker, or answer another question (docs/methods 10)."""

from __future__ import annotations

import math

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.stats.interval import two_sided_p
from weatherglass.stats.jackknife import combined_df
from weatherglass.stats.scale import within
from weatherglass.warnings import Warning

LARGE_EFFECT = 1.4
SKEWED_FROM = 1.0
NOISY_BELOW = 0.3
LIKE_SIZES = (0.8, 1.25)
"""|X|/|Y| between which unlike spreads do little to the exact test."""


def notes(
    x: Vector,
    y: Vector,
    p_these: float,
    p_such: float | None = None,
    score_reliability: float | None = None,
    alpha: float = 0.05,
) -> tuple[Warning, ...]:
    """Return the warnings that fit a row, from its scores, the p of both readings and the reliability."""
    scores = within(np.concatenate([x, y]).astype(np.float64), len(x))
    welch = welch_p(x, y)
    low, high = LIKE_SIZES
    found = []
    large = abs(scores.scale.effect_size(scores.g)) >= LARGE_EFFECT
    if large and abs(skewness(scores.residuals)) > SKEWED_FROM:
        found.append(Warning.of("skewed", level=100 * (1 - alpha)))
    unlike_sizes = not low <= len(x) / len(y) <= high
    if unlike_sizes and not math.isnan(welch) and (welch <= alpha) != (p_these <= alpha):
        found.append(Warning.of("spreads", welch_p=welch))
    if score_reliability is not None and score_reliability < NOISY_BELOW:
        found.append(Warning.of("unreliable", reliability=score_reliability, least=NOISY_BELOW))
    if p_such is not None and p_these <= alpha < p_such:
        found.append(Warning.of("fixed-attributes", p=p_these, p_random=p_such))
    return tuple(found)


def skewness(residuals: Vector) -> float:
    """Of scores centred in their sets: the third moment over the sd cubed; 0 where they do not vary."""
    variance = float((residuals**2).mean())
    return float((residuals**3).mean() / variance**1.5) if variance > 0 else 0.0


def welch_p(x: Vector, y: Vector) -> float:
    """Two-sided p of Welch's t-test, which does not take the spreads as equal; NaN where it does not exist."""
    if min(len(x), len(y)) < 2:
        return math.nan
    variances = [np.asarray(scores.var(ddof=1) / len(scores)) for scores in (x, y)]
    if not sum(variances) > 0:
        return math.nan
    t = (x.mean() - y.mean()) / np.sqrt(sum(variances))
    return float(two_sided_p(t, combined_df(variances, [len(x) - 1, len(y) - 1])))
