"""Check a win rate for the influence of single names, random splits, pieces of names, and the interaction of groups
(docs/methods 15).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats import Budget
from weatherglass.stats.interval import Interval, combined_df, two_sided_p, upper_point
from weatherglass.stats.topic_effect import VARIES, label_beside_pieces
from weatherglass.stats.win_rate import EVEN, exchange_p

ROUGH_BUDGET, ROUGH = Budget(seconds=0.05), 0.2
"""The budget and the relative gap of bounds that are only used to decide whether p is at most alpha."""
CLEARLY_BELOW = 5
"""A divisor: p without a name is not computed if the t-test gives less than alpha divided by this number."""
MANY_EXCHANGES = 10_000
"""The number of exchanges from which a clear t-test replaces the permutation test; counting fewer is quick."""
SPLITS = 999
"""The number of random splits of a group into halves."""


def pairwise(scores: Matrix) -> Matrix:
    """Return, for each pair of names, the share of contexts in which the first outranks the second; ties count
    half.
    """
    wins = np.empty((len(scores), len(scores)))
    for row, own in enumerate(scores):
        wins[row] = ((scores < own).mean(axis=1) + (scores <= own).mean(axis=1)) / 2
    return wins


def deciding_names(wins: Matrix, n_x: int, alpha: float = 0.05) -> list[int]:
    """Return the names without which p is above alpha, for a win rate whose p is at most alpha.

    Args:
        wins: the result of `pairwise`, X first; it determines the mean rank without a name.
        n_x: the number of names in X.
        alpha: the significance level.
    """
    n, totals = len(wins), wins.sum(axis=1)
    found = []
    for name in range(n):
        rest = np.arange(n) != name
        ranks = (totals[rest] - wins[rest, name] + EVEN) / (n - 1)
        size = n_x - (name < n_x)
        many = (
            math.comb(n - 1, size) >= MANY_EXCHANGES
        )  # few exchanges cannot give a p as small as the t-test does
        clear = many and _t_test_p(ranks, size) <= alpha / CLEARLY_BELOW
        if not clear and exchange_p(ranks, size, ROUGH_BUDGET, ROUGH).p_value > alpha:
            found.append(name)
    return found


def _t_test_p(ranks: Vector, n_x: int) -> float:
    """Return p of the t-test of two groups with a common variance."""
    x, y = ranks[:n_x], ranks[n_x:]
    squares = sum(float(((part - part.mean()) ** 2).sum()) for part in (x, y))
    variance = squares / (len(ranks) - 2) * (1 / len(x) + 1 / len(y))
    if not variance > 0:
        return 0.0
    t = (float(x.mean()) - float(y.mean())) / math.sqrt(variance)
    return float(two_sided_p(np.asarray(t), len(ranks) - 2))


def placebo(wins: Matrix, n_x: int, splits: int = SPLITS, seed: int = 0) -> float | None:
    """Return the value of |w − ½| that 95 % of random splits of one group into halves stay below; None if a group has
    fewer than 4 names.

    Args:
        wins: the result of `pairwise`, X first.
        n_x: the number of names in X.
        splits: the number of times that each group is split.
        seed: the seed of the splits.
    """
    rng = np.random.default_rng(seed)
    distances = []
    for group in (np.arange(n_x), np.arange(n_x, len(wins))):
        half = len(group) // 2
        if half < 2:
            continue
        for _ in range(splits):
            drawn = rng.permutation(group)
            value = wins[np.ix_(drawn[:half], drawn[half : 2 * half])].mean()
            distances.append(abs(float(value) - EVEN))
    return float(np.quantile(distances, 0.95)) if distances else None


@dataclass(frozen=True, slots=True)
class AtEqualPieces:
    """The win rate between names that the tokenizer splits into equally many pieces."""

    win_rate: float
    """The win rate from a regression of the mean rank on group and number of pieces."""
    p: float
    interval: Interval | None
    """The interval of the win rate; None if pieces separate the groups completely, so that they may explain all of the
    difference.
    """
    matched: float | None
    """The win rate over pairs of names with the same number of pieces; None if there is no such pair."""
    matched_pairs: int


def at_equal_pieces(
    by_name: Vector, wins: Matrix, n_x: int, pieces: Vector, alpha: float = 0.05
) -> AtEqualPieces | None:
    """Return the win rate with the number of pieces held fixed; None if all names have the same number.

    Args:
        by_name: the mean rank of each name, X first.
        wins: the result of `pairwise`, in the same order.
        n_x: the number of names in X.
        pieces: the number of pieces of each name.
        alpha: the interval is at level 1 − alpha.
    """
    df = len(by_name) - 3
    if not pieces.std() > VARIES or df < 1:
        return None
    coefficient, parts = label_beside_pieces(by_name, n_x, pieces)
    se = math.sqrt(float((parts**2).sum()))
    p = float(two_sided_p(np.asarray(coefficient / se), df)) if se > 0 else float(coefficient == 0)
    value, half = EVEN + coefficient, float(upper_point(alpha / 2, df)) * se
    interval = Interval(max(value - half, 0.0), min(value + half, 1.0), 1 - alpha) if se > 0 else None
    equal = pieces[:n_x, np.newaxis] == pieces[np.newaxis, n_x:]
    matched = float(wins[:n_x, n_x:][equal].mean()) if equal.any() else None
    return AtEqualPieces(min(max(value, 0.0), 1.0), p, interval, matched, int(equal.sum()))


@dataclass(frozen=True, slots=True)
class InteractionContrast:
    """A difference of differences between the mean ranks of four groups."""

    value: float
    p: float
    interval: Interval


def interaction(groups: Sequence[Vector], alpha: float = 0.05) -> InteractionContrast | None:
    """Return (XA − XB) − (YA − YB) of the mean ranks of four groups of names, with a t-test on Welch's degrees of
    freedom.

    No exchange of labels is exact in the presence of main effects. Return None if no group varies.

    Args:
        groups: the mean ranks, among the names of all four, of XA, XB, YA and YB; at least two names each.
        alpha: the interval is at level 1 − alpha.
    """
    xa, xb, ya, yb = (float(group.mean()) for group in groups)
    variances = [np.asarray(group.var(ddof=1) / len(group)) for group in groups]
    if not sum(variances) > 0:
        return None
    value, se = (xa - xb) - (ya - yb), math.sqrt(float(sum(variances)))
    df = float(combined_df(variances, [len(group) - 1 for group in groups]))
    half = float(upper_point(alpha / 2, df)) * se
    p = float(two_sided_p(np.asarray(value / se), df))
    return InteractionContrast(value, p, Interval(value - half, value + half, 1 - alpha))
