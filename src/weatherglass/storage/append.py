"""Appending to a journal: a line is on the disk whole, or nothing of it is."""

from __future__ import annotations

import contextlib
import os


def append_whole(descriptor: int, line: bytes) -> None:
    """Append bytes to an open file and flush them to the disk; where that fails, the file ends where it did before.

    An interrupt while they are flushed leaves them: they are whole.

    Raises:
        OSError: if the disk is full or the file cannot be written.
    """
    end = os.fstat(descriptor).st_size
    rest = memoryview(line)
    try:
        while rest:  # a disk that fills up takes a part before it refuses
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    except BaseException as error:
        if rest or isinstance(error, OSError):
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, end)
        raise
