"""Intervals and leave-one-out of a value that is computed anew without each of its units (docs/methods 13)."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.inference.interval import ends, two_sided_p, upper_point
from weatherglass.inference.jackknife import combined_df, jackknife_variance
from weatherglass.inference.removal import LeftOut
from weatherglass.inference.these import LARGEST_P_USED

if TYPE_CHECKING:
    from weatherglass.metrics.base import Recomputing
    from weatherglass.metrics.nulls import Null

Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Recomputed:
    """What leaving out each unit once tells of a value."""

    these: Ends | None
    """Interval over the units that p exchanges, the others as they are."""
    such: Ends | None
    """Interval over the units of all groups."""
    left_out: tuple[LeftOut, ...]


def leave_each_out(
    value: float,
    unbiased: float,
    recomputing: Recomputing,
    p_value: float,
    p_two_sided: float | None,
    test: Callable[[Null], float],
    alpha: float,
) -> Recomputed:
    """Jackknife intervals at level 1 − alpha, and the value without each unit.

    Args:
        value: the metric's number.
        unbiased: what it is without bias.
        recomputing: gives the value without a unit.
        p_value: p as it is reported.
        p_two_sided: the p that the interval is to agree with: it leaves out `unbiased` where p ≤ alpha. None for a
            metric whose value is always on one side of that.
        test: p of what is left without a unit.
        alpha: level of p and of the intervals.
    """
    groups, left_out = recomputing.groups, []
    without: list[Vector] = []
    for number, group in enumerate(groups):
        values = []
        for unit, name in enumerate(group.names if len(group.names) > 1 else ()):
            left, null = recomputing.without(number, unit)
            values.append(left)
            p = test(null) if null is not None and p_value <= alpha and not math.isnan(left) else None
            left_out.append(LeftOut("word", group.role, name, None if math.isnan(left) else left, p))
        without.append(np.array(values))
    exchanged = [g for g, group in enumerate(groups) if group.exchanged]
    bounds = recomputing.bounds
    samples = [group.sample or group.role for group in groups]
    these = _interval(
        *(value, unbiased, _by_sample([without[g] for g in exchanged], [samples[g] for g in exchanged])),
        *(p_two_sided, alpha, bounds),
    )
    such = _interval(value, unbiased, _by_sample(without, samples), None, alpha, bounds)
    return Recomputed(these, such, tuple(left_out))


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
