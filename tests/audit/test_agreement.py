"""Models ranked by each metric, and how alike the rankings are."""

from __future__ import annotations

import math

import pytest
from tests.results import info_of, made_result, other_info

from weatherglass.audit.agreement import metric_agreement
from weatherglass.audit.results import Result


def row(
    model: str, test: str, metric: str, value: float, unbiased: float = 0.0, sets: str = "X Y A B"
) -> Result:
    effect = metric == "cosine/mean"
    return made_result(
        effect_size=value,
        model=model,
        test=test,
        metric=metric,
        info=info_of(metric) if effect else other_info(unbiased=unbiased),
        sets=sets,
    )


def test_models_are_ranked_by_their_distance_from_no_bias() -> None:
    results = [
        row("low", "one", "cosine/mean", -0.1),
        row("high", "one", "cosine/mean", -1.5),
        row("low", "one", "mac", 0.4, unbiased=1.0),
        row("high", "one", "mac", 0.9, unbiased=1.0),
        row("low", "two", "cosine/mean", 0.2),
        row("high", "two", "cosine/mean", 0.8),
        row("low", "two", "mac", 1.5, unbiased=1.0),
        row("high", "two", "mac", 1.0, unbiased=1.0),
        row("low", "three", "cosine/mean", 1.9),  # mac lacks it, so it does not count
    ]
    agreement = metric_agreement(results)
    assert agreement is not None
    assert agreement.tests == 2
    by_metric = {ranking.metric: ranking for ranking in agreement.rankings}
    assert by_metric["cosine/mean"].models == ("high", "low")
    assert by_metric["cosine/mean"].sizes == pytest.approx((1.15, 0.15))
    assert by_metric["mac"].models == ("low", "high")
    assert by_metric["mac"].sizes == pytest.approx((0.55, 0.05))
    assert agreement.why_no_tau
    assert agreement.disagreeing() == []
    assert math.isnan(agreement.pairs[0].of_tests)


def test_five_tests_have_a_tau_of_models_and_of_tests() -> None:
    results = []
    for number in range(1, 6):
        for model, factor in (("low", 0.1), ("high", 0.3)):
            results.append(row(model, f"t{number}", "cosine/mean", factor * number))
            results.append(row(model, f"t{number}", "mac", 1 - number / (100 * factor), unbiased=1.0))
    agreement = metric_agreement(results)
    assert agreement is not None
    assert agreement.why_no_tau == ""
    (pair,) = agreement.disagreeing()
    assert pair.metrics == ("cosine/mean", "mac")
    assert pair.of_models is not None
    assert pair.of_models.tau == -1  # models in opposite order, tests in the same
    assert pair.of_tests == 1


def test_the_parts_of_a_test_count_once() -> None:
    results = [
        row("m", "one", "cosine/mean", 1.0),
        row("m", "one", "rnd", 1.0, sets="X Y A"),
        row("m", "one", "rnd", -3.0, sets="X Y B"),
    ]
    agreement = metric_agreement(results)
    assert agreement is not None
    assert agreement.rankings[1].sizes == (2.0,)
    assert agreement.pairs[0].of_models is None


def test_one_metric_has_nothing_to_agree_with() -> None:
    assert metric_agreement([row("m", "one", "mac", 1.0)]) is None
