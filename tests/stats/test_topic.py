"""How far tests of a topic differ: against direct recomputation without each word."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student
from tests.stats.cases import wave_scores

from weatherglass.arrays import Matrix
from weatherglass.stats.topic import TopicTest
from weatherglass.stats.topic_effect import heterogeneity, variance_over_tests


def d_of(scores: Matrix, n_x: int) -> float:
    """The papers' d, in plain numpy."""
    return float((scores[:n_x].mean() - scores[n_x:].mean()) / scores.std(ddof=1))


def g_of(scores: Matrix, n_x: int) -> float:
    """Δ over the pooled sd within the sets, in plain numpy."""
    x, y = scores[:n_x], scores[n_x:]
    squares = ((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()
    return float((x.mean() - y.mean()) / np.sqrt(squares / (len(scores) - 2)))


def direct_covariance(tests: list[TopicTest]) -> Matrix:
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


def made_tests(number: int) -> list[TopicTest]:
    """Tests of 8 + 6 words, each sharing half of X with the one before."""
    return [
        TopicTest(
            [f"x{4 * place + i}" for i in range(8)] + [f"y{i}" for i in range(6)],
            8,
            wave_scores(8, 6, 0.4 + 0.2 * place, float(place)),
            0.5,
        )
        for place in range(number)
    ]


def test_the_spread_over_tests_is_that_of_words_left_out_of_all_tests_at_once() -> None:
    tests, number = made_tests(6), 6
    found = heterogeneity(tests, 0.05)
    d = [d_of(np.asarray(test.scores), 8) for test in tests]
    covariance = direct_covariance(tests)
    se = np.sqrt(covariance.sum()) / number
    pairs = [covariance[i, j] for i in range(number) for j in range(number) if i != j]
    tau2 = max(0.0, np.var(d, ddof=1) - np.trace(covariance) / number + np.mean(pairs))
    assert found is not None
    assert found.tau2 == pytest.approx(tau2, abs=1e-8)
    reach = student.ppf(0.975, number - 2) * np.sqrt(se**2 + tau2 / number + tau2)
    largest = np.sqrt(14 * 13 / (8 * 6))
    assert found.further.high == pytest.approx(min(largest, np.mean(d) + reach), abs=1e-6)
    assert found.further.low == pytest.approx(max(-largest, np.mean(d) - reach), abs=1e-6)


def test_few_tests_or_words_or_no_spread_have_no_prediction() -> None:
    assert heterogeneity(made_tests(5)) is None
    single = TopicTest(["a", "b", "c"], 1, np.array([1.0, 0.2, 0.1]), 0.5)
    equal = TopicTest(list("abcd"), 2, np.array([1.0, 1.0, 0.0, 0.0]), 0.5)
    assert heterogeneity([single] * 6) is None
    assert heterogeneity([equal] * 6) is None


def test_no_spread_over_tests_is_no_variance() -> None:
    assert variance_over_tests(np.full(6, 0.5), np.eye(6)) == 0.0
