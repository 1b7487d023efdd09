"""Compute confidence intervals of the medians by which claims are judged (docs/methods 7.1).

Words, base pairs and seeds are random factors. The words of a median share their base pairs and seeds, so the interval
of a bootstrap over words alone would be far too narrow. The variance is the sum of three variances: the bootstrap
variance of the median over its words (or queries), and the jackknife variances of the whole median over base pairs and
over seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.reliability.agreement.assess import SCALES, WORDS_AT_A_TIME
from weatherglass.reliability.agreement.icc import (
    FEWEST,
    LEVEL,
    MeanSquares,
    Tables,
    agreement_icc,
    alpha_of,
    consistency_icc,
    leave_one_group_out,
    too_few,
)
from weatherglass.reliability.scoring import raters
from weatherglass.reliability.scoring.scores import ScoreTensor
from weatherglass.stats.interval import jackknife_variance


@dataclass(frozen=True)
class MedianInterval:
    """The interval of one median; NaN if it cannot be estimated."""

    low: float
    high: float
    reason: str = ""


def median_interval(
    values: Vector, without_pair: Sequence[float], without_seed: Sequence[float]
) -> MedianInterval:
    """Return median ± t(P − 1) √(v_words + v_pairs + v_seeds), but at most 1, the largest possible ICC and alpha.

    Args:
        values: the values of which the median is taken, one for each word or query.
        without_pair: the median without each of the P base pairs.
        without_seed: the median without each seed.
    """
    from scipy.special import stdtrit

    finite = values[np.isfinite(values)]
    if not len(finite) or not np.isfinite(without_pair).all():
        return MedianInterval(np.nan, np.nan, "not estimable: the scores do not vary")
    variance = median_variance(finite)
    variance += sum(float(jackknife_variance(np.asarray(each))) for each in (without_pair, without_seed))
    reach = float(stdtrit(len(without_pair) - 1, (1 + LEVEL) / 2)) * variance**0.5
    median = float(np.median(finite))
    return MedianInterval(median - reach, min(median + reach, 1.0))


def median_variance(values: Vector) -> float:
    """Return the bootstrap variance of the median without drawing samples (Maritz & Jarrett 1978).

    The variance is exact for an odd number of values; for an even number, it is the variance of an order statistic
    between the two middle ones.
    """
    from scipy.special import betainc

    n = len(values)
    ends = betainc((n + 1) / 2, (n + 1) / 2, np.arange(n + 1) / n)
    weights, ordered = np.diff(ends), np.sort(values)
    mean = weights @ ordered
    return float(weights @ np.square(ordered - mean))


def retest_interval(scores: Tables) -> MedianInterval:
    """Return the interval of the median test–retest.

    Args:
        scores: word × pair × seed of one rule.
    """
    pairs, seeds = scores.shape[1:]
    if reason := _too_few_seeds(pairs, seeds, 3):
        return reason
    with np.errstate(divide="ignore", invalid="ignore"):
        without_pair = [
            _median(agreement_icc(rest)) for rest in leave_one_group_out(scores, np.arange(pairs))
        ]
        without_seed = [
            _median(agreement_icc(rest.transposed()))
            for rest in leave_one_group_out(scores.swapaxes(1, 2), np.arange(seeds))
        ]
        return median_interval(agreement_icc(MeanSquares.of(scores)), without_pair, without_seed)


def consistency_interval(tables: Sequence[Tables]) -> MedianInterval:
    """Return the interval of the median alpha over queries.

    Args:
        tables: the scores of one rule, word × pair × seed, for each query; queries with too few words are left out.
    """
    enough = [table for table in tables if len(table) >= FEWEST]
    if not enough:
        return MedianInterval(np.nan, np.nan, f"not estimable: no query has {FEWEST} words")
    pairs, seeds = enough[0].shape[1:]
    if reason := _too_few_seeds(pairs, seeds, 2):
        return reason

    def alphas(means: Sequence[Matrix]) -> Vector:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.array([float(alpha_of(MeanSquares.of(mean.T))) for mean in means])

    means = [table.mean(2) for table in enough]
    without_pair = [_median(alphas([np.delete(mean, pair, 1) for mean in means])) for pair in range(pairs)]
    others = [_without_each_seed(table) for table in enough]
    without_seed = [_median(alphas([other[:, :, seed] for other in others])) for seed in range(seeds)]
    return median_interval(alphas(means), without_pair, without_seed)


def ensemble_interval(scores: Tables) -> MedianInterval:
    """Return the confidence interval of alpha over the base pairs; words, base pairs and seeds are random factors.

    The interval is z ± t(P − 1) √(v_words + v_pairs + v_seeds) for z = −log(1 − alpha), with jackknife variances.
    alpha has no lower bound, and the error of z is about the same everywhere.

    Args:
        scores: the scores of one rule, word × pair × seed.
    """
    from scipy.special import stdtrit

    words, pairs, seeds = scores.shape
    if reason := too_few("words", words):
        return MedianInterval(np.nan, np.nan, reason)
    if few := _too_few_seeds(pairs, seeds, 2):
        return few
    means = scores.mean(2)
    centred = means - means.mean(0)
    covariance = centred.T @ centred
    items, total = float(np.trace(covariance)), float(covariance.sum())
    own = np.diag(covariance)
    # Without a word, a sum of squares about the mean decreases by n/(n − 1) times the word's own square.
    lost = words / (words - 1)
    row_items, row_totals = np.square(centred).sum(1), np.square(centred.sum(1))
    without_seed = []
    for seed in range(seeds):
        other = _without_seed(scores, means, seed)
        other -= other.mean(0)
        without_seed.append(_log_alpha(np.square(other).sum(), np.square(other.sum(1)).sum(), pairs))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = float(_log_alpha(items, total, pairs))
        by_word = _log_alpha(items - lost * row_items, total - lost * row_totals, pairs)
        by_pair = _log_alpha(items - own, total - 2 * covariance.sum(0) + own, pairs - 1)
    left_out = [by_word, by_pair, np.array(without_seed)]
    if not all(np.isfinite(part).all() for part in (np.array(z), *left_out)):
        return MedianInterval(np.nan, np.nan, "not estimable: the scores do not vary")
    reach = float(stdtrit(pairs - 1, (1 + LEVEL) / 2)) * float(sum(map(jackknife_variance, left_out))) ** 0.5
    low, high = (float(-np.expm1(-end)) for end in (z - reach, z + reach))
    return MedianInterval(low, high)


def _log_alpha(items: Vector | float, total: Vector | float, k: int) -> Vector:
    """Return −log(1 − alpha) from the sum of the items' variances and the variance of their sum, on any scale."""
    alpha = k / (k - 1) * (1 - np.asarray(items) / np.asarray(total))
    logarithm: Vector = -np.log1p(-alpha)
    return logarithm


@dataclass(frozen=True)
class Spread:
    """The standard deviation, over all words and pairs, by which a rule's scores are divided."""

    full: float
    without_pair: Vector
    without_seed: Vector

    @classmethod
    def one(cls, pairs: int, seeds: int) -> Spread:
        """Return a spread of 1 for raw scores, because raw scores are not divided by their spread."""
        return cls(1.0, np.ones(pairs), np.ones(seeds))

    @classmethod
    def of(cls, tensor: ScoreTensor, rule: str) -> Spread:
        """Compute the spread of standardised scores in one pass over the vocabulary."""
        pairs, seeds = len(tensor.pairs), len(tensor.seeds)
        by_pair, by_seed = np.zeros((2, pairs)), np.zeros((2, seeds))
        for start in range(0, len(tensor.words), WORDS_AT_A_TIME):
            scores = tensor.block(rule, slice(start, start + WORDS_AT_A_TIME))
            mean, without = scores.mean(2), _without_each_seed(scores)
            by_pair += [mean.sum(0), np.square(mean).sum(0)]
            by_seed += [without.sum((0, 1)), np.square(without).sum((0, 1))]
        words = len(tensor.words)
        total = by_pair.sum(1)
        return cls(
            float(_deviation(words * pairs, *total)),
            _deviation(words * (pairs - 1), *(total[:, None] - by_pair)),
            _deviation(words * pairs, *by_seed),
        )


def rater_intervals(tensor: ScoreTensor, words: Integers) -> dict[str, MedianInterval]:
    """Return the interval of the median agreement of the rules over some words, by scale."""
    rules, pairs, seeds = raters(tensor.rules), len(tensor.pairs), len(tensor.seeds)
    if len(rules) < 2:
        return dict.fromkeys(
            SCALES, MedianInterval(np.nan, np.nan, "not estimable: there is one rule, but 2 are needed")
        )
    if reason := _too_few_seeds(pairs, seeds, 2):
        return dict.fromkeys(SCALES, reason)
    blocks = [tensor.block(rule, words) for rule in rules]
    means = np.stack([block.mean(2) for block in blocks], axis=-1)
    without_seed = np.stack([_without_each_seed(block) for block in blocks], axis=-1)

    def agreement(scores: Tables) -> Vector:
        with np.errstate(divide="ignore", invalid="ignore"):
            return consistency_icc(MeanSquares.of(scores))

    intervals = {}
    for scale in SCALES:
        spreads = [Spread.one(pairs, seeds) if scale == "raw" else Spread.of(tensor, rule) for rule in rules]
        by_pair = np.stack([spread.without_pair for spread in spreads], axis=-1)
        by_seed = np.stack([spread.without_seed for spread in spreads], axis=-1)
        intervals[scale] = median_interval(
            agreement(means / [spread.full for spread in spreads]),
            [_median(agreement(np.delete(means, pair, 1) / by_pair[pair])) for pair in range(pairs)],
            [_median(agreement(without_seed[:, :, seed] / by_seed[seed])) for seed in range(seeds)],
        )
    return intervals


def _too_few_seeds(pairs: int, seeds: int, fewest: int) -> MedianInterval | None:
    """Return an empty interval with a reason if there are too few base pairs or seeds; otherwise None."""
    reason = too_few("base pairs", pairs)
    if not reason and seeds < fewest:
        reason = (
            f"not estimable: {seeds} {('seed' if seeds == 1 else 'seeds')}, but {fewest} are needed for an "
            "interval"
        )
    return MedianInterval(np.nan, np.nan, reason) if reason else None


def _median(values: Vector) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else float("nan")


def _without_seed(scores: Tables, means: Matrix, seed: int) -> Matrix:
    """Return the scores averaged over all seeds except this one, word × pair."""
    seeds = scores.shape[2]
    others: Matrix = (means * seeds - scores[:, :, seed]) / (seeds - 1)
    return others


def _without_each_seed(scores: Tables) -> Tables:
    """Return, for each seed, the scores averaged over all others, word × pair × seed."""
    others: Tables = scores.sum(-1, keepdims=True) - scores
    return others / (scores.shape[-1] - 1)


def _deviation(n: int, total: Vector, squares: Vector) -> Vector:
    """Return the standard deviation of n numbers from their sum and sum of squares; 1 if they do not vary."""
    variance = (squares - total**2 / n) / (n - 1)
    return np.where(variance > 0, np.sqrt(np.maximum(variance, 0.0)), 1.0)
