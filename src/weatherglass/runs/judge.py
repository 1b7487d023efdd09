"""Which results are significant: correction for the family of tests, marks, and what no p of this size could show."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.errors import WeatherglassError
from weatherglass.inference.correction import CORRECTIONS, adjust, adjusted_at_floor
from weatherglass.inference.trust import POWER_EFFECTS, interval_is_too_narrow, power
from weatherglass.registry import one_of
from weatherglass.runs.results import Result


@dataclass(frozen=True, slots=True)
class Correction:
    """How p-values are corrected for being many (docs/methods 4)."""

    method: str = "holm"
    alpha: float = 0.01
    family: int | None = None
    """How many tests to count, if more than there are rows."""

    def __post_init__(self) -> None:
        one_of("correction", self.method, CORRECTIONS)
        if not 0 < self.alpha < 1:
            raise WeatherglassError(f"alpha is {self.alpha}, but should lie between 0 and 1")
        if self.family is not None and self.family < 1:
            raise WeatherglassError(f"family is {self.family}, but should count at least one test")


def family_sizes(results: Sequence[Result], correction: Correction) -> dict[str, int]:
    """The size of each family: all rows with the same metric and permutation unit, if the metric has a p."""
    rows: dict[str, int] = defaultdict(int)
    for result in results:
        if not result.why_no_p:
            rows[_family(result)] += 1
    return {name: correction.family or size for name, size in rows.items()}


def judge(results: Sequence[Result], correction: Correction) -> list[Result]:
    """The results with adjusted p, marks and warnings, once all of them are known."""
    families: dict[str, list[int]] = defaultdict(list)
    for row, result in enumerate(results):
        families[_family(result)].append(row)
    judged = list(results)
    for rows in families.values():
        p_values = np.array([results[row].p_value for row in rows])
        adjusted = adjust(p_values, correction.method, correction.family)
        for place, row in enumerate(rows):
            floor_warnings = _floor_warnings(results[row], p_values, place, correction)
            judged[row] = _judged(results[row], float(adjusted[place]), floor_warnings, correction.alpha)
    return judged


def _family(result: Result) -> str:
    return result.metric if result.permute == "elements" else f"{result.metric}, by {result.permute}"


def _judged(result: Result, p_adjusted: float, floor_warnings: Iterable[str], alpha: float) -> Result:
    mark = ("**" if p_adjusted <= alpha else "*") if result.p_value <= alpha else ""
    warnings = (
        *result.warnings,
        *floor_warnings,
        *(_support_warnings(result, alpha) if mark else ()),
        *_interval_warnings(result),
    )
    power = power_at(result, alpha)
    return replace(result, p_adjusted=p_adjusted, significance=mark, warnings=warnings, power=power)


def power_at(result: Result, alpha: float) -> dict[str, float]:
    """The chance that a test of this size finds an effect, for each of POWER_EFFECTS that it can have at all."""
    if not result.is_effect_size:
        return {}
    x, y = result.units()
    level = alpha / 2 if result.alternative in ("two-sided", "observed") else alpha
    chances = {d: power(x, y, d, level, result.ddof) for d in POWER_EFFECTS}
    return {f"{d:g}": chance for d, chance in chances.items() if not math.isnan(chance)}


def power_by_size(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """The power of every size of test in a run, for its record."""
    found = {}
    for result in results:
        if result.power:
            x, y = result.units()
            found[f"{x} + {y} {result.permute}"] = dict(result.power)
    return found


def _floor_warnings(result: Result, p_values: Vector, place: int, correction: Correction) -> Iterator[str]:
    """What the smallest p of this size rules out, given the p-values of the family in which it has this place."""
    x, y = result.units()
    alpha, family = correction.alpha, correction.family or len(p_values)
    floor = f"with {x} + {y} {result.permute} p cannot go below {result.p_floor:.2g}"
    if result.p_floor > alpha:
        yield f"{floor}, so this test cannot reach {alpha:g}"
    # At floor × family (Bonferroni) every row survives; only above it do the other rows have to be asked.
    elif result.p_floor * family > alpha and (
        adjusted_at_floor(p_values, place, result.p_floor, correction.method, correction.family) > alpha
    ):
        yield f"{floor}, so it cannot survive a correction for {family} tests at {alpha:g}"


def _support_warnings(result: Result, alpha: float) -> Iterator[str]:
    """What a significant result rests on: a single word or template, or sentences taken for independent."""
    for left_out in result.trust.left_out if result.trust else ():
        if left_out.p_value is not None and left_out.p_value > alpha:
            what = "" if left_out.kind == "word" else "the template "
            yield f"significance hangs on {what}'{left_out.name}': without it p is {left_out.p_value:.2g}"
    if result.permute == "elements" and result.p_words is not None and result.p_words > alpha:
        yield f"significant only if the sentences of a word count as independent; by words p is above {alpha:g}"


def _interval_warnings(result: Result) -> Iterator[str]:
    noise = (result.trust.attribute_noise if result.trust else None) or 0.0
    if result.ci_low is not None and interval_is_too_narrow(min(result.units()), result.effect_size, noise):
        yield (
            "the interval of d would hold the true effect less than 92 times in 100 here "
            "if A and B stand for more words than they list (docs/trust.md)"
        )
