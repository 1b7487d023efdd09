"""The header of a GGUF file: its metadata, read without any library, so that a spec is checked before weights load.

Layout (ggml's docs/gguf.md): magic, version, number of tensors, number of entries, then the entries, each a key, a
type and a value. Arrays, which hold the vocabulary, are stepped over.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import Any

from weatherglass.errors import EncoderError
from weatherglass.storage.reading import reading

MAGIC = b"GGUF"
VERSIONS = (2, 3)

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The struct code of each type of number."""
STRING, ARRAY = 8, 9

SMALLEST_TENSOR = 8 + 4 + 4 + 8
"""Bytes that describe one: the length of its name, its dimensions, type and place."""

LONGEST = 2**26
"""Bytes of a text, or entries of a table, above which a file must be damaged."""


def read_metadata(path: Path) -> dict[str, Any]:
    """The entries that are no arrays, by key.

    Raises:
        EncoderError: if the file cannot be read, is no GGUF file, or is damaged.
    """
    with reading(path, EncoderError, "a damaged GGUF file: it"):
        if path.stat().st_size == 0:
            raise EncoderError(f"{path}: the file is empty")
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if content[:4] != MAGIC:
                raise EncoderError(f"{path}: not a GGUF file (it does not begin with 'GGUF')")
            return _Reader(content).metadata()


class _Reader:
    """Reads values one after another."""

    def __init__(self, content: mmap.mmap) -> None:
        self.content = content
        self.at = len(MAGIC)

    def metadata(self) -> dict[str, Any]:
        if (version := self.number("I")) not in VERSIONS:
            raise ValueError(f"version {version}; known: {', '.join(map(str, VERSIONS))}")
        tensors = self.number("Q")
        if tensors * SMALLEST_TENSOR > len(self.content):
            raise ValueError(f"{tensors} tensors in {len(self.content)} bytes")
        entries = self.size()
        found = {}
        for _ in range(entries):
            key = self.text()
            value = self.value(self.number("I"))
            if value is not None:
                found[key] = value
        return found

    def number(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"<{code}", self.content, self.at)
        self.at += struct.calcsize(f"<{code}")
        return value

    def size(self) -> int:
        size = int(self.number("Q"))
        if size > LONGEST:
            raise ValueError(f"a length of {size} at byte {self.at}")
        return size

    def text(self) -> str:
        size = self.size()
        if self.at + size > len(self.content):
            raise ValueError(f"a text at byte {self.at} runs past the end")
        self.at += size
        return self.content[self.at - size : self.at].decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        """A number or a text; None for an array."""
        if kind == STRING:
            return self.text()
        if kind != ARRAY:
            if kind not in NUMBERS:
                raise ValueError(f"type {kind} at byte {self.at}")
            return self.number(NUMBERS[kind])
        inner, count = self.number("I"), self.size()
        if inner in NUMBERS:
            self.at += count * struct.calcsize(f"<{NUMBERS[inner]}")
        elif inner == STRING:
            for _ in range(count):
                size = self.size()
                self.at += size
        else:
            raise ValueError(f"an array of type {inner} at byte {self.at}")
        if self.at > len(self.content):
            raise ValueError("an array runs past the end")
        return None
