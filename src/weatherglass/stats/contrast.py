"""Contrasts of effects: does one test show more than another, by the t of docs/methods 12?

An arm is a test with a weight. The contrast is C = Σ weight · d over the arms, each d in units of its own sd or all of
them in one. Words and attributes that several arms share are counted once, with what they add to all of them, so
that what is shared cancels. No exchange of labels is exact where the effects themselves are not 0, so p and interval
are those of t; `python -m benchmarks.contrasts` simulates level and coverage.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.interval import Interval, two_sided_p, upper_point
from weatherglass.stats.topic_attributes import crossed_variance
from weatherglass.stats.topic_layout import AttributeTables, Layout, TopicTest, topic_of


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """One effect of a contrast."""

    weight: float
    to_a: Matrix
    """Measures of words (X first) to each word of A, larger where closer."""
    to_b: Matrix
    n_x: int
    words: Sequence[Hashable]
    a: Sequence[Hashable]
    b: Sequence[Hashable]

    @property
    def scores(self) -> Vector:
        """s(w, A, B) of every word."""
        return np.asarray(self.to_a.mean(axis=1) - self.to_b.mean(axis=1))

    @property
    def as_test(self) -> TopicTest:
        """The arm as the test of a topic; no p of its own is read."""
        tables = AttributeTables(self.to_a, self.to_b, self.a, self.b)
        return TopicTest(self.words, self.n_x, self.scores, math.nan, 1, tables)


@dataclass(frozen=True, slots=True)
class Contrast:
    """C with its p and interval, over words and attributes of this kind."""

    value: float
    effects: tuple[float, ...]
    """d of each arm, without its weight."""
    p: float
    interval: Interval
    df: float
    variance_of_words: float
    variance_of_attributes: float


def contrast(arms: Sequence[Arm], *, one_sd: bool = False, alpha: float = 0.05) -> Contrast | None:
    """Return C of these arms with its p, or None where a set is too small or all scores are equal.

    Args:
        arms: at least one; words and attributes with the same name are the same.
        one_sd: divide all arms by the sd of all their words together, as an interaction of groups needs; else each by
            the sd of its own words, which gives d.
        alpha: of the interval.
    """
    tests = [arm.as_test for arm in arms]
    if not all(test.varies for test in tests):
        return None
    topic = topic_of(tests)
    plain = topic.layout
    weights = np.array([arm.weight for arm in arms], dtype=np.float64)
    layout = Layout(plain.scores, plain.side, plain.ddof, plain.words, weights, one_sd)
    crossed = crossed_variance(replace(topic, layout=layout))
    if crossed is None:
        return None
    value, se = layout.effect_size, math.sqrt(crossed.variance)
    half = float(upper_point(alpha / 2, crossed.df)) * se
    return Contrast(
        value,
        tuple(layout.d.tolist()),
        float(two_sided_p(np.asarray(value / se), crossed.df)),
        Interval(value - half, value + half, 1 - alpha),
        crossed.df,
        crossed.of_words,
        crossed.of_choices,
    )
