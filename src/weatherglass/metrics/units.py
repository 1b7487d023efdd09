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
    by_unit = scores[np.argsort(units, kind="stable")]
    if len(sizes) == len(scores):
        return by_unit
    elements = np.split(by_unit, np.cumsum(sizes)[:-1])
    return np.stack([np.sort(some, axis=0).sum(axis=0) / len(some) for some in elements])
