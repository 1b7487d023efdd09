"""Define the tidy tables of a study by the classes of their rows, and write and read them as TSV and Parquet."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from weatherglass.errors import CorpusError
from weatherglass.registry import did_you_mean
from weatherglass.storage.atomic import whole_file
from weatherglass.storage.checksum import MISMATCH, damaged_files, write_sums
from weatherglass.storage.printable import FORMULA, NUMBER

if TYPE_CHECKING:
    import polars as pl

Columns = dict[str, Any]
"""A tidy table, or a part of one, as columns of equal length by name; a single value applies to all rows."""

SHOWN, THESE_SEEDS, CANNOT_TELL = "shown", "shown for these seeds", "cannot tell"
"""The verdicts on a word: it leans to one end for any seeds, only for the seeds of the study, or this is unknown."""


@dataclass(frozen=True, slots=True)
class StudyCondition:
    """The corpus, algorithm and set of base pairs of a row."""

    corpus: str
    algorithm: str
    pairs: str

    def columns(self) -> Columns:
        return {"corpus": self.corpus, "algorithm": self.algorithm, "pairs": self.pairs}


@dataclass(frozen=True, slots=True)
class MeanScore(StudyCondition):
    """A row of the table `scores`: the mean score of a word over pairs and seeds, with one column per rule."""

    word: str


@dataclass(frozen=True, slots=True)
class WordScore(StudyCondition):
    """A row of the table `words`: the score of a word by a rule, with its interval and p (docs/methods 7.2)."""

    rule: str
    word: str
    score: float
    """The mean over base pairs and seeds; if it is above 0, the word leans to the first words of the pairs."""
    low: float
    """The lower bound of the 95 % confidence interval, with base pairs and seeds as random factors."""
    high: float
    toward: str
    """The word of the first base pair to which the scored word leans."""
    verdict: str
    """The verdict by the corrected p at 0.05: `SHOWN`, `THESE_SEEDS` or `CANNOT_TELL`."""
    p_value: float
    """The two-sided p of a mean of 0, with base pairs and seeds as random factors."""
    p_adjusted: float
    """p, corrected over the words of the family with Holm's method for a target list and Benjamini–Hochberg's for
    other words.
    """
    p_these_seeds: float
    """The exact p from flipping the signs of the pairs' means, for the seeds of the study."""
    p_these_seeds_adjusted: float
    family: str
    """The study's first list that contains the word; p is corrected over all words with the same first list."""
    family_size: int
    icc: float
    """The test–retest reliability over seeds."""
    icc_low: float
    icc_high: float
    rank: int
    """The rank; 1 is the word that leans most to the first words of the pairs."""
    of: int
    """The number of ranked words."""


@dataclass(frozen=True, slots=True)
class WordRetest(StudyCondition):
    """A row of the table `test_retest_words`: ICC(2,1) of a word over seeds, for a rule."""

    rule: str
    word: str
    icc: float
    low: float
    high: float
    low_groups: float
    """The lower end of the interval that accounts for base pairs that share a word."""
    high_groups: float
    groups: int


@dataclass(frozen=True, slots=True)
class WordInterRater(StudyCondition):
    """A row of the table `inter_rater_words`: ICC(3,1) of a word over rules."""

    scale: str
    word: str
    icc: float
    low: float
    high: float
    low_groups: float
    high_groups: float
    groups: int


@dataclass(frozen=True, slots=True)
class PairRetest(StudyCondition):
    """A row of the table `test_retest_pairs`: ICC(2,1) of a base pair over seeds, for a rule and the words of a
    list.
    """

    rule: str
    list: str
    pair: str
    icc: float
    low: float
    high: float
    words: int
    note: str


@dataclass(frozen=True, slots=True)
class PairInterRater(StudyCondition):
    """A row of the table `inter_rater_pairs`: ICC(3,1) of a base pair over rules, for the words of a list."""

    scale: str
    list: str
    pair: str
    icc: float
    low: float
    high: float
    words: int
    note: str


@dataclass(frozen=True, slots=True)
class QueryConsistency(StudyCondition):
    """A row of the table `consistency_queries`: alpha of a query for a rule, with its words as items."""

    rule: str
    query: str
    alpha: float
    low: float
    high: float
    items: int
    cases: int
    note: str
    low_groups: float
    high_groups: float
    groups: int
    note_groups: str


@dataclass(frozen=True, slots=True)
class PairConsistency(StudyCondition):
    """A row of the table `consistency_pairs`: alpha of the base pairs for a rule, with the words of a list as
    cases.
    """

    rule: str
    list: str
    alpha: float
    low: float
    high: float
    items: int
    cases: int
    note: str


@dataclass(frozen=True, slots=True)
class Correlation(StudyCondition):
    """A row of the table `pearson`: Pearson's r of two rules over words."""

    rules: str
    r: float
    low: float
    high: float
    words: int


@dataclass(frozen=True, slots=True)
class BoxSummary(StudyCondition):
    """A row of the table `summary`: a box over words, and the medians of the ends of their intervals."""

    measure: str
    by: str
    list: str
    words: int
    low_whisker: float
    lower_quartile: float
    median: float
    upper_quartile: float
    high_whisker: float
    median_low: float
    median_high: float
    note: str
    median_low_groups: float
    median_high_groups: float
    groups: int
    note_groups: str


@dataclass(frozen=True, slots=True)
class PairBox(StudyCondition):
    """A row of the table `summary_pairs`: a box over base pairs, for a target list and a rule or scale."""

    measure: str
    by: str
    list: str
    base_pairs: int
    low_whisker: float
    lower_quartile: float
    median: float
    upper_quartile: float
    high_whisker: float
    note: str


@dataclass(frozen=True, slots=True)
class ConsistencyBox:
    """A row of the table `summary_consistency`: a box of alpha over algorithms and rules, for a query or the base
    pairs.
    """

    corpus: str
    pairs: str
    query: str
    scores: int
    """The number of alphas in the box."""
    low_whisker: float
    lower_quartile: float
    median: float
    upper_quartile: float
    high_whisker: float


@dataclass(frozen=True, slots=True)
class EachPairBox:
    """A row of the table `summary_each_pair`: a box of a base pair over corpora, algorithms and rules, for all
    words.
    """

    pairs: str
    measure: str
    pair: str
    scores: int
    low_whisker: float
    lower_quartile: float
    median: float
    upper_quartile: float
    high_whisker: float


@dataclass(frozen=True, slots=True)
class SetComparison:
    """A row of the table `pair_sets`: two sets of base pairs, compared over the conditions in which both are
    estimable.
    """

    measure: str
    unit: str
    """The measured units: words, base pairs or queries."""
    first: str
    second: str
    conditions: int
    first_median: float
    """The median over conditions of the medians, or of the alphas of the base pairs."""
    first_low: float
    first_high: float
    first_width: float
    """The median height of the boxes, from quartile to quartile."""
    second_median: float
    second_low: float
    second_high: float
    second_width: float
    higher: int
    """The number of conditions in which the second set has the higher median."""
    wider: int
    """The number of conditions in which the second set has the taller box."""


@dataclass(frozen=True, slots=True)
class CorpusWord:
    """A row of the table `corpus_words`: the frequency and reliability of a word in each of two corpora."""

    first: str
    second: str
    algorithm: str
    pairs: str
    word: str
    first_per_million: float
    second_per_million: float
    first_retest: float
    """The test–retest reliability, averaged over the compared rules."""
    second_retest: float
    first_rater: float
    """The inter-rater reliability of raw scores."""
    second_rater: float


@dataclass(frozen=True, slots=True)
class CorpusPair:
    """A row of the table `corpus_pairs`: two corpora, compared over the words that they share."""

    first: str
    second: str
    algorithm: str
    pairs: str
    measure: str
    words: int
    first_median: float
    second_median: float
    difference: float
    """The median over words of the reliability in the second corpus minus that in the first."""
    alike_words: int
    """The number of words that are about equally frequent in both corpora, within a factor of √2."""
    alike_difference: float
    """The median difference over the equally frequent words."""
    correlation: float
    """Spearman's correlation over words between the change of frequency and the change of reliability."""

    @property
    def owed(self) -> str:
        """Return whether frequency explains the difference, which is the case if it is small among equally frequent
        words.
        """
        if abs(self.difference) < 0.02:
            return "no difference"
        if self.alike_difference != self.alike_difference:
            return "too few words to say"
        remains = self.alike_difference / self.difference
        return "yes" if remains < 1 / 3 else "in part" if remains < 2 / 3 else "no"


@dataclass(frozen=True, slots=True)
class CorpusCurve(StudyCondition):
    """A row of the table `corpus_curves`: quartiles of the words' reliability by frequency class."""

    measure: str
    per_million: str
    words: int
    low: float
    median: float
    high: float


@dataclass(frozen=True, slots=True)
class SeedBatch(StudyCondition):
    """A row of the table `seed_batches`: the box plot of test–retest reliability for one batch of seeds."""

    rule: str
    seeds: int
    batch: int
    which: str
    low_whisker: float
    lower_quartile: float
    median: float
    upper_quartile: float
    high_whisker: float


@dataclass(frozen=True, slots=True)
class SeedNumber(StudyCondition):
    """A row of the table `seed_numbers`: the median test–retest reliability for a number of seeds."""

    rule: str
    seeds: int
    icc: float
    low: float
    high: float
    width: float
    extrapolated: bool


@dataclass(frozen=True, slots=True)
class Claim:
    """A row of the table `claims`: a claim of Du et al. in one condition, for a rule or scale."""

    claim: str
    corpus: str
    algorithm: str
    pairs: str
    by: str
    median: float
    threshold: float
    verdict: str
    size: str
    low: float
    high: float
    note: str


@dataclass(frozen=True, slots=True)
class PairCoverage(StudyCondition):
    """A row of the table `pairs`: the number of base pairs of a set that occur."""

    present: int
    of: int


@dataclass(frozen=True, slots=True)
class Missing:
    """A row of the table `missing`: a base pair or word that does not occur."""

    corpus: str
    algorithm: str
    kind: str
    name: str
    entry: str


ROWS: dict[str, type] = {
    "scores": MeanScore,
    "words": WordScore,
    "test_retest_words": WordRetest,
    "inter_rater_words": WordInterRater,
    "test_retest_pairs": PairRetest,
    "inter_rater_pairs": PairInterRater,
    "consistency_queries": QueryConsistency,
    "consistency_pairs": PairConsistency,
    "pearson": Correlation,
    "summary": BoxSummary,
    "summary_pairs": PairBox,
    "summary_consistency": ConsistencyBox,
    "summary_each_pair": EachPairBox,
    "pair_sets": SetComparison,
    "corpus_words": CorpusWord,
    "corpus_pairs": CorpusPair,
    "corpus_curves": CorpusCurve,
    "seed_batches": SeedBatch,
    "seed_numbers": SeedNumber,
    "claims": Claim,
    "pairs": PairCoverage,
    "missing": Missing,
}
"""The class of the rows of every table of a study."""

Row = TypeVar("Row")


def columns(kind: type[Row], condition: StudyCondition, **values: Any) -> Columns:
    """Return a part of a table with rows of the given kind, in the order of its columns.

    Raises:
        TypeError: if a column is missing or unknown.
    """
    given = {**condition.columns(), **values}
    names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    if set(given) != set(names):
        raise TypeError(f"columns of {kind.__name__}: {sorted(set(given) ^ set(names))} missing or unknown")
    return {name: given[name] for name in names}


FOLDER = "tables"
REGRESSION = ("features", "regression")
"""The regression tables; the modules that build them define their columns."""

COLUMNS = {name: tuple(field.name for field in fields(kind)) for name, kind in ROWS.items()}
"""The columns of every table of a study, even if it is empty; `scores` has a further column for each rule."""


def schema_of(name: str, rules: Sequence[str]) -> dict[str, type[pl.DataType]]:
    """Return the columns and types of a table of a study with these rules, from the class of its rows."""
    import polars as pl

    types = {str: pl.String, float: pl.Float64, int: pl.Int64, bool: pl.Boolean}
    hints = get_type_hints(ROWS[name])
    own = {column: types[hints[column]] for column in COLUMNS[name]}
    return {**own, **dict.fromkeys(rules, pl.Float64)} if name == "scores" else own


def build_table(name: str, parts: Sequence[Columns], rules: Sequence[str]) -> pl.DataFrame:
    """Build a table of a study with these rules from its parts; a single value in a part is repeated for all rows.

    Raises:
        TypeError: if the columns of a part differ from those of the table.
    """
    import polars as pl

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
    """Write NAME.tsv and NAME.parquet for every table, and their checksums."""
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
    import polars as pl

    try:
        table.write_parquet(path)
    except pl.exceptions.ComputeError as error:  # also raised for a full disk
        raise OSError(str(error)) from None


def _write_tsv(table: pl.DataFrame, path: Path) -> None:
    """Write numbers with 6 decimals, or with 6 significant digits if a column is a p, which may be small."""
    import polars as pl

    texts = pl.col(pl.String)
    runs = texts.str.contains(FORMULA) & ~texts.str.contains(NUMBER)
    table = table.with_columns(pl.when(runs).then("'" + texts).otherwise(texts).name.keep())
    if "p_value" in table.columns:
        rounded = table.with_columns(pl.col(pl.Float64).round_sig_figs(6))
        rounded.write_csv(path, separator="\t")
    else:
        table.write_csv(path, separator="\t", float_precision=6)


def read_tables(folder: Path) -> dict[str, pl.DataFrame]:
    """Read the tables of a study from its folder; files with other names are skipped.

    Raises:
        CorpusError: if there are no tables, or one is damaged.
    """
    import polars as pl

    paths = [path for path in sorted(folder.glob("*.parquet")) if path.stem in (*ROWS, *REGRESSION)]
    _require_whole(folder, [path.name for path in paths])
    tables = {path.stem: pl.read_parquet(path) for path in paths}
    if not tables:
        raise CorpusError(
            f"{folder}: this folder contains no tables; run: weatherglass reliability assess STUDY.toml"
        )
    return tables


def _require_whole(folder: Path, names: Sequence[str]) -> None:
    if damaged := damaged_files(folder, names):
        raise CorpusError(
            f"{folder / damaged[0]}: {MISMATCH}; run: weatherglass reliability assess STUDY.toml -o {folder.parent}"
        )


def read_rows(table: pl.DataFrame, kind: type[Row]) -> list[Row]:
    """Return the rows of a table as objects; columns that are not fields of the class are ignored.

    Raises:
        CorpusError: if a column is missing, because another version wrote the table.
    """
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if missing := [name for name in names if name not in table.columns]:
        raise CorpusError(
            f"a table of this study has no column '{missing[0]}': another version of weatherglass wrote it; "
            "run: weatherglass reliability assess STUDY.toml"
        )
    return [kind(**row) for row in table.select(names).iter_rows(named=True)]


def read_word(folder: Path, word: str) -> list[WordScore]:
    """Read the score of one word in every condition and by every rule from the tables of a study.

    Raises:
        CorpusError: if the table `words` is missing or damaged, or does not contain the word.
    """
    import polars as pl

    path = folder / "words.parquet"
    if not path.is_file():
        raise CorpusError(
            f"{path}: this table does not exist; run: weatherglass reliability assess STUDY.toml"
        )
    _require_whole(folder, [path.name])
    table = pl.scan_parquet(path)
    rows = read_rows(table.filter(pl.col("word") == word).collect(), WordScore)
    if not rows:
        known = table.select(pl.col("word").unique(maintain_order=True)).collect()["word"].to_list()
        raise CorpusError(
            f"'{word}' has no score in this study: the word is too rare in all of its "
            f"corpora{did_you_mean(word, known)}"
        )
    return rows
