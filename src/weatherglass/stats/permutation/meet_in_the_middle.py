"""Count a tail exactly by meet-in-the-middle, using the sorted subset sums of two halves, by cardinality.

A subset of a half is determined by its complement, so only sums of at most half of its values are stored. The sums of
h − k values are the total of the half minus the sums of k values, in reverse order.
"""

from __future__ import annotations

import math
import mmap
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from weatherglass.arrays import Integers
from weatherglass.stats.permutation.grid import Tail
from weatherglass.stats.permutation.kernels import compiled

_LARGEST_HALF = 26
LARGEST_MEETING = 2 * _LARGEST_HALF + 20
"""The maximum number of elements that can be counted, whatever the budget."""
_WORTH_BISECTING = 4096
"""The number of rows from which bisection in numpy is faster than a loop over all rows."""
_LARGEST_PREDICTION = 200
"""The number of elements above which the predicted time is infinite."""
_KEPT_BYTES = 256_000_000
"""The largest memory that is kept for the next count. Allocating new pages takes more than a fifth of the time of
counting 25 + 25 elements, and a run counts several times.
"""
_SECONDS_A_STEP = 1e-9
_SECONDS_A_BYTE = 0.3e-9


@dataclass(frozen=True, slots=True)
class Halves:
    """A division of n elements into two halves, plus a few elements that are tried both in and out."""

    first: int
    second: int
    tried: int

    @property
    def bytes(self) -> int:
        """Return the number of bytes of both tables and of the buffer for building the larger one."""
        return 8 * (_stored(self.first) + _stored(self.second) + _buffered(self.first))

    @property
    def seconds(self) -> float:
        """Return the predicted time of merging and matching entries, and of the first access to new memory."""
        steps = ((1 << self.first) + (1 << self.second)) * (2 + (1 << self.tried))
        return _SECONDS_A_STEP * steps + _SECONDS_A_BYTE * self.bytes


def _stored(h: int) -> int:
    """Return the number of subsets of h values that contain at most half of them."""
    return ((1 << h) + (math.comb(h, h // 2) if h % 2 == 0 else 0)) // 2


def _buffered(h: int) -> int:
    """Return the number of subsets of at most h // 2 values before the last of h values is added."""
    return sum(math.comb(h - 1, k) for k in range(h // 2 + 1)) if h > 0 else 1


@cache
def endless_memory_seconds(n: int) -> float:
    """Return the predicted seconds for n elements with unlimited memory; they double with every two elements."""
    if n > _LARGEST_PREDICTION:
        return math.inf
    return min(Halves((n - tried + 1) // 2, (n - tried) // 2, tried).seconds for tried in range(min(n, 8)))


@cache
def share_out(n: int, bytes_allowed: int) -> Halves:
    """Return the fastest division of n elements that fits into memory; each element that is tried both in and out
    halves the memory.
    """
    ways = []
    for tried in range(n - 1):
        halved = n - tried
        way = Halves((halved + 1) // 2, halved // 2, tried)
        if way.first <= _LARGEST_HALF and (way.bytes <= bytes_allowed or halved == 2):
            ways.append(way)
    return min(ways, key=lambda way: way.seconds)


def count_by_meeting(tail: Tail, bytes_allowed: int) -> int:
    """Count the subsets in the tail exactly; C(n, size) must be below 2^63."""
    if tail.known is not None:
        return tail.known
    n = len(tail.values)
    halves = share_out(n, bytes_allowed)
    # Elements alternate, so that the two halves are similar; the largest elements are tried both ways.
    first = np.ascontiguousarray(tail.values[: n - halves.tried : 2])
    second = np.ascontiguousarray(tail.values[1 : n - halves.tried : 2])
    memory = _memory(halves.bytes // 8)
    # Both halves are built in the same buffer.
    spare, rest = np.split(memory, [_buffered(halves.first)])
    first_sums, first_starts = _sums_by_cardinality(first, tail.size, rest, spare)
    rest = rest[len(first_sums) :]
    second_sums, second_starts = _sums_by_cardinality(second, tail.size, rest, spare)
    tried = np.ascontiguousarray(tail.values[n - halves.tried :])
    count = _meet(
        *(first_sums, first_starts, int(first.sum()), second_sums, second_starts, int(second.sum())),
        *(tried, tail.size, tail.threshold, spare),
    )
    if memory.nbytes <= _KEPT_BYTES:
        _kept[:] = [memory]
    return count


_kept: list[Integers] = []
"""The memory of the last count, if no other count is using it."""


def _memory(entries: int) -> Integers:
    """Return memory for this many sums; it is taken from the list, so that two threads never share it."""
    try:
        kept = _kept.pop()
    except IndexError:
        kept = np.empty(0, dtype=np.int64)
    if len(kept) >= entries:
        return kept
    # np.empty is not used, because it requests pages of 2 MB. A virtual machine that has returned its free pages to its
    # host gets new ones at 6 ns per byte, ten times the cost of small pages. These tables are read in order, so small
    # pages have no disadvantage.
    try:
        # The memory is private; by default, processes that are forked later would share it.
        room = mmap.mmap(-1, 8 * entries, access=mmap.ACCESS_COPY)
    except OSError:
        raise MemoryError(f"{8 * entries} bytes for the tables of meet-in-the-middle") from None
    return np.frombuffer(room, dtype=np.int64)


def _sums_by_cardinality(
    values: Integers, size: int, room: Integers, spare: Integers
) -> tuple[Integers, Integers]:
    """Return all sums of at most `size` and half of the values, by cardinality, and the start of each cardinality.

    Sums of one cardinality are ascending. They are stored from the start of `room`, and are built alternately in
    `room` and in the spare buffer.
    """
    h = len(values)
    most = min(size, h // 2)
    starts = np.cumsum([0] + [math.comb(h, k) if k <= most else 0 for k in range(h + 1)])
    lengths = np.zeros(h + 1, dtype=np.int64)
    return _grow(values, most, room[: starts[-1]], spare, lengths), starts


@compiled
def _grow(values: Integers, size: int, sums: Integers, spare: Integers, lengths: Integers) -> Integers:
    """Add one value at a time; the new sums of k values are the old ones merged with the shifted sums of k − 1 values.

    This function and those below allocate nothing and use neither min nor max, because each would be one more function
    to compile.
    """
    h = len(values)
    # Whichever array is written last must be `sums`.
    old, new = (sums, spare) if h % 2 == 0 else (spare, sums)
    old[0] = 0
    lengths[0] = 1
    for count in range(h):
        most = count + 1 if count + 1 < size else size
        # The literal 0 is not used, because numba would compile the merge three times.
        shorter, longer, out = int(np.int64(0)), int(np.int64(0)), int(np.int64(0))
        for k in range(most + 1):
            # The old sums of k and of k − 1 values start at `longer` and `shorter`.
            end = longer + lengths[k]
            out = _merge_in_four(old, longer, end, shorter, longer, values[count], new, out)
            shorter, longer = longer, end
        for k in range(most, 0, -1):
            lengths[k] += lengths[k - 1]
        old, new = new, old
    return old


@compiled
def _merge_in_four(
    old: Integers, i: int, i_end: int, j: int, j_end: int, value: int, new: Integers, out: int
) -> int:
    """Merge old[i:i_end] with old[j:j_end] + value into new[out:]; return the new end.

    Each step of a merge depends on the step before it. Therefore the smaller and the larger half of the result are
    merged at the same time, each from both ends; four independent steps take two thirds of the time of two.
    """
    finish = out + (i_end - i) + (j_end - j)
    if finish - out < 64:
        return _merge(old, i, i_end, j, j_end, value, new, out)
    half = (finish - out) // 2
    # Bisection finds how many of old[i:i_end] are in the smaller half.
    taken = half - (j_end - j) if half > j_end - j else 0
    high = half if half < i_end - i else i_end - i
    while taken < high:
        middle = (taken + high) // 2
        if old[i + middle] <= old[j + half - middle - 1] + value:
            taken = middle + 1
        else:
            high = middle
    # The smaller half ends at i_to and j_to; the larger half starts at i_2 and j_2.
    i_to, j_to, last = i + taken, j + half - taken, out + half - 1
    i_2, j_2, out_2, last_2 = i_to, j_to, out + half, finish - 1
    steps = 1
    while steps > 0:
        steps = (last - out + 1) // 2
        steps = i_to - i if i_to - i < steps else steps
        steps = j_to - j if j_to - j < steps else steps
        steps = i_end - i_2 if i_end - i_2 < steps else steps
        steps = j_end - j_2 if j_end - j_2 < steps else steps
        steps = (last_2 - out_2 + 1) // 2 if (last_2 - out_2 + 1) // 2 < steps else steps
        for _ in range(steps):
            left, right = old[np.uint64(i)], old[np.uint64(j)] + value
            take = int(left <= right)
            new[np.uint64(out)] = left if left <= right else right
            i, j, out = i + take, j + 1 - take, out + 1
            left, right = old[np.uint64(i_to - 1)], old[np.uint64(j_to - 1)] + value
            take = int(left > right)
            new[np.uint64(last)] = left if left > right else right
            i_to, j_to, last = i_to - take, j_to - 1 + take, last - 1
            left, right = old[np.uint64(i_2)], old[np.uint64(j_2)] + value
            take = int(left <= right)
            new[np.uint64(out_2)] = left if left <= right else right
            i_2, j_2, out_2 = i_2 + take, j_2 + 1 - take, out_2 + 1
            left, right = old[np.uint64(i_end - 1)], old[np.uint64(j_end - 1)] + value
            take = int(left > right)
            new[np.uint64(last_2)] = left if left > right else right
            i_end, j_end, last_2 = i_end - take, j_end - 1 + take, last_2 - 1
    _merge(old, i, i_to, j, j_to, value, new, out)
    _merge(old, i_2, i_end, j_2, j_end, value, new, out_2)
    return finish


@compiled
def _merge(old: Integers, i: int, i_end: int, j: int, j_end: int, value: int, new: Integers, out: int) -> int:
    """Merge from both ends at once.

    The two ends are independent, which halves the time; unsigned indices avoid a check for negative numbers.
    """
    finish = out + (i_end - i) + (j_end - j)
    last = finish - 1
    while i < i_end and j < j_end:
        steps = (last - out + 1) // 2
        steps = i_end - i if i_end - i < steps else steps
        steps = j_end - j if j_end - j < steps else steps
        for _ in range(steps):
            left, right = old[np.uint64(i)], old[np.uint64(j)] + value
            take = int(left <= right)
            new[np.uint64(out)] = left if left <= right else right
            i += take
            j += 1 - take
            out += 1
            left, right = old[np.uint64(i_end - 1)], old[np.uint64(j_end - 1)] + value
            take = int(left > right)
            new[np.uint64(last)] = left if left > right else right
            i_end -= take
            j_end -= 1 - take
            last -= 1
    for rest in range(i, i_end):
        new[out] = old[rest]
        out += 1
    for rest in range(j, j_end):
        new[out] = old[rest] + value
        out += 1
    return finish


def _meet(
    first: Integers,
    first_starts: Integers,
    first_total: int,
    second: Integers,
    second_starts: Integers,
    second_total: int,
    tried: Integers,
    size: int,
    threshold: int,
    spare: Integers,
) -> int:
    """Count pairs of sums, one from each half, that reach the threshold together with some of the tried values.

    The spare buffer has room for every list. This function is not compiled, because that would compile `_walk` again
    for each call in it.
    """
    total = 0
    h1, h2 = len(first_starts) - 2, len(second_starts) - 2
    ways = [
        (threshold - int(tried[list(taken)].sum()), size - count)
        for count in range(len(tried) + 1)
        for taken in combinations(range(len(tried)), count)
    ]
    # All work on a list of sums is done while the list is in the processor's cache.
    for k in sorted(range(h1 + 1), key=lambda k: min(k, h1 - k)):
        for need, left in ways:
            if not 0 <= left - k <= h2:
                continue
            # For a cardinality above half, the sums of the complements are stored: total − u for the sum u. For exactly
            # half, both are stored, and those that need no copy are used.
            k_first, k_second = min(k, h1 - k), min(left - k, h2 - left + k)
            rows = first[first_starts[k_first] : first_starts[k_first + 1]]
            columns = second[second_starts[k_second] : second_starts[k_second + 1]]
            if k_first == k and k_second == h2 - left + k:
                total += _pairs_apart(rows, columns, need - second_total)
            elif k_first == h1 - k and k_second == left - k:
                total += _pairs_apart(columns, rows, need - first_total)
            elif k_first == k:
                total += _pairs(rows, columns, need, spare)
            else:
                beyond = _pairs(rows, columns, first_total + second_total - need + 1, spare)
                total += len(rows) * len(columns) - beyond
    return total


def _pairs(rows: Integers, columns: Integers, need: int, spare: Integers) -> int:
    """Count pairs of ascending numbers with row + column ≥ need, as row − (−column) with reversed columns.

    Copying the columns costs less than compiling a second walk; only one in ten pairs of cardinalities needs it.
    """
    return _pairs_apart(rows, np.negative(columns[::-1], out=spare[: len(columns)]), need)


def _pairs_apart(rows: Integers, columns: Integers, need: int) -> int:
    """Count pairs of ascending numbers with row − column ≥ need.

    Far out in a tail, most rows are too small for every column, and bisection skips them.
    """
    if len(rows) < _WORTH_BISECTING:
        return int(_walk(rows, columns, need))
    first, last = np.searchsorted(rows, (columns[0] + need, columns[-1] + need))
    return int(_walk(rows[first:last], columns, need)) + (len(rows) - int(last)) * len(columns)


@compiled
def _walk(rows: Integers, columns: Integers, need: int) -> int:
    """Count pairs of ascending numbers with row − column ≥ need.

    The columns advance as the rows increase. Whole tiles of 16 rows and 8 columns are compared, which takes half the
    time of single steps, because the processor makes several comparisons at once and has fewer branches to predict.
    """
    n = len(columns)
    row, above = 0, 0  # columns before `above` suffice for all unfinished rows
    total = 0
    while row + 16 <= len(rows):
        inside, up = 16 * above, above
        while up + 8 <= n:
            for i in range(16):
                most = rows[np.uint64(row + i)] - need
                for j in range(8):
                    inside += int(columns[np.uint64(up + j)] <= most)
            if rows[row + 15] - columns[up + 7] < need:
                break
            up += 8
        if up + 8 > n:
            break  # fewer columns than a tile are left, so the rest is done in single steps
        total, above = total + inside, up
        row += 16
    for i in range(row, len(rows)):
        while above < n and rows[i] - columns[above] >= need:
            above += 1
        total += above
    return total
