"""Verdicts on a run: families, sanity checks, rows and topics as one, and what the folder keeps (docs/methods 12)."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
from tests.messages import mentions, naming
from tests.models import HashedEncoder
from tests.results import info_of, made_result, other_info

import weatherglass as wg
from weatherglass.audit.conclude import conclude
from weatherglass.audit.multiverse_p import FORMAT, read_multiverse_p
from weatherglass.audit.reference import reference_effect_sizes, standing
from weatherglass.audit.results import NO_P, ElementScore, Result
from weatherglass.audit.stored import read_run
from weatherglass.audit.verdict import Verdict
from weatherglass.errors import OutputError
from weatherglass.report.terminal import topic_chart
from weatherglass.stats import Limit, Outcome
from weatherglass.stats.leave_one_out import LeftOut
from weatherglass.stats.robustness import Robustness

ROBUSTNESS = Robustness(0.95, True, None, None, False, 1.1, None, (), ())
TOPICS = {"a1": "age", "a2": "age", "c1": "control", "c2": "control"}


def judged(test: str, p: float, p_random: float | None = None, **given: object) -> Result:
    """A result by words and two-sided, with both readings and scores that have some spread."""
    sign = -1 if given.pop("against", False) else 1
    scores = tuple(
        ElementScore(role, f"{test} {role}{i}", f"{test} {role}{i}", None, sign * (shift + 0.1 * i))
        for role, shift in (("X", 0.5), ("Y", 0.0))
        for i in range(8)
    )
    base = made_result(
        p, sign * 1.0, test=test, model="m", permute="words", alternative="two-sided", scores=scores
    )
    random = p if p_random is None else p_random
    ends = (0.1, 1.5) if sign > 0 else (-1.5, -0.1)
    own = {
        "units_x": 8,
        "units_y": 8,
        "p_random": random,
        "robustness": ROBUSTNESS,
        "ci_low": ends[0],
        "ci_high": ends[1],
    }
    return replace(base, **{**own, **given})  # type: ignore[arg-type]


def by_topic(*results: Result, **options: object) -> dict[str, Verdict]:
    return {v.topic: v for v in conclude(results, TOPICS, alpha=0.05, **options)[1]}  # type: ignore[arg-type]


def test_a_topic_of_one_test_has_the_numbers_and_the_word_of_its_row() -> None:
    rows, (verdict, *_) = conclude([judged("a1", 0.0123), judged("own", 0.8)], TOPICS, alpha=0.05)
    row = rows[0]
    assert (verdict.p, verdict.effect_size) == (row.p_value, row.effect_size)
    assert (verdict.ci_low, verdict.ci_high) == (row.ci_low, row.ci_high)
    assert (verdict.outcome, verdict.limit) == (row.outcome, row.limit) == ("robust", None)
    assert verdict.marked == ("a1",)
    assert row.marked
    assert row.p_max_t == row.p_value


@pytest.mark.parametrize("test", ["weat7", "weat6b", "weat10", "sent-weat6"])
def test_a_run_of_one_test_gives_row_and_topic_one_answer(test: str) -> None:
    run = wg.run("wordllama", test)
    (row,), (verdict,) = run.results, run.verdicts()
    assert (verdict.ci_low, verdict.ci_high) == (row.ci_low, row.ci_high)
    assert (verdict.p, verdict.effect_size, verdict.p_random) == (row.p_value, row.effect_size, row.p_random)
    assert (verdict.outcome, verdict.limit) == (row.outcome, row.limit)


def test_no_row_contradicts_its_topic() -> None:
    run = wg.run("wordllama", "weat*")
    rows = {row.test: row for row in run.results}
    for verdict in run.verdicts():
        if verdict.check:
            assert all(rows[test].outcome is None and not rows[test].marked for test in verdict.tests)
            continue
        assert set(verdict.marked) == {test for test in verdict.tests if rows[test].marked}
        if len(verdict.tests) == 1:
            assert rows[verdict.tests[0]].outcome == verdict.outcome
        if verdict.ci_low is not None and verdict.ci_high is not None:
            assert verdict.p is not None
            assert (verdict.p <= run.alpha) == (not verdict.ci_low <= 0 <= verdict.ci_high)


def test_sanity_checks_stand_apart_and_a_test_without_topic_is_its_own() -> None:
    flowers, weapons = ("Flowers", "Insects", "A", "B"), ("Instruments", "Weapons", "A", "B")
    found = by_topic(
        judged("a1", 0.02),
        judged("own", 0.8),
        judged("c1", 0.04, categories=flowers),
        judged("c2", 0.001, categories=weapons, against=True),
    )
    assert list(found) == ["age", "own", "flowers and insects", "instruments and weapons"]
    assert found["age"].outcome == "robust"  # 2 topics: 0.04
    assert found["age"].family == 2
    assert [v.check for v in found.values()] == [False, False, True, True]
    assert [v.found for v in found.values()] == [None, None, True, False]  # the last has the wrong sign
    assert [v.outcome for v in found.values()] == ["robust", "inconclusive", None, None]
    assert mentions(found["own"].why, "|d|", "1.10", f"{found['own'].minimum_detectable:.2f}")


def test_a_check_is_not_found_where_its_p_is_above_alpha() -> None:
    (check,) = by_topic(judged("c1", 0.45)).values()
    assert check.found is False
    assert check.p == 0.45


def test_another_model_changes_no_verdict() -> None:
    alone = by_topic(judged("a1", 0.04))["age"]
    other = [replace(judged(f"t{i}", 0.9), model="other") for i in range(9)]
    (beside,) = [v for v in by_topic(judged("a1", 0.04), *other).values() if v.model == "m"]
    assert beside == alone


def test_the_corrected_p_of_a_multiverse_decides_robust() -> None:
    key = ("age", "m", "cosine/mean")
    assert by_topic(judged("a1", 0.01), multiverse_p={key: 0.01})["age"].outcome == "robust"
    kept = by_topic(judged("a1", 0.01), multiverse_p={key: 0.3})["age"]
    assert (kept.outcome, kept.limit) == (Outcome.LIMITED, Limit.MULTIVERSE)
    assert kept.multiverse_p == 0.3
    assert mentions(kept.why, "multiverse", 0.3)


def test_what_limits_a_verdict_is_named() -> None:
    attributes = by_topic(judged("a1", 0.01, 0.2))["age"]
    assert (attributes.outcome, attributes.limit) == (Outcome.LIMITED, Limit.ATTRIBUTES)
    words = (LeftOut("word", "X", "love", 0.4, 0.3), LeftOut("word", "Y", "hate", 0.4, 0.06))
    one_word = by_topic(judged("a1", 0.01, robustness=replace(ROBUSTNESS, left_out=words)))["age"]
    assert (one_word.outcome, one_word.limit) == (Outcome.LIMITED, Limit.ONE_WORD)
    assert one_word.fragile == ("love", "hate")
    pieces = judged("a1", 0.01, pieces=(1.0,) * 8 + (2.0,) * 8)  # pieces tell X from Y completely
    (row,), (beside,) = conclude([pieces], TOPICS, alpha=0.05)
    assert (beside.outcome, beside.limit) == (Outcome.INCONCLUSIVE, Limit.PIECES)
    assert beside.p_pieces == row.p_pieces == 1.0
    (warning,) = [warning for warning in row.warnings if warning.kind == "pieces"]
    assert (warning.values["x"], warning.values["y"]) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"permute": "elements"}, ("by words", "two-sided")),
        ({"alternative": "greater"}, ("by words", "two-sided")),
        ({"robustness": None}, ("random attributes",)),
        ({"p_method": "none: nothing to exchange"}, ("cosine/mean", "no p", "nothing to exchange")),
    ],
)
def test_where_there_can_be_no_verdict_it_says_why(change: dict[str, object], named: tuple[str, ...]) -> None:
    result = replace(judged("a1", 0.001), **change)  # type: ignore[arg-type]
    (row,), (found,) = conclude([result], TOPICS, alpha=0.05)
    assert found.outcome is row.outcome is None
    assert not row.marked
    assert mentions(found.why, *named)


def test_opposite_tests_are_named() -> None:
    found = by_topic(judged("a1", 0.001), judged("a2", 0.001, against=True))["age"]
    assert found.outcome == Outcome.CONFLICTING
    assert mentions(found.why, "a1", "a2", "opposite")
    assert found.marked == ("a1", "a2")
    assert found.direction == ""


def test_a_row_that_is_not_tested_takes_no_part() -> None:
    measured = judged(
        "a2", math.nan, p_method=f"{NO_P}measured, not tested", not_tested="one contrast", against=True
    )
    rows, (found,) = conclude([judged("a1", 0.001), measured], TOPICS, alpha=0.05)
    assert (found.tests, found.measured) == (("a1",), ("a2",))
    assert found.outcome == "robust"
    assert (rows[1].outcome, rows[1].marked, rows[1].p_max_t) == (None, False, None)
    other, own = conclude([judged("own", 0.03), measured], TOPICS, alpha=0.05)[1]
    assert (own.outcome, own.tests, own.measured) == (None, (), ("a2",))
    assert mentions(own.why, "one contrast")
    assert (other.family, other.outcome) == (1, "robust")


def test_a_metric_without_a_signed_d_is_at_most_limited() -> None:
    """J times the smallest p: 2 × 0.001, then Holm over 2 topics."""
    info = other_info(signed=False)
    rows = [
        judged(test, p, metric="rnd", info=info) for test, p in (("a1", 0.001), ("a2", 0.5), ("own", 0.9))
    ]
    age, _ = conclude(rows, TOPICS, alpha=0.05)[1]
    assert age.outcome == "limited"
    assert age.p == pytest.approx(0.002)
    assert age.p_adjusted == pytest.approx(0.004)
    assert age.effect_size is age.ci_low is None
    unsigned = replace(judged("a1", 0.001), info=info_of("cosine/mean", signed=False))
    assert by_topic(unsigned)["age"].outcome == "limited"


def test_a_test_too_small_for_the_correction_says_so() -> None:
    rows, _ = conclude([judged("a1", 0.3, p_floor=0.03), judged("own", 0.9)], TOPICS, alpha=0.05)
    (warning,) = rows[0].warnings
    assert (warning.kind, warning.values["topics"], warning.values["floor"]) == ("cannot-survive", 2, 0.03)
    assert rows[1].warnings == ()


def test_vignettes_with_he_and_she_are_measured_not_tested() -> None:
    """docs/methods 10.6: every X text contains he and his, every Y text she and her; d and the published p stay."""
    run = wg.run(HashedEncoder(), ["heilman_double_bind_likable_1-", "heilman_double_bind_likable_one_word"])
    row, other = run.results
    assert mentions(row.not_tested, "'he'", "'his'", "'she'", "8 + 8")
    assert row.expected_level == pytest.approx(0.9, abs=0.1)
    assert math.isnan(row.p_value)
    assert (row.ci_low, row.p_random, row.outcome) == (None, None, None)
    assert not row.marked
    assert math.isfinite(row.effect_size)
    assert math.isfinite(row.test_statistic)
    assert row.p_elements is not None
    (verdict,) = run.verdicts()
    assert (verdict.tests, verdict.measured) == ((other.test,), (row.test,))
    assert other.not_tested == ""
    published = wg.run(HashedEncoder(), row.test, permute="elements").results[0]
    assert (published.p_value, published.effect_size) == (row.p_elements, row.effect_size)


def test_a_run_keeps_its_verdicts_and_gives_them_again(tmp_path: Path) -> None:
    finished = wg.run("wordllama", ["weat1", "weat6", "weat7*", "weat9", "weat10"], folder=tmp_path)
    found = finished.verdicts()
    assert [v.topic for v in found] == [
        "gender and career",
        "gender and science",
        "illness and permanence",
        "age and valence",
        "flowers and insects",
    ]
    assert {v.family for v in found if not v.check} == {4}
    again = read_run(tmp_path)
    assert found == again.verdicts()
    fields = ("outcome", "limit", "marked", "p_max_t", "p_pieces", "warnings")
    assert [[getattr(r, f) for f in fields] for r in again.results] == [
        [getattr(r, f) for f in fields] for r in finished.results
    ]
    record = json.loads((tmp_path / "run.json").read_text("utf-8"))
    assert record["verdicts"] == json.loads(json.dumps([v.to_json() for v in found]))
    assert found[0].human == {"weat6": 0.72}
    # Judged from the journal alone, the same comes out.
    assert conclude(again.results, record["topics"], alpha=finished.alpha)[1] == found


def test_the_output_of_a_multiverse_is_read(tmp_path: Path) -> None:
    path = tmp_path / "multiverse.json"
    entries = [
        {"topic": "age", "model": "m", "multiverse_p": 0.1, "multiverse_p_holm": 0.2},
        {"topic": "sex", "model": "m", "multiverse_p": None, "multiverse_p_holm": None},
    ]
    for content in (entries, {"topics": entries}):
        path.write_text(json.dumps(content))
        assert read_multiverse_p(path, ["cosine/mean"]) == {("age", "m", "cosine/mean"): 0.2}
    path.write_text("[1]")
    with pytest.raises(OutputError, match=naming(str(path), "weatherglass multiverse --json")):
        read_multiverse_p(path, [])
    path.write_text(json.dumps([{"topic": "age", "model": "m", "joint_p": 0.1, "joint_p_holm": 0.2}]))
    with pytest.raises(OutputError, match=naming(str(path), "'joint_p'", "'weatherglass multiverse'")):
        read_multiverse_p(path, [])


def test_a_multiverse_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "multiverse.json"
    path.write_text(json.dumps({"format": FORMAT + 1, "topics": []}))
    with pytest.raises(
        OutputError,
        match=naming(str(path), f"format {FORMAT + 1}", f"format {FORMAT}", "'weatherglass multiverse'"),
    ):
        read_multiverse_p(path, [])


def test_a_run_stands_among_the_reference_models() -> None:
    """By hand from reference.tsv: models with a smaller mean of the same tests; the model itself is left out."""
    d = reference_effect_sizes()
    own = made_result(0.5, 0.9, test="weat6", permute="words")
    both = [own, replace(own, test="weat6b", value=0.7)]
    found = standing(both, {"weat6": 0.9, "weat6b": 0.7})
    assert found is not None
    assert found.models == len(d) == 7
    assert found.above == sum((of["weat6"] + of["weat6b"]) / 2 < 0.8 for of in d.values())
    itself = standing(both, {test: d["wordllama"][test] for test in ("weat6", "weat6b")})
    assert itself is not None
    assert itself.models == 6
    assert standing([own], {"own": 0.9}) is None
    assert standing([replace(own, metric="euclidean/mean")], {"weat6": 0.9}) is None


def test_verdict_lines_fit_a_terminal_of_80_columns(tmp_path: Path) -> None:
    finished = wg.run("wordllama", ["weat6", "weat7*", "heilman*one_word"], folder=tmp_path)
    longest = max((outcome.value for outcome in Outcome), key=len)
    widest = {"outcome": longest, "ci_low": -1.5, "ci_high": -0.5, "tests": ("weat6",) * 10, "marked": ()}
    shown = [replace(v, **widest) for v in finished.verdicts()]  # type: ignore[arg-type]
    for width in (80, 100, 120, 200):
        lines = list(topic_chart(finished, shown, width))
        assert all(len(line) <= width for line in lines)
        assert sum("0 of 10" in line for line in lines) == len(shown)  # nothing is cut
