"""Atomic writing of test files, with a clear error if a file cannot be written."""

from __future__ import annotations

from pathlib import Path

from weatherglass.errors import output_error
from weatherglass.storage.atomic import write_whole


def write_test_file(path: str | Path, text: str) -> None:
    """Write the file, creating its folder if needed.

    Raises:
        OutputError: if the folder is read-only or full, or no folder at all.
    """
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text)
    except OSError as error:
        raise output_error(path, error) from None
