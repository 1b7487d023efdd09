"""The choices of an audit that another auditor might have made otherwise, and the levels of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from weatherglass.errors import WeatherglassError
from weatherglass.metrics.weat.measure import SIMILARITIES, STATISTICS, Measure
from weatherglass.registry import check_number, checked_texts, checked_whole_number, one_of, unknown

KNOBS = ("similarity", "statistic", "template", "pooling", "layers", "words", "seed", "list")
"""All that can be turned. `words` are halves of the word lists, `list` other lists of the same topic."""
STATISTIC_NAMES = ("mean", "median", "nearest", "farthest", "eq2")


@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """Which knobs are turned, over which levels; one that is not turned stays at its first level."""

    turned: tuple[str, ...] = KNOBS
    similarities: tuple[str, ...] = ("cosine", "euclidean", "manhattan")
    statistics: tuple[str, ...] = ("mean", "median", "nearest", "farthest")
    """eq2 may be added: it has no direction, so it is listed and stays out of every mean."""
    covariance: str = "ledoit-wolf"
    """How the covariances of Mahalanobis distance are estimated; the graphical lasso takes minutes a model."""
    alpha: float = 0.05
    seed: int = 0
    """Of random halves and random labellings."""

    def __post_init__(self) -> None:
        from weatherglass.metrics.weat.covariance import ESTIMATORS

        for name in ("turned", "similarities", "statistics"):
            checked_texts(name, getattr(self, name))
        if self.covariance not in ESTIMATORS:
            raise unknown("covariance estimator", self.covariance, ESTIMATORS.names())
        check_number("alpha", self.alpha)
        checked_whole_number("seed", self.seed, 0)
        for knob in self.turned:
            one_of("knob", knob, KNOBS)
        for name in self.similarities:
            SIMILARITIES.get(name)
        for name in self.statistics:
            one_of("statistic", name, STATISTIC_NAMES)
        if not self.similarities or self.statistics in ((), ("eq2",)):
            raise WeatherglassError(
                "a multiverse needs at least one similarity and one statistic with a direction"
            )
        if not 0 < self.alpha <= 0.5:
            raise WeatherglassError(f"alpha is {self.alpha:g}, but it lies between 0 and 0.5")

    def turns(self, knob: str) -> bool:
        """Whether the knob is turned."""
        return knob in self.turned

    def levels(self, knob: str, levels: Sequence[str]) -> tuple[str, ...]:
        """Those of the levels that are used."""
        return tuple(levels) if self.turns(knob) else tuple(levels[:1])

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def measure(similarity: str, statistic: str) -> Measure:
    """The measure that a statistic named by nearness stands for.

    The nearest attribute is the one with the largest similarity, or with the smallest distance.

    >>> str(measure("cosine", "nearest")), str(measure("euclidean", "nearest"))
    ('cosine/max', 'euclidean/min')
    """
    if statistic not in ("nearest", "farthest"):
        STATISTICS.get(statistic)
        return Measure(similarity, statistic)
    is_similarity = SIMILARITIES.get(similarity).orientation == 1
    return Measure(similarity, "max" if (statistic == "nearest") == is_similarity else "min")
