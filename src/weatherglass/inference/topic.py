"""The size of a topic: the mean d of its tests, whose words may be shared (docs/methods 12).

Tests of one topic often score the same words, so that their effects vary together. Each word is left out of all tests
at once, and the jackknife adds up over words what that does to the mean.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.inference.interval import Interval, upper_point
from weatherglass.inference.leave_one_out import each_words, without_each_word
from weatherglass.inference.scale import Scale, Within, within

LARGEST_MEAN = 1.98
"""|d̄| beyond it has no place on the unbounded scale, where 2 is infinite."""
LEAST_TESTS = 6
"""Below it the spread over tests cannot be told from chance: no τ², no interval for a further test."""


@dataclass(frozen=True, slots=True, eq=False)
class WordScores:
    """The scores of one test's words, X first, and what tells words apart."""

    scores: Vector
    words: Sequence[Hashable]
    n_x: int
    ddof: int = 1


@dataclass(frozen=True, slots=True)
class TopicSize:
    """The mean d of the tests of a topic."""

    effect_size: float
    """d̄, for these tests."""
    interval: Interval | None
    """Over words of this kind; None where a test has fewer than two words in a set, or no spread."""
    tau2: float | None
    """The variance of the true d over tests; None below LEAST_TESTS."""
    further: Interval | None
    """What d a further test of this kind would have; None below LEAST_TESTS."""


def topic_size(tests: Sequence[WordScores], alpha: float = 0.05) -> TopicSize:
    """Mean d of these tests, with its interval at level 1 − alpha.

    Args:
        tests: at least one, each with scores that are not all equal.
        alpha: at most 0.5.
    """
    centred = [within(np.asarray(test.scores, dtype=np.float64), test.n_x, test.ddof) for test in tests]
    d = np.array([float(scores.scale.effect_size(scores.g)) for scores in centred])
    mean = float(d.mean())
    if any(min(s.scale.n_x, s.scale.n_y) < 2 or not s.squares > 0 for s in centred):
        return TopicSize(mean, None, None, None)
    covariance = shared_covariance([influences(scores) for scores in centred], [test.words for test in tests])
    if not np.isfinite(covariance).all():
        return TopicSize(mean, None, None, None)
    df = min(scores.scale.df for scores in centred)
    variance = float(covariance.sum()) / len(tests) ** 2
    low, high = mean_ends(np.asarray(mean), np.asarray(math.sqrt(variance)), df, alpha)
    tau2, further = None, None
    if len(tests) >= LEAST_TESTS:
        tau2 = variance_over_tests(d, covariance)
        further = _further_test(mean, variance, tau2, len(tests), alpha)
    return TopicSize(mean, Interval(float(low), float(high), 1 - alpha), tau2, further)


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


def mean_ends(mean: Vector, se: Vector, df: int, alpha: float) -> tuple[Vector, Vector]:
    """The ends of the interval of d̄, made on the scale of h = d̄ / √(1 − d̄²/4), which has no bounds."""
    inside = np.clip(mean, -LARGEST_MEAN, LARGEST_MEAN)
    h = inside / np.sqrt(1 - inside**2 / 4)
    half = upper_point(alpha / 2, df) * se * (1 + h**2 / 4) ** 1.5
    low, high = ((h + side * half) / np.sqrt(1 + (h + side * half) ** 2 / 4) for side in (-1, 1))
    return np.asarray(low), np.asarray(high)


def variance_over_tests(d: Vector, covariance: Matrix) -> float:
    """τ²: what the variance of d over tests has beyond the tests' own errors, not below 0."""
    tests = len(d)
    own = float(np.trace(covariance)) / tests
    shared = (float(covariance.sum()) - float(np.trace(covariance))) / (tests * (tests - 1))
    return max(0.0, float(np.var(d, ddof=1)) - own + shared)


def _further_test(mean: float, variance: float, tau2: float, tests: int, alpha: float) -> Interval:
    """d̄ ± t(J − 2) · √(se² + τ²/J + τ²), within what d can be."""
    half = float(upper_point(alpha / 2, tests - 2)) * math.sqrt(variance + tau2 / tests + tau2)
    return Interval(max(-2.0, mean - half), min(2.0, mean + half), 1 - alpha)
