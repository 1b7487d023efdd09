"""The last line of a run's page: which record it was made from, and a checksum over all lines before it.

With it a run that finds all its results finished can tell that its page is the one that it would write.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import weatherglass

SOURCES = (".py", ".html", ".css", ".js", ".tsv", ".toml")


def stamped(page: bytes, record: bytes) -> bytes:
    """The page with its last line.

    Args:
        page: as it is shown.
        record: the content of the run.json that it was made from.
    """
    whole = page if page.endswith(b"\n") else page + b"\n"
    return whole + _stamp(whole, record)


def is_current(page: Path, record: Path) -> bool:
    """Whether a page is whole, made from this record, and by the code that is installed now."""
    try:
        content = page.read_bytes()
        above = content.rfind(b"\n", 0, -1) + 1
        made_from_it = content[above:] == _stamp(content[:above], record.read_bytes())
        return made_from_it and page.stat().st_mtime >= _newest_source()
    except OSError:
        return False


def _stamp(page: bytes, record: bytes) -> bytes:
    made_from, whole = (hashlib.sha256(content).hexdigest() for content in (record, page))
    return f"<!-- run.json {made_from} sha256 {whole} -->\n".encode()


def _newest_source() -> float:
    """When a file of the package was last changed: an upgrade, or work on it, makes pages anew."""
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
