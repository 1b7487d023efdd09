"""Parquet and Arrow: a column of texts, read a part at a time; also the files of HuggingFace's `save_to_disk`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from weatherglass.errors import CorpusError, MissingExtraError
from weatherglass.reliability.corpus.readers import FIELDS, Reader, Texts, field_named
from weatherglass.storage.child_process import Content, read_in_child
from weatherglass.storage.reading import one_line

if TYPE_CHECKING:
    import polars as pl

DAMAGED = "damaged, or not what its name says"
ROWS = 20_000
"""Rows in memory at a time."""
PARQUET_FILE, ARROW_FILE = b"PAR1", b"ARROW1"
"""How files begin; a stream of it, which HuggingFace writes, begins otherwise."""
STREAM_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"
"""How a stream ends; its reader does not miss it, and gives the rows that there are."""


def texts(
    path: Path, _stream: BinaryIO, table: Callable[[Path], pl.LazyFrame], fields: Sequence[str] = FIELDS
) -> Iterator[str]:
    """The lines of each row's text.

    Raises:
        CorpusError: if the file cannot be read, no column has the name, or it does not hold text.
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
            raise CorpusError(f"{path}: the column '{field}' holds {schema[field]}, not text")
        for part in _parts(lazy.select(pl.col(field).cast(pl.String))):
            for text in part:
                yield from (text or "").splitlines()
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise CorpusError(f"{path}: {DAMAGED} ({_first_line(error)})") from None


def rehearsal(path: Path) -> Content:
    """Read all texts of a file and forget them: in a child process, since polars may crash on a damaged file.

    A crash would end the study, and a panic would fill the terminal; what a child reads whole can be read again.
    """
    import polars as pl

    with one_line(str(path), DAMAGED, "get it again", CorpusError):
        with path.open("rb") as file:
            is_parquet = file.read(len(PARQUET_FILE)) == PARQUET_FILE
        lazy = _parquet(path) if is_parquet else _arrow(path)
        kinds = lazy.collect_schema().items()
        for column in [name for name, kind in kinds if kind in (pl.String, pl.Categorical)]:
            for part in _parts(lazy.select(pl.col(column).cast(pl.String))):
                part.to_list()
    return None, {}


def _parts(lazy: pl.LazyFrame) -> Iterator[pl.Series]:
    start = 0
    while len(part := lazy.slice(start, ROWS).collect()):
        yield part.to_series()
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
                raise CorpusError(f"{path}: {DAMAGED} (an Arrow stream without the mark of its end)")
    # A stream has no index: it is read whole. HuggingFace splits a data set into files of at most 500 MB.
    return pl.scan_ipc(path) if is_file else pl.read_ipc_stream(path).lazy()


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _reader(table: Callable[[Path], pl.LazyFrame]) -> Reader:
    def texts_of_field(field: str) -> Texts:
        return partial(texts, table=table, fields=(field,))

    return Reader(partial(texts, table=table), texts_of_field=texts_of_field)


PARQUET, ARROW = _reader(_parquet), _reader(_arrow)
