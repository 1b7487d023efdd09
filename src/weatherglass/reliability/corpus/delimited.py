"""CSV and TSV: a row of column names, and the texts in one of the columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from weatherglass.errors import CorpusError
from weatherglass.reliability.corpus.readers import FIELDS, Reader, Texts, field_named, text_lines

LONGEST = 2**31 - 1
"""Characters of a text; the library's limit of 131 072 is less than a book."""


def texts(
    path: Path, stream: BinaryIO, delimiter: str = ",", fields: Sequence[str] = FIELDS
) -> Iterator[str]:
    """The lines of each row's text; a text may have several, in quotes.

    Raises:
        CorpusError: if no column has the name, or a row is too short to have it.
    """
    csv.field_size_limit(LONGEST)
    rows = csv.reader(text_lines(stream, newline=""), delimiter=delimiter, strict=True)
    try:
        names = next(rows, [])
        column = names.index(field_named(path, names, fields))
        for row in rows:
            if not row:
                continue
            if len(row) <= column:
                raise CorpusError(
                    f"{path}, line {rows.line_num}: {len(row)} columns, but '{names[column]}' is number {column + 1}"
                )
            yield from row[column].splitlines()
    except csv.Error as error:
        raise CorpusError(f"{path}, line {rows.line_num}: not a table ({error})") from None


def _reader(delimiter: str) -> Reader:
    def texts_of_field(field: str) -> Texts:
        return partial(texts, delimiter=delimiter, fields=(field,))

    return Reader(partial(texts, delimiter=delimiter), texts_of_field=texts_of_field)


CSV, TSV = _reader(","), _reader("\t")
