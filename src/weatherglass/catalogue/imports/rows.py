"""Tests in the published form of targ1, targ2, attr1 and attr2: sent-bias, WEATHub's files, and its rows on the Hub."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from weatherglass.catalogue.checks import Source, checked_text, type_name
from weatherglass.catalogue.imports.draft import Draft, draft_set
from weatherglass.catalogue.jsonl import ROLES

LANGUAGE_FOLDER = re.compile(r"([a-z]{2,3})_(all|gt|human|new|india)")
"""How WEATHub names the folders of its files: fr_human, ckb_new."""


def is_row(content: object) -> bool:
    """Whether it is one test, its sets as objects or, as in tables, under keys with a dot."""
    return isinstance(content, dict) and ("targ1" in content or "targ1.examples" in content)


def row_draft(source: Source, row: Mapping[str, Any], place: str = "") -> Draft:
    """The test of a row.

    Args:
        source: the file, for errors.
        row: its content.
        place: where the row stands in the file, such as "row 3: "; empty for a file of one test.
    """
    sets = [_read_set(source, row, key, place) for key in ROLES]
    folder = LANGUAGE_FOLDER.fullmatch(source.path.parent.name)
    number = row.get("weat")
    stated = row.get("language")
    if stated is not None:
        checked_text(source, "language", stated)
    if number is not None:
        name = f"{stated or ''}-{checked_text(source, 'weat', number).lower()}".strip("-")
        origin, citation = "WEATHub", "mukherjee2023"
    elif folder:
        name = f"{folder[0]}-{source.path.stem}"
        origin, citation = "WEATHub", "mukherjee2023"
    else:
        name, origin, citation = source.path.stem, "published form", ""
    language = stated or (folder[1] if folder else "")
    return Draft(name, tuple(sets[:2]), tuple(sets[2:]), language, row.get("topic", ""), origin, citation)


def _read_set(source: Source, row: Mapping[str, Any], key: str, place: str) -> Any:
    entry = row.get(key)
    if entry is None and f"{key}.examples" in row:
        entry = {part: row.get(f"{key}.{part}") for part in ("category", "examples")}
    if entry is None:
        raise source.error(key, f"{place}is missing; a test has {', '.join(ROLES)}")
    if not isinstance(entry, dict):
        raise source.error(
            key, f"{place}should be an object with category and examples, but is {type_name(entry)}"
        )
    for part in ("category", "examples"):
        if part not in entry:
            raise source.error(key, f"{place}has no '{part}'")
    return draft_set(source, f"{key}.examples", entry["category"], entry["examples"])
