"""Intraclass correlations, Cronbach's alpha and Pearson's r, with 95 % intervals, for all words at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from weatherglass.arrays import Matrix, Vector

FEWEST = 5
"""Rows or items below which nothing is estimated."""
LEVEL = 0.95

Tables = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
"""… × rows × columns: one two-way layout per leading index."""


@dataclass(frozen=True)
class Estimates:
    """Estimates with their intervals, one per table; NaN if it cannot be estimated."""

    value: Vector
    low: Vector
    high: Vector
    reason: str = ""
    """Why no table could be estimated, if that is so."""

    @classmethod
    def none(cls, shape: tuple[int, ...], reason: str) -> Estimates:
        nothing = np.full(shape, np.nan)
        return cls(nothing, nothing, nothing, reason)


@dataclass(frozen=True)
class MeanSquares:
    """Mean squares of the two-way layout without repetition: rows, columns, error."""

    rows: Vector
    columns: Vector
    error: Vector
    n: int
    k: int

    @classmethod
    def of(cls, tables: Tables) -> MeanSquares:
        n, k = tables.shape[-2:]
        row_means, column_means = tables.mean(-1), tables.mean(-2)
        grand = row_means.mean(-1)
        rows = k * np.square(row_means - grand[..., None]).sum(-1)
        columns = n * np.square(column_means - grand[..., None]).sum(-1)
        # From the residuals, not as a difference of sums of squares: nothing cancels, and it is never below 0.
        residuals = tables - row_means[..., None] - column_means[..., None, :] + grand[..., None, None]
        error = np.square(residuals).sum((-2, -1))
        return cls(rows / (n - 1), columns / (k - 1), error / ((n - 1) * (k - 1)), n, k)

    def with_columns(self, k: int) -> MeanSquares:
        """The mean squares expected with k columns, from the variance components of these."""
        row_variance = (self.rows - self.error) / self.k
        return MeanSquares(k * row_variance + self.error, self.columns, self.error, self.n, k)


def too_few(what: str, number: int) -> str:
    """Why nothing is estimated; empty if there are enough."""
    if number >= FEWEST:
        return ""
    return f"not estimable: {number} {what.removesuffix('s') if number == 1 else what}, {FEWEST} are needed"


def retest(tables: Tables, rows: str = "base pairs") -> Estimates:
    """ICC(2,1) of each table: rows are measured, columns are seeds (Shrout & Fleiss 1979)."""
    n, k = tables.shape[-2:]
    if reason := too_few(rows, n) or ("" if k > 1 else "not estimable: one seed, 2 are needed"):
        return Estimates.none(tables.shape[:-2], reason)
    return absolute_agreement(MeanSquares.of(tables))


def inter_rater(tables: Tables, rows: str = "base pairs") -> Estimates:
    """ICC(3,1) of each table: rows are measured, columns are rules (Shrout & Fleiss 1979)."""
    n, k = tables.shape[-2:]
    if reason := too_few(rows, n) or ("" if k > 1 else "not estimable: one rule, 2 are needed"):
        return Estimates.none(tables.shape[:-2], reason)
    return consistency(MeanSquares.of(tables))


def agreement_icc(squares: MeanSquares) -> Vector:
    """ICC(2,1) = (MSR − MSE) / (MSR + (k−1) MSE + (k/n)(MSC − MSE))."""
    n, k, msr, msc, mse = squares.n, squares.k, squares.rows, squares.columns, squares.error
    return (msr - mse) / (msr + (k - 1) * mse + k / n * (msc - mse))


def consistency_icc(squares: MeanSquares) -> Vector:
    """ICC(3,1) = (MSR − MSE) / (MSR + (k−1) MSE)."""
    return (squares.rows - squares.error) / (squares.rows + (squares.k - 1) * squares.error)


def alpha_of(squares: MeanSquares) -> Vector:
    """Cronbach's alpha, rows are cases and columns items: 1 − MSE / MSR (Hoyt 1941)."""
    return 1 - squares.error / squares.rows


def absolute_agreement(squares: MeanSquares) -> Estimates:
    """ICC(2,1), with the interval of McGraw & Wong 1996, ICC(A,1)."""
    from scipy.special import fdtri

    n, k, msr, msc, mse = squares.n, squares.k, squares.rows, squares.columns, squares.error
    with np.errstate(divide="ignore", invalid="ignore"):
        icc = agreement_icc(squares)
        a = k * icc / (n * (1 - icc))
        b = 1 + k * icc * (n - 1) / (n * (1 - icc))
        freedom = (a * msc + b * mse) ** 2 / ((a * msc) ** 2 / (k - 1) + (b * mse) ** 2 / ((n - 1) * (k - 1)))
        upper = (1 + LEVEL) / 2
        f_low = fdtri(n - 1, freedom, upper)
        f_high = fdtri(freedom, n - 1, upper)
        rest = k * msc + (k * n - k - n) * mse
        low = n * (msr - f_low * mse) / (f_low * rest + n * msr)
        high = n * (f_high * msr - mse) / (rest + n * f_high * msr)
    perfect = icc == 1
    return _with_reason(Estimates(icc, np.where(perfect, 1.0, low), np.where(perfect, 1.0, high)))


def consistency(squares: MeanSquares) -> Estimates:
    """ICC(3,1), with the interval of McGraw & Wong 1996, ICC(C,1)."""
    from scipy.special import fdtri

    n, k, msr, mse = squares.n, squares.k, squares.rows, squares.error
    between, within, upper = n - 1, (n - 1) * (k - 1), (1 + LEVEL) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        icc = consistency_icc(squares)
        f_low = msr / mse / fdtri(between, within, upper)
        f_high = msr / mse * fdtri(within, between, upper)
        low, high = (f_low - 1) / (f_low + k - 1), (f_high - 1) / (f_high + k - 1)
    perfect = icc == 1
    return _with_reason(Estimates(icc, np.where(perfect, 1.0, low), np.where(perfect, 1.0, high)))


def cronbach_alpha(tables: Tables, items: str = "items", cases: str = "cases") -> Estimates:
    """alpha of each table, cases × items: k/(k−1) · (1 − Σ var(item) / var(sum)); interval of Feldt 1965."""
    from scipy.special import fdtri

    n, k = tables.shape[-2:]
    if reason := too_few(cases, n) or too_few(items, k):
        return Estimates.none(tables.shape[:-2], reason)
    with np.errstate(divide="ignore", invalid="ignore"):
        item_variance, sum_variance = tables.var(-2, ddof=1).sum(-1), tables.sum(-1).var(-1, ddof=1)
        alpha = k / (k - 1) * (1 - item_variance / sum_variance)
    freedom = n - 1, (n - 1) * (k - 1)
    low = 1 - (1 - alpha) * fdtri(*freedom, (1 + LEVEL) / 2)
    high = 1 - (1 - alpha) * fdtri(*freedom, (1 - LEVEL) / 2)
    return _with_reason(Estimates(alpha, low, high))


def _with_reason(estimates: Estimates) -> Estimates:
    if np.isfinite(estimates.value).any():
        return estimates
    return replace(estimates, reason="not estimable: the scores do not vary")


def pearson(one: Vector, other: Vector) -> Estimates:
    """Pearson's r of two columns of scores; interval of Fisher 1921, which assumes that words are independent."""
    from scipy.special import ndtri

    n = len(one)
    if n < FEWEST or not one.std() > 0 < other.std():
        return Estimates.none((), too_few("words", n) or "not estimable: the scores do not vary")
    r = np.corrcoef(one, other)[0, 1]
    with np.errstate(divide="ignore"):  # r = 1 has an interval of width 0.
        reach = ndtri((1 + LEVEL) / 2) / np.sqrt(n - 3)
        low, high = np.tanh(np.arctanh(r) - reach), np.tanh(np.arctanh(r) + reach)
    return Estimates(r, low, high)


def standardise(scores: Matrix) -> Matrix:
    """Scores minus their mean, divided by their standard deviation, over all words and pairs."""
    spread = scores.std(ddof=1)
    standardised: Matrix = (scores - scores.mean()) / (spread if spread > 0 else 1.0)
    return standardised
