"""Repeat Du, Fang & Nguyen (2021), "Assessing the Reliability of Word Embedding Gender Bias Measures", on any corpora.

The corpora of the paper are not available, so its procedure is applied to the user's corpora. SGNS and GloVe are
trained with several seeds, and words are scored by three rules with pairs of gender and of sexual orientation (the
latter from the reproduction). The output compares the tables of Pearson's r with the published ones, and judges the
three claims.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weatherglass.reliability.agreement.assess_study import ALL_CORPORA
from weatherglass.reliability.agreement.claims import verdicts as verdicts
from weatherglass.reliability.corpus import CorpusSettings
from weatherglass.reliability.lists import FREQUENT
from weatherglass.reliability.study_file import Study
from weatherglass.reliability.training.train import Algorithm, Settings, default_settings
from weatherglass.storage.atomic import write_whole

if TYPE_CHECKING:
    import polars as pl

ALGORITHMS: Final[tuple[Algorithm, ...]] = ("sgns", "glove")
PAIRS: Final = ("gender", "sexual_orientation")
SEEDS: Final = 32
FIGURE_NUMBERS: Final = "figures.tsv"
"""The file that lists the figures of the study by their numbers in the reproduction."""


@dataclass(frozen=True, slots=True)
class RuleCorrelation:
    """Pearson's r of two rules, with our value and the published ones."""

    pairs: str
    algorithm: str
    rules: str
    ours: float | None
    """Our value; None if the corpora contain none of the base pairs."""
    reproduced: float
    original: float | None


def study(
    corpora: Mapping[str, tuple[Path, CorpusSettings]],
    seeds: int = SEEDS,
    dimensions: int = 300,
    pairs: Sequence[str] = PAIRS,
    frequent: int | str = FREQUENT,
) -> Study:
    """Return the paper's study on the given corpora.

    Args:
        corpora: the path and the settings of each corpus by name; `corpus.PREPARED` has the paper's two settings.
        seeds: the number of seeds.
        dimensions: the number of dimensions of the vectors.
        pairs: sets of base pairs, each a name or a file.
        frequent: the frequent words: a file such as Google10K, or the number of words to take from each corpus.
    """
    settings: dict[Algorithm, Settings] = {
        name: replace(default_settings(name), dimensions=dimensions) for name in ALGORITHMS
    }
    return Study(
        name="Du et al. 2021",
        corpora=corpora,
        algorithms=settings,
        seeds=tuple(range(1, seeds + 1)),
        pairs=tuple(pairs),
        frequent=frequent,
    )


@cache
def _published() -> list[dict[str, Any]]:
    text = files(__package__).joinpath("du2021.toml").read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = tomllib.loads(text)["pearson"]
    return entries


def correlations(tables: Mapping[str, pl.DataFrame]) -> list[RuleCorrelation]:
    """Return the published values of Pearson's r and ours, over the concatenated vocabularies of all corpora."""
    ours = {
        (row["pairs"], row["algorithm"], frozenset(row["rules"].split("-"))): row["r"]
        for row in tables["pearson"].iter_rows(named=True)
        if row["corpus"] == ALL_CORPORA
    }
    return [
        RuleCorrelation(
            entry["pairs"],
            entry["algorithm"],
            rules,
            ours.get((entry["pairs"], entry["algorithm"], frozenset(rules.split("-")))),
            r,
            entry.get("original", {}).get(rules),
        )
        for entry in _published()
        for rules, r in entry["rules"].items()
    ]


def figure_numbers(tables: Mapping[str, pl.DataFrame]) -> list[tuple[str, str]]:
    """Return the number of each figure in the reproduction and the name of the corresponding file, sorted by
    number.
    """
    from weatherglass.report.study.figures import drawings

    drawn = [(drawing.published, drawing.name) for drawing in drawings(tables) if drawing.published]
    return sorted(drawn, key=lambda entry: int(re.findall(r"\d+", entry[0])[-1]))


def write_figure_numbers(tables: Mapping[str, pl.DataFrame], folder: Path) -> None:
    """Write a table of the reproduction's figures and the files in the folder `figures` that show them."""
    rows = [f"{numbers}\tfigures/{name}.png\n" for numbers, name in figure_numbers(tables)]
    write_whole(folder / FIGURE_NUMBERS, "".join(["reproduction\tfile\n", *rows]))
