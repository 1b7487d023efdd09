"""Arrays of numpy, alone (.npy) or in an archive (.npz), read after their headers were compared with their size.

`np.load` allocates what a header promises and then looks whether it is there. A header of 128 bytes can promise a
terabyte, and one with entries of no bytes (`|S0`) any number of them without a single byte to follow.
"""

from __future__ import annotations

import math
import os
import zipfile
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from weatherglass.errors import UnsafeFileError, VectorFileError
from weatherglass.storage.reading import PIECE, UnpackLimit, reading

SUFFIX = ".npy"
FOREIGN_COMPRESSIONS = (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
"""Those that numpy never writes; they can ask for gigabytes to unpack a byte."""

LONGEST_END = 22 + 2**16
"""Bytes at the end of an archive that may hold its last record, with the longest comment."""
MORE_ENTRIES = 2**16 - 1
"""Stands for a number that is too large for the record."""

_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


def map_array(path: Path) -> NDArray[Any]:
    """The array of an .npy file, mapped, so that only those of its rows are read that are used.

    Raises:
        VectorFileError: if the file is not an array, is cut off or is damaged.
        UnsafeFileError: if it holds Python objects.
    """
    with reading(path, VectorFileError, "no array can be read from it: it"), path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        shape, fortran, dtype = _header(file, size, path, "it")
        if 0 in shape:
            return np.empty(shape, dtype)
        order = "F" if fortran else "C"
        return np.memmap(file, dtype, "r", file.tell(), shape, order)  # type: ignore[call-overload, no-any-return]


class Npz:
    """The arrays of an .npz file by name; each is unpacked when it is asked for, all of them within one limit."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._limit = UnpackLimit(path, VectorFileError)
        self._archive = zipfile.ZipFile(path)
        _check_count(path, len(self._archive.infolist()))
        if any("\0" in info.orig_filename for info in self._archive.infolist()):
            # The library cuts such a name off, and what is left would be another word, or none.
            raise zipfile.BadZipFile("a name in it has a zero byte")
        self._members = {info.filename.removesuffix(SUFFIX): info for info in self._archive.infolist()}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._archive.close()

    @property
    def names(self) -> list[str]:
        """Of all members, whether they are arrays or not."""
        return list(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The array of that name.

        Raises:
            VectorFileError: if it is not an array, or is larger than it may be.
            UnsafeFileError: if it holds Python objects.
            Exception: whatever a damaged archive makes of itself.
        """
        info = self._members[name]
        if not info.filename.endswith(SUFFIX):
            raise VectorFileError(
                f"{self.path}: '{name}' in this zip archive is no array; if vectors are in it, unpack it"
            )
        if info.compress_type in FOREIGN_COMPRESSIONS:
            raise VectorFileError(
                f"{self.path}: '{name}' is compressed in a way that numpy does not use; pack it anew"
            )
        with self._archive.open(info) as file:
            shape, fortran, dtype = _header(file, info.file_size, self.path, f"'{name}'")
            self._limit.take(math.prod(shape) * dtype.itemsize)
            flat = np.empty(math.prod(shape), dtype)
            _fill(file, flat)
        return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)


def _check_count(path: Path, found: int) -> None:
    """That the archive's directory has as many entries as its end says; the library does not look."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - LONGEST_END))
        end = file.read()
    place = end.rfind(b"PK\x05\x06")
    stated = int.from_bytes(end[place + 10 : place + 12], "little")
    if stated not in (found, MORE_ENTRIES):
        raise zipfile.BadZipFile(f"its end says {stated} members, but its directory has {found}")


def _header(file: IO[bytes], size: int, path: Path, name: str) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Shape, whether columns come first, and type; what follows is as long as they say."""
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"an array of version {version[0]}.{version[1]}; 1.0 and 2.0 are known")
    shape, fortran, dtype = _HEADERS[version](file)
    if dtype.hasobject:
        raise UnsafeFileError(
            f"{path}: refused, because {name} is an array of Python objects: pickled objects, which are not loaded; "
            "save texts with dtype str and numbers with dtype float32"
        )
    if any(length < 0 for length in shape):
        raise ValueError(f"an array of shape {shape}")
    entries = int(math.prod(shape))
    if dtype.itemsize == 0 and entries:
        raise ValueError(f"an array of {entries} entries of no bytes")
    promised, follows = entries * dtype.itemsize, size - file.tell()
    if promised > follows:
        raise ValueError(f"an array of {promised} bytes, but {follows} follow its header")
    return shape, fortran, dtype


def _fill(file: IO[bytes], array: NDArray[Any]) -> None:
    """Read the bytes of a flat array, in pieces."""
    content: NDArray[np.uint8] = array.view(np.uint8) if array.size else np.empty(0, np.uint8)
    place = 0
    while place < len(content):
        piece = file.read(min(PIECE, len(content) - place))
        if not piece:
            raise EOFError(f"{len(content)} bytes are promised and {place} are there")
        content[place : place + len(piece)] = np.frombuffer(piece, np.uint8)
        place += len(piece)
    if file.read(1):
        raise ValueError("an array with more bytes than its shape has")
