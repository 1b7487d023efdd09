"""Metrics as values: their spellings, which tests they fit, and several profiles of one metric in a run."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from tests.messages import naming
from tests.models import HashedEncoder

import weatherglass as wg
from weatherglass.audit.stored import read_run
from weatherglass.catalogue.test import Test
from weatherglass.errors import UnitError, UnknownNameError, WeatherglassError
from weatherglass.metrics import METRICS, select_metrics
from weatherglass.metrics.base import (
    AT_LEAST_ONE,
    AT_LEAST_TWO,
    Context,
    Estimate,
    MetricInfo,
    Shape,
    exactly,
)
from weatherglass.metrics.sets import VectorSet
from weatherglass.metrics.weat.association import SIMILARITIES, STATISTICS, Association
from weatherglass.metrics.weat.metric import Weat


def names(*patterns: str) -> list[str]:
    return [metric.name for metric in select_metrics(patterns)]


@pytest.mark.parametrize(
    ("spelling", "name"),
    [
        ("weat", "cosine/mean"),
        ("weat()", "cosine/mean"),
        ("cosine/mean", "cosine/mean"),
        ("weat(cosine/mean)", "cosine/mean"),
        (" weat( dot/eq2 ) ", "dot/eq2"),
        ("weat(cosine/mean, profile=wefe)", "weat(cosine/mean, profile=wefe)"),
        ("weat(profile=wefe)", "weat(cosine/mean, profile=wefe)"),
        ("weat( profile = wefe , dot/mean )", "weat(dot/mean, profile=wefe)"),
    ],
)
def test_a_metric_has_several_spellings_and_one_name(spelling: str, name: str) -> None:
    (metric,) = select_metrics([spelling])
    assert metric.name == str(metric) == name
    assert select_metrics([name]) == [metric]  # the name is a spelling of the same value
    assert len({metric, *select_metrics([name])}) == 1


def test_globs_stand_for_every_measure_that_they_match() -> None:
    similarities, statistics = SIMILARITIES.names(), STATISTICS.names()
    assert names("*/mean") == [f"{similarity}/mean" for similarity in similarities]
    assert names("dot/*") == [f"dot/{statistic}" for statistic in statistics]
    assert len(names("*/*")) == len(similarities) * len(statistics)
    assert names("weat(cosine/m[ae]*, profile=wefe)") == [
        f"weat(cosine/{statistic}, profile=wefe)" for statistic in statistics if statistic[:2] in ("ma", "me")
    ]
    assert names("*") == [metric.name for family in METRICS.names() for metric in METRICS.get(family)([], {})]


def test_each_is_selected_once_in_the_order_first_asked_for() -> None:
    assert names("dot/mean", "weat", "cosine/mean", "weat(dot/mean)") == ["dot/mean", "cosine/mean"]
    assert select_metrics([Weat(), "cosine/mean"]) == [Weat()]


@pytest.mark.parametrize(
    ("spelling", "message"),
    [
        ("waet", naming("metric", "waet", suggesting="weat")),
        ("cosine/meen", naming("cosine/meen", suggesting="cosine/mean")),
        ("weat(cosin/mean)", naming("cosin/mean", suggesting="cosine/mean")),
        ("weat(cosine/mean, profile=weef)", naming("profile", "weef", suggesting="wefe")),
        ("weat(cosine/mean, profil=wefe)", naming("weat", "profil", suggesting="profile")),
        ("nothing*", naming("metric", "nothing*")),
    ],
)
def test_what_is_no_metric_is_answered_with_the_nearest(spelling: str, message: str) -> None:
    with pytest.raises(WeatherglassError, match=message) as refused:
        select_metrics([spelling])
    assert "\n" not in str(refused.value)
    assert isinstance(refused.value, UnknownNameError) is ("profil=" not in spelling)


def test_a_shape_says_what_it_takes() -> None:
    assert re.findall(r"(\d) (target|attribute)", str(Weat().info.shape)) == [
        ("2", "target"),
        ("2", "attribute"),
    ]
    shape = Shape(AT_LEAST_ONE, AT_LEAST_TWO)
    assert re.findall(r"(\d) (target|attribute)", str(shape)) == [("1", "target"), ("2", "attribute")]
    assert str(shape) != str(Shape(exactly(1), exactly(2)))
    assert shape.fits(1, 2)
    assert shape.fits(5, 9)
    assert not shape.fits(0, 2)
    assert not shape.fits(1, 1)
    assert not Shape(exactly(2), exactly(2)).fits(2, 3)


@dataclass(frozen=True)
class Centroid:
    """How far the centres of one target and one attribute set are apart: another shape, and no p."""

    name: str = "centroid"
    info: ClassVar[MetricInfo] = MetricInfo(shape=Shape(exactly(3), exactly(1)), signed=False)

    def texts(self, test: Test) -> tuple[str, ...]:
        del test
        return ()

    def evaluate(self, sets: Sequence[VectorSet], context: Context) -> Estimate:
        del context
        apart = float(np.linalg.norm(sets[0].vectors.mean(axis=0) - sets[1].vectors.mean(axis=0)))
        sizes = (len(sets[0]),), (len(sets[1]),)
        return Estimate(
            info=self.info,
            value=apart,
            test_statistic=apart,
            target_sizes=sizes[0],
            attribute_sizes=sizes[1],
        )


def test_a_metric_whose_shape_no_test_has_is_refused_before_any_work() -> None:
    shape = str(Centroid.info.shape)
    with pytest.raises(WeatherglassError, match=naming("centroid", shape, "2 and 2", "none")):
        wg.run(HashedEncoder(), ["weat7", "weat8"], [Weat(), Centroid()], trust="none")
    with pytest.raises(UnitError, match=naming("centroid", shape, "associate", "2 of each")):
        wg.associate(np.eye(2), np.eye(2), np.eye(2), np.eye(2), measure=Centroid())


def test_two_profiles_of_weat_stand_side_by_side_in_one_run(tmp_path: Path) -> None:
    """wefe divides by n, may2019 by n - 1, as docs/profiles.md says; each is what it is alone."""
    metrics = ["weat", "weat(profile=wefe)", "weat(cosine/mean, profile=may2019)"]
    published = {"permute": "elements", "alternative": "greater", "alpha": 0.01}
    run = wg.run(HashedEncoder(), "weat7", metrics, folder=tmp_path, **published)  # type: ignore[arg-type]
    assert not run.failures
    plain, wefe, may = run.results
    assert [result.metric for result in run.results] == [
        "cosine/mean",
        "weat(cosine/mean, profile=wefe)",
        "weat(cosine/mean, profile=may2019)",
    ]
    assert [result.ddof for result in run.results] == [1, 0, 1]
    assert wefe.effect_size == pytest.approx(plain.effect_size * np.sqrt(16 / 15))  # 8 + 8 scores
    assert may.effect_size == pytest.approx(plain.effect_size)
    assert read_run(tmp_path).results == run.results
    for profile, together in (("wefe", wefe), ("may2019", may)):
        (alone,) = wg.run(HashedEncoder(), "weat7", profile=profile).results
        assert replace(alone, seconds=0.0) == replace(together, seconds=0.0)
    named = [warning.values["profile"] for warning in run.warnings if warning.kind == "profile"]
    assert named == ["wefe", "may2019"]


def test_a_metric_of_its_own_profile_keeps_it_under_another() -> None:
    own = Weat(Association("cosine", "mean"), profile="may2019")
    run = wg.run(HashedEncoder(), "weat7", [own, "dot/mean"], profile="wefe", trust="none")
    assert [result.metric for result in run.results] == [
        "weat(cosine/mean, profile=may2019)",
        "weat(dot/mean, profile=wefe)",
    ]


@pytest.mark.parametrize("name", METRICS.names())
def test_what_a_metric_declares_is_read_back_and_agrees_with_what_it_gives(name: str) -> None:
    for metric in select_metrics([name]):
        info = metric.info
        assert MetricInfo.from_json(json.loads(json.dumps(info.to_json()))) == info
        assert all((info.summary, info.direction, info.source))
        counts = [count.least for count in (info.shape.targets, info.shape.attributes)]
        rng = np.random.default_rng(1)
        # Of log-probabilities, a row has a column for each attribute word.
        width = 5 if info.needs == "vectors" else 4 * max(1, counts[1])
        sets = [rng.standard_normal((4, width)) for _ in range(sum(counts))]
        result = wg.measure(metric, sets[: counts[0]], sets[counts[0] :])
        assert bool(result.why_no_p) == (not info.exchanges)
        assert info.bounds[0] <= result.value <= info.bounds[1]
        assert math.isnan(result.effect_size) != info.poolable
        assert (result.lean is None) != info.signed


@pytest.mark.parametrize(
    "damage",
    [
        {"decimals": "2"},
        {"decimals": 10**9},
        {"signed": 1},
        {"symbol": None},
        {"colour": "red"},
        {"bounds": 3},
    ],
)
def test_a_declaration_that_is_not_one_is_refused_when_it_is_read(damage: dict[str, object]) -> None:
    with pytest.raises((TypeError, ValueError)):
        MetricInfo.from_json({**Weat().info.to_json(), **damage})


def test_a_metric_that_needs_what_no_model_gives_is_refused_by_name() -> None:
    @dataclass(frozen=True)
    class Listening(Centroid):
        info: ClassVar[MetricInfo] = replace(Centroid.info, needs="sounds")

    with pytest.raises(WeatherglassError, match=naming("centroid", "sounds", "vectors")):
        select_metrics([Listening()])
