"""Statistics over sorted rows, and equation 2 by merging them."""

from __future__ import annotations

import statistics

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from weatherglass.arrays import Matrix
from weatherglass.metrics.weat.scores import (
    EQ2,
    MAX,
    MEAN,
    MEDIAN,
    MIN,
    maximum,
    mean,
    median,
    minimum,
    nearest_pair,
)

values = st.floats(-10, 10, allow_subnormal=False) | st.sampled_from([-1.0, 0.0, 1.0])  # ties are likely
rows = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=values).map(
    lambda a: np.sort(a, axis=1)
)


@st.composite
def two_sets(draw: st.DrawFn) -> tuple[Matrix, Matrix]:
    words, in_a, in_b = (draw(st.integers(1, 7)) for _ in range(3))
    to_a, to_b = (draw(arrays(np.float64, (words, size), elements=values)) for size in (in_a, in_b))
    return np.sort(to_a, axis=1), np.sort(to_b, axis=1)


@given(rows)
def test_statistics_are_those_of_the_standard_library(sorted_rows: Matrix) -> None:
    for row, middle, average, low, high in zip(
        sorted_rows.tolist(),
        median(sorted_rows),
        mean(sorted_rows),
        minimum(sorted_rows),
        maximum(sorted_rows),
        strict=True,
    ):
        assert middle == statistics.median(row)
        assert abs(average - statistics.fmean(row)) <= 1e-14 * 10
        assert (low, high) == (min(row), max(row))


@given(rows)
def test_the_median_and_the_mean_lie_between_minimum_and_maximum(sorted_rows: Matrix) -> None:
    low, high = minimum(sorted_rows), maximum(sorted_rows)
    assert np.all((low <= median(sorted_rows)) & (median(sorted_rows) <= high))
    assert np.all((low - 1e-14 <= mean(sorted_rows)) & (mean(sorted_rows) <= high + 1e-14))


@given(two_sets())
def test_equation_2_is_the_least_entry_of_the_whole_cube(sets: tuple[Matrix, Matrix]) -> None:
    to_a, to_b = sets
    cube = np.abs(to_a[:, :, None] - to_b[:, None, :])
    assert np.array_equal(nearest_pair(to_a, to_b), cube.min(axis=(1, 2)))


@given(two_sets())
def test_equation_2_is_not_negative_and_does_not_tell_a_from_b(sets: tuple[Matrix, Matrix]) -> None:
    to_a, to_b = sets
    assert np.all(nearest_pair(to_a, to_b) >= 0)
    assert np.array_equal(nearest_pair(to_a, to_b), nearest_pair(to_b, to_a))


@given(two_sets())
def test_a_distance_turns_the_sign_of_every_statistic_but_equation_2(sets: tuple[Matrix, Matrix]) -> None:
    for statistic in (MEAN, MEDIAN, MIN, MAX):
        assert np.array_equal(statistic.association(*sets, -1), -statistic.association(*sets, 1))
    assert np.array_equal(EQ2.association(*sets, -1), EQ2.association(*sets, 1))


@given(two_sets())
def test_swapping_the_attributes_negates_every_statistic_but_equation_2(sets: tuple[Matrix, Matrix]) -> None:
    to_a, to_b = sets
    for statistic in (MEAN, MEDIAN, MIN, MAX):
        assert np.array_equal(statistic.association(to_b, to_a, 1), -statistic.association(to_a, to_b, 1))


def test_a_shared_attribute_makes_equation_2_zero() -> None:
    assert nearest_pair(np.array([[1.0, 2.0, 5.0]]), np.array([[0.0, 2.0]])).tolist() == [0.0]
