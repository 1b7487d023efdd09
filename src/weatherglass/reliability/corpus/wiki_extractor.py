"""The output of WikiExtractor: articles between <doc …> and </doc>; with --json it is read as JSON lines."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import BinaryIO

from weatherglass.errors import CorpusError
from weatherglass.reliability.corpus.readers import Reader, text_lines

START, END = "<doc ", "</doc>"


def is_document_start(line: str) -> bool:
    """Whether a line begins an article."""
    return line.startswith(START) and line.rstrip().endswith(">") and ' title="' in line


def texts(path: Path, stream: BinaryIO) -> Iterator[str]:
    """The lines of the articles, the first of each its title.

    Raises:
        CorpusError: if an article is not closed: the file is cut off.
    """
    inside = False
    for line in text_lines(stream):
        if is_document_start(line):
            inside = True
        elif line.rstrip() == END:
            inside = False
        else:
            yield unescape(line)
    if inside:
        raise CorpusError(f"{path}: ends within an article, without {END}; the file is cut off")


READER = Reader(texts)
