"""How far the trust numbers can themselves be trusted: coverage of the intervals, level of the tests, speed.

Run with `python -m benchmarks.trust coverage|noise|paired|level|speed [--repetitions N]`; without arguments all. The
first four print the tables of docs/trust.md (a quarter of an hour of CPU), the last one CPU time.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from threadpoolctl import threadpool_limits

from weatherglass.arrays import Matrix, Vector
from weatherglass.inference.bootstrap import (
    Interval,
    Sample,
    confidence_interval,
    confidence_interval_of_difference,
)
from weatherglass.inference.significance import permutation_test
from weatherglass.inference.trust import Named, leave_one_out
from weatherglass.metrics.weat.effect import effect_size
from weatherglass.metrics.weat.statistic import MEAN

SIZES = (8, 16, 25, 64)
EFFECTS = (0.0, 0.7, 1.4, 1.8)
NOISES = (0.05, 0.3, 0.5, 0.7)
"""Share of the variance of scores within a set that comes from the choice of 25 attributes; with 8 it is more."""
WIDTH = 20
ELSEWHERE = 0.7
"""How far the means of X and Y also lie apart in a direction that has nothing to do with A and B."""


@dataclass(frozen=True, slots=True)
class World:
    """Normal vectors whose true effect is known: m(w, a) is the dot product of w and a."""

    n: int
    """Elements in each of the four sets."""
    d: float
    noise: float
    """One of NOISES."""
    fixed: bool
    """Whether d is the effect under the attributes at hand, or under endless lists of them."""

    def draw(self, rng: np.random.Generator) -> tuple[Sample, float]:
        """Four sets, and their sample's effect size."""
        spread = math.sqrt(self.noise / (1 - self.noise) * 25 / (2 * WIDTH))
        x, y = rng.normal(size=(2, self.n, WIDTH))
        a, b = spread * rng.normal(size=(2, self.n, WIDTH))
        a[:, 0] += 0.5
        b[:, 0] -= 0.5
        apart = self._distance(a.mean(axis=0) - b.mean(axis=0))
        x[:, :2] += (apart / 2, ELSEWHERE / 2)
        y[:, :2] -= (apart / 2, ELSEWHERE / 2)
        return self._sample(x, y, a, b)

    def _distance(self, axis: Vector) -> float:
        """How far apart the means of X and Y must be on the first axis for the effect to be d."""
        within = self.d / math.sqrt(1 - self.d**2 / 4)
        if not self.fixed:
            return within
        return float((within * np.linalg.norm(axis) - ELSEWHERE * axis[1]) / axis[0])

    def _sample(self, x: Matrix, y: Matrix, a: Matrix, b: Matrix) -> tuple[Sample, float]:
        w = np.concatenate([x, y])
        units = np.arange(self.n)
        sample = Sample(w @ a.T, w @ b.T, 1, MEAN, (units, units, units, units))
        scores = sample.to_a.mean(axis=1) - sample.to_b.mean(axis=1)
        return sample, effect_size(scores[: self.n], scores[self.n :])


def targets_only(sample: Sample) -> Sample:
    """The same sample with A and B held fixed: each is a single unit, which is always drawn."""
    x, y, a, b = sample.units
    return Sample(sample.to_a, sample.to_b, 1, MEAN, (x, y, np.zeros_like(a), np.zeros_like(b)))


Choice = Callable[[Sample], Sample]


def coverage(world: World, repetitions: int, resampled: Choice = lambda s: s) -> tuple[float, float]:
    """How often BCa and percentile intervals hold the true effect."""
    rng = np.random.default_rng([world.n, round(100 * world.d), round(100 * world.noise), world.fixed])
    hits = np.zeros(2)
    with threadpool_limits(1):  # the matrices are small, and threads would only wait for each other
        for _ in range(repetitions):
            sample, d = world.draw(rng)
            found = confidence_interval(resampled(sample), d, rng, resamples=1000)
            hits += _holds(found, world.d)
    bca, percentile = hits / repetitions
    return float(bca), float(percentile)


def _holds(interval: Interval | None, d: float) -> tuple[bool, bool]:
    if interval is None:
        return False, False
    return (
        interval.bca_low <= d <= interval.bca_high,
        interval.percentile_low <= d <= interval.percentile_high,
    )


def coverage_table(repetitions: int) -> Iterator[str]:
    """Coverage by size and effect: attributes fixed, fixed and not resampled, random."""
    error = 100 * math.sqrt(0.95 * 0.05 / repetitions)
    yield f"{repetitions} repetitions a cell ({repetitions // 2} at n = 64): ± {error:.1f} points (one standard error)"
    yield ""
    ways = ("A, B fixed", "A, B fixed, only X, Y resampled", "A, B random")
    yield "| n | d | " + " | ".join(f"{way}: BCa | percentile" for way in ways) + " |"
    yield "|---|---|---|---|---|---|---|---|"
    for n in SIZES:
        for d in EFFECTS:
            count = repetitions // 2 if n == 64 else repetitions
            cells = [
                *coverage(World(n, d, 0.3, fixed=True), count),
                *coverage(World(n, d, 0.3, fixed=True), count, targets_only),
                *coverage(World(n, d, 0.3, fixed=False), count),
            ]
            yield f"| {n} | {d:g} | " + " | ".join(f"{100 * cell:.1f}" for cell in cells) + " |"


def noise_table(repetitions: int) -> Iterator[str]:
    """Coverage by how much of the spread is owed to the choice of attributes."""
    yield f"n = 25, {repetitions} repetitions a cell"
    yield ""
    yield "| attribute noise | d | A, B fixed: BCa | percentile | A, B random: BCa | percentile |"
    yield "|---|---|---|---|---|---|"
    for noise in NOISES:
        for d in (0.0, 0.7, 1.4):
            cells = [
                *coverage(World(25, d, noise, fixed=True), repetitions),
                *coverage(World(25, d, noise, fixed=False), repetitions),
            ]
            yield f"| {100 * noise:.0f} % | {d:g} | " + " | ".join(f"{100 * c:.1f}" for c in cells) + " |"


def paired_coverage(n: int, before: float, after: float, repetitions: int) -> tuple[float, float]:
    """How often the paired intervals of `compare` hold the true change; scores of the two runs correlate at 0.8."""
    rng = np.random.default_rng([n, round(100 * before), round(100 * after)])
    shifts = [d / math.sqrt(1 - d**2 / 4) for d in (before, after)]
    hits = np.zeros(2)
    for _ in range(repetitions):
        common = math.sqrt(0.8) * rng.normal(size=(2, n))
        first, second = common + math.sqrt(0.2) * rng.normal(size=(2, 2, n))
        first[0] += shifts[0]
        second[0] += shifts[1]
        found = confidence_interval_of_difference(
            (first[0], first[1]), (second[0], second[1]), rng, resamples=1000
        )
        hits += _holds(found, after - before)
    bca, percentile = hits / repetitions
    return float(bca), float(percentile)


def paired_table(repetitions: int) -> Iterator[str]:
    """Coverage of the intervals of a change, by size."""
    error = 100 * math.sqrt(0.95 * 0.05 / repetitions)
    yield f"{repetitions} repetitions a cell: ± {error:.1f} points (one standard error)"
    yield ""
    yield "| n | d before | d after | BCa | percentile |"
    yield "|---|---|---|---|---|"
    for n in (8, 25, 64):
        for before, after in ((0.7, 0.7), (0.7, 1.4)):
            cells = paired_coverage(n, before, after, repetitions)
            yield f"| {n} | {before:g} | {after:g} | " + " | ".join(f"{100 * c:.1f}" for c in cells) + " |"


def level(words: int, sentences: int, clustering: float, repetitions: int) -> tuple[float, float]:
    """How often p ≤ 0.05 without any effect, permuting sentences and permuting words.

    `clustering` is the share of the variance of the scores that a word's sentences have in common.
    """
    rng = np.random.default_rng([words, sentences, round(100 * clustering)])
    hits = np.zeros(2)
    for _ in range(repetitions):
        of_word = math.sqrt(clustering) * rng.normal(size=(2, words, 1))
        scores = of_word + math.sqrt(1 - clustering) * rng.normal(size=(2, words, sentences))
        x, y = scores
        by_element = permutation_test(x.ravel(), y.ravel(), method="sampled", samples=1999, rng=rng)
        by_word = permutation_test(x.mean(axis=1), y.mean(axis=1), method="sampled", samples=1999, rng=rng)
        hits += (by_element.p_value <= 0.05, by_word.p_value <= 0.05)
    elements, whole_words = hits / repetitions
    return float(elements), float(whole_words)


def level_table(repetitions: int) -> Iterator[str]:
    """The level of both permutation units, by how alike a word's sentences are."""
    error = math.sqrt(0.05 * 0.95 / repetitions)
    yield f"share of p ≤ 0.05 under the null, {repetitions} repetitions a cell: ± {error:.4f} (one standard error)"
    yield ""
    yield "| words a set | sentences a word | in common | `--permute elements` | `--permute words` |"
    yield "|---|---|---|---|---|"
    for words, sentences in ((8, 4), (8, 8), (16, 8)):
        for clustering in (0.0, 0.2, 0.5, 0.8):
            elements, whole_words = level(words, sentences, clustering, repetitions)
            yield f"| {words} | {sentences} | {100 * clustering:.0f} % | {elements:.3f} | {whole_words:.3f} |"


def speed() -> Iterator[str]:
    """CPU time of the interval and of leave-one-out, from the similarity matrix on."""
    rng = np.random.default_rng(0)
    n_x, n_y, n_a, n_b, sentences = 350, 350, 215, 250, 5
    w, a, b = (rng.normal(size=(n, 300)) for n in (n_x + n_y, n_a, n_b))
    to_a, to_b = (w @ a.T / 300, w @ b.T / 300)
    units = tuple(np.arange(n) for n in (n_x, n_y, n_a, n_b))
    sample = Sample(to_a, to_b, 1, MEAN, (units[0], units[1], units[2], units[3]))
    scores = to_a.mean(axis=1) - to_b.mean(axis=1)
    d = effect_size(scores[:n_x], scores[n_x:])
    start = time.process_time()
    confidence_interval(sample, d, rng, 2000)
    bootstrap = time.process_time() - start
    yield f"2000 resamples and jackknife of 350 + 350 × 215 + 250: {bootstrap:.2f} CPU s (goal: under 5)"
    names = [
        Named(tuple(f"word{i // sentences}" for i in range(n)), tuple(f"t{i % sentences}" for i in range(n)))
        for n in (n_x, n_y, n_a, n_b)
    ]
    start = time.process_time()
    left_out = list(leave_one_out(sample, names))
    ours = time.process_time() - start
    start = time.process_time()
    for _ in range(10):
        _ = w @ a.T, w @ b.T
    again = (time.process_time() - start) / 10 * len(left_out)
    yield (
        f"leave-one-out, {len(left_out)} words and templates: {ours:.2f} CPU s; computing the similarities "
        f"anew for each would take {again:.2f} CPU s ({again / ours:.1f} times as long)"
    )


TABLES: dict[str, tuple[Callable[[int], Iterator[str]], int]] = {
    "coverage": (coverage_table, 600),
    "noise": (noise_table, 300),
    "paired": (paired_table, 400),
    "level": (level_table, 4000),
    "speed": (lambda _: speed(), 1),
}
"""What each command prints, and its number of repetitions."""


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], default=[])
    parser.add_argument("--repetitions", type=int)
    arguments = parser.parse_args()
    for name in arguments.tables or TABLES:
        table, repetitions = TABLES[name]
        print(f"\n## {name}\n")
        for line in table(arguments.repetitions or repetitions):
            print(line, flush=True)


if __name__ == "__main__":
    main()
