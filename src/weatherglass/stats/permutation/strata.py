"""Compute p of a sum over strata, with labels exchanged within each stratum (docs/methods 12).

The null distribution is the convolution of the distributions of the strata. For few words, p is counted by
meet-in-the-middle. For more words, the Fourier coefficients of the strata are multiplied, which gives certain bounds
of p. If the bounds are too wide, labels are drawn at random.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.stats import Significance
from weatherglass.stats.permutation.bounds import TailInterval, TiltedStratum, bound_tilted
from weatherglass.stats.permutation.grid import FEW_PARTITIONS, TIE, Grid
from weatherglass.stats.permutation.tilt import joint_tilt

LARGEST_HALF = 1 << 17
"""The maximum number of sums of one half of the words for which p is counted; this takes about 20 ms."""
MOST_COUNTS = 4_096
"""The maximum number of combinations of counts, one per stratum, in a half; each combination is a separate list."""
WORK = 40_000_000
"""The number of multiplications that bounds of one tail may take, about 0.1 s."""
WIDEST = 0.2
"""The largest gap of bounds as a share of p; bounds with a larger gap are replaced by draws, unless p is below
RARE.
"""
RARE = 1e-4
SAMPLES = 99_999


@dataclass(frozen=True, slots=True, eq=False)
class Stratum:
    """A group of words whose labels are exchanged with each other; `size` of them are in X."""

    values: Integers
    """The values, ascending; the smallest is 0."""
    size: int

    @property
    def labellings(self) -> int:
        return math.comb(len(self.values), self.size)

    @property
    def least(self) -> int:
        return int(self.values[: self.size].sum())

    @property
    def greatest(self) -> int:
        return int(self.values[len(self.values) - self.size :].sum())

    def mirrored(self) -> Stratum:
        """Return the stratum with negated values."""
        return Stratum(np.ascontiguousarray(self.values[-1] - self.values[::-1]), self.size)


@dataclass(frozen=True, slots=True, eq=False)
class StrataTail:
    """The labellings of all strata whose sum is at least `threshold`."""

    strata: tuple[Stratum, ...]
    threshold: int

    @property
    def labellings(self) -> int:
        return math.prod(stratum.labellings for stratum in self.strata)

    @property
    def beyond_the_mean(self) -> bool:
        mean = sum(s.size * int(s.values.sum()) / len(s.values) for s in self.strata)
        return self.threshold > mean

    def mirrored(self) -> StrataTail:
        """Return the tail of sums ≤ threshold."""
        tops = sum(stratum.size * int(stratum.values[-1]) for stratum in self.strata)
        return StrataTail(tuple(stratum.mirrored() for stratum in self.strata), tops - self.threshold)

    def rest(self) -> StrataTail:
        """Return the tail of the labellings below the threshold."""
        return StrataTail(self.strata, self.threshold - 1).mirrored()

    @property
    def known(self) -> int | None:
        """Return the number of labellings if it is known to be none or all; otherwise None."""
        if self.threshold > sum(stratum.greatest for stratum in self.strata):
            return 0
        return self.labellings if self.threshold <= sum(stratum.least for stratum in self.strata) else None


def exchange_within_strata(
    strata: Sequence[tuple[Vector, Vector]],
    statistic: float,
    *,
    precision: float = 0.01,
    seed: int = 0,
    work: int = WORK,
) -> Significance:
    """Return the two-sided p of a statistic that is a sum over the words in X plus a constant.

    p is the share of labellings, exchanged within each stratum, for which |statistic| is at least as large.

    Args:
        strata: for each stratum, the values of its words in X and in Y.
        statistic: the observed statistic; it differs from the sum over all words in X by the constant.
        precision: the relative gap that bounds should reach.
        seed: the seed of the draws.
        work: the number of multiplications that bounds of one tail may take.
    """
    if statistic < 0:
        return exchange_within_strata(
            [(-x, -y) for x, y in strata], -statistic, precision=precision, seed=seed, work=work
        )
    high, low = _tails(strata, statistic)
    if high is None or low is None:
        return Significance(1.0, 1.0, 1.0, "enumerate", 1.0, True, 1.0)
    labellings = high.labellings
    least = max(1 / labellings, np.finfo(np.float64).tiny)
    if (counts := _counted(high, low)) is not None:
        p = counts / labellings
        return Significance(p, p, p, "meet-in-the-middle", least, True, p)
    interval = _bounded(high, precision, work) + _bounded(low, precision, work)
    p_low, p_high = max(interval.low, least * (1 - 2**-52)), max(interval.high, least)
    if p_high - p_low <= WIDEST * p_high or p_high <= RARE:
        middle = math.sqrt(p_low) * math.sqrt(p_high)
        return Significance(p_high, p_low, p_high, "bounds", least, True, middle)
    return _sampled(high, low, seed)


def _tails(
    strata: Sequence[tuple[Vector, Vector]], statistic: float
) -> tuple[StrataTail | None, StrataTail | None]:
    """Return the tail of sums at least as large as the observed one, and the opposite tail; None if they contain all
    sums.
    """
    every = np.concatenate([part for stratum in strata for part in stratum])
    exponent = math.frexp(float(np.abs(every).max()))[1]
    bits = min(53, 61 - math.ceil(math.log2(len(every)))) - exponent
    observed, on_grid = 0, []
    for x, y in strata:
        values = np.rint(np.ldexp(np.concatenate([x, y]), bits)).astype(np.int64)
        values -= values.min()
        if len(x) and len(y) and values.any():
            observed += int(values[: len(x)].sum())
            on_grid.append(Stratum(np.sort(values), len(x)))
    # The grid rounds every value by up to half a unit, so sums that differ only by rounding are ties.
    slack = len(every)
    high = StrataTail(tuple(on_grid), observed)
    if high.labellings <= FEW_PARTITIONS:
        slack += math.ceil(math.ldexp(TIE * math.fsum(np.abs(every)), bits))
    reflected = observed - math.floor(math.ldexp(2 * statistic, bits))
    if not on_grid or observed - slack <= reflected + slack:
        return None, None
    low = StrataTail(high.strata, reflected + slack).mirrored()
    return StrataTail(high.strata, observed - slack), low


def _counted(*tails: StrataTail) -> int | None:
    """Return the number of labellings in all tails together; None if counting would take too long."""
    halves = [_halves(stratum) for stratum in tails[0].strata]
    for side in (0, 1):
        sizes = [(len(half[side]), s.size) for half, s in zip(halves, tails[0].strata, strict=True)]
        sums = math.prod(sum(math.comb(n, k) for k in range(min(n, size) + 1)) for n, size in sizes)
        if sums > LARGEST_HALF or math.prod(min(n, size) + 1 for n, size in sizes) > MOST_COUNTS:
            return None
    return sum(_meet(tail) for tail in tails)


def _halves(stratum: Stratum) -> tuple[Integers, Integers]:
    return stratum.values[::2], stratum.values[1::2]


def _meet(tail: StrataTail) -> int:
    if tail.known is not None:
        return tail.known
    halves = [_halves(stratum) for stratum in tail.strata]
    sizes = [stratum.size for stratum in tail.strata]
    first = _sums_by_counts([half[0] for half in halves], sizes)
    second = _sums_by_counts([half[1] for half in halves], sizes)
    total = 0
    for counts, sums in first.items():
        others = second.get(tuple(size - count for size, count in zip(sizes, counts, strict=True)))
        if others is not None:
            short, long = sorted((sums, others), key=len)
            reached = np.searchsorted(np.sort(short), tail.threshold - long, side="left")
            total += len(short) * len(long) - int(reached.sum())
    return total


def _sums_by_counts(strata: Sequence[Integers], sizes: Sequence[int]) -> dict[tuple[int, ...], Integers]:
    """Return the sums of all choices of words, by the number of words chosen from each stratum."""
    found: dict[tuple[int, ...], Integers] = {(): np.zeros(1, dtype=np.int64)}
    for values, size in zip(strata, sizes, strict=True):
        by_count = [np.zeros(1, dtype=np.int64)]
        for value in values:
            longer = [*by_count, np.empty(0, dtype=np.int64)]
            by_count = [
                np.concatenate([own, longer[count - 1] + value]) if count else own
                for count, own in enumerate(longer[: size + 1])
            ]
        found = {
            (*counts, count): (sums[:, np.newaxis] + own).ravel()
            for counts, sums in found.items()
            for count, own in enumerate(by_count)
        }
    return found


def _bounded(tail: StrataTail, precision: float, work: int) -> TailInterval:
    if tail.known is not None:
        share = tail.known / tail.labellings
        return TailInterval(share, share)
    if not tail.beyond_the_mean:
        return _bounded(tail.rest(), precision, work).complement()
    tilt = joint_tilt([(s.values, s.size) for s in tail.strata], tail.threshold)
    if tilt is None:
        return TailInterval(0.0, 1.0)
    parts = [
        TiltedStratum(stratum.values, stratum.size, offset, centre)
        for stratum, offset, centre in zip(tail.strata, tilt.offsets, tilt.centres, strict=True)
    ]
    return bound_tilted(
        parts, tail.threshold, tilt.rate, tilt.log_p, tilt.density, precision=precision, work=work
    )


def _sampled(high: StrataTail, low: StrataTail, seed: int) -> Significance:
    from weatherglass.stats.permutation.sampled import clopper_pearson, sample_sums

    rng = np.random.default_rng(seed)
    sums = np.zeros(SAMPLES, dtype=np.int64)
    for stratum in high.strata:
        sums += sample_sums(Grid(stratum.values, stratum.size, 0), SAMPLES, rng)
    tops = sum(stratum.size * int(stratum.values[-1]) for stratum in high.strata)
    hits = int(((sums >= high.threshold) | (tops - sums >= low.threshold)).sum())
    p_low, p_high = clopper_pearson(hits, SAMPLES)
    p = (hits + 1) / (SAMPLES + 1)
    return Significance(p, p_low, p_high, "sampled", 1 / (SAMPLES + 1), False, p)
