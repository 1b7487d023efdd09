"""The size of a topic: against direct recomputation without each word, and what its interval covers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student
from tests.inference.cases import wave_scores

from weatherglass.arrays import Matrix
from weatherglass.inference.topic import WordScores, mean_ends, topic_size, variance_over_tests


def d_of(scores: Matrix, n_x: int) -> float:
    """The papers' d, in plain numpy."""
    return float((scores[:n_x].mean() - scores[n_x:].mean()) / scores.std(ddof=1))


def g_of(scores: Matrix, n_x: int) -> float:
    """Δ over the pooled sd within the sets, in plain numpy."""
    x, y = scores[:n_x], scores[n_x:]
    squares = ((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()
    return float((x.mean() - y.mean()) / np.sqrt(squares / (len(scores) - 2)))


def direct_covariance(tests: list[WordScores]) -> Matrix:
    """C of docs/methods 12 by its definition: every word really left out, d′ by a difference quotient."""
    words = sorted({str(word) for test in tests for word in test.words})
    u = np.zeros((len(tests), len(words)))
    for row, test in enumerate(tests):
        s, n_x = np.asarray(test.scores), test.n_x
        n, g = len(s), g_of(s, n_x)
        c1, c2 = (n - 2) / (n - 1), n_x * (n - n_x) / (n * (n - 1))
        above, below = ((g + h) / np.sqrt(c1 + c2 * (g + h) ** 2) for h in (1e-6, -1e-6))
        slope = (above - below) / 2e-6
        for part in (range(n_x), range(n_x, n)):
            m = len(part)
            without = [g_of(np.delete(s, i), n_x - (i < n_x)) for i in part]
            for i, value in zip(part, without, strict=True):
                u[row, words.index(str(test.words[i]))] = (
                    slope * np.sqrt((m - 1) / m) * (value - np.mean(without))
                )
    return u @ u.T


def made_tests(number: int) -> list[WordScores]:
    """Tests of 8 + 6 words, each sharing half of X with the one before."""
    return [
        WordScores(
            wave_scores(8, 6, 0.4 + 0.2 * place, float(place)),
            [f"x{4 * place + i}" for i in range(8)] + [f"y{i}" for i in range(6)],
            8,
        )
        for place in range(number)
    ]


@pytest.mark.parametrize("number", [1, 2, 3, 6])
def test_the_interval_is_that_of_words_left_out_of_all_tests_at_once(number: int) -> None:
    tests = made_tests(number)
    size = topic_size(tests, 0.05)
    d = [d_of(np.asarray(test.scores), 8) for test in tests]
    assert size.effect_size == pytest.approx(np.mean(d), abs=1e-12)
    covariance = direct_covariance(tests)
    se = np.sqrt(covariance.sum()) / number
    h = np.mean(d) / np.sqrt(1 - np.mean(d) ** 2 / 4)
    half = student.ppf(0.975, 12) * se * (1 + h**2 / 4) ** 1.5
    assert size.interval is not None
    for end, side in ((size.interval.low, -1), (size.interval.high, 1)):
        assert end == pytest.approx((h + side * half) / np.sqrt(1 + (h + side * half) ** 2 / 4), rel=1e-6)
    if number < 6:
        assert size.tau2 is None
        assert size.further is None
        return
    pairs = [covariance[i, j] for i in range(number) for j in range(number) if i != j]
    tau2 = max(0.0, np.var(d, ddof=1) - np.trace(covariance) / number + np.mean(pairs))
    assert size.tau2 == pytest.approx(tau2, abs=1e-8)
    assert size.further is not None
    reach = student.ppf(0.975, number - 2) * np.sqrt(se**2 + tau2 / number + tau2)
    assert size.further.high == pytest.approx(min(2, np.mean(d) + reach), abs=1e-6)


def test_the_same_test_twice_is_as_sure_as_once() -> None:
    once = made_tests(1)
    assert topic_size(once * 2).interval == topic_size(once).interval


def test_separate_words_make_it_surer() -> None:
    scores = wave_scores(8, 8, 1.0, 0.3)
    shared = [WordScores(scores, [f"w{i}" for i in range(16)], 8)] * 2
    apart = [shared[0], WordScores(scores, [f"v{i}" for i in range(16)], 8)]
    narrow, wide = topic_size(apart).interval, topic_size(shared).interval
    assert narrow is not None
    assert wide is not None
    assert narrow.high - narrow.low < wide.high - wide.low


def test_turning_every_sign_turns_the_interval() -> None:
    turned = [WordScores(-np.asarray(test.scores), test.words, 8) for test in made_tests(3)]
    here, there = topic_size(made_tests(3)).interval, topic_size(turned).interval
    assert here is not None
    assert there is not None
    assert (there.low, there.high) == pytest.approx((-here.high, -here.low))


def test_without_spread_or_words_there_is_no_interval() -> None:
    single = WordScores(np.array([1.0, 0.2, 0.1]), ["a", "b", "c"], 1)
    assert topic_size([single]).interval is None
    equal = WordScores(np.array([1.0, 1.0, 0.0, 0.0]), list("abcd"), 2)
    assert topic_size([equal]).interval is None


def test_the_largest_mean_has_ends() -> None:
    low, high = mean_ends(np.asarray(1.9999), np.asarray(1e-4), 14, 0.05)
    assert 0 < low < high < 2


def test_no_spread_over_tests_is_no_variance() -> None:
    assert variance_over_tests(np.full(6, 0.5), np.eye(6)) == 0.0
