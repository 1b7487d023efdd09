"""Read and write the published test format: a JSON object with targ1, targ2, attr1 and attr2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from weatherglass.catalogue.checks import (
    Source,
    belonging,
    checked_name,
    checked_text,
    checked_texts,
    type_name,
    write_test_file,
)
from weatherglass.catalogue.test import Context, Element, ElementSet, Test, distinct, overlaps
from weatherglass.errors import CatalogueError
from weatherglass.languages import DEFAULT_LANGUAGE
from weatherglass.storage.documents import parsed_json, reading_document
from weatherglass.warnings import Warning

ROLES = {"targ1": "X", "targ2": "Y", "attr1": "A", "attr2": "B"}


def read_jsonl(path: str | Path) -> Test:
    """Read a test in the published format; its name is that of the file, and other keys are ignored.

    The format does not state which word a sentence is about, so each element counts as its own word.

    Raises:
        CatalogueError: if the file is malformed; the message names the file, the line and the key.
    """
    with reading_document(Path(path), CatalogueError):
        return _read(Source.read(Path(path)))


def _read(source: Source) -> Test:
    content = _parsed(source)
    sets: list[ElementSet] = []
    warnings: list[Warning] = []
    for key, role in ROLES.items():
        element_set, repeats = _read_set(source, key, role, content)
        sets.append(element_set)
        warnings += repeats
    x, y, a, b = sets
    return Test(
        checked_name(source, source.path.stem),
        targets=(x, y),
        attributes=(a, b),
        context=_context(x, y),
        source=str(source.path),
        warnings=(*warnings, *overlaps((x, y), (a, b)), *belonging(DEFAULT_LANGUAGE, sets)),
    )


def export_test(test: Test, path: str | Path) -> None:
    """Write a test in the published format, atomically.

    Raises:
        CatalogueError: if the test does not have two target and two attribute sets.
        OutputError: if the file cannot be written.
    """
    write_test_file(path, to_jsonl(test))


def to_jsonl(test: Test) -> str:
    """Return the test in the published format, formatted like the published files.

    Raises:
        CatalogueError: if the test does not have two target and two attribute sets.
    """
    if test.shape != (2, 2):
        targets, attributes = test.shape
        raise CatalogueError(
            f"test '{test.name}': the published format has two target and two attribute sets, but the test has "
            f"{targets} and {attributes}; write it as .toml"
        )
    content = {
        key: {"category": element_set.category, "examples": list(element_set.texts)}
        for key, element_set in zip(ROLES, test.sets, strict=True)
    }
    return json.dumps(content, indent=2, ensure_ascii=False)


def _parsed(source: Source) -> dict[str, Any]:
    try:
        content = parsed_json(source.text, lambda pairs: _without_repeats(source, pairs))
    except json.JSONDecodeError as error:
        hint = "; a file contains one test" if error.msg == "Extra data" else ""
        raise CatalogueError(
            f"{source.path}, line {error.lineno}, column {error.colno}: malformed JSON ({error.msg}){hint}"
        ) from None
    if not isinstance(content, dict):
        raise CatalogueError(
            f"{source.path}, line 1: should be an object with {', '.join(ROLES)}, but is {type_name(content)}"
        )
    return content


def _without_repeats(source: Source, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for key, value in pairs:
        if key in content:
            raise source.error(key, "is given twice")
        content[key] = value
    return content


def _read_set(
    source: Source, key: str, role: str, content: dict[str, Any]
) -> tuple[ElementSet, list[Warning]]:
    if key not in content:
        raise source.error(key, f"is missing; a test has {', '.join(ROLES)}")
    entry = content[key]
    if not isinstance(entry, dict):
        raise source.error(key, f"should be an object with category and examples, but is {type_name(entry)}")
    for part in ("category", "examples"):
        if part not in entry:
            raise source.error(key, f"has no '{part}'")
    category = checked_text(source, f"{key}.category", entry["category"])
    examples = checked_texts(source, f"{key}.examples", entry["examples"])
    return distinct(role, category, (Element(text, text) for text in examples))


def _context(x: ElementSet, y: ElementSet) -> Context:
    """Return the context: "sentence" if all targets end like sentences, since the format does not state it."""
    return "sent" if all(text.rstrip().endswith((".", "!", "?")) for text in (*x.texts, *y.texts)) else "word"
