"""Determine whether words belong to a language, using lists of frequent words and the scripts of their letters."""

from __future__ import annotations

import lzma
import re
import unicodedata
from functools import cache
from importlib.resources import files

LISTED = ("en", "de", "fr", "es")
"""The languages that have a list; NOTICE states the sources."""

JAPANESE = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"})
"""Scripts that occur together in one Japanese word."""

WORDS = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@cache
def listed_words(language: str) -> frozenset[str] | None:
    """Return the frequent words of a language in lower case; None if it has no list."""
    if language not in LISTED:
        return None
    packed = files(__package__).joinpath(f"{language}.txt.xz").read_bytes()
    return frozenset(lzma.decompress(packed).decode().split("\n"))


def is_listed(text: str, language: str) -> bool:
    """Return whether every word of a text, or every part of a hyphenated word, is in the list of the language."""
    listed = listed_words(language)
    if listed is None:
        return True
    words = WORDS.findall(unicodedata.normalize("NFC", text).lower())
    return all(
        word in listed or all(part in listed for part in word.split("-")) for word in words if len(word) > 1
    )


def scripts(text: str) -> frozenset[str]:
    """Return the scripts of the letters of a text, such as Latin and Cyrillic; Japanese counts as one script.

    >>> sorted(scripts("Москвa"))
    ['Cyrillic', 'Latin']
    """
    names = {unicodedata.name(letter, "UNKNOWN").split()[0] for letter in text if letter.isalpha()}
    names -= {"MODIFIER", "FEMININE", "MASCULINE"}  # ʼ, ª and º occur in any script
    if names & JAPANESE and names <= JAPANESE | {"FULLWIDTH"}:
        return frozenset({"Chinese" if names == {"CJK"} else "Japanese"})
    return frozenset(name.capitalize() for name in names)
