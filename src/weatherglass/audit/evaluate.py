"""From vectors to a Result: a metric measures, then p, intervals and what the number hangs on (docs/methods 1 to 3)."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from weatherglass.audit.profile import check_profiles, chosen_settings, under_profile
from weatherglass.audit.settings import Settings
from weatherglass.catalogue.test import Element
from weatherglass.errors import UnitError
from weatherglass.inference.significance.base import Budget, Significance
from weatherglass.metrics import DEFAULT_METRIC, select_metrics
from weatherglass.metrics.base import Context, Exchange, Measurement, Metric
from weatherglass.metrics.sets import VectorSet, check, matrix
from weatherglass.runs.judge import is_small
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
        (1.722, 0.333, 'enumerate')
    """
    chosen = chosen_settings(settings, changes)
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
    result = next(evaluate(sets, metrics, chosen, covariances))
    return replace(result, small=is_small(result, chosen.smallest))


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
    elements = measurement.exchange["elements"]
    # Sentences of the attribute words alone change the scores, too, but not how many there are.
    in_sentences = not (np.array_equal(exchange.x, elements.x) and np.array_equal(exchange.y, elements.y))
    signed = exchange.signed_effect_size
    result = Result(
        **key,
        **measured,
        **asdict(tested),
        units_x=len(exchange.x),
        units_y=len(exchange.y),
        p_elements=_test(elements, settings).p_value if in_sentences else None,
        effect_size_elements=_plain(elements.effect_size(elements.x, elements.y)) if in_sentences else None,
        notes={} if signed is None else {"profile": {"signed_effect_size": _plain(signed)}},
    )
    return _with_trust(result, measurement, exchange, settings) if settings.trusts(metric) else result


MEASURED = (
    *("value", "unbiased", "signed", "is_effect_size", "test_statistic"),
    *("target_sizes", "attribute_sizes", "scores"),
)
"""What a result keeps of a measurement."""
INNER_BUDGET = Budget(seconds=0.01)
"""For p without a word or template: there are many, so bounds within 1 % do where counting takes longer."""


def _no_test(unit: str) -> Significance:
    reason = f"{NO_P}the metric exchanges no {unit}"
    return Significance(math.nan, None, None, reason, math.nan, False, math.nan)


def _with_trust(result: Result, measurement: Measurement, exchange: Exchange, settings: Settings) -> Result:
    """The result with both readings, its leave-one-out effects and the null distribution beside it."""
    from weatherglass.inference.trust import assess

    if measurement.samples is None:
        return result
    samples = measurement.samples()
    inner = replace(settings, budget=INNER_BUDGET)
    assessment = assess(
        samples.whole,
        result.p_value,
        _two_sided_p(result, exchange, settings),
        lambda x, y: _test(replace(exchange, x=x, y=y), inner).p_value,
        samples.without_templates,
        alpha=settings.alpha,
        ci=settings.ci,
        seed=settings.seed,
    )
    these, such, trust = assessment.these, assessment.such, assessment.trust
    ends = (
        (these.interval.low, these.interval.high) if these.interval and settings.ci == "jackknife" else None
    )
    if trust.bootstrap:
        ends = (trust.bootstrap.bca_low, trust.bootstrap.bca_high)
    such_ends = (such.interval.low, such.interval.high) if such.interval and settings.ci != "none" else None
    d_such = such.effect_size
    if result.effect_size != result.signed_effect_size:  # |d| was asked for, and d is negative
        ends, such_ends = (turned and (-turned[1], -turned[0]) for turned in (ends, such_ends))
        d_such = None if d_such is None else -d_such
    return replace(
        result,
        ci_low=ends[0] if ends else None,
        ci_high=ends[1] if ends else None,
        p_attr=such.p,
        effect_size_attr=d_such,
        ci_attr_low=such_ends[0] if such_ends else None,
        ci_attr_high=such_ends[1] if such_ends else None,
        score_reliability=such.score_reliability,
        trust=trust,
    )


def _two_sided_p(result: Result, exchange: Exchange, settings: Settings) -> float:
    """The exact two-sided p, which the interval agrees with whatever tail and method were asked for."""
    from weatherglass.inference.significance import permutation_test

    exact = exchange.significance is None and settings.significance in ("auto", "exact")
    if result.alternative == "two-sided" and exact:
        return result.p_value
    return permutation_test(
        exchange.x, exchange.y, alternative="two-sided", budget=settings.budget, precision=settings.precision
    ).p_value


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
