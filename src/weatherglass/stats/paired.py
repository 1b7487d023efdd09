"""Test the change of an effect between two models that scored the same words, by a paired jackknife.

The jackknife leaves the same word out of both models and computes v, the variance of the difference of the two g. v is
too large by a factor of about ν/(ν − 1), because s_w without a word has only ν − 1 degrees of freedom. The change
divided by √(v·(ν − 1)/ν) is therefore compared with t(ν). This factor was chosen among three by simulation. For
unchanged effects with 8 + 8 words, a test at 5 % rejects in 3.5 to 4.8 % of cases with v alone, in 4.2 to 5.5 % with
this factor, and in 4.9 to 6.3 % with (ν − 2)/ν (normal scores, correlation of the models from 0 to 0.9, d from 0 to
1.4, 20 000 repetitions per cell). `python -m benchmarks.coverage paired` repeats the simulation for 8 to 64 units.

For random attributes, each attribute word (and template) is also left out of both models. The interaction of words and
attributes, which both jackknives contain, is subtracted once, as in the crossed t-test of docs/methods 10.2. Two
models also differ in the vectors of attribute words; if these count as fixed, their noise is mistaken for a change.

The test has limits. With 8 + 8 words, it rejects in 3.3 to 6.3 % of cases for t5 scores and in 2.8 to 7.4 % for skewed
scores. If the effect does change, from 0.7 to 1.4, the interval of the change misses it in up to 10 % (8 + 8 words)
and 8 % (25 + 25 words) of runs, and in 12 % with skewed scores.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.stats.attributes import LEAST_ATTRIBUTES, LEAST_TEMPLATES, factor
from weatherglass.stats.interval import (
    Interval,
    Reason,
    combined_df,
    ends,
    jackknife_variance,
    two_sided_p,
    upper_point,
)
from weatherglass.stats.leave_one_out import each_words, without_each_word
from weatherglass.stats.scale import Scale, Within, within
from weatherglass.stats.topic import AttributeTables

SAME_G = 1e-6
"""The change of g below which the slope of d is taken at a point, since a quotient of two differences would be mostly
rounding error.
"""


@dataclass(frozen=True, slots=True)
class PairedChange:
    """One effect in two models, over the words that both scored."""

    before: float
    """d of the first model."""
    after: float
    p: float | None
    """The two-sided p of the hypothesis of no change."""
    interval: Interval | None
    """The interval of the change of d; it excludes 0 if and only if p ≤ 1 − level."""
    reason: Reason | None = None

    @property
    def change(self) -> float:
        """Return d after minus d before."""
        return self.after - self.before


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """The dependence of an effect in one model on the levels of one factor: the words of A, the words of B, or
    templates.
    """

    names: Sequence[Hashable]
    without: Vector
    """g without each level."""
    interaction: Matrix | None = None
    """A table of words (X first) × levels, minus the column means of each target set and the row means; None if it is
    unknown.
    """

    def influence(self, scores: Within, on_d: bool) -> Vector:
        """Return the jackknife deviation of each level, whose sum of squares is the variance over levels."""
        values = scores.scale.effect_size(self.without) if on_d else self.without
        k = values.shape[-1]
        return np.asarray(np.sqrt((k - 1) / k) * (values - values.mean(axis=-1, keepdims=True)))

    def cells(self, scores: Within, on_d: bool) -> Matrix:
        """Return the contribution of each pair of a word and a level, whose sum of squares is in both jackknives."""
        assert self.interaction is not None
        k, scale = self.interaction.shape[-1], scores.scale
        m = each_words(scale, scale.n_x, scale.n_y)
        s_w = np.sqrt(scores.squares / scale.df)[..., np.newaxis]
        # ∂g/∂s(w): a word moves the difference of means, and s_w.
        spread = scores.g[..., np.newaxis] * scores.residuals / (scale.df * s_w)
        by_score = (each_words(scale, 1, -1) / m - spread) / s_w
        if on_d:
            by_score = by_score * scale.slope(scores.g)[..., np.newaxis]
        by_word = by_score * np.sqrt(m / ((m - 1) * k * (k - 1)))
        return np.asarray(by_word[..., np.newaxis] * self.interaction)


def levels_of(tables: AttributeTables, scores: Within) -> dict[str, Levels]:
    """Return the levels of A, of B and, if there are 3 or more, of templates.

    The result is empty if a set has fewer than 3 attribute words, since the effect for random attributes is then not
    estimable.

    Args:
        tables: the attribute tables, with one row per score.
        scores: the scores of the words.
    """
    if min(len(tables.a), len(tables.b)) < LEAST_ATTRIBUTES:
        return {}
    given = {"A": (tables.to_a, tables.a, 1), "B": (tables.to_b, tables.b, -1)}
    if tables.templates is not None and tables.templates.shape[-1] >= LEAST_TEMPLATES:
        given["templates"] = tables.templates, tables.template_names, 1
    levels = {}
    for role, (table, names, sign) in given.items():
        split = factor(table, scores.scale, sign)
        difference, squares, _ = split.without_each_level(scores)
        with np.errstate(divide="ignore", invalid="ignore"):
            g = difference / np.sqrt(np.maximum(squares, 0) / scores.scale.df)
        levels[role] = Levels(names, g, split.interaction)
    return levels


@dataclass(frozen=True, slots=True, eq=False)
class PairedJackknife:
    """The change of an effect and its jackknife variance on both scales, for any number of repetitions."""

    scale: Scale
    before: Vector
    """g of the first model."""
    after: Vector
    variance_of_g: Vector
    """The variance of the change of g."""
    df_of_g: Vector
    variance_of_d: Vector
    df_of_d: Vector

    @property
    def p(self) -> Vector:
        """Return the two-sided p of the hypothesis of no change; 1 where the models agree."""
        change = self.after - self.before
        with np.errstate(divide="ignore", invalid="ignore"):
            t = np.where(change == 0, 0.0, change / np.sqrt(self.variance_of_g))
        return two_sided_p(t, self.df_of_g)

    def ends(self, alpha: float) -> tuple[Vector, Vector]:
        """Return the low and high end of each interval of the change of d, which exclude 0 if and only if p ≤ alpha.

        As in docs/methods 10, the half-width at no change is that of the test of g, converted to d with the slope
        between the two estimates. At the estimate, the half-width is that of the change of d itself. A single slope
        cannot convert two different effects, since it varies with what the models have in common.
        """
        change = self.scale.effect_size(self.after) - self.scale.effect_size(self.before)
        at_zero = upper_point(alpha / 2, self.df_of_g) ** 2 * self.variance_of_g * self._slope() ** 2
        at_estimate = upper_point(alpha / 2, self.df_of_d) ** 2 * self.variance_of_d
        return ends(change, at_zero, at_estimate, self.p <= alpha)

    def _slope(self) -> Vector:
        before, after = self.before, self.after
        apart = np.abs(after - before) > SAME_G
        first = np.where(apart, before, (before + after) / 2 - SAME_G)
        second = np.where(apart, after, (before + after) / 2 + SAME_G)
        return np.asarray((self.scale.effect_size(second) - self.scale.effect_size(first)) / (second - first))


def paired_jackknife(
    before: Within, after: Within, factors: Sequence[tuple[Levels, Levels]] = ()
) -> PairedJackknife:
    """Leave each word, and each level of the factors, out of both models at once; without factors, attributes are
    fixed.
    """
    (of_g, df_of_g), (of_d, df_of_d) = (_variance((before, after), factors, on_d) for on_d in (False, True))
    return PairedJackknife(before.scale, before.g, after.g, of_g, df_of_g, of_d, df_of_d)


def _variance(
    models: tuple[Within, Within], factors: Sequence[tuple[Levels, Levels]], on_d: bool
) -> tuple[Vector, Vector]:
    """Return the variance of the change of g, or of d, and its degrees of freedom."""
    scale = models[0].scale
    first, second = (without_each_word(model).g for model in models)
    with np.errstate(invalid="ignore"):
        change = scale.effect_size(second) - scale.effect_size(first) if on_d else second - first
        of_sets = jackknife_variance(change[..., : scale.n_x]) + jackknife_variance(change[..., scale.n_x :])
        of_words = of_sets * (scale.df - 1) / scale.df
        if not factors:
            return of_words, np.asarray(float(scale.df))
        variances, interaction = [of_words], np.zeros(of_words.shape)
        for levels in factors:
            deviations = _change(
                levels, [own.influence(m, on_d) for own, m in zip(levels, models, strict=True)]
            )
            variances.append(np.asarray((deviations**2).sum(axis=-1)))
            if all(own.interaction is not None for own in levels):
                cells = _change(levels, [own.cells(m, on_d) for own, m in zip(levels, models, strict=True)])
                interaction = interaction + (cells**2).sum(axis=(-2, -1))
        of_levels = np.asarray(sum(variances[1:]))
        # The interaction of words and attributes is in both; it counts once.
        variance = np.maximum(np.maximum(of_words + of_levels - interaction, of_words), of_levels)
    sizes = [len({*first.names, *second.names}) for first, second in factors]
    return variance, combined_df(variances, [scale.df, *(size - 1 for size in sizes)])


def _change(levels: tuple[Levels, Levels], values: Sequence[Vector]) -> Vector:
    """Return the second model's values minus the first's, by level; the value of a level that a model lacks is 0."""
    names = dict.fromkeys((*levels[0].names, *levels[1].names))
    at = {name: place for place, name in enumerate(names)}
    change = np.zeros((*values[0].shape[:-1], len(at)))
    for sign, own, of_model in zip((-1, 1), levels, values, strict=True):
        change[..., [at[name] for name in own.names]] += sign * of_model
    return change


def paired_change(
    before: Vector,
    after: Vector,
    n_x: int,
    alpha: float = 0.05,
    ddof: int = 1,
    factors: Sequence[tuple[Levels, Levels]] = (),
) -> PairedChange:
    """Return the change of d from the scores of the same words in two models, X (the first n_x) before Y.

    Args:
        before: the scores of the first model.
        after: the scores of the second model.
        n_x: the number of words in X.
        alpha: the interval is at level 1 − alpha.
        ddof: the delta degrees of freedom of the sd in d.
        factors: the attribute words of A and B, and the templates, in both models; if omitted, they are fixed.
    """
    first, second = (within(np.asarray(scores, dtype=np.float64), n_x, ddof) for scores in (before, after))
    d = [float(model.scale.effect_size(model.g)) for model in (first, second)]
    if min(n_x, first.scale.n_y) < 2:
        return PairedChange(d[0], d[1], None, None, Reason.TOO_FEW_WORDS)
    if first.squares == 0 or second.squares == 0:
        return PairedChange(d[0], d[1], None, None, Reason.NO_SPREAD)
    jackknife = paired_jackknife(first, second, factors)
    low, high = (float(end) for end in jackknife.ends(alpha))
    if np.isnan(low) or np.isnan(high):
        return PairedChange(d[0], d[1], None, None, Reason.ONE_WORD_SPREAD)
    return PairedChange(d[0], d[1], float(jackknife.p), Interval(low, high, 1 - alpha))
