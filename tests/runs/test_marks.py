"""Marks of results and verdicts: what each asks for, which comes first, and that none can be taken for another."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.results import made_result

from weatherglass.inference.removal import LeftOut
from weatherglass.inference.trust import Trust
from weatherglass.inference.verdict import Outcome
from weatherglass.runs.marks import Mark, VerdictMark, mark_of, verdict_mark
from weatherglass.runs.results import NO_P, Result

FIRM = Trust(0.95, True, None, None, False, 1.1, None, (), (), ())
ON_A_WORD = replace(FIRM, left_out=(LeftOut("word", "X", "love", 0.4, 0.3),))
ON_NONE = replace(FIRM, left_out=(LeftOut("word", "X", "love", 0.4, 0.05),))


def judged(p: float, stars: str, **given: object) -> Result:
    return replace(made_result(p, 1.0), significance=stars, trust=FIRM, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("result", "mark"),
    [
        (judged(0.001, "**", p_attr=0.05), Mark.BOTH_READINGS),
        (judged(0.001, "**", p_attr=0.051), Mark.THESE_WORDS),
        (judged(0.001, "**", p_attr=None), Mark.THESE_WORDS),
        (replace(judged(0.001, "**", p_attr=0.001), trust=ON_A_WORD), Mark.ONE_WORD),
        (replace(judged(0.001, "**", p_attr=0.001), trust=ON_NONE), Mark.BOTH_READINGS),
        (replace(judged(0.04, "*", p_attr=0.001), trust=ON_A_WORD), Mark.ONE_WORD),
        (judged(0.04, "*", p_attr=0.001), Mark.UNCORRECTED),
        (replace(judged(0.04, "*"), trust=None), Mark.UNCORRECTED),
        (judged(0.2, "", p_elements=1e-9), Mark.SENTENCES),
        (judged(0.2, "", p_elements=1e-9, small=True), Mark.SENTENCES),
        (judged(0.2, "", p_elements=0.06), Mark.CANNOT_TELL),
        (replace(judged(0.2, ""), trust=ON_A_WORD), Mark.CANNOT_TELL),
        (judged(0.2, "", small=True), Mark.SMALL),
        (judged(float("nan"), ""), Mark.CANNOT_TELL),
        (judged(float("nan"), "", p_method=f"{NO_P}one set"), Mark.NO_P),
    ],
)
def test_the_mark_of_a_result(result: Result, mark: Mark) -> None:
    assert mark_of(result, 0.05) is mark


def test_a_stricter_level_makes_more_hang_on_a_word() -> None:
    assert mark_of(replace(judged(0.001, "**", p_attr=0.001), trust=ON_NONE), 0.01) is Mark.ONE_WORD


def test_every_outcome_of_the_rule_has_its_mark_and_none_is_shared() -> None:
    assert [verdict_mark(outcome.value).words for outcome in Outcome] == [
        outcome.value for outcome in Outcome
    ]
    assert verdict_mark(None) is VerdictMark.NOT_JUDGED
    for marks in (list(Mark), list(VerdictMark)):
        assert len({mark.glyph for mark in marks}) == len({mark.ascii for mark in marks}) == len(marks)
        assert all(mark.ascii.isascii() and len(mark.ascii) == len(mark.glyph) <= 1 for mark in marks)
