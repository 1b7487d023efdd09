"""The tidy tables of a study, and their files: TSV for people, parquet for programs, written atomically."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

import polars as pl

from weatherglass.errors import CorpusError
from weatherglass.registry import did_you_mean
from weatherglass.reliability.rows import Columns, Row, WordScore
from weatherglass.storage.atomic import whole_file

FOLDER = "tables"

CONDITION = ("corpus", "algorithm", "pairs")
ICC, ALPHA = ("icc", "low", "high"), ("alpha", "low", "high")
GROUPS = ("low_groups", "high_groups", "groups")
BOX = ("low_whisker", "lower_quartile", "median", "upper_quartile", "high_whisker")
COLUMNS = {
    "scores": (*CONDITION, "word"),
    "words": tuple(field.name for field in fields(WordScore)),
    "test_retest_words": (*CONDITION, "rule", "word", *ICC, *GROUPS),
    "inter_rater_words": (*CONDITION, "scale", "word", *ICC, *GROUPS),
    "test_retest_pairs": (*CONDITION, "rule", "list", "pair", *ICC, "words", "note"),
    "inter_rater_pairs": (*CONDITION, "scale", "list", "pair", *ICC, "words", "note"),
    "consistency_queries": (
        *CONDITION,
        "rule",
        "query",
        *ALPHA,
        "items",
        "cases",
        "note",
        *GROUPS,
        "note_groups",
    ),
    "consistency_pairs": (*CONDITION, "rule", "list", *ALPHA, "items", "cases", "note"),
    "pearson": (*CONDITION, "rules", "r", "low", "high", "words"),
    "summary": (
        *(*CONDITION, "measure", "by", "list", "words", *BOX, "median_low", "median_high", "note"),
        *("median_low_groups", "median_high_groups", "groups", "note_groups"),
    ),
    "seed_batches": (*CONDITION, "rule", "seeds", "batch", "which", *BOX),
    "seed_numbers": (*CONDITION, "rule", "seeds", *ICC, "width", "extrapolated"),
    "claims": ("claim", *CONDITION, "by", "median", "threshold", "verdict", "size", "low", "high", "note"),
    "pairs": (*CONDITION, "present", "of"),
    "missing": ("corpus", "algorithm", "kind", "name", "entry"),
}
"""The columns of every table of a study; an empty table has them, too. `scores` has one more for each rule."""

FLOATS = {
    *(*ICC, "alpha", *BOX, "median_low", "median_high", "r", "width", "threshold"),
    *("score", "p_value", "p_adjusted", "p_these_seeds", "p_these_seeds_adjusted", "icc_low", "icc_high"),
    *("low_groups", "high_groups", "median_low_groups", "median_high_groups"),
}
INTEGERS = {"groups", "words", "items", "cases", "seeds", "batch", "present", "of", "rank"}


def columns_of(name: str, rules: Sequence[str]) -> tuple[str, ...]:
    """The columns of a table of a study with these rules."""
    return (*COLUMNS[name], *rules) if name == "scores" else COLUMNS[name]


def empty_table(name: str, rules: Sequence[str]) -> pl.DataFrame:
    """The table of that name, without rows."""
    kinds: dict[str, type[pl.DataType]] = {
        **dict.fromkeys((*FLOATS, *rules), pl.Float64),
        **dict.fromkeys(INTEGERS, pl.Int64),
        "extrapolated": pl.Boolean,
    }
    return pl.DataFrame(schema={column: kinds.get(column, pl.String) for column in columns_of(name, rules)})


def build_table(name: str, parts: Sequence[Columns], rules: Sequence[str]) -> pl.DataFrame:
    """One table of a study with these rules, from its parts; a single value in a part is repeated for all rows."""
    frames = []
    for part in parts:
        length = max((len(values) for values in part.values() if _is_column(values)), default=1)
        frames.append(
            pl.DataFrame(
                {name: values if _is_column(values) else [values] * length for name, values in part.items()}
            )
        )
    return pl.concat(frames, how="vertical_relaxed") if frames else empty_table(name, rules)


def _is_column(values: object) -> bool:
    return getattr(values, "ndim", 0) == 1 or isinstance(values, list)


def write_tables(folder: Path, tables: Mapping[str, pl.DataFrame]) -> None:
    """Write NAME.tsv and NAME.parquet of every table."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables.items():
        for suffix in ("tsv", "parquet"):
            path = folder / f"{name}.{suffix}"
            with whole_file(path) as unfinished:
                if suffix == "tsv":
                    _write_tsv(table, unfinished)
                else:
                    table.write_parquet(unfinished)


def _write_tsv(table: pl.DataFrame, path: Path) -> None:
    """With 6 decimals; with 6 significant digits where there is a p, which may be far smaller."""
    if "p_value" in table.columns:
        rounded = table.with_columns(pl.col(pl.Float64).round_sig_figs(6))
        rounded.write_csv(path, separator="\t")
    else:
        table.write_csv(path, separator="\t", float_precision=6)


def read_tables(folder: Path) -> dict[str, pl.DataFrame]:
    """The tables of a study, read from the folder.

    Raises:
        CorpusError: if there are none.
    """
    tables = {path.stem: pl.read_parquet(path) for path in sorted(folder.glob("*.parquet"))}
    if not tables:
        raise CorpusError(f"{folder}: no tables here; run: weatherglass reliability assess STUDY.toml")
    return tables


def read_rows(table: pl.DataFrame, kind: type[Row]) -> list[Row]:
    """The rows of a table as what they are; columns that the class does not have are left out."""
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    return [kind(**row) for row in table.select(names).iter_rows(named=True)]


def read_word(folder: Path, word: str) -> list[WordScore]:
    """The score of one word in every condition and by every rule, from the tables of a study.

    Raises:
        CorpusError: if the folder has no table `words`, or the table does not have the word.
    """
    path = folder / "words.parquet"
    if not path.is_file():
        raise CorpusError(f"{path}: no such table; run: weatherglass reliability assess STUDY.toml")
    table = pl.scan_parquet(path)
    rows = read_rows(table.filter(pl.col("word") == word).collect(), WordScore)
    if not rows:
        known = table.select(pl.col("word").unique(maintain_order=True)).collect()["word"].to_list()
        raise CorpusError(
            f"'{word}' has no score in this study: none of its corpora has the word often enough"
            f"{did_you_mean(word, known)}"
        )
    return rows
