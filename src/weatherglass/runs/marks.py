"""The mark of a test and of a verdict: how sure it is, as one character with its words, for terminal and page alike."""

from __future__ import annotations

from enum import Enum

from weatherglass.inference.verdict import Outcome
from weatherglass.runs.results import Result


class Mark(Enum):
    """How far the result of one test can be trusted, the firmest first; size and direction are said by d."""

    BOTH_READINGS = ("●", "#", "survives, both readings")
    """p survives the correction, p over other attribute words is at most alpha, and no one word decides."""
    THESE_WORDS = ("◐", "+", "survives, these words only")
    """p survives the correction; other attribute words of this kind need not give it, or cannot be told."""
    ONE_WORD = ("①", "1", "hangs on one word")
    """p is at most alpha, but there is a word without which it is not; whether or not p survives the correction."""
    UNCORRECTED = ("○", "o", "before correction only")
    """p is at most alpha, corrected p is not."""
    SENTENCES = ("≡", "=", "by sentences only")
    """p is at most alpha only where the sentences of a word count as independent, as published."""
    SMALL = ("≈", "~", "shown to be small")
    """|d| is below the smallest of interest that the user stated."""
    CANNOT_TELL = ("", "", "cannot tell")
    """p is above alpha, which does not show that there is no association."""
    NO_P = ("–", "-", "no p")
    """The metric has no p on this test, so nothing is said."""

    def __init__(self, glyph: str, ascii_glyph: str, words: str) -> None:
        self.glyph = glyph
        """One character; empty for "cannot tell"."""
        self.ascii = ascii_glyph
        """For where the glyph cannot be printed."""
        self.words = words


def mark_of(result: Result, alpha: float) -> Mark:
    """The mark of one judged result.

    Args:
        result: of a complete run, so that `p_adjusted`, `significance` and `small` are known.
        alpha: the level that the run was judged at.
    """
    if result.why_no_p:
        return Mark.NO_P
    if result.significance:
        if result.trust and result.trust.hangs_on("word", alpha):
            return Mark.ONE_WORD
        if result.significance == "*":
            return Mark.UNCORRECTED
        shown_for_others = result.p_attr is not None and result.p_attr <= alpha
        return Mark.BOTH_READINGS if shown_for_others else Mark.THESE_WORDS
    if result.p_elements is not None and result.p_elements <= alpha:
        return Mark.SENTENCES
    return Mark.SMALL if result.small else Mark.CANNOT_TELL


class VerdictMark(Enum):
    """The mark of a verdict on a topic, in the order in which topics are listed."""

    SHOWN = ("●", "#", Outcome.SHOWN.value)
    THESE_WORDS = ("◐", "+", Outcome.THESE_WORDS.value)
    SUGGESTED = ("○", "o", Outcome.SUGGESTED.value)
    MIXED = ("↔", "x", Outcome.MIXED.value)
    SMALL = ("≈", "~", Outcome.SMALL.value)
    CANNOT_TELL = ("?", "?", Outcome.CANNOT_TELL.value)
    NOT_JUDGED = ("–", "-", "not judged")

    def __init__(self, glyph: str, ascii_glyph: str, words: str) -> None:
        self.glyph = glyph
        self.ascii = ascii_glyph
        self.words = words


def verdict_mark(verdict: str | None) -> VerdictMark:
    """The mark of the word of a verdict; None is a topic that was not judged.

    >>> verdict_mark("shown for these words").glyph
    '◐'
    """
    return next((mark for mark in VerdictMark if mark.words == verdict), VerdictMark.NOT_JUDGED)
