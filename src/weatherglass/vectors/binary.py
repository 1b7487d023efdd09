"""Vectors in word2vec's binary form: a line "words dimensions", then each word, a space, float32 numbers."""

from __future__ import annotations

import re
from typing import BinaryIO

import numpy as np

from weatherglass.errors import VectorFileError
from weatherglass.vectors.collector import Collector, EveryWord, WordVectors, load_kernel
from weatherglass.vectors.text import HEADER, has_numbers

BLOCK = 2**20
FEW_BYTES = 2**20 - 1
"""A file of no more is read without the compiled loop."""

LONGEST_WORD = 2**14  # kernels.py has it, too, since importing that loads numba
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


class _Window:
    """The part of a file that is being looked at, in one buffer from its start to its end."""

    def __init__(self, file: BinaryIO, start: bytes, longest_entry: int) -> None:
        """Args: the file, what was read of it already, and how many bytes must fit into the buffer."""
        self.content = bytearray(max(BLOCK, longest_entry))
        self.content[: len(start)] = start
        self.length = len(start)
        self._file = file
        self._longest_entry = longest_entry

    def may_end_inside(self, position: int) -> bool:
        """Whether an entry that starts at the position may go on in the part of the file that comes next."""
        return self.length - position < self._longest_entry

    def find_space(self, position: int) -> int:
        """Where the word that starts at the position ends, or -1."""
        return self.content.find(b" ", position, min(position + LONGEST_WORD, self.length))

    def move(self, position: int) -> bool:
        """Drop what is before the position, and read on; returns whether there was more."""
        rest = self.length - position
        self.content[:rest] = self.content[position : self.length]
        with memoryview(self.content) as view, view[rest:] as free:
            more: int = self._file.readinto(free)  # type: ignore[attr-defined]
        self.length = rest + more
        return more > 0


class _PlainEntries:
    """Keeps the entries of a window by the compiled loop, as long as there is nothing unusual about them."""

    def __init__(self, collector: Collector, count: int, width: int, window: _Window) -> None:
        self._collector, self._count, self._width, self._window = collector, count, width, window
        self._content = np.frombuffer(window.content, np.uint8)
        self._words = np.empty(len(window.content), np.uint8)
        self._printable = np.empty(len(window.content), np.bool_)
        self._read_entries = load_kernel("read_entries")

    def keep(self, position: int, entries: int) -> tuple[int, int]:
        """Keep entries from a position on; returns how many have been read since the start, and where the next is."""
        if self._read_entries is None:
            return entries, position
        length = self._window.length
        most = min(self._count - entries, (length - position) // (4 * self._width + 2) + 1)
        free = self._collector.free_rows(most, self._width)[:most]
        while True:
            number, end, used = self._read_entries(
                self._content[:length], position, free, self._words, self._printable
            )
            joined = self._words[:used].tobytes()
            try:
                self._collector.keep(joined.decode().split(" ")[:-1], self._printable)
            except UnicodeDecodeError as error:
                free = free[: joined.count(b" ", 0, error.start)]
            else:
                return entries + number, end


def read_binary(file: BinaryIO, collector: Collector) -> WordVectors:
    """Walk through the entries and keep the wanted ones.

    Raises:
        VectorFileError: if the file ends early, goes on after its last word, or holds something else.
    """
    start = file.read(SAMPLE)
    header = HEADER.match(start)
    if header is None:
        raise VectorFileError(f"{collector.path}: the first line should be two whole numbers")
    count, width = int(header[1]), int(header[2])
    size, position, wanted, entry = 4 * width, 0, collector.wanted, 0
    window = _Window(file, start[header.end() :], LONGEST_WORD + 1 + size)
    window.move(position)
    everything, plain = isinstance(wanted, EveryWord), None
    if everything and width and window.length > FEW_BYTES:
        collector.reserve(count, width, size + 2)
        plain = _PlainEntries(collector, count, width, window)
    while entry < count:
        if plain is not None:
            entry, position = plain.keep(position, entry)
            if entry == count:
                break
            if window.may_end_inside(position):
                more, position = window.move(position), 0
                if more:
                    continue
        entry += 1
        space = window.find_space(position)
        while space < 0 or space + 1 + size > window.length:
            if (space < 0 and window.length - position >= LONGEST_WORD) or not window.move(position):
                raise VectorFileError(
                    f"{collector.path}, word {entry} of {count}: expected a word, a space and {size} bytes "
                    f"({width} numbers); the file is cut off or damaged"
                )
            position = 0
            space = window.find_space(position)
        # The original tool ends each entry with a newline.
        word = bytes(window.content[position:space]).lstrip(b"\n")
        if word in wanted:
            if everything and not _is_text(word):
                raise VectorFileError(
                    f"{collector.path}, word {entry} of {count}: {word[:40]!r} is no text; if the word before it has a "
                    "space, this format cannot hold it: save the vectors as text"
                )
            collector.add(word, np.frombuffer(window.content, "<f4", width, space + 1), entry)
        elif not word.isascii():
            collector.notice(word)
        position = space + 1 + size
    if window.content[position : window.length].strip() or file.read(BLOCK).strip():
        raise VectorFileError(
            f"{collector.path}: the first line promises {count} words, but the file goes on after"
        )
    return collector.finish(width, "word2vec binary")
