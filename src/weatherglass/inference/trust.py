"""Beside every effect size, how far to trust it: both readings, leave-one-out, null distribution (docs/methods 10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.inference.bootstrap import BootstrapInterval
from weatherglass.inference.reason import Reason
from weatherglass.inference.removal import (
    LeftOut,
    Removal,
    removals_of_attributes,
    removals_of_words,
    scores_without_each_attribute,
    tested,
)
from weatherglass.metrics.units import mean_by_unit

if TYPE_CHECKING:
    from weatherglass.inference.recomputed import Recomputed
    from weatherglass.inference.significance.base import Significance
    from weatherglass.inference.such import SuchAttributes
    from weatherglass.inference.these import TheseAttributes
    from weatherglass.metrics.weat.tables import NamedSample

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
    notes: tuple[str, ...]
    """Where the numbers are weaker, or answer another question."""

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
            "left_out": tuple(left_out.to_json() for left_out in self.left_out),
        }

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Trust:
        """The inverse of `to_json`."""
        values = dict(record)
        values["bootstrap"] = BootstrapInterval(**values["bootstrap"]) if values["bootstrap"] else None
        values["left_out"] = tuple(map(LeftOut._make, map(_LEFT_OUT_FIELDS, values["left_out"])))
        values["null"], values["notes"] = tuple(values["null"]), tuple(values["notes"])
        return cls(**values)


def trust_of_recomputed(without: Recomputed, null: Sequence[float], alpha: float) -> Trust:
    """What stands beside the value of a metric that is computed anew without each unit."""
    return Trust(
        level=1 - alpha,
        such_corrected=False,
        these_reason=None if without.these else Reason.TOO_FEW_WORDS,
        such_reason=None if without.such else Reason.TOO_FEW_WORDS,
        templates_random=False,
        excluded_above=None,
        bootstrap=None,
        left_out=without.left_out,
        null=tuple(null),
        notes=(),
    )


@dataclass(frozen=True, slots=True)
class Assessment:
    """Both readings of one effect, and what else a result keeps."""

    these: TheseAttributes
    such: SuchAttributes
    trust: Trust


def assess(
    named: NamedSample,
    p_value: float,
    p_two_sided: float,
    test: Callable[[Vector, Vector, bool], Significance],
    without_templates: Sequence[tuple[str, Vector, Vector]],
    *,
    alpha: float,
    ci: str,
    seed: int,
) -> Assessment:
    """How far to trust d.

    Args:
        named: the raw measures of the test, by unit.
        p_value: p of these scores.
        p_two_sided: the exact two-sided p of these scores, which the interval agrees with.
        test: p of the scores that are left without a word or template; whether rough bounds of it do.
        without_templates: each sentence template with the scores of X and of Y without it.
        alpha: the intervals are at level 1 − alpha.
        ci: jackknife, bca or none.
        seed: of the null distribution and of the bootstrap.
    """
    # Here, and not above: whoever reads a finished run needs `Trust` and nothing that computes it.
    from weatherglass.inference.bootstrap import bootstrap_interval
    from weatherglass.inference.equivalence import excluded_above
    from weatherglass.inference.notes import notes
    from weatherglass.inference.these import these_attributes
    from weatherglass.metrics.weat.tables import unit_scores

    n_x, ddof = named.n_x, named.sample.ddof
    scores = unit_scores(named.sample)
    x, y = scores[:n_x], scores[n_x:]
    by_attribute = _scores_without_attributes(named)
    these = these_attributes(x, y, p_two_sided, alpha, ddof)
    such = _such(named, scores, by_attribute, alpha)
    removals = [
        *removals_of_words(scores, n_x, (named.units[0], named.units[1]), ddof),
        *(
            removal
            for role, names, without in zip("AB", named.units[2:], by_attribute, strict=True)
            for removal in removals_of_attributes(without, n_x, role, names, ddof)
        ),
        *_removals_of_templates(without_templates, ddof),
    ]
    bootstrapped = (
        bootstrap_interval(named.sample, these.effect_size, alpha, np.random.default_rng(seed))
        if ci == "bca"
        else None
    )
    return Assessment(
        these,
        such,
        Trust(
            level=1 - alpha,
            such_corrected=such.corrected,
            these_reason=these.reason,
            such_reason=such.reason,
            templates_random=named.templates is not None and named.templates.shape[1] >= LEAST_TEMPLATES,
            excluded_above=excluded_above(such),
            bootstrap=bootstrapped,
            left_out=tested(removals, test, p_value, alpha),
            null=tuple(null_quantiles(x, y, ddof, np.random.default_rng(seed))),
            notes=tuple(map(str, notes(x, y, p_two_sided, such.p, such.score_reliability, alpha))),
        ),
    )


LEAST_TEMPLATES = 3


def _such(named: NamedSample, scores: Vector, by_attribute: tuple[Any, Any], alpha: float) -> SuchAttributes:
    from weatherglass.inference.such import such_attributes
    from weatherglass.inference.uncorrected import such_attributes_uncorrected

    sample = named.sample
    if named.statistic != "mean":
        return such_attributes_uncorrected(scores, by_attribute, named.n_x, alpha, sample.ddof)
    units = _units_of_rows(named)
    to_a, to_b = (sample.orientation * mean_by_unit(table, units) for table in (sample.to_a, sample.to_b))
    return such_attributes(to_a, to_b, named.n_x, alpha, sample.ddof, named.templates)


def _scores_without_attributes(named: NamedSample) -> tuple[Any, Any]:
    """Unit scores (down) without each attribute of A, and of B (across)."""
    sample = named.sample
    a, b = scores_without_each_attribute(
        named.statistic, sample.to_a, sample.to_b, sample.orientation, sample.statistic.association
    )
    units = _units_of_rows(named)
    return mean_by_unit(a, units), mean_by_unit(b, units)


def _units_of_rows(named: NamedSample) -> Any:
    x, y = named.sample.units[:2]
    return np.concatenate([x, x.max() + 1 + y])


def _removals_of_templates(without: Sequence[tuple[str, Vector, Vector]], ddof: int) -> Iterator[Removal]:
    from weatherglass.metrics.weat.effect import effect_size

    for template, x, y in without:
        if len(x) + len(y) > ddof:
            yield Removal("template", "XYAB", template, effect_size(x, y, ddof), x, y)


def null_quantiles(x: Vector, y: Vector, ddof: int, rng: np.random.Generator) -> list[float]:
    """Quantiles of d when labels are exchanged at random, at NULL_LEVELS; none where all scores agree.

    The sd of all scores is the same for every relabelling, so d follows from the sum over X.
    """
    from weatherglass.inference.significance.grid import on_grid
    from weatherglass.inference.significance.sampled import sample_sums

    grid = on_grid(x, y)
    if grid.constant:
        return []
    sums = sample_sums(grid, NULL_DRAWS, rng).astype(np.float64)
    spread = float(np.std(grid.values, ddof=ddof))
    drawn = (sums / len(x) - (grid.total - sums) / len(y)) / spread
    return [float(d) for d in np.quantile(drawn, NULL_LEVELS)]
