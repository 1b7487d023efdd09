"""Compute ECT, the embedding coherence test (Dev & Phillips 2019), which compares how X and Y rank the words of A."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.metrics.base import MetricInfo, Shape, exactly
from weatherglass.metrics.exchange import Relabelling
from weatherglass.metrics.set_metric import Matrices, SetMetric, read_parameters, unit_rows


@dataclass(frozen=True)
class EmbeddingCoherence(SetMetric):
    """Spearman's correlation of cos(mean X, a) and cos(mean Y, a) over a; 1 if both rank A in the same order."""

    info = MetricInfo(
        shape=Shape(exactly(2), exactly(1)),
        signed=False,
        unbiased=1.0,
        bounds=(-1.0, 1.0),
        exchanges="targets",
        summary="rank correlation of the nearness of attribute words to the centres of X and Y",
        direction="lower: more bias; 1 means no bias",
        source="Dev & Phillips 2019",
    )
    scored = "attributes"
    least = {"attributes": 2}  # noqa: RUF012 - a ClassVar of the base, never changed

    @property
    def name(self) -> str:
        return "ect"

    def value_and_scores(self, targets: Matrices, attributes: Matrices) -> tuple[float, list[Vector]]:
        """Return the correlation; the score of an attribute is its rank by X minus its rank by Y."""
        to_a = unit_rows(attributes[0])
        x, y = (ranks((to_a @ rows.mean(axis=0))[np.newaxis]) for rows in targets)
        return float(correlations(x, y)[0]), [x[0] - y[0]]

    def null(self, targets: Matrices, attributes: Matrices) -> Relabelling:
        x, y = targets
        (a,) = attributes
        to_a = np.concatenate([x, y]) @ unit_rows(a).T

        def values(labellings: Integers) -> Vector:
            in_x = np.zeros(labellings.shape)
            np.put_along_axis(in_x, labellings[:, : len(x)], 1.0, axis=1)
            # The length of a mean does not change the ranks of its cosines.
            return correlations(ranks(in_x @ to_a / len(x)), ranks((1 - in_x) @ to_a / len(y)))

        return Relabelling((len(x), len(y)), values, ("less",))


def ranks(rows: Matrix) -> Matrix:
    """Return the ranks from 1 within each row; ties have their mean rank."""
    order = np.argsort(rows, axis=1)
    ascending = np.take_along_axis(rows, order, axis=1)
    if (ascending[:, 1:] == ascending[:, :-1]).any():
        return np.asarray(rankdata(rows, axis=1))
    found = np.empty(rows.shape)  # without ties, this is several times as fast as rankdata for a single row
    np.put_along_axis(found, order, np.arange(1.0, rows.shape[1] + 1)[np.newaxis], axis=1)
    return found


def correlations(first: Matrix, second: Matrix) -> Vector:
    """Return Pearson's correlation of each row with the same row of the other matrix; NaN if one of the two rows is
    constant.
    """
    x, y = (rows - rows.mean(axis=1, keepdims=True) for rows in (first, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((x * y).sum(axis=1) / np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1)))


def ect(arguments: Sequence[str], named: Mapping[str, str]) -> list[EmbeddingCoherence]:
    """Return the metric named `ect`, which takes no parameters."""
    read_parameters("ect", arguments, named, ())
    return [EmbeddingCoherence()]
