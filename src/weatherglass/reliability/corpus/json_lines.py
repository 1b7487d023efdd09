"""JSON lines: one object per line, such as a comment of Reddit's dumps, with its text in one field."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from weatherglass.errors import CorpusError
from weatherglass.reliability.corpus.readers import Reader, text_lines

FIELD = "body"
"""The field that holds the text, as in Reddit's dumps."""

DELETED = frozenset({"[deleted]", "[removed]"})
"""Text of a deleted comment in a dump."""


def is_json_object(line: str) -> bool:
    """Whether a line is a JSON object; if the first line of a file is, so should be all others."""
    if not line.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def texts(path: Path, stream: BinaryIO) -> Iterator[str]:
    """The lines of each object's text.

    Raises:
        CorpusError: if a line is not a JSON object, or no object has a text.
    """
    has_text = False
    for number, line in enumerate(text_lines(stream), 1):
        try:
            text = json.loads(line).get(FIELD) if line.strip() else None
        except (ValueError, AttributeError):
            raise CorpusError(
                f"{path}, line {number}: not a JSON object, though the first line is one"
            ) from None
        has_text = has_text or isinstance(text, str)
        if isinstance(text, str) and text not in DELETED:
            yield from text.splitlines()
    if not has_text:
        raise CorpusError(f"{path}: JSON lines, but none has its text in the field '{FIELD}'")


READER = Reader(texts)
