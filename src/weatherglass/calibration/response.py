"""Fit how a metric responds to the dose: curve, slope, rank correlation, smallest detected dose, saturation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from weatherglass.arrays import Matrix, Vector
from weatherglass.errors import CorpusError

NONE = 0.5
"""The dose without a stereotype."""
POWER = 0.8


@dataclass(frozen=True, kw_only=True)
class Response:
    """The response of one metric, for one corpus, algorithm and test, to the dose."""

    doses: tuple[float, ...]
    means: tuple[float, ...]
    """The mean over seeds at each dose."""
    lows: tuple[float, ...]
    """The lower ends of the t intervals over seeds."""
    highs: tuple[float, ...]
    slope: float
    """The change from dose 0 to dose 1 on a straight line; for a metric without a sign, from dose ½ to 0 or 1."""
    slope_low: float
    slope_high: float
    p: float
    """The two-sided p of a t-test of the seeds' slopes."""
    spearman: float
    """The rank correlation of value and dose over all embeddings, or of value and |dose - ½| without a sign."""
    sd: float
    """The standard deviation between seeds at one dose, pooled over doses."""
    smallest: float | None
    """The dose nearest to ½ and above it that is detected in one embedding with a power of 80 %; None if no dose is."""
    saturates: bool
    """Whether the curve is significantly flatter in its outer half than in its inner half."""
    centred: bool | None
    """Whether the interval at dose ½ contains the value without bias; None if the metric compares no groups."""

    def blind(self, alpha: float) -> bool:
        """Return whether the metric does not follow the dose: its slope is not significant and no dose is detected."""
        return not self.p <= alpha and self.smallest is None

    def nears(self, unbiased: float) -> bool:
        """Return whether the value is nearer to the value without bias at doses 0 and 1 than at ½."""
        ends = (self.means[0] + self.means[-1]) / 2
        return abs(ends - unbiased) < abs(self.means[self.doses.index(NONE)] - unbiased)


def check_design(doses: Sequence[float], seeds: Sequence[int]) -> tuple[float, ...]:
    """Return the doses in order.

    Raises:
        CorpusError: if they are too few, or not probabilities, or there are fewer than two seeds.
    """
    for dose in doses:
        if not 0 <= dose <= 1:
            raise CorpusError(f"dose {dose:g}: a dose is a probability from 0 to 1; 0.5 means no stereotype")
    ordered = tuple(sorted(set(map(float, doses))))
    if len(ordered) < 3 or ordered[0] >= NONE or ordered[-1] <= NONE or NONE not in ordered:
        raise CorpusError(
            f"doses {', '.join(f'{dose:g}' for dose in ordered)}: a response needs 0.5 (no stereotype) and at least "
            "one dose below and one above it, such as 0,0.5,1"
        )
    if len(set(seeds)) < 2:
        raise CorpusError(
            "one seed: the variation between embeddings is unknown; use at least 2 seeds, preferably 4"
        )
    return ordered


def fit_response(
    doses: Sequence[float],
    values: Matrix,
    signed: bool = True,
    unbiased: float | None = 0.0,
    alpha: float = 0.05,
) -> Response:
    """Fit the response of one metric.

    The seeds are the units of inference: each seed has one slope, since the same random numbers planted all its doses.

    Args:
        doses: the doses in ascending order, as `check_design` returns them.
        values: a row per dose and a column per seed.
        signed: whether the sign of a value is a direction; if not, the value should grow with the distance from ½.
        unbiased: the expected value at dose ½; None if the metric does not contrast the groups.
        alpha: one minus the confidence level.
    """
    dose = np.asarray(doses, dtype=np.float64)
    x = dose - NONE if signed else np.abs(dose - NONE) * 2
    n_doses, n_seeds = values.shape
    df_within = n_doses * (n_seeds - 1)
    sd = float(np.sqrt(values.var(axis=1, ddof=1).sum() / n_doses))
    means = values.mean(axis=1)
    half = stats.t.ppf(1 - alpha / 2, n_seeds - 1) * values.std(axis=1, ddof=1) / np.sqrt(n_seeds)
    slopes = _slopes(x, values)
    slope, low, high, p = _t_test(slopes, alpha)
    at_none = int(np.flatnonzero(dose == NONE)[0])
    return Response(
        doses=tuple(map(float, dose)),
        means=tuple(map(float, means)),
        lows=tuple(map(float, means - half)),
        highs=tuple(map(float, means + half)),
        slope=slope,
        slope_low=low,
        slope_high=high,
        p=p,
        spearman=_spearman(np.repeat(x, n_seeds), values.ravel()),
        sd=sd,
        smallest=_smallest(dose, means, sd, df_within, at_none, alpha),
        saturates=_saturates(dose, values, slope, signed, alpha),
        centred=None if unbiased is None else bool(abs(means[at_none] - unbiased) <= half[at_none]),
    )


def _slopes(x: Vector, values: Matrix) -> Vector:
    """Return the least-squares slope of each column."""
    centred = x - x.mean()
    return np.asarray(centred @ (values - values.mean(axis=0)) / (centred @ centred))


def _t_test(samples: Vector, alpha: float) -> tuple[float, float, float, float]:
    """Return the mean, its interval and the two-sided p of a one-sample t test; p is 1 if all samples are 0."""
    n, mean = len(samples), float(samples.mean())
    error = float(samples.std(ddof=1)) / np.sqrt(n)
    half = float(stats.t.ppf(1 - alpha / 2, n - 1)) * error
    if error == 0:
        return mean, mean, mean, 1.0 if mean == 0 else 0.0
    return mean, mean - half, mean + half, float(2 * stats.t.sf(abs(mean) / error, n - 1))


def _spearman(x: Vector, y: Vector) -> float:
    if np.ptp(y) == 0:
        return 0.0
    return float(stats.spearmanr(x, y).statistic)


def _smallest(dose: Vector, means: Vector, sd: float, df: int, at_none: int, alpha: float) -> float | None:
    """Return the first dose above ½ at which, and beyond which, one embedding differs detectably from dose ½.

    One embedding is compared with the values at dose ½, whose mean is known much better than one value. The curve is
    linear between doses.
    """
    needed = float(stats.t.ppf(1 - alpha / 2, df) + stats.t.ppf(POWER, df)) * sd
    away = np.abs(means - means[at_none])[at_none:]
    above = dose[at_none:]
    if away[-1] < needed or needed == 0:
        return None if away[-1] < needed or away[-1] == 0 else float(above[1])
    last_below = int(np.flatnonzero(away < needed)[-1])
    part = (needed - away[last_below]) / (away[last_below + 1] - away[last_below])
    return float(above[last_below] + part * (above[last_below + 1] - above[last_below]))


def _saturates(dose: Vector, values: Matrix, slope: float, signed: bool, alpha: float) -> bool:
    """Return whether the outer half of the curve is flatter than the inner half, by a t test over seeds."""
    away = np.round(
        np.abs(dose - NONE), 9
    )  # 0.5 − 0.3 and 0.7 − 0.5 are the same distance, but not in binary
    boundary = away[away <= away.max() / 2].max()  # the dose at half of the way, or the last one before it
    inner, outer = away <= boundary, away >= boundary
    sides = (dose <= NONE, dose >= NONE)
    if any((part & side).sum() < 2 for part in (inner, outer) for side in sides):
        return False
    gains = [
        np.mean(
            [
                _slopes(away[part & side], values[part & side]) * sign
                for side, sign in zip(sides, (-1 if signed else 1, 1), strict=True)
            ],
            axis=0,
        )
        for part in (inner, outer)
    ]
    mean, _, _, p = _t_test((gains[0] - gains[1]) * (1 if slope >= 0 else -1), alpha)
    return mean > 0 and p <= alpha
