"""Read the vectors of a spaCy pipeline from its files, without running spaCy or the pipeline's code.

vocab/vectors is a .npy array, and vocab/key2row is a MessagePack table from the hash of a word to its row; in pruned
pipelines, many words share a row. The hash is MurmurHash64A of the word in UTF-8 with seed 1. A name in spaCy's table
of symbols ("mark", "agent", "PERSON") has its number in that table in place of a hash.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Collection
from functools import cache
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import VectorFileError
from weatherglass.storage.array_file import map_array
from weatherglass.storage.reading import is_folder, reading
from weatherglass.vectors.collector import Collector, WordVectors, to_bytes

FORMAT = "spaCy vectors"

TABLE = Path("vocab", "vectors")
KEYS = Path("vocab", "key2row")
SETTINGS = Path("vocab", "vectors.cfg")

LONGEST_MODE = 40

_MASK = 2**64 - 1
_SEED = 1
_PRIME = 0xC6A4A7935BD1E995


def find_pipeline(target: str) -> Path:
    """Return the folder of a pipeline; `target` is that folder, its parent, or an installed package.

    Raises:
        VectorFileError: if there is no such pipeline, or it has no vectors.
    """
    folder = Path(target).expanduser()
    if not is_folder(folder):
        folder = _package_folder(target)
    within = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    pipelines = [path for path in within if (path / "config.cfg").is_file() or (path / TABLE).is_file()]
    if not pipelines:
        raise VectorFileError(f"{folder}: not a spaCy pipeline (it has no config.cfg)")
    if len(pipelines) > 1 and pipelines[0] != folder:
        raise VectorFileError(
            f"{folder}: contains {len(pipelines)} pipelines; name one, such as {pipelines[-1]}"
        )
    if not (pipelines[0] / TABLE).is_file():
        raise VectorFileError(f"{pipelines[0]}: has no {TABLE}; {_NO_VECTORS}")
    return pipelines[0]


_NO_VECTORS = "this pipeline has no word vectors (those called …_sm and …_trf have none; use …_md or …_lg)"


def _package_folder(name: str) -> Path:
    """Return the folder of an installed package, without importing it."""
    package = find_spec(name) if name.isidentifier() else None
    if package is None or not package.submodule_search_locations:
        raise VectorFileError(
            f"there is no folder and no installed package '{name[:100]}'; install a pipeline with: "
            "python -m spacy download NAME"
        )
    return Path(next(iter(package.submodule_search_locations)))


def pipeline_files(folder: Path) -> list[Path]:
    """Return the files that the vectors depend on."""
    return [path for name in (TABLE, KEYS, SETTINGS) if (path := folder / name).is_file()]


def read_pipeline(folder: Path, words: Collection[str]) -> WordVectors:
    """Return the vectors of the words that the pipeline has; words are looked up exactly as written, as in spaCy.

    Raises:
        VectorFileError: if a file is missing, damaged or of an unsupported kind (floret).
    """
    _check_mode(folder / SETTINGS)
    vectors = _table(folder / TABLE)
    wanted = {key_of(word): word for word in words if word}
    with reading(folder / KEYS):
        rows = _read_map((folder / KEYS).read_bytes(), wanted)
    collector = Collector(folder / TABLE, wanted.values(), noun="row")
    for key, row in rows.items():
        if row >= len(vectors):
            raise VectorFileError(
                f"{folder / KEYS}: '{wanted[key]}' refers to row {row}, but the table has {len(vectors)} rows"
            )
        if row >= 0:
            collector.add(to_bytes(wanted[key]), vectors[row], row + 1)
    return collector.finish(vectors.shape[1], FORMAT)


def _check_mode(path: Path) -> None:
    if not path.exists():  # before spaCy 3.2, there was only one mode and no such file
        return
    with reading(path, noun="cannot be read: it"):
        mode = str(json.loads(path.read_text(encoding="utf-8")).get("mode", "default"))[:LONGEST_MODE]
    if mode != "default":
        raise VectorFileError(
            f"{path}: vectors in the mode '{mode}' are not supported; with spaCy, write the vectors of "
            "your words to a text file (word, then numbers) and use vectors:FILE"
        )


def _table(path: Path) -> NDArray[np.float32]:
    """Return the memory-mapped rows, so that only those of wanted words are read."""
    vectors: NDArray[np.float32] = map_array(path)
    if vectors.ndim != 2 or vectors.dtype.kind != "f":
        raise VectorFileError(
            f"{path}: an array of shape {vectors.shape} and type {vectors.dtype}, which is not a table of vectors"
        )
    if 0 in vectors.shape:
        raise VectorFileError(f"{path}: an empty table; {_NO_VECTORS}")
    return vectors


_INTEGERS = {
    0xCC: struct.Struct(">B"),
    0xCD: struct.Struct(">H"),
    0xCE: struct.Struct(">I"),
    0xCF: struct.Struct(">Q"),
    0xD0: struct.Struct(">b"),
    0xD1: struct.Struct(">h"),
    0xD2: struct.Struct(">i"),
    0xD3: struct.Struct(">q"),
}
"""The types of numbers in MessagePack, by their first byte."""


def _read_map(content: bytes, wanted: Collection[int]) -> dict[int, int]:
    """Return the wanted items of a MessagePack map from whole numbers to whole numbers."""
    first = content[0]
    if 0x80 <= first <= 0x8F:
        count, place = first & 0x0F, 1
    else:
        sizes = {0xDE: struct.Struct(">H"), 0xDF: struct.Struct(">I")}
        (count,), place = sizes[first].unpack_from(content, 1), 1 + sizes[first].size
    if 2 * count > len(content) - place:
        raise IndexError(f"{count} items in {len(content)} bytes")
    items: dict[int, int] = {}
    key = 0
    for number in range(2 * count):
        kind = content[place]
        place += 1
        if kind < 0x80:
            value = kind
        elif kind >= 0xE0:
            value = kind - 0x100
        else:
            form = _INTEGERS[kind]
            (value,) = form.unpack_from(content, place)
            place += form.size
        if number % 2 == 0:
            key = value
        elif key in wanted:
            items[key] = value
    if place != len(content):
        raise IndexError(f"{len(content) - place} bytes after the last item")
    return items


def key_of(word: str) -> int:
    """Return the number by which spaCy identifies a word."""
    symbol = _symbols().get(word)
    return _murmur_hash(to_bytes(word)) if symbol is None else symbol


@cache
def _symbols() -> dict[str, int]:
    """Return the numbers of spaCy's symbols (spacy.symbols.IDS, which is the same in all versions 3.x)."""
    lines = files(__package__).joinpath("spacy_symbols.txt").read_text(encoding="utf-8").splitlines()
    return {name: number for number, name in enumerate(lines) if name}


def _murmur_hash(content: bytes) -> int:
    """Return MurmurHash64A (Austin Appleby), which processes 8 bytes at a time and the rest at the end."""
    value = _SEED ^ (len(content) * _PRIME & _MASK)
    whole = len(content) // 8
    for (block,) in struct.iter_unpack("<Q", content[: 8 * whole]):
        block = block * _PRIME & _MASK
        block = (block ^ block >> 47) * _PRIME & _MASK
        value = (value ^ block) * _PRIME & _MASK
    if rest := content[8 * whole :]:
        value = (value ^ int.from_bytes(rest, "little")) * _PRIME & _MASK
    value = (value ^ value >> 47) * _PRIME & _MASK
    return value ^ value >> 47
