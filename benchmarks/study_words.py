"""Simulate how often a study shows a word that does not lean, and how often one that does; docs/methods 7.2.

    python -m benchmarks.study_words [--studies 200] [--write docs/proofs/study_words.tsv]

A study scores 1 000 words with 23 base pairs and 4, 8, 16 or 32 seeds: 100 words of a target list, which is a family of
its own, and 900 others. Scores are drawn, not trained: leaning + pair + seed + noise, all normal, with the standard
deviation of pairs as the unit. For comparison, p with Satterthwaite's degrees of freedom is corrected by
Benjamini–Hochberg over all of them.
Exit code 1 if, without leaning words, more studies show a word of either family than 5 % and Monte Carlo error (99 %)
allow. Three minutes on one core.
"""

from __future__ import annotations

import argparse
import math
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks._rows import write_tsv
from threadpoolctl import threadpool_limits

from weatherglass.arrays import Vector
from weatherglass.reliability.agreement.assess import ALPHA, adjust_families
from weatherglass.reliability.lists import VOCABULARY_LIST
from weatherglass.stats.interval import two_sided_p
from weatherglass.stats.multiplicity import adjust
from weatherglass.stats.seeds import Layouts, crossed_mean

WORDS, LISTED, LEANING, PAIRS = 1_000, 100, 10, 23
SEEDS = (4, 8, 16, 32)
LEANINGS = (1.0, 2.0, 4.0)
WORLDS: Mapping[str, tuple[float, float]] = {
    "0": (0.0, 1.0),
    "0.3": (0.3, 1.0),
    "1": (1.0, 1.0),
    "3": (3.0, 1.0),
}
"""By name, the standard deviations of seeds and of noise."""
FAMILIES = {"list": np.arange(LISTED), VOCABULARY_LIST: np.arange(LISTED, WORDS)}


@dataclass(frozen=True, slots=True)
class Shares:
    """What a number of studies of one world found, in shares."""

    false_listed: float
    """Studies that show a word of the target list where no word leans."""
    false_others: float
    false_satterthwaite: float
    """Studies that show any word with Satterthwaite's degrees of freedom where no word leans."""
    power: tuple[float, ...]
    """Leaning words of the target list that are shown, for each of `LEANINGS`."""


def satterthwaite_p(layouts: Layouts) -> Vector:
    """Return p with Satterthwaite's degrees of freedom and without V_T."""
    rows, columns = layouts.shape[-2:]
    found = crossed_mean(layouts)
    of_rows = layouts.mean(-1).var(-1, ddof=1) / rows
    of_columns = layouts.mean(-2).var(-1, ddof=1) / columns
    total = layouts.var((-2, -1), ddof=1) * (rows * columns - 1) / (rows * columns)
    of_cells = (total - (rows - 1) * of_rows - (columns - 1) * of_columns) / ((rows - 1) * (columns - 1))
    variance = np.maximum.reduce([of_rows + of_columns - of_cells, of_rows, of_columns])
    df = (of_rows + of_columns) ** 2 / (of_rows**2 / (rows - 1) + of_columns**2 / (columns - 1))
    return two_sided_p(found.mean / np.sqrt(variance), df)


def drawn_scores(rng: np.random.Generator, world: str, seeds: int) -> Layouts:
    """Return the scores of one study without leaning words: word × pair × seed."""
    of_seeds, noise = WORLDS[world]
    scores = noise * rng.normal(size=(WORDS, PAIRS, seeds))
    scores += rng.normal(size=(WORDS, PAIRS, 1))
    scores += of_seeds * rng.normal(size=(WORDS, 1, seeds))
    return scores


def shares(world: str, seeds: int, studies: int) -> Shares:
    """Return how often words are shown, without leaning words and with 10 in the target list."""
    rng = np.random.default_rng(zlib.crc32(f"{world}, {seeds}".encode()))
    false, power = np.zeros(3), np.zeros(len(LEANINGS))
    for _ in range(studies):
        scores = drawn_scores(rng, world, seeds)
        p_values = crossed_mean(scores).p_value
        shown = adjust_families(p_values, FAMILIES) <= ALPHA
        compared = adjust(satterthwaite_p(scores), "benjamini-hochberg") <= ALPHA
        false += [shown[:LISTED].any(), shown[LISTED:].any(), compared.any()]
        for place, leaning in enumerate(LEANINGS):
            p_values[:LEANING] = crossed_mean(scores[:LEANING] + leaning).p_value
            power[place] += (adjust_families(p_values, FAMILIES)[:LEANING] <= ALPHA).mean()
    listed, others, satterthwaite = (false / studies).tolist()
    return Shares(listed, others, satterthwaite, tuple(power / studies))


def most_by_chance(studies: int) -> float:
    """Return the largest share of false studies that a level of 5 % explains, at 99 %."""
    return ALPHA + 2.576 * math.sqrt(ALPHA * (1 - ALPHA) / studies)


def table(studies: int, outside: list[str], seeds: tuple[int, ...] = SEEDS) -> Iterator[str]:
    """Yield the lines of the table; a share beyond Monte Carlo error is appended to `outside`."""
    leanings = " / ".join(f"{leaning:g}" for leaning in LEANINGS)
    yield (
        "| sd of seeds | seeds | false word in the list | among the others | *with Satterthwaite* | "
        f"power, leaning {leanings} |"
    )
    yield "|---|---|---|---|---|---|"
    for world in WORLDS:
        for number in seeds:
            found = shares(world, number, studies)
            for family, share in (("list", found.false_listed), ("others", found.false_others)):
                if share > most_by_chance(studies):
                    outside.append(f"sd of seeds {world}, {number} seeds, {family}: {100 * share:.1f} %")
            false = f"{100 * found.false_listed:.1f} | {100 * found.false_others:.1f}"
            power = " / ".join(f"{100 * share:.0f}" for share in found.power)
            yield f"| {world} | {number} | {false} | *{100 * found.false_satterthwaite:.1f}* | {power} |"


def main() -> None:
    """Print the table, write it as TSV, and fail where words are shown too often."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=200)
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()
    outside: list[str] = []
    lines = []
    with threadpool_limits(1):
        for line in table(options.studies, outside):
            print(line, flush=True)
            lines.append(line)
    if options.write:
        write_tsv(options.write, lines)
    if outside:
        sys.exit("\n".join(["a word that does not lean is shown too often:", *outside]))


if __name__ == "__main__":
    main()
