"""An encoder behind the cache: its model is loaded only for texts that are not cached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders.base import Coverage, ModelEncoder
from weatherglass.encoders.cache.store import Encoding, EncodingCache
from weatherglass.encoders.spec import Spec
from weatherglass.errors import EncoderError

WRITE_EVERY = 1024
"""Texts after which encodings are written to the cache, so that an interrupted run loses little."""


class CachedEncoder:
    """Returns what `inner` returns, from the cache where possible."""

    costly: ClassVar[bool] = True

    def __init__(self, inner: ModelEncoder, cache: EncodingCache | None = None) -> None:
        self.inner = inner
        self.cache = cache or EncodingCache()

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        from weatherglass.encoders import ENCODERS

        return cls(ENCODERS.get(spec.kind).from_spec(spec))

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def options(self) -> Mapping[str, str]:
        return self.inner.options

    def identity(self) -> str:
        return self._identity

    @cached_property
    def _identity(self) -> str:
        return self.inner.identity()

    def notes(self) -> list[str]:
        return [*self.inner.notes(), *self.cache.problems]

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        distinct = list(dict.fromkeys(texts))
        encodings = self.lookup(distinct)
        missing = [text for text in distinct if text not in encodings]
        for start in range(0, len(missing), WRITE_EVERY):
            batch = missing[start : start + WRITE_EVERY]
            encodings |= self.store(batch, self.inner.encode(batch), self.inner.coverage(batch))
        return self.stacked([encodings[text].vector for text in texts])

    def lookup(self, texts: Sequence[str]) -> dict[str, Encoding]:
        """The encodings that are in the cache, by text; the model is not loaded."""
        return self.cache.get(self._identity, texts)

    def store(
        self, texts: Sequence[str], vectors: AnyMatrix, coverage: Sequence[Coverage]
    ) -> dict[str, Encoding]:
        """Write encodings to the cache, and return them by text; they may come from another process."""
        rows = zip(texts, vectors, coverage, strict=True)
        fresh = {text: Encoding(vector, covered) for text, vector, covered in rows}
        self.cache.put(self._identity, self.name, fresh)
        return fresh

    def stacked(self, rows: Sequence[AnyMatrix]) -> AnyMatrix:
        """Vectors of the cache as one matrix; a text that the model could not read is a row of NaN."""
        if not rows:
            return np.empty((0, 0))
        readable = {len(row) for row in rows if not np.isnan(row).all()}
        if len(readable) > 1:
            raise EncoderError(
                f"'{self.name}': the cache holds vectors of {min(readable)} and of {max(readable)} dimensions;"
                " the model changed but kept its name; run: weatherglass cache clear"
            )
        # An unreadable text may have been cached before the model's width was known.
        width = max(readable, default=max(map(len, rows)))
        unread = np.full(width, np.nan, dtype=rows[0].dtype)
        return np.stack([row if len(row) == width else unread for row in rows])

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        cached = self.lookup(list(dict.fromkeys(texts)))
        missing = [text for text in dict.fromkeys(texts) if text not in cached]
        fresh = dict(zip(missing, self.inner.coverage(missing), strict=True)) if missing else {}
        return [cached[text].coverage if text in cached else fresh[text] for text in texts]
