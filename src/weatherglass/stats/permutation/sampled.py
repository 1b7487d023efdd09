"""Draw uniform random partitions quickly, since May et al. (2019) report p from random partitions.

The elements are divided into blocks of up to 14. The number of drawn elements of a block is hypergeometric, and given
this number, all subsets of the block are equally likely. Each of the two needs one table look-up instead of a draw per
element.

The code is not compiled, because compiling would take longer than drawing the null distributions of a run.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers
from weatherglass.stats.permutation.grid import Grid

Bits = NDArray[np.uint64]

_BLOCK = 14
_SLICE = 1 << 13
"""The number of samples drawn at once, chosen so that all arrays fit into the processor's cache."""
_STEP = np.uint64(0x9E3779B97F4A7C15)
_WINDOW = 12.0
"""The number of standard deviations that tables cover; a sample is outside once in 10^30."""
CONFIDENCE = 0.99
"""The confidence level of the interval of a sampled p."""


def sample_sums(grid: Grid, samples: int, rng: np.random.Generator) -> Integers:
    """Draw `samples` independent uniform partitions and return their sums over X."""
    n, size = grid.n, min(grid.size, grid.n - grid.size)
    counter = int(rng.integers(0, 2**64, dtype=np.uint64))
    sums = np.zeros(samples, dtype=np.int64)
    left = np.full(samples, size, dtype=np.int64)
    blocks = math.ceil(n / _BLOCK)
    for b in range(blocks):
        start, end = n * b // blocks, n * (b + 1) // blocks
        subsets = np.zeros(1, dtype=np.int64)
        for value in grid.values[start:end]:
            subsets = np.concatenate([subsets, subsets + value])
        # The sums of all subsets of the block, grouped by count, and the start of each count.
        counts = np.bitwise_count(np.arange(len(subsets)))
        by_count = subsets[np.argsort(counts, kind="stable")]
        first = np.concatenate([[0], np.cumsum(np.bincount(counts))])
        # The smallest and largest number of draws that can be left at this block.
        mean, sd = size * (n - start) / n, math.sqrt(size * (n - size) / n**2 * (n - start) * start / (n - 1))
        low = max(math.floor(mean - _WINDOW * sd), 0, size - start)
        high = min(math.ceil(mean + _WINDOW * sd), size, n - start)
        aliases = _alias_tables(end - start, n - start, low, high)
        for slice_start in range(0, samples, _SLICE):
            some = slice(slice_start, slice_start + _SLICE)
            counter = _draw(by_count, first, aliases, low, counter, left[some], sums[some])
    return sums if size == grid.size else grid.total - sums


def clopper_pearson(hits: int, samples: int) -> tuple[float, float]:
    """Return the exact binomial interval, at level CONFIDENCE, of a probability given `hits` in `samples` draws."""
    from scipy.special import betaincinv

    outside = (1 - CONFIDENCE) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, samples - hits + 1, outside))
    high = 1.0 if hits == samples else float(betaincinv(hits + 1, samples - hits, 1 - outside))
    return low, high


def _draw(
    by_count: Integers,
    first: Integers,
    aliases: Bits,
    low: int,
    counter: int,
    left: Integers,
    sums: Integers,
) -> int:
    """Draw from one block for every sample, updating `left` and `sums` in place; return the counter."""
    numbers = 2 * len(sums)
    # Splitmix64 (Steele, Lea and Flood 2014) makes 64 random bits from each number.
    bits = np.uint64(counter) + _STEP * np.arange(1, numbers + 1, dtype=np.uint64)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = bits ^ (bits >> np.uint64(31))
    for_count, for_subset = bits[0::2], bits[1::2]
    cell = for_count & np.uint64(15)
    row = np.minimum(np.maximum(left - low, 0), len(aliases) - 1)
    entry = aliases.ravel()[16 * row + cell.view(np.int64)]
    count = np.where(for_count < entry, cell, entry & np.uint64(15)).view(np.int64)
    share = (for_subset >> np.uint64(11)).view(np.int64) * 2.0**-53
    within = (share * np.diff(first).astype(np.float64)[count]).astype(np.int64)
    sums += by_count[first[count] + within]
    left -= count
    return (counter + numbers * int(_STEP)) % 2**64


@lru_cache(maxsize=512)
def _alias_tables(block: int, population: int, low: int, high: int) -> Bits:
    """Return Walker's alias table of the number of draws in this block, for each number of draws left.

    An entry has 60 bits of threshold and 4 bits of alias; a cell keeps its own number if the random bits are below the
    entry. Tests of the same size share the tables.
    """
    # The hypergeometric probability that 0 to 15 of the draws left fall into the block, one row per number of draws.
    rest = population - block
    log = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, population + 1)))])  # of 0! to population!
    draws, count = np.arange(low, high + 1)[:, np.newaxis], np.arange(16)
    possible = (count <= np.minimum(block, draws)) & (draws - count <= rest)
    count = np.where(possible, count, np.maximum(draws - rest, 0))
    ways = log[block] - log[count] - log[block - count]
    ways = ways - (log[draws - count] + log[rest - draws + count]) + (log[rest] - log[population])
    share = np.where(possible, np.exp(ways + log[draws] + log[population - draws]), 0.0)
    share *= 16 / share.sum(axis=1, keepdims=True)
    tables = np.zeros(share.shape, dtype=np.uint64)
    rows, settled = np.arange(len(share)), np.zeros(share.shape, dtype=bool)
    # The smallest cell is filled up from the largest one until all are equal.
    for _ in range(16):
        poorest = np.where(settled, np.inf, share).argmin(axis=1)
        richest = np.where(settled, -np.inf, share).argmax(axis=1)
        settled[rows, poorest] = True
        kept = np.minimum(np.maximum(share[rows, poorest], 0.0), 1.0)
        threshold = (kept * (2.0**60 - 128.0)).astype(np.uint64)
        tables[rows, poorest] = (threshold << np.uint64(4)) | richest.astype(np.uint64)
        share[rows, richest] -= 1.0 - kept
    return tables
