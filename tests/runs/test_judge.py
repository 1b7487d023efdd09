"""Correction, marks and floors."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages import in_order, mentions, naming
from tests.models import HashedEncoder
from tests.results import made_result

import weatherglass as wg
from weatherglass.audit.evaluate import associate
from weatherglass.errors import UnknownNameError, WeatherglassError
from weatherglass.manual.anchors import anchor_of
from weatherglass.runs.judge import Correction, family_sizes, judge
from weatherglass.runs.results import ElementScore, Result


def with_p(p: float, metric: str = "cosine/mean", floor: float = 1e-9) -> Result:
    return made_result(p, metric=metric, p_floor=floor)


def test_marks_follow_holm_worked_by_hand() -> None:
    """alpha 0.05, N 4: 0.01 ≤ 0.05/4, 0.02 > 0.05/3, so one is rejected; 0.03 and 0.02 are below alpha alone."""
    judged = judge([with_p(0.03), with_p(0.01), with_p(0.2), with_p(0.02)], Correction("holm", 0.05))
    assert [result.significance for result in judged] == ["*", "**", "", "*"]
    assert [result.p_adjusted for result in judged] == pytest.approx([0.06, 0.04, 0.2, 0.06])


def test_each_measure_is_a_family_of_its_own() -> None:
    results = [with_p(0.01), with_p(0.01, metric="dot/mean"), with_p(0.5, metric="dot/mean")]
    assert family_sizes(results, Correction()) == {"cosine/mean": 1, "dot/mean": 2}
    assert [result.p_adjusted for result in judge(results, Correction())] == pytest.approx([0.01, 0.02, 0.5])


def test_a_stated_family_counts_tests_that_are_not_at_hand() -> None:
    """May et al.: the floor of 8 + 8, 7.8e-5, is * in a family of 644 and ** in one of 46 (docs/methods 4)."""
    p = 1 / 12870
    assert judge([with_p(p)], Correction("holm", 0.01, 46))[0].significance == "**"
    assert judge([with_p(p)], Correction("holm", 0.01, 644))[0].significance == "*"


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
        [replace(test, alternative="two-sided") for test in tests], Correction("westfall-young", 0.05)
    )
    z = np.array(columns)
    largest = [np.abs(z[:, list(chosen)].sum(axis=1)).max() for chosen in combinations(range(12), 6)]
    for result, own in zip(judged, z, strict=True):
        assert result.p_adjusted == pytest.approx(np.mean(np.array(largest) >= abs(own[:6].sum()) - 1e-9))


@pytest.mark.parametrize(
    ("floor", "anchors", "named"),
    [
        (0.014, ["too-small"], ("0.014", 0.01)),
        (0.001, ["cannot-survive"], ("0.001", "46 tests", 0.01)),
        (1e-5, [], ()),
    ],
)
def test_a_floor_that_is_too_high_is_said(
    floor: float, anchors: list[str], named: tuple[object, ...]
) -> None:
    (result,) = judge([with_p(0.5, floor=floor)], Correction("holm", 0.01, 46))
    assert [anchor_of(warning) for warning in result.warnings] == anchors
    assert all(mentions(warning, *named) for warning in result.warnings)


def says_it_cannot_survive(result: Result) -> bool:
    return "cannot-survive" in map(anchor_of, result.warnings)


def test_rows_that_sort_before_leave_room_under_holm() -> None:
    """alpha 0.05, N 4: after two rows of 0.001 a third needs only 0.05/2; after one it needs 0.05/3 = 0.0167."""
    floored = with_p(0.3, floor=0.02)
    room = judge([with_p(0.001), with_p(0.001), floored, with_p(0.9)], Correction("holm", 0.05))
    assert not says_it_cannot_survive(room[2])
    none = judge([with_p(0.001), with_p(0.5), floored, with_p(0.9)], Correction("holm", 0.05))
    assert says_it_cannot_survive(none[2])


def test_a_row_before_that_is_not_rejected_stops_holm() -> None:
    """alpha 0.05, N 4: 0.013 > 0.05/4 is not rejected, so 0.016 is not either, although 0.016 ≤ 0.05/3."""
    judged = judge([with_p(0.013), with_p(0.3, floor=0.016), *[with_p(0.9)] * 2], Correction("holm", 0.05))
    assert says_it_cannot_survive(judged[1])


def test_rows_that_sort_after_leave_room_under_benjamini_hochberg() -> None:
    """alpha 0.05, N 4: a first row needs 0.0125, which the floor 0.02 is above; with 0.025 second, both pass."""
    floored = with_p(0.3, floor=0.02)
    method = "benjamini-hochberg"
    room = judge([floored, with_p(0.025), with_p(0.9), with_p(0.9)], Correction(method, 0.05))
    assert not says_it_cannot_survive(room[0])
    none = judge([floored, with_p(0.026), with_p(0.9), with_p(0.9)], Correction(method, 0.05))
    assert says_it_cannot_survive(none[0])


@given(
    rows=st.lists(
        st.tuples(st.sampled_from([0.001, 0.01, 0.02, 0.03, 0.5]), st.floats(0.5, 1)), min_size=1, max_size=12
    ),
    method=st.sampled_from(["holm", "benjamini-hochberg"]),
    more=st.integers(0, 30),
)
def test_a_row_that_survives_is_never_said_not_to(
    rows: list[tuple[float, float]], method: str, more: int
) -> None:
    results = [with_p(p, floor=p * share) for p, share in rows]
    for result in judge(results, Correction(method, 0.05, len(rows) + more)):
        assert not (result.significance == "**" and says_it_cannot_survive(result))


@pytest.mark.parametrize(
    ("method", "alpha", "family"), [("none", 0.01, None), ("holm", 1, None), ("holm", 0.1, 0)]
)
def test_a_correction_that_makes_no_sense_is_refused(method: str, alpha: float, family: int | None) -> None:
    with pytest.raises(WeatherglassError):
        Correction(method, alpha, family)


def test_direction_is_said_in_words() -> None:
    X, Y, A, B = [[1.0, 0.1], [1.0, 0.2]], [[0.1, 1.0], [0.2, 1.0]], [[1.0, 0.0]], [[0.0, 1.0]]
    assert re.search(in_order("X", "A", "Y", "B"), associate(X, Y, A, B).direction)
    assert re.search(in_order("X", "B", "Y", "A"), associate(Y, X, A, B).direction)


def test_four_plus_four_elements_cannot_reach_one_percent() -> None:
    name = "angry_black_woman_stereotype_b"
    run = wg.run(HashedEncoder(), tests=name, alternative="greater", alpha=0.01, trust="none")
    assert run.results[0].p_floor == pytest.approx(1 / 70)
    two_sided = wg.run(HashedEncoder(), tests=name, alpha=0.01, trust="none")
    assert two_sided.results[0].p_floor == pytest.approx(2 / 70)
    assert any(anchor_of(warning) == "too-small" and mentions(warning, 0.01) for warning in run.warnings)


def test_a_misspelt_correction_is_answered_with_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=naming("correction", "hol", "holm, ", suggesting="holm")):
        Correction("hol")
