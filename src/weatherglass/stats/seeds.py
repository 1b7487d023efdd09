"""Estimate how much a seed changes a value such as d, compared with the choice of words (docs/methods 11).

The value is computed for S seeds, both with all target words and without each of them. The variance over seeds comes
from values of single seeds, and the variance over words from values averaged over seeds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.interval import jackknife_variance, two_sided_p, upper_point

LEVEL = 0.95
"""The confidence level of the intervals."""
MOST_SEEDS = 100_000
SMALLEST_SHARE = 1e-6
"""The smallest share of the words' variance that is kept when the seeds' noise is subtracted."""


@dataclass(frozen=True, slots=True)
class SeedShare:
    """A value over seeds; quantities that cannot be estimated are NaN."""

    mean: float
    sd: float
    """The standard deviation over seeds, with fixed words."""
    low: float
    """The lower bound of the interval of the mean, with seeds as a random factor and words fixed."""
    high: float
    word_variance: float
    """The variance of the value over random target words, without the seeds' noise in single words."""
    share: float
    """The seed's share of the variance of a value from one seed, sd² / (sd² + word_variance)."""
    share_low: float
    share_high: float


def seed_share(values: Vector, without: Sequence[Matrix]) -> SeedShare:
    """Estimate the mean over seeds, and the seed's share of the variance over random seeds and target words.

    The interval is that of a ratio of two variances. The variance over seeds has S − 1 degrees of freedom. The degrees
    of freedom of the variance over words (of a mean over seeds, without the seeds' noise) come from a jackknife of the
    log ratio over words, since words affect both variances.

    Args:
        values: the value for each seed, at least two.
        without: the value without each word, seed × word, for each target set.
    """
    seeds = len(values)
    mean, variance = float(values.mean()), float(values.var(ddof=1))
    reach = float(upper_point((1 - LEVEL) / 2, seeds - 1)) * (variance / seeds) ** 0.5
    found = (mean, variance**0.5, mean - reach, mean + reach)
    estimable = without and all(table.shape[1] > 2 and np.isfinite(table).all() for table in without)
    if not estimable or not variance > 0:
        nothing = float("nan")
        return SeedShare(*found, nothing, nothing, nothing, nothing)
    parts = [_MeanOverSeeds.of(table) for table in without]
    of_mean, noise = sum(part.variance for part in parts), sum(part.noise for part in parts)
    of_words = max(of_mean - noise / seeds, SMALLEST_SHARE * of_mean)
    seeds_and_words = (
        VarianceEstimate(variance, seeds - 1),
        VarianceEstimate(of_mean, _df_of_words(variance, without, parts)),
    )
    low, high = share_ends(*seeds_and_words, noise / seeds, LEVEL)
    return SeedShare(*found, of_words, variance / (variance + of_words), low, high)


def _df_of_words(variance: float, without: Sequence[Matrix], parts: Sequence[_MeanOverSeeds]) -> float:
    """Return 2 divided by the variance of the log ratio over random words, which also affect the variance over seeds.

    This effect contains the seeds' noise, which is subtracted, since the S − 1 degrees of freedom already account for
    it.
    """
    of_mean = sum(part.variance for part in parts)
    denominator = [np.log(part.variance_without_each + of_mean - part.variance) for part in parts]
    ratio = [np.log(table.var(axis=0, ddof=1)) - log for table, log in zip(without, denominator, strict=True)]
    counted = 4 * sum(part.noise for part in parts) / (variance * (len(without[0]) - 1))
    of_ratio = sum(float(jackknife_variance(logs)) for logs in ratio) - counted
    return 2 / max(of_ratio, sum(float(jackknife_variance(logs)) for logs in denominator), 1e-12)


@dataclass(frozen=True, slots=True, eq=False)
class _MeanOverSeeds:
    """The jackknife variance, over the words of one set, of the mean over some seeds."""

    variance: float
    variance_without_each: Vector
    """The variance without each word."""
    noise: float
    """The part of the variance of a one-seed value that is due to the seed's effect on single words."""

    @classmethod
    def of(cls, without: Matrix) -> _MeanOverSeeds:
        seeds, words = without.shape
        influence = (words - 1) * (without - without.mean(axis=1, keepdims=True))
        means = influence.mean(axis=0)
        squares, noise = np.square(means), np.square(influence - means).sum() / (seeds - 1)
        return cls(
            float(squares.sum()) / (words * (words - 1)),
            (squares.sum() - squares) / ((words - 1) * (words - 2)),
            float(noise) / (words * (words - 1)),
        )


def seeds_needed(sd: float, precision: float) -> int | None:
    """Return the smallest number of seeds whose mean has an interval of ± precision; None if it is above
    `MOST_SEEDS`.
    """
    low, high = 1, MOST_SEEDS
    if not _reach(sd, high) <= precision:
        return None
    while high - low > 1:  # `low` seeds are too few, `high` are enough
        middle = (low + high) // 2
        low, high = (low, middle) if _reach(sd, middle) <= precision else (middle, high)
    return high


def _reach(sd: float, seeds: int) -> float:
    return float(upper_point((1 - LEVEL) / 2, seeds - 1)) * sd / math.sqrt(seeds)


HALVINGS = 60
Squares = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class VarianceEstimate:
    """An estimate of a variance, with a scaled chi-squared distribution."""

    value: float
    df: float


def share_ends(
    one: VarianceEstimate, other: VarianceEstimate, noise: float, level: float
) -> tuple[float, float]:
    """Return the ends of the interval of v / (v + w), where `one` estimates v and `other` estimates w + noise.

    A ratio w/v = t belongs to the interval if `noise`, assumed to be known, is in the interval of w + noise − t·v,
    which is a difference of two variances (Ting, Burdick, Graybill, Jeyaratnam & Lu 1990). Without noise, this is the
    F interval of the ratio. If the share is near 1, subtracting the noise first would give a difference near 0, which
    is not chi-squared.
    """
    from scipy.special import chdtri, fdtri

    tail = (1 - level) / 2
    ends = []
    for side, point in (
        (1, tail),
        (-1, 1 - tail),
    ):  # the upper end of t, which is the lower end of the share, first
        ratio = float(fdtri(other.df, one.df, point))
        of_other = other.df / float(chdtri(other.df, 1 - point)) - 1
        of_one = one.df / float(chdtri(one.df, point)) - 1
        cross = ((ratio - 1) ** 2 - (of_other * ratio) ** 2 - of_one**2) / ratio

        def excess(
            taken: float, side: int = side, squares: Squares = (of_other**2, of_one**2, cross)
        ) -> float:
            """Return the distance between this end of the difference's interval and the noise."""
            both = squares[0] * other.value**2 + squares[1] * taken**2 + squares[2] * other.value * taken
            return other.value - taken + side * math.sqrt(max(both, 0.0)) - noise

        taken = _root(excess, other.value / ratio)
        ends.append(one.value / (one.value + taken))
    return ends[0], ends[1]


def _root(falling: Callable[[float], float], above: float) -> float:
    """Return the root of a decreasing function between 0 and a point where it is negative; 0 if it has none."""
    low, high = 0.0, above
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return low


Layouts = NDArray[np.float64]
"""Arrays of shape … × rows × columns, with one two-way layout per leading index."""


@dataclass(frozen=True, slots=True, eq=False)
class CrossedMean:
    """The mean of each layout, with its interval for random rows and columns; NaN if it is not estimable."""

    mean: Vector
    error: Vector
    """The standard error, √V."""
    df: Vector
    """The degrees of freedom of t, the number of levels of the smaller factor minus one."""
    low: Vector
    high: Vector
    p_value: Vector
    """The two-sided p of a mean of 0; it is at most 1 − LEVEL if and only if the interval excludes 0."""


def crossed_mean(layouts: Layouts) -> CrossedMean:
    """Return the mean over rows and columns, its interval and its p, with both factors random.

    V = max(V_P + V_S − V_I, V_P, V_S, V_T) is the variance of the mean by restricted maximum likelihood. V_P and V_S
    are the variances of the mean over rows and over columns, and V_I is the noise of single cells that both contain.
    V_T, the variance of the cells divided by their number, applies if neither rows nor columns vary more than cells. t
    has the degrees of freedom of the smaller factor. With one row or one column, only the mean is estimable.
    """
    rows, columns = layouts.shape[-2:]
    mean: Vector = layouts.mean((-2, -1))
    if rows < 2 or columns < 2:
        nothing = np.full(mean.shape, np.nan)
        return CrossedMean(mean, nothing, nothing, nothing, nothing, nothing)
    row_means, column_means = layouts.mean(-1), layouts.mean(-2)
    of_rows, of_columns = row_means.var(-1, ddof=1) / rows, column_means.var(-1, ddof=1) / columns
    residuals = layouts - row_means[..., None] - column_means[..., None, :] + mean[..., None, None]
    cells = rows * columns
    of_cells = np.square(residuals).sum((-2, -1)) / ((rows - 1) * (columns - 1) * cells)
    shares = (rows - 1) * of_rows + (columns - 1) * of_columns + (rows - 1) * (columns - 1) * of_cells
    of_all = shares / (cells - 1)
    variance = np.maximum.reduce([of_rows + of_columns - of_cells, of_rows, of_columns, of_all])
    error = np.sqrt(variance)
    df = np.full(mean.shape, min(rows, columns) - 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0, 0.0, mean / error)
    reach = upper_point((1 - LEVEL) / 2, df) * error
    return CrossedMean(mean, error, df, mean - reach, mean + reach, two_sided_p(t, df))
