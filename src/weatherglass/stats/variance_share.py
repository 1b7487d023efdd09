"""The interval of one variance's share of two, where the other is known only with some noise added to it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

HALVINGS = 60
Squares = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class VarianceEstimate:
    """An estimate of a variance, chi-squared over its degrees of freedom."""

    value: float
    df: float


def share_ends(
    one: VarianceEstimate, other: VarianceEstimate, noise: float, level: float
) -> tuple[float, float]:
    """The ends of the interval of v / (v + w), where `one` estimates v and `other` estimates w + noise.

    A ratio w/v = t belongs to it if `noise`, taken as known, lies in the interval of w + noise − t·v, the difference
    of two variances (Ting, Burdick, Graybill, Jeyaratnam & Lu 1990). Without noise that is the F interval of the ratio.
    Subtracting the noise first would leave a difference near 0, which is not chi-squared, where the share is near 1.
    """
    from scipy.special import chdtri, fdtri

    tail = (1 - level) / 2
    ends = []
    for side, point in ((1, tail), (-1, 1 - tail)):  # First the upper end of t, the lower one of the share
        ratio = float(fdtri(other.df, one.df, point))
        of_other = other.df / float(chdtri(other.df, 1 - point)) - 1
        of_one = one.df / float(chdtri(one.df, point)) - 1
        cross = ((ratio - 1) ** 2 - (of_other * ratio) ** 2 - of_one**2) / ratio

        def excess(
            taken: float, side: int = side, squares: Squares = (of_other**2, of_one**2, cross)
        ) -> float:
            """How far that end of the difference's interval lies above the noise."""
            both = squares[0] * other.value**2 + squares[1] * taken**2 + squares[2] * other.value * taken
            return other.value - taken + side * math.sqrt(max(both, 0.0)) - noise

        taken = _root(excess, other.value / ratio)
        ends.append(one.value / (one.value + taken))
    return ends[0], ends[1]


def _root(falling: Callable[[float], float], above: float) -> float:
    """Where a function falls below 0 between 0 and a place where it has; 0 if it is below from the start."""
    low, high = 0.0, above
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return low
