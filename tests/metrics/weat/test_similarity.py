"""Raw measures against their definitions and scipy, and the laws they obey."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial import distance
from scipy.stats import ortho_group
from tests.messages import naming
from tests.metrics.weat import definitions

from weatherglass.arrays import Matrix
from weatherglass.errors import UnitError, ZeroVectorError
from weatherglass.metrics.weat.scores import cosine, dot, euclidean, manhattan, unit_rows, whiten

numbers = st.floats(-100, 100, allow_subnormal=False).map(lambda x: round(x, 6))
"""Of one size, so that a law can be held to an absolute tolerance."""


def matrices(rows: int, columns: int = 5) -> st.SearchStrategy[Matrix]:
    return arrays(np.float64, (rows, columns), elements=numbers)


def drawn(seed: int, *shape: int) -> Matrix:
    return np.random.default_rng(seed).normal(size=shape)


def some_precision(seed: int, width: int) -> Matrix:
    root = drawn(seed, width, width)
    return np.asarray(root @ root.T + np.eye(width))


@pytest.mark.parametrize("name", ["cosine", "dot", "euclidean", "manhattan"])
def test_a_matrix_holds_the_measure_of_every_pair(name: str) -> None:
    ours = {"cosine": cosine, "dot": dot, "euclidean": euclidean, "manhattan": manhattan}[name]
    targets, attributes = drawn(1, 7, 12), drawn(2, 4, 12)
    one = getattr(definitions, name)
    np.testing.assert_allclose(
        ours(targets, attributes), [[one(w, a) for a in attributes] for w in targets], rtol=1e-13, atol=1e-13
    )


def test_whitened_euclidean_distance_is_mahalanobis_distance() -> None:
    targets, attributes, precision = drawn(1, 7, 6), drawn(2, 4, 6), some_precision(3, 6)
    ours = euclidean(whiten(targets, precision), whiten(attributes, precision))
    by_loops = [[definitions.mahalanobis(w, a, precision) for a in attributes] for w in targets]
    by_scipy = [[distance.mahalanobis(w, a, precision) for a in attributes] for w in targets]
    np.testing.assert_allclose(ours, by_loops, rtol=1e-12)
    np.testing.assert_allclose(ours, by_scipy, rtol=1e-12)


def test_distances_equal_those_of_scipy() -> None:
    targets, attributes = drawn(1, 7, 300), drawn(2, 4, 300)
    for w, from_cosine, from_euclidean, from_manhattan in zip(
        targets,
        cosine(targets, attributes),
        euclidean(targets, attributes),
        manhattan(targets, attributes),
        strict=True,
    ):
        for j, a in enumerate(attributes):
            assert 1 - from_cosine[j] == pytest.approx(distance.cosine(w, a), rel=1e-12)
            assert from_euclidean[j] == pytest.approx(distance.euclidean(w, a), rel=1e-12)
            assert from_manhattan[j] == pytest.approx(distance.cityblock(w, a), rel=1e-12)


def test_with_the_identity_mahalanobis_is_euclidean_to_the_last_bit() -> None:
    targets, attributes = drawn(1, 7, 30), drawn(2, 4, 30)
    ours = euclidean(whiten(targets, np.eye(30)), whiten(attributes, np.eye(30)))
    assert np.array_equal(ours, euclidean(targets, attributes))


@given(targets=matrices(4), attributes=matrices(3), shift=matrices(1))
def test_translation_leaves_euclidean_and_manhattan_unchanged(
    targets: Matrix, attributes: Matrix, shift: Matrix
) -> None:
    for measure in (euclidean, manhattan):
        moved = measure(targets + shift, attributes + shift)
        np.testing.assert_allclose(moved, measure(targets, attributes), atol=1e-11)


@given(targets=matrices(4), attributes=matrices(3), seed=st.integers(0, 1000))
def test_rotation_leaves_euclidean_and_dot_unchanged(targets: Matrix, attributes: Matrix, seed: int) -> None:
    rotation = ortho_group.rvs(5, random_state=seed)
    turned = euclidean(targets @ rotation, attributes @ rotation)
    np.testing.assert_allclose(turned, euclidean(targets, attributes), atol=1e-6)
    np.testing.assert_allclose(
        dot(targets @ rotation, attributes @ rotation), dot(targets, attributes), atol=1e-9
    )


def test_rotation_changes_manhattan() -> None:
    targets, attributes = np.array([[1.0, 0.0]]), np.array([[0.0, 0.0]])
    half_right_angle = np.array([[1.0, 1.0], [-1.0, 1.0]]) / np.sqrt(2)
    assert manhattan(targets @ half_right_angle, attributes)[0, 0] == pytest.approx(np.sqrt(2))


@given(exponent=st.integers(-150, 150), seed=st.integers(0, 100))
def test_cosine_knows_no_length_and_no_overflow(exponent: int, seed: int) -> None:
    targets, attributes = drawn(seed, 3, 4), drawn(seed + 1, 2, 4)
    scaled = cosine(targets * 10.0**exponent, attributes * 10.0**exponent)
    np.testing.assert_allclose(scaled, cosine(targets, attributes), atol=1e-14)


@given(seed=st.integers(0, 10_000))
def test_on_unit_vectors_euclidean_orders_as_cosine_does(seed: int) -> None:
    targets = unit_rows(drawn(seed, 1, 6), "targets")
    attributes = unit_rows(drawn(seed + 1, 9, 6), "attributes")
    nearest_first = np.argsort(euclidean(targets, attributes)[0])
    assert np.array_equal(nearest_first, np.argsort(-cosine(targets, attributes)[0]))


def test_a_zero_vector_has_no_cosine_and_the_error_says_where_it_is() -> None:
    vectors = drawn(1, 4, 3)
    with_zero = vectors.copy()
    with_zero[2] = 0.0
    with pytest.raises(ZeroVectorError, match=naming("row 2", "targets", "zero vector")) as caught:
        cosine(with_zero, vectors)
    assert (caught.value.where, caught.value.row) == ("targets", 2)
    assert isinstance(caught.value, UnitError)
    with pytest.raises(ZeroVectorError) as caught:
        cosine(vectors, with_zero)
    assert (caught.value.where, caught.value.row) == ("attributes", 2)
