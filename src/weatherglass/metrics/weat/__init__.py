"""The Word Embedding Association Test: similarity × statistic, effect size, covariance (docs/methods 1 and 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weatherglass.lazy import lazy_names

if TYPE_CHECKING:
    from weatherglass.metrics.weat.covariance import ESTIMATORS as ESTIMATORS
    from weatherglass.metrics.weat.covariance import Covariance as Covariance
    from weatherglass.metrics.weat.covariance import estimate_covariance as estimate_covariance
    from weatherglass.metrics.weat.effect import effect_size as effect_size
    from weatherglass.metrics.weat.measure import SIMILARITIES as SIMILARITIES
    from weatherglass.metrics.weat.measure import STATISTICS as STATISTICS
    from weatherglass.metrics.weat.measure import Measure as Measure
    from weatherglass.metrics.weat.measure import select_measures as select_measures
    from weatherglass.metrics.weat.score import associations as associations
    from weatherglass.metrics.weat.similarity import Similarity as Similarity
    from weatherglass.metrics.weat.statistic import PairStatistic as PairStatistic
    from weatherglass.metrics.weat.statistic import SetStatistic as SetStatistic

_PLACES = {
    "SIMILARITIES": "measure",
    "STATISTICS": "measure",
    "ESTIMATORS": "covariance",
    "Similarity": "similarity",
    "SetStatistic": "statistic",
    "PairStatistic": "statistic",
    "Measure": "measure",
    "select_measures": "measure",
    "Covariance": "covariance",
    "estimate_covariance": "covariance",
    "associations": "score",
    "effect_size": "effect",
}
__all__ = list(_PLACES)
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
