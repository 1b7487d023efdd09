"""Read and write files of encodings, which contain texts and their vectors, from weatherglass or any other program.

.npz            arrays `texts` (n texts) and `vectors` (n × d numbers)
.safetensors    a tensor `vectors` (n × d); the metadata entry `texts` is a JSON list of n texts
.parquet        columns `text` (string) and `vector` (a list of d numbers)
.h5, .hdf5      data sets `texts` and `vectors`; or, as in the cache of the code of May et al. (2019), a group per set
                (targ1, targ2, attr1, attr2) with one data set per text, named by the text, and in its later
                versions also a data set `category` with the name of the set

Every format may also contain the spec of the model, as an array, metadata entry, column or attribute `model`. A row of
NaN means that the model could not read the text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path
from typing import Any, Self, cast

import numpy as np

from weatherglass.arrays import AnyMatrix
from weatherglass.encoders.base import Coverage, Encoder
from weatherglass.encoders.spec import Spec
from weatherglass.errors import SpecError, VectorFileError, output_error
from weatherglass.storage.array_file import Npz, read_hdf5, require_whole, write_safetensors
from weatherglass.storage.atomic import whole_file
from weatherglass.storage.checksum import file_hash
from weatherglass.storage.child_process import Content, read_in_child
from weatherglass.storage.installed import require
from weatherglass.storage.reading import exists, is_folder, reading

FORMATS = {
    ".npz": "npz",
    ".safetensors": "safetensors",
    ".parquet": "parquet",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
}

CATEGORY = "category"
SHOWN = 20
"""The number of names in an error message."""


@dataclass(frozen=True, slots=True)
class EncodedTexts:
    """The content of a file of encodings."""

    texts: list[str]
    vectors: AnyMatrix
    model: str = ""
    """The model that computed the vectors, if the file states it."""


def read_encodings(path: Path) -> EncodedTexts:
    """Read a file of encodings; the format is detected from the first bytes.

    Raises:
        VectorFileError: if the file is missing or damaged, or texts and vectors do not match.
        UnsafeFileError: if it contains pickled objects, or refers to other files.
    """
    with reading(path):
        with path.open("rb") as file:
            head = file.read(9)
        if head.startswith(b"PK"):
            encoded = _read_npz(path)
        elif head.startswith(b"\x89HDF"):
            encoded = _read_hdf5(path)
        elif head.startswith(b"PAR1"):
            encoded = _read_parquet(path)
        elif head[8:9] == b"{":
            encoded = _read_safetensors(path)
        else:
            raise VectorFileError(f"{path}: unknown format; expected npz, safetensors, parquet or HDF5")
        return _checked(path, encoded)


def _checked(path: Path, encoded: EncodedTexts) -> EncodedTexts:
    texts, vectors = encoded.texts, encoded.vectors
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        shape = "×".join(map(str, vectors.shape))
        raise VectorFileError(
            f"{path}: vectors are {shape} of type {vectors.dtype}; expected texts × numbers"
        )
    if len(texts) != len(vectors):
        raise VectorFileError(f"{path}: {len(texts)} texts, but {len(vectors)} vectors")
    if not texts:
        raise VectorFileError(f"{path}: contains no encodings")
    if vectors.dtype.kind != "f" or vectors.dtype.itemsize < 4:
        vectors = vectors.astype(np.float64)
    not_finite = ~np.isfinite(vectors).all(axis=1) & ~np.isnan(vectors).all(axis=1)
    if not_finite.any():
        text = texts[int(np.flatnonzero(not_finite)[0])]
        raise VectorFileError(f"{path}: the vector of '{text}' has entries that are not finite")
    return EncodedTexts(texts, vectors, encoded.model)


def _read_npz(path: Path) -> EncodedTexts:
    with Npz(path) as arrays:
        missing = {"texts", "vectors"} - set(arrays.names)
        if missing:
            raise VectorFileError(f"{path}: no array '{min(missing)}' (there are: {_some(arrays.names)})")
        model = str(arrays["model"]) if "model" in arrays else ""
        texts = arrays["texts"]
        if texts.dtype.kind != "U":
            raise VectorFileError(
                f"{path}: 'texts' is an array of {texts.dtype}; save it as np.array(texts, dtype=str)"
            )
        return EncodedTexts([str(text) for text in texts.ravel()], arrays["vectors"], model)


def _read_safetensors(path: Path) -> EncodedTexts:
    from safetensors import safe_open

    require_whole(path)
    with safe_open(path, framework="numpy") as file:
        metadata = file.metadata() or {}
        if "vectors" not in file.keys():  # noqa: SIM118 - this is not a mapping
            raise VectorFileError(f"{path}: no tensor 'vectors' (there are: {_some(sorted(file.keys()))})")
        vectors = file.get_tensor("vectors")
    if "texts" not in metadata:
        raise VectorFileError(f"{path}: the metadata has no entry 'texts' (a JSON list)")
    texts = json.loads(metadata["texts"])
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise VectorFileError(f"{path}: the metadata entry 'texts' is not a JSON list of texts")
    return EncodedTexts(texts, vectors, metadata.get("model", ""))


def _read_parquet(path: Path) -> EncodedTexts:
    require(str(path), ("polars",), "encodings")
    facts, arrays = read_in_child(f"{__name__}:parquet_content", path, VectorFileError)
    return EncodedTexts(facts["texts"], arrays["vectors"], facts["model"])


def parquet_content(path: Path) -> Content:
    """Read a Parquet file in a child process, since polars may panic or allocate too much memory."""
    import polars

    columns = polars.read_parquet_schema(path)
    if missing := [name for name in ("text", "vector") if name not in columns]:
        raise VectorFileError(f"{path}: no column '{missing[0]}' (there are: {_some(list(columns))})")
    wanted: list[str] = [name for name in ("text", "vector", "model") if name in columns]
    table = polars.read_parquet(path, columns=wanted)
    texts, column = table["text"], table["vector"]
    if texts.dtype not in (polars.String, polars.Categorical, polars.Enum):
        raise VectorFileError(f"{path}: the column 'text' is of type {texts.dtype}, not text")
    if texts.null_count() or column.null_count():
        raise VectorFileError(f"{path}: a text or a vector is null")
    widths = column.to_frame().select(polars.col("vector").cast(polars.List(polars.Float64)).list.len())
    width = int(widths.to_series()[0]) if len(table) else 0
    ragged = (widths.to_series() != width).arg_true()
    if len(ragged):
        raise VectorFileError(
            f"{path}: the vector of '{texts[ragged[0]]}' has {widths.item(ragged[0], 0)} numbers,"
            f" but the first has {width}"
        )
    vectors = column.explode().to_numpy().reshape(len(table), width)
    model = str(table["model"][0]) if "model" in table.columns and len(table) else ""
    return {"texts": [str(text) for text in texts], "model": model}, {"vectors": vectors}


def _read_hdf5(path: Path) -> EncodedTexts:
    require(str(path), ("h5py",), "encodings")
    content = read_hdf5(path)
    model = content.attributes.get("model", "")
    if "texts" in content.texts and "vectors" in content.arrays:
        return EncodedTexts(list(content.texts["texts"]), content.arrays["vectors"], model)
    if any("/" not in name for name in (*content.texts, *content.arrays)):
        raise VectorFileError(
            f"{path}: contains no encodings: neither 'texts' and 'vectors' nor one group per set"
        )
    # The name of the set is a text in its group; an encoded text "category" would have numbers.
    if other := [name for name in content.texts if name.partition("/")[2] != CATEGORY]:
        raise VectorFileError(f"{path}: contains no encodings: '{other[0]}' contains texts, not numbers")
    # One group per set; a text with a slash was stored as a group within the group.
    items = ((name.partition("/")[2], array) for name, array in content.arrays.items())
    return _encoded_texts(path, items, model)


def _encoded_texts(path: Path, items: Iterable[tuple[str, AnyMatrix]], model: str) -> EncodedTexts:
    texts: list[str] = []
    vectors: list[AnyMatrix] = []
    for text, vector in items:
        flat = np.ravel(vector)
        if vectors and flat.shape != vectors[0].shape:
            raise VectorFileError(
                f"{path}: the vector of '{text}' has {flat.size} numbers,"
                f" but that of '{texts[0]}' has {vectors[0].size}"
            )
        texts.append(text)
        vectors.append(flat)
    return EncodedTexts(texts, np.stack(vectors) if vectors else np.empty((0, 0)), model)


def _some(names: Sequence[str]) -> str:
    return ", ".join([*names[:SHOWN], *(["…"] if len(names) > SHOWN else [])])


def format_for(path: Path) -> str:
    """Return the format of a file from its name.

    Raises:
        VectorFileError: if its suffix is not in `FORMATS`, or the library of the format is not installed.
    """
    format = FORMATS.get(path.suffix.lower())
    if format is None:
        raise VectorFileError(f"{path}: the name must end in one of {', '.join(FORMATS)}")
    if format in ("parquet", "hdf5"):
        require(str(path), ("polars" if format == "parquet" else "h5py",), "encodings")
    return format


def write_encodings(path: Path, texts: Sequence[str], vectors: AnyMatrix, model: str) -> None:
    """Write a file of encodings atomically, in the format of its suffix.

    Raises:
        VectorFileError: if the suffix is unknown, or the file cannot be written.
    """
    format = format_for(path)
    try:
        with whole_file(path) as unfinished:
            _write(format, unfinished, list(texts), np.ascontiguousarray(vectors), model)
    except OSError as error:
        raise output_error(path, error) from None


def _write(format: str, path: Path, texts: list[str], vectors: AnyMatrix, model: str) -> None:
    if format == "npz":
        with path.open("wb") as file:  # for a path, numpy would add .npz
            np.savez(file, texts=np.array(texts, dtype=str), vectors=vectors, model=np.array(model))
    elif format == "safetensors":
        # Not with save_file of safetensors, which writes the metadata in an order that changes from run to run.
        metadata = {"texts": json.dumps(texts, ensure_ascii=False), "model": model}
        size = vectors.dtype.itemsize
        tensors = {"vectors": (f"F{8 * size}", vectors.shape)}
        write_safetensors(path, metadata, tensors, [vectors.astype(f"<f{size}", copy=False)])
    elif format == "parquet":
        import polars

        columns: dict[str, Any] = {"text": texts, "vector": vectors, "model": [model] * len(texts)}
        try:
            polars.DataFrame(columns).write_parquet(path)
        except polars.exceptions.ComputeError as error:  # also raised for a full disk
            raise OSError(str(error)) from None
    else:
        import h5py

        # In memory first, since the library does not report when a full disk accepts only a part.
        with h5py.File("in memory", "w", driver="core", backing_store=False) as file:
            file.attrs["model"] = model
            file.create_dataset("texts", data=texts, dtype=h5py.string_dtype())
            file.create_dataset("vectors", data=cast(Any, vectors))
            file.flush()
            path.write_bytes(file.id.get_file_image())


class EncodingsEncoder(Encoder):
    """A model that looks texts up in one or more files of encodings (the published code writes one file per test)."""

    def __init__(self, spec: Spec, paths: Sequence[Path]) -> None:
        self._spec = spec
        self._paths = list(paths)

    @classmethod
    def from_spec(cls, spec: Spec) -> Self:
        """Find the files of encodings; they are read at the first `encode`."""
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
        source = f", made by {' and '.join(models)}" if models else ""
        return [f"'{self.name}': {count} encodings for {len(self._rows)} texts{source}"]

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
            else Coverage((text,), (text,), "text not in the file of encodings")
            for text in texts
        ]


def _paths(target: str) -> list[Path]:
    path = Path(target).expanduser()
    if is_folder(path):
        paths = sorted(file for file in path.iterdir() if file.suffix.lower() in FORMATS)
    elif has_magic(target) and not exists(path):
        paths = sorted(Path(name) for name in glob(str(path)))  # noqa: PTH207 - may start anywhere
    elif exists(path):
        return [path]
    else:
        raise VectorFileError(f"encodings:{target}: there is no such file")
    if not paths:
        raise SpecError(f"encodings:{target}: contains no file of encodings ({', '.join(FORMATS)})")
    return paths
