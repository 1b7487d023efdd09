"""Read and write files of arrays (.npy, .npz, .safetensors, HDF5) without trusting their headers.

`np.load` allocates what a header promises before it checks that the bytes exist. A header of 128 bytes can promise a
terabyte, or any number of entries of zero bytes (`|S0`). HDF5 files are read in a child process.
"""

from __future__ import annotations

import json
import math
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from weatherglass.errors import UnsafeFileError, VectorFileError, WeatherglassError
from weatherglass.storage.checksum import LENGTH, MISMATCH, State, is_whole, seal
from weatherglass.storage.reading import PIECE, UnpackLimit, reading

if TYPE_CHECKING:
    from weatherglass.storage.child_process import Content

SUFFIX = ".npy"
FOREIGN_COMPRESSIONS = (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
"""Compression methods that numpy never uses; unpacking a single byte of them can need gigabytes."""

LONGEST_END = 22 + 2**16
"""The number of bytes at the end of an archive in which its last record, with the longest comment, is searched."""
MORE_ENTRIES = 2**16 - 1
"""The number of entries that an archive states if the true number does not fit into the record."""

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def map_array(path: Path) -> NDArray[Any]:
    """Return the array of an .npy file, memory-mapped, so that only the rows in use are read.

    Raises:
        VectorFileError: if the file is not an array, is cut off or is damaged.
        UnsafeFileError: if it contains Python objects.
    """
    with reading(path, VectorFileError, "no array can be read from it, because it"), path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        shape, fortran, dtype = _header(file, size, path, "it")
        if 0 in shape:
            return np.empty(shape, dtype)
        order = "F" if fortran else "C"
        return np.memmap(file, dtype, "r", file.tell(), shape, order)  # type: ignore[call-overload, no-any-return]


class Npz:
    """The arrays of an .npz file by name; an array is unpacked when it is requested, with one limit for all."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._limit = UnpackLimit(path, VectorFileError)
        self._archive = zipfile.ZipFile(path)
        _check_count(path, len(self._archive.infolist()))
        if any("\0" in info.orig_filename for info in self._archive.infolist()):
            # The library cuts a name off at a zero byte, and the rest would be another name, or empty.
            raise zipfile.BadZipFile("a name in it contains a zero byte")
        self._members = {info.filename.removesuffix(SUFFIX): info for info in self._archive.infolist()}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._archive.close()

    @property
    def names(self) -> list[str]:
        """Return the names of all members, arrays or not."""
        return list(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return the array of that name.

        Raises:
            VectorFileError: if it is not an array, or exceeds the limit.
            UnsafeFileError: if it contains Python objects.
            Exception: of any type, if the archive is damaged.
        """
        info = self._members[name]
        if not info.filename.endswith(SUFFIX):
            raise VectorFileError(
                f"{self.path}: '{name}' in this zip archive is not an array; if it contains vectors, unpack it"
            )
        if info.compress_type in FOREIGN_COMPRESSIONS:
            raise VectorFileError(
                f"{self.path}: '{name}' is compressed in a way that numpy does not use; compress it again with numpy"
            )
        with self._archive.open(info) as file:
            shape, fortran, dtype = _header(file, info.file_size, self.path, f"'{name}'")
            self._limit.take(math.prod(shape) * dtype.itemsize)
            flat = np.empty(math.prod(shape), dtype)
            _fill(file, flat)
        return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def _check_count(path: Path, found: int) -> None:
    """Check that the archive's directory has as many entries as its last record states, which the library does not
    check.
    """
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - LONGEST_END))
        end = file.read()
    place = end.rfind(b"PK\x05\x06")
    stated = int.from_bytes(end[place + 10 : place + 12], "little")
    if stated not in (found, MORE_ENTRIES):
        raise zipfile.BadZipFile(f"its last record states {stated} members, but its directory has {found}")


def _header(file: IO[bytes], size: int, path: Path, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Return the shape, whether the order is Fortran's, and the type; check that enough bytes follow."""
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"an array of version {version[0]}.{version[1]}; only 1.0 and 2.0 are supported")
    shape, fortran, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise UnsafeFileError(
            f"{path}: refused, because {name} is an array of Python objects, and pickled objects are never loaded; "
            "save texts with dtype str and numbers with dtype float32"
        )
    if any(length < 0 for length in shape):
        raise ValueError(f"an array of shape {shape}")
    entries = int(math.prod(shape))
    if dtype.itemsize == 0 and entries:
        raise ValueError(f"an array of {entries} entries of zero bytes")
    promised, follows = entries * dtype.itemsize, size - file.tell()
    if promised > follows:
        raise ValueError(f"an array of {promised} bytes, but only {follows} follow its header")
    return shape, fortran, dtype


def _fill(file: IO[bytes], array: NDArray[Any]) -> None:
    """Read the bytes of a flat array, in pieces."""
    content: NDArray[np.uint8] = array.view(np.uint8) if array.size else np.empty(0, np.uint8)
    place = 0
    while place < len(content):
        piece = file.read(min(PIECE, len(content) - place))
        if not piece:
            raise EOFError(f"{len(content)} bytes are stated, but only {place} exist")
        content[place : place + len(piece)] = np.frombuffer(piece, np.uint8)
        place += len(piece)
    if file.read(1):
        raise ValueError("an array with more bytes than its shape needs")


def write_array(file: IO[bytes], array: Any) -> None:
    """Append the bytes of an array to an open file."""
    file.write(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def save_array(file: IO[bytes] | Path, array: Any) -> None:
    """Write an array as a .npy file."""
    if isinstance(file, Path):
        with file.open("wb") as opened:
            save_array(opened, array)
        return
    np.save(_Checked(file), array, allow_pickle=False)


class _Checked:
    """A file that does not look like a file to numpy, so that numpy calls `write`."""

    def __init__(self, file: IO[bytes]) -> None:
        self.write = file.write


START = b'{"__metadata__": {"sha256": "'
PLACE = 8 + len(START)
"""The position of the checksum: after the length of the header and its start."""
TYPES = {"F16": 2, "F32": 4, "F64": 8, "I64": 8}
"""Bytes per number."""


def write_safetensors(
    path: Path,
    metadata: Mapping[str, str],
    tensors: Mapping[str, tuple[str, tuple[int, ...]]],
    blocks: Iterable[NDArray[np.generic]],
) -> None:
    """Write tensors and their metadata.

    Args:
        path: a temporary file, which replaces the final one afterwards.
        metadata: texts by name.
        tensors: type and shape by name.
        blocks: the numbers, little-endian, in the same order; a tensor may be split into several blocks.
    """
    header: dict[str, object] = {"__metadata__": {"sha256": " " * LENGTH, **metadata}}
    end = 0
    for name, (dtype, shape) in tensors.items():
        start, end = end, end + TYPES[dtype] * int(np.prod(shape))
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [start, end]}
    content = json.dumps(header, ensure_ascii=False).encode()
    content += b" " * (-len(content) % 8)
    with path.open("wb") as file:
        file.write(len(content).to_bytes(8, "little") + content)
        for block in blocks:
            file.write(np.ascontiguousarray(block).data)
    seal(path, PLACE)


def safetensors_state(path: Path) -> State:
    """Return whether a file is as `write_safetensors` wrote it; UNKNOWN for a file that weatherglass did not write."""
    with path.open("rb") as file:
        start = file.read(PLACE)
    if start[8:] != START:
        return State.UNKNOWN
    return State.WHOLE if is_whole(path, PLACE) else State.DAMAGED


def require_whole(path: Path) -> None:
    """Refuse a file whose checksum does not match; a file without a checksum is accepted.

    Raises:
        VectorFileError: if the checksum does not match; the message names the file and the remedy.
    """
    if safetensors_state(path) is State.DAMAGED:
        raise VectorFileError(
            f"{path}: {MISMATCH}; write it again. If it is an embedding of a study, run: "
            "weatherglass reliability run STUDY.toml"
        )


DEEPEST = 32
"""The largest depth of nested groups."""

ENOUGH = ("texts", "vectors")
"""The data sets to read if a file has both; its other data sets are then ignored."""


@dataclass(frozen=True, slots=True)
class Hdf5Content:
    """The content of an HDF5 file, by full names like `group/name`."""

    attributes: Mapping[str, str]
    """The attributes of the file that are texts."""
    texts: Mapping[str, Sequence[str]]
    arrays: Mapping[str, NDArray[Any]]
    """The texts and arrays, in the order of the file's names."""


def read_hdf5(path: Path, error: type[WeatherglassError] = VectorFileError) -> Hdf5Content:
    """Return the content of an HDF5 file.

    Raises:
        UnsafeFileError: if it reads from other files.
        WeatherglassError: of the type `error`, if it is damaged or exceeds the limits.
    """
    from weatherglass.storage.child_process import read_in_child

    facts, arrays = read_in_child(f"{__name__}:read_here", path, error)
    names: list[str] = facts["names"]
    return Hdf5Content(
        facts["attributes"], facts["texts"], {name: arrays[name] for name in names if name in arrays}
    )


def read_here(path: Path) -> Content:
    """Read the content in this process; a damaged file may raise any exception."""
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
    """Yield all data sets with their full names; a group that is linked twice is refused."""
    import h5py

    seen: set[Any] = set()

    def within(group: Any, prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
        address = h5py.h5o.get_info(group.id).addr
        if address in seen or depth > DEEPEST:
            raise ValueError(f"the group '{prefix}' occurs twice in the file, or is nested too deeply")
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
            f"{path}: refused, because '{name}' is a link, which may lead to other files; copy its target here"
        )
    return group[name]


def _check(data_set: Any, name: str, path: Path, limit: UnpackLimit) -> None:
    """Refuse a data set that is stored in other files, or exceeds the limit."""
    if data_set.is_virtual or data_set.external:
        raise UnsafeFileError(
            f"{path}: refused, because '{name}' is stored in other files; copy the numbers into this file"
        )
    size = data_set.size or 0
    limit.take(size * max(1, data_set.dtype.itemsize))
    if data_set.chunks is not None:
        limit.take(math.prod(data_set.chunks) * max(1, data_set.dtype.itemsize))
    if size and data_set.id.get_storage_size() == 0:
        raise ValueError(f"'{name}' has the shape {data_set.shape}, but no values")
