"""A corpus from standard input: it is copied to a temporary file, since its content names the encoded corpus."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weatherglass.errors import CorpusError
from weatherglass.storage.atomic import scratch_folder

STANDARD_INPUT = Path("-")


@contextmanager
def as_file(source: Path, folder: Path) -> Iterator[Path]:
    """`source` itself, or for "-" a file in `folder` with what standard input holds; it is removed at the end.

    Raises:
        CorpusError: if standard input is a terminal or empty.
    """
    if source != STANDARD_INPUT:
        yield source
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise CorpusError("standard input: nothing to read; pipe a text into the command, or name a file")
    with scratch_folder(folder) as scratch:
        copy = scratch / "standard input"
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        if not copy.stat().st_size:
            raise CorpusError(
                "standard input: it is empty; a study that was stopped needs the same text again"
            )
        try:
            yield copy
        except CorpusError as error:
            raise CorpusError(str(error).replace(str(copy), "standard input")) from None
