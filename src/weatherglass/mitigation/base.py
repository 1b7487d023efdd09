"""Define the interface of transforms, and the steps that a fitted transform consists of.

Every built-in transform is one `Step`, or several in a row, so that one file format can store all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np

from weatherglass.arrays import Matrix, Vector, unit_length
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError


class Change(Protocol):
    """A fitted transform, which changes vectors row by row and also gets their texts."""

    def __call__(self, vectors: Matrix, texts: Sequence[str], /) -> Matrix:
        """Return the changed vectors; a row of NaN, which means that the model does not know the text, stays NaN."""
        ...


class Transform(Protocol):
    """The interface of a transform, which changes vectors after encoding."""

    @property
    def name(self) -> str:
        """Return the spelling with every option: "centre?on=catalogue"."""
        ...

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Return the transform that `name?option=value` describes.

        Raises:
            SpecError: if an option is wrong, or a file cannot be read or used; mistakes in options are reported here,
                not by `fit`.
        """
        ...

    def texts(self) -> tuple[str, ...]:
        """Return the texts that the transform is fitted on; empty for a transform that needs no fitting."""
        ...

    def identity(self) -> str:
        """Return a hash of options and texts; transforms with equal hashes change vectors in the same way."""
        ...

    def fit(self, vectors: Matrix) -> Change:
        """Fit the transform on the vectors of `texts()`, one row each; the row is NaN if the model does not know the
        text.

        Raises:
            EncoderError: if too few texts are known, or their vectors do not determine the change.
        """
        ...


def words_of(transform: Transform) -> frozenset[str]:
    """Return the words that a transform was fitted on: its texts or, if these are sentences, `words_seen()`."""
    own: Callable[[], frozenset[str]] | None = getattr(transform, "words_seen", None)
    return own() if own is not None else frozenset(transform.texts())


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """Map x to x − shift − ((x − mean)·left)·right, except for words that keep their direction or get a new vector.

    An orthogonal projection has left = rightᵀ; LEACE is an oblique one.
    """

    shift: Vector
    mean: Vector
    left: Matrix
    """A matrix of width × rank."""
    right: Matrix
    """A matrix of rank × width."""
    unit: bool = False
    """Whether vectors are scaled to length 1 before and after the step."""
    keep: frozenset[str] = frozenset()
    """Texts whose vectors keep their direction."""
    placed: Mapping[str, Vector] = field(default_factory=dict)
    """New vectors by text, such as those of equalised pairs, computed in `fit`."""

    @property
    def width(self) -> int:
        return len(self.shift)

    @property
    def rank(self) -> int:
        """Return the number of dimensions that the step removes."""
        return len(self.right)

    def __call__(self, vectors: Matrix, texts: Sequence[str]) -> Matrix:
        """Return the changed vectors.

        Raises:
            EncoderError: if the vectors have a different width.
        """
        if vectors.shape[1] != self.width:
            raise EncoderError(
                f"this transform was fitted on vectors of {self.width} dimensions, but the given vectors "
                f"have {vectors.shape[1]}"
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
    """Steps that are applied one after the other; `notes` has remarks on the fit."""

    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()

    def __call__(self, vectors: Matrix, texts: Sequence[str]) -> Matrix:
        for step in self.steps:
            vectors = step(vectors, texts)
        return vectors


def subtraction(shift: Vector) -> Step:
    """Return the step that maps x to x − shift."""
    width = len(shift)
    return Step(shift, np.zeros(width), np.zeros((width, 0)), np.zeros((0, width)))


def projection(basis: Matrix, shift: Vector | None = None) -> Step:
    """Return the step that subtracts `shift` and projects out the rows of `basis`, which are orthonormal."""
    width = basis.shape[1]
    return Step(np.zeros(width) if shift is None else shift, np.zeros(width), basis.T, basis)
