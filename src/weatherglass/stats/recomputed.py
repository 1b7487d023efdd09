"""Intervals and leave-one-out of a value that is computed anew without each of its units (docs/methods 13)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.stats.interval import ends, two_sided_p, upper_point
from weatherglass.stats.jackknife import combined_df, jackknife_variance
from weatherglass.stats.reason import Reason
from weatherglass.stats.removal import LeftOut
from weatherglass.stats.these import LARGEST_P_USED
from weatherglass.stats.trust import NULL_LEVELS, Assessment, Ends, Trust

if TYPE_CHECKING:
    from weatherglass.metrics.resample import Recompute, Tested


def assess_recomputed(resample: Recompute, of: Tested) -> Assessment:
    """Return jackknife intervals at level 1 − alpha, the value without each unit, and its null distribution.

    The interval over the units that p exchanges agrees with the two-sided p: it leaves out `unbiased` where p ≤ alpha.

    Args:
        resample: gives the value without a unit.
        of: the value and its p.
    """
    alpha, p_two_sided = of.alpha, of.two_sided_p()
    groups, left_out = resample.groups, []
    without: list[Vector] = []
    for number, group in enumerate(groups):
        values = []
        for unit, name in enumerate(group.names if len(group.names) > 1 else ()):
            left, null = resample.without(number, unit)
            values.append(left)
            significant = of.p_value <= alpha and not math.isnan(left)
            p = of.significance_of(null).p_value if null is not None and significant else None
            left_out.append(LeftOut("word", group.role, name, None if math.isnan(left) else left, p))
        without.append(np.array(values))
    exchanged = [g for g, group in enumerate(groups) if group.exchanged]
    bounds, value, unbiased = resample.bounds, of.value, of.unbiased
    samples = [group.sample or group.role for group in groups]
    these = _interval(
        *(value, unbiased, _by_sample([without[g] for g in exchanged], [samples[g] for g in exchanged])),
        *(p_two_sided, alpha, bounds),
    )
    such = _interval(value, unbiased, _by_sample(without, samples), None, alpha, bounds)
    return Assessment(
        these if of.ci != "none" else None,
        such if of.ci != "none" else None,
        Trust(
            level=1 - alpha,
            such_corrected=False,
            these_reason=None if these else Reason.TOO_FEW_WORDS,
            such_reason=None if such else Reason.TOO_FEW_WORDS,
            templates_random=False,
            excluded_above=None,
            bootstrap=None,
            left_out=tuple(left_out),
            null=tuple(of.null.quantiles(NULL_LEVELS, of.options)) if of.null else (),
        ),
    )


def _by_sample(without: list[Vector], samples: list[str]) -> list[Vector]:
    """The values of groups that are one sample, together."""
    distinct = dict.fromkeys(samples)
    return [
        np.concatenate([w for w, own in zip(without, samples, strict=True) if own == s]) for s in distinct
    ]


def _interval(
    value: float, unbiased: float, without: list[Vector], p: float | None, alpha: float, bounds: Ends
) -> Ends | None:
    """value ± t·se from the jackknife within each group; None where a group has one unit, or there is no value."""
    if math.isnan(value) or any(len(values) < 2 or np.isnan(values).any() for values in without):
        return None
    variances = [jackknife_variance(values) for values in without]
    variance = float(sum(variances))
    if variance == 0:
        return None
    t = float(upper_point(alpha / 2, (df := float(combined_df(variances, [len(v) - 1 for v in without])))))
    if p is None or p > LARGEST_P_USED or value == unbiased:
        half = t * math.sqrt(variance)
        low, high = value - half, value + half
        if p is not None and p > alpha:
            # It may not leave out the value without bias where p does not.
            low = min(low, float(np.nextafter(unbiased, -np.inf)))
            high = max(high, float(np.nextafter(unbiased, np.inf)))
        return max(low, bounds[0]), min(high, bounds[1])
    g = np.asarray(value - unbiased)
    at_zero = np.asarray((g * (t / upper_point(p / 2, df))) ** 2)
    low, high = (float(end) for end in ends(g, at_zero, np.asarray(t**2 * variance), np.asarray(p <= alpha)))
    return max(unbiased + low, bounds[0]), min(unbiased + high, bounds[1])


@dataclass(frozen=True, slots=True)
class ChangeOfValue:
    """How a value changed between two models, over the words that both know."""

    low: float | None
    high: float | None
    p: float | None
    """That the change is 0, two-sided, by the same t as the interval."""


Without = Mapping[tuple[str, str], float]
"""The value without each unit, by role and name."""


def paired_change_of_values(
    before: float, after: float, first: Without, second: Without, alpha: float, pooled: bool = False
) -> ChangeOfValue:
    """The interval of after − before by the jackknife: each word is left out of both at once.

    Args:
        before: the value of one model.
        after: that of another.
        first: the value of the one without each unit; `second` likewise.
        second: of the other.
        alpha: the interval is at level 1 − alpha.
        pooled: whether the words of all target sets are one sample.
    """
    by_role: dict[str, list[float]] = {}
    for (role, name), value in first.items():
        if (role, name) in second:
            sample = "targets" if pooled and role[0] in "XY" else role
            by_role.setdefault(sample, []).append(second[role, name] - value)
    without = [np.array(values) for values in by_role.values() if len(values) > 1]
    variances = [jackknife_variance(values) for values in without]
    variance = float(sum(variances))
    if not variance > 0:
        return ChangeOfValue(None, None, None)
    df, change, se = (
        combined_df(variances, [len(v) - 1 for v in without]),
        after - before,
        math.sqrt(variance),
    )
    half = float(upper_point(alpha / 2, df)) * se
    return ChangeOfValue(change - half, change + half, float(two_sided_p(np.asarray(change / se), df)))
