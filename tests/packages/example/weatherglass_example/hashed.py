"""`hashed:WIDTH`: vectors drawn from the hash of a text, so that they mean nothing and are the same everywhere."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.encoders import Coverage, Spec
from weatherglass.warnings import Kind, Warning

LEAST_WIDTH = 32
FEW_DIMENSIONS = Kind(
    "only {width} dimensions: many words have similar vectors",
    example={"width": 16},
    about="run",
    section=False,
)


class HashedEncoder:
    """random vectors, the same for the same text everywhere

    Costly, as a real model would be: its vectors are cached, and its texts split among processes.
    """

    costly: ClassVar[bool] = True
    example: ClassVar[str] = "hashed:64"

    def __init__(self, spec: Spec, width: int) -> None:
        self.name = str(spec)
        self.options: Mapping[str, str] = {"width": str(width)}
        self._width = width

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """`hashed:WIDTH`."""
        spec.reader().done()
        return cls(spec, int(spec.target or 64))

    def identity(self) -> str:
        """The width is all that the vectors depend on."""
        return hashlib.sha256(f"hashed 1, {self._width}".encode()).hexdigest()

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Normal numbers, seeded by the text."""
        seeds = (int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) for text in texts)
        return np.array([np.random.default_rng(seed).standard_normal(self._width) for seed in seeds])

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        """Every text is one token, and known."""
        return [Coverage((text,)) for text in texts]

    def notes(self) -> list[str]:
        """Nothing to add."""
        return []

    def warnings(self) -> list[Warning]:
        """Warn of vectors that are short."""
        return [Warning.of("few-dimensions", width=self._width)] if self._width < LEAST_WIDTH else []
