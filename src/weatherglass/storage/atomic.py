"""Atomic writes of files and folders: a reader sees the old content or the new, never a part.

What is not a file is not replaced: a symbolic link stays, and the file that it points to is replaced; a pipe, and a
stream of this process such as /dev/stdout, gets the finished content; folders, devices and sockets are refused.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import glob
import os
import re
import secrets
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from weatherglass.errors import OutputError, output_error

if sys.platform != "win32":
    import fcntl

UNFINISHED = ".weatherglass-"
"""How the names of unfinished files and folders begin."""
MOST_LINKS = 40
"""Symbolic links that are followed from one path, as Linux does."""
NOT_FILES = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
"""What cannot be replaced by a file."""


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole; text as UTF-8, its line ends as they are."""
    with whole_file(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """An empty file beside `path`, which takes its place when the block ends without an error.

    By then it is on the disk, so that not even a power cut leaves a part of it. Its suffix is another, so that a
    search for files of a kind does not match it (Path.glob also finds hidden files). What a kill left of the same file
    is removed: nobody else would find it, beside a file that stands where the user wanted it. For a stream the file is
    a temporary one, which is copied to the stream.

    Raises:
        OutputError: if `path` is a folder, a device or a socket, or a pipe that nobody reads from.
    """
    if is_stream(path):
        with _file_for_stream(path) as unfinished:
            yield unfinished
        return
    path = _replaceable(path)
    remove_abandoned(path)
    unfinished = _beside(path)
    unfinished.touch(exist_ok=False)
    try:
        with _being_written(unfinished):
            yield unfinished
            with unfinished.open("rb+") as file:
                os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise _with_name(error, path) from error
    finally:
        unfinished.unlink(missing_ok=True)


def check_output(path: Path) -> None:
    """Refuse a path that cannot be written as a file, before the work that would be lost.

    Raises:
        OutputError: if it is a folder, a device or a socket.
    """
    if not is_stream(path):
        _replaceable(path)


def is_stream(path: Path) -> bool:
    """Return whether a path names a pipe or a stream of this process, which cannot be replaced or read back."""
    if own_stream(path) is not None:
        return True
    status = _status(path)
    return status is not None and stat.S_ISFIFO(status.st_mode)


def own_stream(path: Path) -> int | None:
    """Return the descriptor that a path such as /dev/stdout or /dev/fd/3 names in this process; None for others."""
    own = re.compile(rf"/dev/fd|/proc/{os.getpid()}(/task/\d+)?/fd")
    place = path.absolute()
    for _ in range(MOST_LINKS):
        folder = os.path.realpath(place.parent)
        if place.name.isdecimal() and own.fullmatch(folder):
            return int(place.name)
        if not place.is_symlink():
            return None
        place = folder / place.readlink()
    return None


def _replaceable(path: Path) -> Path:
    """Return the file that takes the content: the one that a symbolic link points to, or the path itself.

    Raises:
        OutputError: if it is a folder, a device or a socket.
    """
    status = _status(path)
    kind = stat.S_IFMT(status.st_mode) if status else stat.S_IFREG
    if kind != stat.S_IFREG:
        what = NOT_FILES.get(kind, "not a regular file")
        raise OutputError(f"{path}: cannot be written: this is {what}; name a file")
    return Path(os.path.realpath(path)) if path.is_symlink() else path


def _status(path: Path) -> os.stat_result | None:
    """Return what the system knows of a path, links followed; None where nothing is there."""
    try:
        return path.stat()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _with_name(error, path) from error


@contextmanager
def _file_for_stream(path: Path) -> Iterator[Path]:
    """A temporary file, which is copied to the stream `path` when the block ends without an error."""
    with tempfile.TemporaryDirectory(prefix=UNFINISHED) as folder:
        finished = Path(folder) / "content"
        finished.touch()
        try:
            yield finished
            with finished.open("rb") as content, os.fdopen(_opened(path), "wb") as stream:
                shutil.copyfileobj(content, stream)
        except OSError as error:
            raise _with_name(error, path) from error


def _opened(path: Path) -> int:
    """Return a new descriptor of a stream.

    Raises:
        OutputError: if it is a pipe that nobody reads from, which would block for ever.
    """
    if (descriptor := own_stream(path)) is not None:
        for printed in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):  # closed, or not a file
                printed.flush()
        return os.dup(descriptor)
    try:
        opened = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OutputError(f"{path}: nobody reads from this pipe; start its reader first") from None
        raise
    os.set_blocking(opened, True)
    return opened


@contextmanager
def writing_into(folder: Path) -> Iterator[None]:
    """Turns what the operating system refuses while results are written into one line for the user.

    Raises:
        OutputError: naming the file, or the folder where no file is known.
    """
    try:
        yield
    except OSError as error:
        raise output_error(error.filename or folder, error) from error


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """An empty folder beside `path`, which takes its place when the block ends without an error; a link stays."""
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    unfinished = _beside(path)
    unfinished.mkdir()
    try:
        yield unfinished
        shutil.rmtree(path, ignore_errors=True)
        unfinished.replace(path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """A temporary folder, removed when the block ends; if a kill leaves it, `remove_unfinished` removes it."""
    with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=parent) as name:
        yield Path(name)


def remove_unfinished(folder: Path) -> None:
    """Remove what a kill left half-written in `folder`, where nothing else may be writing at the moment."""
    for path in folder.glob(f"{UNFINISHED}*"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def remove_abandoned(path: Path) -> None:
    """Remove unfinished files beside `path` that were to take its place, and whose writer is dead."""
    for unfinished in path.parent.glob(f"{UNFINISHED}*-{glob.escape(path.name)}.part"):
        with contextlib.suppress(OSError), unfinished.open("rb+") as file:
            _lock(file)
            unfinished.unlink()


@contextmanager
def _being_written(unfinished: Path) -> Iterator[None]:
    """Shows others that the writer lives, by a lock that the system gives up when its process ends, however it does."""
    with unfinished.open("rb+") as file:
        with contextlib.suppress(OSError):  # of a file system without locks; there nobody removes anything
            _lock(file)
        yield


def _lock(file: IO[bytes]) -> None:
    """Lock a file until it is closed.

    Raises:
        OSError: if somebody else has locked it, or it cannot be locked.
    """
    if sys.platform == "win32":
        raise OSError("no locks that end with a process")
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _with_name(error: OSError, path: Path) -> OSError:
    """Return the same error with number and file: while writing no name is known, and Rust has the number in its
    text.
    """
    in_text = re.search(r"\(os error (\d+)\)", str(error)) if error.errno is None else None
    number = int(in_text[1]) if in_text else error.errno
    if number is None:
        return OSError(str(error))
    return OSError(number, os.strerror(number), error.filename or str(path))


def _beside(path: Path) -> Path:
    return path.with_name(f"{UNFINISHED}{secrets.token_hex(4)}-{path.name}.part")


@contextmanager
def gc_paused() -> Iterator[None]:
    """No search for cycles while many objects are made that all stay: on a large run it takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
