"""The journal of a run, from which all else is derived: a line per finished result, with a checksum over all of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weatherglass.errors import OutputError, unreadable
from weatherglass.runs.results import Result

JOURNAL = "journal.jsonl"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the journal."""

    number: int
    key: str
    result: Result | None
    """None where the line is damaged."""


def journal_line(key: str, result: Result) -> bytes:
    """A result as one line of JSON; the checksum is over every byte that follows it."""
    content = json.dumps(
        {"key": key, "result": result.to_json()}, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    ).encode()
    rest = content[1:]
    return _head(rest) + rest + b"\n"


def read_journal(path: Path) -> Iterator[Entry]:
    """The entries of a journal, in the order in which results were finished; a last line cut short is passed over.

    Raises:
        OutputError: if the file cannot be read or is a journal of version 0.1, which had no checksums.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise OutputError(unreadable(path, error)) from error
    if content.startswith(b'{"key":'):
        raise OutputError(
            f"{path.parent}: this run was made by weatherglass 0.1, whose results are not comparable with those of "
            "this version; choose another folder with -o (docs/migration.md)"
        )
    for number, line in enumerate(content[: content.rfind(b"\n") + 1].split(b"\n")[:-1], start=1):
        yield _entry(number, line)


def _head(rest: bytes) -> bytes:
    """How a line starts whose other bytes are these."""
    return b'{"sha256":"%s",' % hashlib.sha256(rest).hexdigest().encode()


def _entry(number: int, line: bytes) -> Entry:
    start = len(_head(b""))
    rest = line[start:]
    if line[:start] != _head(rest):
        return Entry(number, "", None)
    try:
        entry = json.loads(b"{" + rest)
        return Entry(number, entry["key"], Result.from_json(entry["result"]))
    except (ValueError, KeyError, TypeError):
        return Entry(number, "", None)
