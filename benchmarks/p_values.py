"""Time p-values: exact, sampled and bounds, against sent-bias and scipy, and all that a run computes."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from benchmarks._rows import Options, Row, cpu

import weatherglass.stats.permutation as significance
from weatherglass.arrays import Vector
from weatherglass.metrics.exchange import INNER_SECONDS
from weatherglass.stats.permutation import Significance, permutation_test

DRAWS = 99_999
Asked = tuple[Vector, Vector, dict[str, Any]]
"""The arguments of a permutation test."""


def sent_bias(x: Vector, y: Vector, draws: int = DRAWS) -> float:
    """Compute p by May et al.'s released procedure: shuffle, take the first |X|, sum, compare; one more is counted."""
    rng = np.random.default_rng(0)
    scores, hits = np.concatenate([x, y]), 1
    observed = scores[: len(x)].sum()
    order = np.arange(len(scores))
    for _ in range(draws):
        rng.shuffle(order)
        hits += bool(scores[order[: len(x)]].sum() >= observed)
    return hits / (draws + 1)


def scipys(x: Vector, y: Vector, draws: int = DRAWS) -> float:
    """Compute p by scipy.stats.permutation_test of the difference of sums, vectorised."""
    from scipy.stats import permutation_test as test

    def difference(first: Vector, second: Vector, axis: int) -> Any:
        return first.sum(axis=axis) - second.sum(axis=axis)

    done = test(
        (x, y),
        difference,
        permutation_type="independent",
        vectorized=True,
        n_resamples=draws,
        alternative="greater",
        batch=10_000,
        rng=np.random.default_rng(0),
    )
    return float(done.pvalue)


def agrees(sampled: float, exact: float, draws: int) -> bool:
    """Return whether a sampled p is within five standard errors of the exact one."""
    return bool(abs(sampled - exact) <= 5 * (exact * (1 - exact) / draws) ** 0.5 + 2 / draws)


def scores(n: int, seed: int = 0) -> tuple[Vector, Vector]:
    """Return normal scores of n + n words, d about 0.5."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=n) + 0.5, rng.normal(size=n)


def scores_apart(n: int, t: float, seed: int) -> tuple[Vector, Vector]:
    """Return normal scores of n words in all, whose two groups are apart by a given t, exactly."""
    rng = np.random.default_rng(seed)
    x, y = (group - group.mean() for group in (rng.normal(size=(n + 1) // 2), rng.normal(size=n // 2)))
    spread = math.sqrt((x @ x + y @ y) / (n - 2) * (1 / len(x) + 1 / len(y)))
    return x + t * spread, y


def typical_costs(sizes: Sequence[int], rounds: int) -> list[float]:
    """Return the median cost of p of this many words, over data that are equally extreme at each size.

    Of each the least of a few rounds over all sizes: whatever else the machine does can only add to it.
    """
    tests = {
        (n, t): partial(permutation_test, *scores_apart(n, t, seed))
        for n in sizes
        for seed, t in enumerate((0.5, 1.0, 1.5, 2.0, 2.5))
    }
    least = dict.fromkeys(tests, math.inf)
    for _ in range(rounds):
        for which, test in tests.items():
            least[which] = min(least[which], cpu(test, 1))
    return [statistics.median(cost for (m, _), cost in least.items() if m == n) for n in sizes]


def largest_step(costs: Sequence[float]) -> float:
    """Return the largest ratio of costs from one size to the next, up or down; costs below 2 ms count as 2 ms."""
    return max(max(a, b) / max(min(a, b), 2e-3) for a, b in pairwise(costs))


def widths(sizes: Iterable[int]) -> str:
    """Return how far apart the certified ends of p are at each size, in per cent of p; nothing where p is exact."""
    found = {n: permutation_test(*scores(n)) for n in sizes}
    apart = {n: one.p_value / one.p_low - 1 for n, one in found.items() if one.p_low}
    return ", ".join(f"{n}: {100 * gap:.2g} %" for n, gap in apart.items() if gap > 0)


def p_values_of_a_run() -> list[Asked]:
    """Return the arguments of every permutation test that a run of all published tests on the embedded model makes."""
    import weatherglass as wg

    asked: list[Asked] = []

    def remembered(x: Vector, y: Vector, **how: Any) -> Significance:
        asked.append((x, y, how))
        return permutation_test(x, y, **how)

    significance.permutation_test = remembered
    try:
        wg.run()
    finally:
        significance.permutation_test = permutation_test
    return asked


def rows(options: Options) -> Iterator[Row]:
    """Yield 25 + 25 words, the steps over n, and the p-values of a run."""
    draws, n, repeats = (9_999, 25, 1) if options.quick else (DRAWS, 25, 3)
    x, y = scores(n)
    permutation_test(x, y)  # compiled code and memory are then at hand
    exact = permutation_test(x, y)
    ours = cpu(lambda: permutation_test(x, y), repeats)
    bounds = cpu(lambda: permutation_test(x, y, method="bounds"), repeats)
    between = permutation_test(x, y, method="bounds")
    assert between.p_low is not None
    assert between.p_high is not None
    contains = between.p_low <= exact.p_value <= between.p_high
    theirs = cpu(lambda: sent_bias(x, y, draws), 1)
    same = agrees(sent_bias(x, y, draws), exact.p_value, draws)
    yield Row("p of 25 + 25, exact", ours, note=f"{exact.p_method}, p {exact.p_value:.4g}")
    what = f"sent-bias, {draws} draws"
    yield Row("p of 25 + 25, exact, against sent-bias", ours, what, theirs, same)
    of_scipy = cpu(lambda: scipys(x, y, draws), 1)
    same = agrees(scipys(x, y, draws), exact.p_value, draws)
    yield Row("p of 25 + 25, exact, against scipy", ours, f"scipy, {draws} draws", of_scipy, same)
    yield Row("p of 25 + 25, bounds, against sent-bias", bounds, what, theirs, contains)
    sampled = cpu(lambda: permutation_test(x, y, method="sampled"), repeats)
    yield Row("p of 25 + 25, sampled, against sent-bias", sampled, what, theirs)
    yield from steps(options)
    asked = p_values_of_a_run()
    mine = cpu(lambda: compute(asked), 1)
    few = asked[:: 20 if options.quick else 8]
    rest = cpu(lambda: [sent_bias(x, y, draws) for x, y, _ in few], 1) * len(asked) / len(few)
    yield Row("all p of a run, against sent-bias", mine, what, rest, note=f"{len(asked)} p-values")
    reported = [one for one in asked if not is_inner(one)]
    inner = [one for one in asked if is_inner(one)]
    for name, some in (("reported p of a run", reported), ("p of a run without a word or template", inner)):
        methods = Counter(found.p_method for found in compute(some))
        counted = ", ".join(f"{number} by {method}" for method, number in methods.most_common())
        yield Row(name, cpu(partial(compute, some), 1), note=counted)


def steps(options: Options) -> Iterator[Row]:
    """Yield the cost of p as X and Y grow alternately, beyond the sizes that are counted."""
    sizes = range(32, 41 if options.quick else 69)
    costs = typical_costs(sizes, 1 if options.quick else 8)
    fewer = list(zip(sizes, costs, strict=True))[::4]
    listed = ", ".join(f"{(n + 1) // 2} + {n // 2}: {cost:.3f}" for n, cost in fewer)
    yield Row("p from 16 + 16 to 34 + 34, largest step by a word", largest_step(costs), note=listed)
    both = largest_step(costs[::2])
    yield Row(
        "p from 16 + 16 to 34 + 34, largest step by a word on both sides",
        both,
        note="exact counting doubles with each pair",
    )
    if not options.quick:
        cost = costs[52 - sizes[0]]
        note = f"width of the certified interval: {widths(range(26, 35))}"
        yield Row("p of 26 + 26, no longer counted", cost, note=note)


def compute(asked: Sequence[Asked]) -> list[Significance]:
    """Return the p-values, one after the other."""
    return [permutation_test(x, y, **how) for x, y, how in asked]


def is_inner(asked: Asked) -> bool:
    """Return whether it is one of the many p without a word or template, which have a small budget."""
    return bool(asked[2]["budget"].seconds == INNER_SECONDS)
