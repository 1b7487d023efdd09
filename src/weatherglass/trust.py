"""Beside every number, how far to trust it: interval, leave-one-out, null distribution, power (METHODS 3)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.association.bootstrap import Interval, Sample, confidence_interval
from weatherglass.association.covariance import Covariance
from weatherglass.association.effect import effect_size
from weatherglass.association.measure import SIMILARITIES, STATISTICS, Measure
from weatherglass.association.score import raw_measures
from weatherglass.vector_sets import VectorSet, order_by_content

NULL_DRAWS = 9_999
NULL_LEVELS = np.linspace(0, 1, 201)
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
    effect_size: float
    x: Vector
    y: Vector
    """The scores that are left, in permutation units."""

    def record(self) -> dict[str, Any]:
        d = self.effect_size
        return {
            "kind": self.kind,
            "role": self.role,
            "name": self.name,
            "effect_size": None if math.isnan(d) else d,
        }


@dataclass(frozen=True, slots=True)
class Trust:
    """What stands beside one effect size."""

    interval: Interval | None
    left_out: tuple[LeftOut, ...]
    null: tuple[float, ...]
    """Quantiles of d under exchanged labels, at NULL_LEVELS."""

    def most_telling(self, d: float) -> LeftOut | None:
        """The word or template without which the effect is smallest, in the direction that was found."""
        finite = [each for each in self.left_out if not math.isnan(each.effect_size)]
        return min(finite, key=lambda each: math.copysign(1, d) * each.effect_size, default=None)

    def record(self) -> dict[str, Any]:
        """Plain values, for the journal and the details."""
        return {
            "interval": asdict(self.interval) if self.interval else None,
            "left_out": [each.record() for each in self.left_out],
            "null": list(self.null),
        }


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
    numbers = {word: number for number, word in enumerate(dict.fromkeys(named.words))}
    return np.array([numbers[word] for word in named.words])


def assess(sample: Sample, names: Sequence[Named], d: float, resamples: int, seed: int) -> Trust:
    """How far to trust d: `resamples` 0 leaves out the interval."""
    n_x, _, n_a, n_b = sample.sizes()
    scores = sample.scores(np.ones((n_a, 1)), np.ones((n_b, 1)))[:, 0]
    interval = confidence_interval(sample, d, np.random.default_rng(seed), resamples) if resamples else None
    null = null_quantiles(scores[:n_x], scores[n_x:], sample.ddof, np.random.default_rng(seed))
    return Trust(interval, tuple(leave_one_out(sample, names)), tuple(null))


def leave_one_out(sample: Sample, names: Sequence[Named]) -> Iterator[LeftOut]:
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


def _without(sample: Sample, keep: Sequence[Vector], kind: str, role: str, name: str) -> Iterator[LeftOut]:
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
        yield LeftOut(kind, role, name, effect_size(x, y, sample.ddof), x, y)


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
    from weatherglass.significance.grid import on_grid
    from weatherglass.significance.sampled import sample_sums

    grid = on_grid(x, y)
    if grid.constant:
        return []
    sums = sample_sums(grid, NULL_DRAWS, rng).astype(np.float64)
    spread = float(np.std(grid.values, ddof=ddof))
    drawn = (sums / len(x) - (grid.total - sums) / len(y)) / spread
    return [float(d) for d in np.quantile(drawn, NULL_LEVELS)]


def power(n_x: int, n_y: int, d: float, alpha: float, ddof: int = 1) -> float:
    """The chance that a one-sided test at `alpha` finds an effect of size d in normal scores.

    The t-test stands in for the permutation test, which it approaches. d divides by the sd of all scores, which
    the effect itself widens: with shift δ in sds within a set, d² = δ² / ((n - 2 + δ²·n_x·n_y/n) / (n - ddof)).
    """
    from scipy.stats import nct
    from scipy.stats import t as student

    n = n_x + n_y
    share = n_x * n_y / n
    room = n - ddof - d * d * share
    if n <= 2 or room <= 0:
        return math.nan
    shift = math.sqrt(d * d * (n - 2) / room)
    return float(nct.sf(student.isf(alpha, n - 2), n - 2, shift * math.sqrt(share)))
