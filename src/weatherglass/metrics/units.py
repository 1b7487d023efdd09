"""What is permuted and resampled: elements, or words, of which each has the mean score of its sentences."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Integers


def unit_numbers(names: Sequence[Hashable]) -> Integers:
    """The unit of each element, numbered from 0 in order of first appearance; equal names are one unit.

    >>> unit_numbers(["rose", "lily", "rose"]).tolist()
    [0, 1, 0]
    """
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.int64)


def mean_by_unit(scores: NDArray[np.float64], units: Integers) -> NDArray[Any]:
    """The mean score of each unit's elements, which are summed in ascending order, whatever order they come in.

    Args:
        scores: one per element, or one row per element and a column per draw.
        units: the unit of each element, numbered from 0 without a gap.

    Returns:
        One number, or one row, per unit.
    """
    sizes = np.bincount(units)
    order = np.argsort(units, kind="stable")
    if len(sizes) == len(scores):
        return scores[order]
    starts = np.cumsum(sizes) - sizes
    means = np.empty((len(sizes), *scores.shape[1:]))
    # Units of one size are sorted and summed together: words mostly stand in equally many sentences.
    for size in dict.fromkeys(sizes.tolist()):
        equal = np.flatnonzero(sizes == size)
        elements = scores[order[starts[equal, np.newaxis] + np.arange(size)]]
        means[equal] = np.sort(elements, axis=1).sum(axis=1) / size
    return means
