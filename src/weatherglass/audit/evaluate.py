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
from weatherglass.metrics.base import Context, Measurement, Metric
from weatherglass.metrics.nulls import Effort, Exchange, Null
from weatherglass.metrics.sets import VectorSet, check, matrix
from weatherglass.runs.judge import is_small, power_fields
from weatherglass.runs.results import NO_P, Result, plain_value

if TYPE_CHECKING:
    from weatherglass.metrics.weat.covariance import Covariance
    from weatherglass.metrics.weat.measure import Measure


def associate(
    X: ArrayLike,
    Y: ArrayLike,
    A: ArrayLike,
    B: ArrayLike,
    measure: str | Measure | Metric = DEFAULT_METRIC,
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
    chosen = chosen_settings(settings, changes, associate)
    metrics = under_profile(select_metrics([measure]), chosen.profile)
    if len(metrics) != 1:
        raise UnitError(f"measure '{measure}' stands for {len(metrics)} metrics; name one of them")
    if not metrics[0].shape.fits(2, 2):
        raise UnitError(f"{metrics[0].name} takes {metrics[0].shape}; associate has 2 and 2")
    check_profiles(metrics, chosen)
    rows = [(role, matrix(role, given)) for role, given in zip("XYAB", (X, Y, A, B), strict=True)]
    sets = [VectorSet(role, vectors, _row_names(role, len(vectors))) for role, vectors in rows]
    return evaluate_sets(sets, metrics[0], chosen)


def evaluate_sets(sets: Sequence[VectorSet], metric: Metric, settings: Settings) -> Result:
    """One metric on sets that stand for themselves, without model or test."""
    check(sets)
    covariances = _covariances(sets, settings.covariance) if metric.whitened else None
    result = next(evaluate(sets, [metric], settings, covariances))
    return replace(result, small=is_small(result, settings.smallest))


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
    notes = {"details": plain_value(measurement.details)} if measurement.details else {}
    exchange = measurement.exchange.get(settings.permute)
    if exchange is None:
        return _recomputed(metric, measurement, settings, key | measured | {"notes": notes})
    key |= {"alternative": exchange.tail(settings.alternative), "ddof": exchange.ddof}
    tested = exchange.test(settings.alternative, _effort(settings))
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
        p_elements=elements.test(settings.alternative, _effort(settings)).p_value if in_sentences else None,
        effect_size_elements=_plain(elements.effect_size(elements.x, elements.y)) if in_sentences else None,
        notes=notes if signed is None else {"profile": {"signed_effect_size": _plain(signed)}},
    )
    return _with_trust(result, measurement, exchange, settings) if settings.trusts(metric) else result


def _effort(settings: Settings, inner: bool = False, rough: bool = False) -> Effort:
    budget = INNER_BUDGET if inner else settings.budget
    precision = max(settings.precision, ROUGH) if rough else settings.precision
    return Effort(settings.significance, budget, precision, settings.seed, inner)


def _recomputed(
    metric: Metric, measurement: Measurement, settings: Settings, fields: dict[str, Any]
) -> Result:
    """The result of a metric whose value is computed anew for other labels and without single words."""
    null, tail = measurement.null, settings.alternative
    if null is None or math.isnan(measurement.value):
        reason = f"the metric exchanges no {settings.permute}" if null is None else "the value is not defined"
        return Result(**fields, **asdict(_no_test(reason)))
    tested = null.test(tail, _effort(settings))
    units_x, units_y = null.units
    result = Result(
        **{**fields, "alternative": null.tail(tail)}, **asdict(tested), units_x=units_x, units_y=units_y
    )
    recomputing = measurement.recomputing
    if recomputing is None or not settings.trusts(metric):
        return result
    from weatherglass.inference.recomputed import leave_each_out
    from weatherglass.inference.trust import NULL_LEVELS, trust_of_recomputed

    two_sided = _two_sided_p(result, null, settings) if null.tail("two-sided") == "two-sided" else None
    without = leave_each_out(
        result.value,
        result.unbiased,
        recomputing,
        result.p_value,
        two_sided,
        lambda left: left.test(tail, _effort(settings, inner=True)).p_value,
        settings.alpha,
    )
    these, such = (without.these, without.such) if settings.ci != "none" else (None, None)
    quantiles = null.quantiles(NULL_LEVELS, _effort(settings))
    return replace(
        result,
        ci_low=these[0] if these else None,
        ci_high=these[1] if these else None,
        ci_attr_low=such[0] if such else None,
        ci_attr_high=such[1] if such else None,
        trust=trust_of_recomputed(without, quantiles, settings.alpha),
    )


MEASURED = (
    *("value", "unbiased", "signed", "is_effect_size", "test_statistic"),
    *("target_sizes", "attribute_sizes", "scores", "leans"),
)
"""What a result keeps of a measurement."""
INNER_BUDGET = Budget(seconds=0.01)
"""For p without a word or template: there are many, so bounds within 1 % do where counting takes longer."""
ROUGH = 0.1
"""The relative width of bounds of p that only say whether it is below alpha; far less work than 1 %."""


def _no_test(reason: str) -> Significance:
    return Significance(math.nan, None, None, f"{NO_P}{reason}", math.nan, False, math.nan)


def _with_trust(result: Result, measurement: Measurement, exchange: Exchange, settings: Settings) -> Result:
    """The result with both readings, its leave-one-out effects and the null distribution beside it."""
    from weatherglass.inference.trust import assess

    if measurement.samples is None:
        return result
    samples = measurement.samples()
    assessment = assess(
        samples.whole,
        result.p_value,
        _two_sided_p(result, exchange, settings),
        lambda x, y, rough: replace(exchange, x=x, y=y).test(
            settings.alternative, _effort(settings, inner=True, rough=rough)
        ),
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
        **power_fields(result, settings.alpha),
    )


def _two_sided_p(result: Result, null: Null, settings: Settings) -> float:
    """The exact two-sided p, which the interval agrees with whatever tail and method were asked for."""
    as_reported = not isinstance(null, Exchange) or (
        null.significance is None and settings.significance in ("auto", "exact")
    )
    if result.alternative == "two-sided" and as_reported:
        return result.p_value
    effort = replace(_effort(settings), method="auto")
    tested = null.exact("two-sided", effort) if isinstance(null, Exchange) else null.test("two-sided", effort)
    return tested.p_value


def _plain(d: float) -> float | None:
    return None if math.isnan(d) else d
