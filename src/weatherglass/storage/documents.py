"""Read text, TOML and JSON files that people write.

A reader enters `reading_document` once, which reports any exception in one line. Each parser in this module raises one
type of exception, also for nesting that is too deep or a number of 5 000 digits.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from weatherglass.errors import WeatherglassError
from weatherglass.storage.reading import errors_in_one_line, require_regular_file

DEEPEST_KEY = 50
"""The maximum number of parts of a dotted key; the parser needs quadratic time, an hour for 100 kB of parts."""

_PART = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_DEEP_KEY = re.compile(
    rf"(?:^[ \t]*+\[?\[?|[{{,])[ \t]*+{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{DEEPEST_KEY}}}", re.MULTILINE
)
"""A key at the start of a line or in an inline table; a sentence with as many full stops is not a key."""
_NESTED, _DIGITS = "nested too deeply", "a number with too many digits"


@contextmanager
def reading_document(path: Path, error: type[WeatherglassError]) -> Iterator[None]:
    """Check that a path is a regular file, and report any exception of the block in one line with its name.

    Raises:
        WeatherglassError: of the type `error`, if the file is not regular or the block raises another exception;
            a WeatherglassError of the block passes through unchanged.
    """
    require_regular_file(path, error)
    with errors_in_one_line(
        str(path), "its content is not as expected", "correct the file, or get it again", error
    ):
        yield


def document_text(path: Path, error: type[WeatherglassError]) -> str:
    """Return the text of a UTF-8 file with newlines as line ends and without a byte-order mark.

    Raises:
        WeatherglassError: of the type `error`, if a line is not UTF-8; the message names the line.
    """
    with reading_document(path, error):
        try:
            return path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as failure:
            line = failure.object[: failure.start].count(b"\n") + 1
            raise error(f"{path}, line {line}: not UTF-8 text; save the file as UTF-8") from None


def document_lines(path: Path, error: type[WeatherglassError]) -> Iterator[tuple[int, str]]:
    """Yield the number and text of each line of a file of JSON lines that is not blank.

    Only a newline ends a line, because a JSON text may contain the other line separators of Unicode.

    Raises:
        WeatherglassError: of the type `error`, if a line is not UTF-8; the message names the line.
    """
    for number, line in enumerate(document_text(path, error).split("\n"), 1):
        if line.strip():
            yield number, line


def toml_document(path: Path, error: type[WeatherglassError]) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises:
        WeatherglassError: of the type `error`, if it cannot be read or is malformed.
    """
    try:
        return parsed_toml(document_text(path, error))
    except tomllib.TOMLDecodeError as failure:
        raise error(f"{path}: not a TOML file ({failure})") from None


def json_document(path: Path, error: type[WeatherglassError]) -> Any:
    """Return the value in a JSON file.

    Raises:
        WeatherglassError: of the type `error`, if it cannot be read or is malformed.
    """
    try:
        text = document_text(path, error)
        value = parsed_json(text)
        refuse_half_characters(value, text)
    except ValueError as failure:
        raise error(f"{path}: not JSON ({failure})") from None
    return value


def parsed_toml(text: str) -> dict[str, Any]:
    """Return the content of a TOML document.

    Raises:
        tomllib.TOMLDecodeError: if it is malformed in any way.
    """
    if deep := _DEEP_KEY.search(text):
        line = text.count("\n", 0, deep.start()) + 1
        raise tomllib.TOMLDecodeError(f"A key of more than {DEEPEST_KEY} parts (at line {line}, column 1)")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError:
        raise tomllib.TOMLDecodeError(_NESTED) from None
    except ValueError as error:
        raise tomllib.TOMLDecodeError(_DIGITS if "digits" in str(error) else str(error)) from None


def parsed_json(text: str, object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the value of a JSON document.

    Raises:
        json.JSONDecodeError: if it is malformed in any way.
    """
    try:
        return json.loads(text, object_pairs_hook=object_pairs_hook)
    except json.JSONDecodeError:
        raise
    except RecursionError:
        raise json.JSONDecodeError(_NESTED, text, 0) from None
    except ValueError as error:
        raise json.JSONDecodeError(_DIGITS if "digits" in str(error) else str(error), text, 0) from None


def refuse_half_characters(value: Any, text: str) -> None:
    """Refuse half a character (a lone surrogate), which JSON can write and UTF-8 cannot.

    Args:
        value: the value that was read.
        text: the JSON; if it contains no escape in that range, nothing has to be checked.

    Raises:
        ValueError: if a text or key contains a lone surrogate.
    """
    if "\\ud" not in text and "\\uD" not in text:
        return
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        raise ValueError("a text contains half a character (a lone surrogate)") from None


@cache
def shipped_toml(package: str, name: str) -> dict[str, Any]:
    """Return the content of `name`.toml in the folder of `package`."""
    return tomllib.loads(files(package).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
