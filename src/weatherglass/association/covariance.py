"""Covariance of an attribute set, for Mahalanobis distance (METHODS 1)."""

from __future__ import annotations

from dataclasses import dataclass

from weatherglass.arrays import Matrix


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """The inverse covariance of an attribute set and how it was estimated."""

    precision: Matrix
    """Σ⁻¹, symmetric and positive definite."""
    estimator: str
    penalty: float
    nonzero_share: float
    vectors: int
