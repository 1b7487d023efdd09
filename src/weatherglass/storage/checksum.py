"""Compute SHA-256 checksums, to detect damage in files that weatherglass wrote and to identify foreign content.

A file that is written alone contains the checksum of its other bytes: in the first entry of a JSON record, in the
metadata of a `.safetensors` file, or after the numbers of a `.npy` file. Files that are written together, like the
parts of a corpus, have their checksums in a file SHA256SUMS in the same folder, which `sha256sum -c` reads. The hash
of a large foreign file is cached with its size, times and inode, so that the file is read only once.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
import time
import warnings
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from functools import lru_cache
from pathlib import Path
from typing import Any

from weatherglass.errors import DamageWarning, WeatherglassError, unreadable
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.documents import refuse_half_characters
from weatherglass.storage.reading import require_regular_file

LENGTH = 64
"""The number of hexadecimal digits of a checksum."""
SUMS = "SHA256SUMS"
DAMAGED = ".damaged"
"""The suffix of the names of damaged files and folders that were set aside."""
MISMATCH = "damaged (the checksum does not match)"
BLOCK = 2**20
SETTLED_AFTER = 2.0
"""The age in seconds from which the hash of a file is cached; a newer file could change again within one clock tick.
"""
CHECKED_JSON = re.compile(rb'\{\s*"sha256":\s*"(.{64})', re.DOTALL)


class State(Enum):
    """The state of a file according to its checksum."""

    WHOLE = auto()
    DAMAGED = auto()
    UNKNOWN = auto()
    """The file has no checksum, because weatherglass did not write it."""


def seal(path: Path, place: int) -> None:
    """Write the checksum of a finished file into its LENGTH bytes at `place`; negative places count from the end."""
    size = path.stat().st_size
    checksum = _hash_around(path, place % size)
    with path.open("rb+") as file:
        file.seek(place % size)
        file.write(checksum.encode())


def is_whole(path: Path, place: int) -> bool:
    """Return whether a file matches its checksum at `place`; a file is read once per process unless it changes."""
    size = path.stat().st_size
    if size < LENGTH or not 0 <= place % size <= size - LENGTH:
        return False
    with path.open("rb") as file:
        file.seek(place % size)
        stored = file.read(LENGTH)
    return stored == _known_hash(path, place % size).encode()


def checked_json(record: Mapping[str, Any]) -> bytes:
    """Return a record as indented JSON whose first entry is the checksum of all other bytes."""
    content = json.dumps({"sha256": "", **record}, indent=1, ensure_ascii=False).encode() + b"\n"
    place = content.index(b'""') + 1
    checksum = hashlib.sha256(content).hexdigest()
    return content[:place] + checksum.encode() + content[place:]


def read_checked_json(content: bytes) -> tuple[Any, State]:
    """Return a record without its checksum, and its state; the record is None if it is damaged.

    Raises:
        ValueError: if the content is not JSON and has no checksum.
    """
    state = _json_state(content)
    if state is State.DAMAGED:
        return None, state
    text = content.decode("utf-8-sig")  # json would accept bytes that are half a character
    try:
        record = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    refuse_half_characters(record, text)
    if state is State.WHOLE:
        del record["sha256"]
    return record, state


def _json_state(content: bytes) -> State:
    stored = CHECKED_JSON.match(content)
    if stored is None:
        return State.UNKNOWN
    digest = hashlib.sha256(content[: stored.start(1)])
    digest.update(memoryview(content)[stored.end(1) :])
    return State.WHOLE if digest.hexdigest().encode() == stored[1] else State.DAMAGED


def write_checked_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record atomically with its checksum; set a damaged earlier record aside."""
    if path.is_file() and _json_state(path.read_bytes()) is not State.WHOLE:
        set_aside([path], "and written again")
    write_whole(path, checked_json(record))


def write_sums(folder: Path, names: Sequence[str]) -> None:
    """Write the checksums of some files into the SHA256SUMS of their folder, and keep the lines of other files."""
    sums = {name: checksum for name, checksum in _read_sums(folder).items() if (folder / name).is_file()}
    sums |= {name: _hash_around(folder / name) for name in names}
    write_whole(folder / SUMS, "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)))


def damaged_files(folder: Path, names: Sequence[str]) -> list[str]:
    """Return the files that are missing or differ from their checksum in the folder's SHA256SUMS."""
    sums = _read_sums(folder)
    return [
        name
        for name in names
        if not (folder / name).is_file() or _known_hash(folder / name) != sums.get(name)
    ]


def is_listed(folder: Path, name: str) -> bool:
    """Return whether a folder's SHA256SUMS lists a file; the line is written after the file, so a kill may omit it."""
    return name in _read_sums(folder)


def listed_files(folder: Path) -> list[str]:
    """Return the names that a folder's SHA256SUMS lists; a listed file may have been deleted."""
    return list(_read_sums(folder))


def remove_listed(folder: Path, names: Sequence[str]) -> None:
    """Remove the files that a folder's SHA256SUMS lists, and their lines.

    A file whose content differs from its checksum is kept with its line, since a user may have put it there.
    """
    changed = {name for name in damaged_files(folder, names) if (folder / name).exists()}
    removed = [name for name in names if is_listed(folder, name) and name not in changed]
    for name in removed:
        (folder / name).unlink(missing_ok=True)
    if removed:
        write_sums(folder, [])


def set_aside(paths: Sequence[Path], then: str) -> None:
    """Rename damaged files or folders, so that a user can inspect them, and warn in one line.

    Args:
        paths: files or folders of one kind; an earlier copy that was set aside under the same name is replaced.
        then: what happens next, such as "it is trained again".
    """
    for path in paths:
        aside = path.with_name(path.name + DAMAGED)
        if aside.is_dir():
            shutil.rmtree(aside)
        aside.unlink(missing_ok=True)
        path.replace(aside)
    if paths:
        others = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
        name = f"*{DAMAGED}" if others else f"{paths[0].name}{DAMAGED}"
        warnings.warn(
            f"{paths[0]}{others}: {MISMATCH}; set aside as {name}, {then}", DamageWarning, stacklevel=2
        )


def _read_sums(folder: Path) -> dict[str, str]:
    """Return checksums by name; malformed lines are skipped, so that their files count as damaged."""
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8", errors="replace").split("\n")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    parts = (line.partition("  ") for line in lines)
    return {name: checksum for checksum, separator, name in parts if separator and "/" not in name}


def _known_hash(path: Path, hole: int | None = None) -> str:
    """Return the hash of a file; it is read once per process while its times do not change."""
    status = path.stat()
    if time.time() - max(status.st_mtime, status.st_ctime) < SETTLED_AFTER:
        return _hash_around(path, hole)
    stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return _hash_once(path, hole, stamp)


@lru_cache(maxsize=2**14)
def _hash_once(path: Path, hole: int | None, stamp: tuple[int, ...]) -> str:
    del stamp
    return _hash_around(path, hole)


def _hash_around(path: Path, hole: int | None = None) -> str:
    """Return the hash of a file, or of its bytes before and after the checksum inside the file."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        left = hole or 0
        while left and (block := file.read(min(left, BLOCK))):
            digest.update(block)
            left -= len(block)
        if hole is not None:
            file.seek(hole + LENGTH)
        while block := file.read(BLOCK):
            digest.update(block)
    return digest.hexdigest()


CACHED_FROM = 32 * 2**20
"""The minimum size in bytes of a file whose hash is cached; a smaller file is hashed as fast as its hash is looked
up.
"""


def cache_folder() -> Path:
    """Return the cache folder: $WEATHERGLASS_CACHE, or the user's cache folder.

    Raises:
        WeatherglassError: if the variable names a user who does not exist, or this user has no home folder.
    """
    chosen = os.environ.get("WEATHERGLASS_CACHE")
    if not chosen and (base := os.environ.get("XDG_CACHE_HOME")) and Path(base).is_absolute():
        return Path(base) / "weatherglass"
    try:
        return Path(chosen).expanduser() if chosen else Path.home() / ".cache" / "weatherglass"
    except RuntimeError:
        problem = f"{chosen} names no user" if chosen else "this user has no home folder"
        raise WeatherglassError(f"{problem}; set WEATHERGLASS_CACHE to a folder for the cache") from None


def file_hash(path: Path) -> str:
    """Return the SHA-256 hash of a file in hexadecimal.

    Raises:
        WeatherglassError: if the file cannot be read.
    """
    status = require_regular_file(path, WeatherglassError)
    try:
        if status.st_size < CACHED_FROM:
            return _hash_around(path)
        stamp = [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]
        cache_file = _cache_file(path)
        if (known := _read_cached(cache_file, stamp)) is not None:
            return known
        digest = _hash_around(path)
    except OSError as error:
        raise WeatherglassError(unreadable(path, error)) from None
    if time.time() - status.st_mtime > SETTLED_AFTER:
        _write_cached(cache_file, path, stamp, digest)
    return digest


def folder_hash(path: Path, pattern: str = "**/*") -> str:
    """Return one hash of the names and contents of all files under `path` that match `pattern`.

    Raises:
        WeatherglassError: if nothing matches, or a file cannot be read.
    """
    files = {file.relative_to(path).as_posix(): file for file in path.glob(pattern) if file.is_file()}
    if not files:
        raise WeatherglassError(f"{path}: no file in this folder matches '{pattern}'")
    whole = hashlib.sha256()
    for name in sorted(files):
        # The length comes first, so that different names never give the same bytes.
        whole.update(f"{len(name.encode())}:{name}:{file_hash(files[name])}\n".encode())
    return whole.hexdigest()


def _cache_file(path: Path) -> Path:
    name = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:32]
    return cache_folder() / "hashes" / f"{name}.json"


def _read_cached(cache_file: Path, stamp: list[int]) -> str | None:
    try:
        record, state = read_checked_json(cache_file.read_bytes())
        return str(record["content"]) if state is State.WHOLE and record["stamp"] == stamp else None
    except (OSError, ValueError, KeyError, TypeError):
        return None  # missing or damaged: the file is hashed again


def _write_cached(cache_file: Path, path: Path, stamp: list[int], digest: str) -> None:
    record = {"path": os.fsdecode(path.resolve()), "stamp": stamp, "content": digest}
    with contextlib.suppress(OSError):  # an unwritable cache costs time, never a result
        cache_file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(cache_file, checked_json(record))
