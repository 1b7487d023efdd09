"""Uniform random partitions, quickly: what May et al. (2019) report.

The elements are cut into blocks of up to 12. How many of a block are drawn is hypergeometric, and given that number
every subset of the block is equally likely: one look-up each, instead of one draw for each element.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Vector
from weatherglass.significance.grid import Grid
from weatherglass.significance.kernel import compiled

Bits = NDArray[np.uint64]

_BLOCK = 12
_WINDOW = 12.0
"""Tables cover this many standard deviations of what is left to draw; a sample leaves them once in 10^30."""


def sample_sums(grid: Grid, samples: int, rng: np.random.Generator) -> Integers:
    """The sum over X of `samples` independent uniform partitions, words drawn without replacement in each."""
    n, size = grid.n, min(grid.size, grid.n - grid.size)
    blocks = math.ceil(n / _BLOCK)
    ends = np.array([n * (b + 1) // blocks for b in range(blocks)], dtype=np.int64)
    starts = np.concatenate([[0], ends[:-1]])
    seed = int(rng.integers(0, 2**63, dtype=np.int64))
    sums: Integers = _sample(
        grid.values, starts, ends, _lowest_left(n, size, starts), size, samples, np.uint64(seed)
    )
    return sums if size == grid.size else grid.total - sums


def clopper_pearson(hits: int, samples: int, confidence: float = 0.99) -> tuple[float, float]:
    """The exact binomial interval of a share of which `hits` of `samples` draws were seen."""
    from scipy.special import betaincinv

    outside = (1 - confidence) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, samples - hits + 1, outside))
    high = 1.0 if hits == samples else float(betaincinv(hits + 1, samples - hits, 1 - outside))
    return low, high


def _lowest_left(n: int, size: int, starts: Integers) -> Integers:
    """Least and greatest number of draws left when a block is reached, one row per block."""
    left = n - starts
    mean = size * left / n
    sd = np.sqrt(size * (n - size) / n**2 * left * starts / max(n - 1, 1))
    least = np.maximum(np.floor(mean - _WINDOW * sd - 1), np.maximum(0, size - starts))
    greatest = np.minimum(np.ceil(mean + _WINDOW * sd + 1), np.minimum(size, left))
    return np.ascontiguousarray(np.stack([least, greatest], axis=1).astype(np.int64))


@compiled
def _sample(
    values: Integers,
    starts: Integers,
    ends: Integers,
    window: Integers,
    size: int,
    samples: int,
    seed: np.uint64,
) -> Integers:
    """Block by block over all samples, so that a block's tables stay at hand."""
    n = len(values)
    log_factorial = np.zeros(n + 1)
    for i in range(1, n + 1):
        log_factorial[i] = log_factorial[i - 1] + math.log(i)
    sums = np.zeros(samples, dtype=np.int64)
    left = np.full(samples, size, dtype=np.int64)
    counter = seed
    for b in range(len(starts)):
        members = values[starts[b] : ends[b]]
        by_count, first, choices = _subset_sums(members)
        low, high = window[b, 0], window[b, 1]
        aliases = _alias_tables(len(members), n - starts[b], low, high, log_factorial)
        for i in range(samples):
            counter += np.uint64(0x9E3779B97F4A7C15)
            bits = _mixed(counter)
            row = min(max(left[i], low), high) - low
            entry = aliases[row, bits & np.uint64(15)]
            count = np.int64(bits & np.uint64(15)) if bits < entry else np.int64(entry & np.uint64(15))
            counter += np.uint64(0x9E3779B97F4A7C15)
            share = np.float64(_mixed(counter) >> np.uint64(11)) * 2.0**-53
            sums[i] += by_count[first[count] + np.int64(share * choices[count])]
            left[i] -= count
    return sums


@compiled
def _mixed(counter: np.uint64) -> np.uint64:
    """64 random bits from a counter (splitmix64, Steele, Lea and Flood 2014)."""
    bits = (counter ^ (counter >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@compiled
def _subset_sums(members: Integers) -> tuple[Integers, Integers, Integers]:
    """The sums of all subsets, those of equal count together; where each count starts; how many it has."""
    s = len(members)
    choices = np.zeros(s + 1, dtype=np.int64)
    for subset in range(1 << s):
        choices[_bits(subset)] += 1
    first = np.zeros(s + 2, dtype=np.int64)
    first[1:] = np.cumsum(choices)
    place = first[:-1].copy()
    by_count = np.empty(1 << s, dtype=np.int64)
    for subset in range(1 << s):
        total = 0
        for i in range(s):
            if subset >> i & 1:
                total += members[i]
        count = _bits(subset)
        by_count[place[count]] = total
        place[count] += 1
    return by_count, first, choices


@compiled
def _bits(subset: int) -> int:
    count = 0
    while subset:
        subset &= subset - 1
        count += 1
    return count


@compiled
def _alias_tables(block: int, population: int, low: int, high: int, log_factorial: Vector) -> Bits:
    """For each number of draws left, Walker's alias table of how many fall into this block.

    An entry holds 60 bits of threshold and 4 bits of alias; a cell keeps its own number if the random bits are below.
    """
    tables = np.zeros((high - low + 1, 16), dtype=np.uint64)
    share = np.empty(16)
    for draws in range(low, high + 1):
        rest = population - block
        share[:] = 0.0
        for count in range(max(0, draws - rest), min(block, draws) + 1):
            share[count] = math.exp(
                log_factorial[block] - log_factorial[count] - log_factorial[block - count]
                + log_factorial[rest] - log_factorial[draws - count] - log_factorial[rest - draws + count]
                - log_factorial[population] + log_factorial[draws] + log_factorial[population - draws]
            )  # fmt: skip
        share *= 16 / share.sum()
        _fill_alias_table(share, tables[draws - low])
    return tables


@compiled
def _fill_alias_table(share: Vector, table: Bits) -> None:
    """Let each cell that is short be topped up by one that has too much, until all hold the same."""
    settled = np.zeros(16, dtype=np.bool_)
    for _ in range(16):
        poorest, richest = -1, -1
        for cell in range(16):
            if not settled[cell]:
                if poorest < 0 or share[cell] < share[poorest]:
                    poorest = cell
                if richest < 0 or share[cell] > share[richest]:
                    richest = cell
        settled[poorest] = True
        # The last cell is full but for rounding: it is its own alias.
        kept = min(max(share[poorest], 0.0), 1.0)
        threshold = np.uint64(kept * (2.0**60 - 128.0))
        table[poorest] = (threshold << np.uint64(4)) | np.uint64(richest)
        share[richest] -= 1.0 - kept
