"""The mean of a crossed layout, such as base pairs × seeds, for other rows and other columns (docs/methods 10.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Vector
from weatherglass.inference.interval import two_sided_p, upper_point

Layouts = NDArray[np.float64]
"""… × rows × columns: one two-way layout per leading index."""
LEVEL = 0.95
"""Of the intervals."""


@dataclass(frozen=True, slots=True, eq=False)
class CrossedMean:
    """The mean of each layout and what it would be with other rows and columns; NaN where that is not estimable."""

    mean: Vector
    error: Vector
    """The standard error: the root of V."""
    df: Vector
    low: Vector
    high: Vector
    p_value: Vector
    """Two-sided, that the mean is 0: at most 1 − LEVEL where the interval leaves 0 out."""


def crossed_mean(layouts: Layouts) -> CrossedMean:
    """The mean over rows and columns, its interval and its p, with both rows and columns drawn from more of them.

    V = max(V_P + V_S − V_I, V_P, V_S): the variances of the row means and of the column means, less what both contain
    of the single cells' noise. With one row or one column nothing but the mean is estimable.
    """
    rows, columns = layouts.shape[-2:]
    mean: Vector = layouts.mean((-2, -1))
    if rows < 2 or columns < 2:
        nothing = np.full(mean.shape, np.nan)
        return CrossedMean(mean, nothing, nothing, nothing, nothing, nothing)
    row_means, column_means = layouts.mean(-1), layouts.mean(-2)
    of_rows, of_columns = row_means.var(-1, ddof=1) / rows, column_means.var(-1, ddof=1) / columns
    residuals = layouts - row_means[..., None] - column_means[..., None, :] + mean[..., None, None]
    of_cells = np.square(residuals).sum((-2, -1)) / ((rows - 1) * (columns - 1) * rows * columns)
    variance = np.maximum(of_rows + of_columns - of_cells, np.maximum(of_rows, of_columns))
    with np.errstate(divide="ignore", invalid="ignore"):
        df = (of_rows + of_columns) ** 2 / (of_rows**2 / (rows - 1) + of_columns**2 / (columns - 1))
        df = np.where(np.isfinite(df), df, rows - 1.0)  # scores that do not vary
        error = np.sqrt(variance)
        t = np.where(mean == 0, 0.0, mean / error)
    reach = upper_point((1 - LEVEL) / 2, df) * error
    return CrossedMean(mean, error, df, mean - reach, mean + reach, two_sided_p(t, df))
