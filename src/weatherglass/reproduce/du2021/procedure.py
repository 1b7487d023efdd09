"""Du, Fang & Nguyen (2021), "Assessing the Reliability of Word Embedding Gender Bias Measures", on your own corpora.

Their corpora are not available, so the procedure is theirs and the corpora are yours: SGNS and GloVe over
several seeds, gender and sexual-orientation pairs (the latter from the reproduction), three scoring rules; then the
Pearson tables beside the published ones, and a verdict on each of the three claims.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from weatherglass.reliability.agreement.assess_study import ALL_CORPORA
from weatherglass.reliability.agreement.claims import verdicts as verdicts
from weatherglass.reliability.corpus.corpus import CorpusSettings
from weatherglass.reliability.study_file import Study
from weatherglass.reliability.training.train import Algorithm, Settings, default_settings

if TYPE_CHECKING:
    import polars as pl

ALGORITHMS: Final[tuple[Algorithm, ...]] = ("sgns", "glove")
PAIRS: Final = ("gender", "sexual_orientation")
SEEDS: Final = 32


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r of two rules, ours beside the published ones."""

    pairs: str
    algorithm: str
    rules: str
    ours: float | None
    """None where the corpora have none of the base pairs."""
    reproduced: float
    original: float | None


def study(
    corpora: Mapping[str, Path], seeds: int = SEEDS, share: float = 1.0, dimensions: int = 300
) -> Study:
    """The study of the paper on these corpora."""
    settings: dict[Algorithm, Settings] = {
        name: replace(default_settings(name), dimensions=dimensions) for name in ALGORITHMS
    }
    return Study(
        name="Du et al. 2021",
        corpora={name: (path, CorpusSettings(share=share)) for name, path in corpora.items()},
        algorithms=settings,
        seeds=tuple(range(1, seeds + 1)),
        pairs=PAIRS,
    )


@cache
def _published() -> list[dict[str, Any]]:
    text = files(__package__).joinpath("published.toml").read_text(encoding="utf-8")
    entries: list[dict[str, Any]] = tomllib.loads(text)["pearson"]
    return entries


def correlations(tables: Mapping[str, pl.DataFrame]) -> list[Correlation]:
    """The published Pearson tables with ours beside them, over the stacked vocabularies of all corpora."""
    ours = {
        (row["pairs"], row["algorithm"], frozenset(row["rules"].split("-"))): row["r"]
        for row in tables["pearson"].iter_rows(named=True)
        if row["corpus"] == ALL_CORPORA
    }
    return [
        Correlation(
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
