"""What a message says as data: the names, numbers and suggestions in it, whatever its wording."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Self

BEFORE, AFTER = r"(?<![\w.−-])", r"(?!\w|[.,]\d)"
"""Around a number: so 7 is not found in 17, 0.7, -7 or 7.5."""
QUOTES = "'\"`‘’“”"


class Wanted(str):
    """A regular expression that knows what it looks for: the names of parametrised tests show that instead."""

    parts: tuple[object, ...]

    def __new__(cls, pattern: str, parts: Iterable[object]) -> Self:
        """Keep the parts with the pattern."""
        wanted = super().__new__(cls, pattern)
        wanted.parts = tuple(part for part in parts if part is not None)
        return wanted


def naming(*parts: object, suggesting: str | None = None) -> Wanted:
    """Return a regular expression for texts that contain every part as a whole, in any order.

    Args:
        parts: texts and numbers. A text in small letters is also found in capitals, a space at the end of a line.
        suggesting: a name that the text offers instead of a wrong one. It must be in quotation marks, so that it does
            not count where it is only one of the known names.

    >>> found = re.compile(naming("glove.txt", 7, suggesting="hf"))
    >>> bool(found.search("glove.txt, line 7: unknown encoder; did you mean 'hf'?"))
    True
    >>> bool(found.search("glove.txt, line 17: unknown encoder (known: hf, vectors)"))
    False
    """
    return Wanted(r"(?s)\A" + _followed_by(parts, suggesting), (*parts, suggesting))


def in_order(*parts: object) -> Wanted:
    """Return a regular expression for texts that contain every part as a whole, in this order.

    >>> bool(re.search(in_order("math", 0.2), "without 'math' p is 0.2"))
    True
    """
    return Wanted("(?s)" + ".*".join(map(_whole, parts)), parts)


def at_column(column: int, *parts: object, suggesting: str | None = None) -> Wanted:
    """Return a regular expression for texts that name a column and, after it, every part as a whole.

    >>> bool(re.search(at_column(3, "'lambda'"), "in 'x (lambda: 1)', column 3: '(' is not expected here"))
    False
    """
    pattern = rf"(?s)\bcolumn {column}\b" + _followed_by(parts, suggesting)
    return Wanted(pattern, (f"column {column}", *parts, suggesting))


def mentions(text: str, *parts: object, suggesting: str | None = None) -> bool:
    """Test whether a text contains every part as a whole, in any order."""
    return re.search(naming(*parts, suggesting=suggesting), text) is not None


def _followed_by(parts: Iterable[object], suggesting: str | None) -> str:
    wanted = [_whole(part) for part in parts]
    if suggesting is not None:
        wanted.append(f"[{QUOTES}]{re.escape(suggesting)}[{QUOTES}]")
    return "".join(f"(?=.*{each})" for each in wanted)


def _whole(part: object) -> str:
    if not isinstance(part, str):
        return BEFORE + re.escape(str(part)) + AFTER
    before = r"(?<!\w)" if part[:1].isalnum() else ""
    after = r"(?!\w)" if part[-1:].isalnum() else ""
    case = "i" if part.islower() else ""
    return before + f"(?{case}:" + re.escape(part).replace(r"\ ", r"\s+") + ")" + after
