"""The boundary of every reader of others' files: which files, how much of them, and one line for any failure.

A reader enters it once, with `reading(path)`. Within it, code may raise whatever its libraries raise: a damaged
file can fail in any of them with any of dozens of exceptions, and lists of these were never complete.
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
"""What a file may unpack to, unless `LIMIT_VARIABLE` says otherwise: so many bytes, or so many times its own size.
Vectors as text shrink to a third in gzip, and zeros to a thousandth."""

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
    """Read the file within: it is a regular file, and whatever is raised becomes one line with its name.

    Args:
        path: the file.
        error: the type of the line.
        noun: what the line calls it, such as "this .npz file".

    Raises:
        WeatherglassError: those that are raised within pass through as they are.
    """
    require_regular_file(path, error)
    with one_line(str(path), f"{noun} is cut off or damaged", "get it again", error):
        yield


@contextmanager
def one_line(where: str, problem: str, remedy: str, error: type[WeatherglassError]) -> Iterator[None]:
    """Whatever is raised within becomes one line: where, what is wrong, the reason, what to do."""
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
        # The cause is kept: should it be a mistake of ours after all, Python callers and the log see where.
        raise error(f"{where}: {problem} ({short_reason(failure)}); {remedy}") from failure


def is_failure(raised: BaseException) -> bool:
    """Return whether something failed: panics in Rust code (polars, tokenizers) are no Exceptions, nor are Ctrl-C and
    exit.
    """
    return isinstance(raised, Exception) or type(raised).__module__ == "pyo3_runtime"


def short_reason(failure: BaseException) -> str:
    """Return the first line of an exception's text, shortened; with its type where that is no sentence.

    >>> short_reason(KeyError("texts")), short_reason(ValueError("no such member"))
    ("KeyError: 'texts'", 'no such member')
    """
    line = (str(failure).strip().splitlines() or [""])[0]
    text = "".join(character if character.isprintable() else "?" for character in line)
    if " " not in text:
        text = f"{type(failure).__name__}: {text}".removesuffix(": ")
    return text if len(text) <= LONGEST_REASON else f"{text[: LONGEST_REASON - 1]}…"


def require_regular_file(path: Path, error: type[WeatherglassError] = VectorFileError) -> os.stat_result:
    """Return the status of a file that can be read to its end; a pipe, a device or a socket might never have one.

    Raises:
        WeatherglassError: of the type `error`, if there is no such file or it is something else.
    """
    try:
        status = path.stat()
    except (OSError, ValueError) as failure:  # ValueError: a zero byte in the name
        raise error(unreadable(path, failure)) from None
    if not stat.S_ISREG(status.st_mode):
        kind = _KINDS.get(stat.S_IFMT(status.st_mode), "something else")
        remedy = (
            "name a file in it"
            if stat.S_ISDIR(status.st_mode)
            else "save what it gives to a file and name that"
        )
        raise error(f"{path}: cannot be read: this is {kind}, not a regular file; {remedy}")
    return status


def is_regular_file(path: Path) -> bool:
    """Return whether there is a regular file; a name that no file can have, such as one of 300 characters, is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Return whether there is a folder of that name, which may be one that none can have."""
    try:
        return path.is_dir()
    except OSError:
        return False


def exists(path: Path) -> bool:
    """Return whether there is anything of that name; `Path.exists` raises where the name is too long for a file."""
    try:
        return path.exists()
    except OSError:
        return False


def user_path(name: str | Path, error: type[WeatherglassError]) -> Path:
    """Return the path that a user names; ~ is their home.

    Raises:
        WeatherglassError: of the type `error`, for ~NAME of a user that does not exist.
    """
    try:
        return Path(name).expanduser()
    except RuntimeError:
        raise error(f"{name}: no such user; write the path of the folder") from None


class UnpackLimit:
    """Counts what one file unpacks to, and refuses more than it may."""

    def __init__(self, path: Path, error: type[WeatherglassError] = VectorFileError) -> None:
        self._path = path
        self._error = error
        self._limit = unpack_limit(path.stat().st_size)
        self._taken = 0

    def take(self, count: int) -> None:
        """Ask for so many bytes more, before they are allocated.

        Raises:
            WeatherglassError: if they are too many.
        """
        self._taken += count
        if self._taken > self._limit:
            raise self._error(
                f"{self._path}: a file of {shown_size(self._path.stat().st_size)} that wants over "
                f"{shown_size(self._limit)} of memory; it is damaged or a trap. If you trust it, set "
                f"{LIMIT_VARIABLE} to what it may take, such as 8G"
            )


def unpack_limit(size: int) -> int:
    """Return how many bytes a file of this size may unpack to.

    Raises:
        WeatherglassError: if the user's limit is no size.
    """
    if not (chosen := os.environ.get(LIMIT_VARIABLE, "").strip()):
        return max(LEAST_LIMIT, LARGEST_RATIO * size)
    match = _SIZE.fullmatch(chosen)
    if match is None:
        raise WeatherglassError(f"{LIMIT_VARIABLE}={chosen}: should be a number of bytes, such as 500M or 8G")
    return int(match[1]) * _UNITS[match[2].upper()]


def shown_size(size: int) -> str:
    """Return a number of bytes for people.

    >>> shown_size(415), shown_size(268435456)
    ('415 bytes', '256 MB')
    """
    for unit, name in ((2**30, "GB"), (2**20, "MB"), (2**10, "kB")):
        if size >= unit:
            return f"{size / unit:.3g} {name}"
    return f"{size} bytes"


class LimitedStream(io.RawIOBase):
    """A stream that unpacks another one, with a limit on what comes out of it."""

    def __init__(self, inner: BinaryIO, limit: UnpackLimit) -> None:
        self._inner = inner
        self._limit = limit

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        """As the inner stream, but never more than the limit at once."""
        if size is not None and size >= 0:
            piece = self._inner.read(size)
            self._limit.take(len(piece))
            return piece
        pieces = iter(lambda: self.read(PIECE), b"")
        return b"".join(pieces)

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as there is something."""
        piece = self.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Close both."""
        self._inner.close()
        super().close()
