"""Compute MAC, the mean average cosine distance (Manzini et al. 2019) of target words from attribute sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.metrics.base import AT_LEAST_ONE, MetricInfo, Shape
from weatherglass.metrics.set_metric import Matrices, SetMetric, read_parameters, unit_rows


@dataclass(frozen=True)
class MeanAverageCosine(SetMetric):
    """The mean over target words and attribute sets of 1 − the mean cosine; 1 if the mean cosine is 0.

    The metric has no p, because exchanging words or sets does not change it, and because the mean cosine of any words
    differs from 0 in an anisotropic model.
    """

    info = MetricInfo(
        shape=Shape(AT_LEAST_ONE, AT_LEAST_ONE),
        unbiased=1.0,
        bounds=(0.0, 2.0),
        one_sample=True,
        summary="mean cosine distance of the target words to the attribute sets",
        direction="below 1: targets near the attributes",
        leans=("targets far from the attributes", "targets near the attributes"),
        source="Manzini et al. 2019",
        caution="a mean cosine differs from 0 in any anisotropic model; compare models, do not read it as bias",
    )
    scored = "targets"

    @property
    def name(self) -> str:
        return "mac"

    def value_and_scores(self, targets: Matrices, attributes: Matrices) -> tuple[float, list[Vector]]:
        distances = mean_distances(targets, attributes)
        return float(np.concatenate(distances).mean()), distances

    def null(self, targets: Matrices, attributes: Matrices) -> None:
        del targets, attributes


def mean_distances(targets: Matrices, attributes: Matrices) -> list[Vector]:
    """Return the mean over attribute sets of 1 − the mean cosine, for each word of each target set."""
    attributes = [unit_rows(a) for a in attributes]
    return [
        1 - np.mean([(unit @ a.T).mean(axis=1) for a in attributes], axis=0)
        for unit in map(unit_rows, targets)
    ]


def mac(arguments: Sequence[str], named: Mapping[str, str]) -> list[MeanAverageCosine]:
    """Return the metric named `mac`, which takes no parameters."""
    read_parameters("mac", arguments, named, ())
    return [MeanAverageCosine()]
