"""Exact nearest neighbours by cosine, block by block: fast products in single precision, doubtful places in double."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Vector
from weatherglass.reliability.training.embedding import Vectors

BLOCK = 2**25
"""Similarities that are held at a time: 128 MB."""
STRETCH = 64
"""Similarities at most that are passed over at once when none of them is near enough."""


def neighbours(vectors: Vectors, rows: Integers, k: int) -> Iterator[tuple[slice, Integers]]:
    """The k nearest rows of each of `rows` by cosine, itself left out, ties by lower index; in no order.

    Yields:
        A slice of `rows` and the neighbours of its rows, one line each.

    Single precision decides wherever it can; what lies within its error of the k-th place is compared again in double
    precision, term by term in one order, so that equal vectors tie exactly, whatever library multiplies.

    Raises:
        ValueError: if there are no k other rows, or a row is zero.
    """
    if len(vectors) <= k:
        raise ValueError(f"{k} neighbours cannot be had among {len(vectors)} words")
    norms = np.sqrt(np.einsum("vd,vd->v", vectors, vectors, dtype=np.float64))
    if not norms.all():
        raise ValueError("a zero vector has no cosine to anything")
    units = (vectors / norms[:, None].astype(np.float32)).astype(np.float32, copy=False)
    error = np.float32((vectors.shape[1] + 8) * 2.0**-24)
    block = max(1, BLOCK // len(vectors))
    similarities = np.empty((min(block, len(rows)), len(vectors)), dtype=np.float32)
    for start in range(0, len(rows), block):
        part = rows[start : start + block]
        products = similarities[: len(part)]
        np.matmul(units[part], units.T, out=products)
        found = np.empty((len(part), k), dtype=np.int64)
        _select(products, part, vectors, norms, error, found)
        yield slice(start, start + len(part)), found


@njit(cache=True, nogil=True, error_model="numpy")
def _select(
    products: Vectors, rows: Integers, vectors: Vectors, norms: Vector, error: np.float32, found: Integers
) -> None:
    """Fill `found` with the nearest of each row.

    The k-th largest of the stretches' largest is a bound that k similarities reach; only stretches that reach it are
    looked into, and there are hardly more than k of them.
    """
    k = found.shape[1]
    number = products.shape[1]
    stretch = max(1, min(STRETCH, number // (4 * k)))
    largest = np.empty(-(-number // stretch), dtype=np.float32)
    for line in range(rows.shape[0]):
        near = products[line]
        near[rows[line]] = -np.inf
        _largest_of_stretches(near, stretch, largest)
        bound = np.partition(largest, largest.shape[0] - k)[largest.shape[0] - k] - 2 * error
        band = _reaching(near, stretch, largest, bound, k)
        similarities = near[band]
        threshold = np.partition(similarities, band.shape[0] - k)[band.shape[0] - k]
        sure, doubtful = 0, 0
        for place in range(band.shape[0]):
            if similarities[place] > threshold + 2 * error:
                found[line, sure] = band[place]
                sure += 1
            elif similarities[place] >= threshold - 2 * error:
                band[doubtful] = band[place]
                doubtful += 1
        _settle(band[:doubtful], vectors, norms, rows[line], found[line, sure:])


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def _largest_of_stretches(near: NDArray[np.float32], stretch: int, largest: NDArray[np.float32]) -> None:
    for place in range(largest.shape[0]):
        start = place * stretch
        most = near[start]
        for index in range(start + 1, min(start + stretch, near.shape[0])):
            most = max(most, near[index])
        largest[place] = most


@njit(cache=True, nogil=True)
def _reaching(
    near: NDArray[np.float32], stretch: int, largest: NDArray[np.float32], bound: np.float32, k: int
) -> Any:
    """The indices, in order, of the similarities that reach the bound."""
    band = np.empty(2 * k, dtype=np.int64)
    number = 0
    for place in range(largest.shape[0]):
        if largest[place] < bound:
            continue
        for index in range(place * stretch, min((place + 1) * stretch, near.shape[0])):
            if near[index] >= bound:
                if number == band.shape[0]:
                    band = np.concatenate((band, np.empty_like(band)))
                band[number] = index
                number += 1
    return band[:number]


@njit(cache=True, nogil=True, error_model="numpy")
def _settle(band: Integers, vectors: Vectors, norms: Vector, row: int, places: Integers) -> None:
    """Give the open places to the nearest of `band`, which is in order of index."""
    if band.shape[0] == places.shape[0]:
        places[:] = band
        return
    cosines = np.empty(band.shape[0])
    for number in range(band.shape[0]):
        total = 0.0
        for d in range(vectors.shape[1]):
            total += np.float64(vectors[row, d]) * np.float64(vectors[band[number], d])
        cosines[number] = (
            -total / norms[band[number]]
        )  # Times the norm of the row, which is the same for all.
    order = np.argsort(cosines, kind="mergesort")  # Stable: of equal ones the lower index comes first.
    for place in range(places.shape[0]):
        places[place] = band[order[place]]
