"""Write the pages of docs/study from a study's folder; no number is typed by hand.

    python docs/study/write.py --corpora CORPORA DIR

README.md reports the claims, regression.md which words are measured reliably.
"""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from markup import bullets, fill, table
from regression_page import figure_paths, regression_page

from weatherglass.api.studies import study_facts
from weatherglass.reliability.agreement.claims import (
    CONSISTENCY,
    ENSEMBLE,
    FAILS,
    HOLDS,
    RATER,
    RETEST,
    UNDECIDED,
    claim_rows,
    judged_by,
)
from weatherglass.reliability.study import trained_groups
from weatherglass.reliability.study_file import Study, read_study
from weatherglass.reliability.tables import (
    SetComparison,
    read_rows,
    read_tables,
)
from weatherglass.reproduce.du2021 import verdicts
from weatherglass.storage.atomic import write_whole

HERE = Path(__file__).parent
SHOWN = (
    "test-retest-gender-sgns",
    "test-retest-gender-glove",
    "inter-rater-gender-sgns",
    "inter-rater-gender-glove",
    "test-retest-base-pairs-gender-sgns",
    "inter-rater-base-pairs-gender-glove",
    "consistency-boxes-gender",
    "consistency-gender-glove",
    "test-retest-each-pair-gender",
    "frequency-gender-sgns",
    "test-retest-pairs-gender-sgns",
    "seed-batches-gender-sgns",
    "seed-numbers-gender-sgns",
    "test-retest-affluence-sgns",
)


def number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.2f}"


MARKS = {HOLDS: "✓", FAILS: "✗", UNDECIDED: "?"}


def _claim_cell(cells: Sequence[Mapping[str, Any]]) -> str:
    """Return the lowest and highest median of some corpora, and a mark for each corpus."""
    medians = [cell["median"] for cell in cells]
    ends = dict.fromkeys((f"{min(medians):.3f}", f"{max(medians):.3f}"))
    return f"{' to '.join(ends)} {''.join(MARKS[cell['verdict']] for cell in cells)}"


def claims_table(claims: pl.DataFrame, claim: str) -> str:
    """Return a row for each set of base pairs and algorithm, a column for each rule or scale, over all corpora."""
    groups: dict[tuple[str, str], list[list[Mapping[str, Any]]]] = {}
    heads = judged_by(claims, claim)
    for row in claim_rows(claims, claim):
        columns = groups.setdefault((row.pairs, row.algorithm), [[] for _ in heads])
        for column, cell in zip(columns, row.cells, strict=True):
            column.extend([cell] if cell else [])
    rows = [
        [*names, *(_claim_cell(cells) if cells else "–" for cells in columns)]
        for names, columns in groups.items()
        if any(columns)
    ]
    return table(["base pairs", "algorithm", *heads], rows)


def not_estimable(claims: pl.DataFrame) -> str:
    """Name the conditions without any estimate, with the reason."""
    reasons = dict.fromkeys(
        f"{row.pairs} in {row.corpus} ({row.reason})"
        for row in claim_rows(claims, RETEST)
        if not any(row.cells)
    )
    return " and ".join(reasons) or "no condition"


def sets_table(rows: Sequence[SetComparison]) -> str:
    """Compare two sets of base pairs, measure by measure: median and range."""
    heads = ["sets", "measure", "conditions", "first", "second", "second higher"]
    cells = []
    for row in rows:
        first = f"{number(row.first_median)} ({number(row.first_low)} to {number(row.first_high)})"
        second = f"{number(row.second_median)} ({number(row.second_low)} to {number(row.second_high)})"
        names = [f"{row.first}, {row.second}", f"{row.measure} of {row.unit}", str(row.conditions)]
        cells.append([*names, first, second, str(row.higher)])
    return table(heads, cells)


def in_parts(claims: pl.DataFrame, claim: str, column: str) -> str:
    """Count the estimable conditions in which a claim holds, by the values of a column."""
    estimable = claims.filter((pl.col("claim") == claim) & (pl.col("verdict") != "not estimable"))
    parts = estimable.group_by(column, maintain_order=True).agg(
        (pl.col("verdict") == "holds").sum(), pl.len()
    )
    return " and ".join(
        f"{holds} of {number} conditions ({name})" for name, holds, number in parts.iter_rows()
    )


def training_minutes(folder: Path) -> float:
    """Return the time from the first corpus that was encoded to the last embedding that was stored."""
    start = min(path.stat().st_mtime for path in (folder / "corpora").glob("*/corpus.json"))
    end = max(path.stat().st_mtime for path in (folder / "embeddings").iterdir())
    return (end - start) / 60


def study_page(
    template: str, study: Study, folder: Path, tables: Mapping[str, pl.DataFrame]
) -> tuple[str, list[str]]:
    """Return the page of the claims, and the names of the figures that it shows."""
    claims = tables["claims"]
    coverage = tables["pairs"].unique(["corpus", "pairs"], maintain_order=True)
    fewest = coverage.pivot(on="corpus", index="pairs", values="present", maintain_order=True)
    of = dict(coverage.select("pairs", "of").iter_rows())
    shown = [name for name in SHOWN if (folder / "figures" / f"{name}.png").is_file()]
    filled = {
        "facts": table(
            ["", ""],
            [
                *(list(fact) for fact in study_facts(study, trained_groups(study, folder))),
                ["trained within", f"{training_minutes(folder):.0f} minutes by the clock, beside other work"],
            ],
        ),
        "coverage": table(
            ["base pairs", "of", *fewest.columns[1:]],
            [[row[0], str(of[row[0]]), *(str(value) for value in row[1:])] for row in fewest.iter_rows()],
        ),
        "verdicts": bullets(map(str, verdicts(tables))),
        "not_estimable": not_estimable(claims),
        "consistency_parts": in_parts(claims, CONSISTENCY, "algorithm"),
        "rater_parts": in_parts(claims, RATER, "by"),
        "retest": claims_table(claims, RETEST),
        "consistency": claims_table(claims, CONSISTENCY),
        "rater": claims_table(claims, RATER),
        "ensemble": claims_table(claims, ENSEMBLE),
        "sets": sets_table(read_rows(tables["pair_sets"], SetComparison)),
        "figures": "\n\n".join(f"![{name}]({name}.png)" for name in shown),
    }
    return fill(template, filled), shown


def main(corpora: Path, folder: Path) -> None:
    tables = read_tables(folder / "tables")
    study = read_study(HERE / "study.toml", corpora)
    claims_page, shown = study_page(_template("README.md.in"), study, folder, tables)
    words_page, also_shown = regression_page(_template("regression.md.in"), tables)
    write_whole(HERE / "README.md", claims_page)
    write_whole(HERE / "regression.md", words_page)
    for path in figure_paths(folder, [*shown, *also_shown]):
        shutil.copyfile(path, HERE / path.name)


def _template(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the pages of docs/study.")
    parser.add_argument(
        "--corpora", metavar="CORPORA", type=Path, required=True, help="folder of the corpora"
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="the study's folder")
    main(**vars(parser.parse_args()))
