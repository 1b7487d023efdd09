"""Write docs/study/README.md from a study's folder: `python docs/study/write.py DIR`; no number is typed by hand."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import polars as pl

from weatherglass.reliability.claims import CONSISTENCY, RATER, RETEST, STATEMENTS
from weatherglass.reliability.conduct import study_facts
from weatherglass.reliability.page import missing_entries
from weatherglass.reliability.scores import RATERS
from weatherglass.reliability.seeds import in_plain_words
from weatherglass.reliability.study import trained_groups
from weatherglass.reliability.study_file import read_study
from weatherglass.reliability.tables import read_tables
from weatherglass.reproduce.du2021 import correlations, verdicts

HERE = Path(__file__).parent
SHOWN = (
    "test-retest-gender-sgns",
    "test-retest-gender-glove",
    "inter-rater-gender-sgns",
    "inter-rater-gender-glove",
    "consistency-gender-glove",
    "test-retest-pairs-gender-sgns",
    "seed-batches-gender-sgns",
    "seed-numbers-gender-sgns",
    "test-retest-affluence-sgns",
)


def number(value: float | None) -> str:
    return "–" if value is None or value != value else f"{value:.2f}"


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def claims_table(claims: pl.DataFrame, claim: str, by: list[str]) -> str:
    """A row for each condition, a column for each rule or scale."""
    rows = []
    of_claim = claims.filter(pl.col("claim") == claim)
    for key, part in of_claim.group_by(["pairs", "corpus", "algorithm"], maintain_order=True):
        cells = {row["by"]: row for row in part.iter_rows(named=True)}
        reasons = {row["size"] for row in cells.values() if row["verdict"] == "not estimable"}
        values = []
        for name in by:
            row = cells.get(name)
            if row is None or row["verdict"] == "not estimable":
                values.append("–")
            else:
                values.append(f"{row['median']:.3f} {'✓' if row['verdict'] == 'holds' else '✗'}")
        rows.append([*(str(part_of_key) for part_of_key in key), *values, "; ".join(sorted(reasons))])
    return table(["base pairs", "corpus", "algorithm", *by, "not estimable because"], rows)


def in_parts(claims: pl.DataFrame, claim: str, column: str) -> str:
    """In how many of the estimable conditions a claim holds, by the values of a column."""
    estimable = claims.filter((pl.col("claim") == claim) & (pl.col("verdict") != "not estimable"))
    parts = estimable.group_by(column, maintain_order=True).agg(
        (pl.col("verdict") == "holds").sum(), pl.len()
    )
    return "; ".join(f"{name}: {holds} of {conditions}" for name, holds, conditions in parts.iter_rows())


def main(folder: Path) -> None:
    study = read_study(HERE / "study.toml")
    tables = read_tables(folder / "tables")
    claims = tables["claims"]
    text = (HERE / "template.md").read_text(encoding="utf-8")
    coverage = tables["pairs"].unique(["corpus", "pairs"], maintain_order=True)
    fewest = coverage.pivot(on="corpus", index="pairs", values="present", maintain_order=True)
    of = dict(coverage.select("pairs", "of").iter_rows())
    seeds = in_plain_words(tables["seed_batches"].to_dicts(), tables["seed_numbers"].to_dicts())
    shown = [path for name in SHOWN if (path := folder / "figures" / f"{name}.png").is_file()]
    filled = {
        "facts": table(
            ["", ""], [list(fact) for fact in study_facts(study, trained_groups(study, folder), folder)]
        ),
        "coverage": table(
            ["base pairs", "of", *fewest.columns[1:]],
            [[row[0], str(of[row[0]]), *(str(value) for value in row[1:])] for row in fewest.iter_rows()],
        ),
        "verdicts": "\n".join(f"- {verdict}" for verdict in verdicts(tables)),
        "statements": "\n".join(f"- **{claim}**: {statement}" for claim, statement in STATEMENTS.items()),
        "consistency_parts": in_parts(claims, CONSISTENCY, "algorithm"),
        "rater_parts": in_parts(claims, RATER, "by"),
        "rater_algorithms": in_parts(claims.filter(pl.col("by") == "standardised"), RATER, "algorithm"),
        "retest": claims_table(claims, RETEST, list(RATERS)),
        "consistency": claims_table(claims, CONSISTENCY, list(RATERS)),
        "rater": claims_table(claims, RATER, ["raw", "standardised"]),
        "pearson": table(
            ["base pairs", "algorithm", "rules", "ours", "reproduction", "original"],
            [
                [
                    row.pairs,
                    row.algorithm,
                    row.rules,
                    number(row.ours),
                    f"{row.reproduced:.3f}",
                    "–" if row.original is None else f"{row.original:.3f}",
                ]
                for row in correlations(tables)
            ],
        ),
        "seeds": "\n".join(f"- {line}" for line in seeds if ", gender, " in line),
        "missing": table(
            ["corpus", "kind", "list", "missing"],
            [
                [row["corpus"], row["kind"], row["name"], str(len(row["entry"]))]
                for row in missing_entries(tables)
            ],
        ),
        "figures": "\n\n".join(
            f"![{name}]({name}.png)" for name in SHOWN if (folder / "figures" / f"{name}.png").is_file()
        ),
    }
    for name, value in filled.items():
        text = text.replace(f"{{{{{name}}}}}", value)
    (HERE / "README.md").write_text(text, encoding="utf-8")
    for path in shown:
        shutil.copyfile(path, HERE / path.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
