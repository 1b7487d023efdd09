"""p as other papers and tools compute it, with what is wrong with it left in (docs/methods 9)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain, combinations

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.stats.permutation.base import Alternative, Significance
from weatherglass.stats.permutation.grid import Grid, on_grid

ALL_PARTITIONS = 100_000
"""Up to so many partitions are all counted, as the code of May et al. does."""
BLOCK_ENTRIES = 1 << 21
"""Draws are taken in blocks of this many numbers."""

PermutationTest = Callable[[Vector, Vector, Alternative, np.random.Generator], Significance]
"""From the scores of X and Y, the tail and a generator to p."""


def bit_equality(x: Vector, y: Vector, alternative: Alternative, rng: np.random.Generator) -> Significance:  # noqa: ARG001
    """May et al.: sums of floating-point numbers, compared as they are, so that a tie can be missed."""
    scores = np.concatenate([x, y])
    observed = float(scores[np.newaxis, : len(x)].sum(axis=1)[0])
    if math.comb(len(scores), len(x)) <= ALL_PARTITIONS:
        sums = scores[_all_subsets(len(scores), len(x))].sum(axis=1)
        return _counted(int((sums >= observed).sum()), len(sums), 1 / len(sums))
    hits = sum(
        int((scores[subsets].sum(axis=1) >= observed).sum())
        for subsets in _random_subsets(len(scores), len(x), ALL_PARTITIONS - 1, rng)
    )
    return _drawn(hits + 1, ALL_PARTITIONS, 1 / ALL_PARTITIONS, hits)


def sampled(x: Vector, y: Vector, alternative: Alternative, rng: np.random.Generator) -> Significance:
    """bias-bench: as May et al., with ties counted as ties."""
    from weatherglass.stats.permutation import permutation_test

    return permutation_test(x, y, method="sampled", alternative=alternative, rng=rng)


def fitted_normal(x: Vector, y: Vector, alternative: Alternative, rng: np.random.Generator) -> Significance:
    """Caliskan et al.: the normal tail fitted to 100 000 draws."""
    from weatherglass.stats.permutation import permutation_test

    return permutation_test(x, y, method="normal-sampled", alternative=alternative, rng=rng)


def without_ties(x: Vector, y: Vector, alternative: Alternative, rng: np.random.Generator) -> Significance:
    """Azarpanah & Farhadloo: strictly beyond the observed sum, on the side on which the data lie."""
    from weatherglass.stats.permutation.tail import direction

    grid = on_grid(x, y)
    if direction(grid, alternative) == "less":
        grid = on_grid(-x, -y)
    if grid.partitions <= ALL_PARTITIONS:
        return _counted(_strictly_beyond(grid), grid.partitions, 0.0)
    hits = _hits_among_draws(grid, ALL_PARTITIONS - 1, rng)
    return _drawn(hits + 1, ALL_PARTITIONS, 1 / ALL_PARTITIONS, hits)


def with_replacement(
    x: Vector, y: Vector, alternative: Alternative, rng: np.random.Generator
) -> Significance:
    """wefe 1.0: X and Y drawn with replacement from all targets, 10 000 times: no permutation test."""
    draws = 10_000
    scores = np.concatenate([x, y])
    observed = float(x.sum() - y.sum())
    signs = np.concatenate([np.ones(len(x)), -np.ones(len(y))])
    hits = 0
    for size in _blocks(draws, len(scores)):
        drawn = scores[rng.integers(len(scores), size=(size, len(scores)))] @ signs
        if alternative == "two-sided":
            drawn = np.abs(drawn)
        hits += int((drawn < observed if alternative == "less" else drawn > observed).sum())
    p = (hits + 1) / (draws + 1)
    return Significance(p, None, None, "10 000 draws with replacement", 1 / (draws + 1), False, p)


def without_the_observed(
    x: Vector,
    y: Vector,
    alternative: Alternative,  # noqa: ARG001
    rng: np.random.Generator,
) -> Significance:
    """responsibly: all partitions, or 1 000 draws; the observed partition is never counted, so p can be 0."""
    grid = on_grid(x, y)
    if grid.partitions <= ALL_PARTITIONS:
        return _counted(_strictly_beyond(grid), grid.partitions, 0.0)
    draws = 1_000
    hits = _hits_among_draws(grid, draws, rng)
    return _drawn(hits, draws, 0.0, hits, draws)


def _strictly_beyond(grid: Grid) -> int:
    """How many partitions have a larger sum than the observed one."""
    sums = grid.values[_all_subsets(grid.n, grid.size)].sum(axis=1)
    return int((sums > grid.observed).sum())


def _hits_among_draws(grid: Grid, draws: int, rng: np.random.Generator) -> int:
    from weatherglass.stats.permutation.sampled import sample_sums

    return int((sample_sums(grid, draws, rng) > grid.observed).sum())


def _all_subsets(n: int, size: int) -> Integers:
    """Every subset of the size, one row each."""
    members = chain.from_iterable(combinations(range(n), size))
    return np.fromiter(members, dtype=np.int64).reshape(-1, size)


def _random_subsets(n: int, size: int, draws: int, rng: np.random.Generator) -> Iterator[Integers]:
    """Uniform subsets, a block of rows at a time; each in the order of a shuffle, as the published code has it."""
    for rows in _blocks(draws, n):
        yield np.argsort(rng.random((rows, n)), axis=1)[:, :size]


def _blocks(draws: int, n: int) -> Iterator[int]:
    rows = max(1, BLOCK_ENTRIES // n)
    yield from (min(rows, draws - start) for start in range(0, draws, rows))


def _counted(hits: int, partitions: int, floor: float) -> Significance:
    p = hits / partitions
    return Significance(p, p, p, "all partitions", floor, False, p)


def _drawn(
    numerator: int, denominator: int, floor: float, hits: int, draws: int | None = None
) -> Significance:
    """A p from draws, with the 99 % interval of the share that they estimate."""
    from weatherglass.stats.permutation.sampled import clopper_pearson

    draws = denominator - 1 if draws is None else draws
    low, high = clopper_pearson(hits, draws)
    p = numerator / denominator
    return Significance(p, low, high, f"{draws:,} draws".replace(",", " "), floor, False, p)
