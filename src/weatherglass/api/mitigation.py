"""Fit transforms on a model, and write the changed vectors or evaluate the mitigation (`weatherglass.mitigate`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.arrays import Matrix
from weatherglass.audit.encode import encode_texts
from weatherglass.audit.plan import PlannedModel
from weatherglass.encoders.in_memory import one_model_in
from weatherglass.encoders.vectors import VectorEncoder
from weatherglass.errors import EncoderError, OutputError, SpecError, output_error
from weatherglass.mitigation import Change, Transform, read_transforms
from weatherglass.mitigation.base import Step, Steps, words_of
from weatherglass.mitigation.lists import Sides
from weatherglass.mitigation.saved import SUFFIX, write_transform
from weatherglass.mitigation_evaluation.verdict import Evaluation
from weatherglass.parallel import backend
from weatherglass.progress import Progress, Silent, check_progress
from weatherglass.registry import checked_path, checked_texts
from weatherglass.vectors import FORMATS, read_every_word, write_vectors
from weatherglass.warnings import as_warning

BLOCK = 4096
"""The number of rows that are changed and written at a time."""
PROBE = "the"
"""A text that is encoded together with the words of the transforms, so that the width is known even if they have no
words.
"""


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written."""

    path: Path
    format: str
    words: int
    """The number of words in the file; 0 for a transform."""
    width: int
    notes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "file": str(self.path),
            "format": self.format,
            "words": self.words,
            "width": self.width,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Mitigation:
    """Transforms fitted on a model."""

    model: PlannedModel
    changes: tuple[Change, ...]
    width: int
    notes: tuple[str, ...]
    """Remarks on the fit, such as pairs that the model does not know."""

    @property
    def name(self) -> str:
        """Return the model's name with the spelling of its transforms."""
        return self.model.name

    def apply(self, vectors: Matrix, texts: Sequence[str]) -> Matrix:
        """Return the changed vectors of texts, one row each."""
        for change in self.changes:
            vectors = change(vectors, texts)
        return vectors

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return the changed vectors of texts that the model encodes."""
        return self.apply(np.asarray(self.model.encoder.encode(texts), dtype=np.float64), texts)

    def write(self, path: str | Path) -> Written:
        """Write the changed word vectors, or the fitted transforms, atomically.

        Args:
            path: the file. If the name ends in .transform, the fitted transforms are written, which `MODEL |
                saved?file=FILE` applies to any model of the same width. For .safetensors, .txt, .vec and .bin, all
                words of a file of vectors are written.

        Raises:
            OutputError: if the name has another suffix, or the file cannot be written.
            EncoderError: if the model has no list of words to write.
        """
        path = checked_path("path", path)
        if path.suffix == SUFFIX:
            return self._write_transform(path)
        if path.suffix.lower() not in FORMATS:
            known = ", ".join((SUFFIX, *FORMATS))
            raise OutputError(f"{path}: the name should end in one of {known}, which selects the format")
        encoder = self.model.encoder
        if not isinstance(encoder, VectorEncoder):
            raise EncoderError(
                f"{encoder.name}: this model is not a file of word vectors, so there are no vectors to "
                f"write; name a file that ends in {SUFFIX} instead, and use it as MODEL | "
                f"saved?file=NAME{SUFFIX}"
            )
        if path.exists() and path.samefile(encoder.path):
            raise OutputError(f"{path}: this is the model itself; name another file")
        return self._write_words(path, encoder.path)

    def judge(self, **options: Any) -> Evaluation:
        """Judge whether the mitigation worked; the options are those of `judge_mitigation`, such as tests, pairs and
        jobs…
        """
        from weatherglass.api.mitigation_evaluation import judge_mitigation

        return judge_mitigation(self, **options)

    def _write_words(self, path: Path, source: Path) -> Written:
        every = read_every_word(source)
        words = list(every.rows)
        notes = list(self.notes)
        if every.duplicates:
            notes.append(f"{every.duplicates} words occur twice in {source}; the first one was written")
        format = write_vectors(path, words, self.width, self._changed_blocks(words, every.matrix))
        return Written(path, format, len(words), self.width, tuple(notes))

    def _changed_blocks(
        self, words: Sequence[str], matrix: NDArray[np.float32]
    ) -> Iterator[NDArray[np.float32]]:
        for start in range(0, len(words), BLOCK):
            rows = matrix[start : start + BLOCK].astype(np.float64)
            yield self.apply(rows, words[start : start + BLOCK]).astype(np.float32)

    def _write_transform(self, path: Path) -> Written:
        steps: list[Step] = []
        for transform, change in zip(self.model.transforms, self.changes, strict=True):
            if not isinstance(change, Steps):
                raise EncoderError(
                    f"{transform.name}: cannot be written to a file, because it belongs to another package"
                )
            steps += change.steps
        fitted = {
            "transforms": [transform.name for transform in self.model.transforms],
            "model": self.model.encoder.name,
            "model_identity": self.model.identity,
            "words": sorted(frozenset().union(*map(words_of, self.model.transforms))),
            "topics": list(topics_of(self.model.transforms)),
            "sides": sides_of_transforms(self.model.transforms),
        }
        try:
            write_transform(path, steps, fitted)
        except OSError as error:
            raise output_error(path, error) from None
        return Written(path, "weatherglass transform", 0, self.width, self.notes)


def topics_of(transforms: Sequence[Transform]) -> tuple[str, ...]:
    """Return the catalogue topics that the word lists of transforms are about."""
    return tuple(
        dict.fromkeys(topic for transform in transforms for topic in getattr(transform, "topics", ()))
    )


def sides_of_transforms(transforms: Sequence[Transform]) -> Sides | None:
    """Return the words of both ends of the attribute, from the first transform that has them; None if no transform has
    them.
    """
    found = (getattr(transform, "sides", None) for transform in transforms)
    return next((sides for sides in found if sides), None)


def mitigate(
    model: Any,
    transforms: str | Sequence[str] = (),
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    shared_dir: str | Path | None = None,
    progress: Progress | None = None,
) -> Mitigation:
    """Fit transforms on a model, each on the named words of its own list.

    Args:
        model: a spec, which may have transforms (`vectors:glove.txt | centre`), or an object in memory, as in `run`.
        transforms: further transforms, such as "hard-debias?pairs=gender" or ["centre", "leace?classes=gender"].
        jobs: the number of local processes.
        scheduler: a Dask cluster to use instead (tcp://HOST:PORT or a scheduler file), or ENGINE:ADDRESS with an engine
            of another package.
        shared_dir: a folder that all machines of the cluster see under the same path.
        progress: an object that receives progress updates of the encoding.

    Returns:
        A Mitigation, with the methods `apply`, `encode`, `write` and `judge`.

    Raises:
        WeatherglassError: if there are no transforms, a list cannot be used, or the model knows too few of its words.

    Example:
        >>> debiased = mitigate("wordllama", "mean-difference?classes=male_terms,female_terms")
        >>> debiased.encode(["doctor"]).shape
        (1, 256)
    """
    check_progress(progress)
    workers = backend(jobs, scheduler, shared_dir)
    chosen = with_transforms(model, transforms)
    texts = [*chosen.texts(), PROBE]
    encodings = encode_texts(chosen.encoder, texts, workers, progress or Silent())
    changes, _ = encodings.fitted(chosen.transforms)
    notes = [
        f"{transform.name.partition('?')[0]}: {note}"
        for transform, change in zip(chosen.transforms, changes, strict=True)
        for note in getattr(change, "notes", ())
    ]
    notes += [str(as_warning(warning)) for warning in chosen.encoder.warnings()]
    return Mitigation(chosen, tuple(changes), encodings.vectors.shape[1], tuple(notes))


def with_transforms(model: Any, transforms: str | Sequence[str]) -> PlannedModel:
    """Return a model with its own transforms and further ones.

    Raises:
        SpecError: if there are no transforms.
    """
    given = [transforms] if isinstance(transforms, str) else checked_texts("transforms", transforms)
    found = one_model_in(model)
    if isinstance(found, str):
        chosen = PlannedModel.of(" | ".join([found, *given]))
    else:
        chosen = PlannedModel.of(found).followed_by(tuple(t for text in given for t in read_transforms(text)))
    if not chosen.transforms:
        raise SpecError("no transform is named; add --with, such as --with 'hard-debias?pairs=gender'")
    return chosen
