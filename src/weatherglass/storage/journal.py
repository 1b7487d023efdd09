"""Append to a journal: each line is written to the disk completely, or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from filelock import FileLock, Timeout

from weatherglass.errors import OutputError, output_error, unreadable
from weatherglass.storage.atomic import remove_unfinished, write_whole
from weatherglass.storage.checksum import DAMAGED
from weatherglass.warnings import Warning


def append_whole(descriptor: int, line: bytes) -> None:
    """Append bytes to an open file and flush them to the disk; after a failure, the file has its former length.

    An interrupt during the flush keeps them, since they are complete.

    Raises:
        OSError: if the disk is full or the file cannot be written.
    """
    end = os.fstat(descriptor).st_size
    rest = memoryview(line)
    try:
        while rest:  # a full disk may accept a part of the bytes
            rest = rest[os.write(descriptor, rest) :]
        os.fsync(descriptor)
    except BaseException as error:
        if rest or isinstance(error, OSError):
            with contextlib.suppress(OSError):
                os.ftruncate(descriptor, end)
        raise


LOCK = ".lock"
OLD = ".old"
START = b'{"sha256":"'


def checked_line(record: Mapping[str, Any]) -> bytes:
    """Return a record as one line of JSON that begins with the checksum of its other bytes."""
    content = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    rest = content[1:]
    return _head(rest) + rest + b"\n"


def checked_records(content: bytes) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Yield the number and the record of every line, None for a damaged one; an unfinished last line is skipped."""
    for number, line in enumerate(content[: content.rfind(b"\n") + 1].split(b"\n")[:-1], start=1):
        yield number, _record(line)


def set_lines_aside(path: Path, damaged: Collection[int], old: Collection[int] = ()) -> list[Warning]:
    """Move damaged lines, and lines in another format, out of a journal, and drop an unfinished last line.

    Args:
        path: the journal.
        damaged: numbers of the damaged lines.
        old: numbers of the lines in another format.

    Returns:
        A warning that names the damaged lines, and one that counts those in another format, if there are any.

    Raises:
        OutputError: if no line is from weatherglass; then the file belongs to another program and stays unchanged.
    """
    if not damaged and not old:
        _cut_unfinished_line(path)
        return []
    content = path.read_bytes()
    lines = content[: content.rfind(b"\n") + 1].split(b"\n")[:-1]
    if not any(line.startswith(START) for line in lines):
        raise OutputError(
            f"{path}: this file is not a journal of weatherglass; choose another folder with -o, or remove the file"
        )
    warnings = []
    for kind, suffix, numbers in (("damaged-journal", DAMAGED, damaged), ("old-journal", OLD, old)):
        if numbers:
            aside = path.with_name(path.name + suffix)
            with aside.open("ab") as file:  # before the journal is changed, so that a kill loses nothing
                file.writelines(lines[number - 1] + b"\n" for number in sorted(numbers))
            values = {"lines": sorted(numbers), "count": len(numbers), "aside": aside.name}
            warnings.append(Warning(kind, str(path), values))
    kept = (
        line + b"\n"
        for number, line in enumerate(lines, start=1)
        if number not in damaged and number not in old
    )
    write_whole(path, b"".join(kept))
    return warnings


def _cut_unfinished_line(path: Path) -> None:
    """Drop an unfinished last line, so that the next line starts at a line break."""
    content = path.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with path.open("r+b") as file:
            file.truncate(whole)


def _head(rest: bytes) -> bytes:
    """Return the start of a line with the checksum of its other bytes."""
    return START + b'%s",' % hashlib.sha256(rest).hexdigest().encode()


def _record(line: bytes) -> dict[str, Any] | None:
    start = len(_head(b""))
    rest = line[start:]
    if line[:start] != _head(rest):
        return None
    try:
        record = json.loads(b"{" + rest)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


class Journal:
    """The journal of a folder: records by key. The folder is locked while the journal is open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.finished: dict[str, dict[str, Any]] = {}
        """Records by key, with those of earlier work."""
        self.warnings: list[Warning] = []
        self._lock = FileLock(path.parent / LOCK, timeout=0)
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        folder = self.path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout:
            raise OutputError(
                f"{folder}: another process is writing here; wait for it, or choose another folder with -o"
            ) from None
        except OSError as error:
            raise output_error(folder, error) from error
        try:
            remove_unfinished(folder)
            self._read()
            self._file = self.path.open("ab", buffering=0)
        except OSError as error:
            self._lock.release()
            raise output_error(folder, error) from error
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()
        self._lock.release()

    def add(self, key: str, record: dict[str, Any]) -> None:
        """Write a record to the journal; once this returns, a kill cannot lose it."""
        assert self._file is not None, "the journal is not open"
        try:
            append_whole(self._file.fileno(), checked_line({"key": key, "record": record}))
        except OSError as error:
            raise output_error(self.path, error) from error
        self.finished[key] = record

    def _read(self) -> None:
        if not self.path.exists():
            return
        try:
            content = self.path.read_bytes()
        except OSError as error:
            raise OutputError(unreadable(self.path, error)) from error
        damaged = set()
        for number, entry in checked_records(content):
            if entry is None or "key" not in entry or "record" not in entry:
                damaged.add(number)
            else:
                self.finished[entry["key"]] = entry["record"]
        self.warnings += set_lines_aside(self.path, damaged)
