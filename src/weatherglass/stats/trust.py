"""Beside every effect size, how far to trust it: both readings, leave-one-out, null distribution (docs/methods 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from weatherglass.arrays import Matrix, Vector
from weatherglass.metrics.units import mean_by_unit
from weatherglass.stats.bootstrap import BootstrapInterval
from weatherglass.stats.leave_one_out import scores_without_attributes
from weatherglass.stats.removal import (
    LeftOut,
    Removal,
    removals_of_attributes,
    removals_of_words,
    tested,
)

if TYPE_CHECKING:
    from weatherglass.metrics.resample import Tested
    from weatherglass.metrics.weat.tables import NamedSample
    from weatherglass.stats.permutation.base import Significance
    from weatherglass.stats.such import SuchAttributes
    from weatherglass.stats.topic_layout import AttributeTables
    from weatherglass.warnings import Warning

NULL_DRAWS = 9_999
NULL_LEVELS = np.linspace(0, 1, 201)
_LEFT_OUT_FIELDS = itemgetter(*LeftOut._fields)


@dataclass(frozen=True, slots=True)
class HangsOn:
    """The word or template whose removal gives the largest p."""

    kind: str
    role: str
    name: str
    p_value: float
    lifting: int
    """How many words (or templates) each lift p above alpha when they are left out."""


@dataclass(frozen=True, slots=True)
class Trust:
    """What stands beside one effect size."""

    level: float
    """Of the intervals: 1 − alpha."""
    such_corrected: bool
    """Whether d∞ is free of the attributes' noise; only for the statistic mean."""
    these_reason: str | None
    """Why there is no interval with these attributes; None where there is one."""
    such_reason: str | None
    """Why there is no effect or interval over such attributes."""
    templates_random: bool
    """Whether sentence templates count as one of many, too: all words stand in the same three or more."""
    excluded_above: float | None
    """U: an |d∞| above it is excluded at 5 %; None where the reading over such attributes is not estimable."""
    bootstrap: BootstrapInterval | None
    """Only with ci="bca"."""
    left_out: tuple[LeftOut, ...]
    null: tuple[float, ...]
    """Quantiles of d under exchanged labels, at NULL_LEVELS."""

    def hangs_on(self, kind: str, alpha: float) -> HangsOn | None:
        """The most telling word or template, if leaving it out lifts p above alpha."""
        lifting = [w for w in self.left_out if w.kind == kind and w.p_value is not None and w.p_value > alpha]
        if not lifting:
            return None
        most = max(lifting, key=lambda w: w.p_value or 0.0)
        return HangsOn(kind, most.role, most.name, most.p_value or 0.0, len(lifting))

    def to_json(self) -> dict[str, Any]:
        """Plain values, for the journal."""
        # `asdict` copies each of thousands of numbers on its own; nothing here can change.
        return {
            **{field.name: getattr(self, field.name) for field in fields(self)},
            "bootstrap": asdict(self.bootstrap) if self.bootstrap else None,
            "left_out": tuple(left_out._asdict() for left_out in self.left_out),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Trust:
        """The inverse of `to_json`."""
        values = dict(record)
        values["bootstrap"] = BootstrapInterval(**values["bootstrap"]) if values["bootstrap"] else None
        values["left_out"] = tuple(map(LeftOut._make, map(_LEFT_OUT_FIELDS, values["left_out"])))
        values["null"] = tuple(values["null"])
        return cls(**values)


Ends = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Assessment:
    """What recomputing a value tells of it: intervals, both readings of a d, and what else a result keeps."""

    interval: Ends | None
    """Over the units that p exchanges, the others as they are."""
    interval_random: Ends | None
    """Over the units of all sets."""
    trust: Trust
    p_random: float | None = None
    """p over the units of all sets, two-sided."""
    value_random: float | None = None
    """What the value would be with endless attribute words of this kind."""
    score_reliability: float | None = None
    tables: AttributeTables | None = None
    """What target words measure to single attribute words."""
    warnings: tuple[Warning, ...] = ()
    """Where the numbers are weaker, or answer another question."""

    def flipped(self) -> Assessment:
        """Return the assessment of a value that is reported with the other sign."""
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
    """Return how far to trust d.

    Args:
        named: the raw measures of the test, by unit.
        of: d and its p.
        test: p of the scores that are left without a word or template; whether rough bounds of it do.
        without_templates: each sentence template with the scores of X and of Y without it.
    """
    # Here, and not above: whoever reads a finished run needs `Trust` and nothing that computes it.
    from weatherglass.metrics.weat.effect import effect_size
    from weatherglass.metrics.weat.tables import unit_scores
    from weatherglass.stats.bootstrap import bootstrap_interval
    from weatherglass.stats.notes import notes
    from weatherglass.stats.these import these_attributes

    n_x, ddof, alpha = named.n_x, named.sample.ddof, of.alpha
    p_two_sided = of.two_sided_p()
    assert p_two_sided is not None  # d has two sides
    scores = unit_scores(named.sample)
    x, y = scores[:n_x], scores[n_x:]
    these = these_attributes(x, y, p_two_sided, alpha, ddof)
    such, by_attribute = _over_attributes(named, scores, alpha)
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
        bootstrapped = bootstrap_interval(named.sample, these.effect_size, alpha, of.options.rng())
    if bootstrapped:
        interval = bootstrapped.bca_low, bootstrapped.bca_high
    elif of.ci == "jackknife" and these.interval:
        interval = these.interval.low, these.interval.high
    if of.ci != "none" and such.interval:
        interval_random = such.interval.low, such.interval.high
    return Assessment(
        interval,
        interval_random,
        p_random=such.p,
        value_random=such.effect_size,
        score_reliability=such.score_reliability,
        warnings=notes(x, y, p_two_sided, such.p, such.score_reliability, alpha),
        trust=Trust(
            level=1 - alpha,
            such_corrected=such.corrected,
            these_reason=these.reason,
            such_reason=such.reason,
            templates_random=named.templates is not None and named.templates.shape[1] >= LEAST_TEMPLATES,
            # Two one-sided tests at 5 % make the 90 % interval. The reading for fixed attributes would not do: their
            # noise shrinks d, and would let an effect pass for small (docs/methods 10.5).
            excluded_above=such.interval_90.largest if such.interval_90 else None,
            bootstrap=bootstrapped,
            left_out=tested(removals, test, of.p_value, alpha),
            null=tuple(null_quantiles(x, y, ddof, of.options.rng())),
        ),
    )


LEAST_TEMPLATES = 3


def _over_attributes(
    named: NamedSample, scores: Vector, alpha: float
) -> tuple[SuchAttributes, tuple[Matrix, Matrix]]:
    """Return the reading for random attributes, and the unit scores (down) without each attribute of A, and of B."""
    from weatherglass.stats.such import such_attributes
    from weatherglass.stats.uncorrected import such_attributes_uncorrected

    sample, rows = named.sample, named.rows
    without_a, without_b = scores_without_attributes(
        named.statistic, sample.to_a, sample.to_b, sample.orientation, sample.statistic.association
    )
    by_attribute = mean_by_unit(without_a, rows), mean_by_unit(without_b, rows)
    if named.statistic != "mean":
        such = such_attributes_uncorrected(scores, by_attribute, named.n_x, alpha, sample.ddof)
        return such, by_attribute
    to_a, to_b = (sample.orientation * mean_by_unit(table, rows) for table in (sample.to_a, sample.to_b))
    return such_attributes(to_a, to_b, named.n_x, alpha, sample.ddof, named.templates), by_attribute


def null_quantiles(x: Vector, y: Vector, ddof: int, rng: np.random.Generator) -> list[float]:
    """Quantiles of d when labels are exchanged at random, at NULL_LEVELS; none where all scores agree.

    The sd of all scores is the same for every relabelling, so d follows from the sum over X.
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
