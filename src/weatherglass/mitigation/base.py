"""What a transform is: fitted on the vectors of its own texts, it maps any vectors of the same model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, Self

from weatherglass.arrays import Matrix
from weatherglass.encoders.spec import Spec


class Transform(Protocol):
    """A change of vectors after encoding."""

    @property
    def name(self) -> str:
        """As it is spelt, with every option: "centre?on=catalogue"."""
        ...

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """The transform that `name?option=value` describes; a mistake in it is raised here, not at `fit`."""
        ...

    def texts(self) -> tuple[str, ...]:
        """What it is fitted on; empty for a transform that needs no fitting."""
        ...

    def identity(self) -> str:
        """A hash of its options and texts: equal identities change vectors in the same way."""
        ...

    def fit(self, vectors: Matrix) -> Callable[[Matrix], Matrix]:
        """The map, from the vectors of `texts()` that the model knows, one row each.

        Raises:
            EncoderError: if too few of them are known.
        """
        ...
