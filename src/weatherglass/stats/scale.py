"""Convert an effect between two scales: g is divided by the sd within X and Y, d by the sd of all scores."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from weatherglass.arrays import Vector

NO_SPREAD = 1e-12
"""The share of the largest |score| within which scores are equal up to rounding."""
BEYOND_ROUNDING = 1e100
"""A |g| so large that its d equals, after rounding, the d of an infinite g."""


@dataclass(frozen=True, slots=True)
class Scale:
    """The relation between g and d for sets of given sizes.

    g is unbounded, so intervals are computed for g, and their ends are converted to d, which papers report.
    """

    n_x: int
    n_y: int
    ddof: int = 1
    """Delta degrees of freedom of the sd of all scores: 1 in the papers, 0 in WEFE and responsibly."""
    n: int = field(init=False)
    """The number of words in both sets."""
    df: int = field(init=False)
    """ν, the degrees of freedom within the sets."""
    variance_factor: float = field(init=False)
    """a = 1/|X| + 1/|Y|, the variance of Δ divided by the variance within the sets."""
    largest: float = field(init=False)
    """The largest |d|, which is its limit for infinite g."""

    def __post_init__(self) -> None:
        n = self.n_x + self.n_y
        factor = 1 / self.n_x + 1 / self.n_y if self.n_x and self.n_y else math.inf
        object.__setattr__(self, "n", n)
        object.__setattr__(self, "df", n - 2)
        object.__setattr__(self, "variance_factor", factor)
        object.__setattr__(self, "largest", math.sqrt(max(n - self.ddof, 0) * factor))

    def effect_size(self, g: Vector) -> Vector:
        """Convert g to d: g / √((n − 2)/(n − 1) + g²·|X||Y|/(n(n − 1)))."""
        finite = np.clip(g, -BEYOND_ROUNDING, BEYOND_ROUNDING)
        variance = self.df / (self.n - self.ddof) + (finite / self.largest) ** 2
        return np.asarray(finite / np.sqrt(variance), dtype=np.float64)

    def g_of(self, effect_size: Vector) -> Vector:
        """Convert d to g; infinite at the largest |d|."""
        share = np.clip(effect_size / self.largest, -1, 1)
        with np.errstate(divide="ignore"):
            return np.asarray(effect_size * np.sqrt(self.df / (self.n - self.ddof) / (1 - share**2)))

    def slope(self, g: Vector) -> Vector:
        """Return the derivative of d by g, d′(g) = c₁ / (c₁ + c₂·g²)^1.5."""
        c1, c2 = self.df / (self.n - self.ddof), 1 / self.largest**2
        return np.asarray(c1 / (c1 + c2 * g**2) ** 1.5)


@dataclass(frozen=True, slots=True, eq=False)
class Within:
    """Scores of the words, X first, decomposed into a difference of means and residuals."""

    scale: Scale
    difference: Vector
    """Δ, the mean of X minus the mean of Y."""
    residuals: Vector
    """Scores minus the mean of their set; words are on the last axis."""
    squares: Vector
    """ν·s_w², the sum of squares within X and Y."""
    g: Vector
    """Δ / s_w; infinite or NaN where the scores do not vary within the sets."""


def within(scores: Vector, n_x: int, ddof: int = 1) -> Within:
    """Centre the scores of X (the first n_x along the last axis) and of Y; differences due to rounding become 0."""
    residuals = np.empty_like(scores, dtype=np.float64)
    means = []
    for part in (slice(None, n_x), slice(n_x, None)):
        mean = scores[..., part].mean(axis=-1, keepdims=True)
        residuals[..., part] = scores[..., part] - mean
        means.append(mean[..., 0])
    largest = np.abs(scores).max(axis=-1, keepdims=True)
    residuals[np.abs(residuals) <= NO_SPREAD * largest] = 0
    difference = means[0] - means[1]
    difference = np.where(np.abs(difference) <= NO_SPREAD * largest[..., 0], 0.0, difference)
    scale = Scale(n_x, scores.shape[-1] - n_x, ddof)
    squares = np.asarray(np.einsum("...i,...i->...", residuals, residuals))
    with np.errstate(divide="ignore", invalid="ignore"):
        g = np.asarray(difference / np.sqrt(squares / scale.df), dtype=np.float64)
    return Within(scale, difference, residuals, squares, g)
