"""Find the exact k nearest neighbours by cosine, in single precision, deciding close cases in double precision."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import njit
from numpy.typing import NDArray

from weatherglass.arrays import Integers, Vector
from weatherglass.reliability.training.embedding import Vectors

BLOCK = 2**23
"""The maximum number of similarities in memory (32 MB); the matrix product is slower with more or fewer."""
GROUP = 16
"""The maximum number of similarities that are skipped at once if none of them is large enough."""
HALVINGS = 12
"""The number of bisections to find the bound of a row; with a looser bound, more similarities are examined."""
ITSELF = np.float32(-2)
"""The value, below every cosine, that replaces the similarity of a row with itself."""


def neighbours(vectors: Vectors, rows: Integers, k: int) -> Iterator[tuple[slice, Integers]]:
    """Yield the k nearest other rows of each of `rows` by cosine, unsorted; in a tie, the lower index wins.

    Similarities are computed in single precision. Those within its rounding error of the k-th are computed again in
    double precision, summed in a fixed order, so that equal vectors tie exactly with every BLAS library.

    Yields:
        A slice of `rows`, and the neighbours of its rows, one line each.

    Raises:
        ValueError: if there are fewer than k other rows, or a row is zero.
    """
    if len(vectors) <= k:
        raise ValueError(f"k = {k} neighbours need at least {k + 1} words, but there are {len(vectors)}")
    norms = np.sqrt(np.einsum("vd,vd->v", vectors, vectors, dtype=np.float64))
    if not norms.all():
        raise ValueError("a zero vector has no cosine")
    units = (vectors / norms[:, None].astype(np.float32)).astype(np.float32, copy=False)
    error = np.float32((vectors.shape[1] + 8) * 2.0**-24)
    parts = -(
        -len(rows) // max(1, BLOCK // len(vectors))
    )  # blocks of equal size, since the product is slow for a small last block
    block = -(-len(rows) // max(1, parts))
    similarities = np.empty((block, len(vectors)), dtype=np.float32)
    for start in range(0, len(rows), max(1, block)):
        part = rows[start : start + block]
        products = similarities[: len(part)]
        np.matmul(units[part], units.T, out=products)
        nearest = np.empty((len(part), k), dtype=np.int64)
        _select(products, part, vectors, norms, error, nearest)
        yield slice(start, start + len(part)), nearest


@njit(cache=True, nogil=True, error_model="numpy")
def _select(
    products: Vectors, rows: Integers, vectors: Vectors, norms: Vector, error: np.float32, nearest: Integers
) -> None:
    """Fill `nearest` with the nearest rows of each row.

    If k group maxima reach a bound, at least k similarities reach it. Only groups whose maximum reaches the bound are
    searched; there are hardly more than k of them. The members of a group are spaced by the number of groups, so that
    the maxima of adjacent groups are computed by one vector instruction.
    """
    k = nearest.shape[1]
    number = products.shape[1]
    group = max(1, min(GROUP, number // (4 * k)))
    largest = np.empty(-(-number // group), dtype=np.float32)
    band = np.empty(number, dtype=np.int64)
    similarities = np.empty(number, dtype=np.float32)
    for line in range(rows.shape[0]):
        near = products[line]
        near[rows[line]] = ITSELF
        _group_maxima(near, largest)
        bound = _bound_of_largest(largest, k) - 2 * error
        reaching = _collect_reaching(near, largest, bound, band, similarities)
        threshold = np.partition(similarities[:reaching], reaching - k)[reaching - k]
        sure, doubtful = 0, 0
        for place in range(reaching):
            if similarities[place] > threshold + 2 * error:
                nearest[line, sure] = band[place]
                sure += 1
            elif similarities[place] >= threshold - 2 * error:
                band[doubtful] = band[place]
                doubtful += 1
        _select_in_double(band[:doubtful], vectors, norms, rows[line], nearest[line, sure:])


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _group_maxima(near: NDArray[np.float32], largest: NDArray[np.float32]) -> None:
    groups = largest.shape[0]
    largest[:] = near[:groups]
    for start in range(groups, near.shape[0], groups):
        members = near[start : start + groups]
        for place in range(members.shape[0]):
            largest[place] = max(largest[place], members[place])


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz"})
def _bound_of_largest(values: NDArray[np.float32], k: int) -> np.float32:
    """Return a number that at least k values, and hardly more, reach; bisection avoids unpredictable branches."""
    low: np.float32 = values[0]
    high: np.float32 = values[0]
    for place in range(values.shape[0]):
        low, high = min(low, values[place]), max(high, values[place])
    for _ in range(HALVINGS):
        middle = (low + high) * np.float32(0.5)
        reaching = 0
        for place in range(values.shape[0]):
            reaching += values[place] >= middle
        if reaching >= k:
            low = middle
        else:
            high = middle
    return low


@njit(cache=True, nogil=True)
def _collect_reaching(
    near: NDArray[np.float32],
    largest: NDArray[np.float32],
    bound: np.float32,
    band: Integers,
    similarities: NDArray[np.float32],
) -> int:
    """Fill `band` and `similarities` with the entries that reach the bound; return their number."""
    number = 0
    for place in range(largest.shape[0]):
        if largest[place] >= bound:
            for index in range(place, near.shape[0], largest.shape[0]):
                if near[index] >= bound:
                    band[number] = index
                    similarities[number] = near[index]
                    number += 1
    return number


@njit(cache=True, nogil=True, error_model="numpy")
def _select_in_double(band: Integers, vectors: Vectors, norms: Vector, row: int, places: Integers) -> None:
    """Fill `places` with the nearest of `band` by cosines in double precision; in a tie, the lower index wins."""
    if band.shape[0] == places.shape[0]:
        places[:] = band
        return
    band.sort()
    cosines = np.empty(band.shape[0])
    for number in range(band.shape[0]):
        total = 0.0
        for d in range(vectors.shape[1]):
            total += np.float64(vectors[row, d]) * np.float64(vectors[band[number], d])
        cosines[number] = (
            -total / norms[band[number]]
        )  # without the norm of the row, which is the same for all
    order = np.argsort(cosines, kind="mergesort")  # stable, so that ties go to the lower index
    for place in range(places.shape[0]):
        places[place] = band[order[place]]
