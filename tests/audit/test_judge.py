"""Correction, published marks and floors."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from tests.messages import in_order, naming
from tests.models import HashedEncoder
from tests.results import made_result

import weatherglass as wg
from weatherglass.audit.evaluate import associate
from weatherglass.audit.judge import family_sizes, judge
from weatherglass.audit.results import NO_DIRECTION, ElementScore, Result
from weatherglass.audit.settings import Settings
from weatherglass.errors import UnknownNameError, WeatherglassError


def with_p(p: float, metric: str = "cosine/mean", floor: float = 1e-9) -> Result:
    return made_result(p, metric=metric, p_floor=floor)


def test_marks_follow_holm_worked_by_hand() -> None:
    """alpha 0.05, N 4: 0.01 ≤ 0.05/4, 0.02 > 0.05/3, so one is rejected; 0.03 and 0.02 are below alpha alone."""
    judged = judge(
        [with_p(0.03), with_p(0.01), with_p(0.2), with_p(0.02)], Settings(correction="holm", alpha=0.05)
    )
    assert [result.mark for result in judged] == ["*", "**", "", "*"]
    assert [result.p_adjusted for result in judged] == pytest.approx([0.06, 0.04, 0.2, 0.06])


def test_each_measure_is_a_family_of_its_own() -> None:
    results = [with_p(0.01), with_p(0.01, metric="dot/mean"), with_p(0.5, metric="dot/mean")]
    assert family_sizes(results) == {"cosine/mean": 1, "dot/mean": 2}
    assert [result.p_adjusted for result in judge(results, Settings())] == pytest.approx([0.01, 0.02, 0.5])


def test_a_stated_family_counts_tests_that_are_not_at_hand() -> None:
    """May et al.: the floor of 8 + 8, 7.8e-5, is * in a family of 644 and ** in one of 46 (docs/methods 4)."""
    p = 1 / 12870
    assert judge([with_p(p)], Settings(correction="holm", alpha=0.01, family=46))[0].mark == "**"
    assert judge([with_p(p)], Settings(correction="holm", alpha=0.01, family=644))[0].mark == "*"


@pytest.mark.parametrize("permute", ["words", "elements"])
def test_westfall_young_adjusts_the_p_of_the_unit_in_use(permute: str) -> None:
    """A family of one is not adjusted; before, p by elements was replaced by one of words, or by one from draws."""
    tests = ["sent-weat6", "weat1"]
    for test in tests:
        (result,) = wg.run(
            HashedEncoder(), tests=test, permute=permute, correction="westfall-young", trust="none"
        ).results
        assert result.p_adjusted == result.p_value


def test_westfall_young_over_sentences_is_counted_by_hand() -> None:
    """Two tests of the same 6 + 6 sentences (3 + 3 words): the share of 924 labellings whose larger |d| reaches."""
    rng = np.random.default_rng(5)
    tests, columns = [], []
    for name in ("first", "second"):
        scores = rng.normal(size=12)
        scores[:6] += 0.8
        elements = tuple(
            ElementScore("XY"[i // 6], f"sentence {i}", f"word {i // 2}", None, float(score))
            for i, score in enumerate(scores)
        )
        tests.append(replace(made_result(0.001), test=name, permute="elements", scores=elements))
        columns.append((scores - scores.mean()) / scores.std())
    judged = judge(
        [replace(test, alternative="two-sided") for test in tests],
        Settings(correction="westfall-young", alpha=0.05),
    )
    z = np.array(columns)
    largest = [np.abs(z[:, list(chosen)].sum(axis=1)).max() for chosen in combinations(range(12), 6)]
    for result, own in zip(judged, z, strict=True):
        assert result.p_adjusted == pytest.approx(np.mean(np.array(largest) >= abs(own[:6].sum()) - 1e-9))


@pytest.mark.parametrize(
    ("floor", "kinds"),
    [(0.014, ["too-small"]), (0.001, []), (1e-5, [])],
)
def test_a_floor_that_is_too_high_is_said(floor: float, kinds: list[str]) -> None:
    (result,) = judge([with_p(0.5, floor=floor)], Settings(correction="holm", alpha=0.01, family=46))
    assert [warning.kind for warning in result.warnings] == kinds
    x, y = result.units()
    sizes = {"x": x, "y": y, "unit": result.permute if y else "exchangeable units"}
    assert all(w.values == {**sizes, "floor": floor, "alpha": 0.01} for w in result.warnings)


@pytest.mark.parametrize(
    ("method", "alpha", "family"), [("none", 0.01, None), ("holm", 1, None), ("holm", 0.1, 0)]
)
def test_a_correction_that_makes_no_sense_is_refused(method: str, alpha: float, family: int | None) -> None:
    with pytest.raises(WeatherglassError):
        Settings(correction=method, alpha=alpha, family=family)


def test_direction_is_said_in_words() -> None:
    """Only where the interval leaves out 0 (docs/methods 10.6)."""
    X, Y = [[1.0, 0.1 * i] for i in range(6)], [[0.1 * i, 1.0] for i in range(6)]
    A, B = [[1.0, 0.0]], [[0.0, 1.0]]
    assert re.search(in_order("X", "A", "Y", "B"), associate(X, Y, A, B).direction)
    assert re.search(in_order("X", "B", "Y", "A"), associate(Y, X, A, B).direction)
    assert associate(X[:2], Y[:2], A, B).direction == NO_DIRECTION
    assert associate(X, Y, A, B, trust="none").direction == NO_DIRECTION


def test_four_plus_four_elements_cannot_reach_one_percent() -> None:
    name = "angry_black_woman_stereotype_b"
    by_elements = wg.Settings(permute="elements", alpha=0.01, trust="none")  # by words it is not tested
    run = wg.run(HashedEncoder(), tests=name, settings=replace(by_elements, alternative="greater"))
    assert run.results[0].p_floor == pytest.approx(1 / 70)
    two_sided = wg.run(HashedEncoder(), tests=name, settings=by_elements)
    assert two_sided.results[0].p_floor == pytest.approx(2 / 70)
    (warning,) = (warning for warning in run.warnings if warning.kind == "too-small")
    assert (warning.subject, warning.values["alpha"]) == (name, 0.01)


def test_a_misspelt_correction_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=naming("correction", "hol", "holm, ", suggesting="holm")):
        Settings(correction="hol")
