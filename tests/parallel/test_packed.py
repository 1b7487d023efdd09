"""Matrices packed into one array come out as they were, and values come in the order of their units."""

from __future__ import annotations

import numpy as np
import pytest
from tests import engines

from weatherglass.parallel import Backend, InProcess
from weatherglass.parallel.base import pack, values_of


class Count:
    """Counts the steps."""

    def __init__(self) -> None:
        self.steps = 0.0

    def stage(self, name: str, total: int) -> None:
        raise AssertionError(f"the caller begins the stage, not {name}, {total}")

    def advance(self, steps: float = 1) -> None:
        self.steps += steps


def half(number: int) -> float | None:
    if number < 0:
        raise ValueError(f"{number} is negative")
    return number / 2 if number else None


def test_matrices_of_any_width_come_out_as_they_were() -> None:
    matrices = [np.arange(6.0).reshape(2, 3), np.empty((0, 4)), np.full((3, 1), np.nan)]
    places, packed = pack(matrices)
    assert packed.shape == (9,)
    for place, matrix in zip(places, matrices, strict=True):
        np.testing.assert_array_equal(place.of(packed), matrix)
        assert np.shares_memory(place.of(packed), packed) == bool(matrix.size)


def test_a_single_matrix_is_not_copied() -> None:
    matrix = np.ones((4, 2))
    (place,), packed = pack([matrix])
    assert np.shares_memory(packed, matrix)
    assert place.of(packed).shape == (4, 2)


@pytest.mark.parametrize("workers", [InProcess(), engines.Copied()], ids=["here", "elsewhere"])
def test_values_come_in_the_order_of_the_units(workers: Backend) -> None:
    progress = Count()
    assert values_of(workers, half, [6, 0, 3], progress) == [3, None, 1.5]
    assert progress.steps == 3


@pytest.mark.parametrize("workers", [InProcess(), engines.Copied()], ids=["here", "elsewhere"])
def test_the_error_of_a_unit_is_raised(workers: Backend) -> None:
    with pytest.raises(ValueError, match="-1 is negative"):
        values_of(workers, half, [6, -1, 3], Count())
