"""A journal: a line of JSON per finished piece of work, with a checksum, on the disk before the next begins."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from filelock import FileLock, Timeout

from weatherglass.errors import OutputError, output_error, unreadable
from weatherglass.storage.append import append_whole
from weatherglass.storage.atomic import remove_unfinished

LOCK = ".lock"


def checked_line(record: Mapping[str, Any]) -> bytes:
    """A record as one line of JSON; the checksum is over every byte that follows it."""
    content = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    rest = content[1:]
    return _head(rest) + rest + b"\n"


def checked_records(content: bytes) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """The number and the record of every line, None where it is damaged; a last line cut short is passed over."""
    for number, line in enumerate(content[: content.rfind(b"\n") + 1].split(b"\n")[:-1], start=1):
        yield number, _record(line)


def _head(rest: bytes) -> bytes:
    """How a line starts whose other bytes are these."""
    return b'{"sha256":"%s",' % hashlib.sha256(rest).hexdigest().encode()


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
    """A folder's journal of records by key, the folder locked for as long as it is open."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.finished: dict[str, dict[str, Any]] = {}
        """Records by key, those of earlier work included."""
        self.warnings: list[str] = []
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
        """Put finished work on record; once this returns, a kill cannot lose it."""
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
        for number, entry in checked_records(content):
            if entry is None or "key" not in entry:
                self.warnings.append(
                    f"{self.path}, line {number}: damaged (its checksum or form is wrong); "
                    "what it held is computed again"
                )
            else:
                self.finished[entry["key"]] = entry["record"]
        whole = content.rfind(b"\n") + 1
        if whole < len(content):  # what a kill left of the last line
            with self.path.open("r+b") as file:
                file.truncate(whole)
