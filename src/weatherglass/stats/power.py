"""How likely a test of these sizes is to find an effect, and the smallest effect that it is likely to find."""

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
    """The chance of p ≤ alpha for an effect of size d in normal scores.

    The t-test stands in for the permutation test, which it approaches; but where no permutation of so few words can
    reach alpha, there is no power at all. NaN where no effect is as large as d.
    """
    scale = Scale(n_x, n_y, ddof)
    if scale.df < 1 or abs(d) >= scale.largest:
        return math.nan
    if least_p(n_x, n_y, alternative) > alpha:
        return 0.0
    return _power_of(float(scale.standardised(np.asarray(d))), scale, alpha, alternative)


@lru_cache(maxsize=256)
def minimum_detectable_effect_size(
    n_x: int,
    n_y: int,
    alpha: float = 0.05,
    alternative: Alternative = "two-sided",
    chance: float = 0.8,
    ddof: int = 1,
) -> float | None:
    """The smallest d that is found with this chance; None where no effect can be."""
    scale = Scale(n_x, n_y, ddof)
    if scale.df < 1 or least_p(n_x, n_y, alternative) > alpha:
        return None
    beyond = 1.0
    while _power_of(beyond, scale, alpha, alternative) < chance:
        beyond *= 2
    # Halving, since scipy.optimize takes longer to import than a whole run's root takes to find.
    g = beyond / 2
    step = beyond / 4
    while g + step > g:
        g += step if _power_of(g, scale, alpha, alternative) < chance else -step
        step /= 2
    return float(scale.effect_size(np.asarray(g)))


def least_p(n_x: int, n_y: int, alternative: Alternative = "two-sided") -> float:
    """The p of the most extreme labelling of untied scores; its mirror image counts where the sets are of one size."""
    labellings = math.comb(n_x + n_y, n_x)
    return (2 if alternative == "two-sided" and n_x == n_y else 1) / labellings


def _power_of(g: float, scale: Scale, alpha: float, alternative: Alternative) -> float:
    shift = g / math.sqrt(scale.variance_factor)
    if alternative == "one-sided":
        return chance_above(alpha, scale.df, shift)
    return chance_above(alpha / 2, scale.df, shift) + chance_above(alpha / 2, scale.df, -shift)


def chance_above(tail: float, df: float, shift: float) -> float:
    """Of a t with this noncentrality to lie beyond the point that `tail` of a central t does."""
    from scipy.special import nctdtr

    chance = float(nctdtr(df, -shift, -float(upper_point(tail, df))))
    # On the wrong side scipy turns to NaN where the chance is small: below 4e-6, the lesser of Φ(shift) and `tail`.
    return 0.0 if math.isnan(chance) and shift < 0 else chance
