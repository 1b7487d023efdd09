"""Type names for arrays, and rows scaled to unit length."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=np.floating[Any])

Vector = NDArray[np.float64]
"""One number per element."""

Matrix = NDArray[np.float64]
"""One row per element."""

AnyMatrix = NDArray[np.floating[Any]]
"""What an encoder may return; scoring converts it to float64."""

AnyVector = NDArray[np.floating[Any]]
"""One row of it."""

Integers = NDArray[np.int64]


def unit_length(vectors: NDArray[F]) -> NDArray[F]:
    """Each row divided by its Euclidean length, in its own precision; a row of zeros stays as it is."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: NDArray[F] = vectors / np.where(norms == 0, norms.dtype.type(1), norms)
    return units
