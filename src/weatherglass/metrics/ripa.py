"""Compute RIPA (Ethayarajh et al. 2019), the projection of words on the directions of word pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.errors import UnitError
from weatherglass.metrics.base import MetricInfo, Shape, exactly
from weatherglass.metrics.exchange import SignFlips
from weatherglass.metrics.set_metric import Matrices, SetMetric, read_parameters


@dataclass(frozen=True)
class RelationalInnerProduct(SetMetric):
    """The mean over words and pairs of w·(x − y)/‖x − y‖."""

    info = MetricInfo(
        shape=Shape(exactly(2), exactly(1), paired=True),
        exchanges="pairs",
        contrasts="targets",
        removed_by_projection=True,
        summary="projection of the attribute words on the directions of word pairs",
        direction="above 0: A nearer to X",
        leans=("{A} nearer to {X}", "{A} nearer to {Y}"),
        source="Ethayarajh et al. 2019",
        caution=(
            "this metric pairs the words of X and Y in their order; do not use it for lists that are "
            "not pairs"
        ),
    )
    scored = "attributes"
    of_directions = False

    @property
    def name(self) -> str:
        return "ripa"

    def value_and_scores(self, targets: Matrices, attributes: Matrices) -> tuple[float, list[Vector]]:
        table = projections(targets, attributes)
        return float(table.mean()), [table.mean(axis=1)]

    def null(self, targets: Matrices, attributes: Matrices) -> SignFlips:
        # Exchanging the two words of a pair flips the sign of its direction.
        return SignFlips(projections(targets, attributes).mean(axis=0))

    def details(self, targets: Matrices, attributes: Matrices) -> dict[str, Any]:
        """Return the sd of each score over pairs; empty if there is only one pair."""
        table = projections(targets, attributes)
        return {"sd over pairs": table.std(axis=1, ddof=1)} if table.shape[1] > 1 else {}


def projections(targets: Matrices, attributes: Matrices) -> Matrix:
    """Return the projections of attribute words (rows) on the directions of pairs (columns).

    Raises:
        UnitError: if the two words of a pair have the same vector.
    """
    x, y = targets
    (a,) = attributes
    differences = x - y
    lengths = np.linalg.norm(differences, axis=1, keepdims=True)
    if not lengths.all():
        raise UnitError("the two words of a pair have the same vector, so the pair has no direction")
    return np.asarray(a @ (differences / lengths).T)


def ripa(arguments: Sequence[str], named: Mapping[str, str]) -> list[RelationalInnerProduct]:
    """Return the metric named `ripa`, which takes no parameters."""
    read_parameters("ripa", arguments, named, ())
    return [RelationalInnerProduct()]
