"""Define a p-value with its bounds, its method and its floor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weatherglass.stats import Budget as Budget

Alternative = Literal["greater", "less", "two-sided", "observed"]
ALTERNATIVES: tuple[Alternative, ...] = ("greater", "less", "two-sided", "observed")


@dataclass(frozen=True, slots=True)
class Significance:
    """The share of the null distribution at least as extreme as what was observed."""

    p_value: float
    """The p to report; for bounds the upper one, so that it is never anti-conservative."""
    p_low: float | None
    """The lower end; equal to p_value if exact, None if the method gives no interval."""
    p_high: float | None
    p_method: str
    """How p was computed, such as "enumerate" or "sampled"."""
    p_floor: float
    """The p of the most extreme partition: no data of this size can get below it."""
    certified: bool
    """Whether [p_low, p_high] certainly contains the exact p; a sampled interval contains it 99 times in 100."""
    p_middle: float
    """The best single guess: the geometric middle of the bounds; p_value where p is exact."""
