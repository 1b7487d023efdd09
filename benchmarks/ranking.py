"""Simulate ranking audits: the level of p without a preference, and the coverage of intervals (docs/methods 15).

Run with `python -m benchmarks.ranking [--repetitions N] [--write FILE]`; 400 repetitions take a minute on one core.
Then the cost is measured: time and memory with up to a million background passages and, with --model SPEC, the share
of time beside encoding. `--only simulations` and `--only cost` run one part.

A score is the effect of its name + that of its group in the query and in the passage + noise. In the world "contexts
agree" the group's effect is the same everywhere; in "contexts differ" it varies over queries (and over passages if
these are shared) around its mean, so that only the reading for random contexts has a correct level. The chi-square
test that counts copies as candidates is beside them.

Exit code 1 if a rate is on the wrong side of its bound by more than 3 Monte Carlo errors, or a cost misses its goal.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks._rows import write_between
from benchmarks.ranking_cost import BACKGROUNDS, report
from scipy.special import ndtr

from weatherglass.arrays import Matrix
from weatherglass.ranking.compare import GroupComparison, compare_groups
from weatherglass.ranking.ranking import judge
from weatherglass.ranking.scores import Scores
from weatherglass.ranking.texts import NameGroup
from weatherglass.stats.selection import p_of_copies, standing_among_copies
from weatherglass.stats.win_rate import RankedContexts, win_rate

MARK, COST_MARK = "ranking", "ranking cost"
ALPHA = 0.05
NOISE = 0.7
"""Standard deviation of the noise, in those of names."""
TAU = 0.8
"""Standard deviation of a group's effect over queries, and over shared passages, where contexts differ."""
SHIFTS = (0.0, 0.6, 1.5)
LEVELS = {"fixed": (0.03, 0.07), "random": (0.0, 0.08)}
"""Bounds of the level of each reading, in the world where it should hold."""
COVERED = 0.86


@dataclass(frozen=True, slots=True)
class Layout:
    """How many names, queries and passages there are, and whether queries share their passages."""

    n_x: int
    n_y: int
    queries: int
    passages: int
    crossed: bool

    def __str__(self) -> str:
        shared = "shared" if self.crossed else "each"
        return f"{self.n_x} + {self.n_y} names, {self.queries} queries, {self.passages} passages {shared}"

    @property
    def contexts(self) -> RankedContexts:
        query, passage = np.indices((self.queries, self.passages)).reshape(2, -1)
        own = passage if self.crossed else np.arange(len(query))
        return RankedContexts(query, own)


LAYOUTS = (
    Layout(8, 8, 4, 3, False),
    Layout(16, 16, 4, 4, True),
    Layout(16, 16, 12, 2, False),
    Layout(32, 32, 12, 4, True),
    Layout(8, 24, 12, 2, False),
)


@dataclass(slots=True)
class Rates:
    """Shares of the repetitions of one layout and world."""

    fixed: float = 0.0
    """p for fixed contexts at most alpha."""
    random: float = 0.0
    copies: float = 0.0
    fixed_covers: float = 0.0
    random_covers: float = 0.0


def scores_of(layout: Layout, shift: float, differ: bool, rng: np.random.Generator) -> Matrix:
    """Return drawn scores; X is shifted by `shift` on average."""
    n, contexts = layout.n_x + layout.n_y, layout.contexts
    scores = rng.normal(size=(n, 1)) + NOISE * rng.normal(size=(n, len(contexts.queries)))
    effects = np.full(len(contexts.queries), shift)
    if differ:
        effects += TAU * rng.normal(size=layout.queries)[contexts.queries]
        if layout.crossed:
            effects += TAU * rng.normal(size=layout.passages)[contexts.passages]
    scores[: layout.n_x] += effects
    return scores


def true_win_rate(layout: Layout, shift: float, differ: bool) -> float:
    """Return the win rate over all names, and over all contexts where these differ."""
    over_contexts = TAU**2 * (2 if layout.crossed else 1) if differ else 0.0
    return float(ndtr(shift / math.sqrt(2 + 2 * NOISE**2 + over_contexts)))


def simulate(layout: Layout, shift: float, differ: bool, repetitions: int, seed: int) -> Rates:
    """Return how often p is at most alpha, and how often the intervals contain the true win rate."""
    rng = np.random.default_rng(seed)
    truth, rates = true_win_rate(layout, shift, differ), Rates()
    groups = np.repeat([0, 1], [layout.n_x, layout.n_y])
    for _ in range(repetitions):
        scores = scores_of(layout, shift, differ, rng)
        found = win_rate(scores, layout.n_x, layout.contexts, ALPHA)
        chosen = standing_among_copies(scores, layout.contexts.queries).selected(0.1)
        rates.fixed += found.significance.p_value <= ALPHA
        rates.copies += p_of_copies(chosen, groups) <= ALPHA
        assert found.interval
        assert found.random
        rates.random += found.random.p <= ALPHA
        rates.fixed_covers += found.interval.low <= truth <= found.interval.high
        rates.random_covers += found.random.interval.low <= truth <= found.random.interval.high
    return Rates(*(getattr(rates, name) / repetitions for name in Rates.__slots__))


def wrong(rate: float, low: float, high: float, repetitions: int) -> bool:
    """Return whether a rate is outside its bounds by more than 3 Monte Carlo errors."""
    error = 3 * math.sqrt(max(rate * (1 - rate), 0.01) / repetitions)
    return not low - error <= rate <= high + error


def table(repetitions: int) -> tuple[list[str], list[str]]:
    """Return the lines of the table, and the rates that are out of bounds."""
    heads = [
        "layout",
        "contexts",
        "level, fixed",
        "level, random",
        "level, copies",
        "coverage, fixed",
        "coverage, random",
    ]
    lines, missed = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"], []
    for number, layout in enumerate(LAYOUTS):
        for differ in (False, True):
            world, own = ("differ", "random") if differ else ("agree", "fixed")
            seed = 100 * number + 10 * differ
            found = [simulate(layout, shift, differ, repetitions, seed + n) for n, shift in enumerate(SHIFTS)]
            null = found[0]
            levels = [f"{100 * rate:.0f}" for rate in (null.fixed, null.random, null.copies)]
            covered = [
                _range([getattr(one, f"{name}_covers") for one in found]) for name in ("fixed", "random")
            ]
            lines.append(f"| {layout} | {world} | {' | '.join([*levels, *covered])} |")
            checks = [(f"coverage, {own}", getattr(one, f"{own}_covers"), COVERED, 1.0) for one in found]
            checks.append((f"level, {own}", getattr(null, own), *LEVELS[own]))
            missed += [
                f"{layout}, contexts {world}: {name} {rate:.3f} not in {low:g} to {high:g}"
                for name, rate, low, high in checks
                if wrong(rate, low, high, repetitions)
            ]
    return lines, missed


def _range(rates: Sequence[float]) -> str:
    return f"{100 * min(rates):.0f}–{100 * max(rates):.0f}"


def whole_audit(differ: bool, rng: np.random.Generator) -> list[GroupComparison]:
    """Return the judged comparisons of an audit without a preference, in the layout of the package's own texts.

    Where topics differ, each favours a group by chance: what one topic shows is then true, and what all show is not.
    """
    topics, queries, passages, names = 12, 3, 4, 16
    topic, query, passage = np.indices((topics, queries, passages)).reshape(3, -1)
    scores = rng.normal(size=(2 * names, 1)) + NOISE * rng.normal(size=(2 * names, len(topic)))
    if differ:
        scores[:names] += TAU * rng.normal(size=topics)[topic]
    groups = tuple(NameGroup(side, tuple(f"{side}{n}" for n in range(names))) for side in "XY")
    labels = tuple(f"topic {number}" for number in range(topics))
    numbers = (topic, topic * queries + query, topic * passages + passage)
    return judge(compare_groups(Scores(groups, scores, labels, *numbers), "simulated", 0.1, ALPHA), ALPHA)


def outcomes(repetitions: int) -> tuple[list[str], list[str]]:
    """Return how often whole audits without a preference find one, over all and in any topic."""
    lines = [
        "| topics | over all robust | robust or limited | any topic robust | robust or limited |",
        "|---|---|---|---|---|",
    ]
    missed = []
    for differ in (False, True):
        rng, counts = np.random.default_rng(int(differ)), np.zeros(4)
        for _ in range(repetitions):
            whole, *by_topic = (one.outcome for one in whole_audit(differ, rng))
            found = ((whole,), by_topic)
            counts += [
                bool({*some} & {*words}) for some in found for words in (("robust",), ("robust", "limited"))
            ]
        rates = (counts / repetitions).tolist()
        lines.append(
            f"| {'differ' if differ else 'agree'} | {' | '.join(f'{100 * rate:.0f}' for rate in rates)} |"
        )
        checked = rates[:1] if differ else rates
        missed += [
            f"whole audits: {rate:.3f} above {ALPHA}"
            for rate in checked
            if wrong(rate, 0, ALPHA, repetitions)
        ]
    return lines, missed


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, write it between its marks if asked, and exit with 1 if a rate is out of bounds."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--write", type=Path, metavar="FILE")
    parser.add_argument("--only", choices=("simulations", "cost"))
    parser.add_argument("--background", type=int, default=BACKGROUNDS[-1], help="most background passages")
    parser.add_argument("--model", action="append", default=[], help="measure the share beside encoding")
    options = parser.parse_args(arguments)
    missed: list[str] = []
    if options.only != "cost":
        lines, missed = table(options.repetitions)
        further, more = outcomes(max(1, options.repetitions // 3))
        missed += more
        print("\n".join([*lines, "", *further, ""]))
        if options.write:
            write_between(options.write, MARK, lines)
    if options.only != "simulations":
        lines, more = report(options.background, options.model)
        missed += more
        print("\n".join([*lines, ""]))
        if options.write:
            write_between(options.write, COST_MARK, lines)
    print("\n".join(missed))
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
