"""Reproduce Kurita et al. (2019), "Measuring Bias in Contextualized Word Representations", which computes WEAT on
log-probabilities.

The paper has one number for each template and attribute word, and permutes these cells. Cells of one word are not
independent, so each of its five tests is judged by cell, as published, and by word. The user supplies a file with the
word scores of one test, for which an exact p is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.errors import WeatherglassError
from weatherglass.metrics.weat.scores import effect_size
from weatherglass.report.numbers import format_interval, format_p
from weatherglass.reproduce.sheets import PaperClaim, PaperTable, write_sheets
from weatherglass.stats import Significance
from weatherglass.stats.attributes import FixedAttributes, fixed_attributes
from weatherglass.stats.permutation import permutation_test
from weatherglass.storage.documents import document_text, shipped_toml

TITLE: Final = "Kurita et al. (2019), Measuring Bias in Contextualized Word Representations"
ALPHA: Final = 0.05


@dataclass(frozen=True, slots=True)
class KuritaReproduction:
    """The test of given word scores."""

    sets: tuple[str, str]
    x: Vector
    y: Vector
    significance: Significance
    effect: FixedAttributes

    @property
    def name(self) -> str:
        """Return the name of the test."""
        return "/".join(self.sets)

    @property
    def effect_size(self) -> float:
        """Return d with the standard deviation of all scores."""
        return effect_size(self.x, self.y, 1)


def published() -> list[dict[str, Any]]:
    """Return d and p of the paper's five tests, by cell and by word."""
    tests: list[dict[str, Any]] = shipped_toml("weatherglass.reproduce", "kurita2019")["test"]
    return tests


def reproduce(path: Path) -> KuritaReproduction:
    """Test the word scores in a table with the columns set and score.

    Raises:
        WeatherglassError: if a line of the table is wrong; the message names the line.
    """
    by_set = read_word_scores(path)
    (first, x), (second, y) = by_set.items()
    significance = permutation_test(x, y, alternative="two-sided")
    return KuritaReproduction(
        (first, second), x, y, significance, fixed_attributes(x, y, significance.p_value, ALPHA, 1)
    )


def read_word_scores(path: Path) -> dict[str, Vector]:
    """Return the scores of the two sets of a tab-separated table; lines that begin with # are skipped."""
    by_set: dict[str, list[float]] = {}
    rows = [
        (number, line.split("\t"))
        for number, line in enumerate(document_text(path, WeatherglassError).splitlines(), 1)
        if line.strip() and not line.startswith("#")
    ]
    header = [cell.strip() for cell in rows[0][1]] if rows else []
    if not {"set", "score"} <= set(header):
        raise WeatherglassError(f"{path}: the first line should have the columns set and score")
    for number, cells in rows[1:]:
        try:
            row = dict(zip(header, cells, strict=True))
            score = float(row["score"])
        except ValueError:
            raise WeatherglassError(f"{path}, line {number}: should have a set and a number") from None
        if not np.isfinite(score):
            raise WeatherglassError(f"{path}, line {number}: the score is not a finite number")
        by_set.setdefault(row["set"].strip(), []).append(score)
    if len(by_set) != 2 or min(map(len, by_set.values())) < 2:
        raise WeatherglassError(
            f"{path}: should have two sets with at least two words each, but has {len(by_set)}"
        )
    return {name: np.array(scores) for name, scores in by_set.items()}


def claims(reproduction: KuritaReproduction) -> list[PaperClaim]:
    """Return whether the effect of each test is significant by word and, as published, by cell."""
    judged = []
    for test in published():
        cell, word = test.get("by_cell", {}), test["by_word"]
        d, p = word["d"], word["p"]
        source = "their notebook"
        if test["name"] == reproduction.name:
            d, p, source = reproduction.effect_size, reproduction.significance.p_value, "given scores, exact"
        expected = cell.get("d", d)
        judged.append(
            PaperClaim(
                f"{test['name']}: an effect in the published direction, p ≤ {ALPHA:g}",
                p <= ALPHA and d * expected > 0,
                f"by word: d {d:.3f}, p {format_p(p)} ({source})",
                f"by cell: d {cell['d']:.3f}, p {_published_p(cell)}" if cell else "not printed by cell",
                cell["p"] <= ALPHA if "p" in cell else None,
            )
        )
    return judged


def _published_p(cell: dict[str, float]) -> str:
    return "not printed" if "p" not in cell else "0 as sampled" if cell["p"] == 0 else format_p(cell["p"])


def sheets(reproduction: KuritaReproduction) -> Iterator[PaperTable]:
    """Yield tables of the five tests, by cell and by word, and of the test of the given scores."""
    headings = ["test", "d by cell", "p by cell", "d by word", "p by word"]
    rows = [
        [
            test["name"],
            f"{test['by_cell']['d']:.3f}" if "by_cell" in test else "–",
            _published_p(test["by_cell"]) if "by_cell" in test else "–",
            f"{test['by_word']['d']:.3f}",
            format_p(test["by_word"]["p"]),
        ]
        for test in published()
    ]
    yield PaperTable(
        "published", "Published: d and p in the authors' notebooks, by cell and by word", [headings, *rows]
    )
    interval = reproduction.effect.interval
    ends = format_interval(interval.low, interval.high) if interval else "–"
    p = reproduction.significance
    theirs = next((t["by_word"] for t in published() if t["name"] == reproduction.name), None)
    ours = ["here", f"{reproduction.effect_size:.5f}", ends, f"{p.p_value:.5f}", p.p_method]
    given = [["source", "d", "95 % CI", "p", "method"], ours]
    if theirs:
        given.append(["notebook", f"{theirs['d']:.5f}", "–", f"{theirs['p']:.5f}", "sampled"])
    words = f"{len(reproduction.x)} and {len(reproduction.y)} words"
    yield PaperTable("given", f"{reproduction.name}: the given scores of {words}", given, (0, 4))


def lines(reproduction: KuritaReproduction) -> list[str]:
    """Return the findings of the reproduction as sentences."""
    p = reproduction.significance
    return [
        f"{reproduction.name}: d = {reproduction.effect_size:.5f}, p = {p.p_value:.5f} ({p.p_method}), by word.",
        "Cells of one target word are not independent, but p by cell treats each template and attribute as "
        "a word.",
        "The released code reads the prior at a token other than the target's mask.",
    ]


def write_reproduction(reproduction: KuritaReproduction, folder: Path) -> None:
    """Write the tables and a page."""
    tables = [*sheets(reproduction), PaperTable.of_claims("Tests by word and by cell", claims(reproduction))]
    write_sheets(folder, TITLE, tables, [], lines(reproduction))
