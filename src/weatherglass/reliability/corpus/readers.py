"""Read the texts of a corpus: a registry of readers by suffix, for plain or compressed files and folders of them."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO, cast

from weatherglass.errors import CorpusError, unreadable
from weatherglass.registry import Registry
from weatherglass.reliability.corpus.compression import DAMAGED, SUFFIXES, decompressed


@dataclass(frozen=True)
class Reader:
    """A format of corpus files."""

    texts: Callable[[Path, BinaryIO], Iterator[str]]
    """The documents of a file, each a line of text. The stream is decompressed; the path is for messages."""
    version: int = 1
    """Raise it when the reader gives other texts: corpora are then encoded again."""


TEXT, JSON_LINES = "txt", "jsonl"
READERS: Registry[Reader] = Registry(
    "corpus reader",
    {
        TEXT: "weatherglass.reliability.corpus.plain_text:READER",
        JSON_LINES: "weatherglass.reliability.corpus.json_lines:READER",
    },
    entry_points="weatherglass.corpus_readers",
)
"""Suffix without its dot -> reader. The two of ours are told apart by content, since dumps have any suffix or none."""


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
            formats = " or ".join(f".{suffix}" for suffix in READERS.names())
            raise CorpusError(
                f"{source}: this folder holds no text; put {formats} files in it, plain or .gz, .xz or .zst"
            )
        return files
    if not source.is_file():
        raise CorpusError(f"{source}: no such corpus file or folder")
    return [source]


def documents(path: Path) -> Iterator[str]:
    """The texts of a file.

    Raises:
        CorpusError: if the file is damaged or truncated, or is not what its reader expects.
    """
    try:
        suffix = _own_suffix(path) or _kind_of_content(path)
        with decompressed(path) as stream:
            yield from READERS.get(suffix).texts(path, stream)
    except DAMAGED as error:
        raise CorpusError(f"{path}: the compressed file is cut off or damaged ({error})") from None
    except OSError as error:
        raise CorpusError(unreadable(path, error)) from None


def reader_versions(files: Iterable[Path]) -> dict[str, int]:
    """Suffix -> version of the readers that are chosen by suffix.

    They belong to what a corpus is made from. Ours do not: the content alone says which of them reads it.
    """
    suffixes = sorted({_own_suffix(path) for path in files} - {""})
    return {suffix: READERS.get(suffix).version for suffix in suffixes}


def text_lines(stream: BinaryIO) -> IO[str]:
    """A stream of bytes as lines of text; invalid UTF-8 becomes U+FFFD."""
    return io.TextIOWrapper(cast(IO[bytes], stream), encoding="utf-8-sig", errors="replace")


def _own_suffix(path: Path) -> str:
    """The suffix, below that of a compression, if it is that of a reader which is not ours; else an empty text."""
    while path.suffix.lower() in SUFFIXES:
        path = path.with_suffix("")
    suffix = path.suffix.lower().removeprefix(".")
    return suffix if suffix in READERS and suffix not in (TEXT, JSON_LINES) else ""


def _kind_of_content(path: Path) -> str:
    from weatherglass.reliability.corpus.json_lines import is_json_object

    with decompressed(path) as stream:
        return JSON_LINES if is_json_object(text_lines(stream).readline()) else TEXT
