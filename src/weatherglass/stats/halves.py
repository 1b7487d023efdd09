"""Bad seeds: how often does half of a word list turn the sign of d? (docs/methods 11; Antoniak & Mimno 2021)"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.stats.joint import effect_sizes

RANDOM_HALVES = 500
LEAST = 4
"""A list shorter than this has no halves of two words."""


@dataclass(frozen=True, slots=True)
class Halves:
    """d with halves of some lists, beside d with all of them."""

    d: float
    first: float | None
    """With the first half of every list, as it is written; None where the scores are equal."""
    second: float | None
    low: float
    high: float
    """The middle 95 % of d over random halves."""
    turned: float
    """The share of random halves whose d has the other sign."""
    draws: int


def halves(
    to_a: Matrix, to_b: Matrix, n_x: int, targets: bool, attributes: bool, seed: int = 0
) -> Halves | None:
    """Halves of X and Y, of A and B, or of all four; None where a list that is halved is too short.

    Args:
        to_a: measures of words (X first) to each word of A, larger where closer; the score is the mean over A less
            that over B.
        to_b: the same to each word of B.
        n_x: the number of words in X.
        targets: whether X and Y are halved.
        attributes: whether A and B are.
        seed: of the random halves.
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
    return Halves(whole, _plain(first), _plain(second), float(low), float(high), turned, len(drawn))


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
