"""The joint test and maxT against counting every labelling; laws of the decomposition and of generalisability."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from benchmarks.multiverse import level, world
from numpy.typing import NDArray

from weatherglass.metrics.weat.scores import effect_size
from weatherglass.reliability.agreement.icc import inter_rater, retest
from weatherglass.stats.multiplicity import westfall_young
from weatherglass.stats.multiverse import (
    combine,
    decompose,
    each_specification,
    effect_sizes,
    halves,
    joint_test,
)
from weatherglass.stats.ranking import generalisability, kendall_w

Array = NDArray[np.float64]


def brute_force(scores: Array, n_x: int) -> tuple[float, Array]:
    """Joint p and maxT p: d of every specification for every labelling, by the definition of d alone."""
    n, specifications = scores.shape
    observed = np.array([effect_size(column[:n_x], column[n_x:]) for column in scores.T])
    joint, largest, labellings = 0, np.zeros(specifications), 0
    for chosen in itertools.combinations(range(n), n_x):
        rest = [word for word in range(n) if word not in chosen]
        d = np.array([effect_size(column[list(chosen)], column[rest]) for column in scores.T])
        joint += abs(d.mean()) >= abs(observed.mean()) - 1e-9
        largest += np.abs(d).max() >= np.abs(observed) - 1e-9
        labellings += 1
    return joint / labellings, largest / labellings


@pytest.mark.parametrize(("n_x", "n_y", "specifications", "seed"), [(4, 4, 6, 0), (3, 5, 9, 1), (5, 4, 2, 2)])
def test_joint_p_and_max_t_are_what_counting_every_labelling_gives(
    n_x: int, n_y: int, specifications: int, seed: int
) -> None:
    scores = np.random.default_rng(seed).normal(size=(n_x + n_y, specifications))
    scores[:n_x] += 0.8
    joint, largest = brute_force(scores, n_x)
    found = joint_test(scores, n_x)
    assert found.p == pytest.approx(joint, abs=1e-12)
    assert found.mean_d == pytest.approx(effect_sizes(scores, n_x).mean(), abs=1e-12)
    np.testing.assert_allclose(westfall_young(scores, n_x).p, largest, atol=1e-12)


def test_a_scale_of_its_own_and_a_specification_given_twice_change_nothing() -> None:
    scores = np.random.default_rng(3).normal(size=(12, 5))
    p = joint_test(scores, 6).p
    assert joint_test(scores * [1, 10, 0.1, 3, 7] + [0, 5, 1, 2, -9], 6).p == p
    assert joint_test(np.hstack([scores, scores]), 6).p == p


def test_a_specification_without_spread_counts_as_no_effect() -> None:
    scores = np.random.default_rng(4).normal(size=(12, 2))
    scores[:, 1] = 0.25
    assert math.isnan(effect_sizes(scores, 6)[1])
    assert joint_test(scores, 6).mean_d == pytest.approx(effect_sizes(scores, 6)[0] / 2)


def test_an_interval_leaves_out_0_exactly_where_its_p_is_small() -> None:
    each = each_specification(
        np.random.default_rng(5).normal(size=(16, 40)) + np.r_[[1.0] * 8, [0.0] * 8][:, None], 8
    )
    outside = (each.low >= 0) | (each.high <= 0)
    assert (outside == (each.p <= 0.05)).all()
    assert 0 < outside.sum() < 40


def test_the_parts_of_the_variance_add_up_and_each_goes_to_its_choice() -> None:
    table = np.random.default_rng(6).normal(size=(3, 4, 5, 2))
    moved = decompose(table, ["a", "b", "c", "e"])
    assert sum(moved.main.values()) + sum(moved.pairs.values()) + moved.rest == pytest.approx(
        table.var(), abs=1e-12
    )
    assert sum(moved.shares().values()) == pytest.approx(1)
    one = np.array([1.0, 2.0, 6.0])[:, None] + np.zeros((3, 4))
    assert decompose(one, ["a", "b"]).shares()["a"] == pytest.approx(1)
    pair = np.outer([1.0, -1.0], [1.0, -1.0])
    assert decompose(pair, ["a", "b"]).pairs["a × b"] == pytest.approx(pair.var())


def test_lists_of_other_sizes_add_up_to_the_variance_of_all() -> None:
    rng = np.random.default_rng(7)
    tables = [rng.normal(size=(3, 4)), rng.normal(1, 2, size=(3, 2))]
    parts = [decompose(table, ["a", "b"]) for table in tables]
    whole = combine(parts, [12, 6], [float(t.mean()) for t in tables], "list")
    everything = np.concatenate([table.ravel() for table in tables])
    assert whole.variance == pytest.approx(everything.var())
    assert sum(whole.shares().values()) == pytest.approx(1)


def test_generalisability_is_the_intraclass_correlation_of_one_rater() -> None:
    d = np.random.default_rng(8).normal(size=(5, 12)) + np.arange(5)[:, None] + np.arange(12) / 4
    found = generalisability(d)
    assert found is not None
    assert found.relative == pytest.approx(float(inter_rater(d).value))
    assert found.absolute == pytest.approx(float(retest(d).value))
    assert found.relative_of_mean > found.relative > found.absolute


def test_kendalls_w_is_1_for_one_ranking_and_agrees_with_the_friedman_test() -> None:
    from scipy.stats import friedmanchisquare

    assert kendall_w(np.arange(4.0)[:, None] * np.array([1.0, 2.0, 5.0])) == pytest.approx(1)
    d = np.random.default_rng(9).normal(size=(4, 7)).round(1)
    # W = chi² / (judges · (models − 1))
    assert kendall_w(d) == pytest.approx(friedmanchisquare(*d).statistic / (7 * 3))


def test_halves_of_a_clear_effect_never_turn_it_and_halves_of_none_often_do() -> None:
    rng = np.random.default_rng(10)
    noise = rng.normal(size=(16, 8))
    clear = halves(noise + np.r_[[9.0] * 8, [0.0] * 8][:, None], rng.normal(size=(16, 8)), 8, True, True)
    none = halves(noise, rng.normal(size=(16, 8)), 8, True, True)
    assert clear is not None
    assert none is not None
    assert clear.turned == 0
    assert none.turned > 0.1
    assert halves(noise[:6], noise[:6], 3, True, False) is None


def test_level_of_a_few_dependent_specifications() -> None:
    """A quick look; the large test below has the repetitions that the claim needs."""
    joint, largest = level(repetitions=300, specifications=12, shared=0.7)
    assert joint < 0.09
    assert largest < 0.09


@pytest.mark.large
def test_the_level_with_60_dependent_specifications_is_5_percent() -> None:
    for shared in (0.5, 0.8):
        joint, largest = level(repetitions=4_000, specifications=60, shared=shared)
        assert joint == pytest.approx(0.05, abs=0.01)
        assert largest == pytest.approx(0.05, abs=0.01)


def test_the_simulated_specifications_share_what_they_should() -> None:
    scores = world(np.random.default_rng(0), 2_000, 5, 0.8)
    assert np.asarray(np.corrcoef(scores.T))[0, 1] == pytest.approx(0.8, abs=0.03)
