"""Atomic writes of files and folders: a reader sees the old content or the new, never a part."""

from __future__ import annotations

import contextlib
import glob
import os
import re
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from weatherglass.errors import output_error

if sys.platform != "win32":
    import fcntl

UNFINISHED = ".weatherglass-"
"""How the names of unfinished files and folders begin."""


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file whole; text as UTF-8, its line ends as they are."""
    with whole_file(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """An empty file beside `path`, which takes its place when the block ends without an error.

    By then it is on the disk, so that not even a power cut leaves a part of it. Its suffix is another, so that a
    search for files of a kind does not match it (Path.glob also finds hidden files). What a kill left of the same file
    is removed: nobody else would find it, beside a file that stands where the user wanted it.
    """
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
    """An empty folder beside `path`, which takes its place when the block ends without an error."""
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
    """The same error with number and file: while writing no name is known, and Rust has the number in its text."""
    in_text = re.search(r"\(os error (\d+)\)", str(error)) if error.errno is None else None
    number = int(in_text[1]) if in_text else error.errno
    if number is None:
        return OSError(str(error))
    return OSError(number, os.strerror(number), error.filename or str(path))


def _beside(path: Path) -> Path:
    return path.with_name(f"{UNFINISHED}{secrets.token_hex(4)}-{path.name}.part")
