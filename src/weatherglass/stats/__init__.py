"""Test and estimate a difference between two sets of words, from arrays of scores (docs/methods 10).

An effect is estimated for fixed attributes (`fixed_attributes`) and for random attributes (`random_attributes`).
Functions whose names end in `_ends`, and `crossed`, take any number of leading axes, so that benchmarks use the same
formulas.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, Self

from weatherglass.lazy import lazy_names

if TYPE_CHECKING:
    from weatherglass.stats.attributes import FixedAttributes as FixedAttributes
    from weatherglass.stats.attributes import RandomAttributes as RandomAttributes
    from weatherglass.stats.attributes import fixed_attributes as fixed_attributes
    from weatherglass.stats.attributes import random_attributes as random_attributes
    from weatherglass.stats.interval import Interval as Interval
    from weatherglass.stats.paired import PairedChange as PairedChange
    from weatherglass.stats.paired import paired_change as paired_change

# What follows is used by commands that compute nothing, so importing it must not load numpy.

DEFAULT_CORRECTION = "holm"
"""The default correction for multiple tests."""

Alternative = Literal["greater", "less", "two-sided", "observed"]
ALTERNATIVES: tuple[Alternative, ...] = ("greater", "less", "two-sided", "observed")


@dataclass(frozen=True, slots=True)
class Budget:
    """The time and memory that `auto` may use for one p-value."""

    seconds: float = 2.0
    bytes: int = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Significance:
    """A p-value with its bounds, its method and its floor."""

    p_value: float
    """The p to report; if there are bounds, the upper bound, so that p is never anti-conservative."""
    p_low: float | None
    """The lower bound of p; equal to p_value if p is exact, and None if the method gives no bounds."""
    p_high: float | None
    p_method: str
    """The method by which p was computed, such as "enumerate" or "sampled"."""
    p_floor: float
    """The p of the most extreme partition; no data of these sizes can have a smaller p."""
    certified: bool
    """Whether [p_low, p_high] certainly contains the exact p; a sampled interval contains it with a probability of 99
    %.
    """
    p_middle: float
    """The best single estimate of p: the geometric mean of the bounds, or p_value if p is exact."""


class Outcome(StrEnum):
    """The outcome of a topic or of one of its tests, in the order in which the rule checks them (docs/methods 12)."""

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
        """Return a member, so that `Outcome("robust")` looks it up by its name alone."""
        outcome = str.__new__(cls, name)
        outcome._value_, outcome.mark = name, mark
        return outcome


class Limit(StrEnum):
    """A reason why an outcome is not stronger."""

    ATTRIBUTES = "attribute words"
    """p for random attributes is too large or does not exist."""
    ONE_WORD = "one word"
    """Without one of the words, p is above alpha."""
    PIECES = "pieces"
    """After adjustment for the number of tokens, p is too large."""
    MULTIVERSE = "multiverse"
    """Over all specifications of a multiverse, p is above alpha."""


_PLACES = {
    "fixed_attributes": "attributes",
    "FixedAttributes": "attributes",
    "random_attributes": "attributes",
    "RandomAttributes": "attributes",
    "paired_change": "paired",
    "PairedChange": "paired",
    "Interval": "interval",
}
__all__ = list(_PLACES)
__getattr__, __dir__ = lazy_names(__name__, _PLACES)
