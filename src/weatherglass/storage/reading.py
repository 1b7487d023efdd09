"""Guard every reader of foreign files: check the file, limit its size, and report any failure in one line.

A reader enters the guard once, with `reading(path)`. Every exception raised inside the guard, except
Ctrl-C and exit, is reported in one line, because libraries raise dozens of exception types on damaged files.
"""

from __future__ import annotations

import io
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from weatherglass.errors import VectorFileError, WeatherglassError, unreadable

LIMIT_VARIABLE = "WEATHERGLASS_MAX_UNPACKED"
LEAST_LIMIT = 256 * 2**20
LARGEST_RATIO = 100
"""A file may unpack to the larger of this many bytes and this multiple of its size, unless `LIMIT_VARIABLE` is set.
gzip compresses vectors in text form to a third, and zeros to a thousandth.
"""

LONGEST_REASON = 120
PIECE = 2**20

_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_SIZE = re.compile(r"(\d{1,18})\s*([KMGT]?)i?B?", re.IGNORECASE)

_KINDS = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}


@contextmanager
def reading(
    path: Path, error: type[WeatherglassError] = VectorFileError, noun: str = "the file"
) -> Iterator[None]:
    """Check that a path is a regular file, and report any exception of the block in one line with its name.

    Args:
        path: the file.
        error: the type of the error.
        noun: what the message calls the file, such as "this .npz file".

    Raises:
        WeatherglassError: of the type `error`, if the file is not regular or the block raises another exception;
            a WeatherglassError of the block passes through unchanged.
    """
    require_regular_file(path, error)
    with errors_in_one_line(str(path), f"{noun} is cut off or damaged", "get it again", error):
        yield


@contextmanager
def errors_in_one_line(
    where: str, problem: str, remedy: str, error: type[WeatherglassError]
) -> Iterator[None]:
    """Report any exception of the block in one line that states the place, the problem, the reason and the remedy."""
    try:
        yield
    except WeatherglassError:
        raise
    except MemoryError as failure:
        raise error(
            f"{where}: {problem}, or larger than memory ({short_reason(failure)}); {remedy}"
        ) from None
    except BaseException as failure:
        if isinstance(failure, OSError) and failure.strerror:
            raise error(unreadable(where, failure)) from None
        if not is_failure(failure):
            raise
        # The cause is kept, so that Python callers and the log show where a mistake in weatherglass is.
        raise error(f"{where}: {problem} ({short_reason(failure)}); {remedy}") from failure


def is_failure(raised: BaseException) -> bool:
    """Return whether something failed, as opposed to Ctrl-C or exit; a panic in Rust code is not an Exception
    either.
    """
    return isinstance(raised, Exception) or type(raised).__module__ == "pyo3_runtime"


def short_reason(failure: BaseException) -> str:
    """Return the first line of an exception's text, shortened, with its type if the text is a single word.

    >>> short_reason(KeyError("texts")), short_reason(ValueError("no such member"))
    ("KeyError: 'texts'", 'no such member')
    """
    line = (str(failure).strip().splitlines() or [""])[0]
    text = "".join(character if character.isprintable() else "?" for character in line)
    if " " not in text:
        text = f"{type(failure).__name__}: {text}".removesuffix(": ")
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1]}…"


def require_regular_file(path: Path, error: type[WeatherglassError] = VectorFileError) -> os.stat_result:
    """Return the status of a regular file; a pipe, a device or a socket might never end.

    Raises:
        WeatherglassError: of the type `error`, if the file does not exist or is not regular.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as failure:  # ValueError: a zero byte in the name
        raise error(unreadable(path, failure)) from None
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        remedy = (
            "name a file in it" if kind == "a folder" else ("save its content to a file and name that file")
        )
        raise error(f"{path}: cannot be read, because it is {kind} and not a regular file; {remedy}")
    return status


exists, is_folder, is_regular_file = os.path.exists, os.path.isdir, os.path.isfile
"""Return whether a path exists; False for a name that no file can have, such as one of 300 characters, for which
`Path.exists` raises.
"""


def user_path(name: str | Path, error: type[WeatherglassError]) -> Path:
    """Return the path that a user typed; ~ means their home folder.

    Raises:
        WeatherglassError: of the type `error`, for ~NAME if there is no such user.
    """
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise error(f"{name}: no such user; write the whole path") from None


class UnpackLimit:
    """A counter of the bytes that a file unpacks to, which refuses more than the limit."""

    def __init__(self, path: Path, error: type[WeatherglassError] = VectorFileError) -> None:
        self._path = path
        self._error = error
        self._limit = unpack_limit(path.stat().st_size)
        self._taken = 0

    def take(self, count: int) -> None:
        """Count further bytes before they are allocated.

        Raises:
            WeatherglassError: if the total exceeds the limit.
        """
        self._taken += count
        if self._taken > self._limit:
            raise self._error(
                f"{self._path}: this file of {shown_size(self._path.stat().st_size)} would need more than "
                f"{shown_size(self._limit)} of memory, so it is damaged or malicious. If you trust it, set "
                f"{LIMIT_VARIABLE} to a larger size, such as 8G"
            )


def unpack_limit(size: int, ratio: int = LARGEST_RATIO) -> int:
    """Return the number of bytes that a file of this size may unpack to.

    Raises:
        WeatherglassError: if the user's limit is not a size.
    """
    if not (chosen := os.environ.get(LIMIT_VARIABLE, "").strip()):
        return max(LEAST_LIMIT, ratio * size)
    match = _SIZE.fullmatch(chosen)
    if match is None:
        raise WeatherglassError(f"{LIMIT_VARIABLE}={chosen}: should be a number of bytes, such as 500M or 8G")
    return int(match[1]) * _UNITS[match[2].upper()]


def shown_size(size: int) -> str:
    """Return a number of bytes with a readable unit.

    >>> shown_size(415), shown_size(268435456)
    ('415 bytes', '256 MB')
    """
    for unit, name in ((2**30, "GB"), (2**20, "MB"), (2**10, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"


class LimitedStream(io.RawIOBase):
    """A stream that unpacks another stream, with a limit on the number of bytes."""

    def __init__(self, inner: BinaryIO, limit: UnpackLimit) -> None:
        self._inner = inner
        self._limit = limit

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        """Read as the inner stream does, but in pieces, so that the limit is checked early."""
        if size is not None and size >= 0:
            piece = self._inner.read(size)
            self._limit.take(len(piece))
            return piece
        pieces = iter(lambda: self.read(PIECE), b"")
        return b"".join(pieces)

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer with as much content as there is, and return the number of bytes."""
        piece = self.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close this stream and the inner stream."""
        self._inner.close()
        super().close()
