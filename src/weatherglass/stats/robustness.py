"""Assess the robustness of a value with intervals, leave-one-out values and its null distribution (docs/methods 10,
13).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.metrics.sets import mean_by_unit
from weatherglass.stats.attributes import LARGEST_P_USED, LEAST_TEMPLATES
from weatherglass.stats.bootstrap import BootstrapInterval
from weatherglass.stats.interval import (
    Reason,
    combined_df,
    ends,
    jackknife_variance,
    two_sided_p,
    upper_point,
)
from weatherglass.stats.leave_one_out import (
    LeftOut,
    Removal,
    removals_of_attributes,
    removals_of_words,
    scores_without_attributes,
    tested,
)
from weatherglass.stats.scale import within
from weatherglass.warnings import Warning

if TYPE_CHECKING:
    from weatherglass.metrics.exchange import Recompute, Tested
    from weatherglass.metrics.weat.tables import NamedSample
    from weatherglass.stats import Significance
    from weatherglass.stats.attributes import RandomAttributes
    from weatherglass.stats.topic import AttributeTables
    from weatherglass.warnings import Warning

LARGE_EFFECT = 1.4
SKEWED_FROM = 1.0
NOISY_BELOW = 0.3
LIKE_SIZES = (0.8, 1.25)
"""The range of |X|/|Y| in which unequal variances hardly affect the exact test."""


def notes(
    x: Vector,
    y: Vector,
    p_fixed: float,
    p_random: float | None = None,
    score_reliability: float | None = None,
    alpha: float = 0.05,
) -> tuple[Warning, ...]:
    """Return the warnings of a row, from its scores, its p for fixed and random attributes and its reliability."""
    scores = within(np.concatenate([x, y]).astype(np.float64), len(x))
    low, high = LIKE_SIZES
    found = []
    large = abs(scores.scale.effect_size(scores.g)) >= LARGE_EFFECT
    if large and abs(skewness(scores.residuals)) > SKEWED_FROM:
        found.append(Warning.of("skewed", level=100 * (1 - alpha)))
    if not low <= len(x) / len(y) <= high:
        welch = welch_p(x, y)
        if not math.isnan(welch) and (welch <= alpha) != (p_fixed <= alpha):
            found.append(Warning.of("spreads", welch_p=welch))
    if score_reliability is not None and score_reliability < NOISY_BELOW:
        found.append(Warning.of("unreliable", reliability=score_reliability, least=NOISY_BELOW))
    if p_random is not None and p_fixed <= alpha < p_random:
        found.append(Warning.of("fixed-attributes", p=p_fixed, p_random=p_random))
    return tuple(found)


def skewness(residuals: Vector) -> float:
    """Return the skewness of scores that are centred within their sets; 0 if they do not vary."""
    variance = float((residuals**2).mean())
    return float((residuals**3).mean() / variance**1.5) if variance > 0 else 0.0


def welch_p(x: Vector, y: Vector) -> float:
    """Return the two-sided p of Welch's t-test, which allows unequal variances; NaN if it does not exist."""
    if min(len(x), len(y)) < 2:
        return math.nan
    variances = [np.asarray(scores.var(ddof=1) / len(scores)) for scores in (x, y)]
    if not sum(variances) > 0:
        return math.nan
    t = (x.mean() - y.mean()) / np.sqrt(sum(variances))
    return float(two_sided_p(t, combined_df(variances, [len(x) - 1, len(y) - 1])))


NULL_DRAWS = 9_999
NULL_LEVELS = np.linspace(0, 1, 201)
_LEFT_OUT_FIELDS = itemgetter(*LeftOut._fields)


@dataclass(frozen=True, slots=True)
class Decisive:
    """The word or template without which p is largest."""

    kind: str
    role: str
    name: str
    p_value: float
    lifting: int
    """The number of words (or templates) whose removal makes p larger than alpha."""


@dataclass(frozen=True, slots=True)
class Robustness:
    """Results that are stored with one effect size: bounds, leave-one-out values and the null distribution."""

    level: float
    """The confidence level of the intervals, 1 − alpha."""
    random_corrected: bool
    """Whether d∞ is corrected for the noise of attributes, which is possible only for the statistic mean."""
    fixed_reason: str | None
    """The reason why there is no interval for fixed attributes; None if there is one."""
    random_reason: str | None
    """The reason why there is no effect or interval for random attributes; None if there is one."""
    templates_random: bool
    """Whether sentence templates are random, too, because all words occur in the same three or more templates."""
    excluded_above: float | None
    """U, the limit above which |d∞| is excluded at 5 %; None if the effect for random attributes is not estimable."""
    bootstrap: BootstrapInterval | None
    """The bootstrap interval; None unless ci="bca"."""
    left_out: tuple[LeftOut, ...]
    null: tuple[float, ...]
    """Quantiles of d under exchanged labels, at NULL_LEVELS."""

    def decisive(self, kind: str, alpha: float) -> Decisive | None:
        """Return the word or template without which p is largest, if p is then above alpha."""
        lifting = [w for w in self.left_out if w.kind == kind and w.p_value is not None and w.p_value > alpha]
        if not lifting:
            return None
        most = max(lifting, key=lambda w: w.p_value or 0.0)
        return Decisive(kind, most.role, most.name, most.p_value or 0.0, len(lifting))

    def to_json(self) -> dict[str, Any]:
        """Return plain values for the journal."""
        # `asdict` would copy thousands of numbers, although nothing here can change.
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "bootstrap": asdict(self.bootstrap) if self.bootstrap else None,
            "left_out": tuple(left_out._asdict() for left_out in self.left_out),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Robustness:
        """Return the robustness from the result of `to_json`."""
        values = dict(record)
        values["bootstrap"] = BootstrapInterval(**values["bootstrap"]) if values["bootstrap"] else None
        values["left_out"] = tuple(map(LeftOut._make, map(_LEFT_OUT_FIELDS, values["left_out"])))
        values["null"] = tuple(values["null"])
        return cls(**values)


Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Assessment:
    """The intervals of a value, its value for random attributes, and further results."""

    interval: Ends | None
    """The interval over the units exchanged for p, with all other units fixed."""
    interval_random: Ends | None
    """The interval over the units of all sets."""
    robustness: Robustness
    p_random: float | None = None
    """The two-sided p over the units of all sets."""
    value_random: float | None = None
    """The value with infinitely many attribute words of this kind."""
    score_reliability: float | None = None
    tables: AttributeTables | None = None
    """The measures between target words and single attribute words."""
    warnings: tuple[Warning, ...] = ()
    """Warnings about numbers that are less certain than they appear."""

    def flipped(self) -> Assessment:
        """Return the assessment of the value with the opposite sign."""
        return replace(
            self,
            interval=_flipped(self.interval),
            interval_random=_flipped(self.interval_random),
            value_random=None if self.value_random is None else -self.value_random,
        )


def _flipped(ends: Ends | None) -> Ends | None:
    return ends and (-ends[1], -ends[0])


def assess(
    named: NamedSample,
    of: Tested,
    test: Callable[[Vector, Vector, bool], Significance],
    without_templates: Sequence[tuple[str, Vector, Vector]],
) -> Assessment:
    """Assess how robust d is.

    Args:
        named: the raw measures of the test, by unit.
        of: d and its p.
        test: a function that computes p from the scores of X and Y; a third argument of True allows rough bounds.
        without_templates: each sentence template with the scores of X and of Y without it.
    """
    # Imported here, because reading a finished run needs `Robustness`, but nothing that computes it.
    from weatherglass.metrics.weat.scores import effect_size
    from weatherglass.metrics.weat.tables import unit_scores
    from weatherglass.stats.attributes import fixed_attributes
    from weatherglass.stats.bootstrap import bootstrap_interval

    n_x, ddof, alpha = named.n_x, named.sample.ddof, of.alpha
    p_two_sided = of.null.two_sided_p(of.p_value, of.alternative, of.options) if of.null else None
    assert p_two_sided is not None  # d has two sides
    scores = unit_scores(named.sample)
    x, y = scores[:n_x], scores[n_x:]
    fixed = fixed_attributes(x, y, p_two_sided, alpha, ddof)
    random, by_attribute = _over_attributes(named, scores, alpha)
    removals = [
        *removals_of_words(scores, n_x, (named.units[0], named.units[1]), ddof),
        *(
            removal
            for role, names, without in zip("AB", named.units[2:], by_attribute, strict=True)
            for removal in removals_of_attributes(without, n_x, role, names, ddof)
        ),
        *(
            Removal("template", "XYAB", template, effect_size(of_x, of_y, ddof), of_x, of_y)
            for template, of_x, of_y in without_templates
            if len(of_x) + len(of_y) > ddof
        ),
    ]
    interval = interval_random = bootstrapped = None
    if of.ci == "bca":
        rng = np.random.default_rng(of.options.seed)
        bootstrapped = bootstrap_interval(named.sample, fixed.effect_size, alpha, rng)
    if bootstrapped:
        interval = bootstrapped.bca_low, bootstrapped.bca_high
    elif of.ci == "jackknife" and fixed.interval:
        interval = fixed.interval.low, fixed.interval.high
    if of.ci != "none" and random.interval:
        interval_random = random.interval.low, random.interval.high
    return Assessment(
        interval,
        interval_random,
        p_random=random.p,
        value_random=random.effect_size,
        score_reliability=random.score_reliability,
        warnings=notes(x, y, p_two_sided, random.p, random.score_reliability, alpha),
        robustness=Robustness(
            level=1 - alpha,
            random_corrected=random.corrected,
            fixed_reason=fixed.reason,
            random_reason=random.reason,
            templates_random=named.templates is not None and named.templates.shape[1] >= LEAST_TEMPLATES,
            # Two one-sided tests at 5 % correspond to the 90 % interval. The interval for fixed attributes is not
            # valid here, because their noise shrinks d, so that a large effect could seem small (docs/methods 10.5).
            excluded_above=random.interval_90.largest if random.interval_90 else None,
            bootstrap=bootstrapped,
            left_out=tested(removals, test, of.p_value, alpha, of.options.decisive_only),
            null=tuple(null_quantiles(x, y, ddof, np.random.default_rng(of.options.seed))),
        ),
    )


def _over_attributes(
    named: NamedSample, scores: Vector, alpha: float
) -> tuple[RandomAttributes, tuple[Matrix, Matrix]]:
    """Return the effect for random attributes, and the scores of units (rows) without each attribute of A and B."""
    from weatherglass.stats.attributes import random_attributes, random_attributes_uncorrected

    sample, rows = named.sample, named.rows
    without_a, without_b = scores_without_attributes(
        named.statistic, sample.to_a, sample.to_b, sample.orientation, sample.statistic.association
    )
    by_attribute = mean_by_unit(without_a, rows), mean_by_unit(without_b, rows)
    if named.statistic != "mean":
        random = random_attributes_uncorrected(scores, by_attribute, named.n_x, alpha, sample.ddof)
        return random, by_attribute
    to_a, to_b = (sample.orientation * mean_by_unit(table, rows) for table in (sample.to_a, sample.to_b))
    random = random_attributes(to_a, to_b, named.n_x, alpha, sample.ddof, named.templates, named.of_contexts)
    return random, by_attribute


def null_quantiles(x: Vector, y: Vector, ddof: int, rng: np.random.Generator) -> list[float]:
    """Return the quantiles of d under random labels, at NULL_LEVELS; an empty list if all scores are equal.

    The sd of all scores is the same for every relabelling, so that the sum over X determines d.
    """
    from weatherglass.stats.permutation.grid import on_grid
    from weatherglass.stats.permutation.sampled import sample_sums

    grid = on_grid(x, y)
    if grid.constant:
        return []
    sums = sample_sums(grid, NULL_DRAWS, rng).astype(np.float64)
    spread = float(np.std(grid.values, ddof=ddof))
    drawn = (sums / len(x) - (grid.total - sums) / len(y)) / spread
    return [float(d) for d in np.quantile(drawn, NULL_LEVELS)]


def assess_recomputed(resample: Recompute, of: Tested) -> Assessment:
    """Return jackknife intervals at level 1 − alpha, the value without each unit, and its null distribution.

    The interval over the units exchanged for p excludes `unbiased` if and only if the two-sided p is at most alpha.

    Args:
        resample: a function that computes the value without a unit.
        of: the value and its p.
    """
    alpha = of.alpha
    p_two_sided = of.null.two_sided_p(of.p_value, of.alternative, of.options) if of.null else None
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
    fixed = _interval(
        *(value, unbiased, _by_sample([without[g] for g in exchanged], [samples[g] for g in exchanged])),
        *(p_two_sided, alpha, bounds),
    )
    random = _interval(value, unbiased, _by_sample(without, samples), None, alpha, bounds)
    return Assessment(
        fixed if of.ci != "none" else None,
        random if of.ci != "none" else None,
        Robustness(
            level=1 - alpha,
            random_corrected=False,
            fixed_reason=None if fixed else Reason.TOO_FEW_WORDS,
            random_reason=None if random else Reason.TOO_FEW_WORDS,
            templates_random=False,
            excluded_above=None,
            bootstrap=None,
            left_out=tuple(left_out),
            null=tuple(of.null.quantiles(NULL_LEVELS, of.options)) if of.null else (),
        ),
    )


def _by_sample(without: list[Vector], samples: list[str]) -> list[Vector]:
    """Concatenate the values of groups that belong to one sample."""
    distinct = dict.fromkeys(samples)
    return [
        np.concatenate([w for w, own in zip(without, samples, strict=True) if own == s]) for s in distinct
    ]


def _interval(
    value: float, unbiased: float, without: list[Vector], p: float | None, alpha: float, bounds: Ends
) -> Ends | None:
    """Return value ± t·se from the jackknife within each group; None if a group has one unit or the value is NaN."""
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
            # The interval must include the value without bias if p is not significant.
            low = min(low, float(np.nextafter(unbiased, -np.inf)))
            high = max(high, float(np.nextafter(unbiased, np.inf)))
        return max(low, bounds[0]), min(high, bounds[1])
    g = np.asarray(value - unbiased)
    at_zero = np.asarray((g * (t / upper_point(p / 2, df))) ** 2)
    low, high = (float(end) for end in ends(g, at_zero, np.asarray(t**2 * variance), np.asarray(p <= alpha)))
    return max(unbiased + low, bounds[0]), min(unbiased + high, bounds[1])


@dataclass(frozen=True, slots=True)
class ChangeOfValue:
    """The change of a value between two models, over the words that both know."""

    low: float | None
    high: float | None
    p: float | None
    """The two-sided p of the hypothesis of no change, from the same t-test as the interval."""


Without = Mapping[tuple[str, str], float]
"""The value without each unit, by role and name."""


def paired_change_of_values(
    before: float, after: float, first: Without, second: Without, alpha: float, pooled: bool = False
) -> ChangeOfValue:
    """Compute the interval of after − before by the jackknife, leaving each word out of both models at once.

    Args:
        before: the value of the first model.
        after: the value of the second model.
        first: the first model's value without each unit.
        second: the second model's value without each unit.
        alpha: the significance level; the interval has the level 1 − alpha.
        pooled: whether the words of all target sets form one sample.
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
