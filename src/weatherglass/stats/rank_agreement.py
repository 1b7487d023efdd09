"""Do two ways to measure rank things alike? Kendall's tau, with an interval over the tests that the ranks rest on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from weatherglass.arrays import Matrix, Vector

DRAWS = 2_000
ROUNDING = 1e-9
"""Numbers closer than this share of the largest are one number: a metric may not see what another does."""
LEAST_TESTS = 5
"""With fewer tests, tau has so few values, and moves so far with one test, that it says nothing."""


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """How alike two rankings are: 1 the same, −1 reversed, NaN with too few tests or where one ranks nothing."""

    tau: float
    low: float | None
    """Ends of a 95 % percentile interval over drawn tests; None where tau is NaN."""
    high: float | None


def too_few_tests(tests: int) -> str:
    """Return why there is no tau over this many tests; an empty string from `LEAST_TESTS` on."""
    if tests >= LEAST_TESTS:
        return ""
    return f"Kendall's tau needs {LEAST_TESTS} tests that all metrics measured, and there are {tests}"


def kendall_tau(first: Vector, second: Vector) -> float:
    """Kendall's tau-b of two rows of numbers; ties count for neither side.

    >>> kendall_tau(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    0.3333333333333333
    """
    return float(_taus(first[np.newaxis], second[np.newaxis])[0])


def _taus(first: Matrix, second: Matrix) -> Vector:
    """One tau for each row."""
    x, y = (_signs_of_differences(rows) for rows in (first, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1)))


def _signs_of_differences(rows: Matrix) -> Matrix:
    """Of each two numbers of a row; numbers that differ by rounding only are tied."""
    i, j = np.triu_indices(rows.shape[1], 1)
    differences = rows[:, i] - rows[:, j]
    rounding = ROUNDING * np.abs(rows).max(axis=1, keepdims=True)
    return np.where(np.abs(differences) > rounding, np.sign(differences), 0.0)


def rank_agreement(first: Matrix, second: Matrix, seed: int = 0) -> RankAgreement:
    """Agreement of two rankings of things (across) by their mean over tests (down).

    The things are these; the tests are a sample, and are drawn with replacement for the interval, the same for both.

    Args:
        first: size of what was measured by one metric, tests down, things across.
        second: by another metric, on the same tests.
        seed: of the draws.
    """
    tests = len(first)
    if tests < LEAST_TESTS:
        return RankAgreement(float("nan"), None, None)
    tau = kendall_tau(first.mean(axis=0), second.mean(axis=0))
    if np.isnan(tau):
        return RankAgreement(tau, None, None)
    shares = _drawn_shares(tests, seed)
    taus = _taus(shares @ first, shares @ second)
    taus = taus[~np.isnan(taus)]
    low, high = np.quantile(taus, [0.025, 0.975]) if len(taus) else (np.nan, np.nan)
    return RankAgreement(tau, float(low), float(high))


@lru_cache(maxsize=4)
def _drawn_shares(tests: int, seed: int) -> Matrix:
    """Of each draw (down), the share of each test (across); kept, since pairs of metrics share their tests."""
    drawn = np.random.default_rng(seed).integers(0, tests, (DRAWS, tests))
    places = drawn + tests * np.arange(DRAWS)[:, np.newaxis]
    return np.bincount(places.ravel(), minlength=DRAWS * tests).reshape(DRAWS, tests) / tests
