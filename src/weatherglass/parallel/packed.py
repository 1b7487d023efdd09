"""Several matrices in one array, so that a backend shares all of them with its workers at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import AnyMatrix, Matrix, Vector


@dataclass(frozen=True, slots=True)
class Place:
    """Where a matrix is in the packed array."""

    start: int
    rows: int
    width: int

    def of(self, packed: AnyMatrix) -> Matrix:
        """Return the matrix, without copying it."""
        end = self.start + self.rows * self.width
        return np.asarray(packed[self.start : end], dtype=np.float64).reshape(self.rows, self.width)


def pack(matrices: Sequence[Matrix]) -> tuple[list[Place], Vector]:
    """Return the place of each matrix, of any widths, and the array of one dimension that contains all of them."""
    places, start = [], 0
    for matrix in matrices:
        places.append(Place(start, *matrix.shape))
        start += matrix.size
    if len(matrices) == 1:
        return places, matrices[0].reshape(-1)  # the usual case: one large matrix is not copied
    packed = np.empty(start)
    for place, matrix in zip(places, matrices, strict=True):
        place.of(packed)[:] = matrix
    return places, packed
