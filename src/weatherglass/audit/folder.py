"""Write and read the folder of a run: journal, table and record, each complete at every moment."""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from filelock import FileLock, Timeout

import weatherglass
from weatherglass.audit.results import COLUMNS, Result
from weatherglass.errors import OutputError, output_error, unreadable
from weatherglass.storage.atomic import remove_unfinished, write_whole
from weatherglass.storage.checksum import write_checked_json
from weatherglass.storage.journal import append_whole, checked_line, checked_records, set_lines_aside
from weatherglass.storage.printable import tsv_line
from weatherglass.storage.reading import require_regular_file
from weatherglass.warnings import Warning

FORMAT = 2
"""The number that run.json gives the format of its folder; raised when older folders can no longer be read."""
TABLE = "results.tsv"
RECORD = "run.json"
PAGE = "report.html"
LOCK = ".lock"
SECONDS_BETWEEN_TABLES = 1.0
TIMES_BETWEEN_TABLES = 40
"""The pause between two tables, as a multiple of the time that the last one took."""


class RunFolder:
    """A run's folder, locked for as long as it is open.

    The journal is the truth: one line per finished unit, flushed to the disk before the next begins. The table is made
    from it. An unfinished line, after a kill, is dropped when the journal is next read, and its unit is computed again.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.finished: dict[str, Result] = {}
        """Results by key, those of earlier runs included."""
        self.warnings: list[Warning] = []
        self._lock = FileLock(path / LOCK, timeout=0)
        self._journal: IO[bytes] | None = None
        self._table_written = -math.inf
        self._table_took = 0.0

    def __enter__(self) -> Self:
        if self.path.is_file():
            raise OutputError(f"{self.path}: this is a file; name a folder with -o")
        with self._writing():
            self.path.mkdir(parents=True, exist_ok=True)
            try:
                self._lock.acquire()
            except Timeout:
                raise OutputError(
                    f"{self.path}: another run is writing here; wait for it, or choose another folder with -o"
                ) from None
            try:
                if (self.path / RECORD).exists() and not (self.path / JOURNAL).exists():
                    raise OutputError(
                        f"{self.path}: {RECORD} is here without {JOURNAL}, so that its results would be overwritten; "
                        "choose another folder with -o"
                    )
                remove_unfinished(self.path)
                journal = self.path / JOURNAL
                if journal.exists():
                    entries = list(read_journal(journal))
                    self.finished = {e.key: e.result for e in entries if e.result is not None}
                    old = {e.number for e in entries if e.other_format}
                    damaged = {e.number for e in entries if e.result is None} - old
                    self.warnings += set_lines_aside(journal, damaged, old)
                self._journal = journal.open("ab", buffering=0)
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
        if self._journal is not None:
            self._journal.close()
        self._lock.release()

    def add(self, key: str, result: Result) -> None:
        """Append a finished result to the journal; once this returns, a kill cannot lose it."""
        assert self._journal is not None, "the folder is not open"
        with self._writing():
            append_whole(self._journal.fileno(), checked_line({"key": key, "result": result.to_json()}))
        self.finished[key] = result

    def table_is_due(self) -> bool:
        """Return whether results.tsv is due: at most once per second, and for a small share of the time.

        A table of n rows takes time n to write, so writing it every second would make a large run quadratic.
        """
        pause = max(SECONDS_BETWEEN_TABLES, TIMES_BETWEEN_TABLES * self._table_took)
        return time.monotonic() - self._table_written >= pause

    def write_table(self, results: Sequence[Result]) -> None:
        """Rewrite results.tsv whole."""
        started = time.monotonic()
        with self._writing():
            write_whole(self.path / TABLE, _table(results))
        self._table_written = time.monotonic()
        self._table_took = self._table_written - started

    def table_is_current(self, results: Sequence[Result]) -> bool:
        """Return whether results.tsv is what `write_table` would write."""
        try:
            return (self.path / TABLE).read_bytes() == _table(results).encode()
        except OSError:
            return False

    def write_record(self, record: dict[str, Any]) -> None:
        """Rewrite run.json whole, with its checksum."""
        with self._writing():
            write_checked_json(self.path / RECORD, record)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self.unwritable(error) from error

    def unwritable(self, error: OSError) -> OutputError:
        """Return the error for a folder that cannot be written; it says which results are safe."""
        return output_error(self.path, error, self._kept())

    def _kept(self) -> str:
        """Return how many results can be read back from the journal, as a phrase; empty if there are none."""
        try:
            number = len({e.key for e in read_journal(self.path / JOURNAL) if e.result is not None})
        except OutputError:
            return ""
        return f"{number} result{' is' if number == 1 else 's are'} safe in {JOURNAL}" if number else ""


def _table(results: Sequence[Result]) -> str:
    return "".join(map(tsv_line, [COLUMNS, *(list(result.columns().values()) for result in results)]))


JOURNAL = "journal.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the journal."""

    number: int
    key: str
    result: Result | None
    """None if the line is damaged, or in another format."""
    other_format: bool = False
    """Whether the line is whole, but cannot be read as a result: it was written in another format."""


def read_journal(path: Path) -> Iterator[Entry]:
    """Yield the entries of a journal in the order in which results were finished; skip an unfinished last line.

    Raises:
        OutputError: if the file cannot be read.
    """
    require_regular_file(path, OutputError)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise OutputError(unreadable(path, error)) from error
    for number, record in checked_records(content):
        yield _entry(number, record)


def _entry(number: int, record: dict[str, Any] | None) -> Entry:
    if record is None:
        return Entry(number, "", None)
    try:
        return Entry(number, record["key"], Result.from_json(record["result"]))
    except (ValueError, KeyError, TypeError):
        return Entry(number, "", None, other_format=True)


SOURCES = (".py", ".html", ".css", ".js", ".tsv", ".toml")


def stamped(page: bytes, record: bytes) -> bytes:
    """Return the page with the line that names its record.

    Args:
        page: as it is shown.
        record: the content of the run.json that it was made from.
    """
    whole = page if page.endswith(b"\n") else page + b"\n"
    made_from, shown = (hashlib.sha256(content).hexdigest() for content in (record, whole))
    return whole + f"<!-- run.json {made_from} sha256 {shown} -->\n".encode()


def is_current(page: Path, record: Path) -> bool:
    """Return whether a page is undamaged, and was made from this record by the code that is installed now."""
    try:
        content = page.read_bytes()
        shown = content[: content.rfind(b"\n", 0, -1) + 1]
        made_from_it = content == stamped(shown, record.read_bytes())
        return made_from_it and page.stat().st_mtime >= _newest_source()
    except OSError:
        return False


def _newest_source() -> float:
    """Return when a file of the package was last changed: pages are written again after an upgrade or a change."""
    folder = Path(weatherglass.__file__).parent
    return max(
        (
            Path(root, name).stat().st_mtime
            for root, _, names in os.walk(folder)
            for name in names
            if name.endswith(SOURCES)
        ),
        default=0.0,
    )
