"""A statement of a paper, judged on the models at hand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Claim:
    """What the paper says, and whether it holds here."""

    statement: str
    holds: bool | None
    """None where the given models cannot decide it."""
    ours: str
    """The numbers that decide, or why there are none."""
    theirs: str
    """The same numbers as published."""

    @property
    def verdict(self) -> str:
        """The judgement in words."""
        return {True: "holds", False: "does not hold", None: "cannot be told"}[self.holds]
