"""The journal of a run, from which all else is derived: a line per finished result, with a checksum over all of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weatherglass.audit.results import Result
from weatherglass.errors import OutputError, unreadable
from weatherglass.storage.journal import checked_line, checked_records
from weatherglass.storage.reading import require_regular_file

JOURNAL = "journal.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the journal."""

    number: int
    key: str
    result: Result | None
    """None where the line is damaged."""


def journal_line(key: str, result: Result) -> bytes:
    """A result as one line of JSON with its checksum."""
    return checked_line({"key": key, "result": result.to_json()})


def read_journal(path: Path) -> Iterator[Entry]:
    """The entries of a journal, in the order in which results were finished; a last line cut short is passed over.

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
    try:
        if record is not None:
            return Entry(number, record["key"], Result.from_json(record["result"]))
    except (ValueError, KeyError, TypeError):
        pass
    return Entry(number, "", None)
