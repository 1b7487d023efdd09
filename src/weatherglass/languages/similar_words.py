"""Find words that look the same, words that share a stem, and phrases that share a word."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

ZERO_WIDTH = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
"""Invisible characters: soft hyphen, zero-width space, joiners and marks of direction, word joiner, byte-order
mark.
"""


def fold(word: str) -> str:
    """Return a word in the form NFKC, without zero-width characters and without surrounding spaces.

    >>> fold("nai\u0308ve\u200b ") == "na\u00efve", fold("\ufb01ne") == "fine"
    (True, True)
    """
    if not word.isascii():
        word = unicodedata.normalize("NFKC", ZERO_WIDTH.sub("", word))
    return word.strip()


def shown_twins(groups: Iterable[Iterable[str]]) -> list[str]:
    """Return a text for each group of words that look the same, with escapes that show how they differ.

    >>> shown_twins([("na\u00efve", "nai\u0308ve")])
    ["'na\\\\xefve' = 'nai\\\\u0308ve'"]
    """
    return [" = ".join(map(ascii, group)) for group in groups]


def twins_among(words: Iterable[str], known: Collection[str] = ()) -> list[tuple[str, ...]]:
    """Return groups of different words that look the same, in the order of the words.

    An ASCII word without surrounding spaces cannot look like another ASCII word, so only other words are folded.

    Args:
        words: the words to compare.
        known: all words, if ASCII words are left out of `words`.
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


LEAST_STEM = 3
"""The smallest number of letters of the stem of an inflected word."""
LEAST_ROOT = 4
"""The smallest number of letters of the root of a derived word, and of a word in a phrase; shorter words are function
words.
"""
PARTS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")

Endings = tuple[tuple[str, str], ...]
"""Pairs of an ending and the letters that it may replace."""

INFLECTIONS: Mapping[str, Endings] = {
    "en": (
        *(("'s", ""), ("’s", ""), ("s", ""), ("es", ""), ("ies", "y"), ("ed", ""), ("ed", "e"), ("ied", "y")),
        *(("ing", ""), ("ing", "e")),
    ),
    "de": tuple((ending, "") for ending in ("e", "en", "er", "es", "em", "n", "s")),
    "fr": tuple((ending, "") for ending in ("e", "s", "es", "x")),
    "es": (("a", ""), ("o", ""), ("s", ""), ("as", ""), ("os", ""), ("es", "")),
}
"""Endings of forms of one word, by language."""
DERIVATIONS: Mapping[str, Endings] = {
    "en": (
        *((ending, "") for ending in ("ly", "y", "er", "or", "ness", "ment", "ful", "less", "ish", "ist")),
        *((ending, before) for ending in ("able", "ible", "ion", "ive", "al") for before in ("", "e")),
        *(("er", "e"), ("or", "e"), ("ation", ""), ("ation", "e"), ("iness", "y"), ("ily", "y")),
    ),
    "de": tuple(
        (ending, "") for ending in ("in", "innen", "ung", "ungen", "lich", "heit", "keit", "isch", "los")
    ),
    "fr": tuple((ending, "") for ending in ("ment", "eur", "euse", "rice", "ion", "ive", "if", "able")),
    "es": tuple((ending, "") for ending in ("mente", "ción", "dor", "dora", "ista", "able", "oso", "osa")),
}
"""Endings that derive a word from another, by language."""


@dataclass(frozen=True, slots=True)
class Related:
    """Words of one list that share a stem or a word."""

    shared: str
    words: tuple[str, ...]


def related_words(words: Sequence[str], language: str, among: Sequence[Sequence[str]] = ()) -> list[Related]:
    """Return the groups of at least two words that share a stem or a word, in the order of the list.

    >>> [(group.shared, group.words) for group in related_words(["she", "her", "hers", "daughter"], "en")]
    [('her', ('her', 'hers'))]
    >>> related_words(["white woman", "white girl", "fair lady"], "en")
    [Related(shared='white', words=('white woman', 'white girl'))]

    Args:
        words: different words or phrases.
        language: the code of the language; if it has no list of endings, only shared words are found.
        among: the lists with which the words are compared, including their own. A stem that all words in these lists
            share is ignored, such as "American" in two lists of Americans of different origins.
    """
    all_stems = [set(_stems(word, language)) for own in among for word in own]
    ignored = set.intersection(*all_stems) if all_stems else set()
    by_stem: dict[str, list[str]] = {}
    for word in words:
        for stem in _stems(word, language):
            by_stem.setdefault(stem, []).append(word)
    groups: dict[tuple[str, ...], str] = {}
    for stem, members in by_stem.items():
        if len(members) > 1 and stem not in ignored:
            groups[tuple(members)] = max(groups.get(tuple(members), ""), stem, key=len)
    return [
        Related(stem, members)
        for members, stem in groups.items()
        if not any(set(members) < set(others) for others in groups)
    ]


@lru_cache(maxsize=10_000)
def _stems(word: str, language: str) -> dict[str, None]:
    """Return a word, or the longer words of a phrase, and the stems that remain without each possible ending."""
    parts = PARTS.findall(word.lower())
    if len(parts) > 1:
        parts = [part for part in parts if len(part) >= LEAST_ROOT]
    stems: dict[str, None] = {}
    for part in parts:
        stems[part] = None
        for endings, least in ((INFLECTIONS, LEAST_STEM), (DERIVATIONS, LEAST_ROOT)):
            for ending, before in endings.get(language, ()):
                stem = part.removesuffix(ending) + before
                if part.endswith(ending) and len(stem) >= least:
                    stems[stem] = None
    return stems
