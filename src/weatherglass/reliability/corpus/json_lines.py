"""JSON lines: one object per line, such as a comment of Reddit's dumps, with its text in one field."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from weatherglass.errors import CorpusError
from weatherglass.reliability.corpus.readers import FIELDS, Reader, Texts, no_such_field, text_lines
from weatherglass.storage.documents import parsed_json

DELETED = frozenset({"[deleted]", "[removed]"})
"""Text of a deleted comment in a dump."""


def is_json_object(line: str) -> bool:
    """Whether a line is a JSON object; if the first line of a file is, so should be all others."""
    if not line.lstrip().startswith("{"):
        return False
    try:
        return isinstance(parsed_json(line), dict)
    except ValueError:
        return False


def texts(path: Path, stream: BinaryIO, fields: Sequence[str] = FIELDS) -> Iterator[str]:
    """The lines of each object's text: of the first of `fields` that holds one.

    Raises:
        CorpusError: if a line is not a JSON object, or no object has a text.
    """
    has_text = False
    names: dict[str, None] = {}
    for number, line in enumerate(text_lines(stream), 1):
        if not line.strip():
            continue
        try:
            record = parsed_json(line)
            found = (_value(record, field) for field in fields)
            text = next((value for value in found if isinstance(value, str)), None)
        except (ValueError, AttributeError, TypeError):
            raise CorpusError(f"{path}, line {number}: not a JSON object") from None
        if text is None:
            names |= dict.fromkeys(record) if not has_text else {}
            continue
        has_text = True
        if text not in DELETED:
            yield from text.splitlines()
    if not has_text:
        raise CorpusError(no_such_field(path, list(names), fields))


def _value(record: dict[str, Any], field: str) -> Any:
    """The value of a field; "data.text" is the field text of the object in data."""
    if field in record or "." not in field:
        return record.get(field)
    outer, _, inner = field.partition(".")
    return _value(record[outer], inner) if isinstance(record.get(outer), dict) else None


def _texts_of_field(field: str) -> Texts:
    return partial(texts, fields=(field,))


READER = Reader(texts, texts_of_field=_texts_of_field)
