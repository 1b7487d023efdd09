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
from weatherglass.inference.interval import upper_point
from weatherglass.inference.jackknife import jackknife_variance

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


def seed_share(values: Vector, without: Sequence[Matrix], level: float = 0.95) -> SeedShare:
    """The value over seeds, and the seed's share of its variance for other seeds and target words.

    The interval is that of a ratio of two variances: S − 1 degrees of freedom for the seeds, and for the words as many
    as the jackknife of the log ratio over words says, since words move both variances.

    Args:
        values: one for each seed, at least two.
        without: for each target set, seed × word: the value without each word.
        level: of the intervals.
    """
    seeds = len(values)
    mean, variance = float(values.mean()), float(values.var(ddof=1))
    reach = float(upper_point((1 - level) / 2, seeds - 1)) * (variance / seeds) ** 0.5
    found = (mean, variance**0.5, mean - reach, mean + reach)
    estimable = without and all(table.shape[1] > 2 and np.isfinite(table).all() for table in without)
    if not estimable or not variance > 0:
        nothing = float("nan")
        return SeedShare(*found, nothing, nothing, nothing, nothing)
    parts = [_WordVariance.of(table) for table in without]
    of_words = float(sum(part.whole for part in parts))
    ratio = variance / of_words
    low, high = _ratio_ends(ratio, seeds - 1, _df_of_words(variance, of_words, without, parts), level)
    return SeedShare(*found, of_words, ratio / (ratio + 1), low / (low + 1), high / (high + 1))


def _df_of_words(
    variance: float, of_words: float, without: Sequence[Matrix], parts: Sequence[_WordVariance]
) -> float:
    """2 / the variance of the log ratio over other words: a word moves the variance over seeds, too.

    What a word moves it by contains seeds' noise, which S − 1 degrees of freedom already count: it is taken off.
    """
    denominator = [np.log(part.without_each + of_words - part.whole) for part in parts]
    ratio = [np.log(table.var(axis=0, ddof=1)) - log for table, log in zip(without, denominator, strict=True)]
    counted = 4 * sum(part.noise for part in parts) / (variance * (len(without[0]) - 1))
    of_ratio = sum(float(jackknife_variance(logs)) for logs in ratio) - counted
    return 2 / max(of_ratio, sum(float(jackknife_variance(logs)) for logs in denominator), 1e-12)


@dataclass(frozen=True, slots=True, eq=False)
class _WordVariance:
    """The jackknife variance of the mean over seeds for other words of one set, less the seeds' noise in it."""

    whole: float
    without_each: Vector
    """The same without each word."""
    noise: float
    """What seeds move single words by adds this to the variance of a value from one seed."""

    @classmethod
    def of(cls, without: Matrix) -> _WordVariance:
        seeds, words = without.shape
        influence = (words - 1) * (without - without.mean(axis=1, keepdims=True))
        means = influence.mean(axis=0)
        squares, noise = np.square(means), np.square(influence - means).sum(axis=0) / (seeds - 1)

        def variance(squares: Vector, noise: Vector, words: int) -> Vector:
            of_means = squares / (words * (words - 1))
            kept = of_means - noise / (words * (words - 1) * seeds)
            return np.asarray(np.maximum(kept, SMALLEST_SHARE * of_means))

        left = variance(squares.sum() - squares, noise.sum() - noise, words - 1)
        whole = float(variance(squares.sum(), noise.sum(), words))
        return cls(whole, left, float(noise.sum()) / (words * (words - 1)))


def _ratio_ends(ratio: float, df: float, other_df: float, level: float) -> tuple[float, float]:
    """The interval of a ratio of two variances from their independent estimates."""
    from scipy.special import fdtri

    tail = (1 - level) / 2
    return ratio / float(fdtri(df, other_df, 1 - tail)), ratio / float(fdtri(df, other_df, tail))


def seeds_needed(sd: float, precision: float, level: float = 0.95) -> int | None:
    """The fewest seeds whose mean has an interval of at most ± precision; None above `MOST_SEEDS`."""
    low, high = 1, MOST_SEEDS
    if not _reach(sd, high, level) <= precision:
        return None
    while high - low > 1:  # `low` seeds are too few, `high` are enough
        middle = (low + high) // 2
        low, high = (low, middle) if _reach(sd, middle, level) <= precision else (middle, high)
    return high


def _reach(sd: float, seeds: int, level: float) -> float:
    return float(upper_point((1 - level) / 2, seeds - 1)) * sd / math.sqrt(seeds)
