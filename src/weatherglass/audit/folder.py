"""Write and read the folder of a run, which contains a journal, a table and a record; each is complete at any time."""

from __future__ import annotations

import hashlib
import math
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import weatherglass
from weatherglass.audit.results import COLUMNS, Result
from weatherglass.errors import OutputError
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.checksum import write_checked_json
from weatherglass.storage.journal import Entry, Journal, read_entries
from weatherglass.storage.printable import tsv_line
from weatherglass.storage.reading import exists

FORMAT = 2
"""The version of the folder's format, stored in run.json; it is increased when older folders can no longer be read."""
TABLE = "results.tsv"
RECORD = "run.json"
PAGE = "report.html"
JOURNAL = "journal.jsonl"
CONTEXTS = "contexts.json"
"""The sentences in which words were encoded, if the run has contexts."""
SECONDS_BETWEEN_TABLES = 1.0
TIMES_BETWEEN_TABLES = 40
"""The pause between two writes of the table, as a multiple of the time that the last write took."""


class RunFolder(Journal[Result]):
    """A run's folder, which is locked while it is open; it contains the journal of results and the table made from
    it.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path / JOURNAL, "result", Result.from_json, Result.to_json)
        self._table_written = -math.inf
        self._table_took = 0.0

    def __enter__(self) -> Self:
        if exists(self.folder / RECORD) and not exists(self.journal):
            raise OutputError(
                f"{self.folder}: contains {RECORD} but no {JOURNAL}, so its results would be overwritten; "
                "choose another folder with -o"
            )
        return super().__enter__()

    def table_is_due(self) -> bool:
        """Return whether results.tsv should be rewritten, which is at most once per second and for a small share of
        the time.

        The time to write a table grows with its rows, so writing it every second would make a large run quadratic.
        """
        pause = max(SECONDS_BETWEEN_TABLES, TIMES_BETWEEN_TABLES * self._table_took)
        return time.monotonic() - self._table_written >= pause

    def write_table(self, results: Sequence[Result]) -> None:
        """Rewrite results.tsv."""
        started = time.monotonic()
        with self.writing():
            write_whole(self.folder / TABLE, _table(results))
        self._table_written = time.monotonic()
        self._table_took = self._table_written - started

    def table_is_current(self, results: Sequence[Result]) -> bool:
        """Return whether results.tsv has the content that `write_table` would write."""
        try:
            return (self.folder / TABLE).read_bytes() == _table(results).encode()
        except OSError:
            return False

    def write_record(self, record: dict[str, Any]) -> None:
        """Rewrite run.json with its checksum."""
        with self.writing():
            write_checked_json(self.folder / RECORD, record)


def _table(results: Sequence[Result]) -> str:
    return "".join(map(tsv_line, [COLUMNS, *(list(result.columns().values()) for result in results)]))


def read_journal(path: Path) -> Iterator[Entry[Result]]:
    """Yield the entries of a run's journal in the order in which results were finished.

    Raises:
        OutputError: if the file cannot be read.
    """
    return read_entries(path, "result", Result.from_json)


SOURCES = (".py", ".html", ".css", ".js", ".tsv", ".toml")


def stamped(page: bytes, record: bytes) -> bytes:
    """Return the page, with an added last line that identifies its record.

    Args:
        page: the HTML.
        record: the content of the run.json that it was made from.
    """
    whole = page if page.endswith(b"\n") else page + b"\n"
    made_from, shown = (hashlib.sha256(content).hexdigest() for content in (record, whole))
    return whole + f"<!-- run.json {made_from} sha256 {shown} -->\n".encode()


def is_current(page: Path, record: Path) -> bool:
    """Return whether a page is undamaged and was made from this record by the installed version of the code."""
    try:
        content = page.read_bytes()
        shown = content[: content.rfind(b"\n", 0, -1) + 1]
        made_from_it = content == stamped(shown, record.read_bytes())
        return made_from_it and page.stat().st_mtime >= _newest_source()
    except OSError:
        return False


def _newest_source() -> float:
    """Return the time of the last change to a file of the package; older pages are rewritten."""
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
