"""Uniform random partitions: what May et al. (2019) report."""

from __future__ import annotations

import numpy as np

from weatherglass.arrays import Integers
from weatherglass.significance.grid import Grid


def sample_sums(grid: Grid, samples: int, rng: np.random.Generator) -> Integers:
    """The sum over X of `samples` independent uniform partitions, words drawn without replacement in each."""
    sums = np.empty(samples, dtype=np.int64)
    for i in range(samples):
        sums[i] = rng.permutation(grid.values)[: grid.size].sum()
    return sums


def clopper_pearson(hits: int, samples: int, confidence: float = 0.99) -> tuple[float, float]:
    """The exact binomial interval of a share of which `hits` of `samples` draws were seen."""
    from scipy.special import betaincinv

    outside = (1 - confidence) / 2
    low = 0.0 if hits == 0 else float(betaincinv(hits, samples - hits + 1, outside))
    high = 1.0 if hits == samples else float(betaincinv(hits + 1, samples - hits, 1 - outside))
    return low, high
