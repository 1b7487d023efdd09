"""Exact p-values: against every partition, against each other, and against scipy on ranks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu
from tests.stats.permutation import brute_force

from weatherglass.stats.permutation import ALTERNATIVES, Alternative, permutation_test
from weatherglass.stats.permutation.bounds import bound_tail
from weatherglass.stats.permutation.exact import count_by_enumeration, count_on_the_lattice
from weatherglass.stats.permutation.grid import as_extreme_as, on_grid
from weatherglass.stats.permutation.meet_in_the_middle import count_by_meeting

KINDS = ("spread", "tied", "two values", "ranks", "constant", "separated", "one outlier")


def whole_scores(kind: str, n: int, size: int, rng: np.random.Generator) -> list[int]:
    """Scores as whole numbers, the first `size` of them those of X."""
    match kind:
        case "spread":
            scores = rng.integers(-(10**6), 10**6, n)
        case "tied":
            scores = rng.integers(-3, 4, n)
        case "two values":
            scores = rng.integers(0, 2, n) * 7
        case "ranks":
            scores = rng.permutation(n)
        case "constant":
            scores = np.full(n, -5)
        case "separated":
            scores = np.concatenate([100 + rng.integers(0, 9, size), rng.integers(0, 9, n - size)])
        case _:
            scores = np.append(rng.integers(-9, 9, n - 1), 10**7)
    return [int(score) for score in scores]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", range(2, 17))
def test_exact_p_is_the_share_of_all_partitions(kind: str, n: int) -> None:
    rng = np.random.default_rng(n)
    for size in range(1, n):
        scores = whole_scores(kind, n, size, rng)
        x, y = scores[:size], scores[size:]
        sums = brute_force.all_sums(scores, size)
        for alternative in ALTERNATIVES:
            found = permutation_test(
                np.array(x) * 0.1, np.array(y) * 0.1, method="exact", alternative=alternative
            )
            wanted = float(brute_force.p_value(x, y, alternative, sums))
            assert (found.p_value, found.p_low, found.p_high) == (wanted, wanted, wanted)
            assert found.p_floor == float(brute_force.floor(x, y, alternative, sums))
            assert found.certified


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [5, 9, 12, 16])
def test_every_method_counts_the_same_subsets(kind: str, n: int) -> None:
    rng = np.random.default_rng(n)
    for size in {1, 2, n // 2, n - 3, n - 1}:
        scores = whole_scores(kind, n, size, rng)
        sums = brute_force.all_sums(scores, size)
        grid = on_grid(np.array(scores[:size], dtype=float), np.array(scores[size:], dtype=float))
        # Thresholds all over the range, not only at sums that occur.
        for observed in rng.integers(grid.observed // 2, 2 * grid.observed + 2, 4).tolist():
            unit = (max(scores) - min(scores)) // max(int(grid.values[-1]), 1)
            wanted = sum(s >= observed * unit + size * min(scores) for s in sums) if unit else len(sums)
            if unit == 0:
                observed = 0
            (tail,) = as_extreme_as(grid, observed, "greater").tails(grid)
            assert count_by_enumeration(tail, work=10**8) == wanted
            assert count_by_meeting(tail, bytes_allowed=10**8) == wanted
            assert count_by_meeting(tail, bytes_allowed=100) == wanted
            if grid.values[-1] < 10_000:
                assert count_on_the_lattice(tail) == wanted
            interval = bound_tail(tail, precision=0.01, work=10**6)
            assert interval.low <= wanted / len(sums) <= interval.high


@pytest.mark.parametrize("sizes", [(16, 16), (12, 18), (24, 6), (15, 17)])
@pytest.mark.parametrize("alternative", ["greater", "two-sided"])
def test_exact_methods_agree_to_the_last_count(sizes: tuple[int, int], alternative: Alternative) -> None:
    rng = np.random.default_rng(sum(sizes))
    x, y = rng.integers(14, 74, sizes[0]).astype(np.float64), rng.integers(0, 60, sizes[1]).astype(np.float64)
    found = [
        permutation_test(x, y, method=method, alternative=alternative).p_value
        for method in ("enumerate", "meet-in-the-middle", "lattice")
    ]
    assert found[0] == found[1] == found[2]


def test_enumeration_meets_the_middle_on_real_numbers() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(1.2, 1, 17), rng.normal(0, 1, 17)
    one = permutation_test(x, y, method="enumerate")
    other = permutation_test(x, y, method="meet-in-the-middle")
    assert one.p_value == other.p_value
    assert (one.p_method, other.p_method) == ("enumerate", "meet-in-the-middle")


@pytest.mark.parametrize("sizes", [(4, 7), (10, 10), (25, 15), (40, 40), (90, 60)])
@pytest.mark.parametrize("alternative", ["greater", "less"])
def test_rank_sums_agree_with_mann_whitney_to_12_digits(
    sizes: tuple[int, int], alternative: Alternative
) -> None:
    ranks = np.random.default_rng(sizes[0]).permutation(sum(sizes)).astype(np.float64)
    x, y = ranks[: sizes[0]], ranks[sizes[0] :]
    ours = permutation_test(x, y, method="exact", alternative=alternative)
    scipys = float(mannwhitneyu(x, y, alternative=alternative, method="exact").pvalue)
    assert ours.p_value == pytest.approx(scipys, rel=1e-12)


def test_lattice_counts_have_as_many_digits_as_they_need() -> None:
    # Two values only: how many of X score 1 is hypergeometric, and C(600, 300) has 180 digits.
    from math import comb

    x, y = np.array([1.0] * 170 + [0.0] * 130), np.array([1.0] * 130 + [0.0] * 170)
    share = sum(comb(300, k) * comb(300, 300 - k) for k in range(170, 301)) / comb(600, 300)
    assert permutation_test(x, y, method="lattice").p_value == share


def test_enumeration_stops_after_the_work_it_was_given() -> None:
    rng = np.random.default_rng(0)
    grid = on_grid(rng.normal(0.2, 1, 15), rng.normal(0, 1, 15))
    (tail,) = as_extreme_as(grid, grid.observed, "greater").tails(grid)
    assert count_by_enumeration(tail, work=1000) is None
    assert count_by_enumeration(tail, work=10**9) is not None


@pytest.mark.parametrize(("n_x", "n_y"), [(9, 9), (10, 9), (12, 5), (5, 12), (14, 3)])
@pytest.mark.parametrize("bytes_allowed", [10**8, 4_000])
def test_meeting_counts_what_enumeration_counts_whether_sums_are_stored_or_mirrored(
    n_x: int, n_y: int, bytes_allowed: int
) -> None:
    rng = np.random.default_rng(n_x)
    grid = on_grid(rng.normal(size=n_x) + 0.3, rng.normal(size=n_y))
    for tail in as_extreme_as(grid, grid.observed, "two-sided").tails(grid):
        assert count_by_meeting(tail, bytes_allowed) == count_by_enumeration(tail, work=10**8)
