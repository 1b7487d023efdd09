"""A fitted transform as numbers: what is subtracted from a vector, and which words are treated apart.

Every transform of ours is one of these, or several in a row, so that one file format holds them all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from weatherglass.arrays import Matrix, Vector, unit_length
from weatherglass.errors import EncoderError


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """x ↦ x − shift − ((x − mean)·left)·right, and what is done with single words.

    An orthogonal projection has left = rightᵀ; LEACE is an oblique one.
    """

    shift: Vector
    mean: Vector
    left: Matrix
    """width × rank."""
    right: Matrix
    """rank × width."""
    unit: bool = False
    """Whether vectors are scaled to length 1 before and after."""
    keep: frozenset[str] = frozenset()
    """Texts that only have their length changed."""
    placed: Mapping[str, Vector] = field(default_factory=dict)
    """Texts whose new vectors were computed at `fit`: the equalised pairs."""

    @property
    def width(self) -> int:
        """Dimensions of the vectors that it takes."""
        return len(self.shift)

    @property
    def rank(self) -> int:
        """How many dimensions it removes."""
        return len(self.right)

    def __call__(self, vectors: Matrix, texts: Sequence[str]) -> Matrix:
        """The changed vectors.

        Raises:
            EncoderError: if the vectors have another width.
        """
        if vectors.shape[1] != self.width:
            raise EncoderError(
                f"this transform was fitted on vectors of {self.width} dimensions, but these have {vectors.shape[1]}"
            )
        rows = unit_length(vectors) if self.unit else vectors
        changed: Matrix = rows - self.shift - ((rows - self.mean) @ self.left) @ self.right
        if self.unit:
            changed = unit_length(changed)
        if self.keep or self.placed:
            for row, text in enumerate(texts):
                if text in self.placed:
                    if not np.isnan(vectors[row, 0]):
                        changed[row] = self.placed[text]
                elif text in self.keep:
                    changed[row] = rows[row]
        return changed


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Changes one after the other, and what was noticed in fitting them."""

    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()

    def __call__(self, vectors: Matrix, texts: Sequence[str]) -> Matrix:
        """The changed vectors."""
        for step in self.steps:
            vectors = step(vectors, texts)
        return vectors


def subtraction(shift: Vector) -> Step:
    """x − shift."""
    width = len(shift)
    return Step(shift, np.zeros(width), np.zeros((width, 0)), np.zeros((0, width)))


def projection(basis: Matrix, shift: Vector | None = None) -> Step:
    """x less its part in the span of the rows of `basis`, which are orthonormal; and less `shift`."""
    width = basis.shape[1]
    return Step(np.zeros(width) if shift is None else shift, np.zeros(width), basis.T, basis)
