"""Beside every number, how far to trust it: interval, leave-one-out, null distribution, power (docs/methods 3)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from weatherglass.arrays import Integers, Matrix, Vector
from weatherglass.inference.bootstrap import Interval, Sample, confidence_interval
from weatherglass.metrics.sets import VectorSet, order_by_content
from weatherglass.metrics.units import unit_numbers
from weatherglass.metrics.weat.covariance import Covariance
from weatherglass.metrics.weat.effect import effect_size
from weatherglass.metrics.weat.measure import SIMILARITIES, STATISTICS, Measure
from weatherglass.metrics.weat.score import raw_measures

NULL_DRAWS = 9_999
NULL_LEVELS = np.linspace(0, 1, 201)
NOISE_DRAWS = 200
NOISE_MATTERS_FROM = 16
"""Units in a set from which COVERAGE_BY_NOISE is asked."""
LEAST_COVERAGE = 92.0
COVERAGE = {
    8: (96.0, 93.8, 91.5, 79.0),
    16: (95.8, 94.2, 92.3, 87.5),
    25: (93.2, 93.3, 92.3, 86.8),
    64: (94.7, 95.3, 93.0, 91.0),
}
"""Per cent of BCa intervals that hold the true effect, by units in a set, at the effects COVERAGE_EFFECTS; the lower
of the columns "A, B fixed" and "A, B random" of `python -m benchmarks.trust coverage`."""
COVERAGE_EFFECTS = (0.0, 0.7, 1.4, 1.8)
COVERAGE_BY_NOISE = {
    0.3: (93.3, 93.0, 92.3),
    0.5: (95.3, 92.7, 87.0),
    0.7: (93.0, 89.3, 75.7),
}
"""The same for 25 units, by attribute noise, at the first effects: `python -m benchmarks.trust noise`, the cell of 0.3
and 1.4 from the longer run above. Smaller sets
have intervals so wide that the noise of their attributes does less harm."""
MAY_BE_SIGNIFICANT = 0.1
"""Above this p no usual alpha calls a result significant."""
POWER_EFFECTS = (0.2, 0.5, 0.8, 1.2)
"""Effect sizes that the power note is given for; the first three are Cohen's small, medium and large."""


@dataclass(frozen=True, slots=True)
class Named:
    """Which word and template each element of a set comes from."""

    words: tuple[str, ...]
    templates: tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """d without one word, or without one sentence template."""

    kind: str
    """word or template."""
    role: str
    """The set that the word is in; all four for a template."""
    name: str
    effect_size: float | None
    """None where all remaining scores are equal."""
    p_value: float | None = None
    """p without it; only where it was computed."""


@dataclass(frozen=True, slots=True, eq=False)
class Removal:
    """The scores that are left without one word or template, in permutation units."""

    kind: str
    role: str
    name: str
    effect_size: float
    x: Vector
    y: Vector

    def left_out(self, p_value: float | None = None) -> LeftOut:
        """What a result keeps of it."""
        d = self.effect_size
        return LeftOut(self.kind, self.role, self.name, None if math.isnan(d) else d, p_value)


@dataclass(frozen=True, slots=True)
class Trust:
    """What stands beside one effect size."""

    interval: Interval | None
    left_out: tuple[LeftOut, ...]
    null: tuple[float, ...]
    """Quantiles of d under exchanged labels, at NULL_LEVELS."""
    attribute_noise: float | None
    """See the function of this name; None where the scores within X and Y are equal."""

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the journal."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Trust:
        """The inverse of `to_json`."""
        interval = record["interval"]
        return cls(
            Interval(**interval) if interval else None,
            tuple(LeftOut(**left_out) for left_out in record["left_out"]),
            tuple(record["null"]),
            record["attribute_noise"],
        )


def most_telling(removals: Iterable[Removal], d: float) -> Removal | None:
    """The word or template without which the effect is smallest, in the direction that was observed."""
    finite = [removal for removal in removals if not math.isnan(removal.effect_size)]
    return min(finite, key=lambda removal: math.copysign(1, d) * removal.effect_size, default=None)


def sample_of(
    sets: Sequence[VectorSet],
    measure: Measure,
    permute: str,
    ddof: int,
    covariances: tuple[Covariance, Covariance] | None = None,
) -> tuple[Sample, list[Named]]:
    """What is resampled, and the names of its elements, in an order that depends on their content alone."""
    ordered = [order_by_content(each.vectors) for each in sets]
    x, y, a, b = (each.vectors[order] for each, order in zip(sets, ordered, strict=True))
    similarity = SIMILARITIES.get(measure.similarity)
    to_a, to_b = raw_measures(np.concatenate([x, y]), a, b, similarity, covariances)
    names = [_named(each, order) for each, order in zip(sets, ordered, strict=True)]
    units = _four(_units(named, permute) for named in names)
    statistic = STATISTICS.get(measure.statistic)
    return Sample(to_a, to_b, similarity.orientation, statistic, units, ddof), names


def _named(element_set: VectorSet, order: Integers) -> Named:
    if not element_set.elements:
        return Named(tuple(str(row) for row in order), (None,) * len(order))
    elements = [element_set.elements[row] for row in order]
    return Named(tuple(e.word for e in elements), tuple(e.template for e in elements))


def _units(named: Named, permute: str) -> Integers:
    """Elements are units of their own; words are numbered in the order of their first element."""
    if permute == "elements":
        return np.arange(len(named.words))
    return unit_numbers(named.words)


def assess(
    sample: Sample,
    names: Sequence[Named],
    d: float,
    resamples: int,
    seed: int,
    p_of: Callable[[Vector, Vector], float],
    p_value: float,
) -> Trust:
    """How far to trust d.

    Args:
        resamples: of the bootstrap; 0 leaves out the interval.
        p_of: p of the scores that are left without a word or template.
        p_value: p of all scores; only one that could be significant can hang on a word or a template.
    """
    n_x, _, n_a, n_b = sample.sizes()
    scores = sample.scores(np.ones((n_a, 1)), np.ones((n_b, 1)))[:, 0]
    interval = confidence_interval(sample, d, np.random.default_rng(seed), resamples) if resamples else None
    null = null_quantiles(scores[:n_x], scores[n_x:], sample.ddof, np.random.default_rng(seed))
    noise = attribute_noise(sample, scores, np.random.default_rng(seed))
    removals = list(leave_one_out(sample, names))
    telling = [most_telling(removals, d)]
    if p_value <= MAY_BE_SIGNIFICANT:
        telling += [most_telling([r for r in removals if r.kind == kind], d) for kind in ("word", "template")]
    p_without = {removal: p_of(removal.x, removal.y) for removal in telling if removal}
    return Trust(
        interval,
        tuple(removal.left_out(p_without.get(removal)) for removal in removals),
        tuple(null),
        None if math.isnan(noise) else noise,
    )


def attribute_noise(sample: Sample, scores: Vector, rng: np.random.Generator) -> float:
    """The share of the variance of scores within X and Y that is owed to the choice of attributes.

    Drawing A and B anew adds to each score the noise that lists of this length carry, which is in the scores once
    already: so the growth of the variance within the sets, as a share of what it was, estimates that share.
    """
    n_x, _, n_a, n_b = sample.sizes()
    a, b = (rng.multinomial(k, [1 / k] * k, size=NOISE_DRAWS).T.astype(np.float64) for k in (n_a, n_b))
    within = _variance_within(scores[:, np.newaxis], n_x)[0]
    if within <= 1e-24 * float(np.abs(scores).max(initial=0.0)) ** 2:
        return math.nan
    return float(_variance_within(sample.scores(a, b), n_x).mean() / within - 1)


def _variance_within(scores: Matrix, n_x: int) -> Vector:
    x, y = scores[:n_x], scores[n_x:]
    squares: Vector = ((x - x.mean(axis=0)) ** 2).sum(axis=0) + ((y - y.mean(axis=0)) ** 2).sum(axis=0)
    return squares


def leave_one_out(sample: Sample, names: Sequence[Named]) -> Iterator[Removal]:
    """d with each word left out, and with each template left out of all sets; similarities are not computed again.

    What would leave a set empty is passed over.
    """
    for role, named in enumerate(names):
        distinct = list(dict.fromkeys(named.words))
        if len(distinct) > 1:
            for word in distinct:
                keep = [np.ones(len(each.words), dtype=bool) for each in names]
                keep[role] = np.array([each != word for each in named.words])
                yield from _without(sample, keep, "word", "XYAB"[role], word)
    templates = dict.fromkeys(t for named in names for t in named.templates if t is not None)
    for template in templates:
        keep = [np.array([each != template for each in named.templates]) for named in names]
        if all(kept.any() for kept in keep) and len(templates) > 1:
            yield from _without(sample, keep, "template", "XYAB", template)


def _without(sample: Sample, keep: Sequence[Vector], kind: str, role: str, name: str) -> Iterator[Removal]:
    rows = np.concatenate([keep[0], keep[1]])
    left = Sample(
        sample.to_a[rows][:, keep[2]],
        sample.to_b[rows][:, keep[3]],
        sample.orientation,
        sample.statistic,
        _four(_renumber(units[kept]) for units, kept in zip(sample.units, keep, strict=True)),
        sample.ddof,
    )
    n_x, n_y, n_a, n_b = left.sizes()
    scores = left.scores(np.ones((n_a, 1)), np.ones((n_b, 1)))[:, 0]
    x, y = scores[:n_x], scores[n_x:]
    if n_x + n_y > sample.ddof and n_x and n_y:
        yield Removal(kind, role, name, effect_size(x, y, sample.ddof), x, y)


def _four(units: Iterable[Integers]) -> tuple[Integers, Integers, Integers, Integers]:
    x, y, a, b = units
    return x, y, a, b


def _renumber(units: Integers) -> Integers:
    _, numbers = np.unique(units, return_inverse=True)
    return numbers


def null_quantiles(x: Vector, y: Vector, ddof: int, rng: np.random.Generator) -> list[float]:
    """Quantiles of d when labels are exchanged at random, at NULL_LEVELS; none where all scores agree.

    The sd of all scores is the same for every relabelling, so d follows from the sum over X.
    """
    from weatherglass.inference.significance.grid import on_grid
    from weatherglass.inference.significance.sampled import sample_sums

    grid = on_grid(x, y)
    if grid.constant:
        return []
    sums = sample_sums(grid, NULL_DRAWS, rng).astype(np.float64)
    spread = float(np.std(grid.values, ddof=ddof))
    drawn = (sums / len(x) - (grid.total - sums) / len(y)) / spread
    return [float(d) for d in np.quantile(drawn, NULL_LEVELS)]


def interval_is_too_narrow(n: int, d: float, noise: float = 0.0) -> bool:
    """Whether intervals of sets of n units, effects of size d and this attribute noise were measured below 92 %."""
    if math.isnan(d):
        return False
    by_size = [float(np.interp(abs(d), COVERAGE_EFFECTS, row)) for row in COVERAGE.values()]
    coverage = np.interp(math.log(n), [math.log(size) for size in COVERAGE], by_size)
    if n >= NOISE_MATTERS_FROM:
        effects = COVERAGE_EFFECTS[:3]
        by_noise = [float(np.interp(abs(d), effects, row)) for row in COVERAGE_BY_NOISE.values()]
        coverage = min(coverage, np.interp(noise, list(COVERAGE_BY_NOISE), by_noise))
    return bool(coverage < LEAST_COVERAGE)


def power(n_x: int, n_y: int, d: float, alpha: float, ddof: int = 1) -> float:
    """The chance that a one-sided test at `alpha` finds an effect of size d in normal scores.

    Two-sided tests halve alpha: what is found on the wrong side does not count.

    The t-test stands in for the permutation test, which it approaches. d divides by the sd of all scores, which
    the effect itself widens: with shift δ in sds within a set, d² = δ² / ((n - 2 + δ²·n_x·n_y/n) / (n - ddof)).
    """
    from scipy.special import nctdtr, stdtrit

    n = n_x + n_y
    share = n_x * n_y / n
    room = n - ddof - d * d * share
    if n <= 2 or room <= 0:
        return math.nan
    shift = math.sqrt(d * d * (n - 2) / room)
    return float(1 - nctdtr(n - 2, shift * math.sqrt(share), stdtrit(n - 2, 1 - alpha)))
