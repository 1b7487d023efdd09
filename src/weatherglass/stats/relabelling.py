"""Relabelling: p of a value that is no sum of scores, by computing it anew for exchanged labels (docs/methods 13)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.stats.permutation.base import Alternative, Significance
from weatherglass.stats.permutation.grid import TIE

ALL_LABELLINGS = 2
"""Where there are up to so many times as many labellings as would be drawn, all are computed."""
BLOCK = 500
"""Labellings computed at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Relabelled:
    """A test with the values that it counted."""

    significance: Significance
    values: Vector
    """Under exchanged labels, the observed value first where labels were drawn."""


def relabelling_test(
    sizes: Sequence[int],
    values: Callable[[Integers], Vector],
    alternative: Alternative,
    draws: int,
    rng: np.random.Generator,
    ordered: bool = False,
) -> Relabelled:
    """The share of the labellings whose value is at least as extreme as the observed one.

    Two-sided, a value is as extreme if it is as far from the mean over all labellings.

    Args:
        sizes: of the sets whose units are pooled; the observed labelling is 0, 1, 2, … in their order.
        values: for labellings (one a row: the pooled units in their new order), the value of each.
        alternative: which values are extreme.
        draws: how many labellings to draw where there are too many to compute all.
        rng: where they are drawn from.
        ordered: whether the order of the units within a set matters, as it does for pairs.
    """
    n = sum(sizes)
    number = math.factorial(n) if ordered else _partitions(sizes)
    if number <= ALL_LABELLINGS * draws:
        labellings = _permutations(n) if ordered else _all_partitions(tuple(range(n)), sizes)
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
    """Every way to fill the sets, the observed one first."""
    if len(sizes) <= 1:
        yield units
        return
    for chosen in combinations(units, sizes[0]):
        taken = set(chosen)
        rest = tuple(unit for unit in units if unit not in taken)
        for others in _all_partitions(rest, sizes[1:]):
            yield (*chosen, *others)


def _permutations(n: int) -> Iterator[tuple[int, ...]]:
    from itertools import permutations

    return permutations(range(n))


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
    """Which values count; values that differ in their last bits only are equal."""
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
    """p of the most extreme labelling."""
    edges = {"greater": [drawn.max()], "less": [drawn.min()]}.get(alternative, [drawn.min(), drawn.max()])
    return min(float(_as_extreme(drawn, float(edge), alternative).mean()) for edge in edges)
