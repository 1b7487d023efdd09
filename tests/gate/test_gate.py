"""Gates: what an expression means, what is refused, and what a CI system is told."""

from __future__ import annotations

import errno
import math
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.messages import at_column, in_order, mentions, naming
from tests.results import made_result

from weatherglass.audit.conclude import conclude
from weatherglass.audit.results import COLUMNS, ElementScore, Failure, Result
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import Verdict
from weatherglass.errors import GateError, OutputError
from weatherglass.gate.conditions import parse
from weatherglass.gate.junit import junit, write_junit
from weatherglass.gate.rules import COLUMN_KINDS, TOPIC_COLUMNS, Gate, Rule, gate_of, load_rules
from weatherglass.stats.robustness import Robustness

RESULT = made_result(0.002, -0.9, model="m", test="weat6", p_adjusted=0.02, outcome="unconfirmed")


def decide(expression: str, **values: Any) -> bool | None:
    row = {name: getattr(RESULT, name) for name in COLUMNS} | values
    return parse(expression, COLUMN_KINDS).decide(row)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("abs(effect_size) > 0.8", True),
        ("abs(effect_size) > 0.8 and p_adjusted < 0.01", False),
        ("abs(effect_size) > 0.8 or p_adjusted < 0.01", True),
        ("not p_value <= 0.002", False),
        ("test == 'weat6' and metric != \"cosine/max\"", True),
        ("1 + 2 * 3 - 4 / 2 == 5", True),
        ("-(1 - 2) == 1 and --1 == +1", True),
        ("8 / 4 / 2 == 1", True),
        ("1 - 2 - 3 == -4", True),
        ("not 1 > 2 and 2 > 1", True),  # not binds tighter than and
        ("1 > 0 or 1 > 0 and 1 < 0", True),  # and binds tighter than or
        (".5e1 == 5.", True),
        ("num_targ1 + num_targ2 >= 16", True),
    ],
)
def test_an_expression_means_what_arithmetic_and_logic_say(expression: str, expected: bool) -> None:
    assert decide(expression) is expected


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_missing_number_leaves_a_comparison_undecided(missing: float | None) -> None:
    for comparison in (
        "effect_size > 1",
        "effect_size <= 1",
        "effect_size != 1",
        "abs(effect_size) * 0 == 0",
    ):
        assert decide(comparison, effect_size=missing) is None
        assert decide(f"not {comparison}", effect_size=missing) is None
    assert decide("effect_size > 1 and p_value > 0.5", effect_size=missing) is False
    assert decide("effect_size > 1 or p_value < 0.5", effect_size=missing) is True
    assert decide("known(effect_size) and effect_size > 1", effect_size=missing) is False
    assert decide("1 / (num_targ1 - num_targ2) > 1") is None


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("__import__('os').system('true')", at_column(17, "attributes")),
        ("effect_size.__class__ == 1", at_column(12, "attributes")),
        ("().__class__", at_column(3, "attributes")),
        ("abs() > 1", at_column(5, "')'")),
        ("__import__('os') == 1", at_column(1, "'__import__'", "abs", "known")),
        ("open('/etc/passwd') == 1", at_column(1, "'open'", "abs", "known")),
        ("eval('1') > 0", at_column(1, "'eval'", "abs", "known")),
        ("9**9**9**9 > 1", at_column(2, "powers")),
        ("9 // 2 > 1", at_column(3, "'//'")),
        ("effect_size[0] > 1", at_column(12, "indexing")),
        ("lambda: 1", at_column(1, "'lambda'")),
        ("p_value < 0.1; p_value", at_column(14, "';'")),
        ("f'{p_value}' == 'a'", at_column(2, "'{p_value}'")),
        ("(" * 500 + "1" + ")" * 499, at_column(31, "nested", 30)),
        ("not " * 200 + "1 > 0", at_column(121, "nested", 30)),
        ("-" * 500 + "1 > 0", at_column(31, "nested", 30)),
        ("1" * 1001, naming(1001, 1000)),
        ("1e999 > p_value", at_column(1, "1e999", "large")),
        ("effect_sise > 1", at_column(1, "'effect_sise'", suggesting="effect_size")),
        ("effect_size", naming("'effect_size'", "number", "condition", "effect_size > 0.8")),
        ("effect_size > 'a'", at_column(1, "'>'", "number", "text")),
        ("test < 'weat6'", at_column(1, "'<'", "==", "!=")),
        ("effect_size = 1", at_column(13, "==")),
        ("0 < p_value < 1", at_column(15, "comparisons", suggesting="and")),
        ("p_value < ", at_column(11, "missing")),
        ("", at_column(1, "missing")),
        ("(p_value < 1", at_column(13, "')'", "missing")),
        ("p_value < 1)", at_column(12, "')'")),
        ("test == 'weat6", at_column(9, "quote")),
        ("abs(test) > 1", at_column(5, "abs", "number", "text")),
        ("abs(1, 2) > 1", at_column(6, "','")),
        ("p_value and 1 > 0", at_column(1, "and", "condition", "number")),
        ("known(p_value > 1)", at_column(7, "known()", "condition")),
        ("p_value <\n\n1 or", naming("'p_value < 1 or'", "column 16", "missing")),
        ("p_value < 0.1\x00", at_column(14, r"'\x00'")),
        ("effect_size > 1 effect_size", at_column(17, "'effect_size'")),
        ("ａｂｓ(effect_size) > 1", at_column(1, "'ａ'")),
    ],
)
def test_what_is_not_a_condition_is_refused_in_one_line(expression: str, message: str) -> None:
    with pytest.raises(GateError, match=message) as caught:
        parse(expression, COLUMN_KINDS)
    assert "\n" not in str(caught.value)


@given(st.text(alphabet="ab(p_value)<>=+-*/ .0'\"notrdks\n", max_size=80))
def test_whatever_is_written_is_understood_or_refused(text: str) -> None:
    try:
        condition = parse(text, COLUMN_KINDS)
    except GateError:
        return
    assert condition.decide({name: getattr(RESULT, name) for name in COLUMNS}) in (True, False, None)


def test_the_longest_expression_is_decided() -> None:
    assert decide("+".join("1" * 499) + ">1") is True


def test_every_column_can_be_named() -> None:
    assert tuple(COLUMN_KINDS) == (*COLUMNS, *TOPIC_COLUMNS)
    assert {name for name, kind in COLUMN_KINDS.items() if kind == "text"} == {
        "model",
        "options",
        "test",
        "metric",
        "fitted_words",
        "sets",
        "permute",
        "alternative",
        "related_words",
        "p_method",
        "outcome",
        "limit",
        "marked",
        "not_tested",
        "oov",
        "topic",
        "verdict",
    }


def test_a_breach_shows_the_numbers_it_rests_on() -> None:
    gate = gate_of(["abs(effect_size) > 0.8 and p_adjusted < 0.05"], None)
    assert gate is not None
    (breach,) = gate.judge([RESULT, replace(RESULT, value=0.1)])
    assert re.search(in_order("weat6", "m (cosine/mean)", gate.rules[0].condition.source), str(breach))
    assert str(breach).endswith("effect_size = -0.9, p_adjusted = 0.02")


def test_a_gate_that_cannot_be_decided_is_not_passed() -> None:
    gate = Gate((Rule(parse("effect_size > 0.8", COLUMN_KINDS)),))
    (breach,) = gate.judge([replace(RESULT, value=math.nan)])
    assert mentions(str(breach), "effect_size = missing")


def test_a_gate_that_judged_nothing_is_not_passed(tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text('[[gate]]\ntests = "weta*"\nfail_if = "effect_size > 3"\n')
    (breach,) = Gate(tuple(load_rules(path))).judge([RESULT])
    assert breach.result is None
    assert mentions(str(breach), "tests weta*", "judged")


@pytest.mark.parametrize(
    ("patterns", "idle", "nearest"),
    [
        ('tests = ["weat6", "weta7"]', "tests 'weta7'", "weat7"),
        ('tests = ["weat6", "sent-*"]', "tests 'sent-*'", None),
        ('metrics = ["cosine/mean", "cosine/meen"]', "metrics 'cosine/meen'", "cosine/mean"),
        ('models = ["m", "n"]\ntests = "weat6"', "models 'n'", None),
    ],
)
def test_one_pattern_that_matches_nothing_fails_the_gate(
    tmp_path: Path, patterns: str, idle: str, nearest: str | None
) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(f'[[gate]]\n{patterns}\nfail_if = "effect_size > 3"\n')
    results = [RESULT, replace(RESULT, test="weat7"), replace(RESULT, test="weat8", model="n")]
    (breach,) = Gate(tuple(load_rules(path))).judge(results)
    assert mentions(str(breach), idle, suggesting=nearest)
    assert ("?" in str(breach)) is (nearest is not None)
    assert breach.result is None


def test_a_gate_that_judged_nothing_names_the_nearest_test() -> None:
    gate = Gate((Rule(parse("effect_size > 3", COLUMN_KINDS), tests=("weta6",)),))
    (breach,) = gate.judge([RESULT])
    assert breach.result is None
    assert mentions(str(breach), "weta6", "judged", suggesting="weat6")


def test_a_file_has_thresholds_for_each_group_of_tests(tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(
        """
        [[gate]]
        tests = ["weat6", "weat7"]
        fail_if = "abs(effect_size) > 0.5"
        why = "names and careers"
        [[gate]]
        tests = "sent-*"
        fail_if = "abs(effect_size) > 2"
        """
    )
    small = replace(RESULT, test="weat7", value=0.1)
    results = [RESULT, small, replace(RESULT, test="sent-weat6"), replace(RESULT, test="weat8")]
    (breach,) = Gate(tuple(load_rules(path))).judge(results)
    assert breach.result is results[0]
    assert str(breach).endswith("; names and careers")


def test_a_rule_is_asked_of_the_metrics_that_it_names(tmp_path: Path) -> None:
    path = tmp_path / "gate.toml"
    path.write_text('[[gate]]\nmetrics = "cosine/*"\nfail_if = "metric == \'cosine/mean\'"\n')
    gate = gate_of([], path)
    assert gate is not None
    (breach,) = gate.judge([RESULT, replace(RESULT, metric="dot/mean")])
    assert breach.result is RESULT


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", naming("[[gate]]")),
        ("[[gates]]\nfail_if = '1 > 0'", naming("[[gate]]", "'gates'")),
        ("[[gate]]\ntests = 'weat6'", naming("gate 1", "fail_if")),
        ("[[gate]]\nfail_if = '1 > 0'\ntest = 'weat6'", naming("gate 1", "'test'", suggesting="tests")),
        ("[[gate]]\nfail_if = '1 > 0'\ntests = 3", naming("gate 1", "tests", "glob", "list")),
        ("[[gate]]\nfail_if = '1 >'", at_column(4, "missing")),
        ("[[gate]", naming("TOML")),
    ],
)
def test_a_file_that_cannot_be_understood_is_refused_by_place(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "gate.toml"
    path.write_text(content)
    with pytest.raises(GateError, match=message) as refused:
        load_rules(path)
    assert mentions(str(refused.value), str(path))
    with pytest.raises(GateError, match=naming(str(tmp_path / "none.toml"), os.strerror(errno.ENOENT))):
        load_rules(tmp_path / "none.toml")


def test_junit_has_a_case_for_each_result_failure_and_idle_rule(tmp_path: Path) -> None:
    odd = replace(RESULT, model="<m&\x00>", test="odd")
    run = Run([RESULT, odd], [Failure("m", "weat9", "too few")], {})
    gate = Gate(
        (
            Rule(parse("effect_size < -0.5", COLUMN_KINDS), tests=("weat6",)),
            Rule(parse("effect_size < 0", COLUMN_KINDS), tests=("none",)),
        )
    )
    with pytest.raises(OutputError, match=naming(str(tmp_path / "ci"), os.strerror(errno.ENOENT))):
        write_junit(tmp_path / "ci" / "junit.xml", run, [])
    assert not (tmp_path / "ci").exists(), "a misspelt folder is not made silently"
    (tmp_path / "ci").mkdir()
    write_junit(tmp_path / "ci" / "junit.xml", run, gate.judge(run.results))
    suite = ElementTree.parse(tmp_path / "ci" / "junit.xml").getroot()
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "4",
        "failures": "2",
        "errors": "1",
    }
    outcome = {case.get("name"): [child.tag for child in case] for case in suite}
    assert outcome == {
        "weat6 cosine/mean": ["failure", "system-out"],
        "odd cosine/mean": ["system-out"],
        "effect_size < 0": ["failure"],
        "weat9": ["error"],
    }
    assert junit(run, []).count("<failure") == 0


TOPICS = {"weat1": "control", "weat6": "gender and career", "sent-weat6": "gender and career"}


SCORES = tuple(
    ElementScore(role, f"{role}{i}", f"{role}{i}", None, shift + 0.1 * i)
    for role, shift in (("X", 2.0), ("Y", 0.0))
    for i in range(8)
)


def topic_rows() -> tuple[list[Result], list[Verdict]]:
    """A control and two tests of one topic, by words and two-sided."""
    results = [
        replace(
            RESULT,
            test=test,
            value=0.9,
            permute="words",
            alternative="two-sided",
            p_random=0.001,
            scores=SCORES,
            robustness=Robustness(0.95, True, None, None, False, None, None, (), ()),
        )
        for test in TOPICS
    ]
    return conclude(results, TOPICS, alpha=0.05)


def reasons_of(expression: str, tests: tuple[str, ...] = ("*",)) -> list[str]:
    results, judged = topic_rows()
    rule = Rule(parse(expression, COLUMN_KINDS), tests)
    return [str(breach) for breach in Gate((rule,)).judge(results, judged)]


def test_a_condition_on_a_topic_is_broken_once() -> None:
    (reason,) = reasons_of("verdict == 'limited' and topic == 'gender and career'")
    assert reason.startswith("'gender and career' on m (cosine/mean): verdict == 'limited'")
    assert len(reasons_of("topic == 'gender and career' and p_value < 0.05")) == 2


def test_controls_are_left_out_unless_they_are_named() -> None:
    assert len(reasons_of("p_value < 0.05")) == 2
    assert len(reasons_of("p_value < 0.05", tests=("*weat*",))) == 2
    assert len(reasons_of("p_value < 0.05", tests=("weat1",))) == 1
    assert len(reasons_of("verdict == 'not found' and topic == 'control'")) == 0
    assert len(reasons_of("verdict == 'found' and topic == 'control'")) == 1
    (reason,) = reasons_of("p_value < 0.05", tests=("weat1*",))
    assert mentions(reason, "tests weat1*", "judged", "sanity checks")


def test_a_verdict_that_cannot_be_given_fails_the_gate() -> None:
    results = [replace(RESULT, test="weat6")]
    _, judged = conclude(results, TOPICS, alpha=0.05)
    gate = gate_of(["verdict == 'robust'"], None)
    assert gate is not None
    (breach,) = gate.judge(results, judged)
    assert judged[0].why in str(breach)


@pytest.mark.parametrize(
    "condition", ["verdict == 'robuste'", "'robuste' != verdict", "not (verdict == 'robuste')"]
)
def test_a_verdict_that_does_not_exist_is_refused(condition: str, tmp_path: Path) -> None:
    """It would never be given, and the gate would pass in silence."""
    with pytest.raises(GateError, match=naming("robuste", suggesting="robust")):
        gate_of([condition], None)
    rules = tmp_path / "gate.toml"
    rules.write_text(f'[[gate]]\nfail_if = "{condition}"\n')
    with pytest.raises(GateError, match=naming(str(rules), "robuste", suggesting="robust")):
        gate_of([], rules)
    assert gate_of([condition.replace("verdict", "topic")], None), "topics are any text"


def test_rows_that_are_measured_and_not_tested_are_left_out_of_what_asks_for_p() -> None:
    """They have no p by words, but they have d; a gate that judged nothing has not passed."""
    results, _ = topic_rows()
    measured = replace(results[2], p_value=math.nan, p_method="none: measured", not_tested="one contrast")
    rows, judged = conclude([*results[:2], measured], TOPICS, alpha=0.05)
    by_p = Gate((Rule(parse("p_value > 0.5", COLUMN_KINDS)),))
    assert by_p.judge(rows, judged) == []
    assert len(by_p.judge([measured], judged)) == 1
    by_size = Gate((Rule(parse("effect_size > 0.5", COLUMN_KINDS)),))
    assert [breach.result for breach in by_size.judge(rows, judged)] == rows[1:]
    alone, own = conclude([results[1], replace(measured, test="own")], TOPICS, alpha=0.05)
    assert Gate((Rule(parse("verdict == 'limited'", COLUMN_KINDS)),)).judge(alone, own) == []
