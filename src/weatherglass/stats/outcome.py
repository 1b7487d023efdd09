"""Name the seven outcomes of a test or topic, with their marks; importing this loads no numpy (docs/methods 12)."""

from __future__ import annotations

from enum import StrEnum


class Outcome(StrEnum):
    """The outcome of a topic or of one of its tests, in the order in which the rule tries it."""

    ROBUST = "robust"
    LIMITED = "limited"
    CONFLICTING = "conflicting"
    ISOLATED = "isolated"
    UNCONFIRMED = "unconfirmed"
    SMALL = "small"
    INCONCLUSIVE = "inconclusive"

    @property
    def mark(self) -> str:
        """Return the outcome as one character."""
        return _MARKS[self]


_MARKS = {
    Outcome.ROBUST: "●",
    Outcome.LIMITED: "◐",
    Outcome.CONFLICTING: "↔",
    Outcome.ISOLATED: "◇",
    Outcome.UNCONFIRMED: "○",
    Outcome.SMALL: "≈",
    Outcome.INCONCLUSIVE: "·",
}


class Limit(StrEnum):
    """Why an outcome is not stronger."""

    ATTRIBUTES = "attribute words"
    """p for random attributes is too large, or does not exist."""
    ONE_WORD = "one word"
    """Without one of the words p is above alpha."""
    PIECES = "pieces"
    """With a fixed number of pieces p is too large."""
    MULTIVERSE = "multiverse"
    """Over all specifications of a multiverse p is above alpha."""
