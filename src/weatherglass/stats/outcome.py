"""Name the seven outcomes of a test or topic, with their marks; importing this loads no numpy (docs/methods 12)."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class Outcome(StrEnum):
    """The outcome of a topic or of one of its tests, in the order in which the rule tries it."""

    ROBUST = "robust", "●"
    LIMITED = "limited", "◐"
    CONFLICTING = "conflicting", "↔"
    ISOLATED = "isolated", "◇"
    UNCONFIRMED = "unconfirmed", "○"
    SMALL = "small", "≈"
    INCONCLUSIVE = "inconclusive", "·"

    mark: str
    """The outcome as one character."""

    def __new__(cls, name: str, mark: str = "") -> Self:
        """Return a member; `Outcome("robust")` looks one up by its name alone."""
        outcome = str.__new__(cls, name)
        outcome._value_, outcome.mark = name, mark
        return outcome


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
