"""Whether a result hangs on a single word (docs/methods 10.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Vector


@dataclass(frozen=True, slots=True)
class HangsOn:
    """The word whose removal gives the largest p."""

    position: int
    """Its place among the words that were left out one by one."""
    p: float
    """Without it."""
    lifting: int
    """How many words each lift p above alpha when they are left out."""


def hangs_on(p_without: Vector, alpha: float = 0.05) -> HangsOn | None:
    """From p without each word; NaN where a word cannot be left out. None where no word can."""
    if np.isnan(p_without).all():
        return None
    position = int(np.nanargmax(p_without))
    return HangsOn(position, float(p_without[position]), int(np.count_nonzero(p_without > alpha)))
