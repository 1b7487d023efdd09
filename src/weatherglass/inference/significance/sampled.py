"""Uniform random partitions, quickly: what May et al. (2019) report.

The elements are cut into blocks of up to 14. How many of a block are drawn is hypergeometric, and given that number
every subset of the block is equally likely: one look-up each, instead of one draw for each element.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Vector
from weatherglass.inference.significance.grid import Grid
from weatherglass.inference.significance.kernel import compiled

Bits = NDArray[np.uint64]

_BLOCK = 14
_WINDOW = 12.0
"""Tables cover this many standard deviations of what is left to draw; a sample leaves them once in 10^30."""


def sample_sums(grid: Grid, samples: int, rng: np.random.Generator) -> Integers:
    """The sum over X of `samples` independent uniform partitions, words drawn without replacement in each."""
    n, size = grid.n, min(grid.size, grid.n - grid.size)
    log_factorial = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    counter = rng.integers(0, 2**64, dtype=np.uint64)
    sums = np.zeros(samples, dtype=np.int64)
    left = np.full(samples, size, dtype=np.int64)
    blocks = math.ceil(n / _BLOCK)
    for b in range(blocks):
        start, end = n * b // blocks, n * (b + 1) // blocks
        by_count, first = _subset_sums(grid.values[start:end])
        low, high = _window(n, size, start)
        aliases = _alias_tables(end - start, n - start, low, high, log_factorial)
        # A compiled function returns a plain int, which numba would take for a signed one.
        counter = np.uint64(_draw(by_count, first, aliases, low, counter, left, sums))
    return sums if size == grid.size else grid.total - sums


def clopper_pearson(hits: int, samples: int, confidence: float = 0.99) -> tuple[float, float]:
    """The exact binomial interval of a share of which `hits` of `samples` draws were seen."""
    from scipy.special import betaincinv

    outside = (1 - confidence) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, samples - hits + 1, outside))
    high = 1.0 if hits == samples else float(betaincinv(hits + 1, samples - hits, 1 - outside))
    return low, high


def _window(n: int, size: int, start: int) -> tuple[int, int]:
    """Least and greatest number of draws left when a block is reached."""
    left = n - start
    mean = size * left / n
    sd = math.sqrt(size * (n - size) / n**2 * left * start / (n - 1))
    low = max(math.floor(mean - _WINDOW * sd), 0, size - start)
    return low, min(math.ceil(mean + _WINDOW * sd), size, left)


def _subset_sums(members: Integers) -> tuple[Integers, Integers]:
    """The sums of all subsets, those of equal count together, and where each count starts."""
    sums = np.zeros(1, dtype=np.int64)
    for member in members:
        sums = np.concatenate([sums, sums + member])
    order, starts = _order_by_count(len(members))
    return sums[order], starts


@lru_cache
def _order_by_count(members: int) -> tuple[Integers, Integers]:
    """The subsets of so many members, as bit patterns, sorted by count, and where each count starts."""
    counts = np.zeros(1, dtype=np.int64)
    for _ in range(members):
        counts = np.concatenate([counts, counts + 1])
    return np.argsort(counts, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(counts))])


@compiled
def _draw(
    by_count: Integers,
    first: Integers,
    aliases: Bits,
    low: int,
    counter: np.uint64,
    left: Integers,
    sums: Integers,
) -> np.uint64:
    """Draw from one block for every sample; `left` and `sums` are updated in place. Returns the counter."""
    highest = len(aliases) - 1
    choices = np.empty(len(first) - 1)
    for count in range(len(choices)):
        choices[count] = first[count + 1] - first[count]
    for i in range(len(sums)):
        counter += np.uint64(0x9E3779B97F4A7C15)
        bits = _mixed(counter)
        cell = bits & np.uint64(15)
        entry = aliases[min(max(left[i] - low, 0), highest), cell]
        count = int(cell if bits < entry else entry & np.uint64(15))
        counter += np.uint64(0x9E3779B97F4A7C15)
        share = np.int64(_mixed(counter) >> np.uint64(11)) * 2.0**-53
        sums[i] += by_count[first[count] + int(share * choices[count])]
        left[i] -= count
    return counter


@compiled
def _mixed(counter: np.uint64) -> np.uint64:
    """64 random bits from a counter (splitmix64, Steele, Lea and Flood 2014)."""
    bits = (counter ^ (counter >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@compiled
def _alias_tables(block: int, population: int, low: int, high: int, log_factorial: Vector) -> Bits:
    """For each number of draws left, Walker's alias table of how many fall into this block.

    An entry holds 60 bits of threshold and 4 bits of alias; a cell keeps its own number if the random bits are
    below the entry.
    """
    tables = np.zeros((high - low + 1, 16), dtype=np.uint64)
    share = np.zeros(16)
    rest = population - block
    for draws in range(low, high + 1):
        total = 0.0
        for count in range(16):
            share[count] = 0.0
            if 0 <= draws - count <= rest and count <= block:
                ways = log_factorial[block] - log_factorial[count] - log_factorial[block - count]
                ways -= log_factorial[draws - count] + log_factorial[rest - draws + count]
                ways += log_factorial[rest] - log_factorial[population]
                share[count] = math.exp(ways + log_factorial[draws] + log_factorial[population - draws])
                total += share[count]
        for cell in range(16):
            share[cell] *= 16 / total
        # Let the cell that is shortest be topped up by the one that has most, until all hold the same.
        settled = 0
        for _ in range(16):
            poorest, richest = -1, -1
            for cell in range(16):
                if not settled >> cell & 1:
                    if poorest < 0 or share[cell] < share[poorest]:
                        poorest = cell
                    if richest < 0 or share[cell] > share[richest]:
                        richest = cell
            settled |= 1 << poorest
            kept = min(max(share[poorest], 0.0), 1.0)
            threshold = np.uint64(kept * (2.0**60 - 128.0))
            tables[draws - low, poorest] = (threshold << np.uint64(4)) | np.uint64(richest)
            share[richest] -= 1.0 - kept
    return tables
