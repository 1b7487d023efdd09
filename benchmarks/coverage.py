"""Simulate coverage and level for fixed and random attributes, and of the paired change, against docs/methods 10.

Run with `python -m benchmarks.coverage fixed|random|templates|level|paired|paired-random [--repetitions N]`; without
arguments all, in a few minutes on one core. Below each table are the least and the largest of its cells, which
docs/trust.md shows.
Exit code 1 if the 99 % Monte Carlo interval of any cell lies outside its stated range.

A true effect d is a shift of X by δ = d/√(1 − d²/4) sds within the sets; an interval covers if it does so for g = δ.
"""

from __future__ import annotations

import argparse
import itertools
import math
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from scipy.special import betaincinv
from threadpoolctl import threadpool_limits

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.attributes import Crossed, crossed, fixed_ends
from weatherglass.stats.interval import Flags, two_sided_p
from weatherglass.stats.multiplicity import every_labelling, random_labellings
from weatherglass.stats.paired import levels_of, paired_jackknife
from weatherglass.stats.scale import Scale, within
from weatherglass.stats.topic import AttributeTables

SIZES = (8, 25, 64)
ATTRIBUTES = (4, 8, 25)
NOISES = (0.05, 0.3, 0.5, 0.7)
"""1 − ρ: the share of the variance of scores within a set that comes from the choice of the attributes."""
EFFECTS = (0.0, 0.7, 1.4, 1.8)
CLUSTERINGS = (0.0, 0.2, 0.5, 0.8)
"""The share of a sentence's variance that all sentences of its word have in common."""
SENTENCES = 4
WIDTH = 20
ELSEWHERE = 0.7
"""How far the means of X and Y also lie apart in a direction that has nothing to do with A and B."""
TEMPLATE_SHIFT = 0.3
"""The sd, over templates, of what a template adds to all of X and not to Y."""

Shape = Literal["normal", "t5", "skewed"]
World = Literal["vectors", "interaction", "mostly A"]
Range = tuple[float, float]

THESE: Mapping[tuple[Shape, int], Range] = {
    ("normal", 8): (94, 97),
    ("normal", 25): (93, 96),
    ("normal", 64): (92, 97),
    ("t5", 8): (94, 97),
    ("t5", 25): (93, 96),
    ("t5", 64): (92, 97),
    ("skewed", 8): (91, 96),
    ("skewed", 25): (92, 96),
    ("skewed", 64): (92, 95),
}
"""Per cent of intervals that cover: docs/methods 10.1, rows "normal, t5, two-peaked mixture" and "exponential"."""
SUCH: Mapping[float, Range] = {0.05: (91.7, 100), 0.3: (93.2, 100), 0.5: (93.6, 100), 0.7: (91.8, 100)}
"""The same by noise: docs/methods 10.2, column "of estimable rows"."""
LARGE_AND_SKEWED: Range = (88, 100)
"""docs/methods 10.4: at |d| ≥ 1.4 skewed scores "may cover about 90 %"; the worlds behind SUCH are normal, and for t5
scores and smaller skewed effects its ranges are asked all the same."""
TEMPLATES: Range = (93, 99)
"""docs/methods 10.3, "Words + attributes + templates"."""
LEVEL_THESE: Range = (4, 6)
LEVEL_SUCH: Mapping[float, Range] = {0.05: (3.3, 7.0), 0.3: (2.5, 6.8), 0.5: (2.7, 7.3), 0.7: (2.9, 6.1)}
"""Per cent of p ≤ 0.05 without effect, by noise: docs/methods 10.2."""
LEVEL_TEMPLATES: Range = (4, 7)
LEVEL_AT_1: Range = (0.2, 2.0)
"""Per cent of p ≤ 0.01; docs/methods 10 states none, this is ours."""
LEVEL_PAIRED: Range = (4, 6)
"""What the paired change must hold where nothing changed."""
LEVEL_PAIRED_RANDOM: Range = (0, 6)


@dataclass(slots=True)
class Judge:
    """Holds every cell against its range, and remembers those outside and the least and largest of each group."""

    outside: list[str] = field(default_factory=list)
    groups: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    """Per cent of the cells of the table at hand, by row and column of its summary."""

    def cell(self, name: str, hits: Flags, stated: Range | None, group: tuple[str, str] | None = None) -> str:
        """Return per cent and standard error of a cell, marked if it is outside its range."""
        count, total = int(hits.sum()), len(hits)
        if total == 0:
            return "–"
        share = count / total
        if group:
            self.groups.setdefault(group[0], {}).setdefault(group[1], []).append(100 * share)
        text = f"{100 * share:.1f} ± {100 * math.sqrt(share * (1 - share) / total):.1f}"
        low = 0.0 if count == 0 else betaincinv(count, total - count + 1, 0.005)
        high = 1.0 if count == total else betaincinv(count + 1, total - count, 0.995)
        if stated and (100 * high < stated[0] or 100 * low > stated[1]):
            self.outside.append(f"{name}: {text}, stated {stated[0]:g} to {stated[1]:g}")
            return f"**{text}**"
        return text

    def summary(self, head: str) -> Iterator[str]:
        """Yield the least and the largest cell of each group since the last summary."""
        columns = list(next(iter(self.groups.values())))
        yield ""
        yield f"| {head} | " + " | ".join(columns) + " |"
        yield "|---|" + "---|" * len(columns)
        for row, cells in self.groups.items():
            ranges = (f"{min(cells[column]):.1f}–{max(cells[column]):.1f}" for column in columns)
            yield f"| {row} | " + " | ".join(ranges) + " |"
        self.groups.clear()


def generator(*cell: object) -> np.random.Generator:
    """Return the generator of a cell, so that a cell does not depend on which others are run."""
    return np.random.default_rng(zlib.crc32(repr(cell).encode()))


def draw(rng: np.random.Generator, shape: Shape, size: tuple[int, ...]) -> Matrix:
    """Return numbers with mean 0 and variance 1."""
    if shape == "normal":
        return np.asarray(rng.normal(size=size))
    if shape == "t5":
        return np.asarray(rng.standard_t(5, size=size) / math.sqrt(5 / 3))
    return np.asarray(rng.exponential(size=size) - 1)


def shift(d: float) -> float:
    """Return the difference of means, in sds within the sets, that makes the effect d."""
    return d / math.sqrt(1 - d**2 / 4)


def covers(low: Vector, high: Vector, d: float, scale: Scale) -> Flags:
    """Return which intervals contain the true effect; those that are not estimable are left out."""
    truth = float(scale.effect_size(np.asarray(shift(d))))
    known = ~np.isnan(low)
    return np.asarray((low[known] <= truth) & (truth <= high[known]))


def word_scores(
    rng: np.random.Generator, shape: Shape, n: int, d: float, clustering: float, count: int
) -> Matrix:
    """Return means over the sentences of each word; X first."""
    of_word = math.sqrt(clustering) * draw(rng, shape, (count, 2 * n))
    of_sentence = math.sqrt(1 - clustering) * draw(rng, shape, (count, 2 * n, SENTENCES)).mean(axis=-1)
    scores: Matrix = (of_word + of_sentence) / math.sqrt(clustering + (1 - clustering) / SENTENCES)
    scores[:, :n] += shift(d)
    return scores


def exchange_p(scores: Matrix, n: int, draws: int = 1_999) -> Vector:
    """Return the two-sided p of the permutation test: exact up to 8 + 8 words, else by shared draws."""
    centred = scores - scores.mean(axis=1, keepdims=True)
    observed = np.abs(centred[:, :n].sum(axis=1)) * (1 - 1e-12)
    exact = n <= 8
    hits = np.full(len(scores), 0.0 if exact else 1.0)
    labellings = 0 if exact else 1
    for in_x in every_labelling(2 * n, n) if exact else random_labellings(2 * n, n, draws, seed=n):
        hits += (np.abs(centred @ in_x.T) >= observed[:, np.newaxis]).sum(axis=1)
        labellings += len(in_x)
    return hits / labellings


def t_test_p(scores: Matrix, n: int) -> Vector:
    """Return an approximation of the exact p above 8 + 8 words, where draws could not resolve small p."""
    centred = within(scores, n)
    return two_sided_p(centred.g / math.sqrt(centred.scale.variance_factor), centred.scale.df)


def fixed_table(judge: Judge, count: int) -> Iterator[str]:
    """Yield the coverage for fixed attributes by size, effect, shape of scores and clustering of sentences."""
    yield "| scores | words | clustering | " + " | ".join(f"d = {d:g}" for d in EFFECTS) + " |"
    yield "|---|---|---|" + "---|" * len(EFFECTS)
    for (shape, n), stated in THESE.items():
        for clustering in CLUSTERINGS:
            cells = []
            for d in EFFECTS:
                name = f"these, {shape}, {n} + {n}, clustering {clustering}, d {d}"
                scores = word_scores(generator(name), shape, n, d, clustering, count)
                p = exchange_p(scores, n) if n <= 8 else t_test_p(scores, n)
                centred = within(scores, n)
                low, high = fixed_ends(centred, p, 0.05)
                hits = covers(low, high, d, centred.scale)
                cells.append(judge.cell(name, hits, stated, (f"{shape}, {n} + {n}", f"d = {d:g}")))
            yield f"| {shape} | {n} + {n} | {clustering:g} | " + " | ".join(cells) + " |"
    yield from judge.summary("scores, words")


def tables(
    rng: np.random.Generator, world: World, shape: Shape, n: int, k: int, noise: float, d: float, count: int
) -> tuple[Matrix, Matrix]:
    """Return measures of words to A and to B; with endless attributes their scores have variance 1 within the sets."""
    per_attribute = noise / (1 - noise) * k
    if world == "vectors":
        spread = math.sqrt(per_attribute / (2 * WIDTH))
        w = draw(rng, shape, (count, 2 * n, WIDTH))
        w[:, :n, 0] += shift(d)
        w[:, :n, 1] += ELSEWHERE
        a, b = spread * rng.normal(size=(2, count, k, WIDTH))
        a[..., 0] += 0.5
        b[..., 0] -= 0.5
        return w @ np.swapaxes(a, -1, -2), w @ np.swapaxes(b, -1, -2)
    share = 0.85 if world == "mostly A" else 0.5
    score = draw(rng, shape, (count, 2 * n, 1)) / 2
    score[:, :n] += shift(d) / 2
    to_a, to_b = rng.normal(size=(2, count, 2 * n, k))
    return score + math.sqrt(per_attribute * share) * to_a, math.sqrt(
        per_attribute * (1 - share)
    ) * to_b - score


WORLDS: tuple[tuple[World, Shape], ...] = (
    ("vectors", "normal"),
    ("interaction", "normal"),
    ("mostly A", "normal"),
    ("interaction", "t5"),
    ("interaction", "skewed"),
)


def random_table(judge: Judge, count: int) -> Iterator[str]:
    """Yield the coverage and level for random attributes by world, size, number of attributes, noise and effect."""
    yield (
        "| world, scores | words | attributes | noise | "
        + " | ".join(f"d = {d:g}" for d in EFFECTS)
        + (" | estimable | p ≤ 0.05 | p ≤ 0.01 |")
    )
    yield "|---|---|---|---|" + "---|" * (len(EFFECTS) + 3)
    for world, shape in WORLDS:
        for n in SIZES:
            for k in ATTRIBUTES:
                for noise in NOISES:
                    yield _random_row(judge, world, shape, n, k, noise, count)
    yield from judge.summary("scores, noise")


def _random_row(judge: Judge, world: World, shape: Shape, n: int, k: int, noise: float, count: int) -> str:
    cells, estimable, p, group = [], [], np.empty(0), f"{shape}, {100 * noise:.0f} %"
    for d in EFFECTS:
        name = f"such, {world}, {shape}, {n} + {n}, {k} attributes, noise {noise}, d {d}"
        to_a, to_b = tables(generator(name), world, shape, n, k, noise, d, count)
        found = crossed(to_a, to_b, n)
        hits = covers(*found.ends(0.05), d, found.scale)
        estimable.append(len(hits) / count)
        stated = LARGE_AND_SKEWED if shape == "skewed" and d >= 1.4 else SUCH[noise]
        cells.append(judge.cell(name, hits, stated, (group, f"d = {d:g}")))
        p = found.p if d == 0 else p
    name = f"level of such, {world}, {shape}, {n} + {n}, {k} attributes, noise {noise}"
    cells.append(f"{100 * np.mean(estimable):.0f} %")
    cells.append(judge.cell(name, p <= 0.05, LEVEL_SUCH[noise], (group, "p ≤ 0.05")))
    cells.append(judge.cell(f"{name}, 0.01", p <= 0.01, LEVEL_AT_1, (group, "p ≤ 0.01")))
    return f"| {world}, {shape} | {n} + {n} | {k} | {100 * noise:.0f} % | " + " | ".join(cells) + " |"


def sentences(
    rng: np.random.Generator, n: int, count_of_templates: int, clustering: float, d: float, count: int
) -> tuple[Crossed, Crossed]:
    """Return the crossed tests with random and with fixed templates; 8 attributes add 30 % noise."""
    to_a, to_b = tables(rng, "interaction", "normal", n, 8, 0.3, d, count)
    own = math.sqrt((1 - clustering) / clustering) * rng.normal(size=(count, 2 * n, count_of_templates))
    own[:, :n] += TEMPLATE_SHIFT * rng.normal(size=(count, 1, count_of_templates))
    # The score in a template is the word's score over its attributes, plus what the template adds to that word.
    by_template = (to_a.mean(axis=-1) - to_b.mean(axis=-1))[..., np.newaxis] + own
    to_a, to_b = (
        table + sign * own.mean(axis=-1, keepdims=True) / 2 for table, sign in ((to_a, 1), (to_b, -1))
    )
    return crossed(to_a, to_b, n, templates=by_template), crossed(to_a, to_b, n)


def templates_table(judge: Judge, count: int) -> Iterator[str]:
    """Yield the coverage and level where words are crossed with templates, random and fixed."""
    yield (
        "| words | templates | clustering | "
        + " | ".join(f"d = {d:g}" for d in EFFECTS)
        + (" | p ≤ 0.05 | held: d = 0.7 | held: p ≤ 0.05 |")
    )
    yield "|---|---|---|" + "---|" * (len(EFFECTS) + 3)
    for n in (8, 25):
        for number in (3, 8, 14):
            for clustering in CLUSTERINGS[1:]:
                cells, held, row = [], {}, f"{n} + {n}, {number}"
                for d in EFFECTS:
                    name = f"templates, {n} + {n}, {number} templates, clustering {clustering}, d {d}"
                    found, without = sentences(generator(name), n, number, clustering, d, count)
                    hits = covers(*found.ends(0.05), d, found.scale)
                    cells.append(judge.cell(name, hits, TEMPLATES, (row, f"d = {d:g}")))
                    held[d] = without
                    if d == 0:
                        p = judge.cell(
                            f"level of {name}", found.p <= 0.05, LEVEL_TEMPLATES, (row, "p ≤ 0.05")
                        )
                hits = covers(*held[0.7].ends(0.05), 0.7, held[0.7].scale)
                cells.append(p)
                cells.append(judge.cell("", hits, None, (row, "held: d = 0.7")))
                cells.append(judge.cell("", held[0.0].p <= 0.05, None, (row, "held: p ≤ 0.05")))
                yield f"| {n} + {n} | {number} | {clustering:g} | " + " | ".join(cells) + " |"
    yield from judge.summary("words, templates")


def level_table(judge: Judge, count: int) -> Iterator[str]:
    """Yield how often the permutation test of words finds an effect where there is none."""
    yield "| scores | words | clustering | p ≤ 0.05 | p ≤ 0.01 |"
    yield "|---|---|---|---|---|"
    for shape, n in THESE:
        for clustering in CLUSTERINGS:
            name = f"level of these, {shape}, {n} + {n}, clustering {clustering}"
            p = exchange_p(word_scores(generator(name), shape, n, 0.0, clustering, count), n)
            row = f"{shape}, {n} + {n}"
            cells = (
                judge.cell(name, p <= 0.05, LEVEL_THESE, (row, "p ≤ 0.05")),
                judge.cell(f"{name}, 0.01", p <= 0.01, LEVEL_AT_1, (row, "p ≤ 0.01")),
            )
            yield f"| {shape} | {n} + {n} | {clustering:g} | {cells[0]} | {cells[1]} |"
    yield from judge.summary("scores, words")


CORRELATIONS = (0.0, 0.3, 0.6, 0.9)
PAIRED_EFFECTS = ((0.0, 0.0), (0.7, 0.7), (1.4, 1.4), (0.0, 0.7), (0.7, 1.4))


def paired_table(judge: Judge, count: int) -> Iterator[str]:
    """Yield the level of the paired change, checked with normal scores, and the coverage of a true change."""
    yield "| scores | units | d before, after | " + " | ".join(f"r = {r:g}" for r in CORRELATIONS) + " |"
    yield "|---|---|---|" + "---|" * len(CORRELATIONS)
    shapes: tuple[Shape, ...] = ("normal", "t5", "skewed")
    for shape in shapes:
        for n in SIZES:
            for before, after in PAIRED_EFFECTS:
                cells = []
                for r in CORRELATIONS:
                    name = f"paired, {shape}, {n} + {n}, d {before} and {after}, r {r}"
                    rng = generator(name)
                    common = math.sqrt(r) * draw(rng, shape, (count, 2 * n))
                    models = common + math.sqrt(1 - r) * draw(rng, shape, (2, count, 2 * n))
                    models[0, :, :n] += shift(before)
                    models[1, :, :n] += shift(after)
                    found = paired_jackknife(within(models[0], n), within(models[1], n))
                    low, high = found.ends(0.05)
                    truth = np.diff(found.scale.effect_size(np.array([shift(before), shift(after)])))[0]
                    missed = (truth < low) | (high < truth) if after > before else found.p <= 0.05
                    stated = LEVEL_PAIRED if shape == "normal" and after == before else None
                    column = "unchanged, marked" if after == before else "changed, missed"
                    cells.append(judge.cell(name, missed, stated, (f"{shape}, {n} + {n}", column)))
                yield f"| {shape} | {n} + {n} | {before:g}, {after:g} | " + " | ".join(cells) + " |"
    yield from judge.summary("scores, units")


def paired_vectors(
    rng: np.random.Generator, n: int, k: int, noise: float, d: float, r: float, count: int
) -> list[AttributeTables]:
    """Return the tables of two equal models: target and attribute words whose vectors correlate at r."""
    spread = math.sqrt(noise / (1 - noise) * k / (2 * WIDTH))
    kept, own = math.sqrt(r), math.sqrt(1 - r)
    words, attributes = rng.normal(size=(count, 2 * n, WIDTH)), rng.normal(size=(2, count, k, WIDTH))
    models = []
    for _ in range(2):
        w = kept * words + own * rng.normal(size=words.shape)
        w[:, :n, 0] += shift(d)
        w[:, :n, 1] += ELSEWHERE
        a, b = spread * (kept * attributes + own * rng.normal(size=attributes.shape))
        a[..., 0] += 0.5
        b[..., 0] -= 0.5
        to_a, to_b = (w @ np.swapaxes(side, -1, -2) for side in (a, b))
        models.append(AttributeTables(to_a, to_b, range(k), range(k)))
    return models


def paired_random_table(judge: Judge, count: int) -> Iterator[str]:
    """Yield the level of the paired change between equal models, for random and (in italics) for fixed attributes."""
    yield "| words | attributes | noise | d | " + " | ".join(f"r = {r:g}" for r in CORRELATIONS) + " |"
    yield "|---|---|---|---|" + "---|" * len(CORRELATIONS)
    for n, k, noise, d in itertools.product((8, 25), (8, 25), (0.05, 0.3, 0.5), (0.0, 0.7, 1.4)):
        cells = []
        for r in CORRELATIONS:
            name = f"paired, random, {n} + {n}, {k} attributes, noise {noise}, d {d}, r {r}"
            models = paired_vectors(generator(name), n, k, noise, d, r, count)
            centred = [within(own.to_a.mean(axis=-1) - own.to_b.mean(axis=-1), n) for own in models]
            levels = [levels_of(*pair) for pair in zip(models, centred, strict=True)]
            factors = [(levels[0][role], levels[1][role]) for role in "AB"]
            random, fixed = (paired_jackknife(centred[0], centred[1], use).p <= 0.05 for use in (factors, ()))
            group = f"noise {100 * noise:.0f} %"
            cell = judge.cell(name, random, LEVEL_PAIRED_RANDOM, (group, "random attributes"))
            cells.append(f"{cell} *{judge.cell(name, fixed, None, (group, 'fixed attributes'))}*")
        yield f"| {n} + {n} | {k} + {k} | {100 * noise:.0f} % | {d:g} | " + " | ".join(cells) + " |"
    yield from judge.summary("unchanged, marked")


TABLES: dict[str, tuple[Callable[[Judge, int], Iterator[str]], int, str]] = {
    "fixed": (
        fixed_table,
        1_000,
        "per cent of 95 % intervals that contain the true effect, for fixed attributes",
    ),
    "random": (
        random_table,
        600,
        "per cent of estimable 95 % intervals that contain the true effect, for random attributes",
    ),
    "templates": (templates_table, 1_000, "the same with words crossed with templates"),
    "level": (
        level_table,
        4_000,
        "per cent of p at or below alpha without an effect, permutation test of words",
    ),
    "paired": (
        paired_table,
        4_000,
        "per cent of unchanged effects marked, and of intervals that miss a true change, for fixed attributes",
    ),
    "paired-random": (
        paired_random_table,
        2_000,
        "per cent of unchanged effects marked, for random attributes (in italics for fixed ones)",
    ),
}
"""What each command prints, its number of repetitions, and what its numbers are."""


def main() -> None:
    """Print the requested tables, then the cells outside their stated range."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", choices=[*TABLES, []], default=[])
    parser.add_argument("--repetitions", type=int)
    arguments = parser.parse_args()
    judge = Judge()
    with threadpool_limits(1):
        for name in arguments.tables or TABLES:
            table, repetitions, what = TABLES[name]
            count = arguments.repetitions or repetitions
            print(f"\n## {name}: {what}; {count} repetitions a cell, ± one standard error\n")
            for line in table(judge, count):
                print(line, flush=True)
    print(f"\n{len(judge.outside)} cells lie outside what docs/methods 10 states")
    for line in judge.outside:
        print(line)
    sys.exit(1 if judge.outside else 0)


if __name__ == "__main__":
    main()
