"""Read corpora in various formats: plain text, WikiExtractor, JSON lines, CSV and TSV, Parquet and Arrow."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from weatherglass.errors import CorpusError, MissingExtraError
from weatherglass.reliability.corpus.readers import (
    FIELDS,
    Reader,
    Texts,
    Where,
    field_named,
    matches,
    no_such_field,
    require_fields,
    text_lines,
)
from weatherglass.storage.child_process import Content, read_in_child
from weatherglass.storage.documents import parsed_json
from weatherglass.storage.reading import errors_in_one_line

if TYPE_CHECKING:
    import polars as pl


def plain_texts(_path: Path, stream: BinaryIO) -> Iterator[str]:
    """Yield the lines of the file."""
    yield from text_lines(stream)


PLAIN = Reader(plain_texts)


START, END = "<doc ", "</doc>"


def is_document_start(line: str) -> bool:
    """Return whether a line begins an article."""
    return line.startswith(START) and line.rstrip().endswith(">") and ' title="' in line


def wiki_texts(path: Path, stream: BinaryIO) -> Iterator[str]:
    """Yield the lines of the articles; the first line of each is its title.

    Raises:
        CorpusError: if an article is not closed, which means that the file is cut off.
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
        raise CorpusError(f"{path}: the file is cut off, because it ends within an article, without {END}")


WIKI_EXTRACTOR = Reader(wiki_texts)


DELETED = frozenset({"[deleted]", "[removed]"})
"""Text of a deleted comment in a dump."""


def is_json_object(line: str) -> bool:
    """Return whether a line is a JSON object; if the first line of a file is one, all other lines should be, too."""
    if not line.lstrip().startswith("{"):
        return False
    try:
        return isinstance(parsed_json(line), dict)
    except ValueError:
        return False


def json_texts(
    path: Path, stream: BinaryIO, fields: Sequence[str] = FIELDS, where: Where | None = None
) -> Iterator[str]:
    """Yield the lines of each object's text, which is the first of `fields` that the object has.

    Args:
        path: the path of the file, for messages.
        stream: the content of the file.
        fields: the fields in which the text may be.
        where: the values that fields must have; other objects are skipped.

    Raises:
        CorpusError: if a line is not a JSON object, no object has a text, or no object has a field of `where`.
    """
    where = where or {}
    has_text = False
    any_fits = not where
    names: dict[str, None] = {}
    seen: set[str] = set()
    for number, line in enumerate(text_lines(stream), 1):
        if not line.strip() or (len(seen) == len(where) and _cannot_fit(line, where)):
            continue
        try:
            record = parsed_json(line)
            seen |= {field for field in where if _value(record, field) is not None}
            if not all(matches(_value(record, field), wanted) for field, wanted in where.items()):
                names |= dict.fromkeys(record) if len(seen) < len(where) else {}
                continue
            any_fits = True
            found = (_value(record, field) for field in fields)
            text = next((value for value in found if isinstance(value, str)), None)
        except (ValueError, AttributeError, TypeError):
            raise CorpusError(f"{path}, line {number}: not a JSON object") from None
        if text is None:
            names |= dict.fromkeys(record) if not has_text else {}
            continue
        has_text = True
        if text not in DELETED:
            yield from text.splitlines()
    if len(seen) < len(where):
        require_fields(path, list(names), {field: () for field in where if field not in seen})
    if not has_text and any_fits:
        raise CorpusError(no_such_field(path, list(names), fields))


def _cannot_fit(line: str, where: Where) -> bool:
    """Return, without parsing, whether a line certainly lacks a wanted value, since a dump may have 100 GB.

    A value may be escaped in JSON, so only plain letters and digits are searched for, and only in lines without
    escapes.
    """
    lowered = line.lower()
    return "\\u00" not in lowered and any(
        all(one.isascii() and one.replace("_", "").isalnum() and one.lower() not in lowered for one in wanted)
        for wanted in where.values()
    )


def _value(record: dict[str, Any], field: str) -> Any:
    """Return the value of a field; "data.text" means the field `text` of the object in the field `data`."""
    if field in record or "." not in field:
        return record.get(field)
    outer, _, inner = field.partition(".")
    return _value(record[outer], inner) if isinstance(record.get(outer), dict) else None


def _texts_of_field(field: str) -> Texts:
    return partial(json_texts, fields=(field,))


def _texts_where(field: str, where: Where) -> Texts:
    return partial(json_texts, fields=(field,) if field else FIELDS, where=where)


JSON_LINES = Reader(json_texts, texts_of_field=_texts_of_field, texts_where=_texts_where)


LONGEST = 2**31 - 1
"""The maximum number of characters of a text; the library's default, 131 072, is less than a book."""


def delimited_texts(
    path: Path,
    stream: BinaryIO,
    delimiter: str = ",",
    fields: Sequence[str] = FIELDS,
    where: Where | None = None,
) -> Iterator[str]:
    """Yield the lines of each row's text; a quoted text may have several lines.

    Args:
        path: the path of the file, for messages.
        stream: the content of the file.
        delimiter: the character between two cells.
        fields: the columns in which the text may be.
        where: the values that columns must have; other rows are skipped.

    Raises:
        CorpusError: if no column has one of these names, or a row is too short.
    """
    csv.field_size_limit(LONGEST)
    rows = csv.reader(text_lines(stream, newline=""), delimiter=delimiter, strict=True)
    try:
        names = next(rows, [])
        column = names.index(field_named(path, names, fields))
        require_fields(path, names, where or {})
        conditions = [(names.index(name), wanted) for name, wanted in (where or {}).items()]
        last = max([column, *(place for place, _ in conditions)])
        for row in rows:
            if not row:
                continue
            if len(row) <= last:
                raise CorpusError(
                    f"{path}, line {rows.line_num}: {len(row)} columns, but '{names[last]}' is column {last + 1}"
                )
            if all(matches(row[place], wanted) for place, wanted in conditions):
                yield from row[column].splitlines()
    except csv.Error as error:
        raise CorpusError(f"{path}, line {rows.line_num}: not a table ({error})") from None


def _delimited_reader(delimiter: str) -> Reader:
    def texts_of_field(field: str) -> Texts:
        return partial(delimited_texts, delimiter=delimiter, fields=(field,))

    def texts_where(field: str, where: Where) -> Texts:
        return partial(
            delimited_texts, delimiter=delimiter, fields=(field,) if field else FIELDS, where=where
        )

    return Reader(
        partial(delimited_texts, delimiter=delimiter), texts_of_field=texts_of_field, texts_where=texts_where
    )


CSV, TSV = _delimited_reader(","), _delimited_reader("\t")


DAMAGED = "damaged, or not in the format that its name says"
ROWS = 20_000
"""The number of rows in memory at a time."""
PARQUET_FILE, ARROW_FILE = b"PAR1", b"ARROW1"
"""The first bytes of each format; Arrow streams, which Hugging Face writes, begin differently."""
STREAM_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
"""The last bytes of an Arrow stream. If they are missing, the library does not notice and returns the rows before."""


def column_texts(
    path: Path,
    _stream: BinaryIO,
    table: Callable[[Path], pl.LazyFrame],
    fields: Sequence[str] = FIELDS,
    where: Where | None = None,
) -> Iterator[str]:
    """Yield the lines of each row's text.

    Args:
        path: the file.
        table: a function that opens the file.
        fields: the columns in which the text may be.
        where: the values that columns must have; other rows are skipped.

    Raises:
        CorpusError: if the file cannot be read, no column has one of these names, or the column does not contain text.
    """
    try:
        import polars as pl
    except ImportError:
        raise MissingExtraError(
            f"{path}: reading it needs polars; run: pip install 'weatherglass[reliability]'"
        ) from None
    read_in_child(f"{__name__}:rehearsal", path, CorpusError)
    try:
        lazy = table(path)
        schema = lazy.collect_schema()
        field = field_named(path, schema.names(), fields)
        if schema[field] not in (pl.String, pl.Categorical):
            raise CorpusError(f"{path}: the column '{field}' contains {schema[field]}, not text")
        require_fields(path, schema.names(), where or {})
        columns = [
            pl.col(field).cast(pl.String).alias("text"),
            *(pl.col(name).cast(pl.String).alias(f"where {name}") for name in where or {}),
        ]
        for part in _parts(lazy.select(columns)):
            for name, wanted in (where or {}).items():
                fits = pl.col(f"where {name}").str.to_lowercase().is_in([one.lower() for one in wanted])
                part = part.filter(fits)
            for text in part["text"]:
                yield from (text or "").splitlines()
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise CorpusError(f"{path}: {DAMAGED} ({_first_line(error)})") from None


def rehearsal(path: Path) -> Content:
    """Read all texts of a file and discard them, in a child process, since polars may crash on a damaged file.

    A crash would end the study, and a panic would fill the terminal. If the child can read a file, it is safe.
    """
    import polars as pl

    with errors_in_one_line(str(path), DAMAGED, "get it again", CorpusError):
        with path.open("rb") as file:
            is_parquet = file.read(len(PARQUET_FILE)) == PARQUET_FILE
        lazy = _parquet(path) if is_parquet else _arrow(path)
        kinds = lazy.collect_schema().items()
        for column in [name for name, kind in kinds if kind in (pl.String, pl.Categorical)]:
            for part in _parts(lazy.select(pl.col(column).cast(pl.String))):
                part.to_series().to_list()
    return None, {}


def _parts(lazy: pl.LazyFrame) -> Iterator[pl.DataFrame]:
    start = 0
    while len(part := lazy.slice(start, ROWS).collect()):
        yield part
        start += len(part)


def _parquet(path: Path) -> pl.LazyFrame:
    import polars as pl

    return pl.scan_parquet(path, glob=False)


def _arrow(path: Path) -> pl.LazyFrame:
    import polars as pl

    with path.open("rb") as file:
        is_file = file.read(len(ARROW_FILE)) == ARROW_FILE
        if not is_file:
            file.seek(max(0, path.stat().st_size - len(STREAM_END)))
            if file.read() != STREAM_END:
                raise CorpusError(f"{path}: {DAMAGED} (the Arrow stream has no end-of-stream marker)")
    # A stream has no index, so it is read as a whole. Hugging Face splits a data set into files of at most 500 MB.
    return pl.scan_ipc(path) if is_file else pl.read_ipc_stream(path).lazy()


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _column_reader(table: Callable[[Path], pl.LazyFrame]) -> Reader:
    def texts_of_field(field: str) -> Texts:
        return partial(column_texts, table=table, fields=(field,))

    def texts_where(field: str, where: Where) -> Texts:
        return partial(column_texts, table=table, fields=(field,) if field else FIELDS, where=where)

    return Reader(partial(column_texts, table=table), texts_of_field=texts_of_field, texts_where=texts_where)


PARQUET, ARROW = _column_reader(_parquet), _column_reader(_arrow)
