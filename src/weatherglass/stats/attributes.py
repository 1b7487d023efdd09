"""Estimate an effect for fixed attributes and for random attributes (docs/methods 10.1 to 10.3).

With fixed attributes, the question is whether the effect generalises to other target words with the same attribute
words. With random attributes, it is whether the effect generalises to other target words and other attribute words
(and templates). The choice of attribute words adds noise to the scores, which increases their spread and therefore
shrinks d. For random attributes, the effect is estimated as if there were infinitely many attribute words of this
kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.interval import (
    Interval,
    Reason,
    combined_df,
    ends,
    jackknife_bias,
    jackknife_variance,
    two_sided_p,
    upper_point,
)
from weatherglass.stats.leave_one_out import each_words, without_each_word
from weatherglass.stats.scale import NO_SPREAD, Scale, Within, within

LARGEST_P_USED = 0.5
"""The p above which t* is near 0 and does not determine the spread, so that the variance within the sets is used
instead.
"""
LEAST_SHRINK = 0.5


@dataclass(frozen=True, slots=True)
class FixedAttributes:
    """An effect for fixed attributes and templates."""

    effect_size: float
    """d; NaN if all scores are equal."""
    p: float
    """The two-sided p of the exact permutation test, as the caller gave it."""
    interval: Interval | None
    reason: Reason | None
    """The reason why there is no interval."""


def fixed_attributes(x: Vector, y: Vector, p: float, alpha: float = 0.05, ddof: int = 1) -> FixedAttributes:
    """Return the interval of d at level 1 − alpha, which excludes 0 if and only if p ≤ alpha.

    Args:
        x: scores of the words of X.
        y: scores of the words of Y.
        p: the two-sided p of the exact permutation test of these scores.
        alpha: the significance level, at most 0.5.
        ddof: delta degrees of freedom of the sd in d.
    """
    scores = within(np.concatenate([x, y]).astype(np.float64), len(x), ddof)
    d = float(scores.scale.effect_size(scores.g))
    if min(len(x), len(y)) < 2:
        return FixedAttributes(d, p, None, Reason.TOO_FEW_WORDS)
    if scores.squares == 0:
        return FixedAttributes(d, p, None, Reason.NO_SPREAD)
    low, high = fixed_ends(scores, np.asarray(p), alpha)
    if np.isnan(low) or np.isnan(high):
        return FixedAttributes(d, p, None, Reason.ONE_WORD_SPREAD)
    return FixedAttributes(d, p, Interval(float(low), float(high), 1 - alpha), None)


def fixed_ends(scores: Within, p: Vector, alpha: float) -> tuple[Vector, Vector]:
    """Return the lower and upper end of each interval of d; NaN where it is not estimable."""
    scale, g = scores.scale, scores.g
    t = upper_point(alpha / 2, scale.df)
    variance, shrink = variance_and_shrink(scores)
    with np.errstate(divide="ignore", invalid="ignore"):
        # A is chosen so that the t-test of g = 0 has the exact p: √A = g / t*. Then Q₀ = t²·A equals g² at p = alpha.
        at_zero = np.where(
            p <= LARGEST_P_USED, (g * (t / upper_point(p / 2, scale.df))) ** 2, t**2 * scale.variance_factor
        )
    low, high = ends(g, at_zero, t**2 * variance, p <= alpha, shrink)
    return scale.effect_size(low), scale.effect_size(high)


def variance_and_shrink(scores: Within) -> tuple[Vector, Vector]:
    """Return v, the jackknife variance of g over words, and k, the factor that removes the bias at the near end."""
    g, without = scores.g, without_each_word(scores).g
    with np.errstate(divide="ignore", invalid="ignore"):
        sets = without[..., : scores.scale.n_x], without[..., scores.scale.n_x :]
        variance = jackknife_variance(sets[0]) + jackknife_variance(sets[1])
        bias = jackknife_bias(sets[0], g) + jackknife_bias(sets[1], g)
        return variance, np.where(g == 0, 1.0, np.clip(1 - bias / g, LEAST_SHRINK, 1.0))


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """A table of words × levels, decomposed within X and Y (docs/methods 10.2); levels are attributes or templates."""

    sign: int
    """The sign of the factor's row means in the score: −1 for B."""
    scale: Scale
    interaction: Matrix
    """The table after subtracting the column means of each target set, and then the row means."""
    differences: Vector
    """D: the mean over X minus the mean over Y, for each level."""
    levels: int
    """|A|, |B| or the number of templates."""
    variance: Vector
    """V: the variance of Δ due to the choice of levels, var(D) / levels."""
    rows: Vector
    """The sum of squares of each row of the interaction."""
    noise: Vector
    """σ² / levels: the variance of a score due to the choice of levels."""

    def noise_without_each_word(self, set_sizes: Vector) -> Vector:
        """Return the noise without each word, which is I − qᵢ·m/(m − 1)."""
        left = self.rows.sum(axis=-1, keepdims=True) - self.rows * set_sizes / (set_sizes - 1)
        return _noise(left, self.scale.df - 1, self.levels)

    def without_each_level(self, scores: Within) -> tuple[Vector, Vector, Vector]:
        """Return Δ, the sum of squares of the scores within the sets, and this factor's noise, without each level.

        The mean of the other levels is the mean minus 1/(k − 1) of the level's deviation from it, so that residuals
        are enough.
        """
        k, r = self.levels, self.interaction
        columns = np.einsum("...ij,...ij->...j", r, r)
        above = self.differences - self.differences.mean(axis=-1, keepdims=True)
        difference = scores.difference[..., np.newaxis] - self.sign * above / (k - 1)
        products = np.einsum("...i,...ij->...j", scores.residuals, r)
        squares = (
            scores.squares[..., np.newaxis] - 2 * self.sign * products / (k - 1) + columns / (k - 1) ** 2
        )
        left = columns.sum(axis=-1, keepdims=True) - columns * k / (k - 1)
        return difference, squares, _noise(left, self.scale.df, k - 1)


def _noise(squares: Vector, df: int, levels: int) -> Vector:
    return np.asarray(np.maximum(squares, 0) / (df * (levels - 1) * levels))


def factor(table: Matrix, scale: Scale, sign: int = 1) -> Factor:
    """Decompose a table of words (X first) × levels."""
    x, y = table[..., : scale.n_x, :], table[..., scale.n_x :, :]
    mean_x, mean_y = x.mean(axis=-2, keepdims=True), y.mean(axis=-2, keepdims=True)
    centred = np.concatenate([x - mean_x, y - mean_y], axis=-2)
    centred -= centred.mean(axis=-1, keepdims=True)
    differences, levels = (mean_x - mean_y)[..., 0, :], int(table.shape[-1])
    rows = np.asarray(np.einsum("...ij,...ij->...i", centred, centred))
    return Factor(
        sign,
        scale,
        interaction=centred,
        differences=differences,
        levels=levels,
        variance=np.asarray(differences.var(axis=-1, ddof=1) / levels),
        rows=rows,
        noise=_noise(rows.sum(axis=-1), scale.df, levels),
    )


LEAST_RELIABILITY = 0.1
LEAST_ATTRIBUTES = 3
LEAST_TEMPLATES = 3


@dataclass(frozen=True, slots=True)
class RandomAttributes:
    """An effect for random words and attributes."""

    p: float | None
    """The two-sided p of the crossed t-test. It does not depend on the reliability, so it may exist even if the effect
    is not estimable.
    """
    effect_size: float | None
    """d∞, the value of d with infinitely many attributes."""
    interval: Interval | None
    interval_90: Interval | None
    """The 90 % interval, which shows the effect sizes that a non-significant result excludes (docs/methods 10.5)."""
    score_reliability: float | None
    """ρ: the share of the variance of scores within X and Y that is not due to the choice of attributes."""
    corrected: bool = True
    """Whether the noise of attributes is removed; False for statistics other than the mean."""
    reason: Reason | None = None
    """The reason why there is no interval."""


@dataclass(frozen=True, slots=True, eq=False)
class Crossed:
    """The crossed test and the components of its intervals, for any number of repeated layouts."""

    scale: Scale
    g: Vector
    """g∞ = Δ/τ."""
    p: Vector
    score_reliability: Vector
    variance_at_zero: Vector
    """V₀/τ²."""
    df_at_zero: Vector
    variance: Vector
    """v: the variance of g∞ at the estimate."""
    df: Vector
    least_variance: Vector
    """v for fixed attributes divided by ρ; the variance for random attributes cannot be smaller."""
    shrink: Vector
    """k for fixed attributes."""

    def ends(self, alpha: float) -> tuple[Vector, Vector]:
        """Return the lower and upper end of each interval of d∞ at level 1 − alpha; NaN where it is not estimable."""
        at_zero = upper_point(alpha / 2, self.df_at_zero) ** 2 * self.variance_at_zero
        of_words = upper_point(alpha / 2, self.scale.df) ** 2 * self.least_variance
        of_all = upper_point(alpha / 2, self.df) ** 2 * self.variance
        at_estimate = np.fmax(np.maximum(of_all, at_zero), of_words)
        low, high = ends(self.g, at_zero, at_estimate, self.p <= alpha, self.shrink)
        return self.scale.effect_size(low), self.scale.effect_size(high)


def random_attributes(
    to_a: Matrix,
    to_b: Matrix,
    n_x: int,
    alpha: float = 0.05,
    ddof: int = 1,
    templates: Matrix | None = None,
    of_contexts: Vector | None = None,
) -> RandomAttributes:
    """Return the crossed t-test, d∞ and the interval of d∞, which excludes 0 if and only if p ≤ alpha.

    Args:
        to_a: measures between words (X first) and each word of A; larger means closer.
        to_b: the same for each word of B.
        n_x: the number of words in X.
        alpha: the significance level of the interval, at most 0.5.
        ddof: delta degrees of freedom of the sd in d.
        templates: scores s(w, t) of each word in each template, if all words occur in the same 3 or more templates; a
            word's score is its mean over templates. By default, templates are fixed.
        of_contexts: the variance of each word's score due to the sample of its own contexts. By default, contexts are
            fixed.
    """
    if min(to_a.shape[-1], to_b.shape[-1]) < LEAST_ATTRIBUTES:
        return _left_out(Reason.TOO_FEW_ATTRIBUTES)
    if min(n_x, len(to_a) - n_x) < 2:
        return _left_out(Reason.TOO_FEW_WORDS)
    result = crossed(to_a, to_b, n_x, ddof, templates, of_contexts)
    rho = float(result.score_reliability)
    p = float(result.p)
    if np.isnan(rho):
        tables = [to_a, to_b] if templates is None else [to_a, to_b, templates]
        p_of_choices = p if any(_differences_vary(table, n_x) for table in tables) else None
        return RandomAttributes(p_of_choices, None, None, None, None, reason=Reason.NO_SPREAD)
    if rho < LEAST_RELIABILITY:
        return RandomAttributes(p, None, None, None, rho, reason=Reason.NOISE)
    (low, high), (low_90, high_90) = result.ends(alpha), result.ends(0.10)
    return RandomAttributes(
        p,
        float(result.scale.effect_size(result.g)),
        Interval(float(low), float(high), 1 - alpha),
        Interval(float(low_90), float(high_90), 1 - 0.10),
        rho,
    )


def _left_out(reason: Reason, corrected: bool = True) -> RandomAttributes:
    return RandomAttributes(None, None, None, None, None, corrected, reason)


def _differences_vary(table: Matrix, n_x: int) -> bool:
    """Return whether the difference between X and Y varies over attributes or templates, so that a test exists."""
    differences = table[:n_x].mean(axis=0) - table[n_x:].mean(axis=0)
    return bool(np.ptp(differences) > NO_SPREAD * np.abs(table).max())


def crossed(
    to_a: Matrix,
    to_b: Matrix,
    n_x: int,
    ddof: int = 1,
    templates: Matrix | None = None,
    of_contexts: Vector | None = None,
) -> Crossed:
    """Compute `random_attributes` for tables with any leading axes; effects are NaN where ρ < 0.1."""
    scores = within(to_a.mean(axis=-1) - to_b.mean(axis=-1), n_x, ddof)
    scale = scores.scale
    factors = [factor(to_a, scale), factor(to_b, scale, -1)]
    if templates is not None and templates.shape[-1] >= LEAST_TEMPLATES:
        factors.append(factor(templates, scale))
    noise = np.asarray(sum(part.noise for part in factors))
    own = np.zeros(scores.residuals.shape[-1]) if of_contexts is None else of_contexts
    every_noise = noise + own_noise(own, scale)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = scores.squares / scale.df
        rho = 1 - every_noise / variance
        signal = np.where(rho >= LEAST_RELIABILITY, variance - every_noise, np.nan)
        # V₀, the variance of Δ with nothing assumed about the effect, and its degrees of freedom.
        words = [
            np.einsum("...i,...i->...", part, part) / ((m - 1) * m)
            for part, m in (
                (scores.residuals[..., : scale.n_x], scale.n_x),
                (scores.residuals[..., scale.n_x :], scale.n_y),
            )
        ]
        choices = [part.variance for part in factors]
        of_words, of_choices = np.asarray(sum(words)), np.asarray(sum(choices))
        # The interaction of words and attributes is in both terms; it is counted once.
        once = of_words + of_choices - noise * scale.variance_factor
        variance_of_difference = np.maximum(np.maximum(once, of_words), of_choices)
        df_at_zero = combined_df(
            [*words, *choices], [scale.n_x - 1, scale.n_y - 1, *(part.levels - 1 for part in factors)]
        )
        t = scores.difference / np.sqrt(variance_of_difference)
        jackknifed, df = _jackknifed(scores, factors, every_noise, signal, own)
        overlap = noise * scale.variance_factor / signal
        variance_of_g, shrink = variance_and_shrink(scores)
        return Crossed(
            scale,
            g=scores.difference / np.sqrt(signal),
            p=two_sided_p(t, df_at_zero),
            score_reliability=np.where(variance > 0, rho, np.nan),
            variance_at_zero=variance_of_difference / signal,
            df_at_zero=df_at_zero,
            variance=np.maximum(jackknifed - overlap, jackknifed / 2),
            df=df,
            least_variance=variance_of_g * variance / signal,
            shrink=np.where(np.isnan(shrink), 1.0, shrink),
        )


def own_noise(own: Vector, scale: Scale) -> float:
    """Return the part of the variance of scores within X and Y that errors of single words add.

    Args:
        own: the variance of the error of each word's score, independent of those of other words.
        scale: the sizes of X and Y.
    """
    x, y = own[: scale.n_x], own[scale.n_x :]
    return float((x.sum() * (1 - 1 / len(x)) + y.sum() * (1 - 1 / len(y))) / scale.df)


def own_noise_without_each_word(own: Vector, scale: Scale) -> Vector:
    """Return `own_noise` without each word."""
    x, y = own[: scale.n_x], own[scale.n_x :]
    of_x, of_y = (part.sum() * (1 - 1 / len(part)) for part in (x, y))
    left = [
        (part.sum() - part) * (1 - 1 / max(1, len(part) - 1)) + other
        for part, other in ((x, of_y), (y, of_x))
    ]
    return np.concatenate(left) / max(1, scale.df - 1)


def _jackknifed(
    scores: Within, factors: Sequence[Factor], noise: Vector, signal: Vector, own: Vector
) -> tuple[Vector, Vector]:
    """Return H and its degrees of freedom: the jackknife variance of linearised g∞ over words and factors."""
    scale = scores.scale
    tau, noise_of = np.sqrt(signal)[..., np.newaxis], noise[..., np.newaxis]
    slope = (scores.difference / (2 * signal))[..., np.newaxis]
    left = without_each_word(scores)
    sizes = each_words(scale, scale.n_x, scale.n_y)
    noise_left = np.asarray(sum(part.noise_without_each_word(sizes) for part in factors))
    noise_left = noise_left + own_noise_without_each_word(own, scale)
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


def random_attributes_uncorrected(
    scores: Vector, without_levels: Sequence[Matrix], n_x: int, alpha: float = 0.05, ddof: int = 1
) -> RandomAttributes:
    """Compute p and a jackknife-t interval of d for statistics other than the mean.

    A median or an extreme has no two-way table from which the noise can be estimated (docs/methods 10.2), so d is not
    corrected.

    Args:
        scores: scores of the words, X (the first n_x) before Y.
        without_levels: for A, for B and, if words are crossed with templates, for templates: scores of the words
            (rows) without each attribute or template (columns), as returned by `scores_without_attributes`.
        n_x: the number of words in X.
        alpha: the significance level of the interval.
        ddof: delta degrees of freedom of the sd in d.
    """
    if min(level_scores.shape[-1] for level_scores in without_levels) < LEAST_ATTRIBUTES:
        return _left_out(Reason.TOO_FEW_ATTRIBUTES, corrected=False)
    if min(n_x, len(scores) - n_x) < 2:
        return _left_out(Reason.TOO_FEW_WORDS, corrected=False)
    centred = within(scores, n_x, ddof)
    if centred.squares == 0:
        return _left_out(Reason.NO_SPREAD, corrected=False)
    scale, without = centred.scale, without_each_word(centred).g
    with np.errstate(invalid="ignore"):
        variances = [
            jackknife_variance(without[:n_x]) + jackknife_variance(without[n_x:]),
            *(jackknife_variance(within(level_scores.T, n_x).g) for level_scores in without_levels),
        ]
    variance = np.asarray(sum(variances))
    if not np.isfinite(variance):
        return _left_out(Reason.ONE_WORD_SPREAD, corrected=False)
    df = combined_df(variances, [scale.df, *(level_scores.shape[-1] - 1 for level_scores in without_levels)])
    p = two_sided_p(centred.g / np.sqrt(variance), df)

    def interval(alpha: float) -> Interval:
        width = upper_point(alpha / 2, df) ** 2 * variance
        low, high = scale.effect_size(np.array(ends(centred.g, width, width, p <= alpha)))
        return Interval(float(low), float(high), 1 - alpha)

    d = float(scale.effect_size(centred.g))
    return RandomAttributes(float(p), d, interval(alpha), interval(0.10), None, corrected=False)
