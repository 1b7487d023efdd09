"""Split a line of text into tokens."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from weatherglass.registry import one_of

URL = re.compile(r"(?:https?://|www\.)\S+")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+")
WORD = re.compile(r"</?[A-Za-z]+>|[^\W_]+(?:'[^\W_]+)*")
"""A word, or a mark such as WikiText's <unk>, which stays one token so that it is not taken for the word "unk"."""

Split = Literal["words", "whitespace"]


@dataclass(frozen=True)
class Tokeniser:
    """Splits a line into tokens."""

    split: Split = "words"
    """words: letters and digits, with inner apostrophes, and <marks>; whitespace: the text is already tokenised."""
    lowercase: bool = True
    keep_urls: bool = False
    sentences: bool = False
    """Whether a line is split into sentences; contexts end at a sentence."""

    def __post_init__(self) -> None:
        one_of("split", self.split, get_args(Split))

    def __call__(self, line: str) -> Iterator[list[str]]:
        """The tokens of each sentence, or of the line as one sentence."""
        if not self.keep_urls and ("://" in line or "www." in line):
            line = URL.sub(" ", line)
        for part in SENTENCE_END.split(line) if self.sentences else (line,):
            text = part.lower() if self.lowercase else part
            yield WORD.findall(text.replace("’", "'")) if self.split == "words" else text.split()
