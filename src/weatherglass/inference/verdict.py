"""The rule that turns the tests of a topic into one verdict (docs/methods 12): numbers in, a word out.

The family is the topics of one model and metric, so that neither another model in the run nor the number of its rows
turns a verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from weatherglass.inference.correction import adjust


class Outcome(StrEnum):
    """What is said of a topic, in the order in which the rule tries it."""

    MIXED = "mixed"
    SHOWN = "shown"
    THESE_WORDS = "shown for these words"
    SUGGESTED = "suggested"
    SMALL = "small"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one test brings to its topic."""

    p_these: float
    """p₁: with these attributes, two-sided, by words; NaN counts as 1."""
    p_such: float | None
    """p₂: over such attributes; None where that reading does not exist, which shows nothing."""
    sign: int | None
    """Of the effect; None where the metric has no direction."""
    stable: bool
    """Whether p₁ ≤ alpha without any one word, too."""
    p_sentences: float | None = None
    """p with single sentences exchanged, as published."""
    bound: float | None = None
    """U: |d| above it is excluded; None where it is not estimable."""

    @property
    def p_both(self) -> float:
        """p₁₂: the larger of both readings."""
        return 1.0 if self.p_such is None else max(_known(self.p_these), _known(self.p_such))


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict on one topic and what it rests on."""

    outcome: Outcome
    p_these: float
    """Of the topic, after Holm over the topics: J times the smallest p₁."""
    p_both: float
    """The same of p₁₂."""
    decisive: int
    """The number of the test with the smallest p: p₁₂ where the topic is shown, else p₁."""
    by_sentences: bool = False
    """Whether nothing but single sentences exchanged suggests it."""


def decide(
    topics: Sequence[Sequence[Evidence]],
    alpha: float,
    smallest: float | None = None,
    joint_p: Sequence[float | None] | None = None,
) -> list[Decision]:
    """The verdict on each topic of one family.

    Args:
        topics: at least one test each.
        alpha: of the whole family.
        smallest: the smallest |d| of interest; without it, nothing is small.
        joint_p: of each topic where a multiverse was run, else None.
    """
    these = _adjusted(topics, lambda test: _known(test.p_these))
    both = _adjusted(topics, lambda test: test.p_both)
    joint = joint_p or [None] * len(topics)
    return [
        _decision(tests, p_these, p_both, p_joint, alpha, smallest)
        for tests, p_these, p_both, p_joint in zip(topics, these, both, joint, strict=True)
    ]


def _adjusted(topics: Sequence[Sequence[Evidence]], p: Callable[[Evidence], float]) -> list[float]:
    """Of each topic J times the smallest p of its J tests, then Holm over the topics."""
    by_topic = [min(1.0, len(tests) * min(map(p, tests))) for tests in topics]
    return [float(adjusted) for adjusted in adjust(np.array(by_topic), "holm")]


def _decision(
    tests: Sequence[Evidence],
    p_these: float,
    p_both: float,
    p_joint: float | None,
    alpha: float,
    smallest: float | None,
) -> Decision:
    first = min(range(len(tests)), key=lambda place: _known(tests[place].p_these))
    firmest = min(range(len(tests)), key=lambda place: tests[place].p_both)
    directions = {t.sign for t in tests if len(tests) * _known(t.p_these) <= alpha and t.sign}
    if len(directions) == 2:
        return Decision(Outcome.MIXED, p_these, p_both, first)
    if p_both <= alpha and tests[firmest].stable and (p_joint is None or p_joint <= alpha):
        return Decision(Outcome.SHOWN, p_these, p_both, firmest)
    if p_these <= alpha:
        return Decision(Outcome.THESE_WORDS, p_these, p_both, first)
    if _known(tests[first].p_these) <= alpha:
        return Decision(Outcome.SUGGESTED, p_these, p_both, first)
    sentences = {place: t.p_sentences for place, t in enumerate(tests) if t.p_sentences is not None}
    if sentences and min(sentences.values()) <= alpha:
        return Decision(Outcome.SUGGESTED, p_these, p_both, min(sentences, key=sentences.__getitem__), True)
    small = smallest is not None and all(t.bound is not None and t.bound < smallest for t in tests)
    return Decision(Outcome.SMALL if small else Outcome.CANNOT_TELL, p_these, p_both, first)


def _known(p: float) -> float:
    return 1.0 if math.isnan(p) else p
