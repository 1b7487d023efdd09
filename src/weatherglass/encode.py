"""One model's vectors for the texts of its tests, and the account of what it did not know (METHODS 6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from weatherglass.arrays import Matrix
from weatherglass.catalogue.association_test import AssociationTest, Element, ElementSet
from weatherglass.encoders import load_encoder
from weatherglass.encoders.base import Coverage, Encoder, ModelEncoder
from weatherglass.errors import EncoderError, UnitError
from weatherglass.parallel import Backend
from weatherglass.progress import Progress
from weatherglass.vector_sets import VectorSet

CHUNK = 512
"""Texts of a costly model in one unit of work, the same whatever the backend, so that batches are the same too."""

MISSING_SHARE = 0.2
"""More than this share of a set missing is worth a warning."""

LEAST_ELEMENTS = 2
"""A set that had more and has fewer than this left makes its test impossible."""


@dataclass(frozen=True, slots=True)
class Encodings:
    """Vectors and coverage by text."""

    row: dict[str, int]
    vectors: Matrix
    coverage: list[Coverage]

    def known(self, text: str) -> bool:
        """Whether the model could read any of the text."""
        return not bool(np.isnan(self.vectors[self.row[text]]).all())


@dataclass(slots=True)
class Ledger:
    """What a model did not know of one test."""

    dropped: dict[str, list[str]] = field(default_factory=dict)
    """By set: the elements left out because nothing in them is known."""
    missing: dict[str, int] = field(default_factory=dict)
    """By word: how many elements it was skipped in."""
    notes: dict[str, int] = field(default_factory=dict)
    """By remark, such as "cut to 512 tokens": how many elements it was made on."""

    def words(self) -> list[str]:
        """Every word or element that is unknown, once."""
        unread = (text for texts in self.dropped.values() for text in texts)
        return list(dict.fromkeys([*self.missing, *(text for text in unread if not self.missing)]))


@dataclass(frozen=True, slots=True)
class Chunk:
    """Texts for one call of `encode`, in whichever process."""

    model: Encoder | str
    """A spec travels to another process; an object stays in this one."""
    start: int
    texts: list[str]


def encode_texts(encoder: Encoder, texts: Sequence[str], backend: Backend, progress: Progress) -> Encodings:
    """Encode each distinct text once.

    Raises:
        EncoderError: if the model does not return one row per text.
    """
    distinct = list(dict.fromkeys(texts))
    progress.stage(f"encoding with {encoder.name}", len(distinct))
    vectors: dict[int, Matrix] = {}
    coverage: dict[int, list[Coverage]] = {}
    for chunk, rows, covered in _encode_chunks(encoder, distinct, backend):
        vectors[chunk.start], coverage[chunk.start] = rows, covered
        progress.advance(len(chunk.texts))
    starts = sorted(vectors)
    widths = {vectors[start].shape[1] for start in starts}
    if len(widths) > 1:
        raise EncoderError(f"{encoder.name}: vectors of different widths: {sorted(widths)}")
    return Encodings(
        {text: row for row, text in enumerate(distinct)},
        np.concatenate([vectors[start] for start in starts]),
        [covered for start in starts for covered in coverage[start]],
    )


def _encode_chunks(
    encoder: Encoder, texts: list[str], backend: Backend
) -> Iterator[tuple[Chunk, Matrix, list[Coverage]]]:
    if not (isinstance(encoder, ModelEncoder) and encoder.costly):
        # Word vectors are had by one pass over their file, so they are asked for all at once.
        chunk = Chunk(encoder, 0, texts)
        yield chunk, *_encode_chunk(chunk)
        return
    model = encoder if backend.in_process else encoder.name
    chunks = (Chunk(model, start, texts[start : start + CHUNK]) for start in range(0, len(texts), CHUNK))
    for outcome in backend.map(_encode_chunk, chunks):
        if outcome.value is None:
            assert outcome.error is not None
            raise outcome.error
        yield outcome.unit, *outcome.value


def _encode_chunk(chunk: Chunk) -> tuple[Matrix, list[Coverage]]:
    encoder = _encoder_of_this_process(chunk.model) if isinstance(chunk.model, str) else chunk.model
    vectors = np.asarray(encoder.encode(chunk.texts), dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != len(chunk.texts):
        raise EncoderError(f"{encoder.name}: {len(chunk.texts)} texts gave an array of shape {vectors.shape}")
    return vectors, encoder.coverage(chunk.texts)


@lru_cache(maxsize=1)
def _encoder_of_this_process(spec: str) -> ModelEncoder:
    """Kept from chunk to chunk; one at a time, since models are large."""
    return load_encoder(spec)


def vector_sets(test: AssociationTest, encodings: Encodings) -> tuple[list[VectorSet], Ledger, list[str]]:
    """X, Y, A and B as vectors, without the elements that the model does not know, which the ledger lists.

    Raises:
        UnitError: if too few elements of a set are left.
    """
    ledger = Ledger()
    warnings: list[str] = []
    sets = []
    for role, element_set in zip("XYAB", test.sets, strict=True):
        kept = _known_elements(role, element_set, encodings, ledger)
        dropped = len(element_set) - len(kept)
        if dropped and len(kept) < LEAST_ELEMENTS:
            raise UnitError(
                f"only {len(kept)} of the {len(element_set)} elements of {element_set.category} are known to the "
                f"model; at least {LEAST_ELEMENTS} are needed (missing: {_some(ledger.dropped[role])})"
            )
        if dropped > MISSING_SHARE * len(element_set):
            warnings.append(
                f"{dropped} of the {len(element_set)} elements of {element_set.category} are unknown to the model"
            )
        rows = [encodings.row[element.text] for element in kept]
        sets.append(VectorSet(role, encodings.vectors[rows], kept))
    return sets, ledger, warnings


def _known_elements(
    role: str, element_set: ElementSet, encodings: Encodings, ledger: Ledger
) -> tuple[Element, ...]:
    kept = []
    for element in element_set.elements:
        covered = encodings.coverage[encodings.row[element.text]]
        for word in dict.fromkeys(covered.missing):
            ledger.missing[word] = ledger.missing.get(word, 0) + 1
        if covered.note:
            ledger.notes[covered.note] = ledger.notes.get(covered.note, 0) + 1
        if encodings.known(element.text):
            kept.append(element)
        else:
            ledger.dropped.setdefault(role, []).append(element.text)
    return tuple(kept)


def _some(texts: Sequence[str], most: int = 5) -> str:
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(repr(text) for text in texts[:most]) + more
