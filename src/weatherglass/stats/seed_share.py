"""How much a seed moves a value such as d, beside what its words move it: variances, shares, seeds needed.

A value is computed for S seeds, and again without each target word (docs/methods 11). Values that come from one seed
differ from seed to seed; values that are averaged over seeds differ from one choice of words to another.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.interval import upper_point
from weatherglass.stats.jackknife import jackknife_variance
from weatherglass.stats.variance_share import VarianceEstimate, share_ends

LEVEL = 0.95
"""Of the intervals."""
MOST_SEEDS = 100_000
SMALLEST_SHARE = 1e-6
"""Of the words' variance that is left without the seeds' noise; an estimate below it is taken for it."""


@dataclass(frozen=True, slots=True)
class SeedShare:
    """A value over seeds. What cannot be estimated is NaN."""

    mean: float
    sd: float
    """Over seeds, with the words as they are."""
    low: float
    """The interval of the mean over other seeds, with the words as they are."""
    high: float
    word_variance: float
    """What other target words would add to the variance of the value, the seeds' noise in single words taken off."""
    share: float
    """sd² / (sd² + word_variance): of the variance of a value from one seed, what is owed to the seed."""
    share_low: float
    share_high: float


def seed_share(values: Vector, without: Sequence[Matrix]) -> SeedShare:
    """The value over seeds, and the seed's share of its variance for other seeds and target words.

    The interval is that of a ratio of variances: the seeds' with S − 1 degrees of freedom, and that of a mean over
    seeds for other words, less the seeds' noise in it, with as many as the jackknife of the log ratio over words says,
    since words move both.

    Args:
        values: one for each seed, at least two.
        without: for each target set, seed × word: the value without each word.
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
    """2 / the variance of the log ratio over other words: a word moves the variance over seeds, too.

    What a word moves it by contains seeds' noise, which S − 1 degrees of freedom already count: it is taken off.
    """
    of_mean = sum(part.variance for part in parts)
    denominator = [np.log(part.variance_without_each + of_mean - part.variance) for part in parts]
    ratio = [np.log(table.var(axis=0, ddof=1)) - log for table, log in zip(without, denominator, strict=True)]
    counted = 4 * sum(part.noise for part in parts) / (variance * (len(without[0]) - 1))
    of_ratio = sum(float(jackknife_variance(logs)) for logs in ratio) - counted
    return 2 / max(of_ratio, sum(float(jackknife_variance(logs)) for logs in denominator), 1e-12)


@dataclass(frozen=True, slots=True, eq=False)
class _MeanOverSeeds:
    """How far the mean over these seeds moves with the words of one set (jackknife)."""

    variance: float
    variance_without_each: Vector
    """The same without each word."""
    noise: float
    """What seeds move single words by adds this to the variance of a value from one seed."""

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
    """The fewest seeds whose mean has an interval of at most ± precision; None above `MOST_SEEDS`."""
    low, high = 1, MOST_SEEDS
    if not _reach(sd, high) <= precision:
        return None
    while high - low > 1:  # `low` seeds are too few, `high` are enough
        middle = (low + high) // 2
        low, high = (low, middle) if _reach(sd, middle) <= precision else (middle, high)
    return high


def _reach(sd: float, seeds: int) -> float:
    return float(upper_point((1 - LEVEL) / 2, seeds - 1)) * sd / math.sqrt(seeds)
