"""Meeting in the middle, piece by piece: merges, pairs and counts against plain searches."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stats.permutation.test_bounds import scores_of

from weatherglass.arrays import Integers
from weatherglass.stats.permutation import permutation_test
from weatherglass.stats.permutation.grid import Tail, as_extreme_as, on_grid
from weatherglass.stats.permutation.meet_in_the_middle import (
    _memory,
    _merge_in_four,
    _pairs,
    _pairs_apart,
    count_by_meeting,
    share_out,
)

KINDS = (
    "gaussian",
    "tied",
    "ranks",
    "nearly constant",
    "huge",
    "tiny",
    "wild",
    "apart",
    "near ties",
    "equal",
)
whole = st.integers(-5, 5) | st.integers(-(2**58), 2**58)


def adversarial_scores(kind: str, n: int, size: int, rng: np.random.Generator) -> np.ndarray:
    if kind == "near ties":
        return rng.integers(0, 4, n) + 1e-13 * rng.normal(size=n)
    if kind == "equal":
        return np.full(n, 0.3)
    return scores_of(kind, n, size, rng)


def count_by_searching(tail: Tail) -> int:
    """The number of subsets in the tail: the sums of two halves by cardinality, sorted by numpy and looked up."""
    values = tail.values.tolist()
    halves = values[: len(values) // 2], values[len(values) // 2 :]
    first, second = (
        [np.sort([sum(c) for c in combinations(half, k)]).astype(np.int64) for k in range(len(half) + 1)]
        for half in halves
    )
    count = 0
    for k, sums in enumerate(first):
        if 0 <= tail.size - k < len(second):
            others = second[tail.size - k]
            count += int((len(others) - np.searchsorted(others, tail.threshold - sums)).sum())
    return count


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "n", [2, 3, 5, 11, 18, *(pytest.param(n, marks=pytest.mark.large) for n in (24, 30))]
)
def test_meeting_counts_what_a_plain_search_counts(kind: str, n: int) -> None:
    rng = np.random.default_rng(n)
    for size in {1, n // 3 or 1, n // 2}:
        scores = adversarial_scores(kind, n, size, rng)
        grid = on_grid(scores[:size], scores[size:])
        if grid.constant:
            assert permutation_test(scores[:size], scores[size:], method="meet-in-the-middle").p_value == 1
            continue
        for tail in as_extreme_as(grid, grid.observed, "two-sided", grid.slack).tails(grid):
            wanted = count_by_searching(tail)
            assert count_by_meeting(tail, bytes_allowed=10**9) == wanted
            assert count_by_meeting(tail, bytes_allowed=5_000) == wanted


@settings(max_examples=300, deadline=None)
@given(
    left=st.lists(whole, max_size=300).map(sorted),
    right=st.lists(whole, max_size=300).map(sorted),
    value=whole,
    offset=st.integers(0, 3),
)
def test_a_merge_is_a_sort(left: list[int], right: list[int], value: int, offset: int) -> None:
    old = np.array([7] * offset + left + right, dtype=np.int64)
    new = np.full(offset + len(left) + len(right) + 1, 99, dtype=np.int64)
    middle = offset + len(left)
    end = _merge_in_four(old, offset, middle, middle, len(old), value, new, offset)
    assert end == len(old)
    assert new[offset:end].tolist() == sorted(left + [number + value for number in right])
    assert (new[:offset] == 99).all()
    assert new[end:].tolist() == [99]


@settings(max_examples=300, deadline=None)
@given(
    rows=st.lists(whole, min_size=1, max_size=80).map(sorted),
    columns=st.lists(whole, min_size=1, max_size=80).map(sorted),
    need=st.integers(-12, 12) | whole,
)
def test_pairs_are_those_that_reach_the_need(rows: list[int], columns: list[int], need: int) -> None:
    ascending: tuple[Integers, Integers] = np.array(rows), np.array(columns)
    assert _pairs_apart(*ascending, need) == sum(r - c >= need for r in rows for c in columns)
    assert _pairs(*ascending, need, np.empty(len(columns), dtype=np.int64)) == sum(
        r + c >= need for r in rows for c in columns
    )


def test_meetings_in_memory_that_another_left_behind_count_the_same() -> None:
    rng = np.random.default_rng(5)
    tails: list[Tail] = []
    for n in (24, 12, 30, 9, 24):
        grid = on_grid(rng.normal(size=n // 2), rng.normal(size=n - n // 2))
        tails += as_extreme_as(grid, grid.observed, "greater").tails(grid)
    wanted = [count_by_searching(tail) for tail in tails]
    assert [count_by_meeting(tail, bytes_allowed=10**9) for tail in tails] == wanted
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(lambda tail: count_by_meeting(tail, 10**9), tails * 8)) == wanted * 8


def test_far_out_in_the_tail_most_rows_are_passed_over() -> None:
    rows, columns = np.arange(9000), np.arange(1000)
    assert _pairs_apart(rows, columns, 8998) == 3  # 8999 − 0, 8999 − 1 and 8998 − 0
    assert _pairs_apart(rows, columns, 9000) == 0
    assert _pairs_apart(rows, columns, -2000) == 9_000_000
    for need in (-999, -998, -500, 0, 1, 500, 8001, 8500):
        assert _pairs_apart(rows, columns, need) == int(np.clip(rows - need + 1, 0, 1000).sum())


def test_the_halves_of_50_elements_take_a_fifth_of_a_gigabyte() -> None:
    halves = share_out(50, 10**9)
    assert halves.first + halves.second + halves.tried == 50
    assert halves.bytes == pytest.approx(0.2e9, rel=0.02)


def test_memory_of_a_meeting_is_not_shared_with_forked_processes() -> None:
    memory = _memory(10)
    memory[:] = 0
    child = os.fork()
    if child == 0:
        memory[:] = 7
        os._exit(0)
    os.waitpid(child, 0)
    assert not memory.any()


def test_memory_that_is_not_there_is_a_memory_error() -> None:
    with pytest.raises(MemoryError):
        _memory(2**58)
