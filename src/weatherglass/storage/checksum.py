"""Checksums: of files that weatherglass wrote, to detect damage, and of any file or folder, to identify its content.

Files that weatherglass wrote carry SHA-256 in one of two forms. A file that is written alone contains its own checksum,
over every other byte of it: a JSON record in its first entry, `.safetensors` in its metadata, `.npy` after its numbers.
Files that are written together, like the parts of a corpus, have a list beside them, SHA256SUMS, which `sha256sum -c`
reads. The hash of a large foreign file is cached with its size, its times and its inode, so that it is read only once.
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
"""Hexadecimal digits of a checksum."""
SUMS = "SHA256SUMS"
DAMAGED = ".damaged"
"""How the name of what was set aside ends."""
MISMATCH = "damaged (the checksum does not match)"
BLOCK = 2**20
SETTLED_AFTER = 2.0
"""Seconds. A file changed more recently could change again within one tick of its clock, so its hash is not kept."""
CHECKED_JSON = re.compile(rb'\{\s*"sha256":\s*"(.{64})', re.DOTALL)


class State(Enum):
    """What a checksum says of a file."""

    WHOLE = auto()
    DAMAGED = auto()
    UNKNOWN = auto()
    """There is no checksum: the file is not one of ours."""


def seal(path: Path, place: int) -> None:
    """Fill in the checksum of a finished file: its LENGTH bytes at `place`, which may be counted from the end."""
    size = path.stat().st_size
    checksum = _hash_around(path, place % size)
    with path.open("rb+") as file:
        file.seek(place % size)
        file.write(checksum.encode())


def is_whole(path: Path, place: int) -> bool:
    """Return whether a file still has the checksum that it holds at `place`; read once in a process, unless it
    changes.
    """
    size = path.stat().st_size
    if size < LENGTH or not 0 <= place % size <= size - LENGTH:
        return False
    with path.open("rb") as file:
        file.seek(place % size)
        held = file.read(LENGTH)
    return held == _known_hash(path, place % size).encode()


def checked_json(record: Mapping[str, Any]) -> bytes:
    """Return a record as JSON for people, its first entry being the checksum of all other bytes."""
    content = json.dumps({"sha256": "", **record}, indent=1, ensure_ascii=False).encode() + b"\n"
    place = content.index(b'""') + 1
    checksum = hashlib.sha256(content).hexdigest()
    return content[:place] + checksum.encode() + content[place:]


def read_checked_json(content: bytes) -> tuple[Any, State]:
    """Return what JSON holds, without its checksum, and what the checksum says; None where it is damaged.

    Raises:
        ValueError: if it is not JSON and has no checksum.
    """
    state = _json_state(content)
    if state is State.DAMAGED:
        return None, state
    try:
        record = json.loads(content)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    refuse_half_characters(record, content.decode("utf-8", "replace"))
    if state is State.WHOLE:
        del record["sha256"]
    return record, state


def _json_state(content: bytes) -> State:
    held = CHECKED_JSON.match(content)
    if held is None:
        return State.UNKNOWN
    digest = hashlib.sha256(content[: held.start(1)])
    digest.update(memoryview(content)[held.end(1) :])
    return State.WHOLE if digest.hexdigest().encode() == held[1] else State.DAMAGED


def write_checked_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a record whole, with its checksum, and set a damaged one aside."""
    if path.is_file() and _json_state(path.read_bytes()) is not State.WHOLE:
        set_aside([path], "and written anew")
    write_whole(path, checked_json(record))


def write_sums(folder: Path, names: Sequence[str]) -> None:
    """Write the checksums of some files of a folder into its SHA256SUMS; those of its other files stay."""
    sums = {name: checksum for name, checksum in _read_sums(folder).items() if (folder / name).is_file()}
    sums |= {name: _hash_around(folder / name) for name in names}
    write_whole(folder / SUMS, "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)))


def damaged_files(folder: Path, names: Sequence[str]) -> list[str]:
    """Return which of these files of a folder are not as its SHA256SUMS has them, or are not there."""
    sums = _read_sums(folder)
    return [
        name
        for name in names
        if not (folder / name).is_file() or _known_hash(folder / name) != sums.get(name)
    ]


def is_listed(folder: Path, name: str) -> bool:
    """Return whether SHA256SUMS of a folder has a line for a file, which is written after it: a kill can come
    between.
    """
    return name in _read_sums(folder)


def listed_files(folder: Path) -> list[str]:
    """Return the names that SHA256SUMS of a folder lists; a listed file may have been deleted."""
    return list(_read_sums(folder))


def remove_listed(folder: Path, names: Sequence[str]) -> None:
    """Remove files that SHA256SUMS of a folder lists, and their lines.

    A file whose content differs from its checksum stays, with its line: somebody may have put it there.
    """
    changed = {name for name in damaged_files(folder, names) if (folder / name).exists()}
    removed = [name for name in names if is_listed(folder, name) and name not in changed]
    for name in removed:
        (folder / name).unlink(missing_ok=True)
    if removed:
        write_sums(folder, [])


def set_aside(paths: Sequence[Path], then: str) -> None:
    """Rename files or folders of ours that are damaged, so that they can be looked at, and say so in one line.

    Args:
        paths: of one kind; an earlier one that was set aside under the same name is replaced.
        then: what happens now, such as "it is trained again".
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
    """Return checksum by name; what is no line of such a list is passed over, so that its file counts as damaged."""
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8", errors="replace").split("\n")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    parts = (line.partition("  ") for line in lines)
    return {name: checksum for checksum, separator, name in parts if separator and "/" not in name}


def _known_hash(path: Path, hole: int | None = None) -> str:
    """Return the hash of a file, which is read once in a process for as long as its times stay the same."""
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
    """Return the hash of a file, or of what is before and behind the checksum in it."""
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
"""Bytes from which a hash is cached; a smaller file is hashed as fast as its hash is looked up."""


def cache_folder() -> Path:
    """Return the folder for what can be computed again: $WEATHERGLASS_CACHE, else the user's cache folder."""
    if chosen := os.environ.get("WEATHERGLASS_CACHE"):
        return Path(chosen).expanduser()
    if (base := os.environ.get("XDG_CACHE_HOME")) and Path(base).is_absolute():
        return Path(base) / "weatherglass"
    return Path.home() / ".cache" / "weatherglass"


def file_hash(path: Path) -> str:
    """Return SHA-256 of the content of `path`, in hexadecimal.

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
    """Return one hash of all files under `path` that match `pattern`: their names in the folder and their content.

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
