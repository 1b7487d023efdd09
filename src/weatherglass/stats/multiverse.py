"""Test and decompose an effect over many specifications of the same words (docs/methods 11).

If the scores of every specification have mean 0 and sd 1, which no relabelling changes, d is linear in the labels.
Therefore the mean of d over specifications is the d of one set of scores, the standardised scores averaged over
specifications. Its p is computed as in section 3; it is exact and takes as long for a thousand specifications as for
one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.stats import Budget, Significance
from weatherglass.stats.attributes import fixed_ends
from weatherglass.stats.interval import jackknife_variance
from weatherglass.stats.leave_one_out import effect_sizes_without_words
from weatherglass.stats.scale import NO_SPREAD, within

EACH = Budget(seconds=0.01)
"""The budget of p for a single specification; if counting takes longer, bounds within 1 % are enough."""


def standardised(scores: Matrix) -> Matrix:
    """Return the scores of every specification (column) with mean 0 and sd 1 over the words; 0 if all are equal."""
    centred = scores - scores.mean(axis=0)
    sd = centred.std(axis=0, ddof=1)
    flat = sd <= NO_SPREAD * np.abs(scores).max(axis=0)
    return np.where(flat, 0.0, centred / np.where(flat, 1.0, sd))


def effect_sizes(scores: Matrix, n_x: int) -> Vector:
    """Return d of every specification; NaN if all its scores are equal."""
    z = standardised(scores)
    d: Vector = z[:n_x].mean(axis=0) - z[n_x:].mean(axis=0)
    return np.where(z.any(axis=0), d, np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class JointTest:
    """The mean of d over specifications, and its p."""

    mean_d: float
    significance: Significance
    scores: Vector
    """The score of each word, X first, standardised in each specification and averaged over specifications."""

    @property
    def p(self) -> float:
        """Return the two-sided p."""
        return self.significance.p_value


def joint_test(scores: Matrix, n_x: int, budget: Budget | None = None) -> JointTest:
    """Test the mean of d over all specifications, each with the same weight.

    Args:
        scores: one row per word (X first) and one column per specification; a specification with equal scores counts
            as d = 0.
        n_x: the number of words in X.
        budget: the budget of an exact method.
    """
    from weatherglass.stats.permutation import permutation_test

    averaged: Vector = standardised(scores).mean(axis=1)
    x, y = averaged[:n_x], averaged[n_x:]
    significance = permutation_test(x, y, alternative="two-sided", budget=budget)
    return JointTest(float(x.mean() - y.mean()), significance, averaged)


@dataclass(frozen=True, slots=True, eq=False)
class Specifications:
    """The results of each specification alone."""

    d: Vector
    p: Vector
    """The two-sided p of the exact permutation test, not corrected for multiple tests."""
    low: Vector
    high: Vector
    """The ends of the interval for fixed attributes (docs/methods 10.1)."""
    word_variance: Vector
    """The squared standard error of d over words, by the jackknife."""


def each_specification(scores: Matrix, n_x: int, alpha: float = 0.05) -> Specifications:
    """Return d, p and the interval of every specification, which is a column of the scores."""
    from weatherglass.stats.permutation import permutation_test

    p = np.array(
        [
            permutation_test(column[:n_x], column[n_x:], alternative="two-sided", budget=EACH).p_value
            for column in scores.T
        ]
    )
    low, high = fixed_ends(within(np.ascontiguousarray(scores.T), n_x), p, alpha)
    without = effect_sizes_without_words(np.ascontiguousarray(scores.T), n_x)
    variance = jackknife_variance(without[:, :n_x]) + jackknife_variance(without[:, n_x:])
    return Specifications(effect_sizes(scores, n_x), p, low, high, variance)


Table = NDArray[np.float64]
"""An array with one axis per choice and one entry per specification."""


@dataclass(frozen=True, slots=True)
class Decomposition:
    """The components of a variance, which add up to it."""

    variance: float
    """The variance over all specifications, with their number in the denominator."""
    main: dict[str, float]
    """The main effect of each choice: the variance of the means of its levels."""
    pairs: dict[str, float]
    """The interaction of each two choices, written "one × other"."""
    rest: float
    """The interactions of three and more choices."""

    def share(self, part: float) -> float:
        """Return a component as a share of the variance; 0 if the variance is 0."""
        return part / self.variance if self.variance > 0 else 0.0

    def shares(self) -> dict[str, float]:
        """Return every component as a share, the largest first; they add up to 1."""
        parts = {**self.main, **self.pairs, "rest": self.rest}
        return {
            name: self.share(part)
            for name, part in sorted(parts.items(), key=lambda item: (-item[1], item[0]))
        }

    def to_json(self) -> dict[str, object]:
        """Return plain values."""
        return {"variance": self.variance, "main": self.main, "pairs": self.pairs, "rest": self.rest}


def decompose(table: Table, choices: Sequence[str]) -> Decomposition:
    """Decompose the variance of a balanced table into main effects, interactions of pairs, and the rest.

    Args:
        table: one axis per choice, with every combination of levels once.
        choices: the name of each axis.

    Raises:
        ValueError: if the number of names differs from the number of axes.
    """
    if table.ndim != len(choices):
        raise ValueError(f"{len(choices)} choices for a table of {table.ndim} axes")
    centred = table - table.mean()
    axes = range(table.ndim)
    means = {axis: _mean_over_others(centred, axis) for axis in axes}
    main = {choices[axis]: float((mean**2).mean()) for axis, mean in means.items()}
    pairs = {}
    for one, other in itertools.combinations(axes, 2):
        cell = _mean_over_others(centred, one, other) - means[one] - means[other]
        pairs[f"{choices[one]} × {choices[other]}"] = float((cell**2).mean())
    variance = float((centred**2).mean())
    # With one or two choices, the rest is 0; rounding must not make it negative.
    rest = variance - sum(main.values()) - sum(pairs.values()) if table.ndim > 2 else 0.0
    return Decomposition(variance, main, pairs, max(rest, 0.0))


def _mean_over_others(table: Table, *axes: int) -> Table:
    """Return the mean over all other axes, keeping them with length 1."""
    others = tuple(axis for axis in range(table.ndim) if axis not in axes)
    return np.asarray(table.mean(axis=others, keepdims=True))


def combine(
    parts: Sequence[Decomposition], sizes: Sequence[int], means: Sequence[float], choice: str
) -> Decomposition:
    """Combine the decompositions of several tables; the variance between their means belongs to `choice`.

    Args:
        parts: the decomposition of each table.
        sizes: the number of specifications of each table.
        means: the mean of each table.
        choice: the name of the choice that distinguishes the tables.
    """
    weights: Vector = np.asarray(sizes, dtype=np.float64) / sum(sizes)
    centres = np.asarray(means, dtype=np.float64)
    between = float(weights @ (centres - weights @ centres) ** 2)
    return Decomposition(
        float(between + sum(w * part.variance for w, part in zip(weights, parts, strict=True))),
        {choice: between, **_weighted([part.main for part in parts], weights)},
        _weighted([part.pairs for part in parts], weights),
        float(sum(w * part.rest for w, part in zip(weights, parts, strict=True))),
    )


def _weighted(tables: Sequence[dict[str, float]], weights: Vector) -> dict[str, float]:
    names = dict.fromkeys(name for table in tables for name in table)
    return {
        name: float(sum(w * table.get(name, 0.0) for w, table in zip(weights, tables, strict=True)))
        for name in names
    }


RANDOM_HALVES = 500
LEAST = 4
"""The length of the shortest list whose halves have two words."""


@dataclass(frozen=True, slots=True)
class RandomHalves:
    """d with halves of some lists, compared with d of the whole lists."""

    d: float
    first: float | None
    """d with the first half of every list in its original order; None if the scores are equal."""
    second: float | None
    low: float
    high: float
    """The ends of the central 95 % of d over random halves."""
    turned: float
    """The share of random halves for which d has the opposite sign."""
    draws: int


def halves(
    to_a: Matrix, to_b: Matrix, n_x: int, targets: bool, attributes: bool, seed: int = 0
) -> RandomHalves | None:
    """Compute d with halves of X and Y, of A and B, or of all four; None if a list to halve is too short.

    Args:
        to_a: measures between words (X first) and each word of A; larger means closer. The score is the mean over A
            minus the mean over B.
        to_b: the same for each word of B.
        n_x: the number of words in X.
        targets: whether X and Y are halved.
        attributes: whether A and B are halved.
        seed: the seed of the random halves.
    """
    n_y = len(to_a) - n_x
    sizes = [n_x, n_y] * targets + [to_a.shape[1], to_b.shape[1]] * attributes
    if not sizes or min(sizes) < LEAST:
        return None
    rng = np.random.default_rng(seed)

    def d_of(pick: str) -> float:
        x, y = (_part(size, pick if targets else "all", rng) for size in (n_x, n_y))
        a, b = (_part(size, pick if attributes else "all", rng) for size in (to_a.shape[1], to_b.shape[1]))
        rows = np.concatenate([x, n_x + y])
        scores: Vector = to_a[np.ix_(rows, a)].mean(axis=1) - to_b[np.ix_(rows, b)].mean(axis=1)
        return float(effect_sizes(scores[:, np.newaxis], len(x))[0])

    whole, first, second = (d_of(pick) for pick in ("all", "first", "second"))
    drawn = np.array([d_of("random") for _ in range(RANDOM_HALVES)])
    drawn = drawn[~np.isnan(drawn)]
    if math.isnan(whole) or not len(drawn):
        return None
    low, high = np.quantile(drawn, [0.025, 0.975])
    turned = float((np.sign(drawn) == -np.sign(whole)).mean())
    return RandomHalves(whole, _plain(first), _plain(second), float(low), float(high), turned, len(drawn))


def _part(size: int, pick: str, rng: np.random.Generator) -> Integers:
    half = math.ceil(size / 2)
    if pick == "first":
        return np.arange(half)
    if pick == "second":
        return np.arange(half, size) if size % 2 == 0 else np.arange(half - 1, size)
    if pick == "random":
        return np.sort(rng.choice(size, half, replace=False))
    return np.arange(size)


def _plain(d: float) -> float | None:
    return None if math.isnan(d) else d
