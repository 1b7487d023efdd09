"""Hashes of files and folders: equal hashes mean equal content, wherever the file is.

The whole content is hashed (SHA-256, about 1.5 GB a second where the processor helps). So that a file of
several GB is read once and not at every start, the hash of a large file is cached in the cache folder
together with the file's size, its times and its inode; when any of them has changed, it is hashed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from pathlib import Path

from weatherglass.errors import WeatherglassError, unreadable
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.checksum import SETTLED_AFTER, State, checked_json, read_checked_json
from weatherglass.storage.reading import require_regular_file

CACHED_FROM = 32 * 2**20
"""Bytes from which a hash is cached; a smaller file is hashed as fast as its hash is looked up."""


def cache_folder() -> Path:
    """The folder for what can be computed again: $WEATHERGLASS_CACHE, else the user's cache folder."""
    if chosen := os.environ.get("WEATHERGLASS_CACHE"):
        return Path(chosen).expanduser()
    if (base := os.environ.get("XDG_CACHE_HOME")) and Path(base).is_absolute():
        return Path(base) / "weatherglass"
    return Path.home() / ".cache" / "weatherglass"


def file_hash(path: Path) -> str:
    """SHA-256 of the content of `path`, in hexadecimal.

    Raises:
        WeatherglassError: if the file cannot be read.
    """
    status = require_regular_file(path, WeatherglassError)
    try:
        if status.st_size < CACHED_FROM:
            return _hash_content(path)
        stamp = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        cache_file = _cache_file(path)
        if (known := _read_cached(cache_file, stamp)) is not None:
            return known
        digest = _hash_content(path)
    except OSError as error:
        raise WeatherglassError(unreadable(path, error)) from None
    if time.time() - status.st_mtime > SETTLED_AFTER:
        _write_cached(cache_file, path, stamp, digest)
    return digest


def folder_hash(path: Path, pattern: str = "**/*") -> str:
    """One hash of all files under `path` that match `pattern`: their names in the folder and their content.

    Raises:
        WeatherglassError: if nothing matches or a file cannot be read.
    """
    files = {file.relative_to(path).as_posix(): file for file in path.glob(pattern) if file.is_file()}
    if not files:
        raise WeatherglassError(f"{path}: no file in this folder matches '{pattern}'")
    whole = hashlib.sha256()
    for name in sorted(files):
        # Lengths first, so that no name can pass for the end of another.
        whole.update(f"{len(name.encode())}:{name}:{file_hash(files[name])}\n".encode())
    return whole.hexdigest()


def _hash_content(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _cache_file(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]
    return cache_folder() / "hashes" / f"{name}.json"


def _read_cached(cache_file: Path, stamp: list[int]) -> str | None:
    try:
        record, state = read_checked_json(cache_file.read_bytes())
        return str(record["content"]) if state is State.WHOLE and record["stamp"] == stamp else None
    except (OSError, ValueError, KeyError, TypeError):
        return None  # Absent or damaged: the file is hashed again.


def _write_cached(cache_file: Path, path: Path, stamp: list[int], digest: str) -> None:
    record = {"path": os.fsdecode(path.resolve()), "stamp": stamp, "content": digest}
    with contextlib.suppress(OSError):  # A cache that cannot be written costs time, never a result.
        cache_file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(cache_file, checked_json(record))
