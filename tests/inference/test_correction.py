"""Correction of many p-values: what each row could reach at best, for all rows at once."""

from __future__ import annotations

import numpy as np
import pytest

from weatherglass.arrays import Vector
from weatherglass.inference.correction import ADJUSTMENTS, adjust, adjusted_at_floors


def one_by_one(p_values: Vector, floors: Vector, method: str, family: int | None) -> list[float]:
    """The definition: each row in turn gets its floor, and all are adjusted anew."""
    adjusted = []
    for row, floor in enumerate(floors):
        p = p_values.copy()
        p[row] = np.fmin(p[row], floor)
        adjusted.append(float(adjust(p, method, family)[row]))
    return adjusted


@pytest.mark.parametrize("method", ADJUSTMENTS)
@pytest.mark.parametrize("family", [None, 500])
@pytest.mark.parametrize("values", [5, 40, 10**6])
@pytest.mark.parametrize("rows", [1, 2, 3, 64, 200])
def test_all_rows_at_their_floors_are_each_row_at_its_floor(
    method: str, family: int | None, values: int, rows: int
) -> None:
    """Few distinct values make ties, of p with p and of floors with p; some rows have no p."""
    rng = np.random.default_rng(rows + values)
    p_values = rng.integers(1, values + 1, size=rows) / values
    floors = rng.integers(1, values + 1, size=rows) / values
    p_values[rng.uniform(size=rows) < 0.1] = np.nan
    expected = one_by_one(p_values, floors, method, family)
    np.testing.assert_array_equal(adjusted_at_floors(p_values, floors, method, family), expected)
