"""The mark of a row or topic: its outcome as one character with its words, for terminal and page alike."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from weatherglass.stats.outcome import Outcome as Outcome

if TYPE_CHECKING:
    from weatherglass.audit.results import Result
    from weatherglass.audit.verdict import Verdict


class Mark(Enum):
    """The outcome of a row or topic, in the order in which topics are listed."""

    ROBUST = (Outcome.ROBUST.mark, "#", Outcome.ROBUST.value)
    LIMITED = (Outcome.LIMITED.mark, "+", Outcome.LIMITED.value)
    CONFLICTING = (Outcome.CONFLICTING.mark, "x", Outcome.CONFLICTING.value)
    ISOLATED = (Outcome.ISOLATED.mark, "!", Outcome.ISOLATED.value)
    UNCONFIRMED = (Outcome.UNCONFIRMED.mark, "o", Outcome.UNCONFIRMED.value)
    SMALL = (Outcome.SMALL.mark, "~", Outcome.SMALL.value)
    INCONCLUSIVE = (Outcome.INCONCLUSIVE.mark, ".", Outcome.INCONCLUSIVE.value)
    MEASURED = ("–", "-", "measured, not tested")
    NOT_JUDGED = ("", "", "not judged")

    def __init__(self, glyph: str, ascii_glyph: str, words: str) -> None:
        self.glyph = glyph
        self.ascii = ascii_glyph
        """For where the glyph cannot be printed."""
        self.words = words


def mark_of(outcome: str | None) -> Mark:
    """Return the mark of an outcome; None is a row or topic that was not judged.

    >>> mark_of("limited").glyph
    '◐'
    """
    return next((mark for mark in Mark if mark.words == outcome), Mark.NOT_JUDGED)


def mark_of_row(result: Result) -> Mark:
    """Return the mark of a row of a complete run."""
    return Mark.MEASURED if result.not_tested else mark_of(result.outcome)


def mark_of_topic(verdict: Verdict) -> Mark:
    """Return the mark of a topic; a sanity check that is found is not marked."""
    return Mark.MEASURED if verdict.measured and not verdict.tests else mark_of(verdict.outcome)


def stars(result: Result) -> str:
    """Return the mark of a row in tables and figures for print: ** for robust, * for limited.

    A row of a published procedure, which has no outcome, is not starred.
    """
    return {Outcome.ROBUST.value: "**", Outcome.LIMITED.value: "*"}.get(result.outcome or "", "")
