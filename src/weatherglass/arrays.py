"""Define array types, convert data to arrays of real numbers, scale rows to unit length, and find neighbours."""

from __future__ import annotations

import sys
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

F = TypeVar("F", bound=np.floating[Any])

Vector = NDArray[np.float64]
"""One number per element."""

Matrix = NDArray[np.float64]
"""One row per element."""

AnyMatrix = NDArray[np.floating[Any]]
"""Vectors that an encoder returns; scoring converts them to float64."""

AnyVector = NDArray[np.floating[Any]]
"""One row of AnyMatrix."""

Integers = NDArray[np.int64]


class ArrayError(ValueError):
    """An error for data that are not an array of real numbers; its text follows their name: "X has masked values"."""

    def __init__(self, text: str, row: int | None = None) -> None:
        super().__init__(text)
        self.row = row
        """The first invalid row; None if it is not known."""


def real_array(given: Any) -> AnyMatrix:
    """Return an array, list, tensor or sparse matrix as a dense array of floating-point numbers.

    The precision is kept; whole numbers and booleans become float64.

    Raises:
        ArrayError: for masked values, complex numbers, lists of different lengths, and anything that is not a number.
    """
    if type(given) is np.ndarray and given.dtype.kind == "f":
        return given
    if given is None:
        raise ArrayError("is None, not an array of real numbers")
    if (row := masked_row(given)) is not None:
        raise ArrayError("has masked values; fill or remove them", row)
    try:
        array = np.asarray(_dense(given))
        if array.dtype.kind == "c":
            raise ArrayError("has complex numbers; vectors must contain real numbers")
        if array.dtype.kind in "mM":
            raise ArrayError("has dates or times; vectors must contain real numbers")
        return array if array.dtype.kind == "f" else array.astype(np.float64)
    except ArrayError:
        raise
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise ArrayError("is not an array of real numbers") from None


def masked_row(given: Any) -> int | None:
    """Return the first row with a masked value in a masked array or a list of arrays; None if no value is masked."""
    if isinstance(given, list | tuple):
        return next((row for row, each in enumerate(given) if np.ma.is_masked(each)), None)
    return int(np.argwhere(np.ma.getmaskarray(given))[0][0]) if np.ma.is_masked(given) else None


def _dense(given: Any) -> Any:
    """Return a torch tensor or a scipy sparse matrix in a form that numpy can read, and other objects unchanged."""
    if hasattr(given, "detach"):
        tensor = given.detach()
        strided = sys.modules["torch"].strided  # a tensor exists only if torch was imported
        tensor = (tensor.to_dense() if tensor.layout != strided else tensor).cpu()
        return (
            tensor.float() if tensor.element_size() < 4 and tensor.is_floating_point() else tensor
        ).numpy()
    return given.toarray() if hasattr(given, "toarray") else given


def unit_length(vectors: NDArray[F]) -> NDArray[F]:
    """Return each row divided by its Euclidean length, keeping its precision; rows of zeros are unchanged."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: NDArray[F] = vectors / np.where(norms == 0, norms.dtype.type(1), norms)
    return units


def neighbours(vectors: AnyMatrix) -> list[list[tuple[int, float]]]:
    """Return, for each row, the other rows and their cosines, nearest first; rows of NaN or zeros are skipped."""
    unit = unit_length(np.asarray(vectors, dtype=np.float64))
    usable = np.array([bool(np.isfinite(row).all() and row.any()) for row in unit])
    cosines = unit @ unit.T
    ranked: list[list[tuple[int, float]]] = []
    for row in range(len(unit)):
        others = [other for other in np.flatnonzero(usable) if other != row] if usable[row] else []
        pairs = ((int(other), float(cosines[row, other])) for other in others)
        ranked.append(sorted(pairs, key=lambda pair: -pair[1]))
    return ranked
