"""What may be said for each outcome: every outcome has its words, with its numbers and its citation."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.models import HashedEncoder

import weatherglass
from weatherglass.audit.verdict import Verdict
from weatherglass.report.statements import WORDS, headline, sentence, sign_of, word_of
from weatherglass.report.writing import sentences
from weatherglass.stats import Limit, Outcome

PAGE = Path(__file__).parents[2] / "docs" / "concepts" / "verdicts.md"


@pytest.fixture(scope="module")
def verdict() -> Verdict:
    (found,) = weatherglass.run(HashedEncoder(name="m"), ["weat6", "sent-weat6"]).verdicts()
    return found


def test_every_outcome_has_its_word() -> None:
    assert list(WORDS) == list(Outcome)


@pytest.mark.parametrize("outcome", [*Outcome, None])
def test_a_sentence_has_topic_model_numbers_limits_and_citation(
    outcome: Outcome | None, verdict: Verdict
) -> None:
    value = outcome.value if outcome else None
    one = replace(verdict, outcome=value, marked=verdict.tests, why="too few words")
    (text,) = sentences([one], 0.05)
    assert " m" in text
    assert "[caliskan2017]" in text
    assert "{" not in text
    assert word_of(one).may_not in text
    assert one.effect_size is not None
    if outcome not in (None, Outcome.CONFLICTING):
        assert f"{one.effect_size:.2f}".replace("-", "−") in text


@pytest.mark.parametrize("limit", Limit)
def test_a_limited_sentence_names_its_limit(limit: Limit, verdict: Verdict) -> None:
    said = {
        sentence(replace(verdict, outcome="limited", limit=each.value, fragile=("salary",)), 0.05)
        for each in Limit
    }
    assert len(said) == len(Limit)
    own = sentence(replace(verdict, outcome="limited", limit=limit.value, fragile=("salary",)), 0.05)
    assert ("salary" in own) == (limit is Limit.ONE_WORD)


@pytest.mark.parametrize("ends", [(-0.1, 1.0), (0.0, 1.0), (0.004, 1.0), (-1.0, -0.004)])
def test_a_direction_is_stated_exactly_where_the_interval_leaves_out_0(
    ends: tuple[float, float], verdict: Verdict
) -> None:
    low, high = ends
    one = replace(verdict, effect_size=(low + high) / 2, ci_low=low, ci_high=high, outcome="unconfirmed")
    leaves_out = low > 0 or high < 0
    assert bool(sign_of(one)) == leaves_out
    text = sentence(one, 0.05)
    assert ("nearer" in text) == leaves_out
    shown = re.search(r"CI (\S+) to (\S+),", text)
    assert shown
    printed = [float(end.replace("−", "-")) for end in shown.groups()]
    assert (printed[0] > 0 or printed[1] < 0) == leaves_out


@pytest.mark.parametrize("outcome", Outcome)
def test_a_headline_marks_robust_and_limited_only(outcome: Outcome, verdict: Verdict) -> None:
    marked = [part.text for part in headline([replace(verdict, outcome=outcome.value)]) if part.marked]
    expected = ["gender and career"] if outcome in (Outcome.ROBUST, Outcome.LIMITED) else []
    assert marked == expected


def test_a_test_of_a_user_names_no_paper() -> None:
    test = weatherglass.test(X=["a1", "a2"], Y=["b1", "b2"], A=["c1", "c2"], B=["d1", "d2"], name="own")
    (line,) = weatherglass.run(HashedEncoder(), test).sentences()
    assert " Cite: " in line
    assert not re.search(r"\[\w+\d{4}\]", line)


def test_the_manual_has_the_same_words() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    for outcome, word in WORDS.items():
        meaning = word.meaning.format(topics="all topics", chance="twenty")
        assert f"| {outcome.mark} | **{outcome}** | {meaning} | {word.may_not} |" in page
