"""Test–retest for other rows and other seeds, whatever the law of the scores: a jackknife over both."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.inference.jackknife import combined_df, jackknife_variance
from weatherglass.reliability.agreement.groups import leave_one_group_out
from weatherglass.reliability.agreement.icc import (
    LEVEL,
    Estimates,
    MeanSquares,
    Tables,
    agreement_icc,
    retest,
)

FEWEST_SEEDS = 3
"""Below it no seed can be left out: one that is left alone has no test–retest."""


def crossed_retest(tables: Tables, rows: str) -> Estimates:
    """ICC(2,1) of each table as `retest` has it, with an interval that does not take the scores for normal.

    The jackknife of Fisher's z for k raters, log((1 + (k−1) c) / (1 − c)), over rows and over seeds; the two variances
    are added, with t and Satterthwaite's degrees of freedom. What rows and seeds do together is in both, so it is
    somewhat too wide where that is most of the spread. With two seeds it is the interval of McGraw & Wong 1996.
    """
    from scipy.special import stdtrit

    found = retest(tables, rows)
    n, k = tables.shape[-2:]
    if found.reason or k < FEWEST_SEEDS:
        return found

    def fisher(squares: MeanSquares) -> Vector:
        coefficient = agreement_icc(squares)
        return np.log((1 + (k - 1) * coefficient) / (1 - coefficient))

    with np.errstate(divide="ignore", invalid="ignore"):
        without_row = [fisher(rest) for rest in leave_one_group_out(tables, np.arange(n))]
        without_seed = [
            fisher(replace(rest, rows=rest.columns, columns=rest.rows, n=rest.k, k=rest.n))
            for rest in leave_one_group_out(tables.swapaxes(-1, -2), np.arange(k))
        ]
        variances = [jackknife_variance(np.stack(each, axis=-1)) for each in (without_row, without_seed)]
        freedom = combined_df(variances, [n - 1, k - 1])
        reach = stdtrit(freedom, (1 + LEVEL) / 2) * np.sqrt(variances[0] + variances[1])
        estimate = fisher(MeanSquares.of(tables))
        low, high = (
            np.where(found.value == 1, 1.0, np.expm1(end) / (np.exp(end) + k - 1))
            for end in (estimate - reach, estimate + reach)
        )
    return replace(found, low=low, high=high)
