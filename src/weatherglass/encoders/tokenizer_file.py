"""tokenizer.json of the tokenizers library, looked over before the library reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from weatherglass.errors import EncoderError
from weatherglass.storage.documents import json_document
from weatherglass.storage.reading import reading

TOKENIZER = "tokenizer.json"


def read_tokenizer(path: Path, noun: str) -> Any:
    """A tokenizer of the library.

    Args:
        path: the file.
        noun: what an error calls it.

    Raises:
        EncoderError: if it is damaged, or if it numbers its tokens as only a larger file could.
    """
    from tokenizers import Tokenizer

    check_tokenizer(path)
    with reading(path, EncoderError, noun):
        return Tokenizer.from_file(str(path))


def check_tokenizer(path: Path) -> None:
    """Refuse a tokenizer with a number that only a larger file could have.

    The library goes through all numbers up to the largest, and ends the process where memory does not suffice.

    Raises:
        EncoderError: naming the token.
    """
    content = json_document(path, EncoderError)
    most = path.stat().st_size
    for token, number in _numbers(content if isinstance(content, dict) else {}):
        if isinstance(number, int) and number > most:
            raise EncoderError(
                f"{path}: the token '{str(token)[:50]}' has the number {number}, but a file of {most} bytes cannot have"
                " so many; get it again"
            )


def _numbers(content: Mapping[str, Any]) -> Iterable[tuple[Any, Any]]:
    """Tokens and their numbers, where they stand; what is of another form, the library refuses."""
    model = content.get("model")
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    if isinstance(vocabulary, dict):
        yield from vocabulary.items()
    added = content.get("added_tokens")
    for token in added if isinstance(added, list) else ():
        if isinstance(token, dict):
            yield token.get("content"), token.get("id")
