"""Encode the texts of tests: each distinct text once, in this process or in others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from weatherglass.arrays import AnyMatrix, ArrayError, Matrix, real_array
from weatherglass.encoders import ENCODERS, load_encoder
from weatherglass.encoders.base import (
    PER_TOKEN,
    Asked,
    Coverage,
    Encoding,
    Model,
    ModelEncoder,
    Observations,
    What,
    check_asked,
    plain,
    text_of,
)
from weatherglass.encoders.cache import CachedEncoder
from weatherglass.encoders.views import (
    CachedViews,
    LayeredEncoder,
    TruncatedEncoder,
    View,
    encode_views,
    layered,
)
from weatherglass.errors import EncoderError
from weatherglass.mitigation.base import Change, Transform
from weatherglass.parallel import Backend
from weatherglass.progress import Progress

CHUNK = 512
"""The number of texts of a costly model per job, which is the same for every backend, so that batches are equal."""
SENTENCES = 64
"""The number of texts per job for numbers by token, since a masked model runs once per token."""


@dataclass(frozen=True, slots=True)
class Encodings:
    """Vectors and coverage by text."""

    row: dict[str, int]
    vectors: Matrix
    coverage: list[Coverage]

    def known(self, text: str) -> bool:
        """Return whether the model knows any part of the text."""
        return not bool(np.isnan(self.vectors[self.row[text]]).all())

    def transformed(self, transforms: Sequence[Transform]) -> Encodings:
        """Return the vectors after applying each transform in turn, fitted on the vectors of its own texts."""
        return self.fitted(transforms)[1] if transforms else self

    def fitted(self, transforms: Sequence[Transform]) -> tuple[list[Change], Encodings]:
        """Fit each transform in turn; return the fitted changes, and the vectors after all of them."""
        vectors, texts = self.vectors, list(self.row)
        changes = []
        for transform in transforms:
            changes.append(transform.fit(vectors[[self.row[text] for text in transform.texts()]]))
            vectors = changes[-1](vectors, texts)
        return changes, replace(self, vectors=vectors)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Inputs for a model that another process loads by its spec."""

    spec: str
    inputs: list[Asked]
    what: What


def encode_texts(model: Model, texts: Sequence[str], backend: Backend, progress: Progress) -> Encodings:
    """Encode each distinct text once.

    Raises:
        EncoderError: if the model does not return one row per text, all of one width.
    """
    observed = observe(model, texts, "vectors", backend, progress)
    rows = {
        asked if isinstance(asked, str) else text_of(asked): row for row, asked in enumerate(observed.inputs)
    }
    return Encodings(rows, observed.matrix.astype(np.float64, copy=False), observed.coverage)


def observe(
    model: Model, inputs: Sequence[Asked], what: What, backend: Backend, progress: Progress
) -> Observations:
    """Run a model once on each distinct input, in this process or in others.

    Raises:
        EncoderError: if the model cannot give `what`, or does not return one row per input, all of one width.
    """
    check_asked(model, inputs, what)
    if isinstance(model, TruncatedEncoder):
        # The cache contains the vectors before they are truncated.
        return model.cut(observe(model.inner, inputs, what, backend, progress))
    distinct = list(dict.fromkeys(asked if isinstance(asked, str) else plain(asked) for asked in inputs))
    progress.stage(f"encoding with {model.name}", len(distinct))
    known: dict[Asked, Encoding] = {}
    if not backend.in_process and _goes_elsewhere(model):
        known = _elsewhere(model, distinct, what, backend, progress)
    else:
        in_parts = getattr(model, "in_parts", isinstance(model, ModelEncoder) and model.costly)
        # Word vectors are read in one pass over their file, so they are requested all at once.
        size = _per_job(what) if in_parts else max(1, len(distinct))
        for some in _jobs(distinct, what, size):
            known |= _observed(model, some, what).by_input()
            progress.advance(len(some))
    rows = [known[asked] for asked in distinct]
    coverage = [row.coverage for row in rows]
    if what in PER_TOKEN:
        return Observations(distinct, what, [row.values for row in rows], coverage)
    widths = {len(row.values) for row in rows}
    if len(widths) > 1:
        raise EncoderError(f"{model.name}: vectors of different widths: {sorted(widths)}")
    return Observations(distinct, what, np.array([row.values for row in rows], dtype=np.float64), coverage)


def _per_job(what: What) -> int:
    return SENTENCES if what in PER_TOKEN else CHUNK


def _jobs(inputs: list[Asked], what: What, size: int) -> Iterator[list[Asked]]:
    """Yield inputs in jobs of this size; a job grows until its last text is not asked about at another place."""
    start = 0
    while start < len(inputs):
        end = start + size
        while (
            what == "token-vectors" and end < len(inputs) and text_of(inputs[end]) == text_of(inputs[end - 1])
        ):
            end += 1
        yield inputs[start:end]
        start = end


def _goes_elsewhere(model: Model) -> bool:
    """Return whether other processes should encode; they cannot if the kind was registered only in this process."""
    kind = model.name.partition(":")[0].partition("?")[0]
    costly = isinstance(model, ModelEncoder) and model.costly
    return costly and not ENCODERS.registered([kind])


def _elsewhere(
    model: Model, inputs: list[Asked], what: What, backend: Backend, progress: Progress
) -> dict[Asked, Encoding]:
    """Encode in other processes; only this process uses the cache, since other machines may not see its file."""
    cached = model if isinstance(model, CachedEncoder) else None
    known = cached.lookup(inputs, what) if cached else {}
    missing = [asked for asked in inputs if asked not in known]
    progress.advance(len(known))
    chunks = (Chunk(model.name, some, what) for some in _jobs(missing, what, _per_job(what)))
    for outcome in backend.map(observe_chunk, chunks):
        if outcome.value is None:
            raise outcome.error or EncoderError(f"{model.name}: no {what} came back")
        known |= (cached.store if cached else Observations.by_input)(outcome.value)
        progress.advance(len(outcome.unit.inputs))
    return known


@dataclass(frozen=True, slots=True)
class ViewChunk:
    """Inputs for one call of `observe_views` in another process, which loads the model by its spec."""

    spec: str
    inputs: list[Asked]
    views: tuple[View, ...]
    what: What = "vectors"


def encode_in_views(
    encoder: LayeredEncoder,
    inputs: Sequence[Asked],
    views: Sequence[View],
    backend: Backend,
    progress: Progress,
    what: What = "vectors",
) -> tuple[list[AnyMatrix], list[Coverage]]:
    """Encode distinct inputs under every view; return a matrix per view, and the coverage of each input."""
    if not backend.in_process and _goes_elsewhere(encoder):
        return _encode_views_elsewhere(encoder, inputs, tuple(views), backend, progress, what)
    parts = []
    for start in range(0, len(inputs), CHUNK):
        some = inputs[start : start + CHUNK]
        parts.append(encode_views(encoder, some, views, what))
        progress.advance(len(some))
    matrices = [np.concatenate([some[view] for some, _ in parts]) for view in range(len(views))]
    return matrices, [covered for _, some in parts for covered in some]


def _encode_views_elsewhere(
    encoder: LayeredEncoder,
    inputs: Sequence[Asked],
    views: tuple[View, ...],
    backend: Backend,
    progress: Progress,
    what: What,
) -> tuple[list[AnyMatrix], list[Coverage]]:
    """Encode inputs that are not cached under every view in other processes; only this process uses the cache."""
    cached = CachedViews(encoder, inputs, views, what)
    missing = cached.missing
    progress.advance(len(inputs) - len(missing))
    chunks = (
        ViewChunk(encoder.name, missing[start : start + CHUNK], views, what)
        for start in range(0, len(missing), CHUNK)
    )
    for outcome in backend.map(encode_view_chunk, chunks):
        if outcome.value is None:
            raise outcome.error or EncoderError(
                f"{encoder.name}: the other process returned no vectors; run the same command again"
            )
        cached.store(outcome.value)
        progress.advance(len(outcome.unit.inputs))
    return cached.matrices(), cached.coverage()


def encode_view_chunk(chunk: ViewChunk) -> list[Observations]:
    """Return the observations of one chunk under each view, in any process."""
    encoder = layered(_encoder_of_this_process(chunk.spec), chunk.what)
    assert encoder is not None, f"{chunk.spec} has no views"
    return encoder.observe_views(chunk.inputs, chunk.views, chunk.what)


def observe_chunk(chunk: Chunk) -> Observations:
    """Return the observations of one chunk, in any process."""
    return _observed(_encoder_of_this_process(chunk.spec), chunk.inputs, chunk.what)


def _observed(model: Model, inputs: list[Asked], what: What) -> Observations:
    """Return the observations of a model; its vectors are checked, since they may come from a user's code."""
    observed = model.observe(inputs, what)
    if isinstance(observed.values, list):
        return observed
    try:
        vectors = real_array(observed.values)
    except ArrayError as error:
        wrong = "its array" if error.row is None else f"the vector of {text_of(inputs[error.row])!r}"
        raise EncoderError(f"{model.name}: {wrong} {error}") from None
    if vectors.ndim != 2 or len(vectors) != len(inputs):
        raise EncoderError(
            f"{model.name}: the model returned an array of shape {vectors.shape} for {len(inputs)} texts"
        )
    return replace(observed, values=vectors)


@lru_cache(maxsize=1)
def _encoder_of_this_process(spec: str) -> ModelEncoder:
    """Return the model that this process loaded last; only one is kept, since models are large."""
    return load_encoder(spec, cache=False)
