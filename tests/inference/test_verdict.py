"""The rule of docs/methods 12, row by row of its table."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from weatherglass.inference.verdict import Evidence, Outcome, decide

FIRM = Evidence(p_these=0.001, p_such=0.002, sign=1, stable=True, bound=1.2)
NOTHING = Evidence(p_these=0.6, p_such=0.7, sign=1, stable=False, bound=0.4)


def outcome(
    *tests: Evidence, others: int = 0, smallest: float | None = None, joint_p: float | None = None
) -> Outcome:
    """Of the first topic, beside others that show nothing."""
    topics = [list(tests), *([NOTHING] for _ in range(others))]
    return decide(topics, 0.05, smallest, [joint_p] + [None] * others)[0].outcome


def test_shown_needs_both_readings_every_word_and_the_multiverse() -> None:
    assert outcome(FIRM, others=7) is Outcome.SHOWN
    assert outcome(FIRM, joint_p=0.05) is Outcome.SHOWN
    assert outcome(FIRM, joint_p=0.051) is Outcome.THESE_WORDS
    assert outcome(replace(FIRM, stable=False)) is Outcome.THESE_WORDS
    assert outcome(replace(FIRM, p_such=0.06)) is Outcome.THESE_WORDS
    assert outcome(replace(FIRM, p_such=None)) is Outcome.THESE_WORDS
    assert outcome(replace(FIRM, p_such=0.0001, p_these=0.06)) is Outcome.CANNOT_TELL


def test_the_family_is_topics_and_a_topic_pays_for_its_tests() -> None:
    borderline = replace(FIRM, p_these=0.006, p_such=0.006)
    assert outcome(borderline, others=7) is Outcome.SHOWN  # 8 × 0.006 = 0.048
    assert outcome(borderline, others=8) is Outcome.SUGGESTED  # 9 × 0.006 = 0.054
    assert outcome(borderline, NOTHING, others=3) is Outcome.SHOWN  # 2 × 4 × 0.006
    assert outcome(borderline, NOTHING, NOTHING, others=3) is Outcome.SUGGESTED  # 3 × 4 × 0.006


def test_opposite_directions_are_mixed_before_anything_else() -> None:
    against = replace(FIRM, sign=-1, p_these=0.02)
    assert outcome(FIRM, against) is Outcome.MIXED  # 2 × 0.02 = 0.04
    assert outcome(FIRM, replace(against, p_these=0.026)) is Outcome.SHOWN
    assert outcome(FIRM, replace(against, sign=None)) is Outcome.SHOWN


def test_sentences_alone_only_suggest() -> None:
    (decision,) = decide([[NOTHING, replace(NOTHING, p_sentences=1e-9)]], 0.05)
    assert decision.outcome is Outcome.SUGGESTED
    assert decision.by_sentences
    assert decision.decisive == 1


def test_small_needs_a_stated_size_and_every_test() -> None:
    assert outcome(NOTHING) is Outcome.CANNOT_TELL
    assert outcome(NOTHING, smallest=0.5) is Outcome.SMALL
    assert outcome(NOTHING, smallest=0.4) is Outcome.CANNOT_TELL
    assert outcome(NOTHING, replace(NOTHING, bound=0.6), smallest=0.5) is Outcome.CANNOT_TELL
    assert outcome(NOTHING, replace(NOTHING, bound=None), smallest=0.5) is Outcome.CANNOT_TELL


def test_a_test_without_p_counts_but_shows_nothing() -> None:
    unknown = Evidence(math.nan, None, None, False)
    assert outcome(unknown) is Outcome.CANNOT_TELL
    (decision,) = decide([[replace(FIRM, p_these=0.02, p_such=0.02), unknown]], 0.05)
    assert decision.p_these == pytest.approx(0.04)
    assert decision.decisive == 0
