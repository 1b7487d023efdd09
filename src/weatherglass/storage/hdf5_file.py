"""HDF5 files as plain data: texts and arrays by name, all of them from the file itself.

A link to another file, external storage and a virtual data set make a small file read bytes of others, which no hash
of it covers; links other than hard ones are refused, since a soft one can lead through them. `read_hdf5` has the
library work in a child process; `read_here` is what the child does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import UnsafeFileError, VectorFileError, WeatherglassError
from weatherglass.storage.child_process import Content, read_in_child
from weatherglass.storage.reading import UnpackLimit

DEEPEST = 32
"""Groups within groups."""

ENOUGH = ("texts", "vectors")
"""Data sets beside which nothing else is read: a file of encodings may hold more than them."""


@dataclass(frozen=True, slots=True)
class Hdf5Content:
    """What a file holds, by full names such as `group/name`."""

    attributes: Mapping[str, str]
    """Texts at the root of the file."""
    texts: Mapping[str, Sequence[str]]
    arrays: Mapping[str, NDArray[Any]]
    """Both in the order of the file's names."""


def read_hdf5(path: Path, error: type[WeatherglassError] = VectorFileError) -> Hdf5Content:
    """The content of an HDF5 file.

    Raises:
        UnsafeFileError: if it reads from other files.
        WeatherglassError: of the type `error`, if it is damaged or asks for more than it may.
    """
    facts, arrays = read_in_child(f"{__name__}:read_here", path, error)
    names: list[str] = facts["names"]
    return Hdf5Content(
        facts["attributes"], facts["texts"], {name: arrays[name] for name in names if name in arrays}
    )


def read_here(path: Path) -> Content:
    """The content, read in this process; whatever the library raises for a damaged file."""
    import h5py

    limit = UnpackLimit(path)
    texts: dict[str, list[str]] = {}
    arrays: dict[str, NDArray[Any]] = {}
    with h5py.File(path, "r") as file:
        attributes = {name: str(value) for name, value in file.attrs.items() if isinstance(value, str)}
        whole = all(_is_data_set(file, name) for name in ENOUGH)
        found = ((name, _child(file, name, path)) for name in ENOUGH) if whole else _data_sets(file, path)
        for name, data_set in found:
            _check(data_set, name, path, limit)
            if h5py.check_string_dtype(data_set.dtype) is not None:
                texts[name] = [str(text) for text in np.ravel(data_set.asstr()[()])]
            else:
                arrays[name] = np.asarray(data_set[()])
    return {"attributes": attributes, "texts": texts, "names": list(arrays)}, arrays


def _is_data_set(group: Any, name: str) -> bool:
    import h5py

    return name in group and group.get(name, getclass=True) is h5py.Dataset


def _data_sets(file: Any, path: Path) -> Iterator[tuple[str, Any]]:
    """All data sets with their full names; a group that is linked twice may hold itself, and is refused."""
    import h5py

    seen: set[Any] = set()

    def within(group: Any, prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
        address = h5py.h5o.get_info(group.id).addr
        if address in seen or depth > DEEPEST:
            raise ValueError(f"the group '{prefix}' is in the file twice, or too deep")
        seen.add(address)
        for name in group:
            entry = _child(group, name, path)
            if isinstance(entry, h5py.Group):
                yield from within(entry, f"{prefix}{name}/", depth + 1)
            elif isinstance(entry, h5py.Dataset):
                yield prefix + name, entry

    return within(file, "", 0)


def _child(group: Any, name: str, path: Path) -> Any:
    import h5py

    if not isinstance(group.get(name, getlink=True), h5py.HardLink):
        raise UnsafeFileError(
            f"{path}: refused, because '{name}' is a link, which can lead into other files; copy what it points to"
        )
    return group[name]


def _check(data_set: Any, name: str, path: Path, limit: UnpackLimit) -> None:
    """Refuse bytes of other files, and more of its own than there can be."""
    if data_set.is_virtual or data_set.external:
        raise UnsafeFileError(
            f"{path}: refused, because '{name}' is stored in other files; copy the numbers into this one"
        )
    size = data_set.size or 0
    limit.take(size * max(1, data_set.dtype.itemsize))
    if data_set.chunks is not None:
        limit.take(math.prod(data_set.chunks) * max(1, data_set.dtype.itemsize))
    if size and data_set.id.get_storage_size() == 0:
        raise ValueError(f"'{name}' has a shape, {data_set.shape}, but was never written")
