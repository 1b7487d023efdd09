"""Compute further vectors of the same model, with fewer dimensions (`…?dim=64`), other poolings or other layers.

Truncation (Matryoshka, Kusupati et al. 2022) works for every kind of model after encoding. The cache contains the
whole vectors, so that other values of `dim` cost nothing. All poolings and layers of a text need only one forward
pass.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import AnyMatrix, F, unit_length
from weatherglass.encoders.base import Asked, Coverage, Encoder, ModelEncoder, Observations, What
from weatherglass.encoders.cache import WRITE_EVERY, CachedEncoder
from weatherglass.encoders.pooling import Layers
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError
from weatherglass.warnings import Warning

UNIT = 1e-3
"""The tolerance for a length of 1, which is about the rounding error of float16."""


class TruncatedEncoder(Encoder):
    """An encoder that returns the first dimensions of the vectors of `inner`."""

    costly: ClassVar[bool] = False
    """Truncation is cheap, so results are not cached again; `inner` decides whether to cache its own."""

    def __init__(self, inner: ModelEncoder, dim: int, name: str) -> None:
        self.inner = inner
        self.dim = dim
        self.name = name

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        from weatherglass.encoders import load_encoder

        encoder = load_encoder(spec)
        if not isinstance(encoder, cls):
            raise EncoderError(f"'{spec}': it has no dim= to truncate; add dim=")
        return encoder

    @property
    def options(self) -> Mapping[str, str]:
        return {**self.inner.options, "dim": str(self.dim)}

    def identity(self) -> str:
        content = ["truncated, 1", self.inner.identity(), self.dim]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def notes(self) -> list[str]:
        return self.inner.notes()

    def warnings(self) -> Sequence[Warning | str]:
        return self.inner.warnings()

    @property
    def gives(self) -> frozenset[What]:
        return self.inner.gives

    def observe(self, inputs: Sequence[Asked], what: What = "vectors") -> Observations:
        return self.cut(self.inner.observe(inputs, what))

    def cut(self, whole: Observations) -> Observations:
        """Return observations with truncated vectors; log-probabilities are unchanged."""
        return whole if isinstance(whole.values, list) else replace(whole, values=self.truncate(whole.values))

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        return self.truncate(self.inner.encode(texts))

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        return self.inner.coverage(texts)

    def truncate(self, vectors: NDArray[F]) -> NDArray[F]:
        """Return the first dimensions; vectors of length 1 are scaled to length 1 again.

        Raises:
            EncoderError: if the vectors have fewer dimensions.
        """
        width = vectors.shape[1]
        if len(vectors) and self.dim > width:
            raise EncoderError(
                f"'{self.name}': dim={self.dim}, but the model's vectors have {width} dimensions"
            )
        return first_dimensions(vectors, self.dim)


def first_dimensions(vectors: NDArray[F], dim: int) -> NDArray[F]:
    """Return the first `dim` columns; rows of length 1 are scaled to length 1 again."""
    lengths: NDArray[Any] = np.linalg.norm(vectors, axis=1)
    cut: NDArray[F] = vectors[:, :dim].copy()
    unit = np.abs(lengths - 1) < UNIT
    cut[unit] = unit_length(cut[unit])
    return cut


@dataclass(frozen=True, slots=True)
class View:
    """A pooling and layers, which determine one vector of a text."""

    pooling: str
    layers: Layers


@runtime_checkable
class LayeredEncoder(ModelEncoder, Protocol):
    """A model whose pooling and layers can be chosen after the forward pass (transformers and ELMo)."""

    @property
    def view(self) -> View:
        """Return the view that the spec states."""
        ...

    def with_view(self, view: View, what: What = "vectors") -> Self:
        """Return the same model with another pooling, of texts or of words at a span, and other layers."""
        ...

    def other_views(self) -> tuple[list[str], list[Layers]]:
        """Return the poolings and layers that papers use with this kind of model."""
        ...

    def observe_views(
        self, inputs: Sequence[Asked], views: Sequence[View], what: What = "vectors"
    ) -> list[Observations]:
        """Return the vectors of texts, or of words at a span, under each view; each text is encoded once."""
        ...


@runtime_checkable
class WordReader(Protocol):
    """A model in which the pooling and layers of a word at a span can be chosen after the forward pass."""

    def word_views(self) -> tuple[list[str], list[Layers]]:
        """Return the poolings over the pieces of a word, and the layers, the model's default first."""
        ...

    def word_reader(self) -> LayeredEncoder:
        """Return the encoder that reads words at a span under these views; it may load the model."""
        ...


def inner_model(encoder: object) -> object:
    """Return the model without truncation and cache."""
    whole = encoder.inner if isinstance(encoder, TruncatedEncoder) else encoder
    return whole.inner if isinstance(whole, CachedEncoder) else whole


def layered(encoder: object, what: What = "vectors") -> LayeredEncoder | None:
    """Return the encoder, without truncation and cache, if the pooling and layers of `what` can be chosen; else
    None.
    """
    inner = inner_model(encoder)
    if what == "token-vectors" and isinstance(inner, WordReader):
        inner = inner.word_reader()
    # Views are cached by the identity of the model, which an object in memory may lack.
    return inner if isinstance(inner, LayeredEncoder) and inner.identity() else None


def encode_views(
    encoder: LayeredEncoder, inputs: Sequence[Asked], views: Sequence[View], what: What = "vectors"
) -> tuple[list[AnyMatrix], list[Coverage]]:
    """Return the vectors of distinct inputs under every view, from the cache if possible.

    An input that is not cached under every view is encoded once, and then cached under each.
    """
    cached = CachedViews(encoder, inputs, views, what)
    missing = cached.missing
    for start in range(0, len(missing), WRITE_EVERY):
        cached.store(encoder.observe_views(missing[start : start + WRITE_EVERY], views, what))
    return cached.matrices(), cached.coverage()


class CachedViews:
    """The vectors of distinct inputs under several views, from the cache or newly added."""

    def __init__(
        self,
        encoder: LayeredEncoder,
        inputs: Sequence[Asked],
        views: Sequence[View],
        what: What = "vectors",
    ) -> None:
        self._inputs = list(inputs)
        self._siblings = [CachedEncoder(encoder.with_view(view, what)) for view in views]
        self._known = [sibling.lookup(self._inputs, what) for sibling in self._siblings]

    @property
    def missing(self) -> list[Asked]:
        """Return the inputs that are not cached under every view."""
        return [asked for asked in self._inputs if any(asked not in some for some in self._known)]

    def store(self, fresh: Sequence[Observations]) -> None:
        """Add the observations under each view, and write them to the cache."""
        for sibling, some, observed in zip(self._siblings, self._known, fresh, strict=True):
            some |= sibling.store(observed)

    def matrices(self) -> list[AnyMatrix]:
        """Return a matrix per view with one row per input; no input may be missing."""
        return [
            sibling.stacked([some[asked].values for asked in self._inputs])
            for sibling, some in zip(self._siblings, self._known, strict=True)
        ]

    def coverage(self) -> list[Coverage]:
        """Return how each input was read, which is the same under every view."""
        return [self._known[0][asked].coverage for asked in self._inputs]
