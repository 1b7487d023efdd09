"""Compare the ranks of two groups of names in the same contexts, with win rate, exact p and intervals (docs/methods
15).

Scores are a matrix with a row per name and a column per context; a context is a query with a passage. Names are the
unit of inference. The same names occur in every context, so that more contexts do not mean more names. Checks show the
influence of single names, random splits, pieces of names, and the interaction of groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.stats import Budget
from weatherglass.stats.interval import Interval, combined_df, two_sided_p, upper_point
from weatherglass.stats.permutation import Significance, permutation_test
from weatherglass.stats.topic_effect import VARIES, label_beside_pieces

Passages = Literal["nested", "crossed", "fixed"]
"""Whether each query has its own passages, all queries share their passages, or the result is not generalised to
passages.
"""

EVEN = 0.5
"""The win rate without a preference."""
FEWEST_SHARED = 4
"""The number of passages that all queries must share for the result to generalise to other passages."""
BUDGET = Budget(seconds=0.5)


@dataclass(frozen=True, slots=True, eq=False)
class RankedContexts:
    """The query number and the passage number of each context."""

    queries: Integers
    passages: Integers

    def layout(self) -> Passages:
        """Return how queries share passages; the layout is crossed only if all queries share all passages."""
        pairs = set(zip(self.queries.tolist(), self.passages.tolist(), strict=True))
        queries, passages = len(set(self.queries.tolist())), len(set(self.passages.tolist()))
        if passages == len(pairs):
            return "nested"
        whole = len(pairs) == len(self.queries) == queries * passages
        return "crossed" if whole and passages >= FEWEST_SHARED else "fixed"

    def table(self, values: Matrix) -> Matrix:
        """Return values by query and passage instead of context, for a crossed layout."""
        order = np.lexsort((self.passages, self.queries))
        queries = len(np.unique(self.queries))
        return np.asarray(values[..., order].reshape(*values.shape[:-1], queries, -1))


@dataclass(frozen=True, slots=True)
class RandomContexts:
    """The win rate for random contexts: for other queries, and for other passages unless they are fixed."""

    p: float
    interval: Interval
    df: float
    passages: Passages
    of_names: float
    """The variance of the win rate over names."""
    of_contexts: float
    """The variance of the win rate over contexts, which includes the interaction with names."""
    of_both: float
    """The interaction of names and contexts, which is subtracted once."""


@dataclass(frozen=True, slots=True, eq=False)
class WinRate:
    """The share of comparisons in which a name of X outranks a name of Y in the same context; ties count half."""

    value: float
    significance: Significance
    """The exact p from exchanging group labels over names."""
    interval: Interval | None
    """The interval for the given contexts; None if all names tie in every context."""
    random: RandomContexts | None
    """The result for random contexts; None with one query, or if all names tie in every context."""
    by_name: Vector
    """The mean rank of each name, X first, as a share of the number of names; 1 is the highest."""
    by_context: Vector
    """The win rate of each context."""
    places: float
    """The median over contexts of the difference between the groups' mean ranks, in places."""


def win_rate(scores: Matrix, n_x: int, contexts: RankedContexts, alpha: float = 0.05) -> WinRate:
    """Return the win rate of the first `n_x` names against the others.

    Args:
        scores: a row per name, with at least two names of each group, and a column per context.
        n_x: the number of names in X.
        contexts: the query and passage of each column.
        alpha: the significance level; intervals have the level 1 − alpha.
    """
    n = len(scores)
    x, y = scores[:n_x], scores[n_x:]
    of_x, of_y, ranks = placements(x, y), placements(y, x), placements(scores, scores) + 1 / (2 * n)
    by_name, by_context = ranks.mean(axis=1), of_x.mean(axis=0)
    value = float(of_x.mean())
    found = exchange_p(by_name, n_x)
    variance = _variance_at_even(value, found.p_value, by_name, n_x)
    interval = random = None
    if variance > 0:
        points = float(upper_point(alpha / 2, n - 2)) ** 2
        interval = _agreeing(value, points * variance, found.p_value <= alpha, alpha)
        random = _random_contexts(of_x, of_y, ranks, contexts, variance, alpha)
    places = n * float(np.median(by_context - EVEN))
    return WinRate(value, found, interval, random, by_name, by_context, places)


def placements(of: Matrix, among: Matrix) -> Matrix:
    """Return the share of the names `among` that each name outranks, in each context; ties count half.

    >>> placements(np.array([[2.0, 1.0]]), np.array([[1.0, 1.0], [3.0, 0.0]]))
    array([[0.5 , 0.75]])
    """
    shares = np.empty(of.shape)
    for row, own in enumerate(of):
        shares[row] = ((among < own).sum(axis=0) + (among <= own).sum(axis=0)) / (2 * len(among))
    return shares


def exchange_p(by_name: Vector, n_x: int, budget: Budget = BUDGET, precision: float = 0.01) -> Significance:
    """Return the two-sided p from exchanging group labels over names."""
    x, y = by_name[:n_x], by_name[n_x:]
    return permutation_test(x, y, alternative="two-sided", budget=budget, precision=precision)


def _variance_at_even(value: float, p: float, by_name: Vector, n_x: int) -> float:
    """Return the variance of the win rate at ½: the one that makes the t-test agree with the exact p, or that of the
    exchange.
    """
    n_y = len(by_name) - n_x
    if p > 0.5:
        return float(by_name.var(ddof=1)) * (1 / n_x + 1 / n_y)
    return ((value - EVEN) / float(upper_point(p / 2, len(by_name) - 2))) ** 2


def _agreeing(value: float, spread: float, significant: bool, alpha: float) -> Interval:
    """Return the interval whose ends solve (w − θ)² = 4·spread·θ(1 − θ).

    The interval excludes ½ if and only if p is at most alpha; this is decided once, so that rounding cannot make them
    disagree.
    """
    a, b = 1 + 4 * spread, 2 * value + 4 * spread
    root = math.sqrt(max(0.0, b * b - 4 * a * value * value))
    low, high = max(0.0, min(value, (b - root) / (2 * a))), min(1.0, max(value, (b + root) / (2 * a)))
    if significant:
        low, high = (max(low, EVEN), high) if value > EVEN else (low, min(high, EVEN))
    else:
        low, high = min(low, math.nextafter(EVEN, 0)), max(high, math.nextafter(EVEN, 1))
    return Interval(low, high, 1 - alpha)


def leaves_out_even(interval: Interval) -> bool:
    """Return whether an interval of a win rate excludes ½; an end at ½ counts as excluded."""
    return interval.low >= EVEN or interval.high <= EVEN


@dataclass(frozen=True, slots=True)
class _Components:
    """Variances of the win rate over contexts, and their interaction with names."""

    contexts: float
    interaction: float
    parts: tuple[tuple[float, int], ...]
    """The variances over queries, and over passages if these are random, each with its degrees of freedom."""


def _random_contexts(
    of_x: Matrix, of_y: Matrix, ranks: Matrix, contexts: RankedContexts, at_even: float, alpha: float
) -> RandomContexts | None:
    """Return the result for random contexts; None if there is only one query.

    Args:
        of_x: the placements of the names of X among those of Y.
        of_y: the placements of the names of Y among those of X.
        ranks: the ranks of all names, X first.
        contexts: the query and passage of each column.
        at_even: the variance that agrees with the exact p.
        alpha: the interval is at level 1 − alpha.
    """
    if len(np.unique(contexts.queries)) < 2:
        return None
    n_x, n_y, n, value = len(of_x), len(of_y), len(ranks), float(of_x.mean())
    v_x, v_y = (float(of.mean(axis=1).var(ddof=1)) / len(of) for of in (of_x, of_y))
    layout = contexts.layout()
    within = np.concatenate([part - part.mean(axis=0) for part in (ranks[:n_x], ranks[n_x:])])
    found = _components(of_x.mean(axis=0), within / math.sqrt(n - 2), contexts, layout)
    names, interaction = v_x + v_y, found.interaction * (1 / n_x + 1 / n_y)
    largest = max(names + found.contexts - interaction, names, found.contexts)
    softened = (value * n / 2 + EVEN) / (n / 2 + 1)
    variance = max(largest / (4 * softened * (1 - softened)), at_even)
    pooled = [(v_x, n_x - 1), (v_y, n_y - 1), *found.parts]
    df = float(n - 2)
    if sum(part for part, _ in pooled) > 0:
        df = float(combined_df([np.asarray(part) for part, _ in pooled], [each for _, each in pooled]))
    p = float(two_sided_p(np.asarray((value - EVEN) / math.sqrt(variance)), df))
    points = float(upper_point(alpha / 2, df)) ** 2
    interval = _agreeing(value, points * variance, p <= alpha, alpha)
    return RandomContexts(p, interval, df, layout, names, found.contexts, interaction)


def _components(wins: Vector, within: Matrix, contexts: RankedContexts, layout: Passages) -> _Components:
    """Return the components of the variance, from the win rate of each context and ranks centred within groups."""
    if layout != "crossed":
        by_query = _component(averaged(wins, contexts.queries), 0)
        interaction = _component(averaged(within, contexts.queries), 1)
        queries = len(np.unique(contexts.queries))
        return _Components(by_query, interaction, ((by_query, queries - 1),))
    table, names = contexts.table(wins), contexts.table(within)
    by_query, by_passage = (_component(table.mean(axis=axis), 0) for axis in (1, 0))
    queries, passages = table.shape
    return _Components(
        _of_two(by_query, by_passage, _component(table, 0, 1)),
        _of_two(
            _component(names.mean(axis=2), 1), _component(names.mean(axis=1), 1), _component(names, 1, 2)
        ),
        ((by_query, queries - 1), (by_passage, passages - 1)),
    )


def averaged(values: Matrix | Vector, numbers: Integers) -> Matrix:
    """Return the means, along the last axis, over the contexts of each number."""
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=-1))
    counts = np.diff([*starts, len(order)])
    return np.asarray(np.add.reduceat(values[..., order], starts, axis=-1) / counts)


def _component(table: Matrix, *axes: int) -> float:
    """Return the contribution of an interaction to the variance of the mean: its mean square divided by its cells."""
    divisor = 1
    for axis in axes:
        table = table - table.mean(axis=axis, keepdims=True)
        divisor *= table.shape[axis] * (table.shape[axis] - 1)
    return float((table**2).sum()) / divisor


def _of_two(first: float, second: float, both: float) -> float:
    """Return the variance over two crossed factors, with their common interaction counted once; at least as large as
    either.
    """
    return max(first + second - both, first, second)


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
    """The win rate from a regression of the mean rank on group and number of tokens."""
    p: float
    interval: Interval | None
    """The interval of the win rate; None if pieces separate the groups completely, so that they may explain all of the
    difference.
    """
    matched: float | None
    """The win rate over pairs of names with the same number of tokens; None if there is no such pair."""
    matched_pairs: int


def at_equal_pieces(
    by_name: Vector, wins: Matrix, n_x: int, pieces: Vector, alpha: float = 0.05
) -> AtEqualPieces | None:
    """Return the win rate adjusted for the number of tokens per name; None if all names have the same number of tokens
    or there are fewer than four names.

    Args:
        by_name: the mean rank of each name, X first.
        wins: the result of `pairwise`, in the same order.
        n_x: the number of names in X.
        pieces: the number of tokens of each name.
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
    """A difference in differences of the mean ranks of four groups."""

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
