"""One model's vectors for the texts of its tests: each distinct text is encoded once, here or elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from weatherglass.arrays import AnyMatrix, ArrayError, Matrix, real_array
from weatherglass.encoders import ENCODERS, load_encoder
from weatherglass.encoders.base import Coverage, Encoder, ModelEncoder
from weatherglass.encoders.cache.cached import CachedEncoder
from weatherglass.encoders.cache.store import Encoding
from weatherglass.encoders.truncated import TruncatedEncoder
from weatherglass.encoders.views import CachedViews, LayeredEncoder, View, encode_views, layered
from weatherglass.errors import EncoderError
from weatherglass.mitigation.base import Change, Transform
from weatherglass.parallel import Backend
from weatherglass.progress import Progress

CHUNK = 512
"""Texts of a costly model in one unit of work, the same whatever the backend, so that batches are the same too."""


@dataclass(frozen=True, slots=True)
class Encodings:
    """Vectors and coverage by text."""

    row: dict[str, int]
    vectors: Matrix
    coverage: list[Coverage]

    def known(self, text: str) -> bool:
        """Whether the model could read any of the text."""
        return not bool(np.isnan(self.vectors[self.row[text]]).all())

    def transformed(self, transforms: Sequence[Transform]) -> Encodings:
        """The vectors after each transform in turn, fitted on the vectors of its own texts."""
        return self.fitted(transforms)[1]

    def fitted(self, transforms: Sequence[Transform]) -> tuple[list[Change], Encodings]:
        """What each transform in turn becomes for this model, and the vectors after all of them."""
        vectors, texts = self.vectors, list(self.row)
        changes = []
        for transform in transforms:
            changes.append(transform.fit(vectors[[self.row[text] for text in transform.texts()]]))
            vectors = changes[-1](vectors, texts)
        return changes, replace(self, vectors=vectors)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Texts for one call of `encode` in another process, which loads the model by its spec."""

    spec: str
    texts: list[str]


def encode_texts(encoder: Encoder, texts: Sequence[str], backend: Backend, progress: Progress) -> Encodings:
    """Encode each distinct text once.

    Raises:
        EncoderError: if the model does not return one row per text, all of one width.
    """
    if isinstance(encoder, TruncatedEncoder):
        # The whole vectors come from the cache, or go there, wherever they are computed.
        whole = encode_texts(encoder.inner, texts, backend, progress)
        return replace(whole, vectors=encoder.truncate(whole.vectors))
    distinct = list(dict.fromkeys(texts))
    progress.stage(f"encoding with {encoder.name}", len(distinct))
    if _goes_elsewhere(encoder) and not backend.in_process:
        assert isinstance(encoder, ModelEncoder)
        vectors, coverage = _encode_elsewhere(encoder, distinct, backend, progress)
    else:
        vectors, coverage = _encode_here(encoder, distinct, progress)
    widths = {len(vector) for vector in vectors}
    if len(widths) > 1:
        raise EncoderError(f"{encoder.name}: vectors of different widths: {sorted(widths)}")
    rows = {text: row for row, text in enumerate(distinct)}
    return Encodings(rows, np.array(vectors, dtype=np.float64), coverage)


def _goes_elsewhere(encoder: Encoder) -> bool:
    """Whether other processes should encode; a kind that was registered in this one they do not know."""
    kind = encoder.name.partition(":")[0].partition("?")[0]
    costly = isinstance(encoder, ModelEncoder) and encoder.costly
    return costly and not ENCODERS.registered([kind])


def _encode_here(
    encoder: Encoder, texts: list[str], progress: Progress
) -> tuple[list[AnyMatrix], list[Coverage]]:
    in_parts = getattr(encoder, "in_parts", isinstance(encoder, ModelEncoder) and encoder.costly)
    # Word vectors are read in one pass over their file, so they are requested all at once.
    size = CHUNK if in_parts else len(texts)
    # Asked first and for all texts: an encoder that looks words up in a file then does so in one pass.
    coverage = encoder.coverage(texts)
    vectors: list[AnyMatrix] = []
    for start in range(0, len(texts), size):
        some = texts[start : start + size]
        vectors += list(_encode(encoder, some))
        progress.advance(len(some))
    return vectors, coverage


def _encode_elsewhere(
    encoder: ModelEncoder, texts: list[str], backend: Backend, progress: Progress
) -> tuple[list[AnyMatrix], list[Coverage]]:
    """Only this process touches the cache: workers may sit on machines that do not see its file."""
    cached = encoder if isinstance(encoder, CachedEncoder) else None
    known = cached.lookup(texts) if cached else {}
    missing = [text for text in texts if text not in known]
    progress.advance(len(known))
    chunks = (Chunk(encoder.name, missing[start : start + CHUNK]) for start in range(0, len(missing), CHUNK))
    for outcome in backend.map(encode_chunk, chunks):
        if outcome.value is None:
            raise outcome.error or EncoderError(f"{encoder.name}: no vectors came back")
        some = outcome.unit.texts
        rows, covered = outcome.value
        known |= cached.store(some, rows, covered) if cached else _encodings(some, rows, covered)
        progress.advance(len(some))
    return [known[text].vector for text in texts], [known[text].coverage for text in texts]


@dataclass(frozen=True, slots=True)
class ViewChunk:
    """Texts for one call of `encode_views` in another process, which loads the model by its spec."""

    spec: str
    texts: list[str]
    views: tuple[View, ...]


def encode_texts_in_views(
    encoder: LayeredEncoder, texts: list[str], views: Sequence[View], backend: Backend, progress: Progress
) -> tuple[list[AnyMatrix], list[Coverage]]:
    """Encode each text, given once, under every view: a matrix per view, and how each text was read."""
    if _goes_elsewhere(encoder) and not backend.in_process:
        return _encode_views_elsewhere(encoder, texts, tuple(views), backend, progress)
    parts = []
    for start in range(0, len(texts), CHUNK):
        some = texts[start : start + CHUNK]
        parts.append(encode_views(encoder, some, views))
        progress.advance(len(some))
    matrices = [np.concatenate([some[view] for some, _ in parts]) for view in range(len(views))]
    return matrices, [covered for _, some in parts for covered in some]


def _encode_views_elsewhere(
    encoder: LayeredEncoder,
    texts: list[str],
    views: tuple[View, ...],
    backend: Backend,
    progress: Progress,
) -> tuple[list[AnyMatrix], list[Coverage]]:
    """Encode in other processes what the cache, which only this process touches, lacks under any view."""
    cached = CachedViews(encoder, texts, views)
    missing = cached.missing
    progress.advance(len(texts) - len(missing))
    chunks = (
        ViewChunk(encoder.name, missing[start : start + CHUNK], views)
        for start in range(0, len(missing), CHUNK)
    )
    for outcome in backend.map(encode_view_chunk, chunks):
        if outcome.value is None:
            raise outcome.error or EncoderError(f"{encoder.name}: no vectors came back")
        cached.store(outcome.unit.texts, *outcome.value)
        progress.advance(len(outcome.unit.texts))
    return cached.matrices(), cached.coverage()


def encode_view_chunk(chunk: ViewChunk) -> tuple[list[AnyMatrix], list[Coverage]]:
    """Return the vectors of one chunk under each view, in whichever process."""
    encoder = layered(_encoder_of_this_process(chunk.spec))
    assert encoder is not None, f"{chunk.spec} has no views"
    return encoder.encode_views(chunk.texts, chunk.views), encoder.coverage(chunk.texts)


def _encodings(texts: list[str], vectors: AnyMatrix, coverage: list[Coverage]) -> dict[str, Encoding]:
    rows = zip(texts, vectors, coverage, strict=True)
    return {text: Encoding(vector, covered) for text, vector, covered in rows}


def encode_chunk(chunk: Chunk) -> tuple[AnyMatrix, list[Coverage]]:
    """What one unit of a costly model's work gives, in whichever process."""
    encoder = _encoder_of_this_process(chunk.spec)
    return _encode(encoder, chunk.texts), encoder.coverage(chunk.texts)


def _encode(encoder: Encoder, texts: list[str]) -> AnyMatrix:
    given = encoder.encode(texts)
    try:
        vectors = real_array(given)
    except ArrayError as error:
        what = "its array" if error.row is None else f"the vector of {texts[error.row]!r}"
        raise EncoderError(f"{encoder.name}: {what} {error}") from None
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise EncoderError(f"{encoder.name}: {len(texts)} texts gave an array of shape {vectors.shape}")
    return vectors


@lru_cache(maxsize=1)
def _encoder_of_this_process(spec: str) -> ModelEncoder:
    """Kept from chunk to chunk; one at a time, since models are large."""
    return load_encoder(spec, cache=False)
