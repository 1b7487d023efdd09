"""Read the texts of a corpus from files in several formats, plain or compressed, from folders, or from standard
input.
"""

from __future__ import annotations

import codecs
import gzip
import io
import lzma
import shutil
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, cast

from weatherglass.errors import CorpusError, MissingExtraError, unreadable
from weatherglass.registry import Registry, did_you_mean
from weatherglass.storage.atomic import scratch_folder
from weatherglass.storage.installed import install_command
from weatherglass.storage.reading import errors_in_one_line, exists, is_folder, require_regular_file

CHUNK = 2**17
"""The number of bytes decompressed at a time."""

GZIP, XZ, ZSTANDARD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"
SUFFIXES = frozenset({".gz", ".xz", ".zst"})
"""Suffixes of compressed files, which do not show the format of the text."""
DAMAGED = (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error)
"""The exceptions raised when a truncated or damaged file is read."""


@contextmanager
def decompressed(path: Path) -> Iterator[BinaryIO]:
    """Yield the decompressed bytes of a file, detecting the compression from its first bytes."""
    with path.open("rb") as file:
        head = file.read(len(XZ))
    if path.suffix.lower() in SUFFIXES and not head.startswith((GZIP, XZ, ZSTANDARD)):
        raise EOFError(
            "its first bytes are not those of a compressed file; "
            f"if it is plain text, remove {path.suffix} from its name"
        )
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
    # Dumps of Reddit use a window of 2 GB, which the library refuses by default.
    decompressor = zstandard.ZstdDecompressor(max_window_size=2**31)
    return cast(BinaryIO, io.BufferedReader(_Frames(file, decompressor, zstandard.ZstdError), CHUNK))


class _Frames(io.RawIOBase):
    """A decompressor that reads zstandard frame by frame, since the library's reader does not notice a truncated
    file.
    """

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


Texts = Callable[[Path, BinaryIO], Iterator[str]]
"""A function that yields the documents of a file as lines of text, given its path (for messages) and decompressed
content.
"""
Where = Mapping[str, Sequence[str]]
"""The allowed values of each field of a record; case is ignored."""


@dataclass(frozen=True)
class Reader:
    """A format of corpus files."""

    texts: Texts
    version: int = 1
    """The version of the reader; it must change when the reader returns different texts, so that corpora are encoded
    again.
    """
    texts_of_field: Callable[[str], Texts] | None = None
    """A function that returns `texts` for the field or column with a given name; None for a format without fields."""
    texts_where: Callable[[str, Where], Texts] | None = None
    """A function that returns `texts` for a field and a filter of records; "" means the default field."""


TEXT, JSON_LINES, WIKI = "txt", "jsonl", "wiki"
BY_CONTENT = frozenset({TEXT, JSON_LINES, WIKI})
"""Formats that are detected from the first line, since dumps may have any suffix."""
TABLES = frozenset({".parquet", ".arrow"})
"""Suffixes of tables; a folder that contains a table is a data set, so that other files in it, such as README.md, are
not read.
"""
READERS: Registry[Reader] = Registry(
    "corpus format",
    {
        TEXT: "weatherglass.reliability.corpus.formats:PLAIN",
        JSON_LINES: "weatherglass.reliability.corpus.formats:JSON_LINES",
        WIKI: "weatherglass.reliability.corpus.formats:WIKI_EXTRACTOR",
        "csv": "weatherglass.reliability.corpus.formats:CSV",
        "tsv": "weatherglass.reliability.corpus.formats:TSV",
        "parquet": "weatherglass.reliability.corpus.formats:PARQUET",
        "arrow": "weatherglass.reliability.corpus.formats:ARROW",
    },
    entry_points="weatherglass.corpus_readers",
)
"""Readers by format; the suffix of a file determines its format, unless it is detected from the content."""

FIELDS = ("body", "text", "content")
"""The default fields of the text: in dumps of Reddit, in data sets of Hugging Face, and in others."""


def source_files(source: Path) -> list[Path]:
    """Return the file itself, or every file of a folder, sorted by name.

    Raises:
        CorpusError: if there is no file to read.
    """
    if is_folder(source):
        files = sorted(
            path
            for path in source.rglob("*")
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(source).parts)
        )
        tables = [path for path in files if path.suffix in TABLES and not path.name.startswith("cache-")]
        if not files:
            formats = " or ".join(f".{suffix}" for suffix in READERS.names())
            raise CorpusError(
                f"{source}: this folder contains no text; add {formats} files, either plain or compressed "
                "as .gz, .xz or .zst"
            )
        return tables or files
    if not exists(source):
        raise CorpusError(f"{source}: this corpus file or folder does not exist")
    require_regular_file(source, CorpusError)
    return [source]


def documents(path: Path, format: str = "", field: str = "", where: Where | None = None) -> Iterator[str]:
    """Yield the texts of a file.

    Args:
        path: the file.
        format: a name in READERS; if empty, the format is detected.
        field: the field or column with the text; if empty, the default of the format.
        where: the values that fields must have; other records are skipped.

    Raises:
        CorpusError: if the file is damaged or truncated, or does not have the expected format.
    """
    require_regular_file(path, CorpusError)
    with errors_in_one_line(
        str(path), "damaged, or not in the format that its name says", "get it again", CorpusError
    ):
        yield from _documents(path, format, field, where or {})


def _documents(path: Path, format: str, field: str, where: Where) -> Iterator[str]:
    try:
        name = format or format_of(path)
        reader = READERS.get(name)
        texts = reader.texts
        if where:
            if reader.texts_where is None:
                raise CorpusError(
                    f"{path}: this file was read as {name}, which has no fields, but 'where' is set"
                )
            texts = reader.texts_where(field, where)
        elif field:
            if reader.texts_of_field is None:
                raise CorpusError(
                    f"{path}: this file was read as {name}, which has no fields, but field = '{field}' is set"
                )
            texts = reader.texts_of_field(field)
        with decompressed(path) as stream:
            yield from texts(path, stream)
    except NotUnicodeError as error:
        raise CorpusError(f"{path}, line {error.line}: {error}") from None
    except DAMAGED as error:
        raise CorpusError(f"{path}: the compressed file is cut off or damaged ({error})") from None
    except OSError as error:
        raise CorpusError(unreadable(path, error)) from None


def reader_versions(files: Iterable[Path], format: str = "") -> dict[str, int]:
    """Return the versions of the readers of some files, by format.

    Versions are part of the key of an encoded corpus, except for plain text and JSON lines, where the content is
    enough.
    """
    formats = {format} if format else {format_of(path) for path in files}
    return {name: READERS.get(name).version for name in sorted(formats - {TEXT, JSON_LINES})}


def format_of(path: Path) -> str:
    """Return the format of a file, from its suffix (ignoring the suffix of a compression) or from its content."""
    name = path
    while name.suffix.lower() in SUFFIXES:
        name = name.with_suffix("")
    suffix = name.suffix.lower().removeprefix(".")
    if suffix in READERS and suffix not in BY_CONTENT:
        return suffix
    from weatherglass.reliability.corpus.formats import is_document_start, is_json_object

    require_regular_file(path, CorpusError)
    try:
        with decompressed(path) as stream:
            line = stream.readline().decode("utf-8-sig", errors="replace")
    except DAMAGED as error:
        raise CorpusError(f"{path}: the compressed file is cut off or damaged ({error})") from None
    except OSError as error:
        raise CorpusError(unreadable(path, error)) from None
    if line.startswith("PAR1"):
        return "parquet"
    return JSON_LINES if is_json_object(line) else WIKI if is_document_start(line) else TEXT


class NotUnicodeError(Exception):
    """A line that is not UTF-8; the message names the byte and the remedy."""

    def __init__(self, line: int, error: UnicodeDecodeError) -> None:
        start = error.object[:2]
        encoding = "utf-16" if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin1"
        super().__init__(
            f"not UTF-8 (byte 0x{error.object[error.start]:02x}); convert it with: iconv -f {encoding} -t utf-8"
        )
        self.line = line


def text_lines(stream: BinaryIO, newline: str | None = None) -> Iterator[str]:
    """Yield the lines of text of a stream of bytes.

    Args:
        stream: the bytes.
        newline: as in `open`; by default, every kind of line end becomes a newline.

    Raises:
        NotUnicodeError: if a line is not UTF-8; `documents` adds the path.
    """
    number = 0
    lines = io.TextIOWrapper(cast(IO[bytes], stream), encoding="utf-8-sig", newline=newline)
    try:
        for line in lines:
            number += 1
            yield line
    except UnicodeDecodeError as error:
        # A block is decoded as a whole, so its lines before the byte have not been yielded yet.
        raise NotUnicodeError(number + 1 + error.object[: error.start].count(b"\n"), error) from None


def require_fields(path: Path, names: Sequence[str], where: Where) -> None:
    """Refuse a filter on a field that the records do not have.

    Raises:
        CorpusError: if the field does not exist; the message names the existing fields.
    """
    for field in where:
        if field not in names:
            raise CorpusError(
                f"{path}: 'where' names the field '{field}', which does not exist (fields: "
                f"{', '.join(names)}){did_you_mean(field, names)}"
            )


def field_named(path: Path, names: Sequence[str], fields: Sequence[str]) -> str:
    """Return the first of `fields` that a table has.

    Raises:
        CorpusError: if the table has none of them; the message names the existing columns.
    """
    for field in fields:
        if field in names:
            return field
    raise CorpusError(no_such_field(path, names, fields))


def matches(value: object, wanted: Sequence[str]) -> bool:
    """Return whether the value of a field is one of the wanted values, ignoring case.

    >>> matches("AskScience", ["askscience"]), matches(None, ["askscience"])
    (True, False)
    """
    return value is not None and str(value).lower() in (one.lower() for one in wanted)


def no_such_field(path: Path, names: Sequence[str], fields: Sequence[str]) -> str:
    """Return the message about a missing field."""
    wanted = " or ".join(f"'{field}'" for field in fields)
    return (
        f"{path}: there is no text in a field {wanted} (fields: {', '.join(names)}); name the field with "
        '--field, or field = "…"'
    )


STANDARD_INPUT = Path("-")


@contextmanager
def as_file(source: Path, folder: Path) -> Iterator[Path]:
    """Yield `source` itself or, for "-", a temporary file in `folder` with the content of standard input.

    Raises:
        CorpusError: if standard input is a terminal or empty.
    """
    if source != STANDARD_INPUT:
        yield source
        return
    if sys.stdin is None or sys.stdin.isatty():
        raise CorpusError(
            "there is nothing to read from standard input; pipe a text into the command, or name a file"
        )
    with scratch_folder(folder) as scratch:
        copy = scratch / "standard input"
        with copy.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        if not copy.stat().st_size:
            raise CorpusError(
                "standard input is empty; to continue a stopped study, pipe the same text again"
            )
        try:
            yield copy
        except CorpusError as error:
            raise CorpusError(str(error).replace(str(copy), "standard input")) from None
