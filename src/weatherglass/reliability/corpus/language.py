"""The language of a corpus, told from its words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weatherglass.arrays import Integers
from weatherglass.languages import LANGUAGES
from weatherglass.languages.known import LISTED, listed_words

LEAST = 0.5
"""The share of a corpus's tokens that its language's list must hold; about 0.9 of an ordinary text is in it."""


def told_language(words: Sequence[str], counts: Integers) -> tuple[str, float]:
    """The language whose list of frequent words holds the largest share of the tokens, and that share.

    The language is empty if no list holds half of them.
    """
    letters = np.array([word.isalpha() for word in words], dtype=bool)
    total = max(1, int(counts[letters].sum()))
    shares = {}
    for language in LISTED:
        listed = listed_words(language) or frozenset()
        held = np.array([word.lower() in listed for word in words], dtype=bool)
        shares[language] = int(counts[letters & held].sum()) / total
    best = max(shares, key=lambda language: shares[language])
    return (best if shares[best] >= LEAST else "", shares[best])


def language_fact(words: Sequence[str], counts: Integers) -> str:
    """One phrase for the page.

    >>> import numpy as np
    >>> language_fact(["der", "und", "frau"], np.array([5, 5, 5]))
    'German (100 % of its words are in our list)'
    """
    language, share = told_language(words, counts)
    name = LANGUAGES.get(language).name if language else "a language that we have no list of"
    return f"{name} ({share:.0%} of its words are in our list)".replace("%", " %")
