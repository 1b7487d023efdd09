"""Open a plain or compressed file: which compression, the first bytes say, and that there is one, the name, too."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from weatherglass.errors import MissingExtraError
from weatherglass.storage.installed import install_command

CHUNK = 2**17
"""Bytes decompressed at a time."""

GZIP, XZ, ZSTANDARD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
SUFFIXES = frozenset({".gz", ".xz", ".zst"})
"""Endings of a name that say nothing about the format of the text."""
DAMAGED = (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error)
"""What reading a file that is cut off or damaged raises."""


@contextmanager
def decompressed(path: Path) -> Iterator[BinaryIO]:
    """The decompressed bytes of a file; the compression is recognised by the first bytes."""
    with path.open("rb") as file:
        head = file.read(len(XZ))
    if path.suffix.lower() in SUFFIXES and not head.startswith((GZIP, XZ, ZSTANDARD)):
        raise EOFError(f"it does not begin like one; if it is plain text, take {path.suffix} off its name")
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
            f"{path} is compressed with zstandard; run: {install_command('reliability')}"
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
