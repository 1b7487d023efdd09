"""From vectors to a Result: a metric measures, then p, intervals and what the number hangs on (docs/methods 1 to 3)."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from weatherglass.audit.profile import check_profiles, under_profile
from weatherglass.audit.settings import Settings
from weatherglass.catalogue.association_test import Element
from weatherglass.errors import UnitError
from weatherglass.inference.significance.base import Significance
from weatherglass.metrics import DEFAULT_METRIC, select_metrics
from weatherglass.metrics.base import Context, Exchange, Measurement, Metric
from weatherglass.metrics.sets import VectorSet, check, matrix
from weatherglass.runs.results import NO_P, Result

if TYPE_CHECKING:
    from weatherglass.metrics.weat.covariance import Covariance


def associate(
    X: ArrayLike,
    Y: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    measure: str | Metric = DEFAULT_METRIC,
    settings: Settings | None = None,
    **changes: Any,
) -> Result:
    """Test whether the rows of X lean to A, and those of Y to B, more than exchanged labels would.

    Args:
        X: target vectors, one row each; Y, A and B likewise. Equal rows are allowed, X and Y may differ in size.
        measure: `similarity/statistic`, such as "cosine/mean", or a metric that takes four sets.
        settings: how to test; see `Settings`.
        changes: fields of the settings by name, such as alternative="two-sided" or trust="all".

    Returns:
        A Result without model or test name, with the scores of every row.

    Example:
        >>> import numpy as np
        >>> X, Y = np.array([[1.0, 0.1], [1.0, 0.2]]), np.array([[0.1, 1.0], [0.3, 1.0]])
        >>> result = associate(X, Y, A=[[1.0, 0.0]], B=[[0.0, 1.0]])
        >>> round(result.effect_size, 3), round(result.p_value, 3), result.p_method
        (1.722, 0.167, 'enumerate')
    """
    chosen = (settings or Settings(trust="none")).changed(**changes)
    metrics = under_profile(select_metrics([measure]), chosen.profile)
    if len(metrics) != 1:
        raise UnitError(f"measure '{measure}' stands for {len(metrics)} metrics; name one of them")
    if not metrics[0].shape.fits(2, 2):
        raise UnitError(f"{metrics[0].name} takes {metrics[0].shape}; associate has 2 and 2")
    check_profiles(metrics, chosen)
    rows = [(role, matrix(role, given)) for role, given in zip("XYAB", (X, Y, A, B), strict=True)]
    sets = [VectorSet(role, vectors, _row_names(role, len(vectors))) for role, vectors in rows]
    check(sets)
    covariances = _covariances(sets, chosen.covariance) if metrics[0].whitened else None
    return next(evaluate(sets, metrics, chosen, covariances))


def _row_names(role: str, number: int) -> tuple[Element, ...]:
    """Each row is a word of its own: X[0], X[1], …"""
    return tuple(Element(name, name) for name in (f"{role}[{row}]" for row in range(number)))


def _covariances(sets: Sequence[VectorSet], estimator: str) -> tuple[Covariance, Covariance]:
    """Those of A and B."""
    from weatherglass.metrics.weat.covariance import estimate_covariance

    _, _, a, b = sets
    return estimate_covariance(a.vectors, estimator), estimate_covariance(b.vectors, estimator)


def evaluate(
    sets: Sequence[VectorSet],
    metrics: Sequence[Metric],
    settings: Settings,
    covariances: tuple[Covariance, Covariance] | None = None,
) -> Iterator[Result]:
    """One Result per metric; what the metrics share is computed once."""
    check(sets)
    started = time.perf_counter()
    context = Context(metrics, settings.permute, settings.ddof, covariances)
    for metric in metrics:
        measurement = metric.measure(sets, context)
        result = _result(metric, measurement, settings)
        if measurement.sample and settings.trusts(metric):
            result = _with_trust(result, measurement, settings)
        if covariances and metric.whitened:
            a, b = covariances
            result = replace(result, notes={**result.notes, "covariance": {"A": a.record(), "B": b.record()}})
        now = time.perf_counter()
        yield replace(result, seconds=round(now - started, 6))
        started = now


def _result(metric: Metric, measurement: Measurement, settings: Settings) -> Result:
    """The measurement with p; a metric whose null exchanges nothing has none."""
    key: dict[str, Any] = {
        "metric": metric.name,
        "permute": settings.permute,
        "alternative": settings.alternative,
        "ddof": settings.ddof,
    }
    measured = {name: getattr(measurement, name) for name in MEASURED}
    exchange = measurement.exchange.get(settings.permute)
    if exchange is None:
        return Result(**key, **measured, **asdict(_no_test(settings.permute)))
    key |= {"alternative": exchange.tail(settings.alternative), "ddof": exchange.ddof}
    tested = _test(exchange, settings)
    words = measurement.exchange.get("words")
    if words is not None and len(words.x) + len(words.y) == len(measurement.scores):
        words = None  # every element is a word: there is nothing to add
    signed = exchange.signed_effect_size
    return Result(
        **key,
        **measured,
        **asdict(tested),
        p_words=_test(words, settings).p_value if words else None,
        effect_size_words=words.effect_size(words.x, words.y) if words else None,
        notes={} if signed is None else {"profile": {"signed_effect_size": _plain(signed)}},
    )


MEASURED = (
    *("value", "unbiased", "signed", "is_effect_size", "test_statistic"),
    *("target_sizes", "attribute_sizes", "scores"),
)
"""What a result keeps of a measurement."""


def _no_test(unit: str) -> Significance:
    reason = f"{NO_P}the metric exchanges no {unit}"
    return Significance(math.nan, None, None, reason, math.nan, False, math.nan)


def _with_trust(result: Result, measurement: Measurement, settings: Settings) -> Result:
    """The result with its interval, its leave-one-out effects and the null distribution beside it."""
    from weatherglass.inference.trust import assess

    assert measurement.sample is not None
    sample, names = measurement.sample()
    d = result.signed_effect_size
    exchange = measurement.exchange[settings.permute]
    trust = assess(
        sample,
        names,
        d,
        settings.resamples,
        settings.seed,
        lambda x, y: _test(replace(exchange, x=x, y=y), settings).p_value,
        result.p_value,
    )
    interval = trust.interval
    ends = (interval.bca_low, interval.bca_high) if interval else (None, None)
    if result.effect_size != d and interval:  # |d| was asked for, and d is negative
        ends = (-interval.bca_high, -interval.bca_low)
    return replace(result, ci_low=ends[0], ci_high=ends[1], trust=trust)


def _plain(d: float) -> float | None:
    return None if math.isnan(d) else d


def _test(exchange: Exchange, settings: Settings) -> Significance:
    from weatherglass.inference.significance import permutation_test

    rng = np.random.default_rng(settings.seed)
    if exchange.significance:
        return exchange.significance(exchange.x, exchange.y, exchange.tail(settings.alternative), rng)
    return permutation_test(
        exchange.x,
        exchange.y,
        method=settings.significance,
        alternative=settings.alternative,
        budget=settings.budget,
        precision=settings.precision,
        rng=rng,
    )
