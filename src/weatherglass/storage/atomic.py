"""Write files and folders atomically: a reader sees the old content or the new, never a part of it.

Only files are replaced. A symbolic link is kept, and the file that it points to is replaced. The finished content is
copied to a pipe or to a stream of this process such as /dev/stdout. Folders, devices and sockets are refused.
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
"""The prefix of the names of unfinished files and folders."""
MOST_LINKS = 40
"""The number of symbolic links followed from one path; Linux has the same limit."""
NOT_FILES = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}
"""Kinds of paths that a file must not replace."""


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file atomically; text is encoded as UTF-8, and its line ends are kept."""
    with whole_file(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield an empty file beside `path`, which replaces `path` when the block ends without an error.

    The content is flushed to the disk before that, so that even after a power cut no partial file exists. The
    temporary file has another suffix than `path`, so that globs do not match it. Unfinished files of killed writers of
    the same path are removed. For a stream, the content is copied to the stream at the end.

    Raises:
        OutputError: if `path` is a folder, a device or a socket, or a pipe that nobody reads from.
    """
    if is_stream(path):
        with _file_for_stream(path) as unfinished:
            yield unfinished
        return
    path = _replaceable(path)
    for left in _unfinished(path):
        with contextlib.suppress(OSError), left.open("rb+") as file:  # a lock means that its writer is alive
            _lock(file)
            left.unlink()
    unfinished = _beside(path)
    try:
        with unfinished.open("xb") as locked:
            # The lock shows others that the writer is alive; the system releases it when the process ends.
            with contextlib.suppress(OSError):  # without locks, nobody removes unfinished files
                _lock(locked)
            yield unfinished
            with unfinished.open("rb+") as file:
                os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        raise _with_name(error, path) from error
    finally:
        with contextlib.suppress(OSError):  # the file is finished, or an earlier error says why it is not
            unfinished.unlink(missing_ok=True)


def check_output(path: Path) -> None:
    """Refuse a path that cannot be written as a file, before any work is lost.

    Raises:
        OutputError: if it is a folder, a device or a socket.
    """
    if not is_stream(path):
        _replaceable(path)


def is_stream(path: Path) -> bool:
    """Return whether a path names a pipe or a stream of this process, which cannot be replaced or read back."""
    return own_stream(path) is not None or path.is_fifo()


def own_stream(path: Path) -> int | None:
    """Return the descriptor that a path like /dev/stdout or /dev/fd/3 names in this process; None for other paths."""
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
    """Return the file to replace: the path itself, or the file that a symbolic link points to.

    Raises:
        OutputError: if it is a folder, a device or a socket.
    """
    try:
        kind = stat.S_IFMT(path.stat().st_mode)
    except FileNotFoundError:
        kind = stat.S_IFREG
    if kind != stat.S_IFREG:
        what = NOT_FILES.get(kind, "not a regular file")
        raise OutputError(f"{path}: cannot be written, because it is {what}; name a file")
    return Path(os.path.realpath(path)) if path.is_symlink() else path


@contextmanager
def _file_for_stream(path: Path) -> Iterator[Path]:
    """Yield a temporary file, which is copied to the stream `path` when the block ends without an error."""
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
        OutputError: if it is a pipe that nobody reads from; writing to it would block for ever.
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
    """Convert an error of the operating system in the block, which writes results, to an `OutputError` of one line.

    Raises:
        OutputError: if the block raises an OSError; the message names the file, or the folder if no file is known.
    """
    try:
        yield
    except OSError as error:
        raise output_error(error.filename or folder, error) from error


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder beside `path`, which replaces `path` when the block ends without an error; a symbolic link
    is kept.

    Unfinished folders of killed writers of the same path are removed.
    """
    path = Path(os.path.realpath(path)) if path.is_symlink() else path
    for left in _unfinished(path):
        with contextlib.suppress(OSError), _locked_folder(left):
            shutil.rmtree(left, ignore_errors=True)
    unfinished = _beside(path)
    unfinished.mkdir()
    try:
        with contextlib.ExitStack() as stack:
            with contextlib.suppress(OSError):  # without locks, nobody removes unfinished folders
                stack.enter_context(_locked_folder(unfinished))
            yield unfinished
            shutil.rmtree(path, ignore_errors=True)
            unfinished.replace(path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextmanager
def scratch_folder(parent: Path) -> Iterator[Path]:
    """Yield a temporary folder, which is removed when the block ends, or by `remove_unfinished` after a kill."""
    with tempfile.TemporaryDirectory(prefix=UNFINISHED, dir=parent) as name:
        yield Path(name)


def remove_unfinished(folder: Path) -> None:
    """Remove unfinished files of a killed process from `folder`; no other process may write to it at the same time."""
    for path in folder.glob(f"{UNFINISHED}*"):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _unfinished(path: Path) -> list[Path]:
    """Return the unfinished files of a path, including those of killed writers."""
    return list(path.parent.glob(f"{UNFINISHED}*-{glob.escape(path.name)}.part"))


@contextmanager
def _locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder, so that other processes know that its writer is alive.

    Raises:
        OSError: if another process has locked it, or it cannot be locked.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        _lock(descriptor)
        yield
    finally:
        os.close(descriptor)


def _lock(file: IO[bytes] | int) -> None:
    """Lock a file or folder until it is closed.

    Raises:
        OSError: if another process has locked it, or it cannot be locked.
    """
    if sys.platform == "win32":
        raise OSError("no locks that are released when a process ends")
    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _with_name(error: OSError, path: Path) -> OSError:
    """Return an error with its number and file name; write errors lack the name, and Rust puts the number into the
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
    """Pause the garbage collector while many lasting objects are made; in a large run it takes a third of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
