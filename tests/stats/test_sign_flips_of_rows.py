"""Sign flips of many rows: every pattern written out, and the test of one row."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from weatherglass.errors import UnitError
from weatherglass.stats.relabelling import COUNTED, sign_flip_test
from weatherglass.stats.sign_flips_of_rows import sign_flip_p_values


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.mark.parametrize("columns", [1, 2, 5, 12])
def test_p_is_the_share_of_all_sign_patterns(columns: int) -> None:
    """Whole numbers, so that ties are ties; among them a row of zeros."""
    table = rng().integers(-4, 7, (40, columns))
    table[0] = 0
    patterns = np.array(list(product((-1, 1), repeat=columns)))
    sums = np.abs(patterns @ np.abs(table).T)
    expected = (sums >= np.abs(table.sum(axis=1))).mean(axis=0)
    assert sign_flip_p_values(table.astype(float), rng()).tolist() == expected.tolist()


def test_every_row_has_the_p_of_the_test_of_one_row() -> None:
    table = rng().normal(0.2, 1, (30, 23)) * np.exp(rng().normal(0, 8, (30, 1)))
    alone = [sign_flip_test(row, "two-sided", rng()).p_value for row in table]
    assert sign_flip_p_values(table, rng()).tolist() == alone


def test_beyond_the_columns_that_are_counted_patterns_are_drawn() -> None:
    table = rng().normal(0.2, 1, (50, COUNTED + 4))
    normal = [sign_flip_test(row, "two-sided", rng()).p_value for row in table]
    assert sign_flip_p_values(table, rng()) == pytest.approx(
        normal, abs=0.02
    )  # 4 standard errors of 9 999 draws
    assert sign_flip_p_values(np.ones((1, COUNTED + 4)), rng()).tolist() == [1e-4]


def test_scores_that_are_not_numbers_are_refused() -> None:
    with pytest.raises(UnitError, match="finite"):
        sign_flip_p_values(np.array([[1.0, np.nan]]), rng())
