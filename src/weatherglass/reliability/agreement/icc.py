"""Estimate intraclass correlations, Cronbach's alpha and Pearson's r, with intervals, for all words at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.stats.interval import combined_df, jackknife_variance

FEWEST = 5
"""The smallest number of rows or items for which anything is estimated."""
LEVEL = 0.95

Tables = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
"""Arrays of shape … × rows × columns, with one two-way layout per leading index."""


@dataclass(frozen=True)
class IccEstimates:
    """Estimates with their intervals, one per table; NaN if they cannot be estimated."""

    value: Vector
    low: Vector
    high: Vector
    reason: str = ""
    """The reason why no table could be estimated; empty if one could."""

    @classmethod
    def none(cls, shape: tuple[int, ...], reason: str) -> IccEstimates:
        nothing = np.full(shape, np.nan)
        return cls(nothing, nothing, nothing, reason)


@dataclass(frozen=True)
class MeanSquares:
    """Mean squares of rows, columns and error in a two-way layout without replication."""

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
        # Computed from residuals, not as a difference of sums of squares, so that no digits cancel and it is never
        # negative.
        residuals = tables - row_means[..., None] - column_means[..., None, :] + grand[..., None, None]
        error = np.square(residuals).sum((-2, -1))
        return cls(rows / (n - 1), columns / (k - 1), error / ((n - 1) * (k - 1)), n, k)

    def transposed(self) -> MeanSquares:
        """Return the mean squares of the layouts with rows and columns exchanged."""
        return MeanSquares(self.columns, self.rows, self.error, self.k, self.n)

    def with_columns(self, k: int) -> MeanSquares:
        """Return the expected mean squares with k columns, from the variance components."""
        row_variance = (self.rows - self.error) / self.k
        return MeanSquares(k * row_variance + self.error, self.columns, self.error, self.n, k)


def too_few(what: str, number: int) -> str:
    """Return the reason why nothing is estimated; empty if there are enough rows or items."""
    if number >= FEWEST:
        return ""
    # The frozen tables of tests/golden contain this text.
    return f"not estimable: {number} {what.removesuffix('s') if number == 1 else what}, {FEWEST} are needed"


def retest(tables: Tables, rows: str = "base pairs") -> IccEstimates:
    """Compute ICC(2,1) of each table (Shrout & Fleiss 1979); columns are seeds."""
    n, k = tables.shape[-2:]
    if reason := too_few(rows, n) or ("" if k > 1 else "not estimable: one seed, 2 are needed"):
        return IccEstimates.none(tables.shape[:-2], reason)
    return absolute_agreement(MeanSquares.of(tables))


def inter_rater(tables: Tables, rows: str = "base pairs") -> IccEstimates:
    """Compute ICC(3,1) of each table (Shrout & Fleiss 1979); columns are rules."""
    n, k = tables.shape[-2:]
    if reason := too_few(rows, n) or ("" if k > 1 else "not estimable: one rule, 2 are needed"):
        return IccEstimates.none(tables.shape[:-2], reason)
    return consistency(MeanSquares.of(tables))


def agreement_icc(squares: MeanSquares) -> Vector:
    """Return ICC(2,1) = (MSR − MSE) / (MSR + (k−1) MSE + (k/n)(MSC − MSE))."""
    n, k, msr, msc, mse = squares.n, squares.k, squares.rows, squares.columns, squares.error
    return (msr - mse) / (msr + (k - 1) * mse + k / n * (msc - mse))


def consistency_icc(squares: MeanSquares) -> Vector:
    """Return ICC(3,1) = (MSR − MSE) / (MSR + (k−1) MSE)."""
    return (squares.rows - squares.error) / (squares.rows + (squares.k - 1) * squares.error)


def alpha_of(squares: MeanSquares) -> Vector:
    """Return Cronbach's alpha = 1 − MSE / MSR, with rows as cases and columns as items (Hoyt 1941)."""
    return 1 - squares.error / squares.rows


def absolute_agreement(squares: MeanSquares) -> IccEstimates:
    """Compute ICC(2,1) with the interval of McGraw & Wong 1996, ICC(A,1)."""
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
    return _with_reason(IccEstimates(icc, np.where(perfect, 1.0, low), np.where(perfect, 1.0, high)))


def consistency(squares: MeanSquares) -> IccEstimates:
    """Compute ICC(3,1) with the interval of McGraw & Wong 1996, ICC(C,1)."""
    from scipy.special import fdtri

    n, k, msr, mse = squares.n, squares.k, squares.rows, squares.error
    between, within, upper = n - 1, (n - 1) * (k - 1), (1 + LEVEL) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        icc = consistency_icc(squares)
        f_low = msr / mse / fdtri(between, within, upper)
        f_high = msr / mse * fdtri(within, between, upper)
        low, high = (f_low - 1) / (f_low + k - 1), (f_high - 1) / (f_high + k - 1)
    perfect = icc == 1
    return _with_reason(IccEstimates(icc, np.where(perfect, 1.0, low), np.where(perfect, 1.0, high)))


def cronbach_alpha(tables: Tables, items: str = "items", cases: str = "cases") -> IccEstimates:
    """Compute Cronbach's alpha of each table, cases × items, with the interval of Feldt 1965.

    alpha = k/(k−1) · (1 − Σ var(item) / var(sum)) for k items.
    """
    from scipy.special import fdtri

    n, k = tables.shape[-2:]
    if reason := too_few(cases, n) or too_few(items, k):
        return IccEstimates.none(tables.shape[:-2], reason)
    with np.errstate(divide="ignore", invalid="ignore"):
        item_variance, sum_variance = tables.var(-2, ddof=1).sum(-1), tables.sum(-1).var(-1, ddof=1)
        alpha = k / (k - 1) * (1 - item_variance / sum_variance)
    freedom = n - 1, (n - 1) * (k - 1)
    low = 1 - (1 - alpha) * fdtri(*freedom, (1 + LEVEL) / 2)
    high = 1 - (1 - alpha) * fdtri(*freedom, (1 - LEVEL) / 2)
    return _with_reason(IccEstimates(alpha, low, high))


def _with_reason(estimates: IccEstimates) -> IccEstimates:
    if np.isfinite(estimates.value).any():
        return estimates
    return replace(estimates, reason="not estimable: the scores do not vary")


def pearson(one: Vector, other: Vector) -> IccEstimates:
    """Compute Pearson's r of two columns of scores; the interval (Fisher 1921) assumes independent words."""
    from scipy.special import ndtri

    n = len(one)
    if n < FEWEST or not one.std() > 0 < other.std():
        return IccEstimates.none((), too_few("words", n) or "not estimable: the scores do not vary")
    r = np.corrcoef(one, other)[0, 1]
    with np.errstate(divide="ignore"):  # r = 1 has an interval of width 0.
        reach = ndtri((1 + LEVEL) / 2) / np.sqrt(n - 3)
        low, high = np.tanh(np.arctanh(r) - reach), np.tanh(np.arctanh(r) + reach)
    return IccEstimates(r, low, high)


def standardise(scores: Matrix) -> Matrix:
    """Return scores minus their mean, divided by their standard deviation, over all words and pairs."""
    spread = scores.std(ddof=1)
    standardised: Matrix = (scores - scores.mean()) / (spread if spread > 0 else 1.0)
    return standardised


FEWEST_GROUPS = 3
"""The smallest number of groups for which there is an interval."""


@dataclass(frozen=True)
class GroupInterval:
    """The ends of an interval for each table; NaN if they cannot be estimated."""

    low: Vector
    high: Vector
    groups: int
    reason: str = ""
    """The reason why no table has an interval; empty if one has."""


def connected_groups(pairs: Sequence[tuple[str, str]]) -> Integers:
    """Return the group of each pair, from 0; pairs that share a word, directly or through other pairs, form one
    group.
    """
    parent: dict[str, str] = {}

    def root(word: str) -> str:
        while parent.setdefault(word, word) != word:
            parent[word] = word = parent[parent[word]]
        return word

    for first, second in pairs:
        parent[root(first)] = root(second)
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(root(first), len(numbers)) for first, _ in pairs], dtype=np.int64)


def group_interval(tables: Tables, groups: Integers, value: Callable[[MeanSquares], Vector]) -> GroupInterval:
    """Compute the interval of a coefficient by leaving out whole groups of rows in turn.

    The interval is that of the jackknife for groups of unequal size (Busing, Meijer & van der Leeden 1999) with t(G −
    1). It is computed for Fisher's z of k raters, log((1 + (k−1) c) / (1 − c)), whose error is about the same for all
    values; for alpha, k is 1.

    Args:
        tables: … × rows × columns.
        groups: the group of each row.
        value: the coefficient: `agreement_icc`, `consistency_icc` or `alpha_of`.
    """
    from scipy.special import stdtrit

    sizes = np.bincount(groups)
    nothing = np.full(tables.shape[:-2], np.nan)
    if reason := too_few("base pairs", len(groups)):
        return GroupInterval(nothing, nothing, len(sizes), reason)
    if len(sizes) < FEWEST_GROUPS:
        what = "group" if len(sizes) == 1 else "groups"
        reason = (
            f"not estimable: {len(sizes)} {what} of base pairs without a common word, "
            f"{FEWEST_GROUPS} are needed"
        )
        return GroupInterval(nothing, nothing, len(sizes), reason)
    if len(groups) - sizes.max() < 2 or tables.shape[-1] < 2:
        return GroupInterval(
            nothing, nothing, len(sizes), "not estimable: too few base pairs outside one group"
        )
    raters = 1 if value is alpha_of else tables.shape[-1]

    def fisher(squares: MeanSquares) -> Vector:
        coefficient = value(squares)
        return np.log((1 + (raters - 1) * coefficient) / (1 - coefficient))

    with np.errstate(divide="ignore", invalid="ignore"):
        squares = MeanSquares.of(tables)
        estimate = fisher(squares)
        without = np.stack([fisher(rest) for rest in leave_one_group_out(tables, groups)])
        ratio = (len(groups) / sizes).reshape(-1, *(1,) * estimate.ndim)
        pseudo = ratio * estimate - (ratio - 1) * without
        variance = (np.square(pseudo - (pseudo / ratio).sum(0)) / (ratio - 1)).mean(0)
        reach = stdtrit(len(sizes) - 1, (1 + LEVEL) / 2) * np.sqrt(variance)
        perfect = value(squares) == 1
        low, high = (
            np.where(perfect, 1.0, np.expm1(end) / (np.exp(end) + raters - 1))
            for end in (estimate - reach, estimate + reach)
        )
    return GroupInterval(low, high, len(sizes))


def leave_one_group_out(tables: Tables, groups: Integers) -> Iterator[MeanSquares]:
    """Yield the mean squares without each group of rows, from sums over groups in one pass over the tables."""
    n, k = tables.shape[-2:]
    centred = tables - tables.mean(
        (-2, -1), keepdims=True
    )  # So that differences of sums of squares lose few digits.
    membership = (groups == np.arange(groups.max() + 1)[:, None]).astype(np.float64)
    row_squares = np.square(centred.sum(-1)) @ membership.T
    all_squares = np.einsum("...nk,...nk->...n", centred, centred) @ membership.T
    column_sums = membership @ centred
    for group, size in enumerate(np.bincount(groups).tolist()):
        rest = n - size
        columns = column_sums.sum(-2) - column_sums[..., group, :]
        correction = np.square(columns.sum(-1)) / (rest * k)
        between_rows = (row_squares.sum(-1) - row_squares[..., group]) / k - correction
        between_columns = np.square(columns).sum(-1) / rest - correction
        total = all_squares.sum(-1) - all_squares[..., group] - correction
        error = np.maximum(total - between_rows - between_columns, 0.0)
        yield MeanSquares(
            between_rows / (rest - 1), between_columns / (k - 1), error / ((rest - 1) * (k - 1)), rest, k
        )


FEWEST_SEEDS = 3
"""The smallest number of seeds from which one can be left out, since a single seed has no test–retest reliability."""


def crossed_retest(tables: Tables, rows: str) -> IccEstimates:
    """Compute ICC(2,1) of each table like `retest`, with an interval that does not assume normal scores.

    The variance is the sum of two jackknife variances, over rows and over seeds, of Fisher's z for k raters, log((1 +
    (k−1) c) / (1 − c)); t has Satterthwaite's degrees of freedom. Both variances contain the interaction of rows and
    seeds, so the interval is somewhat too wide if most of the variance is due to it. With two seeds, the interval is
    that of McGraw & Wong 1996.
    """
    from scipy.special import stdtrit

    found = retest(tables, rows)
    n, k = tables.shape[-2:]
    if found.reason or k < FEWEST_SEEDS:
        return found

    def fisher(squares: MeanSquares) -> Vector:
        coefficient = agreement_icc(squares)
        return np.log((1 + (k - 1) * coefficient) / (1 - coefficient))

    with np.errstate(divide="ignore", invalid="ignore"):
        without_row = [fisher(rest) for rest in leave_one_group_out(tables, np.arange(n))]
        without_seed = [
            fisher(rest.transposed()) for rest in leave_one_group_out(tables.swapaxes(-1, -2), np.arange(k))
        ]
        variances = [jackknife_variance(np.stack(each, axis=-1)) for each in (without_row, without_seed)]
        freedom = combined_df(variances, [n - 1, k - 1])
        reach = stdtrit(freedom, (1 + LEVEL) / 2) * np.sqrt(variances[0] + variances[1])
        estimate = fisher(MeanSquares.of(tables))
        low, high = (
            np.where(found.value == 1, 1.0, np.expm1(end) / (np.exp(end) + k - 1))
            for end in (estimate - reach, estimate + reach)
        )
    return replace(found, low=low, high=high)
