"""Operating characteristics of the verdict rule and coverage of a topic's size, against docs/methods 12.

Run with `python -m benchmarks.verdicts single|several|mixed|multiverse|size [--repetitions N]`; without arguments all,
in some minutes on one core. A run has eight topics; the first has the effect, the others none. The t-test stands in for
the exchange test, which it approaches. Exit code 1 if a topic without effect is called shown, or shown for these words,
in more than 2.5 % of runs (alpha is 5 % for all eight together), or a size is covered in less than 90 %.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from benchmarks.trust import generator, shift, tables
from threadpoolctl import threadpool_limits

from weatherglass.arrays import Matrix, Vector
from weatherglass.inference.interval import Flags, two_sided_p
from weatherglass.inference.leave_one_out import mean_without_each, without_each_word
from weatherglass.inference.scale import Scale, within
from weatherglass.inference.such import crossed
from weatherglass.inference.topic import influences, mean_ends, shared_covariance
from weatherglass.inference.verdict import Evidence, Outcome, decide

ALPHA = 0.05
TOPICS = 8
SMALLEST = 0.5
SHARED = 0.5
"""Of the variance of a word's score, what all tests of a topic have in common."""
SPECIFICATIONS = 36
COMMON = 0.8
"""The same for the specifications of a multiverse."""
MOST_BY_CHANCE = 2.5
LEAST_COVERED = 90.0


@dataclass(frozen=True, slots=True)
class TestRuns:
    """One test in every repetition: what the rule reads of it."""

    p_these: Vector
    p_such: Vector
    positive: Flags
    stable: Flags
    bound: Vector

    def evidence(self, run: int) -> Evidence:
        """Of one repetition."""
        bound = float(self.bound[run])
        return Evidence(
            float(self.p_these[run]),
            float(self.p_such[run]),
            1 if self.positive[run] else -1,
            bool(self.stable[run]),
            bound=None if math.isnan(bound) else bound,
        )


def t_test(scores: Matrix, n: int) -> Vector:
    """Two-sided p of the difference of X (the first n along the last axis) and Y."""
    centred = within(scores, n)
    return two_sided_p(centred.g / math.sqrt(centred.scale.variance_factor), centred.scale.df)


def measured(rng: np.random.Generator, scores: Matrix, k: int, noise: float) -> tuple[Matrix, Matrix]:
    """Measures to k attributes a set of words with these true scores, which have variance 1 within X and Y."""
    spread = math.sqrt(noise / (1 - noise) * k / 2)
    to_a, to_b = spread * rng.normal(size=(2, *scores.shape, k))
    to_a += scores[..., np.newaxis] / 2
    to_b -= scores[..., np.newaxis] / 2
    return to_a, to_b


def tested(to_a: Matrix, to_b: Matrix) -> TestRuns:
    """A test of these measures; X and Y are of one size."""
    n = to_a.shape[1] // 2
    of_a, of_b = to_a.mean(axis=-1), to_b.mean(axis=-1)
    scores = of_a - of_b
    found = crossed(to_a, to_b, n)
    low, high = found.ends(0.1)
    centred, worst = within(scores, n), np.zeros(len(scores))
    left = without_each_word(centred)
    for part, sizes in ((slice(None, n), (n - 1, n)), (slice(n, None), (n, n - 1))):
        scale = Scale(*sizes)
        p = two_sided_p(left.g[:, part] / math.sqrt(scale.variance_factor), scale.df)
        worst = np.maximum(worst, p.max(axis=1))
    for without in (
        mean_without_each(to_a) - of_b[..., np.newaxis],
        of_a[..., np.newaxis] - mean_without_each(to_b),
    ):
        worst = np.maximum(worst, t_test(np.swapaxes(without, -1, -2), n).max(axis=1))
    return TestRuns(
        t_test(scores, n),
        found.p,
        centred.difference > 0,
        worst <= ALPHA,
        np.maximum(np.abs(low), np.abs(high)),
    )


def true_scores(rng: np.random.Generator, n: int, effects: Sequence[float], count: int) -> list[Matrix]:
    """Scores of the same words in tests with these effects; SHARED of their variance is in common."""
    common = rng.normal(size=(count, 2 * n))
    scores = []
    for d in effects:
        own = math.sqrt(SHARED) * common + math.sqrt(1 - SHARED) * rng.normal(size=(count, 2 * n))
        own[:, :n] += shift(abs(d)) * (1 if d >= 0 else -1)
        scores.append(own)
    return scores


def outcomes(
    cell: str,
    n: int,
    k: int,
    noise: float,
    effects: Sequence[float],
    count: int,
    joint_p: Vector | None = None,
    first: TestRuns | None = None,
) -> Counter[Outcome]:
    """How often each verdict is given on the first of eight topics, whose tests have these effects."""
    rng = generator(cell)

    def topic(effects: Sequence[float]) -> list[TestRuns]:
        if len(effects) == 1:
            return [tested(*tables(rng, "vectors", "normal", n, k, noise, effects[0], count))]
        return [tested(*measured(rng, scores, k, noise)) for scores in true_scores(rng, n, effects, count)]

    own = [first] if first else topic(effects)
    others = [topic([0.0] * len(effects)) for _ in range(TOPICS - 1)]
    counts: Counter[Outcome] = Counter()
    for run in range(count):
        topics = [[test.evidence(run) for test in tests] for tests in (own, *others)]
        joint = None if joint_p is None else [float(joint_p[run]), *[None] * (TOPICS - 1)]
        counts[decide(topics, ALPHA, SMALLEST, joint)[0].outcome] += 1
    return counts


@dataclass(slots=True)
class Judge:
    """Remembers what lies outside what is stated."""

    outside: list[str] = field(default_factory=list)

    def shares(self, cell: str, counts: Counter[Outcome], null: bool) -> str:
        """Per cent of each verdict, as cells of a table."""
        total = counts.total()
        if null:
            for outcome in (Outcome.SHOWN, Outcome.THESE_WORDS):
                share = 100 * counts[outcome] / total
                if share - 3 * 100 * math.sqrt(0.02 / total) > MOST_BY_CHANCE:
                    self.outside.append(f"{cell}: {outcome} in {share:.1f} % without effect")
        return " | ".join(f"{100 * counts[outcome] / total:.1f}" for outcome in Outcome)


HEAD = " | ".join(Outcome)


def single_table(judge: Judge, count: int) -> Iterator[str]:
    """One test a topic, in the world of vectors of benchmarks.trust."""
    yield f"| words, attributes | noise | d | {HEAD} |"
    yield "|---|---|---|" + "---|" * len(Outcome)
    for n, k in ((8, 8), (25, 8), (64, 25)):
        for noise in (0.1, 0.4):
            for d in (0.0, 0.5, 1.0, 1.5):
                cell = f"single, {n}, {k}, {noise}, {d}"
                counts = outcomes(cell, n, k, noise, [d], count)
                yield f"| {n}+{n}, {k} | {100 * noise:.0f} % | {d:g} | {judge.shares(cell, counts, d == 0)} |"


def several_table(judge: Judge, count: int) -> Iterator[str]:
    """Topics of several tests of the same words; all have the effect, or only the first has."""
    yield f"| tests | words, attributes | d | {HEAD} |"
    yield "|---|---|---|" + "---|" * len(Outcome)
    for tests in (2, 4, 8):
        for n, k in ((8, 8), (25, 8)):
            for name, effects in (
                ("0", [0.0] * tests),
                ("1 in all", [1.0] * tests),
                ("1.5 in all", [1.5] * tests),
                ("1.5 in one", [1.5, *[0.0] * (tests - 1)]),
            ):
                cell = f"several, {tests}, {n}, {k}, {name}"
                counts = outcomes(cell, n, k, 0.3, effects, count)
                yield f"| {tests} | {n}+{n}, {k} | {name} | {judge.shares(cell, counts, name == '0')} |"


def mixed_table(judge: Judge, count: int) -> Iterator[str]:
    """Topics of which half of the tests point the other way."""
    yield f"| tests | words, attributes | d | {HEAD} |"
    yield "|---|---|---|" + "---|" * len(Outcome)
    for tests in (2, 4):
        for n, k in ((8, 8), (25, 8)):
            for d in (0.5, 1.0, 1.5):
                cell = f"mixed, {tests}, {n}, {k}, {d}"
                counts = outcomes(cell, n, k, 0.3, [d, -d] * (tests // 2), count)
                yield f"| {tests} | {n}+{n}, {k} | ±{d:g} | {judge.shares(cell, counts, False)} |"


def multiverse_table(judge: Judge, count: int) -> Iterator[str]:
    """The clause that asks the joint p; of specifications that share 80 % of the variance the first is published."""
    yield f"| effect | words, attributes | multiverse asked | {HEAD} |"
    yield "|---|---|---|" + "---|" * len(Outcome)
    for n, k in ((8, 8), (25, 8)):
        for name, part in (
            ("none", 0.0),
            ("1.5 in all", 1.0),
            ("1.5 in a quarter", 0.25),
            ("1.5 in one", 0.0),
        ):
            cell = f"multiverse, {n}, {k}, {name}"
            rng = generator(cell)
            common = rng.normal(size=(count, 1, 2 * n))
            scores = math.sqrt(COMMON) * common + math.sqrt(1 - COMMON) * rng.normal(
                size=(count, SPECIFICATIONS, 2 * n)
            )
            affected = 0 if name == "none" else max(1, round(part * SPECIFICATIONS))
            scores[:, :affected, :n] += shift(1.5)
            first = tested(*measured(rng, scores[:, 0], k, 0.3))
            standard = scores - scores.mean(axis=-1, keepdims=True)
            joint_p = t_test((standard / standard.std(axis=-1, keepdims=True)).mean(axis=1), n)
            for asked in (False, True):
                counts = outcomes(cell, n, k, 0.3, [0.0], count, joint_p if asked else None, first)
                shares = judge.shares(cell, counts, name == "none")
                yield f"| {name} | {n}+{n}, {k} | {'yes' if asked else 'no'} | {shares} |"


def size_table(judge: Judge, count: int) -> Iterator[str]:
    """Per cent of 95 % intervals of d̄ that hold the true mean, and of those that take the tests as independent."""
    yield "| tests | words | sharing | d = 0 | d = 0.7 | d = 1.4 | as if independent, d = 0.7 |"
    yield "|---|---|---|---|---|---|---|"
    for tests in (2, 3, 6):
        for n in (8, 25):
            for sharing, step in (("same", 0), ("half", n // 2), ("separate", n)):
                cells, independent = [], ""
                for d in (0.0, 0.7, 1.4):
                    cell = f"size, {tests}, {n}, {sharing}, {d}"
                    together, alone = covered(cell, tests, n, step, d, count)
                    share = 100 * together.mean()
                    if share + 3 * 100 * math.sqrt(0.09 / count) < LEAST_COVERED:
                        judge.outside.append(f"{cell}: {share:.1f} %")
                    cells.append(f"{share:.1f}")
                    independent = f"{100 * alone.mean():.1f}" if d == 0.7 else independent
                yield f"| {tests} | {n}+{n} | {sharing} | {' | '.join(cells)} | {independent} |"


def covered(cell: str, tests: int, n: int, step: int, d: float, count: int) -> tuple[Flags, Flags]:
    """Which intervals of d̄ hold the truth: words left out of all tests at once, and of each by itself."""
    rng = generator(cell)
    pool = rng.normal(size=(2, count, n + step * (tests - 1)))
    deviations, words, means = [], [], []
    for test in range(tests):
        part = slice(test * step, test * step + n)
        common = np.concatenate([pool[0, :, part], pool[1, :, part]], axis=1)
        scores = math.sqrt(SHARED) * common + math.sqrt(1 - SHARED) * rng.normal(size=common.shape)
        scores[:, :n] += shift(d)
        centred = within(scores, n)
        deviations.append(influences(centred))
        words.append([(side, place) for side in "XY" for place in range(part.start, part.stop)])
        means.append(centred.scale.effect_size(centred.g))
    covariance = shared_covariance(deviations, words)
    mean, scale = np.mean(means, axis=0), Scale(n, n)
    truth = float(scale.effect_size(np.asarray(shift(d))))
    hits = []
    for variance in (covariance.sum(axis=(-1, -2)), np.trace(covariance, axis1=-2, axis2=-1)):
        low, high = mean_ends(mean, np.sqrt(variance) / tests, scale.df, ALPHA)
        hits.append(np.asarray((low <= truth) & (truth <= high)))
    return hits[0], hits[1]


TABLES: dict[str, tuple[Callable[[Judge, int], Iterator[str]], int, str]] = {
    "single": (single_table, 1_000, "per cent of runs, one test a topic"),
    "several": (several_table, 500, "per cent of runs, several tests a topic, 30 % noise"),
    "mixed": (mixed_table, 500, "per cent of runs, half of the tests point the other way, 30 % noise"),
    "multiverse": (multiverse_table, 500, "per cent of runs, with and without the joint p, 30 % noise"),
    "size": (size_table, 2_000, "per cent of 95 % intervals of a topic's mean d that hold it"),
}
"""What each command prints, its number of repetitions, and what its numbers are."""


def main() -> None:
    """Print the tables that were asked for, then what lies outside what is stated."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], default=[])
    parser.add_argument("--repetitions", type=int)
    arguments = parser.parse_args()
    judge = Judge()
    with threadpool_limits(1):
        for name in arguments.tables or TABLES:
            table, repetitions, what = TABLES[name]
            count = arguments.repetitions or repetitions
            print(f"\n## {name}: {what}; {count} repetitions a cell\n")
            for line in table(judge, count):
                print(line, flush=True)
    print(f"\n{len(judge.outside)} cells lie outside what is stated")
    for line in judge.outside:
        print(line)
    sys.exit(1 if judge.outside else 0)


if __name__ == "__main__":
    main()
