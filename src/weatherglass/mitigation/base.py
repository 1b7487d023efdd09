"""What a transform is: fitted on the vectors of its own texts, it changes any vectors of the same model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, Self

from weatherglass.arrays import Matrix
from weatherglass.encoders.spec import Spec


class Change(Protocol):
    """What a fitted transform does: vectors and their texts in, changed vectors out; a row depends on no other row."""

    def __call__(self, vectors: Matrix, texts: Sequence[str], /) -> Matrix:
        """The changed vectors; a row of NaN, which is a text that the model does not know, stays one."""
        ...


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
        """A hash of its options and texts: equal identities change the vectors of a model in the same way."""
        ...

    def fit(self, vectors: Matrix) -> Change:
        """The change, from the vectors of `texts()`: one row each, NaN where the model does not know the text.

        Raises:
            EncoderError: if too few of them are known, or they do not determine the change.
        """
        ...


def words_of(transform: Transform) -> frozenset[str]:
    """The words that a transform has seen: its texts, unless it says that they are sentences made of words."""
    own: Callable[[], frozenset[str]] | None = getattr(transform, "words_seen", None)
    return own() if own is not None else frozenset(transform.texts())
