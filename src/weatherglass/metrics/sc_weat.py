"""Compute SC-WEAT, or WEFAT (Caliskan et al. 2017; Toney & Caliskan 2021), the association of single words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.metrics.base import MetricInfo, Shape, exactly
from weatherglass.metrics.exchange import Exchange
from weatherglass.metrics.set_metric import Matrices, SetMetric, cosines, read_parameters


@dataclass(frozen=True)
class ScWeat(SetMetric):
    """The mean over the words of X of s(w, A, B), in standard deviations of cos(w, ·) over A and B."""

    info = MetricInfo(
        shape=Shape(exactly(1), exactly(2)),
        bounds=(-2.0, 2.0),  # with A and B of one size
        exchanges="attributes",
        contrasts="attributes",
        summary="effect size of single words, and their mean",
        direction="above 0: X nearer to A",
        leans=("{X} nearer to {A}", "{X} nearer to {B}"),
        source="Caliskan et al. 2017; Toney & Caliskan 2021",
    )
    scored = "targets"

    @property
    def name(self) -> str:
        return "sc-weat"

    def value_and_scores(self, targets: Matrices, attributes: Matrices) -> tuple[float, list[Vector]]:
        effects = single_word_effects(targets[0], *attributes)
        return float(effects.mean()), [effects]

    def bounds_for(self, targets: Sequence[int], attributes: Sequence[int]) -> tuple[float, float]:
        """Return the bounds, which are reached if all cosines with A are equal and all cosines with B are equal."""
        del targets
        a, b = attributes
        most = float(np.sqrt((a + b) * (a + b - 1) / (a * b)))
        return -most, most

    def null(self, targets: Matrices, attributes: Matrices) -> Exchange:
        # The sd over A and B is the same for every labelling, so the mean is linear in the labels of attributes.
        a, b = attributes
        to_all = standardised_cosines(targets[0], np.concatenate([a, b])).mean(axis=0)
        return Exchange(to_all[: len(a)], to_all[len(a) :], _difference_of_means)


def standardised_cosines(words: Matrix, attributes: Matrix) -> Matrix:
    """Return cos(w, a) in standard deviations over all attributes, for each word (row); NaN if all cosines of the word
    are equal.
    """
    table = cosines(words, attributes)
    spread = table.std(axis=1, ddof=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(spread > 0, table / spread, np.nan)


def single_word_effects(words: Matrix, a: Matrix, b: Matrix) -> Vector:
    """Return the effect size of each word, which is positive if the word is nearer to A."""
    table = standardised_cosines(words, np.concatenate([a, b]))
    return np.asarray(table[:, : len(a)].mean(axis=1) - table[:, len(a) :].mean(axis=1))


def _difference_of_means(x: Vector, y: Vector) -> float:
    return float(x.mean() - y.mean())


def sc_weat(arguments: Sequence[str], named: Mapping[str, str]) -> list[ScWeat]:
    """Return the metric named `sc-weat`, which takes no parameters."""
    read_parameters("sc-weat", arguments, named, ())
    return [ScWeat()]
