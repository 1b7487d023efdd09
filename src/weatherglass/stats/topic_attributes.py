"""Test topics, and contrasts of effects, for random attributes (docs/methods 12)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.attributes import LEAST_ATTRIBUTES, LEAST_TEMPLATES
from weatherglass.stats.interval import Interval, two_sided_p, upper_point
from weatherglass.stats.topic import AttributeTables, Layout, Topic, TopicTest, topic_of

PLACEBO_DRAWS = 999
PLACEBO_SHARE = 0.95


def topic_p_random(topic: Topic) -> float | None:
    """Return the p of D for random target words and attribute words, by a linearised crossed t-test.

    Return None if a test has fewer than 3 attribute words in a set, one word in a target set, or scores that are not a
    difference of means over attribute words.
    """
    crossed = crossed_variance(topic)
    if crossed is None:
        return None
    t = topic.layout.effect_size / math.sqrt(crossed.variance)
    return float(two_sided_p(np.asarray(t), crossed.df))


@dataclass(frozen=True, slots=True)
class CrossedVariance:
    """V₀, the variance of D over target words and attribute words (and templates), with its components."""

    variance: float
    df: float
    of_words: float
    of_choices: float
    """The variance over attribute words and templates."""


def crossed_variance(topic: Topic) -> CrossedVariance | None:
    """Return V₀ and its degrees of freedom; None in the same cases as `topic_p_random`."""
    layout = topic.layout
    tables = [test.tables for test in topic.tests]
    if (
        not all(table is not None and _enough(table) for table in tables)
        or min(layout.n_x.min(), layout.n_y.min()) < 2
    ):
        return None
    of_words = layout.word_variance
    factors = [
        _Factor(topic, [_columns(table, factor) for table in tables if table is not None], sign)
        for factor, sign in (("a", 1), ("b", -1), ("templates", 1))
    ]
    factors = [factor for factor in factors if factor.levels]
    of_choices = sum(factor.variance for factor in factors)
    total = of_words + of_choices
    # The interaction of words and attributes is in both terms; it is counted once.
    once = total - sum(factor.interaction for factor in factors)
    variance = max(once, of_words, of_choices)
    if not variance > 0:
        return None
    word_df = layout.word_df
    shares = of_words**2 / max(1.0, word_df) if of_words > 0 else 0.0
    shares += sum(factor.variance**2 / max(1, factor.levels - 1) for factor in factors)
    return CrossedVariance(variance, max(1.0, total**2 / shares), of_words, of_choices)


def _enough(tables: AttributeTables) -> bool:
    return bool(min(tables.to_a.shape[1], tables.to_b.shape[1]) >= LEAST_ATTRIBUTES)


def _columns(tables: AttributeTables, factor: str) -> tuple[Matrix, Sequence[Hashable]] | None:
    if factor == "a":
        return tables.to_a, tables.a
    if factor == "b":
        return tables.to_b, tables.b
    if tables.templates is None or tables.templates.shape[1] < LEAST_TEMPLATES:
        return None
    return tables.templates, tables.template_names


class _Factor:
    """Attribute words of one side, or templates, over all tests; equal names are the same level."""

    def __init__(
        self, topic: Topic, tables: Sequence[tuple[Matrix, Sequence[Hashable]] | None], sign: int
    ) -> None:
        names = dict.fromkeys(name for table in tables if table for name in table[1])
        at = {name: place for place, name in enumerate(names)}
        self.levels = len(at)
        layout = topic.layout
        differences = np.zeros(len(at))
        interaction = np.zeros((len(layout.words), len(at)))
        for row, (test, table) in enumerate(zip(topic.tests, tables, strict=True)):
            if table is None:
                continue
            values, where = sign * table[0] / layout.sd[row], np.array([at[name] for name in table[1]])
            k, scale = len(where), layout.scales[row]
            x, y = values[: test.n_x], values[test.n_x :]
            weight = layout.weights[row] / math.sqrt(k * (k - 1))
            apart = x.mean(axis=0) - y.mean(axis=0)
            differences[where] += weight * (apart - apart.mean())
            residuals = np.concatenate(
                [
                    (x - x.mean(axis=0)) / math.sqrt(scale.n_x * (scale.n_x - 1)),
                    (y.mean(axis=0) - y) / math.sqrt(scale.n_y * (scale.n_y - 1)),
                ]
            )
            residuals -= residuals.mean(axis=1, keepdims=True)
            interaction[np.ix_(topic.places[row], where)] += weight * residuals
        self.variance = float((differences**2).sum())
        """V_A, V_B or V_T."""
        self.interaction = float((interaction**2).sum())
        """The contribution of this factor to I."""


def placebo(topic: Topic, draws: int = PLACEBO_DRAWS, share: float = PLACEBO_SHARE) -> float | None:
    """Return the quantile at level `share` of |D| over random divisions of the attribute words into A and B.

    The attribute words are put into a random order, and A of each test gets the words that come first in this order.
    Thus a word has the same side in tests with the same words, and every test keeps its sizes. Return None if there
    are no tables.
    """
    tests, layout = topic.tests, topic.layout
    if any(test.tables is None for test in tests):
        return None
    names = [(*test.tables.a, *test.tables.b) for test in tests if test.tables is not None]
    at = {name: place for place, name in enumerate(sorted({n for some in names for n in some}, key=repr))}
    keys = np.random.default_rng(layout.seed).random((draws, len(at)))
    mean = np.zeros(draws)
    divisions: dict[tuple[int, ...], Matrix] = {}
    for test, own, weight in zip(tests, names, layout.weights, strict=True):
        assert test.tables is not None
        table = np.concatenate([test.tables.to_a, test.tables.to_b], axis=1)
        columns, n_a = [at[name] for name in own], test.tables.to_a.shape[1]
        # Tests of one topic often have the same attribute words.
        key = (n_a, *columns)
        if key not in divisions:
            # The weight is 1/|A| for the n_a words that come first in the random order, and −1/|B| for the others.
            first = np.argsort(keys[:, columns], axis=1, kind="stable")[:, :n_a]
            divisions[key] = np.full((draws, len(columns)), -1 / (len(columns) - n_a))
            np.put_along_axis(divisions[key], first, 1 / n_a, axis=1)
        scores = table @ divisions[key].T
        spread = scores.std(axis=0, ddof=test.ddof)
        apart = scores[: test.n_x].mean(axis=0) - scores[test.n_x :].mean(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean += weight * np.where(spread > 0, apart / spread, 0.0)
    return float(np.quantile(np.abs(mean), share))


@dataclass(frozen=True, slots=True, eq=False)
class Arm:
    """One effect of a contrast."""

    weight: float
    to_a: Matrix
    """Measures between words (X first) and each word of A; larger means closer."""
    to_b: Matrix
    n_x: int
    words: Sequence[Hashable]
    a: Sequence[Hashable]
    b: Sequence[Hashable]

    @property
    def scores(self) -> Vector:
        """Return s(w, A, B) of every word."""
        return np.asarray(self.to_a.mean(axis=1) - self.to_b.mean(axis=1))

    @property
    def as_test(self) -> TopicTest:
        """Return the arm as a test of a topic, without p."""
        tables = AttributeTables(self.to_a, self.to_b, self.a, self.b)
        return TopicTest(self.words, self.n_x, self.scores, math.nan, 1, tables)


@dataclass(frozen=True, slots=True)
class Contrast:
    """C with its p and interval, for random words and attributes."""

    value: float
    effects: tuple[float, ...]
    """d of each arm, without its weight."""
    p: float
    interval: Interval
    df: float
    variance_of_words: float
    variance_of_attributes: float


def contrast(arms: Sequence[Arm], *, one_sd: bool = False, alpha: float = 0.05) -> Contrast | None:
    """Return C of these arms with its p; None if a set is too small or all scores are equal.

    Args:
        arms: at least one arm; words and attributes with equal names are treated as the same.
        one_sd: whether to divide all arms by the common sd of all words, as for an interaction of groups. By default,
            each arm is divided by the sd of its own words, which gives d.
        alpha: the significance level of the interval.
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
