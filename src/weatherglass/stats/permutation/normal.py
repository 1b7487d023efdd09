"""The normal tail with the mean and variance of the null: what Caliskan et al. (2017) report."""

from __future__ import annotations

import math

from weatherglass.arrays import Vector
from weatherglass.stats.permutation.base import Alternative
from weatherglass.stats.permutation.grid import Grid


def normal_moments(grid: Grid) -> tuple[float, float]:
    """Mean and standard deviation of the sum over X, in closed form (docs/methods 3)."""
    n, size, total = grid.n, grid.size, grid.total
    squares = sum(value * value for value in grid.values.tolist())
    # n·Σs² − (Σs)² in whole numbers: no cancellation, whatever the offset of the scores.
    variance = size * (n - size) * (n * squares - total * total) / (n * n * (n - 1))
    return size * total / n, math.sqrt(variance)


def fitted_moments(sums: Vector) -> tuple[float, float]:
    """Mean and standard deviation (n − 1) of sampled sums, as the paper had them."""
    return float(sums.mean()), float(sums.std(ddof=1))


def normal_tail(observed: float, mean: float, sd: float, side: Alternative) -> float:
    """The normal p of an observed sum; `side` is greater, less or two-sided."""
    z = (observed - mean) / sd
    if side == "two-sided":
        return math.erfc(abs(z) / math.sqrt(2))
    return math.erfc((z if side == "greater" else -z) / math.sqrt(2)) / 2
