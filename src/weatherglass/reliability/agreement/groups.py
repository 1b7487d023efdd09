"""Intervals that know that base pairs which share a word are not independent: a jackknife over groups of pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.reliability.agreement.icc import LEVEL, MeanSquares, Tables, alpha_of, too_few

FEWEST_GROUPS = 3
"""Groups below which there is no interval over them."""


@dataclass(frozen=True)
class GroupInterval:
    """The ends of the intervals, one per table; NaN if they cannot be estimated."""

    low: Vector
    high: Vector
    groups: int
    reason: str = ""
    """Why no table has an interval, if that is so."""


def connected_groups(pairs: Sequence[tuple[str, str]]) -> Integers:
    """The group of each pair, from 0: pairs that share a word are in one, also by way of other pairs."""
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
    """The interval of a coefficient, with whole groups of rows left out in turn.

    The jackknife for groups of unequal size (Busing, Meijer & van der Leeden 1999), with t(G − 1), of Fisher's z for k
    raters, log((1 + (k−1) c) / (1 − c)), on which scale the error is about the same everywhere; alpha has k = 1.

    Args:
        tables: … × rows × columns.
        groups: The group of each row.
        value: The coefficient: `agreement_icc`, `consistency_icc` or `alpha_of`.
    """
    from scipy.special import stdtrit

    sizes = np.bincount(groups)
    nothing = np.full(tables.shape[:-2], np.nan)
    if reason := too_few("base pairs", len(groups)):
        return GroupInterval(nothing, nothing, len(sizes), reason)
    if len(sizes) < FEWEST_GROUPS:
        what = "group" if len(sizes) == 1 else "groups"
        reason = f"not estimable: {len(sizes)} {what} of base pairs without a common word, {FEWEST_GROUPS} are needed"
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
    """The mean squares of the layouts without each group of rows, from sums over groups: one pass over the tables."""
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
