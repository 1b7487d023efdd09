"""Compute RND, the relative norm distance (Garg et al. 2018), of A to the centres of X and Y."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.metrics.base import MetricInfo, Shape, exactly
from weatherglass.metrics.exchange import Relabelling
from weatherglass.metrics.set_metric import Matrices, SetMetric, read_parameters, read_yes_or_no, unit_rows


@dataclass(frozen=True)
class RelativeNormDistance(SetMetric):
    """The mean over a of ‖a − mean X‖ − ‖a − mean Y‖."""

    normalise: bool = False
    """Whether vectors are first scaled to length 1, as in Garg et al."""

    info = MetricInfo(
        shape=Shape(exactly(2), exactly(1)),
        exchanges="targets",
        contrasts="targets",
        summary="distance of attribute words to the centre of X minus that to the centre of Y",
        direction="above 0: A nearer to Y",
        leans=("{A} nearer to {Y}", "{A} nearer to {X}"),
        source="Garg et al. 2018",
    )
    scored = "attributes"

    @property
    def name(self) -> str:
        return "rnd(normalise=yes)" if self.normalise else "rnd"

    @property
    def of_directions(self) -> bool:  # type: ignore[override]
        """Return whether zero vectors are refused because they cannot be scaled to length 1."""
        return self.normalise

    def value_and_scores(self, targets: Matrices, attributes: Matrices) -> tuple[float, list[Vector]]:
        x, y, a = self._read(targets, attributes)
        differences = _distances(a, x.mean(axis=0)) - _distances(a, y.mean(axis=0))
        return float(differences.mean()), [differences]

    def null(self, targets: Matrices, attributes: Matrices) -> Relabelling:
        x, y, a = self._read(targets, attributes)
        pool = np.concatenate([x, y])
        products, to_a, squares = pool @ pool.T, pool @ a.T, (a**2).sum(axis=1)

        def distances(share: Matrix) -> Matrix:
            """Return the distances from centres (rows), which are weighted means of the pool, to attributes
            (columns).
            """
            centre = np.einsum("bi,ij,bj->b", share, products, share, optimize=True)
            return np.asarray(np.sqrt(np.maximum(squares - 2 * share @ to_a + centre[:, np.newaxis], 0)))

        def values(labellings: Integers) -> Vector:
            in_x = np.zeros(labellings.shape)
            np.put_along_axis(in_x, labellings[:, : len(x)], 1.0, axis=1)
            return np.asarray((distances(in_x / len(x)) - distances((1 - in_x) / len(y))).mean(axis=1))

        return Relabelling((len(x), len(y)), values)

    def _read(self, targets: Matrices, attributes: Matrices) -> tuple[Matrix, Matrix, Matrix]:
        x, y = targets
        (a,) = attributes
        return (unit_rows(x), unit_rows(y), unit_rows(a)) if self.normalise else (x, y, a)


def _distances(rows: Matrix, centre: Vector) -> Vector:
    return np.asarray(np.linalg.norm(rows - centre, axis=1))


def rnd(arguments: Sequence[str], named: Mapping[str, str]) -> list[RelativeNormDistance]:
    """Return the metric written as `rnd` or `rnd(normalise=yes)`."""
    given = read_parameters("rnd", arguments, named, ("normalise",))
    return [RelativeNormDistance(read_yes_or_no("rnd", "normalise", given.get("normalise", "no")))]
