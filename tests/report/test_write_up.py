"""What may be written for each verdict: every verdict has its words, with its numbers and its citation."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.messages import mentions
from tests.models import HashedEncoder

import weatherglass
from weatherglass.inference.verdict import Outcome
from weatherglass.report.write_up import NOT_JUDGED, WORDINGS, sentence
from weatherglass.runs.verdict import Verdict

PAGE = Path(__file__).parents[2] / "docs" / "writing.md"


@pytest.fixture(scope="module")
def verdict() -> Verdict:
    (found,) = weatherglass.run(HashedEncoder(name="m"), ["weat6", "sent-weat6"]).verdicts()
    return found


def test_every_verdict_has_its_words() -> None:
    assert set(WORDINGS) == {*Outcome, NOT_JUDGED}


@pytest.mark.parametrize("outcome", WORDINGS)
def test_a_sentence_has_topic_model_numbers_limits_and_citation(outcome: str, verdict: Verdict) -> None:
    one = replace(verdict, verdict=None if outcome == NOT_JUDGED else outcome, why="too few words")
    text = sentence(one, 0.05)
    assert "gender and career" in text
    assert " m" in text
    assert " Not: " in text
    assert "[caliskan2017]" in text
    assert "{" not in text
    if outcome != NOT_JUDGED:
        assert f"d = {one.effect_size:.2f}".replace("-", "−") in text
        assert "p ≤ 0.05" in text


def test_what_was_not_shown_is_never_called_shown_or_found() -> None:
    for outcome in ("suggested", "small", "cannot tell", NOT_JUDGED):
        assert not mentions(WORDINGS[outcome].may, "shows")
    assert "no bias" in WORDINGS["cannot tell"].may_not


def test_a_test_of_ones_own_names_no_paper() -> None:
    test = weatherglass.test(X=["a1", "a2"], Y=["b1", "b2"], A=["c1", "c2"], B=["d1", "d2"], name="own")
    (line,) = weatherglass.run(HashedEncoder(), test).sentences()
    assert " Cite: " in line
    assert not re.search(r"\[\w+\d{4}\]", line)


def test_the_page_has_the_same_words() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    for outcome, wording in WORDINGS.items():
        assert f"| **{outcome}** | {wording.may} | {wording.may_not} |" in page
