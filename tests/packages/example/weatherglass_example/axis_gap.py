"""A metric with a p that is about a difference between groups, as it declares in its MetricInfo."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.metrics.base import MetricInfo, Shape, exactly
from weatherglass.metrics.exchange import Relabelling
from weatherglass.metrics.set_metric import Matrices, SetMetric, read_parameters


@dataclass(frozen=True)
class AxisGap(SetMetric):
    """The mean of X less that of Y along the unit direction from the mean of B to the mean of A."""

    info = MetricInfo(
        shape=Shape(exactly(2), exactly(2)),
        exchanges="targets",
        contrasts="both",
        leans=("{X} nearer to {A}", "{X} nearer to {B}"),
        summary="difference of X and Y along the axis from B to A",
        direction="above 0: X nearer to A",
    )
    scored = "targets"
    of_directions = False

    @property
    def name(self) -> str:
        """Its spelling."""
        return "axis-gap"

    def value_and_scores(self, targets: Matrices, attributes: Matrices) -> tuple[float, list[Vector]]:
        """The gap, and where each target word is on the axis."""
        x, y = (rows @ _axis(attributes) for rows in targets)
        return float(x.mean() - y.mean()), [x, y]

    def null(self, targets: Matrices, attributes: Matrices) -> Relabelling:
        """The words of X and Y are exchanged."""
        places, n = np.concatenate(targets) @ _axis(attributes), len(targets[0])

        def values(labellings: Integers) -> Vector:
            along = places[labellings]
            return np.asarray(along[:, :n].mean(axis=1) - along[:, n:].mean(axis=1))

        return Relabelling((n, len(targets[1])), values)


def _axis(attributes: Matrices) -> Vector:
    a, b = (rows.mean(axis=0) for rows in attributes)
    return np.asarray((a - b) / np.linalg.norm(a - b))


def make_axis_gap(arguments: Sequence[str], named: Mapping[str, str]) -> list[AxisGap]:
    """`axis-gap` takes nothing in its parentheses."""
    read_parameters("axis-gap", arguments, named, ())
    return [AxisGap()]
