"""Compute the p, interval and heterogeneity of a topic for fixed attributes, and p of its tests (docs/methods 12)."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats import Budget, Significance
from weatherglass.stats.attributes import LARGEST_P_USED, LEAST_SHRINK
from weatherglass.stats.interval import Interval, ends, jackknife_bias, two_sided_p, upper_point
from weatherglass.stats.leave_one_out import each_words, without_each_word
from weatherglass.stats.multiplicity import (
    DRAWS,
    ENUMERATED,
    TIE,
    adjust,
    every_labelling,
    random_labellings,
)
from weatherglass.stats.scale import Within, within
from weatherglass.stats.topic import Layout, Topic, TopicTest

LEAST_TESTS = 6
"""The smallest number of tests for which variation over tests can be distinguished from chance."""


@dataclass(frozen=True, slots=True)
class Heterogeneity:
    """The variation of d over the tests of a topic."""

    tau2: float
    """The variance of the true d over tests."""
    further: Interval
    """The prediction interval for d of a further test on this topic."""


def heterogeneity(tests: Sequence[TopicTest], alpha: float = 0.05) -> Heterogeneity | None:
    """Return the variance of d over tests, with the prediction interval for a further test at level 1 − alpha.

    Return None if there are fewer than `LEAST_TESTS` tests, or a test has fewer than two words in a set or no spread.

    Args:
        tests: tests with scores that are not all equal.
        alpha: the significance level, at most 0.5.
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
    """Return U of every word, the jackknife deviation d′(g)·√((m − 1)/m)·(g without it − mean over its set)."""
    scale, without = scores.scale, without_each_word(scores).g
    deviations = np.empty_like(without)
    for part in (slice(None, scale.n_x), slice(scale.n_x, None)):
        deviations[..., part] = without[..., part] - without[..., part].mean(axis=-1, keepdims=True)
    m = each_words(scale, scale.n_x, scale.n_y)
    return np.asarray(scale.slope(scores.g)[..., np.newaxis] * np.sqrt((m - 1) / m) * deviations)


def shared_covariance(deviations: Sequence[Vector], words: Sequence[Sequence[Hashable]]) -> Matrix:
    """Return C, the sum of the products of U over the words that two tests share, for each pair of tests."""
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
    """Return τ², the variance of d over tests minus the variance of the tests' errors, at least 0."""
    tests = len(d)
    own = float(np.trace(covariance)) / tests
    shared = (float(covariance.sum()) - float(np.trace(covariance))) / (tests * (tests - 1))
    return max(0.0, float(np.var(d, ddof=1)) - own + shared)


VARIES = 1e-9
"""The sd of the number of tokens below which it counts as 0."""
MOST_LEVERAGE = 0.99
EXPLAINED = 1e-9
"""The smallest share of the labels' variance that pieces must leave unexplained; below it, labels and pieces cannot be
separated.
"""


@dataclass(frozen=True, slots=True)
class BesidePieces:
    """The effect D adjusted for the number of tokens."""

    effect_size: float
    """D_p."""
    p: float
    interval: Interval | None
    """The interval by a t-test; None if the variance is 0."""


def beside_pieces(topic: Topic, alpha: float = 0.05) -> BesidePieces | None:
    """Regress z on label and number of tokens in every test; D_p is the weighted mean of the label's coefficients.

    A test in which the number of tokens distinguishes X from Y completely has a coefficient of 0, because its
    whole difference may be due to tokens. Return None if the tokenizer is unknown, or no test has words with different
    numbers of tokens.
    """
    layout = topic.layout
    counts = [None if test.pieces is None else np.asarray(test.pieces, np.float64) for test in topic.tests]
    if not any(count is not None and count.std() > VARIES for count in counts):
        return None
    mean, by_word = 0.0, np.zeros(len(layout.words))
    for row, (test, count) in enumerate(zip(topic.tests, counts, strict=True)):
        z, weight = layout.z[row, topic.places[row]], layout.weights[row]
        coefficient, parts = label_beside_pieces(z, test.n_x, count)
        mean += float(weight * coefficient)
        by_word[topic.places[row]] += weight * parts
    variance, df = float((by_word**2).sum()), max(1.0, layout.word_df - 1)
    if not variance > 0 or math.isnan(df):
        return BesidePieces(mean, 0.0 if mean else 1.0, None)
    se = math.sqrt(variance)
    half = float(upper_point(alpha / 2, df)) * se
    p = float(two_sided_p(np.asarray(mean / se), df))
    return BesidePieces(mean, p, Interval(mean - half, mean + half, 1 - alpha))


def label_beside_pieces(z: Vector, n_x: int, pieces: Vector | None) -> tuple[float, Vector]:
    """Return the coefficient of the label, and the contribution of each word to its standard error."""
    label = np.where(np.arange(len(z)) < n_x, 0.5, -0.5)
    columns = [np.ones(len(z)), label]
    if pieces is not None and pieces.std() > VARIES:
        beside = pieces - pieces.mean()
        centred = label - label.mean()
        unexplained = centred - beside * (beside @ centred) / (beside @ beside)
        if unexplained @ unexplained <= EXPLAINED * (centred @ centred):
            return 0.0, np.zeros(len(z))
        columns.append(beside)
    design = np.column_stack(columns)
    inverse = np.linalg.pinv(design)
    coefficients = inverse @ z
    leverage = np.clip(np.einsum("ij,ji->i", design, inverse), 0, MOST_LEVERAGE)
    parts = inverse[1] * (z - design @ coefficients) / np.sqrt(1 - leverage)
    return float(coefficients[1]), np.asarray(parts)


BUDGET = Budget(seconds=0.05)
"""The budget of one p of a topic; if counting takes longer, p is bounded."""
PRECISION = 0.002
ROUGH = 0.2
"""The relative gap of bounds that are only used to decide whether p is at most alpha."""
CLEARLY_BELOW = 5
"""A divisor: p without a word is not computed if its normal approximation is below alpha divided by this number."""
LARGEST_SHARE = 0.99
"""|D| is limited to this share of L before it is converted to the unbounded scale, on which L is infinite."""


def topic_p(layout: Layout, precision: float = PRECISION) -> Significance:
    """Return the two-sided p of D, from exchanging labels within strata or, if there are too few labellings, from a
    t-test.
    """
    if not layout.exchangeable:
        return _by_t(layout)
    u = layout.weights @ layout.contributions
    strata = [(u[s][layout.in_x[s]], u[s][~layout.in_x[s]]) for s in layout.strata]
    if len(strata) == 1:
        from weatherglass.stats.permutation import permutation_test

        return permutation_test(*strata[0], alternative="two-sided", budget=BUDGET, precision=precision)
    from weatherglass.stats.permutation.strata import exchange_within_strata

    return exchange_within_strata(strata, layout.effect_size, precision=precision, seed=layout.seed)


def _by_t(layout: Layout) -> Significance:
    variance = layout.word_variance
    if not variance > 0 or layout.df < 1:
        # The variance is NaN if a set has one word, and 0 if the words of every set have equal scores.
        p = 0.0 if variance == 0 and layout.effect_size != 0 else 1.0
    else:
        p = float(two_sided_p(np.asarray(layout.effect_size / math.sqrt(variance)), layout.df))
    return Significance(p, None, None, "t", 0.0, False, p)


def topic_interval(topic: Topic, p: float, alpha: float) -> Interval | None:
    """Return the interval of D, which excludes 0 if and only if p ≤ alpha; None if it is not estimable."""
    tests, layout = topic.tests, topic.layout
    centred = [within(np.asarray(test.scores, dtype=np.float64), test.n_x, test.ddof) for test in tests]
    if any(min(scores.scale.n_x, scores.scale.n_y) < 2 or not scores.squares > 0 for scores in centred):
        return None
    by_word = np.zeros_like(layout.scores)
    bias = 0.0
    for row, (scores, weight) in enumerate(zip(centred, layout.weights, strict=True)):
        by_word[row, topic.places[row]] = weight * influences(scores)
        n_x, without = scores.scale.n_x, without_each_word(scores).g
        bias_of_g = jackknife_bias(without[:n_x], scores.g) + jackknife_bias(without[n_x:], scores.g)
        bias += float(weight * scores.scale.slope(scores.g) * bias_of_g)
    variance = float((by_word.sum(axis=0) ** 2).sum())
    low, high = _ends_of_mean(layout, variance, bias, p, alpha)
    if math.isnan(low) or math.isnan(high):
        return None
    return Interval(low, high, 1 - alpha)


def _ends_of_mean(
    layout: Layout, variance: float, bias: float, p: float, alpha: float
) -> tuple[float, float]:
    """Return the ends of the interval, computed on the unbounded scale h = D/√(1 − D²/L²) and converted back."""
    largest = layout.largest
    mean = min(max(layout.effect_size, -LARGEST_SHARE * largest), LARGEST_SHARE * largest)
    room = 1 - (mean / largest) ** 2
    h, stretch = mean / math.sqrt(room), room**-1.5
    t = upper_point(alpha / 2, layout.df)
    if p <= LARGEST_P_USED:
        with np.errstate(divide="ignore", invalid="ignore"):
            at_zero = (h * (t / upper_point(p / 2, layout.df))) ** 2
    else:
        at_zero = t**2 * np.asarray(layout.exchange_variance if layout.exchangeable else layout.word_variance)
    shrink = 1.0 if h == 0 else float(np.clip(1 - bias * stretch / h, LEAST_SHRINK, 1.0))
    at_estimate = t**2 * np.asarray(variance) * stretch**2
    low, high = ends(np.asarray(h), at_zero, at_estimate, np.asarray(p <= alpha), shrink)
    back = [float(end / np.sqrt(1 + (end / largest) ** 2)) for end in (low, high)]
    return back[0], back[1]


@dataclass(frozen=True, slots=True, eq=False)
class SingleTests:
    """The p of each test of a topic, adjusted for the number of tests."""

    p: Vector
    """p_maxT."""
    method: str
    """The method: all labellings, sampled labellings, or holm."""


def adjusted_p_of_tests(layout: Layout, own: Sequence[float]) -> SingleTests:
    """Return, for each test, the share of labellings whose largest |d|/√(1/|X| + 1/|Y|) is at least that of the test.

    If labels cannot be exchanged, the p of the rows is adjusted by Holm's method instead.

    Args:
        layout: the layout of the topic.
        own: the p of each row.
    """
    if not layout.exchangeable:
        return SingleTests(adjust(np.nan_to_num(np.array(own), nan=1.0), "holm"), "holm")
    factor = np.sqrt(layout.variance_factor)
    effect = layout.z * factor[:, np.newaxis]
    observed = layout.d / factor
    constant = observed - effect @ layout.in_x
    least = np.abs(observed) - TIE * np.abs(effect).sum(axis=1)
    every = layout.labellings <= ENUMERATED
    batches = _every_exchange(layout, effect) if every else _drawn_exchanges(layout, effect)
    labellings, hits = (0, np.zeros(len(own))) if every else (1, np.ones(len(own)))
    for statistics in batches:
        largest = np.sort(np.abs(statistics + constant).max(axis=1))
        hits += len(largest) - np.searchsorted(largest, least, side="left")
        labellings += len(largest)
    return SingleTests(hits / labellings, "all labellings" if every else "sampled labellings")


def _every_exchange(layout: Layout, effect: Matrix) -> Iterator[Matrix]:
    """Yield, for all labellings (rows), the sum of the effects of the words in X on each test (columns)."""
    parts = []
    for stratum in layout.strata:
        size = int(layout.in_x[stratum].sum())
        parts.append([batch @ effect[:, stratum].T for batch in every_labelling(len(stratum), size)])
    for batches in itertools.product(*parts):
        sums = batches[0]
        for more in batches[1:]:
            sums = (sums[:, np.newaxis] + more).reshape(-1, len(effect))
        yield sums


def _drawn_exchanges(layout: Layout, effect: Matrix) -> Iterator[Matrix]:
    """Yield the same sums for random labellings, each also with X and Y swapped in all tests, which changes only the
    signs.
    """
    draws = []
    for number, stratum in enumerate(layout.strata):
        n, size = len(stratum), int(layout.in_x[stratum].sum())
        drawn = random_labellings(n, min(size, n - size), DRAWS, (layout.seed + number) % 2**63)
        # The drawn words are the smaller set or, for equal sizes, the set of the first word.
        complement = 2 * size > n or (2 * size == n and not layout.in_x[stratum[0]])
        draws.append((drawn, effect[:, stratum].T, complement))
    for batches in zip(*(drawn for drawn, _, _ in draws), strict=True):
        sums = np.zeros((len(batches[0]), len(effect)))
        for batch, (_, part, complement) in zip(batches, draws, strict=True):
            sums += (1 - batch if complement else batch) @ part
        yield sums


@dataclass(frozen=True, slots=True)
class Lifting:
    """A word without which the p of its topic is above alpha."""

    word: object
    role: str
    """X, Y, A or B."""
    p: float


def lifting_words(topic: Topic, alpha: float, *, first_only: bool = False) -> list[Lifting]:
    """Return the target and attribute words without which the p of D is above alpha, the largest p first.

    A word is removed from all tests of the topic at once. Words are skipped if the normal approximation of p without
    them is far below alpha; rough bounds of p are used if they are below alpha.

    Args:
        topic: the topic.
        alpha: the significance level.
        first_only: whether to stop at the first word that is found.
    """
    found = []
    removals = sorted(_removals(topic), key=lambda removal: -_normal_p(removal[2]))
    for word, role, left in removals:
        if _normal_p(left) <= alpha / CLEARLY_BELOW:
            break
        p = 1.0 if left is None else topic_p(left, ROUGH).p_value
        if left is not None and p > alpha:
            p = topic_p(left).p_value
        if p > alpha:
            found.append(Lifting(word, role, p))
            if first_only:
                break
    return sorted(found, key=lambda lifting: -lifting.p)


def _removals(topic: Topic) -> Iterator[tuple[object, str, Layout | None]]:
    """Yield the layout without each word, which is removed from all tests."""
    tests, layout = topic.tests, topic.layout
    for place, word in enumerate(layout.words):
        role = "X" if (layout.side[:, place] > 0).any() else "Y"
        sizes = np.where(layout.side[:, place] > 0, layout.n_x, layout.n_y)
        # A test with one word in a set does not exist without this word; its row has no such removal, either.
        if len(tests) > 1 or int(sizes.max()) > 1:
            yield word, role, layout.without_word(place)
    for role in "AB":
        columns: dict[object, list[tuple[int, int]]] = {}
        for row, test in enumerate(tests):
            names = () if test.tables is None else test.tables.a if role == "A" else test.tables.b
            for column, name in enumerate(names if len(names) > 1 else ()):
                columns.setdefault(name, []).append((row, column))
        for name, cells in columns.items():
            scores = layout.scores.copy()
            for row, column in cells:
                tables = tests[row].tables
                assert tables is not None
                table, sign = (tables.to_a, 1) if role == "A" else (tables.to_b, -1)
                others = table.shape[1] - 1
                # The mean without an entry is the mean minus 1/(k − 1) of the entry's deviation from it.
                above = (table[:, column] - table.mean(axis=1)) / others
                scores[row, topic.places[row]] -= sign * above
            yield name, role, layout.with_scores(scores)


def _normal_p(layout: Layout | None) -> float:
    """Return the normal approximation of the p of D."""
    if layout is None:
        return 1.0
    if not layout.exchangeable:
        return _by_t(layout).p_value
    variance, mean = layout.exchange_variance, layout.exchange_mean
    if not variance > 0:
        return 1.0
    size, sd = abs(layout.effect_size), math.sqrt(2 * variance)
    return 0.5 * (math.erfc((size - mean) / sd) + math.erfc((size + mean) / sd))
