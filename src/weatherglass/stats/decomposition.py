"""What moves a number: the variance over a full factorial of choices, split among the choices (docs/methods 11)."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Vector

Table = NDArray[np.float64]
"""One axis per choice, one entry per specification."""


@dataclass(frozen=True, slots=True)
class Decomposition:
    """Parts of a variance that add up to it."""

    variance: float
    """Of all specifications, divided by their number."""
    main: dict[str, float]
    """By choice: the variance of the means of its levels."""
    pairs: dict[str, float]
    """By two choices, written "one × other": what the mean of a cell adds to the two main effects."""
    rest: float
    """Three and more choices together."""

    def share(self, part: float) -> float:
        """The part as a share of the variance; 0 where there is none."""
        return part / self.variance if self.variance > 0 else 0.0

    def shares(self) -> dict[str, float]:
        """Every part as a share, the largest first; they add up to 1."""
        parts = {**self.main, **self.pairs, "rest": self.rest}
        return {
            name: self.share(part)
            for name, part in sorted(parts.items(), key=lambda item: (-item[1], item[0]))
        }

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {"variance": self.variance, "main": self.main, "pairs": self.pairs, "rest": self.rest}


def decompose(table: Table, choices: Sequence[str]) -> Decomposition:
    """Split the variance of a balanced table among its axes: main effects, pairs, and the rest.

    Args:
        table: one axis per choice; every combination of levels once.
        choices: the name of each axis.

    Raises:
        ValueError: if the names are not one for each axis.
    """
    if table.ndim != len(choices):
        raise ValueError(f"{len(choices)} choices for a table of {table.ndim} axes")
    centred = table - table.mean()
    axes = range(table.ndim)
    means = {axis: _mean_over_others(centred, axis) for axis in axes}
    main = {choices[axis]: float((mean**2).mean()) for axis, mean in means.items()}
    pairs = {}
    for one, other in itertools.combinations(axes, 2):
        cell = _mean_over_others(centred, one, other) - means[one] - means[other]
        pairs[f"{choices[one]} × {choices[other]}"] = float((cell**2).mean())
    variance = float((centred**2).mean())
    # With one or two choices nothing is left; rounding must not make it negative.
    rest = variance - sum(main.values()) - sum(pairs.values()) if table.ndim > 2 else 0.0
    return Decomposition(variance, main, pairs, max(rest, 0.0))


def _mean_over_others(table: Table, *axes: int) -> Table:
    """The mean over all axes but these, which keep their places."""
    others = tuple(axis for axis in range(table.ndim) if axis not in axes)
    return np.asarray(table.mean(axis=others, keepdims=True))


def combine(
    parts: Sequence[Decomposition], sizes: Sequence[int], means: Sequence[float], choice: str
) -> Decomposition:
    """Several tables with other levels, as one: what lies between their means belongs to `choice`.

    Args:
        parts: the decomposition of each table.
        sizes: how many specifications each has.
        means: their mean.
        choice: the name of what tells the tables apart.
    """
    weights: Vector = np.asarray(sizes, dtype=np.float64) / sum(sizes)
    centres = np.asarray(means, dtype=np.float64)
    between = float(weights @ (centres - weights @ centres) ** 2)
    return Decomposition(
        float(between + sum(w * part.variance for w, part in zip(weights, parts, strict=True))),
        {choice: between, **_weighted([part.main for part in parts], weights)},
        _weighted([part.pairs for part in parts], weights),
        float(sum(w * part.rest for w, part in zip(weights, parts, strict=True))),
    )


def _weighted(tables: Sequence[dict[str, float]], weights: Vector) -> dict[str, float]:
    names = dict.fromkeys(name for table in tables for name in table)
    return {
        name: float(sum(w * table.get(name, 0.0) for w, table in zip(weights, tables, strict=True)))
        for name in names
    }
