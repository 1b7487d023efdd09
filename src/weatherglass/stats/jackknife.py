"""The jackknife: how a number varies when one unit of a set is left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weatherglass.arrays import Vector


def jackknife_variance(without_each: Vector) -> Vector:
    """(m − 1)/m · Σ (value without i − their mean)² along the last axis."""
    m = without_each.shape[-1]
    centred = without_each - without_each.mean(axis=-1, keepdims=True)
    return np.asarray((m - 1) / m * np.einsum("...i,...i->...", centred, centred))


def jackknife_bias(without_each: Vector, value: Vector) -> Vector:
    """(m − 1) · (mean of the values without each − the value)."""
    m = without_each.shape[-1]
    return np.asarray((m - 1) * (without_each.mean(axis=-1) - value))


def combined_df(variances: Sequence[Vector], dfs: Sequence[float]) -> Vector:
    """Degrees of freedom of a sum of independent variances (Satterthwaite 1946), not below 1."""
    with np.errstate(divide="ignore", invalid="ignore"):
        df = sum(variances) ** 2 / sum(v**2 / df for v, df in zip(variances, dfs, strict=True))
    return np.asarray(np.fmax(df, 1.0), dtype=np.float64)
