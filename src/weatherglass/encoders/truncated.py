"""`…?dim=64`: only the first dimensions of a model's vectors (Matryoshka truncation, Kusupati et al. 2022).

It works for every kind, after the model: the cache holds the whole vectors, so other values of `dim` cost nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import AnyMatrix, F, unit_length
from weatherglass.encoders.base import Coverage, ModelEncoder
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError

UNIT = 1e-3
"""How near to 1 a length must be to count as 1: float16 rounds that far."""


class TruncatedEncoder:
    """The first dimensions of what `inner` returns."""

    costly: ClassVar[bool] = False
    """What is costly is done by `inner`, which the audit calls."""

    def __init__(self, inner: ModelEncoder, dim: int, name: str) -> None:
        self.inner = inner
        self.dim = dim
        self.name = name

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        from weatherglass.encoders import load_encoder

        encoder = load_encoder(spec)
        if not isinstance(encoder, cls):
            raise EncoderError(f"'{spec}': no dim= that is cut after the model")
        return encoder

    @property
    def options(self) -> Mapping[str, str]:
        return {**self.inner.options, "dim": str(self.dim)}

    def identity(self) -> str:
        content = ["truncated, 1", self.inner.identity(), self.dim]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()

    def notes(self) -> list[str]:
        return self.inner.notes()

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        return self.truncate(self.inner.encode(texts))

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        return self.inner.coverage(texts)

    def truncate(self, vectors: NDArray[F]) -> NDArray[F]:
        """The first dimensions; what had unit length has it again, everything else keeps its numbers.

        Raises:
            EncoderError: if there are fewer dimensions.
        """
        width = vectors.shape[1]
        if len(vectors) and self.dim > width:
            raise EncoderError(
                f"'{self.name}': dim={self.dim}, but the model's vectors have {width} dimensions"
            )
        return first_dimensions(vectors, self.dim)


def first_dimensions(vectors: NDArray[F], dim: int) -> NDArray[F]:
    """The first `dim` columns; rows that had unit length are scaled to have it again."""
    lengths: NDArray[Any] = np.linalg.norm(vectors, axis=1)
    cut: NDArray[F] = vectors[:, :dim].copy()
    unit = np.abs(lengths - 1) < UNIT
    cut[unit] = unit_length(cut[unit])
    return cut
