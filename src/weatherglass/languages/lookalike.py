"""Find different words that look the same: other Unicode forms, zero-width characters, spaces around them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

ZERO_WIDTH = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
"""Soft hyphen, zero-width space, joiners and marks of direction, word joiner, byte-order mark."""


def fold(word: str) -> str:
    """Return a word in the form NFKC, without zero-width characters and without spaces around it.

    >>> fold("nai\u0308ve\u200b ") == "na\u00efve", fold("\ufb01ne") == "fine"
    (True, True)
    """
    if not word.isascii():
        word = unicodedata.normalize("NFKC", ZERO_WIDTH.sub("", word))
    return word.strip()


def shown_twins(groups: Iterable[Iterable[str]]) -> list[str]:
    """Return a text for each group of words that look the same, with escapes that show the differences.

    >>> shown_twins([("na\u00efve", "nai\u0308ve")])
    ["'na\\\\xefve' = 'nai\\\\u0308ve'"]
    """
    return [" = ".join(map(ascii, group)) for group in groups]


def twins_among(words: Iterable[str], known: Collection[str] = ()) -> list[tuple[str, ...]]:
    """Return groups of different words that look the same, in the order of the words.

    A word in ASCII without spaces around it does not look like any other ASCII word, so only other words are folded.

    Args:
        words: the words to compare.
        known: all words, if those in ASCII were left out of `words`.
    """
    words = dict.fromkeys(words)
    known = known or words
    groups: dict[str, dict[str, None]] = {}
    for word in words:
        if not word.isascii() or word != word.strip():
            looks = fold(word)
            group = groups.setdefault(looks, {looks: None} if looks in known else {})
            group[word] = None
    return [tuple(group) for group in groups.values() if len(group) > 1]
