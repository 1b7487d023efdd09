"""What is said of results once all are known: correction, marks, which are small, what no p of this size could show."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.errors import WeatherglassError
from weatherglass.inference import DEFAULT_CORRECTION
from weatherglass.inference.correction import CORRECTIONS, adjust, adjust_groups, adjusted_at_floors
from weatherglass.inference.equivalence import smaller_than
from weatherglass.inference.power import Alternative as Tail
from weatherglass.inference.power import minimum_detectable_effect_size, power
from weatherglass.registry import one_of
from weatherglass.runs.results import Result, unit_scores

WESTFALL_YOUNG = "westfall-young"
POWER_EFFECTS = (0.2, 0.5, 0.8, 1.2)
"""Effect sizes that power is given for; the first three are Cohen's small, medium and large."""


@dataclass(frozen=True, slots=True)
class Correction:
    """How p-values are corrected for being many, and which effects are of interest (docs/methods 4 and 10.5)."""

    method: str = DEFAULT_CORRECTION
    alpha: float = 0.05
    family: int | None = None
    """How many tests to count, if more than there are rows."""
    smallest: float | None = None
    """The smallest |d| of interest; without one, no effect is called small."""

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
        adjusted = _adjusted([results[row] for row in rows], p_values, correction)
        both = _both_adjusted([results[row] for row in rows], correction)
        at_floor = _adjusted_at_floors([results[row] for row in rows], p_values, correction)
        for place, row in enumerate(rows):
            floor_warnings = _floor_warnings(results[row], len(rows), float(at_floor[place]), correction)
            judged[row] = _judged(
                results[row], float(adjusted[place]), both[place], floor_warnings, correction
            )
    return judged


def _both_adjusted(results: Sequence[Result], correction: Correction) -> list[float | None]:
    """The larger p of both readings, corrected; by Holm where p is corrected by its permutations, which p₂ has not."""
    method = "holm" if correction.method == WESTFALL_YOUNG else correction.method
    larger = [1.0 if r.p_attr is None else max(r.p_value, r.p_attr) for r in results]
    adjusted = adjust(np.array(larger), method, correction.family)
    return [None if r.p_attr is None else float(p) for r, p in zip(results, adjusted, strict=True)]


def _adjusted(results: Sequence[Result], p_values: Vector, correction: Correction) -> Vector:
    if correction.method != WESTFALL_YOUNG:
        return adjust(p_values, correction.method, correction.family)
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place, result in enumerate(results):
        groups[_exchanged(result)].append(place)
    missing = (correction.family or len(results)) - len(results)
    within = [_westfall_young([results[place] for place in places]) for places in groups.values()]
    adjusted = np.empty(len(results))
    for places, p in zip(groups.values(), adjust_groups(within, len(groups) + missing), strict=True):
        adjusted[places] = p
    return adjusted


def _exchanged(result: Result) -> Hashable:
    """What tests must share to be adjusted together: the units of X and of Y that p exchanges, and the tail."""
    if not result.is_effect_size:  # its p is no matter of scores of X and Y
        return (result.model, result.options, result.row), result.alternative
    units = [(role, name) for role, name, _ in _sorted_units(result)]
    return tuple(units) if units else (result.model, result.test), result.alternative


def _sorted_units(result: Result) -> list[tuple[str, str, float]]:
    """Role, name and score of what p exchanges; roles sort X before Y."""
    return sorted((unit.role, unit.name, unit.score) for unit in unit_scores(result.scores, result.permute))


def _westfall_young(results: Sequence[Result]) -> Vector:
    """maxT over tests of the same units: one exchange of labels exchanges them in every test.

    A test of its own has its p as it is. Where labellings are drawn, an adjusted p could fall below p by chance; it is
    kept from that.
    """
    from weatherglass.inference.westfall_young import westfall_young

    p_values = np.array([result.p_value for result in results])
    if len(results) == 1 or not results[0].scores:
        return p_values
    by_test = [_sorted_units(result) for result in results]
    scores = np.array([[score for _, _, score in units] for units in by_test]).T
    n_x = sum(role == "X" for role, _, _ in by_test[0])
    match results[0].alternative:
        case "greater" | "less" as tail:
            adjusted = westfall_young(scores, n_x, tail).p
        case _:
            adjusted = westfall_young(scores, n_x, "two-sided").p
    return np.asarray(np.maximum(adjusted, p_values))


def _family(result: Result) -> str:
    return result.metric if result.permute == "elements" else f"{result.metric}, by {result.permute}"


def _judged(
    result: Result,
    p_adjusted: float,
    p_both_adjusted: float | None,
    floor_warnings: Iterable[str],
    correction: Correction,
) -> Result:
    alpha = correction.alpha
    mark = ("**" if p_adjusted <= alpha else "*") if result.p_value <= alpha else ""
    warnings = (
        *result.warnings,
        *floor_warnings,
        *(_support_warnings(result, alpha) if mark else ()),
        *_readings_warnings(result, alpha),
    )
    return replace(
        result,
        p_adjusted=p_adjusted,
        p_both_adjusted=p_both_adjusted,
        significance=mark,
        warnings=tuple(dict.fromkeys(warnings)),  # a saved run is judged again when it is loaded
        **power_fields(result, alpha),
        small=is_small(result, correction.smallest),
    )


def is_small(result: Result, smallest: float | None) -> bool | None:
    """Whether |d| is shown to be below the smallest of interest; None where that is not stated, or U not known."""
    if smallest is None or result.trust is None:
        return None
    return smaller_than(result.trust.excluded_above, smallest)


def power_fields(result: Result, alpha: float) -> dict[str, Any]:
    """The power of a test of this size and its minimum detectable d, computed once: a stored result has them."""
    if result.power and result.trust and result.trust.level == 1 - alpha:
        return {"power": result.power, "minimum_detectable": result.minimum_detectable}
    return {"power": power_at(result, alpha), "minimum_detectable": minimum_detectable(result, alpha)}


def power_at(result: Result, alpha: float) -> dict[str, float]:
    """The chance that a test of this size finds an effect, for each of POWER_EFFECTS that it can have at all."""
    if not result.is_effect_size or not min(result.units()):
        return {}
    tail = _tail(result)
    chances = {d: power(d, *result.units(), alpha, tail, result.ddof) for d in POWER_EFFECTS}
    return {f"{d:g}": chance for d, chance in chances.items() if not math.isnan(chance)}


def _tail(result: Result) -> Tail:
    return "two-sided" if result.alternative in ("two-sided", "observed") else "one-sided"


def minimum_detectable(result: Result, alpha: float) -> float | None:
    """The smallest d that a test of this size finds with a chance of 80 %; None where none can be found."""
    if not result.is_effect_size or not min(result.units()):
        return None
    tail = _tail(result)
    return minimum_detectable_effect_size(*result.units(), alpha, tail, ddof=result.ddof)


def power_by_size(results: Sequence[Result]) -> dict[str, dict[str, float]]:
    """The power of every size of test in a run, for its record."""
    by_size = {}
    for result in results:
        if result.power:
            x, y = result.units()
            by_size[f"{x} + {y} {result.permute}"] = dict(result.power)
    return by_size


def _adjusted_at_floors(results: Sequence[Result], p_values: Vector, correction: Correction) -> Vector:
    """What p could be at best after correction, as far as the p-values of the family tell; else 0."""
    if correction.method == WESTFALL_YOUNG:
        return np.zeros(len(results))
    floors = [result.p_floor for result in results]
    return adjusted_at_floors(p_values, floors, correction.method, correction.family)


def _floor_warnings(result: Result, rows: int, at_floor: float, correction: Correction) -> Iterator[str]:
    """What the smallest p of this size rules out.

    Args:
        rows: of its family.
        at_floor: its adjusted p if its own p were that smallest one.
    """
    x, y = result.units()
    alpha, family = correction.alpha, correction.family or rows
    units = f"{x} + {y} {result.permute}" if y else f"{x} of what p exchanges"
    floor = f"with {units} p cannot go below {result.p_floor:.2g}"
    if result.p_floor > alpha:
        yield f"{floor}, so this test cannot reach {alpha:g}"
    elif (
        result.p_floor * family > alpha and at_floor > alpha
    ):  # the first says it where there is no floor: NaN
        yield f"{floor}, so it cannot survive a correction for {family} tests at {alpha:g}"


def _support_warnings(result: Result, alpha: float) -> Iterator[str]:
    """What a significant result rests on: a single word or template."""
    for kind in ("word", "template"):
        hangs_on = result.trust.hangs_on(kind, alpha) if result.trust else None
        if hangs_on:
            what = "" if kind == "word" else "the template "
            others = f" ({hangs_on.lifting} {kind}s each lift it)" if hangs_on.lifting > 1 else ""
            yield f"significance hangs on {what}'{hangs_on.name}': without it p is {hangs_on.p_value:.2g}{others}"


def _readings_warnings(result: Result, alpha: float) -> Iterator[str]:
    """Where the numbers are weaker than they look, or answer another question."""
    if result.p_elements is not None and result.p_elements <= alpha < result.p_value:
        yield (
            "significant only if the sentences of a word count as independent, as published; "
            f"by words p is above {alpha:g}"
        )
    if result.trust:
        yield from result.trust.notes
