"""Read the text of a corpus: plain or compressed files, folders, JSON lines; and split it into tokens."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, cast, get_args

from weatherglass.errors import CorpusError, MissingExtraError, unreadable
from weatherglass.registry import one_of

FIELD = "body"
"""The field of a JSON line that holds the text, as in Reddit's dumps."""

DELETED = frozenset({"[deleted]", "[removed]"})
"""Text of a deleted comment in a dump."""

URL = re.compile(r"(?:https?://|www\.)\S+")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”’)\]]*\s+")
WORD = re.compile(r"</?[A-Za-z]+>|[^\W_]+(?:'[^\W_]+)*")
"""A word, or a mark such as WikiText's <unk>, which stays one token so that it is not taken for the word "unk"."""

CHUNK = 2**17
"""Bytes decompressed at a time."""

GZIP, XZ, ZSTANDARD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"


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


def source_files(source: Path) -> list[Path]:
    """The file itself, or every file of a folder, sorted by name.

    Raises:
        CorpusError: if there is nothing to read.
    """
    if source.is_dir():
        files = sorted(
            path
            for path in source.rglob("*")
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(source).parts)
        )
        if not files:
            raise CorpusError(
                f"{source}: this folder holds no text; put .txt, .gz, .xz, .zst or .jsonl files in it"
            )
        return files
    if not source.is_file():
        raise CorpusError(f"{source}: no such corpus file or folder")
    return [source]


def documents(path: Path) -> Iterator[str]:
    """The lines of a text file, or the texts of a file of JSON lines; invalid UTF-8 becomes U+FFFD.

    Raises:
        CorpusError: if the file is damaged or truncated, or has a line that is not a JSON object.
    """
    try:
        with _open(path) as binary:
            lines = io.TextIOWrapper(cast(IO[bytes], binary), encoding="utf-8", errors="replace")
            first = lines.readline().lstrip("\ufeff")
            if _is_json(first):
                yield from _texts(path, first, lines)
            else:
                yield first
                yield from lines
    except (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error) as error:
        raise CorpusError(f"{path}: the compressed file is cut off or damaged ({error})") from None
    except OSError as error:
        raise CorpusError(unreadable(path, error)) from None


@contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    """The decompressed bytes of a file; the compression is recognised by the first bytes."""
    with path.open("rb") as file:
        head = file.read(6)
    if head.startswith(ZSTANDARD):
        with path.open("rb") as file:
            yield _decompress_zstandard(file, path)
        return
    open_compressed = gzip.open if head.startswith(GZIP) else lzma.open if head == XZ else open
    with open_compressed(path, "rb") as stream:
        yield cast(BinaryIO, stream)


def _decompress_zstandard(file: BinaryIO, path: Path) -> BinaryIO:
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError(
            f"{path} is compressed with zstandard; run: pip install 'weatherglass[reliability]'"
        ) from None
    # Reddit's dumps use a window of 2 GB, which the library refuses by default.
    decompressor = zstandard.ZstdDecompressor(max_window_size=2**31)
    return cast(BinaryIO, io.BufferedReader(_Frames(file, decompressor, zstandard.ZstdError), CHUNK))


class _Frames(io.RawIOBase):
    """Decompresses zstandard frame by frame; the library's own reader does not notice a truncated file."""

    def __init__(self, file: BinaryIO, decompressor: Any, damaged: type[Exception]) -> None:
        self._file, self._decompressor, self._damaged = file, decompressor, damaged
        self._frame: Any = None
        self._compressed = self._decompressed = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._decompressed:
            self._compressed = self._compressed or self._file.read(CHUNK)
            if not self._compressed:
                if self._frame is not None:
                    raise EOFError("it ends within a frame")
                return 0
            self._frame = self._frame or self._decompressor.decompressobj()
            try:
                self._decompressed = self._frame.decompress(self._compressed)
            except self._damaged as error:
                raise EOFError(str(error)) from None
            self._compressed = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._frame = None
        part = self._decompressed[: len(buffer)]
        buffer[: len(part)] = part
        self._decompressed = self._decompressed[len(part) :]
        return len(part)


def _is_json(line: str) -> bool:
    if not line.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _texts(path: Path, first: str, lines: IO[str]) -> Iterator[str]:
    number, line, has_text = 1, first, False
    while line:
        try:
            text = json.loads(line).get(FIELD) if line.strip() else None
        except (ValueError, AttributeError):
            raise CorpusError(
                f"{path}, line {number}: not a JSON object, though the first line is one"
            ) from None
        has_text = has_text or isinstance(text, str)
        if isinstance(text, str) and text not in DELETED:
            yield from text.splitlines()
        number, line = number + 1, lines.readline()
    if not has_text:
        raise CorpusError(f"{path}: JSON lines, but none has its text in the field '{FIELD}'")
