"""Scores of targets under every measure: the definitions, and what may not change a bit of them."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.weat import definitions

from weatherglass.arrays import Matrix
from weatherglass.errors import ZeroVectorError
from weatherglass.metrics.weat import scores as weat_scores
from weatherglass.metrics.weat.association import (
    SIMILARITIES,
    Association,
    known_associations,
    select_associations,
)
from weatherglass.metrics.weat.covariance import Covariance
from weatherglass.metrics.weat.scores import associations

ALL = select_associations(["*"])
DISTANCES = ("euclidean", "manhattan", "mahalanobis")


def drawn(seed: int, *shape: int) -> Matrix:
    return np.random.default_rng(seed).normal(size=shape)


def covariance(seed: int, width: int) -> Covariance:
    root = drawn(seed, width, width)
    return Covariance(root @ root.T + np.eye(width), "drawn", 0.0, 1.0, width)


TARGETS, A, B = drawn(1, 9, 6), drawn(2, 5, 6), drawn(3, 4, 6)
PAIR = covariance(4, 6), covariance(5, 6)


@pytest.mark.parametrize("measure", known_associations(), ids=str)
def test_scores_follow_the_definition(measure: Association) -> None:
    if measure.similarity == "mahalanobis":
        to_a, to_b = (partial(definitions.mahalanobis, precision=each.precision) for each in PAIR)
    else:
        to_a = to_b = getattr(definitions, measure.similarity)
    orientation = -1 if measure.similarity in DISTANCES else 1
    expected = [definitions.association(w, to_a, to_b, A, B, measure.statistic, orientation) for w in TARGETS]
    np.testing.assert_allclose(associations(TARGETS, A, B, [measure], PAIR)[measure], expected, atol=1e-13)


@pytest.mark.parametrize("measure", ALL, ids=str)
def test_a_score_does_not_depend_on_what_else_is_asked_for(measure: Association) -> None:
    alone = associations(TARGETS, A, B, [measure], PAIR)[measure]
    assert np.array_equal(alone, associations(TARGETS, A, B, ALL, PAIR)[measure])


@pytest.mark.parametrize("entries", [1, 20, 40])
def test_blocks_change_no_score(monkeypatch: pytest.MonkeyPatch, entries: int) -> None:
    whole = associations(TARGETS, A, B, ALL, PAIR)
    monkeypatch.setattr(weat_scores, "BLOCK_ENTRIES", entries)
    for measure, scores in associations(TARGETS, A, B, ALL, PAIR).items():
        np.testing.assert_allclose(scores, whole[measure], rtol=1e-13, atol=1e-15)


def test_no_block_is_larger_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weat_scores, "BLOCK_ENTRIES", 20)
    similarity = SIMILARITIES.get("euclidean")
    blocks = list(weat_scores._sorted_blocks(TARGETS, A, B, similarity, None))
    assert [len(to_a) for to_a, _ in blocks] == [2, 2, 2, 2, 1]
    assert all(to_a.size + to_b.size <= 20 for to_a, to_b in blocks)


@given(seed=st.integers(0, 1000))
def test_cosine_mean_is_the_same_wherever_a_target_stands(seed: int) -> None:
    targets, a, b = drawn(seed, 8, 11), drawn(seed + 1, 3, 11), drawn(seed + 2, 4, 11)
    order = np.random.default_rng(seed).permutation(8)
    measure = Association()
    together = associations(targets, a, b, [measure])[measure]
    assert np.array_equal(associations(targets[order], a, b, [measure])[measure], together[order])
    assert np.array_equal(associations(targets[3:4], a, b, [measure])[measure], together[3:4])


@pytest.mark.parametrize("measure", [m for m in ALL if m.similarity in ("euclidean", "manhattan")], ids=str)
def test_the_order_of_the_attributes_cannot_matter(measure: Association) -> None:
    there = associations(TARGETS, A, B, [measure])[measure]
    back = associations(TARGETS, A[::-1].copy(), B[::-1].copy(), [measure])[measure]
    assert np.array_equal(there, back)


@pytest.mark.parametrize("measure", [m for m in ALL if m.statistic != "eq2"], ids=str)
def test_swapping_the_attributes_negates_the_scores(measure: Association) -> None:
    there = associations(TARGETS, A, B, [measure], PAIR)[measure]
    back = associations(TARGETS, B, A, [measure], PAIR[::-1])[measure]
    assert np.array_equal(back, -there)


@pytest.mark.parametrize("measure", [m for m in ALL if m.statistic != "eq2"], ids=str)
def test_a_word_of_a_leans_to_a(measure: Association) -> None:
    apart = np.array([[4.0, 0.0], [0.0, 4.0]])
    identity = Covariance(np.eye(2), "given", 0.0, 0.0, 2)
    scores = associations(apart, apart[:1], apart[1:], [measure], (identity, identity))[measure]
    assert scores[0] > 0 > scores[1]


@pytest.mark.parametrize(
    ("sets", "where", "row"),
    [
        ((TARGETS * 0, A, B), "targets", 0),
        ((TARGETS, A * 0, B), "A", 0),
        ((TARGETS, A, np.vstack([B, np.zeros(6)])), "B", 4),
    ],
)
@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_a_zero_vector_is_found_in_its_set(
    sets: tuple[Matrix, Matrix, Matrix], where: str, row: int, statistic: str
) -> None:
    with pytest.raises(ZeroVectorError) as caught:
        associations(*sets, [Association("cosine", statistic)])
    assert (caught.value.where, caught.value.row) == (where, row)


def test_a_zero_target_in_a_later_block_keeps_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weat_scores, "BLOCK_ENTRIES", 20)
    targets = TARGETS.copy()
    targets[7] = 0
    with pytest.raises(ZeroVectorError) as caught:
        associations(targets, A, B, [Association("cosine", "max")])
    assert (caught.value.where, caught.value.row) == ("targets", 7)


def test_a_zero_vector_is_no_obstacle_to_a_distance() -> None:
    scores = associations(TARGETS * 0, A, B, [Association("euclidean", "mean")])
    assert np.isfinite(scores[Association("euclidean", "mean")]).all()
