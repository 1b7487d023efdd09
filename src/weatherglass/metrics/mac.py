"""MAC, the mean average cosine distance (Manzini et al. 2019): how far are target words from attribute sets?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.metrics.base import AT_LEAST_ONE, Shape
from weatherglass.metrics.nulls import SignFlips
from weatherglass.metrics.of_sets import Matrices, MetricOfSets, read_parameters, unit_rows


@dataclass(frozen=True)
class MeanAverageCosine(MetricOfSets):
    """The mean over target words and attribute sets of 1 − the mean cosine; 1 where nothing leans to them.

    No exchange of words or sets changes it. Its null, 1, says that cosines are as likely above 0 as below, so p tosses
    up the sign of each target word's mean cosine.
    """

    shape = Shape(AT_LEAST_ONE, AT_LEAST_ONE)
    signed = True
    unbiased = 1.0
    bounds = (0.0, 2.0)
    scored = "targets"
    exchanged = "targets"
    one_sample = True
    summary = "mean cosine distance of the target words to the attribute sets"
    direction = "below 1: targets near the attributes"
    leans = ("targets far from the attributes", "targets near the attributes")
    source = "Manzini et al. 2019"
    caution = "its p asks whether cosines average 0; in a model whose vectors share a direction, no words' do"

    @property
    def name(self) -> str:
        return "mac"

    def value_and_scores(self, targets: Matrices, attributes: Matrices) -> tuple[float, list[Vector]]:
        distances = mean_distances(targets, attributes)
        return float(np.concatenate(distances).mean()), distances

    def null(self, targets: Matrices, attributes: Matrices) -> SignFlips:
        distances = np.concatenate(mean_distances(targets, attributes))
        return SignFlips(distances - self.unbiased, self.unbiased)


def mean_distances(targets: Matrices, attributes: Matrices) -> list[Vector]:
    """Of the words of each target set: the mean over attribute sets of 1 − the mean cosine."""
    attributes = [unit_rows(a) for a in attributes]
    return [
        1 - np.mean([(unit @ a.T).mean(axis=1) for a in attributes], axis=0)
        for unit in map(unit_rows, targets)
    ]


def mac(arguments: Sequence[str], named: Mapping[str, str]) -> list[MeanAverageCosine]:
    """`mac` takes nothing in its parentheses."""
    read_parameters("mac", arguments, named, ())
    return [MeanAverageCosine()]
