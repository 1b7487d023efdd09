"""Count a tail exactly by the fastest of three methods: enumeration, a lattice, or meet-in-the-middle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers
from weatherglass.stats import Budget
from weatherglass.stats.permutation import meet_in_the_middle as meet
from weatherglass.stats.permutation.grid import Tail
from weatherglass.stats.permutation.kernels import compiled
from weatherglass.stats.permutation.meet_in_the_middle import LARGEST_MEETING, count_by_meeting, share_out
from weatherglass.stats.permutation.tilt import find_tilt

_TOO_MANY = 2**62


def count_by_enumeration(tail: Tail, work: int) -> int | None:
    """Return the number of subsets in the tail; None if it needs more than `work` steps or 62 bits."""
    if tail.known is not None:
        return tail.known
    if not tail.beyond_the_mean:
        rest = count_by_enumeration(tail.rest(), work)
        return None if rest is None else tail.subsets - rest
    values = np.ascontiguousarray(tail.values[::-1])
    # C(i, r) for i ≤ n and r ≤ size, at most 2^62.
    binomials = np.zeros((len(values) + 1, tail.size + 1), dtype=np.int64)
    binomials[:, 0] = 1
    for i in range(1, len(values) + 1):
        binomials[i, 1:] = np.minimum(binomials[i - 1, 1:] + binomials[i - 1, :-1], _TOO_MANY)
    count = _count_subsets(
        values,
        np.concatenate([[0], np.cumsum(values)]),
        tail.size,
        tail.threshold,
        binomials.ravel(),
        work,
        np.empty(tail.size + 1, dtype=np.int64),
        np.empty(tail.size + 1, dtype=np.int64),
    )
    return None if count < 0 else int(count)


@compiled
def _count_subsets(
    values: Integers,
    sums: Integers,
    size: int,
    threshold: int,
    binomials: Integers,
    work: int,
    position: Integers,
    need: Integers,
) -> int:
    """Count subsets of descending values depth first; return -1 if `work` steps or 62 bits are not enough.

    The caller provides the partial sums and the two stacks, because code that allocates or slices arrays takes 1.5
    times as long to compile.
    """
    n = len(values)
    position[0] = 0
    need[0] = threshold
    depth, count, steps = 0, 0, 0
    while depth >= 0:
        left = size - depth
        start, wanted = position[depth], need[depth]
        if steps > work:
            return -1
        steps += 1
        if start + left <= n and sums[start + left] - sums[start] >= wanted:
            if sums[n] - sums[n - left] >= wanted:
                # Even the smallest completion is in the tail, so all are.
                bundle = binomials[(n - start) * (size + 1) + left]
                if bundle >= 4611686018427387904 - count:
                    return -1
                count += bundle
            elif left == 1:
                # The smallest completion is not in the tail, so the scan ends before n.
                while values[start] >= wanted:
                    count += 1
                    start += 1
            elif left == 2:
                first, last = start, start + 1
                while last + 1 < n and values[first] + values[last + 1] >= wanted:
                    last += 1
                steps += last - first
                while first < last:
                    if values[first] + values[last] >= wanted:
                        count += last - first
                        first += 1
                    else:
                        last -= 1
            else:
                need[depth + 1] = wanted - values[start]
                position[depth + 1] = start + 1
                depth += 1
                continue
        depth -= 1
        if depth >= 0:
            position[depth] += 1
    return count


_SECONDS_A_CELL = 0.6e-9
_LARGEST_TABLE = 2**31


def lattice_cost(tail: Tail) -> tuple[float, int]:
    """Return the predicted seconds and bytes of `count_on_the_lattice`; infinite time if the table is too large."""
    if tail.known is not None:
        return 0.0, 0
    side, shortfall = _cheaper(tail)
    table = 8 * (tail.size + 1) * (shortfall + 1)
    if table > _LARGEST_TABLE:
        return math.inf, table
    lacking = side.values[-1] - side.values[::-1]
    prefix = np.concatenate([[0], np.cumsum(lacking)])
    cells = 0
    for taken, value in enumerate(lacking.tolist()):
        k = np.arange(1, min(taken + 1, tail.size) + 1)
        most = np.minimum(prefix[taken + 1] - prefix[taken + 1 - k], shortfall - (tail.size - k) * value)
        cells += int(np.maximum(most - prefix[k - 1] - value + 1, 0).sum())
    return _SECONDS_A_CELL * cells * len(_moduli(tail.subsets)), table


def count_on_the_lattice(tail: Tail) -> int:
    """Return the exact number of subsets in the tail, with any number of digits.

    Sums are represented by their difference from `size` times the largest value, so that the table ends at the
    threshold. Counts are computed modulo a few numbers below 2^62 and combined by the Chinese remainder theorem.
    """
    if tail.known is not None:
        return tail.known
    cheaper, shortfall = _cheaper(tail)
    lacking = np.ascontiguousarray(cheaper.values[-1] - cheaper.values[::-1])
    moduli = _moduli(tail.subsets)
    residues = [int(_count_sums(lacking, tail.size, shortfall, modulus)) for modulus in moduli]
    count = _chinese_remainder(residues, moduli)
    return count if cheaper is tail else tail.subsets - count


def _cheaper(tail: Tail) -> tuple[Tail, int]:
    """Return the tail or its complement, whichever spans fewer sums, and the largest distance of its sums from the
    top.
    """
    rest = tail.rest()
    spans = [(side.size * int(side.values[-1]) - side.threshold, side) for side in (tail, rest)]
    shortfall, side = min(spans, key=lambda span: span[0])
    return side, shortfall


def _moduli(largest: int) -> list[int]:
    """Return pairwise coprime numbers just below 2^62 whose product exceeds `largest`."""
    moduli: list[int] = []
    candidate = 2**62
    while math.prod(moduli) <= largest:
        if all(math.gcd(candidate, modulus) == 1 for modulus in moduli):
            moduli.append(candidate)
        candidate -= 1
    return moduli


def _chinese_remainder(residues: list[int], moduli: list[int]) -> int:
    value, product = 0, 1
    for residue, modulus in zip(residues, moduli, strict=True):
        value += product * ((residue - value) * pow(product, -1, modulus) % modulus)
        product *= modulus
    return value


@compiled
def _count_sums(lacking: Integers, size: int, shortfall: int, modulus: int) -> int:
    """Return the number, modulo `modulus`, of subsets of `size` of the values whose sum is at most `shortfall`."""
    n = len(lacking)
    prefix = np.zeros(n + 1, dtype=np.int64)
    for i in range(n):
        prefix[i + 1] = prefix[i] + lacking[i]
    ways = np.zeros((size + 1, shortfall + 1), dtype=np.int64)
    ways[0, 0] = 1
    for taken in range(n):
        value = lacking[taken]
        # Downwards, so that an element is not taken twice.
        for k in range(min(taken + 1, size), 0, -1):
            # The possible sums of k elements with this one; the remaining elements are all ≥ value.
            least = prefix[k - 1] + value
            most = min(prefix[taken + 1] - prefix[taken + 1 - k], shortfall - (size - k) * value)
            if most >= least:
                source, target = ways[k - 1, least - value : most - value + 1], ways[k, least : most + 1]
                for i in range(len(target)):
                    total = target[i] + source[i]
                    target[i] = total - modulus if total >= modulus else total
    count = 0
    for i in range(shortfall + 1):
        count = (count + ways[size, i]) % modulus
    return count


_SECONDS_A_SUBSET = 3e-9
_STEPS_A_SECOND = 200_000_000
_OVERHEAD = 1e-3
"""The number of seconds below which the simplest method is used without predicting the time of the others."""
_MEETING_OVERHEAD = 2.2e-3
"""The number of seconds added to the predicted time of meet-in-the-middle, so that tails of up to about 700 000
subsets are enumerated without tables. Starting it takes 0.07 to 0.15 ms (8 + 8 to 14 + 14 elements, 2 cores under
load).
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """The predicted cost of counting, from the sizes and a saddlepoint estimate; no clock is read."""

    seconds: float
    bytes: int

    def __str__(self) -> str:
        if math.isinf(self.seconds):
            return "is not feasible"
        return f"needs about {self.seconds:.2g} s and {self.bytes / 1e9:.2g} GB"


def count_tails(tails: Sequence[Tail], budget: Budget, methods: Sequence[str]) -> tuple[int, str] | None:
    """Return the number of subsets in all tails together, and the method; None if no method fits the budget.

    Args:
        tails: the tails whose counts are added.
        budget: the time and memory that counting may use.
        methods: the methods to choose from; "enumerate", the simplest, comes first.
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
    """Predict the cost of counting these tails."""
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
    """Return the predicted seconds of counting these tails by the fastest method with unlimited memory."""
    endless = Budget(seconds=math.inf, bytes=2**62)
    meeting = meet.endless_memory_seconds(len(tails[0].values)) * len(set(tails))
    return min(meeting, *(cost_of(method, tails, endless).seconds for method in ("enumerate", "lattice")))


def _count(method: str, tails: Sequence[Tail], budget: Budget) -> int | None:
    counted: dict[Tail, int] = {}
    for tail in dict.fromkeys(tails):
        count: int | None
        if method == "enumerate":
            # The prediction may be wrong by about a fifth, so the limit is twice the budget.
            count = count_by_enumeration(tail, int((2 * budget.seconds + _OVERHEAD) * _STEPS_A_SECOND))
        elif method == "lattice":
            count = count_on_the_lattice(tail)
        else:
            count = count_by_meeting(tail, budget.bytes)
        if count is None:
            return None
        counted[tail] = count
    return sum(counted[tail] for tail in tails)
