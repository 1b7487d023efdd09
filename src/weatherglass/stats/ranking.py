"""Compare rankings: generalisability over specifications, Kendall's W and tau (docs/methods 11)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from weatherglass.arrays import Matrix, Vector


@dataclass(frozen=True, slots=True)
class Generalisability:
    """A measure of how well one specification, or the mean of all, predicts how other specifications distinguish
    models.
    """

    relative: float
    """The share of the variance of one specification that is between models; a larger share means stabler rankings."""
    absolute: float
    """The same share if the size of d also counts, which is lower if a specification has a larger d for all models."""
    relative_of_mean: float
    """The relative coefficient of the mean over all specifications."""
    absolute_of_mean: float
    kendall_w: float
    """The agreement of the specifications' rankings of models, from 0 (none) to 1 (all the same)."""
    models: int
    specifications: int


def generalisability(d: Matrix) -> Generalisability | None:
    """Return the coefficients of a table of d, model × specification; None if there are fewer than two of either."""
    models, specifications = d.shape
    if min(models, specifications) < 2:
        return None
    grand = d.mean()
    of_models, of_specifications = d.mean(axis=1), d.mean(axis=0)
    between = specifications * float(((of_models - grand) ** 2).sum()) / (models - 1)
    across = models * float(((of_specifications - grand) ** 2).sum()) / (specifications - 1)
    left = d - of_models[:, np.newaxis] - of_specifications + grand
    both = float((left**2).sum()) / ((models - 1) * (specifications - 1))
    # Negative estimates of a variance count as 0.
    model, choice = max(0.0, (between - both) / specifications), max(0.0, (across - both) / models)

    def coefficient(error: float) -> float:
        return model / (model + error) if model + error > 0 else 0.0

    return Generalisability(
        coefficient(both),
        coefficient(both + choice),
        coefficient(both / specifications),
        coefficient((both + choice) / specifications),
        kendall_w(d),
        models,
        specifications,
    )


def kendall_w(d: Matrix) -> float:
    """Return Kendall's coefficient of concordance of the rankings of models in each column, corrected for ties."""
    from scipy.stats import rankdata  # imported here, because it takes 0.5 s and one model is not ranked

    models, judges = d.shape
    ranks = np.apply_along_axis(rankdata, 0, d)
    spread = float(((ranks.sum(axis=1) - judges * (models + 1) / 2) ** 2).sum())
    ties = sum(
        float((counts**3 - counts).sum())
        for counts in (np.unique(column, return_counts=True)[1].astype(np.float64) for column in ranks.T)
    )
    largest = judges**2 * (models**3 - models) - judges * ties
    return 12 * spread / largest if largest > 0 else 0.0


DRAWS = 2_000
ROUNDING = 1e-9
"""The share of the largest number by which two numbers may differ and still count as equal."""
LEAST_TESTS = 5
"""The smallest number of tests; with fewer, tau has few possible values and depends too much on a single test."""


@dataclass(frozen=True, slots=True)
class RankAgreement:
    """The similarity of two rankings: 1 if they are the same, −1 if they are reversed, NaN if it is undefined."""

    tau: float
    low: float | None
    """The lower bound of a 95 % percentile bootstrap interval over tests; None if tau is NaN."""
    high: float | None


def too_few_tests(tests: int) -> str:
    """Return the reason why tau is not computed for this many tests; empty if there are at least `LEAST_TESTS`."""
    if tests >= LEAST_TESTS:
        return ""
    return f"Kendall's tau needs {LEAST_TESTS} tests that all metrics measured, but there are {tests}"


def kendall_tau(first: Vector, second: Vector) -> float:
    """Return Kendall's tau-b of two rows of numbers; ties do not count.

    >>> kendall_tau(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    0.3333333333333333
    """
    return float(_taus(first[np.newaxis], second[np.newaxis])[0])


def _taus(first: Matrix, second: Matrix) -> Vector:
    """Return tau of each row."""
    x, y = (_signs_of_differences(rows) for rows in (first, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1)))


def _signs_of_differences(rows: Matrix) -> Matrix:
    """Return the signs of the differences between all numbers of a row; differences due to rounding are ties."""
    i, j = np.triu_indices(rows.shape[1], 1)
    differences = rows[:, i] - rows[:, j]
    rounding = ROUNDING * np.abs(rows).max(axis=1, keepdims=True)
    return np.where(np.abs(differences) > rounding, np.sign(differences), 0.0)


def rank_agreement(first: Matrix, second: Matrix, seed: int = 0) -> RankAgreement:
    """Compute the agreement of two rankings of columns by their mean over tests, which are rows.

    The columns are fixed and the tests are a sample. For the interval, the same resample of tests is used for both
    rankings.

    Args:
        first: the size of the effects by one metric, a row per test.
        second: the size of the effects by another metric, on the same tests.
        seed: the seed of the bootstrap resamples.
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
    """Return the share of each test (column) in each resample (row); cached, since pairs of metrics share tests."""
    drawn = np.random.default_rng(seed).integers(0, tests, (DRAWS, tests))
    places = drawn + tests * np.arange(DRAWS)[:, np.newaxis]
    return np.bincount(places.ravel(), minlength=DRAWS * tests).reshape(DRAWS, tests) / tests
