"""Exact tail counts of tied, rank or coarse scores: a dynamic programme over (count, sum)."""

from __future__ import annotations

import math

import numpy as np

from weatherglass.arrays import Integers
from weatherglass.stats.permutation.kernel import compiled
from weatherglass.stats.permutation.tail import Tail

_SECONDS_A_CELL = 0.6e-9
_LARGEST_TABLE = 2**31


def lattice_cost(tail: Tail) -> tuple[float, int]:
    """The predicted seconds and bytes of `count_on_the_lattice`; infinite seconds for a table beyond reason."""
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
    """The number of subsets in the tail, exactly, however many digits it has.

    Sums are measured by what they lack of `size` times the largest value, so the table ends at the threshold.
    Counts are kept modulo a few numbers below 2^62 and put together by the Chinese remainder theorem.
    """
    if tail.known is not None:
        return tail.known
    cheaper, shortfall = _cheaper(tail)
    lacking = np.ascontiguousarray(cheaper.values[-1] - cheaper.values[::-1])
    moduli = _moduli(tail.subsets)
    residues = [int(_count(lacking, tail.size, shortfall, modulus)) for modulus in moduli]
    count = _chinese_remainder(residues, moduli)
    return count if cheaper is tail else tail.subsets - count


def _cheaper(tail: Tail) -> tuple[Tail, int]:
    """The tail or its rest, whichever spans fewer sums, and how much a sum in it can lack of the largest."""
    rest = tail.rest()
    spans = [(side.size * int(side.values[-1]) - side.threshold, side) for side in (tail, rest)]
    shortfall, side = min(spans, key=lambda span: span[0])
    return side, shortfall


def _moduli(largest: int) -> list[int]:
    """Pairwise coprime numbers just below 2^62 whose product exceeds `largest`."""
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
def _count(lacking: Integers, size: int, shortfall: int, modulus: int) -> int:
    """Subsets of `size` of the ascending values whose sum is at most `shortfall`, modulo `modulus`."""
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
            # What k elements with this one can sum to, leaving room for the rest, which are all ≥ value.
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
