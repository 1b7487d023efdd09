"""One exact test for many specifications of the same words: is the mean of d over them larger than exchanged labels
would make it? (docs/methods 11)

d is linear in the labels once a specification's scores have mean 0 and sd 1, which no relabelling changes. So the mean
of d over specifications is the d of one set of scores, the standardised scores averaged over specifications, and its p
is that of section 3: exact, and as quick for a thousand specifications as for one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.jackknife import jackknife_variance
from weatherglass.stats.leave_one_out import effect_sizes_without_words
from weatherglass.stats.permutation.base import Budget, Significance
from weatherglass.stats.scale import NO_SPREAD, within
from weatherglass.stats.these import these_ends

EACH = Budget(seconds=0.01)
"""For p of a single specification: there are many, so bounds within 1 % do where counting takes longer."""


def standardised(scores: Matrix) -> Matrix:
    """Scores of every specification (a column) with mean 0 and sd 1 over the words; zeros where all are equal."""
    centred = scores - scores.mean(axis=0)
    sd = centred.std(axis=0, ddof=1)
    flat = sd <= NO_SPREAD * np.abs(scores).max(axis=0)
    return np.where(flat, 0.0, centred / np.where(flat, 1.0, sd))


def effect_sizes(scores: Matrix, n_x: int) -> Vector:
    """d of every specification; NaN where all its scores are equal."""
    z = standardised(scores)
    d: Vector = z[:n_x].mean(axis=0) - z[n_x:].mean(axis=0)
    return np.where(z.any(axis=0), d, np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class JointTest:
    """The mean of d over specifications, and its p."""

    mean_d: float
    significance: Significance
    scores: Vector
    """Of each word, X first: standardised in each specification, averaged over them."""

    @property
    def p(self) -> float:
        """Two-sided."""
        return self.significance.p_value


def joint_test(scores: Matrix, n_x: int, budget: Budget | None = None) -> JointTest:
    """Test the mean of d over all specifications, each with the same weight.

    Args:
        scores: words (X first) down, specifications across; one with equal scores says nothing and counts as d = 0.
        n_x: the number of words in X.
        budget: what an exact method may spend.
    """
    from weatherglass.stats.permutation import permutation_test

    averaged: Vector = standardised(scores).mean(axis=1)
    x, y = averaged[:n_x], averaged[n_x:]
    significance = permutation_test(x, y, alternative="two-sided", budget=budget)
    return JointTest(float(x.mean() - y.mean()), significance, averaged)


@dataclass(frozen=True, slots=True, eq=False)
class Specifications:
    """Each specification by itself, as if no other had been looked at."""

    d: Vector
    p: Vector
    """Of the exact permutation test, two-sided; not corrected for being many."""
    low: Vector
    high: Vector
    """The ends of its interval, with these attributes (docs/methods 10.1)."""
    word_variance: Vector
    """The squared standard error of d over words: a jackknife."""


def each_specification(scores: Matrix, n_x: int, alpha: float = 0.05) -> Specifications:
    """d, p and interval of every specification (a column of the scores)."""
    from weatherglass.stats.permutation import permutation_test

    p = np.array(
        [
            permutation_test(column[:n_x], column[n_x:], alternative="two-sided", budget=EACH).p_value
            for column in scores.T
        ]
    )
    low, high = these_ends(within(np.ascontiguousarray(scores.T), n_x), p, alpha)
    without = effect_sizes_without_words(np.ascontiguousarray(scores.T), n_x)
    variance = jackknife_variance(without[:, :n_x]) + jackknife_variance(without[:, n_x:])
    return Specifications(effect_sizes(scores, n_x), p, low, high, variance)
