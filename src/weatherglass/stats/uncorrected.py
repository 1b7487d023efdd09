"""Such attributes for statistics other than mean: a jackknife over all sets, not corrected for the attributes' noise.

A median or an extreme has no two-way table to take the noise from (end of docs/methods 10.2), so d stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.interval import Interval, ends, two_sided_p, upper_point
from weatherglass.stats.jackknife import combined_df, jackknife_variance
from weatherglass.stats.leave_one_out import without_each_word
from weatherglass.stats.reason import Reason
from weatherglass.stats.scale import within
from weatherglass.stats.such import LEAST_ATTRIBUTES, SuchAttributes


def such_attributes_uncorrected(
    scores: Vector, without_levels: Sequence[Matrix], n_x: int, alpha: float = 0.05, ddof: int = 1
) -> SuchAttributes:
    """A jackknife-t interval of d and its p.

    Args:
        scores: of the words, X (the first n_x) before Y.
        without_levels: for A, for B and, where words are crossed with templates, for those: scores of the words (down)
            without each attribute or template (across), as `scores_without_attributes` gives.
        n_x: the number of words in X.
        alpha: of the interval.
        ddof: of the sd in d.
    """
    if min(level_scores.shape[-1] for level_scores in without_levels) < LEAST_ATTRIBUTES:
        return _left_out(Reason.TOO_FEW_ATTRIBUTES)
    if min(n_x, len(scores) - n_x) < 2:
        return _left_out(Reason.TOO_FEW_WORDS)
    centred = within(scores, n_x, ddof)
    if centred.squares == 0:
        return _left_out(Reason.NO_SPREAD)
    scale, without = centred.scale, without_each_word(centred).g
    with np.errstate(invalid="ignore"):
        variances = [
            jackknife_variance(without[:n_x]) + jackknife_variance(without[n_x:]),
            *(jackknife_variance(within(level_scores.T, n_x).g) for level_scores in without_levels),
        ]
    variance = np.asarray(sum(variances))
    if not np.isfinite(variance):
        return _left_out(Reason.ONE_WORD_SPREAD)
    df = combined_df(variances, [scale.df, *(level_scores.shape[-1] - 1 for level_scores in without_levels)])
    p = two_sided_p(centred.g / np.sqrt(variance), df)

    def interval(alpha: float) -> Interval:
        width = upper_point(alpha / 2, df) ** 2 * variance
        low, high = scale.effect_size(np.array(ends(centred.g, width, width, p <= alpha)))
        return Interval(float(low), float(high), 1 - alpha)

    d = float(scale.effect_size(centred.g))
    return SuchAttributes(float(p), d, interval(alpha), interval(0.10), None, corrected=False)


def _left_out(reason: Reason) -> SuchAttributes:
    return SuchAttributes(None, None, None, None, None, corrected=False, reason=reason)
