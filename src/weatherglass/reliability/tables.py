"""The tidy tables of a study, and their files: TSV for people, parquet for programs, written atomically."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import get_type_hints

import polars as pl

from weatherglass.errors import CorpusError
from weatherglass.registry import did_you_mean
from weatherglass.reliability.rows import ROWS, Columns, Row, WordScore
from weatherglass.storage.atomic import whole_file
from weatherglass.storage.checksum import MISMATCH, damaged_files, write_sums
from weatherglass.storage.spreadsheet import FORMULA, NUMBER

FOLDER = "tables"
REGRESSION = ("features", "regression")
"""Tables of the regression, which have columns of their own."""

COLUMNS = {name: tuple(field.name for field in fields(kind)) for name, kind in ROWS.items()}
"""The columns of every table of a study; an empty table has them, too. `scores` has one more for each rule."""
TYPES: dict[type, type[pl.DataType]] = {str: pl.String, float: pl.Float64, int: pl.Int64, bool: pl.Boolean}


def schema_of(name: str, rules: Sequence[str]) -> dict[str, type[pl.DataType]]:
    """The columns of a table of a study with these rules, and their types, as the class of its rows has them."""
    hints = get_type_hints(ROWS[name])
    own = {column: TYPES[hints[column]] for column in COLUMNS[name]}
    return {**own, **dict.fromkeys(rules, pl.Float64)} if name == "scores" else own


def build_table(name: str, parts: Sequence[Columns], rules: Sequence[str]) -> pl.DataFrame:
    """One table of a study with these rules, from its parts; a single value in a part is repeated for all rows.

    Raises:
        TypeError: if a part has other columns than the table.
    """
    schema = schema_of(name, rules)
    frames = [pl.DataFrame(schema=schema)]
    for part in parts:
        if part.keys() != schema.keys():
            raise TypeError(f"table {name}: {sorted(part.keys() ^ schema.keys())} missing or unknown")
        length = max((len(values) for values in part.values() if _is_column(values)), default=1)
        columns = {
            column: part[column] if _is_column(part[column]) else [part[column]] * length for column in schema
        }
        frames.append(pl.DataFrame(columns).cast(schema))  # type: ignore[arg-type]
    return pl.concat(frames)


def _is_column(values: object) -> bool:
    return getattr(values, "ndim", 0) == 1 or isinstance(values, list)


def write_tables(folder: Path, tables: Mapping[str, pl.DataFrame]) -> None:
    """Write NAME.tsv and NAME.parquet of every table, and their checksums."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        for suffix in ("tsv", "parquet"):
            path = folder / f"{name}.{suffix}"
            with whole_file(path) as unfinished:
                if suffix == "tsv":
                    _write_tsv(table, unfinished)
                else:
                    _write_parquet(table, unfinished)
    write_sums(folder, [f"{name}.{suffix}" for name in tables for suffix in ("tsv", "parquet")])


def _write_parquet(table: pl.DataFrame, path: Path) -> None:
    try:
        table.write_parquet(path)
    except pl.exceptions.ComputeError as error:  # a full disk is one
        raise OSError(str(error)) from None


def _write_tsv(table: pl.DataFrame, path: Path) -> None:
    """With 6 decimals; with 6 significant digits where there is a p, which may be far smaller."""
    texts = pl.col(pl.String)
    runs = texts.str.contains(FORMULA) & ~texts.str.contains(NUMBER)
    table = table.with_columns(pl.when(runs).then("'" + texts).otherwise(texts).name.keep())
    if "p_value" in table.columns:
        rounded = table.with_columns(pl.col(pl.Float64).round_sig_figs(6))
        rounded.write_csv(path, separator="\t")
    else:
        table.write_csv(path, separator="\t", float_precision=6)


def read_tables(folder: Path) -> dict[str, pl.DataFrame]:
    """The tables of a study, read from the folder; files with other names than a study's tables have are passed over.

    Raises:
        CorpusError: if there are none, or one is damaged.
    """
    paths = [path for path in sorted(folder.glob("*.parquet")) if path.stem in (*ROWS, *REGRESSION)]
    _require_whole(folder, [path.name for path in paths])
    tables = {path.stem: pl.read_parquet(path) for path in paths}
    if not tables:
        raise CorpusError(f"{folder}: no tables here; run: weatherglass reliability assess STUDY.toml")
    return tables


def _require_whole(folder: Path, names: Sequence[str]) -> None:
    if damaged := damaged_files(folder, names):
        raise CorpusError(
            f"{folder / damaged[0]}: {MISMATCH}; run: weatherglass reliability assess STUDY.toml -o {folder.parent}"
        )


def read_rows(table: pl.DataFrame, kind: type[Row]) -> list[Row]:
    """The rows of a table as what they are; columns that the class does not have are left out."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    return [kind(**row) for row in table.select(names).iter_rows(named=True)]


def read_word(folder: Path, word: str) -> list[WordScore]:
    """The score of one word in every condition and by every rule, from the tables of a study.

    Raises:
        CorpusError: if the folder has no table `words`, it is damaged, or does not have the word.
    """
    path = folder / "words.parquet"
    if not path.is_file():
        raise CorpusError(f"{path}: no such table; run: weatherglass reliability assess STUDY.toml")
    _require_whole(folder, [path.name])
    table = pl.scan_parquet(path)
    rows = read_rows(table.filter(pl.col("word") == word).collect(), WordScore)
    if not rows:
        known = table.select(pl.col("word").unique(maintain_order=True)).collect()["word"].to_list()
        raise CorpusError(
            f"'{word}' has no score in this study: none of its corpora has the word often enough"
            f"{did_you_mean(word, known)}"
        )
    return rows
