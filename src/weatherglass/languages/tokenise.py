"""Tokens of languages that write blanks between words: words, numbers and single punctuation marks."""

from __future__ import annotations

import re

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


def word_tokens(text: str) -> list[str]:
    """Words, numbers and punctuation marks.

    >>> word_tokens("Das ist z.B. eine E-Mail, was?")
    ['Das', 'ist', 'z.B.', 'eine', 'E-Mail', ',', 'was', '?']
    """
    return TOKEN.findall(text)
