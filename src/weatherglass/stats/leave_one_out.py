"""Compute d and p without each word, attribute or template (docs/methods 10.2 and 10.5).

The time is linear in the size of the table. For the statistic `mean`, all values follow from residuals that are
computed once. For other statistics, leaving out a word does not change the scores of other words, and leaving out an
attribute removes one entry from each word's sorted row.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.interval import two_sided_p
from weatherglass.stats.scale import Scale, Within, within

if TYPE_CHECKING:
    from weatherglass.stats import Significance

LOST = 1e-12
"""The share to which a sum of squares must decrease, when a word is left out, to count as 0."""


@dataclass(frozen=True, slots=True, eq=False)
class WithoutWord:
    """Statistics of the scores without each word; NaN where a set would be empty."""

    difference: Vector
    """Δ without the word."""
    squares: Vector
    """The sum of squares within X and Y without the word."""
    df: int
    g: Vector
    """Δ / s_w without the word."""


def each_words(scale: Scale, of_x: float, of_y: float) -> Vector:
    """Return an array with one given number for every word of X and another for every word of Y."""
    return np.repeat(np.array([of_x, of_y], dtype=np.float64), [scale.n_x, scale.n_y])


def without_each_word(scores: Within) -> WithoutWord:
    """Return Δ ∓ eᵢ/(m − 1) and ν·s_w² − eᵢ²·m/(m − 1) for every word, where m is the size of its set."""
    scale, e = scores.scale, scores.residuals
    m = each_words(scale, scale.n_x, scale.n_y)
    squares = scores.squares[..., np.newaxis]
    with np.errstate(divide="ignore", invalid="ignore"):
        difference = scores.difference[..., np.newaxis] - each_words(scale, 1, -1) * e / (m - 1)
        left = squares - e**2 * m / (m - 1)
        left, df = np.where(left <= LOST * squares, 0.0, left), scale.df - 1
        g = np.asarray(difference / np.sqrt(left / df), dtype=np.float64)
    return WithoutWord(difference, left, df, g)


def effect_sizes_without_words(scores: Vector, n_x: int, ddof: int = 1) -> Vector:
    """Return d without each word of X (the first n_x along the last axis) and of Y; NaN where it is undefined."""
    centred = within(scores, n_x, ddof)
    scale, left = centred.scale, without_each_word(centred)
    between = left.difference**2 * each_words(
        scale, (n_x - 1) * scale.n_y / (scale.n - 1), n_x * (scale.n_y - 1) / (scale.n - 1)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = (left.squares + between) / (scale.n - 1 - ddof)
        return np.asarray(left.difference / np.sqrt(variance))


def mean_without_each(rows: Matrix) -> Matrix:
    """Return the mean of each row without each of its entries."""
    mean = rows.mean(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(mean - (rows - mean) / (rows.shape[-1] - 1))


def order_statistic_without_each(rows: Matrix, *places: int) -> Matrix:
    """Return the mean of some order statistics of each row, without each of its entries; NaN for a row with one
    entry.
    """
    if rows.shape[-1] == 1:
        return np.full(rows.shape, np.nan)
    order = np.argsort(rows, axis=-1, kind="stable")
    ranked = np.take_along_axis(rows, order, axis=-1)
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(rows.shape[-1]), axis=-1)
    # Larger entries move down by one place.
    statistics = [np.take_along_axis(ranked, place + (rank <= place), axis=-1) for place in places]
    return np.asarray(sum(statistics) / len(statistics))


def median_without_each(rows: Matrix) -> Matrix:
    """Return the median of each row without each of its entries."""
    left = rows.shape[-1] - 1
    return order_statistic_without_each(rows, (left - 1) // 2, left // 2)


def min_without_each(rows: Matrix) -> Matrix:
    """Return the minimum of each row without each of its entries."""
    return order_statistic_without_each(rows, 0)


def max_without_each(rows: Matrix) -> Matrix:
    """Return the maximum of each row without each of its entries."""
    return order_statistic_without_each(rows, rows.shape[-1] - 2)


WITHOUT_EACH: Mapping[str, Callable[[Matrix], Matrix]] = {
    "mean": mean_without_each,
    "median": median_without_each,
    "min": min_without_each,
    "max": max_without_each,
}
"""The statistics f, computed over each row without each of its entries."""
WHOLE: Mapping[str, Callable[..., Matrix]] = {
    "mean": np.mean,
    "median": np.median,
    "min": np.min,
    "max": np.max,
}
"""The statistics f, computed over each row."""


def nearest_pair_without_each(to_a: Matrix, to_b: Matrix) -> tuple[Matrix, Matrix]:
    """Return min |m(w,a) − m(w,b)| of each row without each a, and without each b (`eq2`).

    The nearest a and b are adjacent in the merged sorted row. Removing an entry removes the two gaps next to it and
    adds the gap between its neighbours.
    """
    merged = np.concatenate([to_a, to_b], axis=-1)
    order = np.argsort(merged, axis=-1, kind="stable")
    ranked = np.take_along_axis(merged, order, axis=-1)
    from_a = order < to_a.shape[-1]

    def gaps(apart: int) -> Matrix:
        """Return the gaps between entries of different sets, `apart` places apart; infinite within one set."""
        gap = ranked[..., apart:] - ranked[..., :-apart]
        return np.where(from_a[..., apart:] == from_a[..., :-apart], np.inf, gap)

    none = np.full((*ranked.shape[:-1], 2), np.inf)
    before = np.minimum.accumulate(np.concatenate([none, gaps(1)], axis=-1), axis=-1)[..., :-1]
    after = np.minimum.accumulate(np.concatenate([gaps(1), none], axis=-1)[..., ::-1], axis=-1)[..., ::-1][
        ..., 1:
    ]
    met = np.concatenate([none[..., :1], gaps(2), none[..., :1]], axis=-1)
    left = np.empty_like(ranked)
    np.put_along_axis(left, order, np.minimum(np.minimum(before, after), met), axis=-1)
    return left[..., : to_a.shape[-1]], left[..., to_a.shape[-1] :]


def scores_without_attributes(
    statistic: str,
    to_a: Matrix,
    to_b: Matrix,
    orientation: int = 1,
    association: Callable[[Matrix, Matrix, int], Vector] | None = None,
) -> tuple[Matrix, Matrix]:
    """Return s(w, A, B) of every word without each a, and without each b (docs/methods 1).

    Args:
        statistic: "mean", "median", "min", "max", "eq2", or the name of a user's statistic.
        to_a: raw measures, one row per word and one column per attribute of A.
        to_b: the same for B.
        orientation: +1 for a similarity, −1 for a distance; ignored for eq2.
        association: a function that computes scores from sorted rows; it recomputes a user's statistic without each
            attribute.
    """
    if statistic == "eq2":
        return nearest_pair_without_each(to_a, to_b)
    if statistic in WITHOUT_EACH:
        without_each, whole = WITHOUT_EACH[statistic], WHOLE[statistic]
        of_a, of_b = (whole(table, axis=-1, keepdims=True) for table in (to_a, to_b))
        return orientation * (without_each(to_a) - of_b), orientation * (of_a - without_each(to_b))
    assert association is not None
    if min(to_a.shape[1], to_b.shape[1]) < 2:
        return np.full(to_a.shape, np.nan), np.full(to_b.shape, np.nan)
    rows_a, rows_b = np.sort(to_a, axis=1), np.sort(to_b, axis=1)
    without_a, without_b = (
        [np.sort(np.delete(table, place, axis=1), axis=1) for place in range(table.shape[1])]
        for table in (to_a, to_b)
    )
    return (
        np.stack([association(some, rows_b, orientation) for some in without_a], axis=1),
        np.stack([association(rows_a, some, orientation) for some in without_b], axis=1),
    )


CLEARLY_BELOW = 5
"""A divisor: a removal is not tested exactly if the p of its t-test is below alpha divided by this number."""


class LeftOut(NamedTuple):
    """The effect size d without one word or one sentence template."""

    kind: str
    """Either "word" or "template"."""
    role: str
    """The set of the word; all four sets for a template."""
    name: str
    effect_size: float | None
    """d; None if all remaining scores are equal."""
    p_value: float | None = None
    """p without the word or template. It is computed if a significant result might not be significant without it, and
    for the largest p of each kind.
    """


@dataclass(frozen=True, slots=True, eq=False)
class Removal:
    """The scores without one word or template."""

    kind: str
    role: str
    name: str
    effect_size: float
    x: Vector
    y: Vector


def removals_of_words(
    scores: Vector, n_x: int, names: tuple[Sequence[str], Sequence[str]], ddof: int
) -> Iterator[Removal]:
    """Yield d without each word of X and of Y, in closed form."""
    without = effect_sizes_without_words(scores, n_x, ddof)
    for place, name in enumerate((*names[0], *names[1])):
        in_x = place < n_x
        if (n_x if in_x else len(scores) - n_x) < 2:
            continue
        left = np.delete(scores, place)
        size = n_x - in_x
        yield Removal("word", "X" if in_x else "Y", name, float(without[place]), left[:size], left[size:])


def removals_of_attributes(
    without: Matrix, n_x: int, role: str, names: Sequence[str], ddof: int
) -> Iterator[Removal]:
    """Yield d without each attribute, using the scores of words (rows) without each attribute (columns)."""
    if len(names) < 2:
        return
    centred = within(without.T, n_x, ddof)
    for name, d, scores in zip(names, centred.scale.effect_size(centred.g), without.T, strict=True):
        yield Removal("word", role, name, float(d), scores[:n_x], scores[n_x:])


def tested(
    removals: Sequence[Removal],
    test: Callable[[Vector, Vector, bool], Significance],
    p_value: float,
    alpha: float,
    decisive_only: bool,
) -> tuple[LeftOut, ...]:
    """Return the removals, with p for those that might make a significant result non-significant.

    p is not computed if the t-test is far below alpha, or if rough bounds of p are below alpha. The removal with the
    largest p of each kind is always tested; with `decisive_only`, no other is.
    """
    left_out = [
        LeftOut(r.kind, r.role, r.name, None if math.isnan(r.effect_size) else r.effect_size)
        for r in removals
    ]
    if not p_value <= alpha:
        return tuple(left_out)
    approximate = [_t_test_p(removal) for removal in removals]
    close = {place for place, p in enumerate(approximate) if p > alpha / CLEARLY_BELOW and not decisive_only}
    largest = set()
    for kind in ("word", "template"):
        of_kind = [place for place, removal in enumerate(removals) if removal.kind == kind]
        largest |= {max(of_kind, key=lambda place: approximate[place])} if of_kind else set()
    for place in close | largest:
        removal = removals[place]
        if min(len(removal.x), len(removal.y)) < 1 or math.isnan(removal.effect_size):
            continue
        found = test(removal.x, removal.y, True)
        if found.certified and found.p_low != found.p_high:  # p is known only between bounds
            if found.p_value <= alpha and place not in largest:
                continue
            found = test(removal.x, removal.y, False)
        left_out[place] = left_out[place]._replace(p_value=found.p_value)
    return tuple(left_out)


def _t_test_p(removal: Removal) -> float:
    scores = within(np.concatenate([removal.x, removal.y]), len(removal.x))
    if scores.scale.df < 1 or not scores.squares > 0:
        return 1.0
    return float(two_sided_p(scores.g / math.sqrt(scores.scale.variance_factor), scores.scale.df))
