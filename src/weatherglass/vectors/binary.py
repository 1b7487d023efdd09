"""Vectors in word2vec's binary form: a line "words dimensions", then each word, a space, float32 numbers."""

from __future__ import annotations

import re
from typing import BinaryIO

import numpy as np

from weatherglass.errors import VectorFileError
from weatherglass.vectors.collector import Collector, EveryWord, WordVectors
from weatherglass.vectors.text import HEADER, has_numbers

BLOCK = 2**20
LONGEST_WORD = 2**14
"""Bytes without a space after which the content is taken to be something else."""

CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
SAMPLE = 4096


def is_binary(head: bytes) -> bool:
    """Whether raw numbers, and not digits, follow the words of a file with a word2vec header."""
    header = HEADER.match(head)
    if header is None:
        return False
    body = head[header.end() :]
    if has_numbers(body.partition(b"\n")[0], int(header[2])):
        return False
    # No line of text: raw numbers, or text that is ragged from the start.
    return not _is_text(body[:SAMPLE])


def _is_text(sample: bytes) -> bool:
    """Whether these are characters, of which the last may be cut off: by us, or by word2vec in a long word."""
    try:
        sample.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(sample) - 3:
            return False
    return not CONTROL.search(sample)


def read_binary(file: BinaryIO, collector: Collector) -> WordVectors:
    """Walk through the entries and keep the wanted ones.

    Raises:
        VectorFileError: if the file ends early, goes on after its last word, or holds something else.
    """
    block = file.read(BLOCK)
    header = HEADER.match(block)
    if header is None:
        raise VectorFileError(f"{collector.path}: the first line should be two whole numbers")
    count, width = int(header[1]), int(header[2])
    size, position, wanted = 4 * width, header.end(), collector.wanted
    everything = isinstance(wanted, EveryWord)
    for entry in range(1, count + 1):
        space = block.find(b" ", position, position + LONGEST_WORD)
        end = space + 1 + size
        while space < 0 or end > len(block):
            piece = file.read(max(BLOCK, size))
            if not piece or (space < 0 and len(block) - position >= LONGEST_WORD):
                raise VectorFileError(
                    f"{collector.path}, word {entry} of {count}: expected a word, a space and {size} bytes "
                    f"({width} numbers); the file is cut off or damaged"
                )
            block, position = block[position:] + piece, 0
            space = block.find(b" ", 0, LONGEST_WORD)
            end = space + 1 + size
        word = block[position:space].lstrip(b"\n")  # The original tool ends each entry with a newline.
        if word in wanted:
            if everything and not _is_text(word):
                raise VectorFileError(
                    f"{collector.path}, word {entry} of {count}: {word[:40]!r} is no text; if the word before it has a "
                    "space, this format cannot hold it: save the vectors as text"
                )
            collector.add(word, np.frombuffer(block, "<f4", width, space + 1), entry)
        position = end
    if block[position:].strip() or file.read(BLOCK).strip():
        raise VectorFileError(
            f"{collector.path}: the first line promises {count} words, but the file goes on after"
        )
    return collector.finish(width, "word2vec binary")
