"""Compute confidence intervals of d: percentile and BCa bootstrap over the units of X, Y, A and B (docs/methods 3).

All values are computed from the raw measures m(w, a), not from the vectors. A resample is represented by how often it
contains each unit, so that for the statistic `mean`, a few matrix products compute a whole block of resamples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.metrics.sets import mean_by_unit
from weatherglass.metrics.weat.scores import MEAN, Statistic

RESAMPLES = 2_000
MOST_RESAMPLES = 128_000
LARGEST_ERROR = 0.01
GROUPS = 20
"""The number of groups of resamples; leaving out each in turn estimates how much the ends vary with the draws."""
BLOCK_ENTRIES = 1 << 21
"""The number of scores in memory at once (16 MB); resamples are computed in blocks."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The raw measures of one test, and the units that are resampled within each of its sets."""

    to_a: Matrix
    """m(w, a), one row per target (X before Y) and one column per element of A."""
    to_b: Matrix
    orientation: int
    """1 for a similarity, -1 for a distance."""
    statistic: Statistic
    units: tuple[Integers, Integers, Integers, Integers]
    """The unit (element or word) of each element of X, Y, A and B, numbered from 0 in each set."""
    ddof: int = 1

    def sizes(self) -> list[int]:
        """Return the numbers of units in X, Y, A and B."""
        return [int(unit.max()) + 1 for unit in self.units]

    def scores(self, a_counts: Matrix, b_counts: Matrix) -> Matrix:
        """Return the score of each unit of X and then of Y, one column per draw of the attributes' units."""
        _, _, a_units, b_units = self.units
        of_elements = self._element_scores(a_counts[a_units], b_counts[b_units])
        x_units, y_units = self.units[:2]
        return mean_by_unit(of_elements, np.concatenate([x_units, x_units.max() + 1 + y_units]))

    def _element_scores(self, a_counts: Matrix, b_counts: Matrix) -> Matrix:
        if self.statistic is MEAN:
            to_a = self.to_a @ (a_counts / a_counts.sum(axis=0))
            to_b = self.to_b @ (b_counts / b_counts.sum(axis=0))
            difference: Matrix = self.orientation * (to_a - to_b)
            return difference
        columns = max(a_counts.shape[1], b_counts.shape[1])
        a, b = (np.broadcast_to(drawn, (len(drawn), columns)) for drawn in (a_counts, b_counts))
        draws = zip(a.T.astype(np.int64), b.T.astype(np.int64), strict=True)
        return np.stack([self._scores_of_draw(a, b) for a, b in draws], axis=1)

    def _scores_of_draw(self, a_counts: Integers, b_counts: Integers) -> Vector:
        to_a = np.sort(np.repeat(self.to_a, a_counts, axis=1), axis=1)
        to_b = np.sort(np.repeat(self.to_b, b_counts, axis=1), axis=1)
        return self.statistic.association(to_a, to_b, self.orientation)


@dataclass(frozen=True, slots=True)
class BootstrapInterval:
    """A confidence interval of d by resampling X, Y, A and B."""

    bca_low: float
    bca_high: float
    percentile_low: float
    percentile_high: float
    resamples: int
    """The number of resamples with an effect size."""
    monte_carlo_error: float
    """The standard error of the less certain BCa bound due to resampling alone."""


def effect_sizes(scores: Matrix, x_counts: Matrix, y_counts: Matrix, ddof: int) -> Vector:
    """Return d of each column of `scores`, with units weighted by their count in the resample; NaN if all are equal."""
    x, y = scores[: len(x_counts)], scores[len(x_counts) :]
    n_x, n_y = x_counts.sum(axis=0), y_counts.sum(axis=0)
    x_mean, y_mean = (x_counts * x).sum(axis=0) / n_x, (y_counts * y).sum(axis=0) / n_y
    mean = (n_x * x_mean + n_y * y_mean) / (n_x + n_y)
    squares = (x_counts * (x - mean) ** 2).sum(axis=0) + (y_counts * (y - mean) ** 2).sum(axis=0)
    spread = np.sqrt(squares / (n_x + n_y - ddof))
    with np.errstate(divide="ignore", invalid="ignore"):
        d = (x_mean - y_mean) / spread
    return np.where(spread > 1e-12 * np.abs(scores).max(initial=0.0), d, np.nan)


def resampled_effect_sizes(sample: Sample, resamples: int, rng: np.random.Generator) -> Vector:
    """Return d of bootstrap resamples; units are resampled with replacement within each of the four sets."""
    sizes = sample.sizes()
    blocks = []
    for _, columns in _blocks(resamples, len(sample.to_a)):
        x, y, a, b = (rng.multinomial(k, [1 / k] * k, size=columns).T.astype(np.float64) for k in sizes)
        blocks.append(effect_sizes(sample.scores(a, b), x, y, sample.ddof))
    return np.concatenate(blocks)


def jackknife_effect_sizes(sample: Sample) -> list[Vector]:
    """Return d without each unit of X, Y, A and B in turn; a set of one unit is left unchanged."""
    sizes = sample.sizes()
    all_once = [np.ones((size, 1)) for size in sizes]
    left_out = []
    for role, size in enumerate(sizes):
        if size == 1:
            left_out.append(np.empty(0))
            continue
        blocks = []
        for start, columns in _blocks(size, len(sample.to_a)):
            counts = list(all_once)
            counts[role] = np.ones((size, columns))
            counts[role][np.arange(start, start + columns), np.arange(columns)] = 0
            x, y, a, b = counts
            blocks.append(effect_sizes(sample.scores(a, b), x, y, sample.ddof))
        left_out.append(np.concatenate(blocks))
    return left_out


def bootstrap_interval(
    sample: Sample, d: float, alpha: float, rng: np.random.Generator
) -> BootstrapInterval | None:
    """Return BCa and percentile intervals of d (Efron & Tibshirani 1993, chapter 14); None if d does not vary.

    Resamples are added until the Monte Carlo error of the ends is below 0.01, up to MOST_RESAMPLES.
    """
    left_out = jackknife_effect_sizes(sample)
    drawn = resampled_effect_sizes(sample, RESAMPLES, rng)
    interval = interval_of(d, drawn, left_out, alpha)
    while interval and interval.monte_carlo_error > LARGEST_ERROR and len(drawn) < MOST_RESAMPLES:
        drawn = np.concatenate([drawn, resampled_effect_sizes(sample, len(drawn), rng)])
        interval = interval_of(d, drawn, left_out, alpha)
    return interval


def interval_of(
    estimate: float, drawn: Vector, left_out: Sequence[Vector], alpha: float
) -> BootstrapInterval | None:
    """Return BCa and percentile ends from resamples and jackknife; None if too few resamples have an effect size."""
    resamples = len(drawn)
    drawn = drawn[np.isfinite(drawn)]
    if math.isnan(estimate) or len(drawn) < max(resamples / 2, 2 * GROUPS):
        return None
    tails = (alpha / 2, 1 - alpha / 2)
    acceleration = _acceleration(left_out)
    low, high = _bca_ends(estimate, drawn, acceleration, tails)
    percentile_low, percentile_high = (float(end) for end in np.quantile(drawn, tails))
    error = _monte_carlo_error(estimate, drawn, acceleration, tails)
    return BootstrapInterval(low, high, percentile_low, percentile_high, len(drawn), error)


def _monte_carlo_error(
    estimate: float, drawn: Vector, acceleration: float, tails: tuple[float, float]
) -> float:
    """Return the standard error of the less certain end due to the draws, by a jackknife over groups of draws.

    The standard error includes the errors of the bias correction and of the quantile, which use the same draws.
    """
    group = np.arange(len(drawn)) % GROUPS
    ends = [_bca_ends(estimate, drawn[group != left], acceleration, tails) for left in range(GROUPS)]
    return float(np.sqrt(GROUPS - 1) * np.std(ends, axis=0).max())


def _bca_ends(
    estimate: float, drawn: Vector, acceleration: float, tails: tuple[float, float]
) -> tuple[float, float]:
    low, high = np.quantile(drawn, _bca_levels(estimate, drawn, acceleration, tails))
    return float(low), float(high)


def _bca_levels(d: float, drawn: Vector, acceleration: float, levels: tuple[float, float]) -> list[float]:
    """Return the quantile levels of BCa, corrected for bias and for a spread that changes with d."""
    from scipy.special import ndtr, ndtri

    below = (np.count_nonzero(drawn < d) + 0.5 * np.count_nonzero(drawn == d)) / len(drawn)
    bias = float(ndtri(np.clip(below, 0.5 / len(drawn), 1 - 0.5 / len(drawn))))
    corrected = []
    for level in levels:
        z = bias + float(ndtri(level))
        shrink = 1 - acceleration * z
        corrected.append(float(ndtr(bias + z / shrink)) if shrink > 0 else float(level > 0.5))
    return corrected


def _acceleration(left_out: Sequence[Vector]) -> float:
    """Return the acceleration constant for several samples (Davison & Hinkley 1997, eq. 5.23)."""
    cubes = squares = 0.0
    for values in left_out:
        finite = values[np.isfinite(values)]
        if len(finite) < 2:
            continue
        influence = (len(finite) - 1) * (finite.mean() - finite) / len(finite)
        cubes += float((influence**3).sum())
        squares += float((influence**2).sum())
    return cubes / (6 * squares**1.5) if squares > 0 else 0.0


def _blocks(total: int, rows: int) -> Iterator[tuple[int, int]]:
    """Yield the first column and the width of blocks of columns that fit into memory with this many rows."""
    size = max(1, BLOCK_ENTRIES // rows)
    for start in range(0, total, size):
        yield start, min(size, total - start)
