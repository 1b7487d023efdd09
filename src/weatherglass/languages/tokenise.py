"""Split texts into the words that are looked up in a file of vectors.

`treebank` follows the Penn Treebank, as in May et al. (2019): punctuation is a token, "Amy's" becomes "Amy" and "'s",
and "don't" becomes "do" and "n't". nltk has the same rules, but takes 1.5 s to import and downloads data to find the
ends of sentences. A test compares the tokens with nltk's on all published sentences. `word_tokens` is for other
languages with spaces between words.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator

APOSTROPHES = "'’"

TOKEN = re.compile(
    r"""
      (?:[^\W\d_]\.){2,}                               # z.B., p.ej., U.S.A.
    | \d+(?:[.,:]\d+)*                                 # 1.000,50 and 9:30
    | \w+(?:[-'’]\w+)*                                 # words, with hyphens and apostrophes inside
    | \.{2,} | …
    | [^\w\s]
    """,
    re.VERBOSE,
)

WITHOUT_SPACES = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
"""Scripts that have no spaces between words, as the names of their characters begin."""


def without_spaces(character: str) -> bool:
    """Return whether a character is of a script that has no spaces between words."""
    return character > "\u0e00" and unicodedata.name(character, "").startswith(WITHOUT_SPACES)


def word_count(text: str) -> float:
    """Return the number of words between spaces; a letter of a script without spaces counts as half a word.

    >>> word_count("Das ist 東京.")
    3.0
    """
    letters = [] if text.isascii() else [character for character in text if without_spaces(character)]
    if not letters:
        return sum(any(map(str.isalnum, part)) for part in text.split())
    spaced = "".join(" " if character in letters else character for character in text)
    return len([part for part in spaced.split() if any(map(str.isalnum, part))]) + len(letters) / 2


def word_tokens(text: str) -> list[str]:
    """Return words, numbers and punctuation marks.

    >>> word_tokens("Das ist z.B. eine E-Mail, was?")
    ['Das', 'ist', 'z.B.', 'eine', 'E-Mail', ',', 'was', '?']
    """
    return TOKEN.findall(text)


Tokeniser = Callable[[str], list[str]]

SPLIT = re.compile(
    r"""(
      \.{2,}                              # an ellipsis
    | --                                  # a dash, but not the hyphen of "well-known"
    | [\[\](){}<>?!;@\#$%&"“”„«»…]
    | [,:](?!\d)                          # but 1,000 and 9:30
    | (?<=\w)n't(?!\w)
    | (?<=[^\s'])'(?:s|m|d|ll|re|ve)?(?!\w)  # Amy's, I'm, and the end of dogs'
    )""",
    re.VERBOSE | re.IGNORECASE,
)

FULL_STOP = re.compile(r"(?<=[^.])\.(?=[\])}>\"'”»]*$)")
"""A full stop at the end of a chunk, possibly before quotes or brackets."""

OPENING = r"[\[({<\"'“«]*"
NEXT_SENTENCE = re.compile(OPENING + "[A-Z0-9]")
ABBREVIATION = re.compile(
    OPENING
    + r"(?:[A-HJ-Z]|.*\.[A-Z]|mr|mrs|ms|messrs|dr|prof|st|rev|hon|gen|col|lt|sgt|capt|gov|sen|rep|vs)\.",
    re.IGNORECASE,
)
"""Abbreviations that keep their full stop before a capital letter: initials, U.S., and titles."""

TWO_IN_ONE = {
    "cannot": 3,
    "gimme": 3,
    "gonna": 3,
    "gotta": 3,
    "lemme": 3,
    "wanna": 3,
    "'tis": 2,
    "'twas": 2,
}
"""Words that the Treebank splits, and the position of the split."""


def treebank(text: str) -> list[str]:
    """Return tokens by the conventions of the Penn Treebank.

    >>> treebank("This is Amy's. She can't stay, she said.")
    ['This', 'is', 'Amy', "'s", '.', 'She', 'ca', "n't", 'stay', ',', 'she', 'said', '.']
    """
    chunks = text.split()
    tokens: list[str] = []
    for chunk, following in itertools.zip_longest(chunks, chunks[1:], fillvalue=""):
        stop = FULL_STOP.search(chunk)
        if stop and _ends_sentence(chunk[: stop.end()], following):
            tokens += [*_split(chunk[: stop.start()]), ".", *_split(chunk[stop.end() :], opening=False)]
        else:
            tokens += _split(chunk)
    return tokens


def _ends_sentence(chunk: str, following: str) -> bool:
    if not following:
        return True
    return bool(NEXT_SENTENCE.match(following)) and not ABBREVIATION.fullmatch(chunk)


def _split(chunk: str, opening: bool = True) -> Iterator[str]:
    """Yield the tokens of a chunk without spaces; `opening` states whether a quotation mark at its start opens a
    quote.
    """
    for piece in SPLIT.split(chunk):
        if piece == '"':
            yield "``" if opening else "''"
        elif cut := TWO_IN_ONE.get(piece.lower()):
            yield from (piece[:cut], piece[cut:])
        elif piece:
            yield piece
        if piece:
            opening = opening and piece in "([{<"


def whitespace(text: str) -> list[str]:
    """Return the parts between spaces; punctuation is kept with its word."""
    return text.split()


def none(text: str) -> list[str]:
    """Return the whole text as one word, for files that contain phrases."""
    return [text] if text.strip() else []


TOKENISERS: dict[str, Tokeniser] = {
    "words": treebank,
    "whitespace": whitespace,
    "characters": list,
    "none": none,
}
"""Tokenisers by their name in a spec; with `characters`, every character is a token, including spaces."""
