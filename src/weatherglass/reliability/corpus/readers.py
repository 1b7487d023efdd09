"""Read the texts of a corpus: a registry of formats, for plain or compressed files and folders of them."""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from weatherglass.errors import CorpusError, unreadable
from weatherglass.registry import Registry
from weatherglass.reliability.corpus.compression import DAMAGED, SUFFIXES, decompressed
from weatherglass.storage.reading import exists, is_folder, one_line, require_regular_file

Texts = Callable[[Path, BinaryIO], Iterator[str]]
"""The documents of a file, each a line of text. The stream is decompressed; the path is for messages."""


@dataclass(frozen=True)
class Reader:
    """A format of corpus files."""

    texts: Texts
    version: int = 1
    """Raise it when the reader gives other texts: corpora are then encoded again."""
    texts_of_field: Callable[[str], Texts] | None = None
    """The same for the text in a field or column of that name; None for a format without fields."""


TEXT, JSON_LINES, WIKI = "txt", "jsonl", "wiki"
BY_CONTENT = frozenset({TEXT, JSON_LINES, WIKI})
"""Formats that are recognised by the first line, since dumps have any suffix or none."""
TABLES = frozenset({".parquet", ".arrow"})
"""A folder with such files is a data set: its other files, such as README.md, are not a part of the text."""
READERS: Registry[Reader] = Registry(
    "corpus format",
    {
        TEXT: "weatherglass.reliability.corpus.plain_text:READER",
        JSON_LINES: "weatherglass.reliability.corpus.json_lines:READER",
        WIKI: "weatherglass.reliability.corpus.wiki_extractor:READER",
        "csv": "weatherglass.reliability.corpus.delimited:CSV",
        "tsv": "weatherglass.reliability.corpus.delimited:TSV",
        "parquet": "weatherglass.reliability.corpus.columns:PARQUET",
        "arrow": "weatherglass.reliability.corpus.columns:ARROW",
    },
    entry_points="weatherglass.corpus_readers",
)
"""Format -> reader; the format of a file is its suffix, unless it is recognised by its content."""

FIELDS = ("body", "text", "content")
"""Where the text is looked for if the user names no field: Reddit's dumps, HuggingFace's data sets, others."""


def source_files(source: Path) -> list[Path]:
    """The file itself, or every file of a folder, sorted by name.

    Raises:
        CorpusError: if there is nothing to read.
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
                f"{source}: this folder holds no text; put {formats} files in it, plain or .gz, .xz or .zst"
            )
        return tables or files
    if not exists(source):
        raise CorpusError(f"{source}: no such corpus file or folder")
    require_regular_file(source, CorpusError)
    return [source]


def documents(path: Path, format: str = "", field: str = "") -> Iterator[str]:
    """The texts of a file.

    Args:
        path: the file.
        format: a name of READERS; empty to recognise it.
        field: the field or column that holds the text; empty for the usual one of the format.

    Raises:
        CorpusError: if the file is damaged or truncated, or is not what its reader expects.
    """
    require_regular_file(path, CorpusError)
    with one_line(str(path), "damaged, or not what its name says", "get it again", CorpusError):
        yield from _documents(path, format, field)


def _documents(path: Path, format: str, field: str) -> Iterator[str]:
    try:
        name = format or format_of(path)
        reader = READERS.get(name)
        texts = reader.texts
        if field:
            if reader.texts_of_field is None:
                raise CorpusError(
                    f"{path}: read as {name}, which has no fields, but field = '{field}' is set"
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
    """Format -> version of the readers of some files.

    They belong to what a corpus is made from, except plain text and JSON lines: there the content alone says it.
    """
    formats = {format} if format else {format_of(path) for path in files}
    return {name: READERS.get(name).version for name in sorted(formats - {TEXT, JSON_LINES})}


def format_of(path: Path) -> str:
    """The format of a file, by its suffix below that of a compression, else by its content."""
    name = path
    while name.suffix.lower() in SUFFIXES:
        name = name.with_suffix("")
    suffix = name.suffix.lower().removeprefix(".")
    if suffix in READERS and suffix not in BY_CONTENT:
        return suffix
    from weatherglass.reliability.corpus.json_lines import is_json_object
    from weatherglass.reliability.corpus.wiki_extractor import is_document_start

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
    """A line that is not UTF-8; the text says which byte and what to do."""

    def __init__(self, line: int, error: UnicodeDecodeError) -> None:
        start = error.object[:2]
        encoding = "utf-16" if start in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else "latin1"
        super().__init__(
            f"not UTF-8 (byte 0x{error.object[error.start]:02x}); convert it, such as by: iconv -f {encoding} -t utf-8"
        )
        self.line = line


def text_lines(stream: BinaryIO, newline: str | None = None) -> Iterator[str]:
    """A stream of bytes as lines of text.

    Args:
        newline: as in `open`; by default every kind of line end becomes a newline.

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
        # A block is decoded at once: the lines of it before the byte have not been given yet.
        raise NotUnicodeError(number + 1 + error.object[: error.start].count(b"\n"), error) from None


def field_named(path: Path, names: Sequence[str], fields: Sequence[str]) -> str:
    """The first of `fields` that a table has.

    Raises:
        CorpusError: naming the columns that there are.
    """
    for field in fields:
        if field in names:
            return field
    raise CorpusError(no_such_field(path, names, fields))


def no_such_field(path: Path, names: Sequence[str], fields: Sequence[str]) -> str:
    """The line about a field that is not there."""
    wanted = " or ".join(f"'{field}'" for field in fields)
    return (
        f'{path}: no text in a field {wanted} (fields: {", ".join(names)}); name it: --field, or field = "…"'
    )
