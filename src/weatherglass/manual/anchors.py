"""Which section of docs/warnings.md explains a warning: its name stays, whatever becomes of the wording."""

from __future__ import annotations

import re

ANCHORS = {
    "hangs-on": r"significance hangs on ",
    "sentences-only": r"significant only if the sentences of a word count as independent",
    "these-words-only": r"with these attribute words; not shown for others like them",
    "attribute-noise": r"mostly attribute noise",
    "skewed": r"the effect is large and the scores are skewed",
    "spreads": r"the sets differ in spread",
    "too-small": r"so this test cannot reach ",
    "cannot-survive": r"so it cannot survive a correction",
    "unknown-words": r"(are|is) unknown to the model",
    "broken-pairs": r"left out: the model knows one word of it only",
    "other-language": r"the model splits sentences by the rules of ",
    "unknown-language": r"unknown to the \w+ lexicon|not in Latin letters",
    "same-words": r"(share \d+ |hold the same )",
    "repeated-words": r"\d+ duplicates? left out",
    "unknown-forms": r"the [\w ]+ of \d+ words? is not known|goes into no template",
    "profile": r"^profile [\w-]+: ",
}
"""Anchor -> what its warnings say; the first that fits counts."""


def anchor_of(warning: str) -> str | None:
    """The anchor of the section that explains a warning; None where it explains itself.

    >>> anchor_of("sent-weat6: significance hangs on 'management': without it p is 0.14")
    'hangs-on'
    """
    return next((anchor for anchor, pattern in ANCHORS.items() if re.search(pattern, warning)), None)


def with_anchor(warning: str) -> str:
    """The warning with the name of its section behind it, in brackets."""
    anchor = anchor_of(warning)
    return f"{warning} [{anchor}]" if anchor else warning
