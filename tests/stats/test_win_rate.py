"""Win rates of groups of names: closed forms, enumeration, laws, and agreement of p with its interval."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import rankdata

from weatherglass.arrays import Matrix
from weatherglass.stats.win_rate import (
    RankedContexts,
    WinRate,
    at_equal_pieces,
    deciding_names,
    interaction,
    leaves_out_even,
    pairwise,
    placebo,
    placements,
    win_rate,
)


def nested(queries: int, passages: int) -> RankedContexts:
    return RankedContexts(np.repeat(np.arange(queries), passages), np.arange(queries * passages))


def crossed(queries: int, passages: int) -> RankedContexts:
    grid = np.indices((queries, passages)).reshape(2, -1)
    return RankedContexts(grid[0], grid[1])


def random_scores(
    rng: np.random.Generator, n_x: int, n_y: int, contexts: int, shift: float, ties: bool
) -> Matrix:
    names = rng.normal(size=(n_x + n_y, 1)) + np.where(np.arange(n_x + n_y) < n_x, shift, 0.0)[:, np.newaxis]
    scores = names + rng.normal(size=(n_x + n_y, contexts))
    return np.round(scores, 1) if ties else scores


def random_case(rng: np.random.Generator, number: int, alpha: float) -> tuple[WinRate, Matrix, int]:
    n_x, n_y = (int(size) for size in rng.integers(2, 9, 2))
    queries, passages = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    contexts = (nested if number % 2 else crossed)(queries, passages)
    scores = random_scores(
        rng, n_x, n_y, queries * passages, float(rng.uniform(-2, 2)), ties=bool(number % 3)
    )
    return win_rate(scores, n_x, contexts, alpha), scores, n_x


def test_p_is_at_most_alpha_exactly_where_the_interval_leaves_out_one_half() -> None:
    rng = np.random.default_rng(14)
    significant = 0
    for number in range(1_000):
        alpha = (0.05, 0.1, 0.3)[number % 3]
        found, _, _ = random_case(rng, number, alpha)
        if found.interval is None:
            continue
        significant += found.significance.p_value <= alpha
        assert leaves_out_even(found.interval) is (found.significance.p_value <= alpha)
        assert 0 <= found.interval.low <= found.value <= found.interval.high <= 1
        if found.random is not None:
            assert leaves_out_even(found.random.interval) is (found.random.p <= alpha)
    assert 200 < significant < 800


def test_the_win_rate_is_the_difference_of_mean_ranks_and_a_count_of_pairs() -> None:
    rng = np.random.default_rng(1)
    for number in range(50):
        found, scores, n_x = random_case(rng, number, 0.05)
        n, wins = len(scores), 0.0
        for column in scores.T:
            wins += sum((x > y) + (x == y) / 2 for x, y in itertools.product(column[:n_x], column[n_x:])) / (
                n_x * (n - n_x)
            )
        assert found.value == pytest.approx(wins / scores.shape[1], abs=1e-12)
        assert found.by_name == pytest.approx(rankdata(scores, axis=0).mean(axis=1) / n, abs=1e-12)
        difference = found.by_name[:n_x].mean() - found.by_name[n_x:].mean()
        assert found.value - 0.5 == pytest.approx(difference, abs=1e-12)
        mean_ranks = [part.mean(axis=0) for part in np.split(rankdata(scores, axis=0), [n_x])]
        assert found.places == pytest.approx(np.median(mean_ranks[0] - mean_ranks[1]), abs=1e-9)


def test_p_is_the_share_of_all_exchanges_at_least_as_far_from_one_half() -> None:
    rng = np.random.default_rng(2)
    for number in range(12):
        found, scores, n_x = random_case(rng, number, 0.05)
        names = range(len(scores))
        observed, hits, total = abs(found.value - 0.5), 0, 0
        for chosen in itertools.combinations(names, n_x):
            order = [*chosen, *(name for name in names if name not in chosen)]
            value = placements(scores[order[:n_x]], scores[order[n_x:]]).mean()
            hits += abs(value - 0.5) >= observed - 1e-9
            total += 1
        assert found.significance.p_value == pytest.approx(hits / total, abs=1e-12)


def test_swapping_the_groups_mirrors_every_number() -> None:
    rng = np.random.default_rng(3)
    for number in range(60):
        scores = random_scores(rng, 5, 7, 12, rng.uniform(-1, 1), ties=number % 2 == 0)
        contexts = (nested if number % 3 else crossed)(3, 4)
        one, other = win_rate(scores, 5, contexts), win_rate(scores[[*range(5, 12), *range(5)]], 7, contexts)
        assert one.value == pytest.approx(1 - other.value, abs=1e-12)
        assert one.significance.p_value == other.significance.p_value
        assert one.places == pytest.approx(-other.places, abs=1e-9)
        assert one.interval
        assert other.interval
        assert (one.interval.low, one.interval.high) == pytest.approx(
            (1 - other.interval.high, 1 - other.interval.low), abs=1e-9
        )
        assert one.random
        assert other.random
        assert one.random.p == pytest.approx(other.random.p, abs=1e-9)


def test_crossed_contexts_have_the_variances_of_plain_loops() -> None:
    """V_C, I and df of METHODS 14 for queries that share H ≥ 4 passages, written out."""
    rng = np.random.default_rng(4)
    n_x, n_y, g, h = 6, 5, 3, 4
    n = n_x + n_y
    for _ in range(20):
        scores = rng.normal(size=(n, g * h)) + rng.normal(size=(n, 1))
        found = win_rate(scores, n_x, crossed(g, h)).random
        assert found
        assert found.passages == "crossed"
        above = placements(scores[:n_x], scores[n_x:]).reshape(n_x, g, h)
        below = placements(scores[n_x:], scores[:n_x]).reshape(n_y, g, h)
        table = above.mean(axis=0)
        v_x, v_y = above.mean((1, 2)).var(ddof=1) / n_x, below.mean((1, 2)).var(ddof=1) / n_y
        v_q, v_p = table.mean(1).var(ddof=1) / g, table.mean(0).var(ddof=1) / h
        v_qp = sum(
            (table[q, p] - table[q].mean() - table[:, p].mean() + table.mean()) ** 2
            for q, p in np.ndindex(g, h)
        ) / ((g - 1) * (h - 1) * g * h)
        assert found.of_contexts == pytest.approx(max(v_q + v_p - v_qp, v_q, v_p), rel=1e-9)
        assert found.of_names == pytest.approx(v_x + v_y, rel=1e-9)
        df = (v_x + v_y + v_q + v_p) ** 2 / (
            v_x**2 / (n_x - 1) + v_y**2 / (n_y - 1) + v_q**2 / (g - 1) + v_p**2 / (h - 1)
        )
        assert found.df == pytest.approx(df, rel=1e-9)
        ranks = (rankdata(scores, axis=0) / n).reshape(n, g, h)
        parts = {"q": 0.0, "p": 0.0, "qp": 0.0}
        for group in (ranks[:n_x], ranks[n_x:]):
            e = group - group.mean(axis=0)
            parts["q"] += ((e.mean(2) - e.mean((1, 2))[:, None]) ** 2).sum() / ((g - 1) * g)
            parts["p"] += ((e.mean(1) - e.mean((1, 2))[:, None]) ** 2).sum() / ((h - 1) * h)
            three = e - e.mean(2, keepdims=True) - e.mean(1, keepdims=True) + e.mean((1, 2), keepdims=True)
            parts["qp"] += (three**2).sum() / ((g - 1) * (h - 1) * g * h)
        both = max(parts["q"] + parts["p"] - parts["qp"], parts["q"], parts["p"])
        assert found.of_both == pytest.approx(both / (n - 2) * (1 / n_x + 1 / n_y), rel=1e-9)


@pytest.mark.parametrize(
    ("contexts", "layout"),
    [
        (nested(3, 2), "nested"),
        (nested(4, 1), "nested"),
        (crossed(3, 4), "crossed"),
        (crossed(3, 3), "fixed"),
        (RankedContexts(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])), "fixed"),
    ],
    ids=["own passages", "one passage each", "all shared", "three shared", "partly shared"],
)
def test_passages_are_generalised_over_only_if_enough_are_shared_by_all(
    contexts: RankedContexts, layout: str
) -> None:
    assert contexts.layout() == layout


def test_one_query_and_names_that_tie_everywhere_have_no_reading_beyond_these_contexts() -> None:
    scores = np.random.default_rng(5).normal(size=(8, 4))
    assert win_rate(scores, 4, nested(1, 4)).random is None
    tied = win_rate(np.ones((8, 4)), 4, nested(2, 2))
    assert (tied.value, tied.significance.p_value, tied.interval, tied.random) == (0.5, 1.0, None, None)


def test_a_perfect_separation_has_the_least_p_and_an_interval_that_ends_at_one() -> None:
    scores = np.repeat([[2.0], [1.0]], 4, axis=0) + np.zeros((8, 6))
    found = win_rate(scores, 4, nested(3, 2))
    assert found.value == 1
    assert found.significance.p_value == pytest.approx(2 / 70)
    assert found.interval
    assert found.interval.high == 1
    assert found.interval.low > 0.5


def test_names_whose_removal_lifts_p_are_those_that_a_full_recount_finds() -> None:
    rng = np.random.default_rng(6)
    deciding = 0
    for _ in range(40):
        scores = random_scores(rng, 5, 5, 6, 1.3, ties=False)
        whole = win_rate(scores, 5, nested(3, 2))
        if whole.significance.p_value > 0.05:
            continue
        expected = [
            name
            for name in range(10)
            if win_rate(np.delete(scores, name, axis=0), 5 - (name < 5), nested(3, 2)).significance.p_value
            > 0.05
        ]
        assert deciding_names(pairwise(scores), 5) == expected
        deciding += bool(expected)
    assert deciding >= 3


def test_every_name_decides_where_no_exchange_of_the_others_can_be_significant() -> None:
    apart = np.repeat([[2.0], [1.0]], [3, 4], axis=0) + np.zeros((7, 6))
    assert win_rate(apart, 3, nested(3, 2)).significance.p_value == pytest.approx(1 / 35)
    assert deciding_names(pairwise(apart), 3) == list(range(7))  # 1 / 15 or 2 / 20 without one of them
    wide = np.repeat([[2.0], [1.0]], 9, axis=0) + np.zeros((18, 6))
    assert deciding_names(pairwise(wide), 9) == []


def test_splits_of_names_that_tie_differ_by_nothing_and_other_splits_by_chance() -> None:
    rng = np.random.default_rng(7)
    assert placebo(pairwise(np.ones((8, 3))), 4) == 0
    noisy = placebo(pairwise(rng.normal(size=(24, 1)) + rng.normal(size=(24, 30)) / 9), 12)
    assert noisy is not None
    assert 0.1 < noisy < 0.5
    assert placebo(pairwise(rng.normal(size=(6, 3))), 3) is None


def test_pieces_explain_a_difference_that_they_cause_and_no_other() -> None:
    rng = np.random.default_rng(8)
    pieces = np.array([1.0] * 12 + [2] * 4 + [1] * 4 + [2] * 12)
    caused = rng.normal(size=(32, 40)) - 3 * pieces[:, np.newaxis]
    found = win_rate(caused, 16, nested(10, 4))
    beside = at_equal_pieces(found.by_name, pairwise(caused), 16, pieces)
    assert beside
    assert found.value > 0.7
    assert found.significance.p_value < 0.01
    assert beside.p > 0.05
    assert beside.matched == pytest.approx(0.5, abs=0.05)
    assert beside.matched_pairs == 12 * 4 + 4 * 12
    shifted = caused + np.where(np.arange(32) < 16, 2.0, 0.0)[:, np.newaxis]
    other = win_rate(shifted, 16, nested(10, 4))
    kept = at_equal_pieces(other.by_name, pairwise(shifted), 16, pieces)
    assert kept
    assert kept.p < 0.01
    assert kept.interval
    assert kept.interval.low > 0.5
    assert at_equal_pieces(found.by_name, pairwise(caused), 16, np.ones(32)) is None
    apart = at_equal_pieces(found.by_name, pairwise(caused), 16, np.repeat([1.0, 2.0], 16))
    assert apart
    assert (apart.win_rate, apart.p, apart.interval, apart.matched) == (0.5, 1.0, None, None)


def test_the_interaction_is_a_difference_of_differences_by_welch() -> None:
    rng = np.random.default_rng(9)
    groups = [rng.normal(mean, 1, size) for mean, size in ((1, 6), (0, 9), (0, 5), (0, 12))]
    found = interaction(groups)
    assert found
    means, variances = [g.mean() for g in groups], [g.var(ddof=1) / len(g) for g in groups]
    assert found.value == pytest.approx(means[0] - means[1] - means[2] + means[3])
    df = sum(variances) ** 2 / sum(v**2 / (len(g) - 1) for v, g in zip(variances, groups, strict=True))
    from scipy.stats import t

    assert found.p == pytest.approx(2 * t.sf(abs(found.value) / np.sqrt(sum(variances)), df))
    assert (found.interval.low > 0 or found.interval.high < 0) is (found.p <= 0.05)
    assert interaction([np.ones(3)] * 4) is None
