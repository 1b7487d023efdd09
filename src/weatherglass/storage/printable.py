"""Text for one line: what would move a cursor, ring, or turn the direction of reading is shown, not sent."""

from __future__ import annotations

import re
import unicodedata

LONGEST_LINE = 300
"""Characters of an error or a warning on the terminal; the file is named first and the remedy last, so both stay."""
_BREAKS = re.compile(r"[^\S ]+")
_JOINERS = "\u200c\u200d"
_NEVER_SENT = ("Cc", "Cf", "Cs", "Zl", "Zp")


def one_line(text: str) -> str:
    """The text in one line; a control character is shown as its escape, since names may come from anywhere.

    >>> print(one_line("a\\tb\\x1b[2J"))
    a b\\x1b[2J
    """
    if text.isascii() and text.isprintable():
        return text
    spaced = _BREAKS.sub(" ", text)
    return "".join(
        c.encode("unicode_escape").decode()
        if unicodedata.category(c) in _NEVER_SENT and c not in _JOINERS
        else c
        for c in spaced
    )


def short_line(text: str, longest: int = LONGEST_LINE) -> str:
    """The text in one line of at most `longest` characters, cut in the middle.

    >>> short_line("/data/a/very/long/path/glove.txt: the file is empty; download it again", 41)
    '/data/a/very/long/pa…y; download it again'
    """
    line = one_line(text)
    if len(line) <= longest:
        return line
    head = longest // 2
    return line[:head] + "…" + line[len(line) - (longest - head - 1) :]


def printable_json(document: str) -> str:
    """A JSON document with escapes for what JSON lets through and a terminal would obey; it means the same.

    >>> print(printable_json('["\\x9b2J", "é"]'))
    ["\\u009b2J", "é"]
    """
    if document.isascii() and "\x7f" not in document:
        return document
    return "".join(
        f"\\u{ord(c):04x}"
        if unicodedata.category(c) in _NEVER_SENT and c not in "\n" + _JOINERS and c <= "\uffff"
        else c
        for c in document
    )
