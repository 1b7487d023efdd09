"""`encodings:FILE`: vectors computed elsewhere, so that a model can be audited without being installed here."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path
from typing import ClassVar, Self

import numpy as np

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders.base import Coverage
from weatherglass.encoders.encoding_files import FORMATS, EncodedTexts, read_encodings
from weatherglass.encoders.spec import Spec
from weatherglass.errors import SpecError, VectorFileError
from weatherglass.storage.fingerprint import file_hash
from weatherglass.storage.reading import exists, is_folder


class EncodingsEncoder:
    """One file of encodings, or several that together hold one model's (the published code writes one per test)."""

    costly: ClassVar[bool] = False

    def __init__(self, spec: Spec, paths: Sequence[Path]) -> None:
        self._spec = spec
        self._paths = list(paths)

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Find the files; they are read at the first `encode`."""
        spec.reader().done()
        return cls(spec, _paths(spec.target))

    @property
    def name(self) -> str:
        return str(self._spec)

    @property
    def options(self) -> Mapping[str, str]:
        return {}

    def identity(self) -> str:
        hashes = sorted(file_hash(path) for path in self._paths)
        return hashlib.sha256("\n".join(["encodings", *hashes]).encode()).hexdigest()

    def notes(self) -> list[str]:
        models = sorted({encoded.model for encoded in self._contents if encoded.model})
        count = f"{len(self._paths)} files of" if len(self._paths) > 1 else "a file of"
        return [f"'{self.name}': {count} encodings for {len(self._rows)} texts" + _made_by(models)]

    @cached_property
    def _contents(self) -> list[EncodedTexts]:
        return [read_encodings(path) for path in self._paths]

    @cached_property
    def _rows(self) -> dict[str, AnyMatrix]:
        rows: dict[str, AnyMatrix] = {}
        width = self._contents[0].vectors.shape[1]
        for path, encoded in zip(self._paths, self._contents, strict=True):
            if encoded.vectors.shape[1] != width:
                raise VectorFileError(
                    f"{path}: {encoded.vectors.shape[1]} dimensions, but {self._paths[0]} has {width}"
                )
            for text, vector in zip(encoded.texts, encoded.vectors, strict=True):
                if not np.array_equal(rows.setdefault(text, vector), vector, equal_nan=True):
                    raise VectorFileError(f"{path}: '{text}' already has a different vector")
        return rows

    def encode(self, texts: Sequence[str]) -> AnyMatrix:
        known = self._rows
        first = self._contents[0].vectors
        vectors = np.full((len(texts), first.shape[1]), np.nan, dtype=first.dtype)
        for row, text in enumerate(texts):
            if text in known:
                vectors[row] = known[text]
        return vectors

    def coverage(self, texts: Sequence[str]) -> list[Coverage]:
        return [
            Coverage((text,))
            if text in self._rows
            else Coverage((text,), (text,), "not in the file of encodings")
            for text in texts
        ]


def _made_by(models: Sequence[str]) -> str:
    return f", made by {' and '.join(models)}" if models else ""


def _paths(target: str) -> list[Path]:
    path = Path(target).expanduser()
    if is_folder(path):
        paths = sorted(file for file in path.iterdir() if file.suffix.lower() in FORMATS)
    elif has_magic(target) and not exists(path):
        paths = sorted(Path(name) for name in glob(str(path)))  # noqa: PTH207 - may start anywhere
    elif exists(path):
        return [path]
    else:
        raise VectorFileError(f"encodings:{target}: no such file")
    if not paths:
        raise SpecError(f"encodings:{target}: no file of encodings there ({', '.join(FORMATS)})")
    return paths
