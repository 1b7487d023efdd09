"""The three exact methods: what each would cost, and the count by the quickest that fits a budget."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from weatherglass.stats.permutation import meet
from weatherglass.stats.permutation.base import Budget
from weatherglass.stats.permutation.enumerate import count_by_enumeration
from weatherglass.stats.permutation.lattice import count_on_the_lattice, lattice_cost
from weatherglass.stats.permutation.meet import LARGEST_MEETING, count_by_meeting, share_out
from weatherglass.stats.permutation.tail import Tail
from weatherglass.stats.permutation.tilt import find_tilt

_SECONDS_A_SUBSET = 3e-9
_STEPS_A_SECOND = 200_000_000
_OVERHEAD = 1e-3
"""Seconds below which the simplest method is taken without a look at the others."""
_MEETING_OVERHEAD = 2.2e-3
"""Seconds added to the prediction of a meeting, so that tails of up to some 700 000 subsets are enumerated, without
tables. Its start alone was measured as 0.07 to 0.15 ms (8 + 8 to 14 + 14 elements, 2 cores under load)."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A prediction, from the sizes and a saddlepoint estimate; no clock is read."""

    seconds: float
    bytes: int

    def __str__(self) -> str:
        if math.isinf(self.seconds):
            return "is out of reach"
        return f"needs about {self.seconds:.2g} s and {self.bytes / 1e9:.2g} GB"


def count_tails(tails: Sequence[Tail], budget: Budget, methods: Sequence[str]) -> tuple[int, str] | None:
    """Return how many subsets all tails contain together, and by which method; None if no method fits the budget.

    Args:
        tails: whose counts are added up.
        budget: what counting may cost.
        methods: those to choose from; "enumerate", the simplest, first.
    """
    costs: dict[str, Cost] = {}
    for method in methods:
        costs[method] = cost_of(method, tails, budget)
        if method == "enumerate" and costs[method].seconds <= _OVERHEAD:
            break
    for method, cost in sorted(costs.items(), key=lambda item: item[1].seconds):
        if cost.seconds <= budget.seconds and cost.bytes <= budget.bytes:
            count = _count(method, tails, budget)
            if count is not None:
                return count, method
    return None


def cost_of(method: str, tails: Sequence[Tail], budget: Budget) -> Cost:
    """Return what counting these tails would take."""
    different = list(dict.fromkeys(tails))
    if method == "enumerate":
        seconds = 0.0
        for tail in different:
            if tail.known is not None:
                continue
            if tail.subsets <= _OVERHEAD / _SECONDS_A_SUBSET:
                seconds += tail.subsets * _SECONDS_A_SUBSET
                continue
            tilt = find_tilt(tail if tail.beyond_the_mean else tail.rest())
            log_count = tilt.log_p + math.log(tail.subsets)
            seconds += _SECONDS_A_SUBSET * math.exp(log_count) if log_count < 100 else math.inf
        return Cost(seconds, 0)
    if method == "lattice":
        costs = [lattice_cost(tail) for tail in different]
        return Cost(_OVERHEAD + sum(cost[0] for cost in costs), max(cost[1] for cost in costs))
    if len(tails[0].values) > LARGEST_MEETING or tails[0].subsets >= 2**63:
        return Cost(math.inf, 0)
    halves = share_out(len(tails[0].values), budget.bytes)
    return Cost(_MEETING_OVERHEAD + halves.seconds * len(different), halves.bytes)


def endless_memory_seconds(tails: Sequence[Tail]) -> float:
    """What counting these tails would take by the quickest method if only time were short."""
    endless = Budget(seconds=math.inf, bytes=2**62)
    meeting = meet.endless_memory_seconds(len(tails[0].values)) * len(set(tails))
    return min(meeting, *(cost_of(method, tails, endless).seconds for method in ("enumerate", "lattice")))


def _count(method: str, tails: Sequence[Tail], budget: Budget) -> int | None:
    counted: dict[Tail, int] = {}
    for tail in dict.fromkeys(tails):
        count: int | None
        if method == "enumerate":
            # The prediction can be off by a fifth or so; twice the budget is where it ends.
            count = count_by_enumeration(tail, int((2 * budget.seconds + _OVERHEAD) * _STEPS_A_SECOND))
        elif method == "lattice":
            count = count_on_the_lattice(tail)
        else:
            count = count_by_meeting(tail, budget.bytes)
        if count is None:
            return None
        counted[tail] = count
    return sum(counted[tail] for tail in tails)
