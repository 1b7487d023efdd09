"""Checksums of what we write and read again: a byte that changed on the disk is noticed, not computed with.

There are two forms, both SHA-256, which hashes 1.5 GB a second where the processor helps. A file that is written alone
holds its own checksum, over every other byte of it: a JSON record in its first entry, `.safetensors` in its metadata,
`.npy` behind its numbers. Files that are written together, such as the parts of a corpus, have a list beside them,
SHA256SUMS, which `sha256sum -c` reads, too.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import time
import warnings
from collections.abc import Mapping, Sequence
from enum import Enum, auto
from functools import lru_cache
from pathlib import Path
from typing import Any

from weatherglass.errors import DamageWarning
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.documents import refuse_half_characters

LENGTH = 64
"""Hexadecimal digits of a checksum."""
SUMS = "SHA256SUMS"
DAMAGED = ".damaged"
"""How the name of what was set aside ends."""
MISMATCH = "damaged (the checksum does not match)"
OR_EARLIER = f"{MISMATCH}, or of an earlier version without one"
BLOCK = 2**20
SETTLED_AFTER = 2.0
"""Seconds. A file changed more recently could change again within one tick of its clock, so its hash is not kept."""
CHECKED_JSON = re.compile(rb'\{\s*"sha256":\s*"(.{64})', re.DOTALL)


class State(Enum):
    """What a checksum says of a file."""

    WHOLE = auto()
    DAMAGED = auto()
    UNKNOWN = auto()
    """There is no checksum: the file is of an earlier version, or not one of ours."""


def seal(path: Path, place: int) -> None:
    """Fill in the checksum of a finished file: its LENGTH bytes at `place`, which may be counted from the end."""
    size = path.stat().st_size
    checksum = _hash_around(path, place % size)
    with path.open("rb+") as file:
        file.seek(place % size)
        file.write(checksum.encode())


def is_whole(path: Path, place: int) -> bool:
    """Whether a file still has the checksum that it holds at `place`; read once in a process, unless it changes."""
    size = path.stat().st_size
    if size < LENGTH or not 0 <= place % size <= size - LENGTH:
        return False
    with path.open("rb") as file:
        file.seek(place % size)
        held = file.read(LENGTH)
    return held == _known_hash(path, place % size).encode()


def checked_json(record: Mapping[str, Any]) -> bytes:
    """A record as JSON for people, its first entry being the checksum of all other bytes."""
    content = json.dumps({"sha256": "", **record}, indent=1, ensure_ascii=False).encode() + b"\n"
    place = content.index(b'""') + 1
    checksum = hashlib.sha256(content).hexdigest()
    return content[:place] + checksum.encode() + content[place:]


def read_checked_json(content: bytes) -> tuple[Any, State]:
    """What JSON holds, without its checksum, and what the checksum says; None where it is damaged.

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
    """Write a record whole, with its checksum; where a damaged one is, that is set aside."""
    if path.is_file() and _is_damaged_json(path.read_bytes()):
        set_aside([path], "and written anew")
    write_whole(path, checked_json(record))


def is_whole_json(path: Path) -> bool:
    """Whether a record is there, has a checksum and matches it."""
    try:
        return read_checked_json(path.read_bytes())[1] is State.WHOLE
    except (OSError, ValueError):
        return False


def _is_damaged_json(content: bytes) -> bool:
    state = _json_state(content)
    if state is State.UNKNOWN:  # of an earlier version, unless its very beginning was hit
        try:
            read_checked_json(content)
        except ValueError:
            return True
    return state is State.DAMAGED


def write_sums(folder: Path, names: Sequence[str]) -> None:
    """Write the checksums of some files of a folder into its SHA256SUMS; those of its other files stay."""
    sums = {name: checksum for name, checksum in _read_sums(folder).items() if (folder / name).is_file()}
    sums |= {name: _hash_around(folder / name) for name in names}
    write_whole(folder / SUMS, "".join(f"{sums[name]}  {name}\n" for name in sorted(sums)))


def damaged_files(folder: Path, names: Sequence[str]) -> list[str]:
    """Which of these files of a folder are not as its SHA256SUMS has them, or are not there."""
    sums = _read_sums(folder)
    return [
        name
        for name in names
        if not (folder / name).is_file() or _known_hash(folder / name) != sums.get(name)
    ]


def is_listed(folder: Path, name: str) -> bool:
    """Whether SHA256SUMS of a folder has a line for a file, which is written after it: a kill can come between."""
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


def set_aside(paths: Sequence[Path], then: str, reason: str = MISMATCH) -> None:
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
            f"{paths[0]}{others}: {reason}; set aside as {name}, {then}", DamageWarning, stacklevel=2
        )


def _read_sums(folder: Path) -> dict[str, str]:
    """Checksum by name; what is no line of such a list is passed over, so that its file counts as damaged."""
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8", errors="replace").split("\n")
    except (FileNotFoundError, NotADirectoryError):
        return {}
    parts = (line.partition("  ") for line in lines)
    return {name: checksum for checksum, separator, name in parts if separator and "/" not in name}


def _known_hash(path: Path, hole: int | None = None) -> str:
    """The hash of a file, which is read once in a process for as long as its times stay the same."""
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
    """The hash of a file, or of what is before and behind the checksum in it."""
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
