"""Words of a list that share a stem or a word: forms of one word, and phrases with a common part."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

LEAST_STEM = 3
"""Letters that an inflected word keeps."""
LEAST_ROOT = 4
"""Letters that a derived word keeps, and that a part of a phrase has: shorter ones are mostly function words."""
PARTS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")

Endings = tuple[tuple[str, str], ...]
"""Each an ending, and what may have been there before it."""

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
"""Endings that make a word from another."""


@dataclass(frozen=True, slots=True)
class Related:
    """Words of one list that share a stem or a word."""

    shared: str
    words: tuple[str, ...]


def related_words(
    words: Sequence[str], language: str, ignored: frozenset[str] = frozenset()
) -> list[Related]:
    """Return the groups of at least two words that share a stem or a word, in the order of the list.

    >>> [(group.shared, group.words) for group in related_words(["she", "her", "hers", "daughter"], "en")]
    [('her', ('her', 'hers'))]
    >>> related_words(["white woman", "white girl", "fair lady"], "en")
    [Related(shared='white', words=('white woman', 'white girl'))]

    Args:
        words: different words or phrases.
        language: its code; in one without a list of endings, only equal words are found.
        ignored: stems that do not count.
    """
    by_stem: dict[str, list[str]] = {}
    for word in words:
        for stem in _stems(word, language):
            by_stem.setdefault(stem, []).append(word)
    groups: dict[tuple[str, ...], str] = {}
    for stem, members in by_stem.items():
        if len(members) > 1 and stem not in ignored:
            groups[tuple(members)] = max(groups.get(tuple(members), ""), stem, key=len)
    return [Related(stem, members) for members, stem in groups.items() if not _is_within(members, groups)]


def common_stems(lists: Sequence[Sequence[str]], language: str) -> frozenset[str]:
    """Return the stems that every word or phrase of all lists has.

    They set no word apart from the others: "American" in two lists of Americans of different origins.
    """
    stems = [set(_stems(word, language)) for words in lists for word in words]
    return frozenset(set.intersection(*stems)) if stems else frozenset()


def _stems(word: str, language: str) -> dict[str, None]:
    """What is left of a word, or of the longer words of a phrase, without each ending that it may have."""
    parts = PARTS.findall(word.lower())
    if len(parts) > 1:
        parts = [part for part in parts if len(part) >= LEAST_ROOT]
    return dict.fromkeys(stem for part in parts for stem in (part, *_without_endings(part, language)))


def _without_endings(word: str, language: str) -> Iterator[str]:
    for endings, least in ((INFLECTIONS, LEAST_STEM), (DERIVATIONS, LEAST_ROOT)):
        for ending, before in endings.get(language, ()):
            stem = word.removesuffix(ending) + before
            if word.endswith(ending) and len(stem) >= least:
                yield stem


def _is_within(members: Sequence[str], groups: Mapping[tuple[str, ...], str]) -> bool:
    return any(set(members) < set(others) for others in groups)
