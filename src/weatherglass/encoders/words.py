"""The `tokens=` option: what a text is split into before a model that reads tokens sees it."""

from __future__ import annotations

from collections.abc import Callable

from weatherglass.encoders.tokenise import treebank

SPLITTERS: dict[str, Callable[[str], list[str]]] = {
    "words": treebank,
    "whitespace": str.split,
    "characters": list,
}
"""words: Penn Treebank conventions; characters: every character, blanks included, as a token of its own."""
