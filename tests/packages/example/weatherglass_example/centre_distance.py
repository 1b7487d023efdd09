"""A metric of another shape than WEAT's, and without a p: the mean cosine distance of targets to attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.catalogue import Test
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.base import AT_LEAST_ONE, Context, ElementScore, Estimate, MetricInfo, Shape
from weatherglass.metrics.sets import VectorSet


@dataclass(frozen=True)
class MeanDistance:
    """Mean average cosine distance of the targets to each attribute set; 1 means no association."""

    info: ClassVar[MetricInfo] = MetricInfo(
        shape=Shape(targets=AT_LEAST_ONE, attributes=AT_LEAST_ONE),
        signed=False,
        unbiased=1.0,
        bounds=(0.0, 2.0),
    )
    name: str = "mean-distance"

    def texts(self, test: Test) -> tuple[str, ...]:
        """Nothing besides the sets."""
        del test
        return ()

    def evaluate(self, sets: Sequence[VectorSet], context: Context) -> Estimate:
        """The mean over targets and attribute sets of S(t, A), the mean cosine distance of t to A."""
        del context
        targets = [each for each in sets if each.role[0] in "XY"]
        attributes = [each for each in sets if each.role[0] not in "XY"]
        scores = []
        for target in targets:
            distances = [(1 - _cosines(target.vectors, each.vectors)).mean(axis=1) for each in attributes]
            for element, score in zip(target.elements, np.mean(distances, axis=0), strict=True):
                scores.append(
                    ElementScore(target.role, element.text, element.word, element.template, float(score))
                )
        return Estimate(
            info=self.info,
            value=float(np.mean([score.score for score in scores])),
            target_sizes=tuple(map(len, targets)),
            attribute_sizes=tuple(map(len, attributes)),
            scores=tuple(scores),
        )


def make_mean_distance(arguments: Sequence[str], named: Mapping[str, str]) -> list[MeanDistance]:
    """`mean-distance` takes nothing in its parentheses."""
    if arguments or named:
        raise WeatherglassError(f"mean-distance takes no parameters; {[*arguments, *named]} given")
    return [MeanDistance()]


def _cosines(rows: Matrix, columns: Matrix) -> Matrix:
    unit_rows, unit_columns = (m / np.linalg.norm(m, axis=1, keepdims=True) for m in (rows, columns))
    return np.asarray(unit_rows @ unit_columns.T)
