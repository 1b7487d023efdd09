"""Simulate the coverage of the intervals of the seed's share and of test–retest; docs/methods 11 shows it.

    python -m benchmarks.planted_seeds [--repetitions 1000] [--write docs/methods/specifications.md]

The worlds are those of tests/stats/worlds_of_seeds.py. Two minutes on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks._rows import write_between
from tests.stats.planted_seeds import ScoreWorld, World, coverage
from tests.stats.worlds_of_seeds import DEPENDENT, FIRST, FRESH, RESERVED

MARK = "planted seeds"
NEAR_NORMAL = ("normal", "uniform")
SETS: Mapping[str, Sequence[World]] = {
    "first": FIRST,
    "fresh": FRESH,
    "reserved": RESERVED,
    "words in groups of four": DEPENDENT,
}


def words_of(world: World) -> str:
    """Return the distribution of the words' scores; a cosine with a random vector is nearly normal."""
    law = world.words if isinstance(world, ScoreWorld) else "normal"
    return "near normal" if law in NEAR_NORMAL else "skewed or heavy-tailed"


def table(repetitions: int) -> list[str]:
    """Return least and most of the coverage, by set of worlds and law of the words."""
    lines = ["| worlds | words | number | seed's share, % | test–retest, % |", "|---|---|---|---|---|"]
    for name, worlds in SETS.items():
        for law in dict.fromkeys(words_of(world) for world in worlds):
            found = [coverage(world, repetitions) for world in worlds if words_of(world) == law]
            ranges = [f"{100 * min(each):.1f}–{100 * max(each):.1f}" for each in zip(*found, strict=True)]
            lines.append(f"| {name} | {law} | {len(found)} | {ranges[0]} | {ranges[1]} |")
    return lines


def main() -> None:
    """Print the table, and write it into a document between its marks."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=1_000)
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()
    lines = table(options.repetitions)
    print("\n".join(lines))
    if options.write:
        write_between(options.write, MARK, lines)


if __name__ == "__main__":
    main()
