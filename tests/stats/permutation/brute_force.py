"""The permutation test written out: every partition, whole numbers, no cleverness."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations


def all_sums(scores: Sequence[int], size: int) -> list[int]:
    """The sum of every subset of that size."""
    return [sum(subset) for subset in combinations(scores, size)]


def extremeness(
    x: Sequence[int], y: Sequence[int], alternative: str, sums: Sequence[int]
) -> tuple[int, list[int]]:
    """How extreme the observed sum and all others are, as whole numbers; larger is more extreme."""
    n, size, total = len(x) + len(y), len(x), sum(x) + sum(y)
    # n times the distance of a sum from the mean.
    observed, distances = n * sum(x) - size * total, [n * s - size * total for s in sums]
    if alternative == "observed":
        alternative = "greater" if observed >= 0 else "less"
    if alternative == "less":
        return -observed, [-distance for distance in distances]
    if alternative == "two-sided":
        return abs(observed), [abs(distance) for distance in distances]
    return observed, distances


def p_value(x: Sequence[int], y: Sequence[int], alternative: str, sums: Sequence[int]) -> Fraction:
    """The share of partitions at least as extreme as (x, y)."""
    observed, others = extremeness(x, y, alternative, sums)
    return Fraction(sum(other >= observed for other in others), len(others))


def floor(x: Sequence[int], y: Sequence[int], alternative: str, sums: Sequence[int]) -> Fraction:
    """The p of the most extreme partition; for `observed`, on the side on which the data lie."""
    others = extremeness(x, y, alternative, sums)[1]
    return Fraction(others.count(max(others)), len(others))
