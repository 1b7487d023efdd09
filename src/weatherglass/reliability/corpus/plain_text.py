"""Plain text: every line is a document."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from weatherglass.reliability.corpus.readers import Reader, text_lines


def texts(_path: Path, stream: BinaryIO) -> Iterator[str]:
    """The lines of the file."""
    yield from text_lines(stream)


READER = Reader(texts)
