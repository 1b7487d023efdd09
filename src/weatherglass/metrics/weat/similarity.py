"""Raw measures m(w, a) between targets and attributes: similarities and distances (docs/methods 1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.errors import ZeroVectorError


@dataclass(frozen=True, slots=True)
class Similarity:
    """A raw measure and which way it points.

    A user's own takes one line:

        SIMILARITIES.register("chebyshev", Similarity(lambda w, a: cdist(w, a, "chebyshev"), orientation=-1))
    """

    between: Callable[[Matrix, Matrix], Matrix]
    """Targets (n, d) and attributes (k, d) to m (n, k); called on blocks of the targets."""
    orientation: Literal[1, -1]
    """1 where more means closer (a similarity), -1 where more means farther (a distance)."""
    whitened: bool = False
    """Whether the vectors are first seen through the covariance of the attribute set (`whiten`)."""


def cosine(targets: Matrix, attributes: Matrix) -> Matrix:
    """w·a / (‖w‖‖a‖).

    Raises:
        ZeroVectorError: a zero vector has no direction.
    """
    return unit_rows(targets, "targets") @ unit_rows(attributes, "attributes").T


def dot(targets: Matrix, attributes: Matrix) -> Matrix:
    """w·a."""
    return targets @ attributes.T


def euclidean(targets: Matrix, attributes: Matrix) -> Matrix:
    """‖w − a‖₂, from the differences: expanding the square loses half the digits of near vectors."""
    from scipy.spatial.distance import cdist

    distances: Matrix = cdist(targets, attributes, "euclidean")
    return distances


def manhattan(targets: Matrix, attributes: Matrix) -> Matrix:
    """‖w − a‖₁."""
    from scipy.spatial.distance import cdist

    distances: Matrix = cdist(targets, attributes, "cityblock")
    return distances


def unit_rows(vectors: Matrix, where: str) -> Matrix:
    """Each row divided by its length; the largest entry is divided out first, so that no square overflows.

    Raises:
        ZeroVectorError: naming the first row of zeros; `where` is the set it is in.
    """
    largest = np.abs(vectors).max(axis=1, keepdims=True, initial=0.0)
    if not largest.all():
        raise ZeroVectorError(where, int(np.flatnonzero(largest == 0)[0]))
    scaled = vectors / largest
    units: Matrix = scaled / np.sqrt((scaled * scaled).sum(axis=1, keepdims=True))
    return units


def whiten(vectors: Matrix, precision: Matrix) -> Matrix:
    """Coordinates in which Mahalanobis distance is Euclidean: with Σ⁻¹ = LLᵀ, (w−a)ᵀΣ⁻¹(w−a) = ‖(w−a)L‖²."""
    whitened: Matrix = vectors @ np.linalg.cholesky(precision)
    return whitened


COSINE = Similarity(cosine, orientation=1)
DOT = Similarity(dot, orientation=1)
EUCLIDEAN = Similarity(euclidean, orientation=-1)
MANHATTAN = Similarity(manhattan, orientation=-1)
MAHALANOBIS = Similarity(euclidean, orientation=-1, whitened=True)
