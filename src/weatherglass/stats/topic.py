"""How far the tests of a topic differ: the variance of d over tests that may share words (docs/methods 12).

Tests of one topic often score the same words, so that their effects vary together. Each word is left out of all tests
at once, and the jackknife adds up over words what that does to each d.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.interval import Interval, upper_point
from weatherglass.stats.leave_one_out import each_words, without_each_word
from weatherglass.stats.scale import Scale, Within, within
from weatherglass.stats.topic_layout import TopicTest

LEAST_TESTS = 6
"""With fewer tests the spread over tests cannot be distinguished from chance."""


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """How far d differs over the tests of a topic."""

    tau2: float
    """The variance of the true d over tests."""
    further: Interval
    """The prediction interval for d of a further test of this kind."""


def heterogeneity(tests: Sequence[TopicTest], alpha: float = 0.05) -> Heterogeneity | None:
    """Return the variance of d over tests, with the prediction interval for a further one at level 1 − alpha.

    None with fewer than `LEAST_TESTS` tests, and where a test has fewer than two words in a set, or no spread.

    Args:
        tests: each with scores that are not all equal.
        alpha: at most 0.5.
    """
    if len(tests) < LEAST_TESTS:
        return None
    centred = [within(np.asarray(test.scores, dtype=np.float64), test.n_x, test.ddof) for test in tests]
    if any(min(s.scale.n_x, s.scale.n_y) < 2 or not s.squares > 0 for s in centred):
        return None
    d = np.array([float(scores.scale.effect_size(scores.g)) for scores in centred])
    covariance = shared_covariance([influences(scores) for scores in centred], [test.words for test in tests])
    if not np.isfinite(covariance).all():
        return None
    tau2 = variance_over_tests(d, covariance)
    largest = max(scores.scale.largest for scores in centred)
    variance = float(covariance.sum()) / len(tests) ** 2 + tau2 / len(tests) + tau2
    half = float(upper_point(alpha / 2, len(tests) - 2)) * math.sqrt(variance)
    mean = float(d.mean())
    return Heterogeneity(tau2, Interval(max(-largest, mean - half), min(largest, mean + half), 1 - alpha))


def influences(scores: Within) -> Vector:
    """U of every word: its jackknife deviation of d, d′(g) · √((m − 1)/m) · (g without it − the mean over its set)."""
    scale, without = scores.scale, without_each_word(scores).g
    deviations = np.empty_like(without)
    for part in (slice(None, scale.n_x), slice(scale.n_x, None)):
        deviations[..., part] = without[..., part] - without[..., part].mean(axis=-1, keepdims=True)
    m = each_words(scale, scale.n_x, scale.n_y)
    return np.asarray(slope(scores.g, scale)[..., np.newaxis] * np.sqrt((m - 1) / m) * deviations)


def slope(g: Vector, scale: Scale) -> Vector:
    """d′(g) = c₁ / (c₁ + c₂·g²)^1.5: how far d moves with g."""
    c1, c2 = scale.df / (scale.n - scale.ddof), 1 / scale.largest**2
    return np.asarray(c1 / (c1 + c2 * g**2) ** 1.5)


def shared_covariance(deviations: Sequence[Vector], words: Sequence[Sequence[Hashable]]) -> Matrix:
    """C: for each two tests, the sum over the words that they share of the products of their U."""
    place: dict[Hashable, int] = {}
    for names in words:
        for name in names:
            place.setdefault(name, len(place))
    by_word = np.zeros((*deviations[0].shape[:-1], len(deviations), len(place)))
    for test, (u, names) in enumerate(zip(deviations, words, strict=True)):
        for column, name in enumerate(names):
            by_word[..., test, place[name]] += u[..., column]
    return np.asarray(by_word @ np.swapaxes(by_word, -1, -2))


def variance_over_tests(d: Vector, covariance: Matrix) -> float:
    """τ²: what the variance of d over tests has beyond the tests' own errors, not below 0."""
    tests = len(d)
    own = float(np.trace(covariance)) / tests
    shared = (float(covariance.sum()) - float(np.trace(covariance))) / (tests * (tests - 1))
    return max(0.0, float(np.var(d, ddof=1)) - own + shared)
