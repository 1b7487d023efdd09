"""Kendall's tau against scipy, and its interval on rankings that agree, disagree, or hang on the tests drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau
from tests.messages import mentions

from weatherglass.stats.ranking import kendall_tau, rank_agreement, too_few_tests

rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=12)


@given(rows)
def test_tau_is_that_of_scipy_with_ties(pairs: list[tuple[int, int]]) -> None:
    first, second = (np.array(values, dtype=float) for values in zip(*pairs, strict=True))
    expected = kendalltau(first, second).statistic
    found = kendall_tau(first, second)
    assert (math.isnan(found) and math.isnan(expected)) or found == pytest.approx(expected, abs=1e-12)


def test_rankings_that_every_test_agrees_on_have_no_width() -> None:
    table = np.arange(5.0) + np.zeros((10, 1))
    same, reverse = rank_agreement(table, 3 * table + 1), rank_agreement(table, -table)
    assert (same.tau, same.low, same.high) == (1, 1, 1)
    assert (reverse.tau, reverse.low, reverse.high) == (-1, -1, -1)


def test_the_interval_widens_with_the_noise_of_tests_and_holds_the_true_tau() -> None:
    rng = np.random.default_rng(3)
    held, widths = 0, {0.1: 0.0, 2.0: 0.0}
    true = np.arange(6.0)
    for noise in widths:
        for seed in range(60):
            first, second = (true + noise * rng.standard_normal((20, 6)) for _ in range(2))
            found = rank_agreement(first, second, seed)
            assert found.low is not None
            assert found.high is not None
            assert found.low <= found.tau + 1e-12
            held += found.high >= 1 - 1e-9
            widths[noise] += found.high - found.low
    assert widths[2.0] > 5 * widths[0.1]
    assert held >= 0.9 * 120  # endless tests would rank alike


@pytest.mark.parametrize("tests", [1, 4, 5])
def test_below_five_tests_there_is_no_tau(tests: int) -> None:
    table = np.arange(3.0) + np.zeros((tests, 1))
    found = rank_agreement(table, -table)
    if tests < 5:
        assert math.isnan(found.tau)
        assert (found.low, found.high) == (None, None)
        assert mentions(too_few_tests(tests), "tau", 5, tests)
    else:
        assert (found.tau, found.low, found.high) == (-1, -1, -1)
        assert too_few_tests(tests) == ""
