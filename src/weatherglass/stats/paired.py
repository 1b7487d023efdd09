"""Test the change of an effect between two models that scored the same words, by a paired jackknife.

The difference of the two g without each word, the same word in both, has the jackknife variance v. It is too large
by about ν/(ν − 1), because s_w without a word has only ν − 1 degrees of freedom; so t(ν) is asked about the change
over √(v·(ν − 1)/ν). The factor was chosen among three by simulation: of unchanged 8 + 8 effects v alone marks 3.5 to
4.8 %, this factor 4.2 to 5.5 %, (ν − 2)/ν 4.9 to 6.3 % (normal scores, models that correlate at 0 to 0.9, d 0 to 1.4,
20 000 repetitions per cell). `python -m benchmarks.coverage paired` measures it, from 8 to 64 units.

Limits: at 8 + 8, t5 scores mark 3.3 to 6.3 % and skewed ones 2.8 to 7.4 %. Where the effect did change, from 0.7 to
1.4, the interval of the change misses it in up to 10 % (8 + 8) and 8 % (25 + 25) of runs, 12 % with skewed scores.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.stats.interval import Interval, Reason, ends, jackknife_variance, two_sided_p, upper_point
from weatherglass.stats.leave_one_out import without_each_word
from weatherglass.stats.scale import Scale, Within, within

SAME_G = 1e-6
"""Below this change the slope of d is taken at a point: a quotient of two differences would be rounding."""


@dataclass(frozen=True, slots=True)
class PairedChange:
    """One effect in two models, over the words that both scored."""

    before: float
    """d of the first model."""
    after: float
    p: float | None
    """Two-sided, of no change."""
    interval: Interval | None
    """The interval of the change of d; it excludes 0 exactly if p ≤ 1 − level."""
    reason: Reason | None = None

    @property
    def change(self) -> float:
        """Return d after minus d before."""
        return self.after - self.before


@dataclass(frozen=True, slots=True, eq=False)
class PairedJackknife:
    """The change of an effect and its jackknife variance on both scales, for any number of repetitions."""

    scale: Scale
    before: Vector
    """g of the first model."""
    after: Vector
    variance_of_g: Vector
    """The variance of the change of g."""
    variance_of_d: Vector

    @property
    def p(self) -> Vector:
        """Return the two-sided p of no change; 1 where the models agree."""
        change = self.after - self.before
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(change == 0, 0.0, change / np.sqrt(self.variance_of_g))
        return two_sided_p(t, self.scale.df)

    def ends(self, alpha: float) -> tuple[Vector, Vector]:
        """Return the low and high end of each interval of the change of d, which exclude 0 exactly if p ≤ alpha.

        As in docs/methods 10, the half-width at no change is that of the test on g, converted to d by the slope between
        the two estimates; at the estimate it is that of the change of d itself. One slope cannot convert two effects
        that differ, since it varies with what the models have in common.
        """
        squared = upper_point(alpha / 2, self.scale.df) ** 2
        change = self.scale.effect_size(self.after) - self.scale.effect_size(self.before)
        at_zero = squared * self.variance_of_g * self._slope() ** 2
        return ends(change, at_zero, squared * self.variance_of_d, self.p <= alpha)

    def _slope(self) -> Vector:
        before, after = self.before, self.after
        apart = np.abs(after - before) > SAME_G
        first = np.where(apart, before, (before + after) / 2 - SAME_G)
        second = np.where(apart, after, (before + after) / 2 + SAME_G)
        return np.asarray((self.scale.effect_size(second) - self.scale.effect_size(first)) / (second - first))


def paired_jackknife(before: Within, after: Within) -> PairedJackknife:
    """Leave each word out of both models at once."""
    scale = before.scale

    def variance(first: Vector, second: Vector) -> Vector:
        change = second - first
        total = jackknife_variance(change[..., : scale.n_x]) + jackknife_variance(change[..., scale.n_x :])
        return total * (scale.df - 1) / scale.df

    first, second = without_each_word(before).g, without_each_word(after).g
    with np.errstate(invalid="ignore"):
        variance_of_g = variance(first, second)
        variance_of_d = variance(scale.effect_size(first), scale.effect_size(second))
    return PairedJackknife(scale, before.g, after.g, variance_of_g, variance_of_d)


def paired_change(
    before: Vector, after: Vector, n_x: int, alpha: float = 0.05, ddof: int = 1
) -> PairedChange:
    """Return the change of d from the scores of the same words in two models, X (the first n_x) before Y."""
    first, second = (within(np.asarray(scores, dtype=np.float64), n_x, ddof) for scores in (before, after))
    d = [float(model.scale.effect_size(model.g)) for model in (first, second)]
    if min(n_x, first.scale.n_y) < 2:
        return PairedChange(d[0], d[1], None, None, Reason.TOO_FEW_WORDS)
    if first.squares == 0 or second.squares == 0:
        return PairedChange(d[0], d[1], None, None, Reason.NO_SPREAD)
    jackknife = paired_jackknife(first, second)
    low, high = (float(end) for end in jackknife.ends(alpha))
    if np.isnan(low) or np.isnan(high):
        return PairedChange(d[0], d[1], None, None, Reason.ONE_WORD_SPREAD)
    return PairedChange(d[0], d[1], float(jackknife.p), Interval(low, high, 1 - alpha))
