"""Such attributes: would other target words and other attribute words (and templates) of this kind give the same?

docs/methods 10.2, and 10.3 for templates. A word's score carries noise from the choice of attributes, which widens the
scores and so shrinks d: the effect is given as it would be with endless lists of such attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.crossed import Factor, factor
from weatherglass.stats.interval import Interval, ends, two_sided_p, upper_point
from weatherglass.stats.jackknife import combined_df, jackknife_variance
from weatherglass.stats.leave_one_out import each_words, without_each_word
from weatherglass.stats.reason import Reason
from weatherglass.stats.scale import NO_SPREAD, Scale, Within, within
from weatherglass.stats.these import variance_and_shrink

LEAST_RELIABILITY = 0.1
LEAST_ATTRIBUTES = 3
LEAST_TEMPLATES = 3


@dataclass(frozen=True, slots=True)
class SuchAttributes:
    """An effect over words and attributes of this kind."""

    p: float | None
    """Of the crossed t-test, two-sided; it needs no reliability, so it stays where the effect is not estimable."""
    effect_size: float | None
    """d∞: with endless attributes."""
    interval: Interval | None
    interval_90: Interval | None
    """What a result without effect excludes is read from this one (docs/methods 10.5)."""
    score_reliability: float | None
    """ρ: the share of the variance of scores within X and Y that is not owed to the choice of attributes."""
    corrected: bool = True
    """False for statistics other than mean: the attributes' noise is in d and in its interval."""
    reason: Reason | None = None
    """Why there is no interval."""


@dataclass(frozen=True, slots=True, eq=False)
class Crossed:
    """The crossed test and what its intervals are made of, for any number of repetitions."""

    scale: Scale
    g: Vector
    """g∞ = Δ/τ."""
    p: Vector
    score_reliability: Vector
    variance_at_zero: Vector
    """V₀/τ²."""
    df_at_zero: Vector
    variance: Vector
    """v, of g∞ at the estimate."""
    df: Vector
    least_variance: Vector
    """v of *these attributes* over ρ: other attributes cannot make g∞ more certain than these make it."""
    shrink: Vector
    """k of *these attributes*."""

    def ends(self, alpha: float) -> tuple[Vector, Vector]:
        """The low and high end of each interval of d∞ at level 1 − alpha; NaN where it is not estimable."""
        at_zero = upper_point(alpha / 2, self.df_at_zero) ** 2 * self.variance_at_zero
        of_words = upper_point(alpha / 2, self.scale.df) ** 2 * self.least_variance
        of_all = upper_point(alpha / 2, self.df) ** 2 * self.variance
        at_estimate = np.fmax(np.maximum(of_all, at_zero), of_words)
        low, high = ends(self.g, at_zero, at_estimate, self.p <= alpha, self.shrink)
        return self.scale.effect_size(low), self.scale.effect_size(high)


def such_attributes(
    to_a: Matrix,
    to_b: Matrix,
    n_x: int,
    alpha: float = 0.05,
    ddof: int = 1,
    templates: Matrix | None = None,
) -> SuchAttributes:
    """The crossed t-test, d∞ and the interval of d∞ that leaves out 0 exactly when p ≤ alpha.

    Args:
        to_a: measures of words (X first) to each word of A, larger where closer.
        to_b: the same to each word of B.
        n_x: the number of words in X.
        alpha: of the interval, at most 0.5.
        ddof: of the sd in d.
        templates: scores s(w, t) of each word in each template, where all words stand in the same 3 or more; their
            mean over templates is the word's score. Without them the templates are held as they are.
    """
    if min(to_a.shape[-1], to_b.shape[-1]) < LEAST_ATTRIBUTES:
        return _left_out(Reason.TOO_FEW_ATTRIBUTES)
    if min(n_x, len(to_a) - n_x) < 2:
        return _left_out(Reason.TOO_FEW_WORDS)
    result = crossed(to_a, to_b, n_x, ddof, templates)
    rho = float(result.score_reliability)
    p = float(result.p)
    if np.isnan(rho):
        tables = [to_a, to_b] if templates is None else [to_a, to_b, templates]
        p_of_choices = p if any(_differences_vary(table, n_x) for table in tables) else None
        return SuchAttributes(p_of_choices, None, None, None, None, reason=Reason.NO_SPREAD)
    if rho < LEAST_RELIABILITY:
        return SuchAttributes(p, None, None, None, rho, reason=Reason.NOISE)
    (low, high), (low_90, high_90) = result.ends(alpha), result.ends(0.10)
    return SuchAttributes(
        p,
        float(result.scale.effect_size(result.g)),
        Interval(float(low), float(high), 1 - alpha),
        Interval(float(low_90), float(high_90), 1 - 0.10),
        rho,
    )


def _left_out(reason: Reason) -> SuchAttributes:
    return SuchAttributes(None, None, None, None, None, reason=reason)


def _differences_vary(table: Matrix, n_x: int) -> bool:
    """Whether X and Y differ more on one attribute or template than on another; then there is something to test by."""
    differences = table[:n_x].mean(axis=0) - table[n_x:].mean(axis=0)
    return bool(np.ptp(differences) > NO_SPREAD * np.abs(table).max())


def crossed(to_a: Matrix, to_b: Matrix, n_x: int, ddof: int = 1, templates: Matrix | None = None) -> Crossed:
    """`such_attributes` for tables with any leading axes; effects are NaN where ρ < 0.1."""
    scores = within(to_a.mean(axis=-1) - to_b.mean(axis=-1), n_x, ddof)
    scale = scores.scale
    factors = [factor(to_a, scale), factor(to_b, scale, -1)]
    if templates is not None and templates.shape[-1] >= LEAST_TEMPLATES:
        factors.append(factor(templates, scale))
    noise = np.asarray(sum(part.noise for part in factors))
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = scores.squares / scale.df
        rho = 1 - noise / variance
        signal = np.where(rho >= LEAST_RELIABILITY, variance - noise, np.nan)
        variance_of_difference, df_at_zero = _at_zero(scores, factors, noise)
        t = scores.difference / np.sqrt(variance_of_difference)
        jackknifed, df = _jackknifed(scores, factors, noise, signal)
        overlap = noise * scale.variance_factor / signal
        of_words, shrink = variance_and_shrink(scores)
        return Crossed(
            scale,
            g=scores.difference / np.sqrt(signal),
            p=two_sided_p(t, df_at_zero),
            score_reliability=np.where(variance > 0, rho, np.nan),
            variance_at_zero=variance_of_difference / signal,
            df_at_zero=df_at_zero,
            variance=np.maximum(jackknifed - overlap, jackknifed / 2),
            df=df,
            least_variance=of_words * variance / signal,
            shrink=np.where(np.isnan(shrink), 1.0, shrink),
        )


def _at_zero(scores: Within, factors: Sequence[Factor], noise: Vector) -> tuple[Vector, Vector]:
    """V₀ and its degrees of freedom: the variance of Δ with nothing assumed about the effect."""
    scale, e = scores.scale, scores.residuals
    words = [
        np.einsum("...i,...i->...", part, part) / ((m - 1) * m)
        for part, m in ((e[..., : scale.n_x], scale.n_x), (e[..., scale.n_x :], scale.n_y))
    ]
    choices = [part.variance for part in factors]
    of_words, of_choices = np.asarray(sum(words)), np.asarray(sum(choices))
    # The interaction of words and attributes is in both; it counts once.
    once = of_words + of_choices - noise * scale.variance_factor
    df = combined_df(
        [*words, *choices], [scale.n_x - 1, scale.n_y - 1, *(part.levels - 1 for part in factors)]
    )
    return np.maximum(np.maximum(once, of_words), of_choices), df


def _jackknifed(
    scores: Within, factors: Sequence[Factor], noise: Vector, signal: Vector
) -> tuple[Vector, Vector]:
    """H and its degrees of freedom: the jackknife variance of g∞, linear in Δ and τ², over words and factors."""
    scale = scores.scale
    tau, noise_of = np.sqrt(signal)[..., np.newaxis], noise[..., np.newaxis]
    slope = (scores.difference / (2 * signal))[..., np.newaxis]
    left = without_each_word(scores)
    sizes = each_words(scale, scale.n_x, scale.n_y)
    noise_left = np.asarray(sum(part.noise_without_each_word(sizes) for part in factors))
    signal_left = left.squares / left.df - noise_left
    # Δ and τ² without each word of X, without each word of Y, and without each level of every factor.
    without = [
        (left.difference[..., : scale.n_x], signal_left[..., : scale.n_x]),
        (left.difference[..., scale.n_x :], signal_left[..., scale.n_x :]),
    ]
    for part in factors:
        difference, squares, noise_left = part.without_each_level(scores)
        others = noise_of - part.noise[..., np.newaxis]
        without.append((difference, squares / scale.df - noise_left - others))
    of_x, of_y, *of_factors = (
        jackknife_variance((difference - slope * signal_without) / tau)
        for difference, signal_without in without
    )
    variances = [of_x + of_y, *of_factors]
    df = combined_df(variances, [scale.df, *(part.levels - 1 for part in factors)])
    return np.asarray(sum(variances)), df
