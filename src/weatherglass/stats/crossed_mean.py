"""The mean of a crossed layout, such as base pairs × seeds, for other rows and other columns (docs/methods 10.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Vector
from weatherglass.stats.interval import two_sided_p, upper_point

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
    """Of t: the levels of the smaller factor less one."""
    low: Vector
    high: Vector
    p_value: Vector
    """Two-sided, that the mean is 0: at most 1 − LEVEL where the interval leaves 0 out."""


def crossed_mean(layouts: Layouts) -> CrossedMean:
    """Return the mean over rows and columns, its interval and its p, both factors being samples of more levels.

    V = max(V_P + V_S − V_I, V_P, V_S, V_T), the variance of the mean by restricted maximum likelihood: V_P and V_S are
    those of the row means and of the column means, V_I is what both contain of the single cells' noise, and V_T, the
    variance of the cells over their number, applies where neither rows nor columns vary more than the cells do. t has
    as many degrees of freedom as the smaller factor. With one row or one column only the mean is estimable.
    """
    rows, columns = layouts.shape[-2:]
    mean: Vector = layouts.mean((-2, -1))
    if rows < 2 or columns < 2:
        nothing = np.full(mean.shape, np.nan)
        return CrossedMean(mean, nothing, nothing, nothing, nothing, nothing)
    row_means, column_means = layouts.mean(-1), layouts.mean(-2)
    of_rows, of_columns = row_means.var(-1, ddof=1) / rows, column_means.var(-1, ddof=1) / columns
    residuals = layouts - row_means[..., None] - column_means[..., None, :] + mean[..., None, None]
    cells = rows * columns
    of_cells = np.square(residuals).sum((-2, -1)) / ((rows - 1) * (columns - 1) * cells)
    shares = (rows - 1) * of_rows + (columns - 1) * of_columns + (rows - 1) * (columns - 1) * of_cells
    of_all = shares / (cells - 1)
    variance = np.maximum.reduce([of_rows + of_columns - of_cells, of_rows, of_columns, of_all])
    error = np.sqrt(variance)
    df = np.full(mean.shape, min(rows, columns) - 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(mean == 0, 0.0, mean / error)
    reach = upper_point((1 - LEVEL) / 2, df) * error
    return CrossedMean(mean, error, df, mean - reach, mean + reach, two_sided_p(t, df))
