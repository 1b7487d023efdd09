"""Small encoders for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders.base import Coverage


class HashedEncoder:
    """Gives each text a random vector of its own, drawn from the text's hash; unknown words are as told."""

    def __init__(
        self,
        width: int = 20,
        unknown: Sequence[str] = (),
        zero: Sequence[str] = (),
        name: str = "hashed",
    ) -> None:
        self.name = name
        self.options: Mapping[str, str] = {"width": str(width)}
        self.encoded: list[str] = []
        self._width = width
        self._unknown = set(unknown)
        self._zero = set(zero)

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        self.encoded += texts
        return np.stack([self._vector(text) for text in texts])

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        return [Coverage((text,), (text,) if text in self._unknown else ()) for text in texts]

    def _vector(self, text: str) -> AnyMatrix:
        if text in self._unknown:
            return np.full(self._width, np.nan)
        if text in self._zero:
            return np.zeros(self._width)
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        return np.random.default_rng(seed).normal(size=self._width)
