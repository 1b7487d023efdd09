"""Test shares of sentence pairs by exact sign flips over units, with intervals that agree with p (docs/methods 16).

A unit is a pair, or all pairs of one term or template. The pairs of a unit share words, so their signs are flipped
together. The score of a unit is the number of its pairs in which the first sentence is more probable minus the number
in which the second one is; for a mean over terms, it is that difference divided by the number of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from weatherglass.arrays import Integers, Vector
from weatherglass.errors import UnitError
from weatherglass.stats import Alternative, Significance
from weatherglass.stats.interval import Reason, upper_point
from weatherglass.stats.leave_one_out import LeftOut
from weatherglass.stats.relabelling import COUNTED, DRAWS, sign_flip_test
from weatherglass.stats.robustness import NULL_LEVELS, Assessment, Robustness

if TYPE_CHECKING:
    from weatherglass.metrics.exchange import Tested

LARGEST_SUM = 20_000
"""The largest sum of absolute integer scores for which the distribution is computed exactly."""
STEPS = 2_048
"""The number of grid steps in the mean absolute score, if scores are rounded to a grid for bounds of p."""
WORK = 400_000_000
"""The number of additions that bounds of p may take, about 0.3 s."""


class StereoSetFigures(NamedTuple):
    """The three figures of StereoSet, each from 0 to 100 (Nadeem et al. 2021)."""

    lms: float
    """The language modelling score, the share of cases in which a related sentence is more probable than the unrelated
    one.
    """
    ss: float
    """The stereotype score, the share of cases in which the stereotype is more probable than the anti-stereotype; 50
    means no bias.
    """
    icat: float
    """The combined score lms · min(ss, 100 − ss)/50, which is 100 for a model that is never wrong and never biased."""


def stereoset_figures(
    stereotype: Vector, anti: Vector, unrelated: Vector, terms: Sequence[str]
) -> StereoSetFigures:
    """Return the figures as published: shares within each term, averaged over terms; a tie counts as anti-stereotype.

    >>> stereoset_figures(np.array([3.0, 1.0]), np.array([2.0, 1.0]), np.array([0.0, 2.0]), ["chef", "chef"])
    StereoSetFigures(lms=50.0, ss=50.0, icat=50.0)
    """
    related, more = _shares_by_term(stereotype, anti, unrelated, terms)
    return _figures(float(related.mean()), float(more.mean()))


def stereoset_intervals(
    stereotype: Vector, anti: Vector, unrelated: Vector, terms: Sequence[str], alpha: float = 0.05
) -> dict[str, tuple[float, float]]:
    """Return the intervals of lms and icat by name: figure ± t·√V, limited to 0 to 100, with V from the jackknife over
    terms; empty with a single term.
    """
    related, more = _shares_by_term(stereotype, anti, unrelated, terms)
    m = len(related)
    if m < 2:
        return {}
    t = float(upper_point(alpha / 2, m - 1))
    figures = _figures(float(related.mean()), float(more.mean()))
    rest = zip((related.sum() - related) / (m - 1), (more.sum() - more) / (m - 1), strict=True)
    without = [_figures(*means) for means in rest]
    intervals = {}
    for name in ("lms", "icat"):
        value, left = getattr(figures, name), np.array([getattr(each, name) for each in without])
        width = t * math.sqrt((m - 1) / m * float(((left - left.mean()) ** 2).sum()))
        intervals[name] = max(0.0, value - width), min(100.0, value + width)
    return intervals


def _shares_by_term(
    stereotype: Vector, anti: Vector, unrelated: Vector, terms: Sequence[str]
) -> tuple[Vector, Vector]:
    """Return, for each term, the shares in per cent in which a related sentence beats the unrelated one, and the
    stereotype beats the anti-stereotype.
    """
    _, units = np.unique(np.asarray(terms, dtype=np.str_), return_inverse=True)
    sizes = np.bincount(units)
    related = (stereotype > unrelated).astype(np.float64) + (anti > unrelated)
    return 100 * np.bincount(units, related) / (2 * sizes), 100 * np.bincount(
        units, stereotype > anti
    ) / sizes


def _figures(lms: float, ss: float) -> StereoSetFigures:
    return StereoSetFigures(lms, ss, lms * min(ss, 100 - ss) / 50)


@dataclass(frozen=True, slots=True, eq=False)
class Share:
    """The share of pairs whose first sentence is more probable, in per cent; a tie counts as half."""

    leads: Integers
    """For each unit, the number of pairs with the first sentence more probable minus the number with the second
    one.
    """
    sizes: Integers
    """The number of pairs of each unit."""
    over_units: bool = False
    """Whether the value is the mean of the units' shares, as in StereoSet, instead of the share of all pairs."""

    @property
    def scores(self) -> Vector:
        """Return the scores whose signs are flipped, one per unit."""
        return self.leads / self.sizes if self.over_units else self.leads.astype(np.float64)

    @property
    def number(self) -> int:
        """Return the number of units if they count equally, else the number of pairs."""
        return len(self.leads) if self.over_units else int(self.sizes.sum())

    @property
    def value(self) -> float:
        """Return the share in per cent."""
        return 50 + 50 * float(self.scores.sum()) / self.number

    @property
    def variance(self) -> float:
        """Return K, where the variance of the value, as a share of 1, is K·4θ(1 − θ) if the true share is θ.

        K is estimated from the variance between units, and is at least as large as for independent pairs.
        """
        units, w = len(self.leads), self.value / 100
        expected = 2 * w - 1 if self.over_units else (2 * w - 1) * self.sizes
        between = float(((self.scores - expected) ** 2).sum()) / (2 * self.number) ** 2 * units / (units - 1)
        shrunk = (w * units + 1) / (units + 2)
        single = float((1 / self.sizes).sum()) if self.over_units else self.number
        return max(between / (4 * shrunk * (1 - shrunk)), single / (2 * self.number) ** 2)

    def without(self, unit: int) -> Share:
        """Return the share without one unit."""
        return Share(np.delete(self.leads, unit), np.delete(self.sizes, unit), self.over_units)


def share_of(first: Vector, second: Vector, units: Integers, over_units: bool = False) -> Share:
    """Return the share of pairs with first > second.

    Args:
        first: the score of the first sentence of each pair.
        second: the score of the second sentence of each pair.
        units: the unit of each pair, numbered from 0 without a gap.
        over_units: whether units, rather than pairs, count equally.
    """
    if not len(first) or not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise UnitError("there must be at least one pair, and all scores must be finite")
    leads = np.bincount(units, np.sign(first - second))
    return Share(np.rint(leads).astype(np.int64), np.bincount(units), over_units)


def flip_test(
    scores: Vector, alternative: Alternative, rng: np.random.Generator, draws: int = DRAWS
) -> Significance:
    """Return the share of the sign patterns whose sum is at least as extreme as that of the scores.

    For up to 36 scores, all patterns are counted. For more, integer scores have an exact distribution, which is
    binomial if all have the same size. Other scores are rounded to a grid; the distribution of the rounded
    scores gives certified bounds on p. If there are too many scores, signs are drawn.

    >>> flip_test(np.ones(40), "greater", np.random.default_rng(0)).p_value == 2**-40
    True
    """
    total = float(np.abs(scores).sum())
    if len(scores) <= COUNTED or not np.isfinite(total) or total == 0:
        return sign_flip_test(scores, alternative, rng, draws)
    whole = bool((scores == np.rint(scores)).all())
    step = 1.0 if whole and total <= LARGEST_SUM else total / len(scores) / STEPS
    if len(scores) * total / step > WORK:
        return sign_flip_test(scores, alternative, rng, draws)
    on_grid = np.rint(scores / step).astype(np.int64)
    slack = 0 if whole and step == 1.0 else math.ceil(len(scores) / 2)
    reached, tails = int(on_grid.sum()), 2 if alternative == "two-sided" else 1
    if alternative == "less" or (alternative != "greater" and reached < 0):
        reached = -reached
    upper, largest = _upper_tails(np.abs(on_grid)), int(np.abs(on_grid).sum())
    # The observed sum is rounded by at most `slack`, and so is any other.
    places = (min(max(reached + move + largest, 0), 2 * largest + 1) for move in (2 * slack, -2 * slack))
    p_low, p_high = (min(1.0, tails * float(upper[place])) for place in places)
    floor = min(1.0, tails * 2.0 ** -int(np.count_nonzero(on_grid)))
    if slack == 0:
        return Significance(p_high, p_high, p_high, "lattice", floor, True, p_high)
    p_low = max(p_low, floor)
    return Significance(p_high, p_low, p_high, "bounds", floor, True, math.sqrt(p_low * p_high))


def _upper_tails(sizes: Integers) -> Vector:
    """Return the probability of a signed sum ≥ s under random signs, for s from −total to total + 1."""
    distribution = np.ones(1)
    for size, number in zip(*np.unique(sizes[sizes > 0], return_counts=True), strict=True):
        longer = np.zeros(len(distribution) + 2 * int(size) * int(number))
        for up in range(number + 1):  # of the units of this size, as many have a positive sign
            chance = math.comb(int(number), up) / 2 ** int(number)
            longer[2 * size * up : 2 * size * up + len(distribution)] += chance * distribution
        distribution = longer
    return np.append(np.cumsum(distribution[::-1])[::-1], 0.0)


def share_interval(share: Share, p: float, alpha: float) -> tuple[float, float] | None:
    """Return the interval of a share in per cent; it excludes 50 if and only if the two-sided p is at most alpha.

    The ends solve (w − θ)² = t²·K·4θ(1 − θ), so they are never outside 0 to 100. K is `Share.variance` or, where t
    with this K contradicts p, the K with which t has this p.
    """
    units = len(share.leads)
    if units < 2:
        return None
    w = share.value / 100
    t = float(upper_point(alpha / 2, units - 1))
    variance = share.variance
    if ((w - 0.5) ** 2 >= t**2 * variance) != (p <= alpha) and w != 0.5:
        variance = ((w - 0.5) / float(upper_point(p / 2, units - 1))) ** 2
    if variance == 0:
        return None
    spread = t**2 * variance
    middle, width = w + 2 * spread, 2 * math.sqrt(spread * (w * (1 - w) + spread))
    low, high = (100 * (middle + side * width) / (1 + 4 * spread) for side in (-1, 1))
    # Rounding must not put the value outside, nor let an interval and its p disagree.
    low, high = max(0.0, min(low, share.value)), min(100.0, max(high, share.value))
    if p > alpha:
        return min(low, math.nextafter(50, 0)), max(high, math.nextafter(50, 100))
    return (max(low, 50.0), high) if w > 0.5 else (low, min(high, 50.0))


def assess_share(share: Share, names: Sequence[str], of: Tested) -> Assessment:
    """Return the interval, the share and its p without each unit, and the null distribution.

    Args:
        share: the value by units.
        names: the names of the units.
        of: the value with its p.
    """
    from weatherglass.metrics.exchange import PairFlips

    p = of.null.two_sided_p(of.p_value, of.alternative, of.options) if of.null else None
    interval = share_interval(share, p, of.alpha) if p is not None and of.ci != "none" else None
    # Units with the same counts have the same share and p without them.
    known: dict[tuple[int, int], tuple[float, float | None]] = {}
    left_out = []
    for unit, name in enumerate(names if len(names) > 1 else ()):
        counts = int(share.leads[unit]), int(share.sizes[unit])
        if counts not in known:
            rest = share.without(unit)
            significant = of.p_value <= of.alpha
            p_rest = of.significance_of(PairFlips(rest)).p_value if significant else None
            known[counts] = rest.value, p_rest
        left_out.append(LeftOut("word", "XY", name, *known[counts]))
    return Assessment(
        interval,
        None,
        Robustness(
            level=1 - of.alpha,
            random_corrected=False,
            fixed_reason=None if interval else Reason.TOO_FEW_WORDS,
            random_reason=Reason.NO_ATTRIBUTES,
            templates_random=False,
            excluded_above=None,
            bootstrap=None,
            left_out=tuple(left_out),
            null=tuple(of.null.quantiles(NULL_LEVELS, of.options)) if of.null else (),
        ),
    )
