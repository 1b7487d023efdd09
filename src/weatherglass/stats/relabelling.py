"""Compute p by relabelling units, and by flipping the signs of scores (docs/methods 13)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice, permutations

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.errors import UnitError
from weatherglass.stats import Alternative, Significance
from weatherglass.stats.permutation.grid import TIE

ALL_LABELLINGS = 2
"""The largest ratio of the number of labellings to the number of draws at which all labellings are computed."""
BLOCK = 500
"""The number of labellings computed at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Relabelled:
    """The result of a relabelling test, with the values of the labellings."""

    significance: Significance
    values: Vector
    """The values under exchanged labels; if labels were drawn, the observed value is the first."""


def relabelling_test(
    sizes: Sequence[int],
    values: Callable[[Integers], Vector],
    alternative: Alternative,
    draws: int,
    rng: np.random.Generator,
    ordered: bool = False,
) -> Relabelled:
    """Return the share of labellings whose value is at least as extreme as the observed one.

    In a two-sided test, a value is at least as extreme if it is at least as far from the mean over all labellings.

    Args:
        sizes: the sizes of the sets whose units are pooled; the observed labelling is 0, 1, 2, … in their order.
        values: a function that computes the value of each labelling; a row contains the pooled units in their new
            order.
        alternative: which values are extreme.
        draws: the number of labellings to draw if there are too many to compute all.
        rng: the random number generator.
        ordered: whether the order of units within a set matters, as it does for pairs.
    """
    n = sum(sizes)
    number = math.factorial(n) if ordered else _partitions(sizes)
    if number <= ALL_LABELLINGS * draws:
        labellings = permutations(range(n)) if ordered else _all_partitions(tuple(range(n)), sizes)
        drawn = _in_blocks(labellings, values)
        p = float(_as_extreme(drawn, drawn[0], alternative).mean())
        floor = _floor(drawn, alternative)
        return Relabelled(Significance(p, p, p, "enumerate", floor, True, p), drawn)
    from weatherglass.stats.permutation.sampled import clopper_pearson

    observed = values(np.arange(n)[np.newaxis])
    rows = (rng.permutation(n) for _ in range(draws))
    drawn = np.concatenate([observed, _in_blocks(rows, values)])
    hits = int(_as_extreme(drawn, drawn[0], alternative)[1:].sum())
    low, high = clopper_pearson(hits, draws)
    p = (hits + 1) / (draws + 1)
    least = max(1 / (draws + 1), 1 / number)
    return Relabelled(Significance(p, low, high, "sampled", least, False, p), drawn)


def _partitions(sizes: Sequence[int]) -> int:
    number, left = 1, sum(sizes)
    for size in sizes:
        number *= math.comb(left, size)
        left -= size
    return number


def _all_partitions(units: tuple[int, ...], sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield every assignment of the units to the sets, the observed one first."""
    if len(sizes) <= 1:
        yield units
        return
    for chosen in combinations(units, sizes[0]):
        taken = set(chosen)
        rest = tuple(unit for unit in units if unit not in taken)
        for others in _all_partitions(rest, sizes[1:]):
            yield (*chosen, *others)


def _in_blocks(
    labellings: Iterator[tuple[int, ...]] | Iterator[Integers], values: Callable[[Integers], Vector]
) -> Vector:
    drawn = []
    while block := list(islice(labellings, BLOCK)):
        drawn.append(values(np.array(block, dtype=np.int64)))
    return np.concatenate(drawn)


def _as_extreme(
    drawn: Vector, observed: float, alternative: Alternative
) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which values are at least as extreme; values that differ only in their last bits are equal."""
    slack = 1e3 * TIE * float(np.abs(drawn).max())
    mean = float(drawn.mean())
    if alternative == "observed":
        alternative = "greater" if observed >= mean else "less"
    if alternative == "greater":
        return np.asarray(drawn >= observed - slack)
    if alternative == "less":
        return np.asarray(drawn <= observed + slack)
    return np.asarray(np.abs(drawn - mean) >= abs(observed - mean) - slack)


def _floor(drawn: Vector, alternative: Alternative) -> float:
    """Return the p of the most extreme labelling."""
    edges = {"greater": [drawn.max()], "less": [drawn.min()]}.get(alternative, [drawn.min(), drawn.max()])
    return min(float(_as_extreme(drawn, float(edge), alternative).mean()) for edge in edges)


COUNTED = 36
"""The maximum number of scores whose 2ⁿ sign patterns are counted, by two sorted halves of 2¹⁸ sums."""
DRAWS = 99_999
_BLOCK = 10_000


def sign_flip_test(
    scores: Vector, alternative: Alternative, rng: np.random.Generator, draws: int = DRAWS
) -> Significance:
    """Return the share of sign patterns whose sum is at least as extreme as the observed sum.

    >>> sign_flip_test(np.array([1.0, 2.0, 3.0]), "greater", np.random.default_rng(0)).p_value
    0.125

    Raises:
        UnitError: if there are no scores, or a score is not finite.
    """
    if not len(scores) or not np.isfinite(scores).all():
        raise UnitError("a sign-flip test needs at least one score, and all scores must be finite")
    values, slack = _integers(np.sort(np.asarray(scores, dtype=np.float64)))
    observed, sizes = int(values.sum()), np.abs(values)
    largest = int(sizes.sum())
    if largest == 0:
        return Significance(1.0, 1.0, 1.0, "enumerate", 1.0, True, 1.0)
    side = "greater" if observed >= 0 else "less"
    if alternative not in ("two-sided", "observed"):
        side = alternative
    reached = observed if side == "greater" else -observed
    threshold, tails = reached - slack, 2 if alternative == "two-sided" else 1
    if len(values) <= COUNTED:
        patterns = 2 ** len(values)
        p = min(1.0, tails * _patterns_reaching(sizes, threshold) / patterns)
        floor = min(1.0, tails * _patterns_reaching(sizes, largest - slack) / patterns)
        return Significance(p, p, p, "enumerate", floor, True, p)
    from weatherglass.stats.permutation.sampled import clopper_pearson

    # Draws are products of floating-point numbers, which are fast; the slack is far larger than their rounding error.
    hits = _draws_reaching(sizes.astype(np.float64), float(threshold), tails, draws, rng)
    low, high = clopper_pearson(hits, draws)
    p = (hits + 1) / (draws + 1)
    return Significance(p, low, high, "sampled", 1 / (draws + 1), False, p)


def _integers(scores: Vector) -> tuple[Integers, int]:
    """Return the scores on a fine integer grid, and the largest difference of sums that is due to rounding."""
    exponent = math.frexp(float(np.abs(scores).max()))[1]
    scaled = np.ldexp(scores, -exponent)
    bits = min(53, 61 - math.ceil(math.log2(len(scores) + 1)))
    slack = math.ceil(math.ldexp(TIE * math.fsum(np.abs(scaled)), bits))
    return np.rint(np.ldexp(scaled, bits)).astype(np.int64), slack


def _patterns_reaching(sizes: Integers, threshold: int) -> int:
    """Return how many of the 2ⁿ signed sums are ≥ threshold."""
    half = len(sizes) // 2
    left, right = _signed_sums(sizes[:half]), np.sort(_signed_sums(sizes[half:]))
    return int((len(right) - np.searchsorted(right, threshold - left)).sum())


def _signed_sums(sizes: Integers) -> Integers:
    sums = np.zeros(1, dtype=np.int64)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _draws_reaching(sizes: Vector, threshold: float, tails: int, draws: int, rng: np.random.Generator) -> int:
    hits = 0
    for start in range(0, draws, _BLOCK):
        number = min(_BLOCK, draws - start)
        signs = 2.0 * rng.integers(0, 2, (number, len(sizes)), dtype=np.int8) - 1.0
        sums = signs @ sizes
        reached = sums >= threshold
        hits += int((reached | (sums <= -threshold) if tails == 2 else reached).sum())
    return hits
