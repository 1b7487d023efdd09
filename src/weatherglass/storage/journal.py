"""Write and read journals. Each line is written to the disk completely, or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Generic, Self, TypeVar

from filelock import FileLock, Timeout

from weatherglass.errors import OutputError, output_error, unreadable
from weatherglass.storage.atomic import remove_unfinished, write_whole
from weatherglass.storage.checksum import DAMAGED
from weatherglass.storage.reading import require_regular_file
from weatherglass.warnings import Warning

T = TypeVar("T")


def append_whole(descriptor: int, line: bytes) -> None:
    """Append bytes to an open file and flush them to the disk; after a failure, the file is cut back to its former
    length.

    If the flush is interrupted, the bytes are kept, since they are complete.

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
    """Return a record as one line of JSON that begins with the checksum of the rest of the line."""
    content = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    rest = content[1:]
    return START + hashlib.sha256(rest).hexdigest().encode() + b'",' + rest + b"\n"


@dataclass(frozen=True, slots=True)
class Entry(Generic[T]):
    """A line of a journal."""

    number: int
    key: str
    value: T | None
    """The value; None if the line is damaged or in another format."""
    other_format: bool = False
    """Whether the line is undamaged but in another format."""


def read_entries(path: Path, field: str, read: Callable[[Any], T]) -> Iterator[Entry[T]]:
    """Yield the entries of a journal in the order in which they were written; skip an unfinished last line.

    Args:
        path: the journal.
        field: the name of the value in a line.
        read: the function that makes a value from its JSON, and raises if it is in another format.

    Raises:
        OutputError: if the file cannot be read.
    """
    require_regular_file(path, OutputError)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise OutputError(unreadable(path, error)) from error
    for number, line in enumerate(content[: content.rfind(b"\n") + 1].split(b"\n")[:-1], start=1):
        record = _record(line)
        if record is None:
            yield Entry(number, "", None)
            continue
        try:
            yield Entry(number, record["key"], read(record[field]))
        except (ValueError, KeyError, TypeError):
            yield Entry(number, "", None, other_format=True)


def set_lines_aside(path: Path, damaged: Collection[int], old: Collection[int] = ()) -> list[Warning]:
    """Move damaged lines, and lines in another format, out of a journal, and drop an unfinished last line.

    Args:
        path: the journal.
        damaged: numbers of the damaged lines.
        old: numbers of the lines in another format.

    Returns:
        A warning that names the damaged lines and a warning that counts lines in another format, each only if there
        are any.

    Raises:
        OutputError: if weatherglass wrote no line of the file, which then belongs to another program and is not
            changed.
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


def _record(line: bytes) -> dict[str, Any] | None:
    """Return the record of a line; None if the line is damaged."""
    checksum, separator, rest = line.removeprefix(START).partition(b'",')
    whole = line.startswith(START) and separator
    if not whole or hashlib.sha256(rest).hexdigest().encode() != checksum:
        return None
    try:
        record = json.loads(b"{" + rest)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


class Journal(Generic[T]):
    """The journal of a folder, with a key and a value per line; the folder is locked while the journal is open.

    The journal is the truth: one line per finished unit, flushed to the disk before the next begins. A line left
    unfinished by a kill is dropped when the journal is next read, and its unit is computed again.
    """

    def __init__(
        self, path: Path, field: str, read: Callable[[Any], T], write: Callable[[T], Mapping[str, Any]]
    ) -> None:
        """Set up the journal; entering it locks the folder and reads the earlier values.

        Args:
            path: the file.
            field: the name of the value in a line.
            read: the function that makes a value from its JSON, and raises if it is in another format.
            write: the inverse of `read`.
        """
        self.journal, self.folder = path, path.parent
        self.finished: dict[str, T] = {}
        """Values by key, including those of earlier work."""
        self.warnings: list[Warning] = []
        self._field, self._read, self._write = field, read, write
        self._lock = FileLock(self.folder / LOCK, timeout=0)
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        if self.folder.is_file():
            raise OutputError(f"{self.folder}: is a file; name a folder with -o")
        with self.writing():
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire()
            except Timeout:
                raise OutputError(
                    f"{self.folder}: another process is writing here; wait for it, or choose another folder with -o"
                ) from None
            try:
                remove_unfinished(self.folder)
                if self.journal.exists():
                    self._read_finished()
                self._file = self.journal.open("ab", buffering=0)
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

    def add(self, key: str, value: T) -> None:
        """Append a finished value; once this returns, a kill cannot lose it."""
        assert self._file is not None, "the journal is not open"
        with self.writing():
            append_whole(self._file.fileno(), checked_line({"key": key, self._field: self._write(value)}))
        self.finished[key] = value

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Report an error of the operating system in one line while something is written to the folder."""
        try:
            yield
        except OSError as error:
            raise self.unwritable(error) from error

    def unwritable(self, error: OSError) -> OutputError:
        """Return the error for a folder that cannot be written; it states how many values are safe."""
        try:
            entries = read_entries(self.journal, self._field, self._read)
            number = len({entry.key for entry in entries if entry.value is not None})
        except OutputError:
            number = 0
        safe = (
            f"{number} result{' is' if number == 1 else 's are'} safe in {self.journal.name}"
            if number
            else ""
        )
        return output_error(self.folder, error, safe)

    def _read_finished(self) -> None:
        entries = list(read_entries(self.journal, self._field, self._read))
        self.finished = {entry.key: entry.value for entry in entries if entry.value is not None}
        old = {entry.number for entry in entries if entry.other_format}
        damaged = {entry.number for entry in entries if entry.value is None} - old
        self.warnings += set_lines_aside(self.journal, damaged, old)
