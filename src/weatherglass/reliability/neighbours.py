"""Exact nearest neighbours by cosine, block by block: fast products in single precision, doubtful places in double."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Vector
from weatherglass.reliability.embedding import Vectors

BLOCK = 2**25
"""Similarities that are held at a time: 128 MB."""
STRIDE = 64
"""Similarities that are passed over at once when none of them is near enough."""


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
    """Fill `found` with the nearest of each row."""
    k = found.shape[1]
    for line in range(rows.shape[0]):
        near = products[line]
        near[rows[line]] = -np.inf
        threshold = _kth_largest(near, k)
        sure, doubtful = 0, 0
        band = np.empty(k, dtype=np.int64)
        for start in range(0, near.shape[0], STRIDE):
            end = min(start + STRIDE, near.shape[0])
            if _largest(near, start, end) < threshold - 2 * error:
                continue
            for index in range(start, end):
                if near[index] > threshold + 2 * error:
                    found[line, sure] = index
                    sure += 1
                elif near[index] >= threshold - 2 * error:
                    if doubtful == band.shape[0]:
                        band = np.concatenate((band, np.empty_like(band)))
                    band[doubtful] = index
                    doubtful += 1
        _settle(band[:doubtful], vectors, norms, rows[line], found[line, sure:])


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


@njit(cache=True, nogil=True, fastmath={"nsz", "nnan", "reassoc"})
def _largest(near: NDArray[np.float32], start: int, end: int) -> Any:
    largest = near[start]
    for index in range(start + 1, end):
        largest = max(largest, near[index])
    return largest


@njit(cache=True, nogil=True)
def _kth_largest(near: NDArray[np.float32], k: int) -> Any:
    """By a heap of the k largest so far, whose root is the smallest of them."""
    heap = np.sort(near[:k])
    for start in range(k, near.shape[0], STRIDE):
        end = min(start + STRIDE, near.shape[0])
        if _largest(near, start, end) <= heap[0]:
            continue
        for index in range(start, end):
            value = near[index]
            if value <= heap[0]:
                continue
            place = 0
            while True:
                child = 2 * place + 1
                if child >= k:
                    break
                if child + 1 < k and heap[child + 1] < heap[child]:
                    child += 1
                if heap[child] >= value:
                    break
                heap[place] = heap[child]
                place = child
            heap[place] = value
    return heap[0]
