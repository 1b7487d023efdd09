"""Exact tail counts by branch and bound: only the subsets in the tail are visited, many at a time."""

from __future__ import annotations

import numpy as np

from weatherglass.arrays import Integers
from weatherglass.stats.permutation.kernel import compiled
from weatherglass.stats.permutation.tail import Tail

_TOO_MANY = 2**62


def count_by_enumeration(tail: Tail, work: int) -> int | None:
    """The number of subsets in the tail, or None if that takes more than `work` steps or 62 bits."""
    if tail.known is not None:
        return tail.known
    if not tail.beyond_the_mean:
        rest = count_by_enumeration(tail.rest(), work)
        return None if rest is None else tail.subsets - rest
    values = np.ascontiguousarray(tail.values[::-1])
    count = _count(
        values,
        np.concatenate([[0], np.cumsum(values)]),
        tail.size,
        tail.threshold,
        _binomials(len(tail.values), tail.size).ravel(),
        work,
        np.empty(tail.size + 1, dtype=np.int64),
        np.empty(tail.size + 1, dtype=np.int64),
    )
    return None if count < 0 else int(count)


def _binomials(n: int, size: int) -> Integers:
    """C(i, r) for i ≤ n, r ≤ size, cut off at 2^62."""
    table = np.zeros((n + 1, size + 1), dtype=np.int64)
    table[:, 0] = 1
    for i in range(1, n + 1):
        table[i, 1:] = np.minimum(table[i - 1, 1:] + table[i - 1, :-1], _TOO_MANY)
    return table


@compiled
def _count(
    values: Integers,
    sums: Integers,
    size: int,
    threshold: int,
    binomials: Integers,
    work: int,
    position: Integers,
    need: Integers,
) -> int:
    """Depth first over the positions of descending values; -1 if `work` steps or 62 bits are not enough.

    The sums of the first values and the two stacks are given: code that allocates, or takes arrays apart, takes half
    as long again to compile.
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
                # Even the smallest completion is in the tail.
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
