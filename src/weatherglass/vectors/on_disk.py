"""Keep rows in a temporary file without a name, so that large vectors need no memory and no file remains."""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray


class RowsOnDisk:
    """A temporary file of float32 rows, which grows; the system deletes it when its last array is forgotten."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def array(self, rows: int, width: int) -> NDArray[np.float32]:
        """Return the file as an array of this many rows; the rows of an earlier array are its first.

        Raises:
            OSError: if the disk is full, or the system cannot reserve a part of it.
        """
        if not hasattr(os, "posix_fallocate"):
            raise OSError("macOS and Windows do not reserve a part of a disk")
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 (mapped arrays outlive this object)
        size = max(1, 4 * rows * width)
        # The disk is reserved first, since a write to a mapped file on a full disk would end the process.
        os.posix_fallocate(self._file.fileno(), 0, size)
        mapped = mmap.mmap(self._file.fileno(), size)
        return np.frombuffer(mapped, np.float32, rows * width).reshape(rows, width)


def release_memory(rows: NDArray[Any]) -> None:
    """Let the system take back the memory of rows on disk, which it reads again when they are used."""
    base: Any = rows
    while isinstance(base, np.ndarray | memoryview):
        base = base.base if isinstance(base, np.ndarray) else base.obj
    if isinstance(base, mmap.mmap):
        base.madvise(mmap.MADV_DONTNEED)
