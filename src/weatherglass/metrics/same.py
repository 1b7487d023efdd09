"""Compute SAME (Schröder et al. 2021), the share of words that lies along the directions between attribute sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.metrics.base import AT_LEAST_ONE, AT_LEAST_TWO, MetricInfo, Shape
from weatherglass.metrics.exchange import Relabelling
from weatherglass.metrics.set_metric import Matrices, SetMetric, read_parameters, unit_rows


@dataclass(frozen=True)
class Same(SetMetric):
    """The mean over target words of |cos(w, mean of unit A − mean of unit B)|.

    With more sets, there is a direction from each further set to the first, made orthogonal to the earlier directions.
    The value is the sum over directions of |w · direction|, with w of length 1.
    """

    info = MetricInfo(
        shape=Shape(AT_LEAST_ONE, AT_LEAST_TWO),
        signed=False,
        bounds=(0.0, np.inf),
        exchanges="attributes",
        contrasts="both",
        summary="share of the target words that lies along the directions between attribute sets",
        direction="larger: more bias",
        source="Schröder et al. 2021",
    )
    scored = "targets"

    @property
    def name(self) -> str:
        return "same"

    def value_and_scores(self, targets: Matrices, attributes: Matrices) -> tuple[float, list[Vector]]:
        directions = attribute_directions([unit_rows(a).mean(axis=0) for a in attributes])
        along = [np.abs(unit_rows(rows) @ directions.T).sum(axis=1) for rows in targets]
        return float(np.concatenate(along).mean()), along

    def null(self, targets: Matrices, attributes: Matrices) -> Relabelling:
        words, pool = unit_rows(np.concatenate(targets)), unit_rows(np.concatenate(attributes))
        sizes = tuple(len(a) for a in attributes)
        ends = np.cumsum(sizes)
        products, to_words = pool @ pool.T, pool @ words.T

        def values(labellings: Integers) -> Vector:
            shares = np.zeros((len(sizes), *labellings.shape))
            for number, (size, end) in enumerate(zip(sizes, ends, strict=True)):
                np.put_along_axis(shares[number], labellings[:, end - size : end], 1.0 / size, axis=1)
            total = np.zeros((len(labellings), len(words)))
            # Gram–Schmidt on mixtures of the pool, whose products are known.
            basis: list[Matrix] = []
            for share in shares[1:]:
                mixture = shares[0] - share
                for _ in range(2):  # twice, because of rounding errors
                    for earlier in basis:
                        inner = np.einsum("bi,ij,bj->b", mixture, products, earlier, optimize=True)
                        mixture = mixture - inner[:, np.newaxis] * earlier
                length = np.sqrt(np.einsum("bi,ij,bj->b", mixture, products, mixture, optimize=True))
                with np.errstate(divide="ignore", invalid="ignore"):
                    mixture = np.where(length[:, np.newaxis] > 0, mixture / length[:, np.newaxis], 0.0)
                basis.append(mixture)
                total += np.abs(mixture @ to_words)
            return np.asarray(total.mean(axis=1))

        return Relabelling(sizes, values, ("greater",))

    def details(self, targets: Matrices, attributes: Matrices) -> dict[str, Any]:
        """Return the signed mean (skew) and the sd (stereotype) over all target words, for two attribute sets."""
        if len(attributes) != 2:
            return {}
        a, b = (unit_rows(rows).mean(axis=0) for rows in attributes)
        direction = attribute_directions([a, b])[0]
        along = unit_rows(np.concatenate(targets)) @ direction
        return {"skew": float(along.mean()), "stereotype": float(along.std())}


def attribute_directions(means: Sequence[Vector]) -> Matrix:
    """Return unit directions from each further mean to the first, orthogonal to the earlier ones; zero if they are
    dependent.
    """
    directions: list[Vector] = []
    for mean in means[1:]:
        direction = means[0] - mean
        for _ in range(2):
            for earlier in directions:
                direction = direction - (direction @ earlier) * earlier
        length = float(np.linalg.norm(direction))
        directions.append(direction / length if length > 0 else np.zeros_like(direction))
    return np.stack(directions)


def same(arguments: Sequence[str], named: Mapping[str, str]) -> list[Same]:
    """Return the metric named `same`, which takes no parameters."""
    read_parameters("same", arguments, named, ())
    return [Same()]
