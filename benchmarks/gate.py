"""Simulate how often `--fail-if worse` fails where nothing changed, and how often it finds a growth; docs/methods 12.

    python -m benchmarks.gate [--pairs 1000] [--write docs/gate.md]

Equal models: the vectors of wordllama for the 17 published word tests that are not controls, plus two
independent draws of normal noise of the same size (in standard deviations of the vectors), in all words or in the
target words alone. Beside the rule, two others are counted on the same pairs: the same rule with a paired p for fixed
attributes, which takes noise in attribute words for a change; and the old rule, any effect that grew with an
uncorrected interval that leaves out 0, or any verdict that rose. Planted: in the later model the words of X are moved
along the difference of A and B, so far that the mean d of one test grows by 0.8.
The first 200 pairs of equal models are whole runs, which the old rule needs for its verdicts; there the command checks
that `compare` finds what the paired p of the tables finds, which is all that is computed of the other pairs.
Exit code 1 if equal models alarm in more than 5 % of pairs by three Monte Carlo errors: at 5 %, 200 pairs have an error
of 1.5 points, 1 000 one of 0.7. Ten minutes on one core.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
from benchmarks._rows import write_between
from threadpoolctl import threadpool_limits

import weatherglass as wg
from weatherglass.arrays import Matrix, Vector, unit_length
from weatherglass.audit.compare import compare_runs
from weatherglass.audit.plan import choose_models
from weatherglass.audit.verdict import CONTROL
from weatherglass.gate.worse import judge_runs
from weatherglass.metrics.weat.scores import effect_size
from weatherglass.stats.multiplicity import adjust
from weatherglass.stats.paired import PairedChange, levels_of, paired_change
from weatherglass.stats.scale import within
from weatherglass.stats.topic import AttributeTables

MARK = "alarms and power"
MOST_ALARMS = ALPHA = 0.05
GROWTH = 0.8
NOISES = (0.3, 1.0)
PLANTED = ("weat8", "weat4", "weat3")
"""Tests with 8, 16 and 32 words per set whose d in wordllama is small, so that it can grow."""
CALIBRATION_DRAWS = 60
PAIRS = 1000
FEWER_PAIRS = 200
"""Of whole runs."""


class Fixed:
    """A model that has these vectors for these texts."""

    name = "model"
    options: ClassVar[dict[str, str]] = {}

    def __init__(self, place: Mapping[str, int], rows: Matrix) -> None:
        self.place, self.rows = place, rows

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return the vectors of these texts."""
        return self.rows[[self.place[text] for text in texts]]


class Worlds:
    """Noisy copies of wordllama on the published word tests."""

    def __init__(self) -> None:
        published = [wg.load_test(name) for name in wg.list_tests()]
        self.tests = [test for test in published if test.context == "word" and test.topic != CONTROL]
        self.texts = sorted({text for test in self.tests for text in test.texts})
        (model,) = choose_models(["wordllama"])
        self.vectors = np.asarray(model.encoder.encode(self.texts), dtype=np.float64)
        self.place = {text: place for place, text in enumerate(self.texts)}

    @cached_property
    def tested(self) -> list[wg.Test]:
        """Return the tests that are tested, not only measured."""
        measured = {result.test for result in self.run(self.vectors).results if result.not_tested}
        return [test for test in self.tests if test.name not in measured]

    @cached_property
    def is_target(self) -> Vector:
        """Return 1 for the target words of a test, 0 for the others."""
        targets = {text for test in self.tests for words in test.targets for text in words.texts}
        return np.array([float(text in targets) for text in self.texts])

    def noise(self, rng: np.random.Generator, size: float, everywhere: bool = True) -> Matrix:
        """Return one draw of noise, for all words or for target words alone."""
        drawn = rng.normal(scale=size * float(self.vectors.std()), size=self.vectors.shape)
        return np.asarray(drawn if everywhere else drawn * self.is_target[:, np.newaxis])

    def run(self, rows: Matrix) -> wg.Run:
        """Return a run of all tests on these vectors."""
        return wg.run(Fixed(self.place, rows), self.tests)

    def rows_of(self, words: Sequence[str]) -> list[int]:
        """Return the places of these texts."""
        return [self.place[word] for word in words]

    def effect(self, test: wg.Test, rows: Matrix) -> float:
        """Return d of a test on these vectors, as the metric cosine/mean has it."""
        unit = unit_length(rows)
        to = [unit[self.rows_of(words.texts)].mean(axis=0) for words in test.attributes]
        x, y = (unit[self.rows_of(words.texts)] @ (to[0] - to[1]) for words in test.targets)
        return effect_size(x, y)

    def tables(self, test: wg.Test, rows: Matrix) -> AttributeTables:
        """Return the cosines of a test on these vectors."""
        unit = unit_length(rows)
        x, y, a, b = (self.rows_of(words.texts) for words in (*test.targets, *test.attributes))
        return AttributeTables(unit[x + y] @ unit[a].T, unit[x + y] @ unit[b].T, a, b)

    def worse(self, before: Matrix, after: Matrix) -> tuple[set[str], set[str]]:
        """Return the tests that `compare` would find worse on the later vectors: by the rule, with fixed attributes."""
        changes: tuple[list[PairedChange], list[PairedChange]] = [], []
        for test in self.tested:
            n_x, models = len(test.targets[0].texts), [self.tables(test, rows) for rows in (before, after)]
            scores = [own.to_a.mean(axis=1) - own.to_b.mean(axis=1) for own in models]
            levels = [levels_of(own, within(s, n_x)) for own, s in zip(models, scores, strict=True)]
            factors = [(levels[0][role], levels[1][role]) for role in "AB"]
            changes[0].append(paired_change(scores[0], scores[1], n_x, factors=factors))
            changes[1].append(paired_change(scores[0], scores[1], n_x))
        found: list[set[str]] = []
        for rule in changes:
            adjusted = adjust([math.nan if change.p is None else change.p for change in rule], "holm")
            worse = [
                p <= ALPHA and abs(change.after) > abs(change.before)
                for p, change in zip(adjusted, rule, strict=True)
            ]
            found.append({test.name for test, is_worse in zip(self.tested, worse, strict=True) if is_worse})
        return found[0], found[1]

    def planted(self, test: wg.Test, size: float) -> Matrix:
        """Return the shift of all vectors that makes the mean d of a test grow by GROWTH, at this size of noise."""
        unit = unit_length(self.vectors)
        to = [unit[self.rows_of(words.texts)].mean(axis=0) for words in test.attributes]
        sign = 1.0 if self.effect(test, self.vectors) > 0 else -1.0
        shift = np.zeros_like(self.vectors)
        shift[self.rows_of(test.targets[0].texts)] = sign * (to[0] - to[1]) / np.linalg.norm(to[0] - to[1])
        rng = np.random.default_rng(1)
        draws = [self.vectors + self.noise(rng, size) for _ in range(CALIBRATION_DRAWS)]
        before = np.mean([self.effect(test, rows) for rows in draws])
        low, high = 0.0, 10 * float(np.linalg.norm(self.vectors, axis=1).mean())
        for _ in range(20):
            middle = (low + high) / 2
            after = np.mean([self.effect(test, rows + middle * shift) for rows in draws])
            low, high = (middle, high) if sign * (after - before) < GROWTH else (low, middle)
        return np.asarray(low * shift)


def alarms(worlds: Worlds, size: float, everywhere: bool, pairs: int) -> tuple[float, float, float]:
    """Return the shares of equal pairs that fail the gate: by the rule, with fixed attributes, by the old rule."""
    rng = np.random.default_rng([round(100 * size), everywhere])
    ours = fixed = old = 0
    fewer = min(pairs, FEWER_PAIRS)
    for pair in range(pairs):
        rows = [worlds.vectors + worlds.noise(rng, size, everywhere) for _ in range(2)]
        worse, worse_if_fixed = worlds.worse(rows[0], rows[1])
        ours += bool(worse)
        fixed += bool(worse_if_fixed)
        if pair < fewer:
            before, after = (worlds.run(own) for own in rows)
            judged = judge_runs(before, after)
            found = {row.test for row in judged.comparison.worse}
            if found != worse or bool(judged.breaches) != bool(worse):
                sys.exit(f"compare finds {sorted(found)} worse, the paired p of the tables {sorted(worse)}")
            rows_if_fixed = compare_runs(before, after, attributes="fixed").differences
            old += bool(judged.rises) or any(row.grew and row.changed for row in rows_if_fixed)
    return ours / pairs, fixed / pairs, old / fewer


def power(worlds: Worlds, name: str, size: float, pairs: int) -> tuple[float, float]:
    """Return the shares of pairs in which the planted growth is found: by the rule, with fixed attributes."""
    test = next(test for test in worlds.tests if test.name == name)
    shift = worlds.planted(test, size)
    rng = np.random.default_rng([round(100 * size), len(test.targets[0].texts)])
    found = fixed = 0
    for _ in range(pairs):
        before, after = (worlds.vectors + moved + worlds.noise(rng, size) for moved in (0, shift))
        worse, worse_if_fixed = worlds.worse(before, after)
        found += name in worse
        fixed += name in worse_if_fixed
    return found / pairs, fixed / pairs


def percent(share: float, pairs: int) -> str:
    """Return a share with its Monte Carlo error, in per cent."""
    return f"{100 * share:.1f} ± {100 * math.sqrt(share * (1 - share) / pairs):.1f}"


def tables(pairs: int, outside: list[str]) -> Iterator[str]:
    """Yield the lines of both tables; a cell with too many alarms is appended to `outside`."""
    worlds = Worlds()
    fewer = min(pairs, FEWER_PAIRS)
    most = MOST_ALARMS + 3 * math.sqrt(MOST_ALARMS * (1 - MOST_ALARMS) / pairs)
    yield (
        f"| equal models, {len(worlds.tests)} word tests, noise in | size | alarms, % of pairs | *fixed attributes* "
        "| *old rule* |"
    )
    yield "|---|---|---|---|---|"
    for everywhere in (True, False):
        where = "all words" if everywhere else "target words"
        for size in NOISES:
            ours, fixed, old = alarms(worlds, size, everywhere, pairs)
            if ours > most:
                outside.append(f"noise of {size:g} in {where}: {100 * ours:.1f} % of equal pairs alarm")
            yield (
                f"| {where} | {size:g} | {percent(ours, pairs)} | *{percent(fixed, pairs)}* "
                f"| *{percent(old, fewer)}* |"
            )
    yield ""
    heads = [f"found, %, noise {size:g} | *fixed attributes*" for size in NOISES]
    yield f"| growth of d by {GROWTH:g} in | words | {' | '.join(heads)} |"
    yield "|---" * (2 + 2 * len(heads)) + "|"
    for name in PLANTED:
        words = " + ".join(str(len(each.texts)) for each in wg.load_test(name).targets)
        found = [power(worlds, name, size, pairs) for size in NOISES]
        cells = [f"{percent(ours, pairs)} | *{percent(fixed, pairs)}*" for ours, fixed in found]
        yield f"| {name} | {words} | {' | '.join(cells)} |"


def main() -> None:
    """Print both tables, write them into a document between its marks, and fail where equal models alarm."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs of equal models")
    parser.add_argument("--write", type=Path, metavar="FILE")
    options = parser.parse_args()
    outside: list[str] = []
    lines = []
    with threadpool_limits(1):
        for line in tables(options.pairs, outside):
            print(line, flush=True)
            lines.append(line)
    if options.write:
        write_between(options.write, MARK, lines)
    if outside:
        sys.exit("\n".join(["equal models alarm too often:", *outside]))


if __name__ == "__main__":
    main()
