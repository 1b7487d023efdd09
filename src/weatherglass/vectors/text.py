"""Read word vectors in word2vec's text and binary formats, fastText .vec and GloVe text.

In a text file, numpy finds the ends of lines and counts the separators of every line, so that every ragged line is
detected; only the lines of wanted words are parsed. If all words are wanted, a compiled loop reads the plain lines, and
Python reads the others. A word may contain spaces (GloVe 840B has ". . ."); the last d fields of a line are its
numbers, and the rest is the word. A binary file has a line "words dimensions" and then, for each word, the word, a
space and float32 numbers.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from weatherglass.errors import VectorFileError
from weatherglass.vectors.collector import Collector, EveryWord, Kernel, WordVectors, load_kernel
from weatherglass.warnings import Warning, counted

BLOCK = 2**20
"""The number of bytes read at a time; larger blocks do not fit into the processor's cache and are slower."""

LONGEST_LINE = 64 * 2**20
SAMPLE = 1000
"""The number of lines used to detect the number of dimensions."""

HEADER = re.compile(rb"[ \t]*(\d{1,12})[ \t]+(\d{1,7})[ \t]*\r?(?:\n|\Z)")
"""The first line of a word2vec file: the number of words and the number of dimensions."""

TWO_NUMBERS = re.compile(rb"[ \t]*\d+[ \t]+\d+[ \t]*\r?")

SPACE, NEWLINE = ord(" "), ord("\n")

MANY_NUMBERS = 2**17
"""The minimum count of numbers for which loading the compiled loop saves time; Python parses this many in 50 ms."""


@dataclass(frozen=True, slots=True)
class LineLayout:
    """The layout of the lines of a file."""

    width: int
    """The count of numbers on a line."""
    separators: int
    """The number of spaces on a regular line; word2vec and fastText end each line with a space."""
    tabs: bool
    """Whether tabs also separate fields."""
    count: int | None
    """The number of words according to the first line; None without a header."""

    @property
    def expected(self) -> str:
        """Return the width and its source for messages."""
        source = "most lines have" if self.count is None else "the first line states"
        return f"{source} {self.width}"


def read_text(file: BinaryIO, collector: Collector) -> WordVectors:
    """Read the wanted words from lines of text.

    Raises:
        VectorFileError: if it is not a file of vectors, is ragged, or does not have the stated number of lines.
    """
    unfinished: list[bytes] = []
    blocks = _blocks(file, collector, unfinished)
    # Two blocks are read, since the first could contain only the header.
    start = b"".join(itertools.islice(blocks, 2)).removeprefix(b"\xef\xbb\xbf")
    layout = detect_layout(start, collector)
    scan = _Scan(layout, collector, start)
    if layout.count is not None:
        start = start[start.index(b"\n") + 1 :]
        scan.line = 1
        if isinstance(collector.wanted, EveryWord):
            collector.reserve(layout.count, layout.width, 2 * layout.width + 2)
    for block in itertools.chain([start] if start else [], blocks):
        scan.block(block)
    if layout.count not in (None, scan.words):
        raise VectorFileError(
            f"{collector.path}: the first line states {layout.count} words, but {scan.words} follow; "
            "the file may be cut off"
        )
    if unfinished and unfinished[0].strip():
        scan.check_end(unfinished[0])
    return collector.finish(layout.width, "GloVe text" if layout.count is None else "word2vec text")


def _blocks(file: BinaryIO, collector: Collector, unfinished: list[bytes]) -> Iterator[bytes]:
    """Yield blocks of whole lines, and also append a last line without a newline to `unfinished`."""
    rest = b""
    while piece := file.read(BLOCK):
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield rest + piece[:cut]
            rest = piece[cut:]
        else:
            rest += piece
        if len(rest) > LONGEST_LINE:
            raise VectorFileError(
                f"{collector.path}: not a file of word vectors (a line is longer than 64 MB)"
            )
    if rest:
        unfinished.append(rest)
        yield rest + b"\n"


def detect_layout(block: bytes, collector: Collector) -> LineLayout:
    """Detect the layout from the first lines.

    Raises:
        VectorFileError: if the lines are not words followed by numbers.
    """
    header = HEADER.match(block)
    lines = [line for line in block.split(b"\n", SAMPLE)[:SAMPLE] if line.strip()]
    if not lines:
        raise VectorFileError(f"{collector.path}: not a file of word vectors (its first lines are blank)")
    if TWO_NUMBERS.fullmatch(lines[0]) and not _is_vector_of_one(lines):
        if header is None or int(header[2]) == 0:
            raise VectorFileError(
                f"{collector.path}: the first line is {lines[0].strip()[:40].decode()!r}, which cannot be "
                "the number of words and the number of dimensions"
            )
        count, width = int(header[1]), int(header[2])
        lines = lines[1:]
    else:
        count, width = None, Counter(len(_fields(line)) - 1 for line in lines).most_common(1)[0][0]
    usual = next((line for line in lines if len(_fields(line)) == width + 1), b"")
    if count is None and not has_numbers(usual, width):
        raise VectorFileError(f"{collector.path}: not a file of word vectors ({_begins(lines[0])})")
    tabs = b"\t" in usual
    separators = usual.count(b" ") + (usual.count(b"\t") if tabs else 0)
    return LineLayout(width, separators, tabs, count)


def _is_vector_of_one(lines: list[bytes]) -> bool:
    """Return whether a first line like "5 3" is a word and its number; the next line then also has two fields."""
    return len(lines) > 1 and len(_fields(lines[1])) == 2 and _fields(lines[0])[1] != b"1"


def _fields(line: bytes) -> list[bytes]:
    return line.rstrip(b" \t\r").replace(b"\t", b" ").split(b" ")


def has_numbers(line: bytes, width: int) -> bool:
    """Return whether a line is a word with `width` numbers."""
    fields = _fields(line)
    return 1 <= width < len(fields) and None not in map(_number, fields[-width:])


def _number(field: bytes) -> float | None:
    """Return the number in a field; None if it is not a number, or is written like 1_000, which Python accepts."""
    try:
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def _begins(line: bytes) -> str:
    start = line.strip()[:40].decode("utf-8", "replace")
    page = "; it looks like a web page" if start.lower().startswith(("<!doctype", "<html", "<?xml")) else ""
    return f"it begins with {start!r}{page}"


class _Scan:
    """A scan of a text file, which reads blocks of lines and counts the lines and words."""

    def __init__(self, layout: LineLayout, collector: Collector, start: bytes) -> None:
        self.layout = layout
        self.collector = collector
        self.line = 0
        self.words = 0
        wanted = collector.wanted
        # A wanted word may contain spaces, so its line is recognised by the part before the first space.
        self._first_fields: EveryWord | set[bytes] = (
            wanted if isinstance(wanted, EveryWord) else {word.partition(b" ")[0] for word in wanted}
        )
        numbers = len(start) // 8 if isinstance(wanted, EveryWord) else len(wanted) * layout.width
        self._read_lines = load_kernel("read_lines") if numbers >= MANY_NUMBERS else None

    def block(self, block: bytes) -> None:
        """Check every line of a block and keep the wanted ones."""
        if self.layout.tabs:
            block = block.replace(b"\t", b" ")
        characters = np.frombuffer(block, np.uint8)
        if isinstance(self.collector.wanted, EveryWord) and self._read_lines is not None:
            self._keep_every_line(block, characters, self.collector.wanted, self._read_lines)
            return
        ends = self._check(block, characters)
        self.words += len(ends)
        first_fields, find, start = self._first_fields, block.find, 0
        for number, end in enumerate(ends.tolist(), start=self.line + 1):
            space = find(b" ", start, end)
            if space > start:
                field = block[start:space]
                if field in first_fields:
                    self._add(block[start : end + 1], number)
                elif not field.isascii():
                    self.collector.notice(field)
            start = end + 1
        self.line += len(ends)

    def check_end(self, last: bytes) -> None:
        """Warn that a last line without a newline may be truncated, since every tool writes a newline.

        There is no warning if all numbers of the line have the same number of decimals.

        Raises:
            VectorFileError: if it has no numbers, or is the only line, so that its length cannot be checked.
        """
        path, line = self.collector.path, self.line
        if self.layout.count is None and line == 1:
            raise VectorFileError(
                f"{path}: ends inside its first line; it is cut off, or its last newline is missing"
            )
        if self.layout.count is None and self.layout.width == 1 and line == 2:
            raise VectorFileError(
                f"{path}: ends inside its second line, after one number; it is cut off, or its last newline is missing"
            )
        word, _ = self._split(last.replace(b"\t", b" ") if self.layout.tabs else last, line)
        fields = _fields(last)[-self.layout.width :]
        if len({len(field.partition(b".")[2]) for field in fields}) > 1 or b"." not in fields[-1]:
            shown, number = (part.decode("utf-8", "replace") for part in (word, fields[-1]))
            self.collector.warnings.append(
                Warning.of("cut-off-file", file=str(path), line=line, word=shown, number=number)
            )

    def _keep_every_line(
        self, block: bytes, characters: NDArray[np.uint8], every: EveryWord, read_lines: Kernel
    ) -> None:
        """Read plain lines in the compiled loop, and all other lines in Python."""
        position, line, checked, width = 0, self.line, False, self.layout.width
        words = np.empty(len(block), np.uint8)
        printable = np.empty(len(block), np.bool_)
        while position < len(block):
            most = (len(block) - position) // (2 * width + 1) + 1
            free = self.collector.free_rows(most, width)[:most]
            lines, position, used = read_lines(characters, position, free, words, printable)
            self.collector.keep(every.spell(words[:used].tobytes(), b"\n"), printable)
            line += lines
            if position < len(block):
                if not checked:
                    self._check(block, characters)
                    checked = True
                line += 1
                end = block.index(b"\n", position)
                if block[position : position + 1] not in (b" ", b"\n") and b" " in block[position:end]:
                    self._add(block[position : end + 1], line)
                position = end + 1
        self.words += line - self.line
        self.line = line

    def _check(self, block: bytes, characters: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Check lines with an irregular number of separators, and return the ends of all lines."""
        ends = np.flatnonzero(characters == NEWLINE)
        starts = np.concatenate(([0], ends[:-1] + 1))
        separators = np.add.reduceat(characters == SPACE, starts, dtype=np.int32)
        for line in np.flatnonzero(separators != self.layout.separators).tolist():
            content = block[starts[line] : ends[line]]
            if content.strip():
                self._split(content, self.line + line + 1)
            else:
                self.words -= 1
        return ends

    def _add(self, line: bytes, number: int) -> None:
        """Keep a line, which ends with a newline, if its word is wanted; the compiled loop reads plain lines."""
        lines = 0
        if self._read_lines is not None:
            row = np.empty((1, self.layout.width), dtype=np.float32)
            words, printable = np.empty(len(line), dtype=np.uint8), np.empty(1, dtype=np.bool_)
            lines, _, used = self._read_lines(np.frombuffer(line, np.uint8), 0, row, words, printable)
        word, numbers = (words[: used - 1].tobytes(), row[0]) if lines else self._split(line[:-1], number)
        if word in self.collector.wanted:
            self.collector.add(word, numbers, number)
        else:
            self.collector.notice(word)

    def _split(self, line: bytes, number: int) -> tuple[bytes, NDArray[np.float64]]:
        """Return the word and the numbers of one line."""
        width = self.layout.width
        fields = line.rstrip(b" \r").split(b" ")
        surplus = fields[1:-width]
        # "New York 0.1 …" is a word with a space; "York 0.2 0.1 …" has one number too many.
        if len(fields) <= width or (surplus and all(b"." in x and _number(x) is not None for x in surplus)):
            raise VectorFileError(
                f"{self.collector.path}, line {number}: {counted(len(fields) - 1, 'number')}, "
                f"but {self.layout.expected}"
            )
        word = b" ".join(fields[:-width])
        numbers = [_number(field) for field in fields[-width:]]
        if None in numbers:
            shown = fields[-width:][numbers.index(None)][:40].decode("utf-8", "replace")
            raise VectorFileError(f"{self.collector.path}, line {number}: {shown!r} is not a number")
        return word, np.array(numbers, dtype=np.float64)


FEW_BYTES = 2**20 - 1
"""The size in bytes up to which a file is read without the compiled loop."""

LONGEST_WORD = 2**14  # also in kernels.py, whose import loads numba
"""The number of bytes without a space from which the content is known not to be words."""

CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
BINARY_SAMPLE = 4096


def is_binary(head: bytes) -> bool:
    """Return whether a file with a word2vec header contains binary numbers instead of digits."""
    header = HEADER.match(head)
    if header is None:
        return False
    body = head[header.end() :]
    if has_numbers(body.partition(b"\n")[0], int(header[2])):
        return False
    # This is not a plain line, so it is binary numbers, which may all be printable, or text that is ragged.
    return not _is_text(body[:BINARY_SAMPLE]) or _has_entries(body, int(header[1]), int(header[2]))


def _has_entries(body: bytes, count: int, width: int) -> bool:
    """Return whether the body is exactly `count` words, each followed by a space and `width` binary numbers."""
    position = 0
    for _ in range(count):
        space = body.find(b" ", position)
        position = space + 1 + 4 * width
        if space < 0 or position > len(body):
            return False
    return count > 0 and not body[position:].strip()


def _is_text(sample: bytes) -> bool:
    """Return whether a sample is text; its last character may be cut off by the sampling, or by word2vec in a long
    word.
    """
    try:
        sample.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(sample) - 3:
            return False
    return not CONTROL.search(sample)


class _Window:
    """The part of a file that is being read, in one buffer."""

    def __init__(self, file: BinaryIO, start: bytes, longest_entry: int) -> None:
        """Create a window of the file, which begins with `start` and has room for the longest entry."""
        self.content = bytearray(max(BLOCK, longest_entry))
        self.content[: len(start)] = start
        self.length = len(start)
        self._file = file
        self._longest_entry = longest_entry

    def may_end_inside(self, position: int) -> bool:
        """Return whether an entry that starts at the position may continue beyond the buffer."""
        return self.length - position < self._longest_entry

    def find_space(self, position: int) -> int:
        """Return the end of the word that starts at the position; -1 if there is none."""
        return self.content.find(b" ", position, min(position + LONGEST_WORD, self.length))

    def move(self, position: int) -> bool:
        """Drop the bytes before the position and read more; return whether there was more to read."""
        rest = self.length - position
        self.content[:rest] = self.content[position : self.length]
        with memoryview(self.content) as view, view[rest:] as free:
            more: int = self._file.readinto(free)  # type: ignore[attr-defined]
        self.length = rest + more
        return more > 0


class _PlainEntries:
    """A reader of plain entries of a window in the compiled loop."""

    def __init__(self, collector: Collector, count: int, width: int, window: _Window) -> None:
        self._collector, self._count, self._width, self._window = collector, count, width, window
        self._content = np.frombuffer(window.content, np.uint8)
        self._words = np.empty(len(window.content), np.uint8)
        self._printable = np.empty(len(window.content), np.bool_)
        self._read_entries = load_kernel("read_entries")

    def keep(self, position: int, entries: int) -> tuple[int, int]:
        """Keep the entries from a position onward; return the total number of entries read, and the next position."""
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
    """Read the entries of a word2vec binary file, and keep the wanted ones.

    Raises:
        VectorFileError: if the file ends early, continues after its last word, or contains something else.
    """
    start = file.read(BINARY_SAMPLE)
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
                    f"{collector.path}, word {entry} of {count}: {word[:40]!r} is not text; if the word "
                    "before it contains a space, save the vectors as text, since this format cannot store "
                    "spaces"
                )
            collector.add(word, np.frombuffer(window.content, "<f4", width, space + 1), entry)
        elif not word.isascii():
            collector.notice(word)
        position = space + 1 + size
    if window.content[position : window.length].strip() or file.read(BLOCK).strip():
        raise VectorFileError(
            f"{collector.path}: the first line states {count} words, but the file continues after them"
        )
    return collector.finish(width, "word2vec binary")
