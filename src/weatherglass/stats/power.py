"""Compute the power of a test for given sizes, and the smallest effect detected with a given power."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Literal

import numpy as np

from weatherglass.stats.interval import upper_point
from weatherglass.stats.scale import Scale

Alternative = Literal["two-sided", "one-sided"]


@lru_cache(maxsize=1024)
def power(
    d: float,
    n_x: int,
    n_y: int,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    ddof: int = 1,
) -> float:
    """Return the power, the probability of p ≤ alpha for an effect of size d in normal scores.

    The power is that of the t-test, which the permutation test approaches. It is 0 if there are too few words for any
    permutation to reach alpha, and NaN if no effect can be as large as d.
    """
    scale = Scale(n_x, n_y, ddof)
    if scale.df < 1 or abs(d) >= scale.largest:
        return math.nan
    if least_p(n_x, n_y, alternative) > alpha:
        return 0.0
    share = d / scale.largest
    g = d * math.sqrt(
        scale.df / (scale.n - scale.ddof) / (1 - share * share)
    )  # the inverse of `Scale.effect_size`
    return power_at(g / math.sqrt(scale.variance_factor), scale.df, alpha, alternative)


@lru_cache(maxsize=256)
def minimum_detectable_effect_size(
    n_x: int,
    n_y: int,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    chance: float = 0.8,
    ddof: int = 1,
) -> float | None:
    """Return the smallest d that is detected with the power `chance`; None if no effect can be detected."""
    scale = Scale(n_x, n_y, ddof)
    if scale.df < 1 or least_p(n_x, n_y, alternative) > alpha:
        return None
    sd = math.sqrt(scale.variance_factor)
    beyond = 1.0
    while power_at(beyond / sd, scale.df, alpha, alternative) < chance:
        beyond *= 2
    # Bisection is used, because importing scipy.optimize takes longer than finding all roots of a run.
    g = beyond / 2
    step = beyond / 4
    while g + step > g:
        g += step if power_at(g / sd, scale.df, alpha, alternative) < chance else -step
        step /= 2
    return float(scale.effect_size(np.asarray(g)))


def least_p(n_x: int, n_y: int, alternative: Alternative = "two-sided") -> float:
    """Return the p of the most extreme labelling of untied scores; its mirror image is included if the sizes are
    equal.
    """
    labellings = math.comb(n_x + n_y, n_x)
    return (2 if alternative == "two-sided" and n_x == n_y else 1) / labellings


def power_at(shift: float, df: float, alpha: float, alternative: Alternative = "two-sided") -> float:
    """Return the power of a t-test whose statistic has the noncentrality `shift`."""
    from scipy.special import nctdtr

    tails = 2 if alternative == "two-sided" else 1
    point = -float(upper_point(alpha / tails, df))
    total = 0.0
    for sign in (1, -1)[:tails]:
        chance = float(nctdtr(df, -sign * shift, point))
        # On the wrong side, scipy returns NaN if the probability is small: below 4e-6, or below the tail.
        total += 0.0 if math.isnan(chance) and sign * shift < 0 else chance
    return total
