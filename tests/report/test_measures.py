"""The map of measures and the spread lines: what they say of results that are given."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest
from tests.messages import in_order, mentions
from tests.report.made_up import made_up_run
from tests.results import made_result

from weatherglass.audit.results import Result
from weatherglass.audit.stored import read_run
from weatherglass.catalogue import load_tests
from weatherglass.metrics.weat.association import select_associations
from weatherglass.report.figures import write_figures
from weatherglass.report.measures import MetricSpread, measure_map, spreads


def result(test: str, measure: str, d: float, mark: str = "") -> Result:
    return made_result(test=test, metric=measure, effect_size=d, outcome=mark or None, marked=bool(mark))


def test_a_spread_reads_as_a_sentence() -> None:
    assert re.search(in_order("weat7", 0.2, 1.1, "9 of 20"), str(MetricSpread("weat7", 0.2, 1.1, 9, 20)))
    negative = str(MetricSpread("weat7", -0.61, -0.01, 0, 2))
    assert re.search(in_order("weat7", "−0.6", "0.0", "0 of 2"), negative)
    assert "−0.0" not in negative


def test_a_spread_reaches_from_the_least_to_the_greatest_d() -> None:
    ranges = spreads(
        [
            result("weat1", "cosine/mean", 1.5, "robust"),
            result("weat2", "cosine/mean", 0.3),
            result("weat1", "dot/mean", -0.4),
            result("weat1", "dot/min", 0.9, "limited"),
            result("weat2", "dot/min", math.nan),
        ]
    )
    assert ranges == [MetricSpread("weat1", -0.4, 1.5, 2, 3), MetricSpread("weat2", 0.3, 0.3, 0, 2)]


def test_the_sign_of_a_measure_without_direction_does_not_widen_the_spread() -> None:
    (spread,) = spreads([result("weat1", "cosine/mean", 0.5), result("weat1", "cosine/eq2", -0.7)])
    assert (spread.lowest, spread.highest) == (0.5, 0.7)


def test_a_test_without_any_d_says_so() -> None:
    (spread,) = spreads([result("weat1", "cosine/eq2", math.nan)])
    assert mentions(str(spread), "weat1", "no d", "0 of 1")


def test_the_map_shows_every_d_every_mark_and_every_spread() -> None:
    measures = [str(measure) for measure in select_associations(["azarpanah2021"])]
    results = [
        result(test, measure, number / 10 - 1, "limited" if number > 15 else "")
        for test in ("weat1", "$weat2$")
        for number, measure in enumerate(measures)
    ]
    figure = measure_map(results, "a model", "what the marks mean")
    cells, ranges = figure.axes
    texts = [text.get_text() for text in cells.texts]
    assert texts.count("−0.70") == 2
    assert texts.count("◐") == 2 * 4
    assert {"a model", "cosine", "euclidean", "manhattan", "mahalanobis"} <= set(texts)
    assert [label.get_text() for label in cells.get_yticklabels()] == ["weat1", "$weat2$"]
    assert [label.get_text() for label in cells.get_xticklabels()] == [
        "mean",
        "median",
        "min",
        "max",
        "eq2",
    ] * 4
    assert len(ranges.texts) >= 2
    for text in ranges.texts[:2]:
        assert re.search(in_order("−1.0", 0.9, "4 of 20"), text.get_text())


def test_the_map_of_a_published_procedure_has_its_marks_and_its_measures() -> None:
    """Its results have no outcome, and their metric names the profile."""
    results = [
        made_result(
            test="weat1", metric=f"weat({measure}, profile=azarpanah2021)", effect_size=1.0, mark=mark
        )
        for measure, mark in (("cosine/mean", "**"), ("cosine/min", ""), ("dot/mean", "*"))
    ]
    assert [spread.significant for spread in spreads(results)] == [0]
    assert [spread.significant for spread in spreads(results, lambda r: r.mark)] == [2]
    cells, _ = measure_map(results, "a model", "", mark=lambda r: r.mark).axes
    assert [label.get_text() for label in cells.get_xticklabels()] == ["mean", "min", "mean"]
    assert {"cosine", "dot", "*", "**"} <= {text.get_text() for text in cells.texts}


@pytest.mark.parametrize("models", [["a"], ["a", "b"]])
def test_each_model_of_a_run_has_a_map(tmp_path: Path, models: list[str]) -> None:
    made_up_run(tmp_path, load_tests(["weat1"]), models, metrics=["cosine/mean", "dot/mean"])
    names = [path.name for path in write_figures([read_run(tmp_path)], tmp_path, "png")]
    assert [name for name in names if name.startswith("measures")] == (
        ["measures.png"] if len(models) == 1 else ["measures-1.png", "measures-2.png"]
    )
