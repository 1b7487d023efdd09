"""A corpus format as a package beside ours would bring it: one file.

Verticalised text: a token per line, <s> before each sentence.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from weatherglass.errors import CorpusError
from weatherglass.reliability.corpus.readers import Reader, text_lines


def texts(path: Path, stream: BinaryIO) -> Iterator[str]:
    """The tokens between two <s>, joined."""
    lines = text_lines(stream)
    if next(lines, "").strip() != "<s>":
        raise CorpusError(f"{path}: verticalised text should begin with <s>")
    sentence: list[str] = []
    for line in lines:
        if line.strip() == "<s>":
            yield " ".join(sentence)
            sentence = []
        else:
            sentence.append(line.split("\t")[0].strip())
    yield " ".join(sentence)


READER = Reader(texts)
