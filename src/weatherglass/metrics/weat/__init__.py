"""Compute the Word Embedding Association Test: similarity, statistic, effect size, covariance (docs/methods 1, 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from weatherglass.lazy import lazy_names

if TYPE_CHECKING:
    from weatherglass.metrics.weat.association import SIMILARITIES as SIMILARITIES
    from weatherglass.metrics.weat.association import STATISTICS as STATISTICS
    from weatherglass.metrics.weat.association import Association as Association
    from weatherglass.metrics.weat.association import select_associations as select_associations
    from weatherglass.metrics.weat.covariance import ESTIMATORS as ESTIMATORS
    from weatherglass.metrics.weat.covariance import Covariance as Covariance
    from weatherglass.metrics.weat.covariance import estimate_covariance as estimate_covariance
    from weatherglass.metrics.weat.scores import PairStatistic as PairStatistic
    from weatherglass.metrics.weat.scores import SetStatistic as SetStatistic
    from weatherglass.metrics.weat.scores import Similarity as Similarity
    from weatherglass.metrics.weat.scores import associations as associations
    from weatherglass.metrics.weat.scores import effect_size as effect_size

_PLACES = {
    "SIMILARITIES": "association",
    "STATISTICS": "association",
    "ESTIMATORS": "covariance",
    "Similarity": "scores",
    "SetStatistic": "scores",
    "PairStatistic": "scores",
    "Association": "association",
    "select_associations": "association",
    "Covariance": "covariance",
    "estimate_covariance": "covariance",
    "associations": "scores",
    "effect_size": "scores",
}
__all__ = list(_PLACES)
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
