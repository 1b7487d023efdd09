"""Several vectors of one text from one forward pass: by other poolings and other layers of the same model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self, runtime_checkable

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders.base import Coverage, ModelEncoder
from weatherglass.encoders.cache.cached import WRITE_EVERY, CachedEncoder
from weatherglass.encoders.layers import Layers
from weatherglass.encoders.truncated import TruncatedEncoder


@dataclass(frozen=True, slots=True)
class View:
    """How the hidden states of a text's tokens become one vector."""

    pooling: str
    layers: Layers


@runtime_checkable
class LayeredEncoder(ModelEncoder, Protocol):
    """A model whose pooling and layers are chosen after the forward pass: transformers and ELMo."""

    @property
    def view(self) -> View:
        """The one that its spec asks for."""
        ...

    def with_view(self, view: View) -> Self:
        """The same model with another pooling and other layers."""
        ...

    def other_views(self) -> tuple[list[str], list[Layers]]:
        """The poolings and the layers that papers use with such a model."""
        ...

    def encode_views(self, texts: Sequence[str], views: Sequence[View]) -> list[AnyMatrix]:
        """What `encode` gives under each view, each text read once."""
        ...


def layered(encoder: object) -> LayeredEncoder | None:
    """The encoder, or what is behind its `dim=` and its cache, if pooling and layers can be chosen; else None."""
    whole = encoder.inner if isinstance(encoder, TruncatedEncoder) else encoder
    inner = whole.inner if isinstance(whole, CachedEncoder) else whole
    # Views are cached by the identity of the model, which an object in memory may not have.
    return inner if isinstance(inner, LayeredEncoder) and inner.identity() else None


def encode_views(
    encoder: LayeredEncoder, texts: Sequence[str], views: Sequence[View]
) -> tuple[list[AnyMatrix], list[Coverage]]:
    """The vectors of texts, each given once, under every view, from the cache where it has them all.

    A text that the cache lacks under any view goes through the model once, and is then cached under each.
    """
    cached = CachedViews(encoder, texts, views)
    missing = cached.missing
    for start in range(0, len(missing), WRITE_EVERY):
        batch = missing[start : start + WRITE_EVERY]
        cached.store(batch, encoder.encode_views(batch, views), encoder.coverage(batch))
    return cached.matrices(), cached.coverage()


class CachedViews:
    """The vectors of texts, each given once, under several views: what the cache has of them, and what is added."""

    def __init__(self, encoder: LayeredEncoder, texts: Sequence[str], views: Sequence[View]) -> None:
        self._texts = list(texts)
        self._siblings = [CachedEncoder(encoder.with_view(view)) for view in views]
        self._known = [sibling.lookup(self._texts) for sibling in self._siblings]

    @property
    def missing(self) -> list[str]:
        """The texts that are not known under every view."""
        return [text for text in self._texts if any(text not in some for some in self._known)]

    def store(
        self, texts: Sequence[str], matrices: Sequence[AnyMatrix], coverage: Sequence[Coverage]
    ) -> None:
        """Add the vectors of texts under each view, and write them to the cache."""
        for sibling, some, vectors in zip(self._siblings, self._known, matrices, strict=True):
            some |= sibling.store(texts, vectors, coverage)

    def matrices(self) -> list[AnyMatrix]:
        """Return a matrix per view with one row per text, once no text is missing."""
        return [
            sibling.stacked([some[text].vector for text in self._texts])
            for sibling, some in zip(self._siblings, self._known, strict=True)
        ]

    def coverage(self) -> list[Coverage]:
        """Return how each text was read, which is the same under every view."""
        return [self._known[0][text].coverage for text in self._texts]
