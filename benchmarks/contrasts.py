"""Simulate level and coverage of contrasts between effects (docs/methods 12), for which no permutation test is exact.

Run with `python -m benchmarks.contrasts [names|interaction] [--repetitions N]`; without arguments both, in some minutes
on one core. `names` contrasts two tests with different words and shared attributes, such as weat3 by given names and by
group terms; `interaction` contrasts two pairs of groups beside main effects of race and gender. Attributes are drawn,
too: each has a difference of its own between the groups, the same in both tests. Exit code 1 if a true contrast of 0
is significant in more than 7.5 % of runs, or a 95 % interval holds the truth in less than 92.5 %.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence

import numpy as np
from benchmarks.coverage import generator
from threadpoolctl import threadpool_limits

from weatherglass.arrays import Vector
from weatherglass.stats.scale import Scale
from weatherglass.stats.topic_attributes import Arm, Contrast, contrast

ALPHA = 0.05
MOST_BY_CHANCE = 7.5
LEAST_COVERED = 92.5
OF_PAIRS = 1.0
"""The sd of what a word has with one attribute, in sds of the words' own scores."""
OF_ATTRIBUTES = 0.5
"""The sd of what an attribute adds to the difference of the groups."""

SIZES = ((8, 8), (16, 15), (15, 4), (32, 15))
"""Words per set in the first and in the second test."""
ATTRIBUTES = (8, 25)
MEAN_DIFFERENCES = (0.0, 0.8, 1.6)
"""Differences of both tests, in sds of the words' own scores."""
GROUPS = ((8, 8), (15, 8))
"""Women and men per group."""
MAIN_EFFECTS = ((0.0, 0.0), (1.0, 0.5), (2.0, 1.0))
"""Of race and of gender."""


def arm(
    rng: np.random.Generator,
    weight: int,
    means: Sequence[float],
    sizes: Sequence[int],
    moved: Vector,
    name: str,
) -> Arm:
    """Return a test whose sets X and Y have these mean scores; each attribute adds `moved` to their difference."""
    k = len(moved) // 2
    side = np.repeat([0.5, -0.5], sizes)[:, np.newaxis]
    own = (np.repeat(np.asarray(means), sizes) + rng.normal(size=sum(sizes)))[:, np.newaxis] / 2
    to_a, to_b = (
        sign * (own + side * part + OF_PAIRS * rng.normal(size=(sum(sizes), k)))
        for sign, part in ((1, moved[:k]), (-1, moved[k:]))
    )
    words = [f"{name}{number}" for number in range(sum(sizes))]
    return Arm(weight, to_a, to_b, sizes[0], words, [f"a{a}" for a in range(k)], [f"b{b}" for b in range(k)])


def within_variance(k: int) -> float:
    """Return the variance of the scores in a set."""
    return 1 + 2 * OF_PAIRS**2 / k


def names_table(count: int) -> Iterator[tuple[str, bool]]:
    """Yield level at equal effects, and coverage where the first test has an effect and the second has none."""
    yield (
        "| words | attributes | "
        + " | ".join(f"level, g = {g:g}" for g in MEAN_DIFFERENCES)
        + " | coverage |",
        True,
    )
    yield "|---|---|" + "---|" * (len(MEAN_DIFFERENCES) + 1), True
    for first, second in SIZES:
        for k in ATTRIBUTES:
            levels = []
            for g in MEAN_DIFFERENCES:
                runs = list(_pairs(("names", first, second, k, g), (first, second), (g, g), k, count))
                levels.append(100 * sum(run.p <= ALPHA for run in runs) / count)
            truth = float(Scale(first, first).effect_size(np.asarray(1.6 / math.sqrt(within_variance(k)))))
            runs = list(_pairs(("apart", first, second, k), (first, second), (1.6, 0.0), k, count))
            covered = 100 * sum(_holds(run, truth) for run in runs) / count
            cells = " | ".join(f"{level:.1f}" for level in levels)
            fine = max(levels) <= MOST_BY_CHANCE and covered >= LEAST_COVERED
            yield f"| {first}+{first}, {second}+{second} | {k} | {cells} | {covered:.1f} |", fine


def _pairs(
    cell: object, sizes: tuple[int, int], g: tuple[float, float], k: int, count: int
) -> Iterator[Contrast]:
    rng = generator(cell)
    for _ in range(count):
        moved = OF_ATTRIBUTES * rng.normal(size=2 * k)
        arms = [
            arm(rng, weight, (difference / 2, -difference / 2), (n, n), moved, name)
            for weight, n, difference, name in zip((1, -1), sizes, g, ("n", "t"), strict=True)
        ]
        found = contrast(arms)
        assert found is not None
        yield found


def interaction_table(count: int) -> Iterator[tuple[str, bool]]:
    """Yield level without an interaction, and coverage with one of a sd, beside main effects."""
    yield "| women, men | attributes | race, gender | level | coverage |", True
    yield "|---|---|---|---|---|", True
    for women, men in GROUPS:
        for k in ATTRIBUTES:
            for race, gender in MAIN_EFFECTS:
                shown = []
                for interaction in (0.0, 1.0):
                    means = ((gender + race + interaction, gender), (race, 0.0))
                    cell = ("interaction", women, men, k, race, gender, interaction)
                    runs = list(_groups(cell, (women, men), means, k, count))
                    scores = np.repeat([m for pair in means for m in pair], (women, women, men, men))
                    sd = math.sqrt(within_variance(k) + float(scores.var(ddof=1)))
                    shown.append(
                        100 * sum(run.p <= ALPHA for run in runs) / count
                        if interaction == 0
                        else 100 * sum(_holds(run, interaction / sd) for run in runs) / count
                    )
                fine = shown[0] <= MOST_BY_CHANCE and shown[1] >= LEAST_COVERED
                yield (
                    f"| {women}, {men} | {k} | {race:g}, {gender:g} | {shown[0]:.1f} | {shown[1]:.1f} |",
                    fine,
                )


def _groups(
    cell: object, sizes: tuple[int, int], means: Sequence[Sequence[float]], k: int, count: int
) -> Iterator[Contrast]:
    rng = generator(cell)
    for _ in range(count):
        moved = OF_ATTRIBUTES * rng.normal(size=(2, 2 * k))
        arms = [
            arm(rng, weight, means[place], (sizes[place],) * 2, moved[place], name)
            for place, (weight, name) in enumerate(((1, "w"), (-1, "m")))
        ]
        found = contrast(arms, one_sd=True)
        assert found is not None
        yield found


def _holds(run: Contrast, truth: float) -> bool:
    return run.interval.low <= truth <= run.interval.high


TABLES = {"names": names_table, "interaction": interaction_table}


def main() -> None:
    """Print the tables that were asked for, in per cent."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], default=[])
    parser.add_argument("--repetitions", type=int, default=500)
    arguments = parser.parse_args()
    outside = 0
    with threadpool_limits(1):
        for name in arguments.tables or TABLES:
            print(f"\n## {name}: per cent of {arguments.repetitions} runs\n")
            for line, fine in TABLES[name](arguments.repetitions):
                print(line, flush=True)
                outside += not fine
    print(f"\n{outside} rows lie outside what is stated")
    sys.exit(1 if outside else 0)


if __name__ == "__main__":
    main()
