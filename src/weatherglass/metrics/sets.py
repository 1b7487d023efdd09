"""Check the vectors of the sets of a test, order them by content, and average elements by word."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from weatherglass.arrays import ArrayError, Integers, Matrix, real_array
from weatherglass.catalogue.test import Element
from weatherglass.errors import UnitError

SHOWN = 5
"""The maximum number of unknown elements in an error message."""


@dataclass(frozen=True, slots=True)
class VectorSet:
    """The vectors of one set and, if known, their elements."""

    role: str
    """The role: X, Y, X3, … or A, B, A3, …"""
    vectors: Matrix
    elements: tuple[Element, ...] = ()
    category: str = ""
    unknown: tuple[str, ...] = ()
    """The texts that are left out because the model does not know them."""
    contexts: tuple[Matrix, ...] = ()
    """The vectors of each element in its contexts, of which its vector is the mean; empty without contexts."""

    def __len__(self) -> int:
        return len(self.vectors)

    def label(self, row: int) -> str:
        """Return the name of a row for messages."""
        return repr(self.elements[row].text) if self.elements else f"row {row} of {self.role}"


def matrix(role: str, rows: ArrayLike) -> Matrix:
    """Return one row per element, in float64.

    Raises:
        UnitError: if it is not a matrix of real numbers; the message names the set and, if known, the row.
    """
    try:
        array = np.asarray(real_array(rows), dtype=np.float64)
    except ArrayError as error:
        raise UnitError(f"{role if error.row is None else f'{role}[{error.row}]'} {error}") from None
    if array.ndim != 2 or array.shape[1] == 0:
        raise UnitError(f"{role} should be a matrix with one row per element; its shape is {array.shape}")
    return array


def check(sets: Sequence[VectorSet]) -> None:
    """Refuse sets that no metric can use: empty sets, different widths, NaN or infinite numbers."""
    width = sets[0].vectors.shape[1]
    for element_set in sets:
        if not len(element_set.vectors):
            raise too_small(element_set, 1)
        if element_set.vectors.shape[1] != width:
            raise UnitError(
                f"{element_set.role} has {element_set.vectors.shape[1]} dimensions, but X has {width}"
            )
        finite = np.isfinite(element_set.vectors).all(axis=1)
        if not finite.all():
            row = int(np.argmin(finite))
            raise UnitError(f"the vector of {element_set.label(row)} contains NaN or an infinite number")


def too_small(element_set: VectorSet, least: int) -> UnitError:
    """Return the error for a set with too few elements, which names the elements that the model does not know."""
    known, unknown = len(element_set), element_set.unknown
    needed = f"at least {least} {'is' if least == 1 else 'are'} needed"
    if not unknown:
        return UnitError(f"set {element_set.role} has {known} elements; {needed}")
    missing = ", ".join(repr(text) for text in unknown[:SHOWN])
    more = f" and {len(unknown) - SHOWN} more" if len(unknown) > SHOWN else ""
    return UnitError(
        f"only {known} of the {known + len(unknown)} elements of {element_set.category} are known to the "
        f"model; {needed} (missing: {missing}{more})"
    )


def name_zero_vector(sets: Sequence[VectorSet]) -> str:
    """Return the message about the first zero vector."""
    for element_set in sets:
        zero = ~element_set.vectors.any(axis=1)
        if zero.any():
            label = element_set.label(int(np.argmax(zero)))
            return f"the vector of {label} (set {element_set.role}) is zero, so its cosine is undefined"
    raise AssertionError("a zero vector was reported, but no set has one")


def order_by_content(rows: Matrix) -> Integers:
    """Return the order that sorts rows by their bytes, which does not depend on the given order."""
    return np.argsort(row_keys(rows), kind="stable")


def row_keys(rows: Matrix) -> np.ndarray[Any, np.dtype[np.void]]:
    """Return the bytes of each row, which are used to compare and sort rows."""
    contiguous = np.ascontiguousarray(rows + 0.0)  # + 0.0 changes -0.0 to 0.0
    return contiguous.view(np.dtype((np.void, contiguous.dtype.itemsize * contiguous.shape[1]))).ravel()


def unit_names(elements: Sequence[Element], permute: str) -> list[str]:
    """Return the unit of each element: its word if words are exchanged; otherwise its text, numbered if it repeats."""
    if permute == "words":
        return [element.word for element in elements]
    seen: dict[str, int] = {}
    names = []
    for element in elements:
        seen[element.text] = count = seen.get(element.text, 0) + 1
        names.append(element.text if count == 1 else f"{element.text} ({count})")
    return names


def unit_numbers(names: Sequence[Hashable]) -> Integers:
    """Return the index of the unit of each element, from 0 in order of first appearance; equal names are one unit.

    >>> unit_numbers(["rose", "lily", "rose"]).tolist()
    [0, 1, 0]
    """
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.int64)


def mean_by_unit(scores: NDArray[np.float64], units: Integers) -> NDArray[Any]:
    """Return the mean score of each unit, summed in ascending order, so that the result does not depend on the order
    of elements.

    Args:
        scores: one score per element, or one row per element with a column per draw.
        units: the unit of each element, numbered from 0 without a gap.

    Returns:
        One number, or one row, per unit.
    """
    sizes = np.bincount(units)
    order = np.argsort(units, kind="stable")
    if len(sizes) == len(scores):
        return scores[order]
    starts = np.cumsum(sizes) - sizes
    means = np.empty((len(sizes), *scores.shape[1:]))
    # Units of equal size are sorted and summed together; most words occur in equally many sentences.
    for size in dict.fromkeys(sizes.tolist()):
        equal = np.flatnonzero(sizes == size)
        elements = scores[order[starts[equal, np.newaxis] + np.arange(size)]]
        means[equal] = np.sort(elements, axis=1).sum(axis=1) / size
    return means
