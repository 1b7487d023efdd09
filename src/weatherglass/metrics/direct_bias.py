"""Compute direct bias (Bolukbasi et al. 2016), the share of words that lies along the common direction of word
pairs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.errors import UnitError, WeatherglassError
from weatherglass.metrics.base import MetricInfo, Shape, exactly
from weatherglass.metrics.exchange import Relabelling
from weatherglass.metrics.set_metric import Matrices, SetMetric, read_parameters, unit_rows


@dataclass(frozen=True)
class DirectBias(SetMetric):
    """The mean over w of |cos(w, g)|^c, where g is the first principal component of the differences of pairs.

    Exchanging the two words of a pair does not change the value. Therefore p is computed by permuting all words of X
    and Y, which gives directions between random words instead of pairs.
    """

    c: float = 1.0
    """The strictness; with a small c, words that lean slightly count almost as much as words that lean strongly."""

    info = MetricInfo(
        shape=Shape(exactly(2), exactly(1), paired=True),
        signed=False,
        bounds=(0.0, 1.0),
        exchanges="targets",
        contrasts="targets",
        removed_by_projection=True,
        summary="share of the attribute words along the main direction of word pairs",
        direction="larger: more bias",
        source="Bolukbasi et al. 2016",
        caution=(
            "this metric pairs the words of X and Y in their order; do not use it for lists that are "
            "not pairs"
        ),
    )
    scored = "attributes"

    @property
    def name(self) -> str:
        return "direct-bias" if self.c == 1 else f"direct-bias(c={self.c:g})"

    def value_and_scores(self, targets: Matrices, attributes: Matrices) -> tuple[float, list[Vector]]:
        along = np.abs(unit_rows(attributes[0]) @ pair_direction(*targets)) ** self.c
        return float(along.mean()), [along]

    def null(self, targets: Matrices, attributes: Matrices) -> Relabelling:
        pool = np.concatenate(targets)
        n = len(targets[0])
        products, to_words = pool @ pool.T, pool @ unit_rows(attributes[0]).T

        def values(labellings: Integers) -> Vector:
            x, y = labellings[:, :n], labellings[:, n:]
            inner = (
                _inner(products, x, x)
                - _inner(products, x, y)
                - _inner(products, y, x)
                + _inner(products, y, y)
            )
            squares, vectors = np.linalg.eigh(inner)
            along = np.einsum("bi,biw->bw", vectors[:, :, -1], to_words[x] - to_words[y])
            with np.errstate(divide="ignore", invalid="ignore"):
                cosines = np.where(squares[:, -1:] > 0, along / np.sqrt(squares[:, -1:]), 0.0)
            return np.asarray((np.abs(cosines) ** self.c).mean(axis=1))

        return Relabelling((n, n), values, ("greater",), ordered=True)


def _inner(products: Vector, rows: Integers, columns: Integers) -> Vector:
    return np.asarray(products[rows[:, :, np.newaxis], columns[:, np.newaxis, :]])


def pair_direction(x: Vector, y: Vector) -> Vector:
    """Return the first principal component of the differences of pairs, with length 1 and arbitrary sign.

    Raises:
        UnitError: if both words of every pair have the same vector.
    """
    differences = x - y
    if not differences.any():
        raise UnitError("the two words of every pair have the same vector, so the pairs have no direction")
    return np.asarray(np.linalg.svd(differences, full_matrices=False)[2][0])


def direct_bias(arguments: Sequence[str], named: Mapping[str, str]) -> list[DirectBias]:
    """Return the metric written as `direct-bias` or `direct-bias(c=0.5)`."""
    given = read_parameters("direct-bias", arguments, named, ("c",)).get("c", "1")
    try:
        c = float(given)
    except ValueError:
        c = -1.0
    if not 0 < c < np.inf:
        raise WeatherglassError(f"direct-bias: c is '{given}', but should be a number above 0")
    return [DirectBias(c)]
