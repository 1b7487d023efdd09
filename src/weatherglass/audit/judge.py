"""Judge the rows of a run once all are known: correct p, and add marks, power and warnings."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.audit.results import Result, unit_scores
from weatherglass.audit.settings import Settings
from weatherglass.stats.multiplicity import adjust, adjust_groups
from weatherglass.stats.power import Alternative as Tail
from weatherglass.stats.power import minimum_detectable_effect_size, power
from weatherglass.warnings import Warning

WESTFALL_YOUNG = "westfall-young"
POWER_EFFECTS = (0.2, 0.5, 0.8, 1.2)
"""The effect sizes for which power is computed; the first three are Cohen's small, medium and large."""


def family_sizes(results: Sequence[Result], family: int | None = None) -> dict[str, int]:
    """Return the size of each family, which is all rows with the same metric and permutation unit, if the metric has a
    p.

    Args:
        results: the results of one run.
        family: the number of tests to correct for, if it is larger than the number of rows.
    """
    rows: dict[str, int] = defaultdict(int)
    for result in results:
        if not result.why_no_p:
            rows[_family(result)] += 1
    return {name: family or size for name, size in rows.items()}


def judge(results: Sequence[Result], settings: Settings) -> list[Result]:
    """Return the results with p adjusted within each family, marks, power and warnings (docs/methods 4 and 10.5)."""
    families: dict[str, list[int]] = defaultdict(list)
    for row, result in enumerate(results):
        families[_family(result)].append(row)
    adjusted = np.empty(len(results))
    for rows in families.values():
        if settings.correction == WESTFALL_YOUNG:
            adjusted[rows] = _westfall_young_by_group([results[row] for row in rows], settings.family)
        else:
            p_values = np.array([results[row].p_value for row in rows])
            adjusted[rows] = adjust(p_values, settings.correction, settings.family)
    judged, alpha = [], settings.alpha
    for result, p_adjusted in zip(results, adjusted.tolist(), strict=True):
        mark = ("**" if p_adjusted <= alpha else "*") if result.p_value <= alpha else ""
        warnings = list(result.warnings)
        if result.p_floor > alpha:  # even the smallest p that this size can reach is not significant
            warnings.append(Warning.of("too-small", **floor_values(result, alpha)))
        if mark:
            warnings += _support_warnings(result, alpha)
        if result.p_elements is not None and result.p_elements <= alpha < result.p_value:
            warnings.append(Warning.of("pseudoreplication", alpha=alpha))
        judgement = replace(
            result,
            p_adjusted=p_adjusted,
            mark=mark,
            warnings=tuple(dict.fromkeys(warnings)),  # a saved run is judged again when it is loaded
            **power_fields(result, alpha),
            small=is_small(result, settings.smallest),
        )
        judged.append(judgement)
    return judged


def _westfall_young_by_group(results: Sequence[Result], family: int | None) -> Vector:
    """Return p adjusted within groups of tests that exchange the same units, and between these groups."""
    groups: dict[Hashable, list[int]] = defaultdict(list)
    for place, result in enumerate(results):
        groups[_exchanged(result)].append(place)
    missing = (family or len(results)) - len(results)
    within = [_westfall_young([results[place] for place in places]) for places in groups.values()]
    adjusted = np.empty(len(results))
    for places, p in zip(groups.values(), adjust_groups(within, len(groups) + missing), strict=True):
        adjusted[places] = p
    return adjusted


def _exchanged(result: Result) -> Hashable:
    """Return the properties that tests must share to be adjusted together: the exchanged units of X and Y, and the
    tail.
    """
    if not result.info.from_scores:  # its p does not come from scores of X and Y
        return (result.model, result.options, result.row), result.alternative
    units = [(role, name) for role, name, _ in _sorted_units(result)]
    return tuple(units) if units else (result.model, result.test), result.alternative


def _sorted_units(result: Result) -> list[tuple[str, str, float]]:
    """Return the role, name and score of each exchangeable unit, X before Y."""
    return sorted((unit.role, unit.name, unit.score) for unit in unit_scores(result.scores, result.permute))


def _westfall_young(results: Sequence[Result]) -> Vector:
    """Return maxT-adjusted p of tests with the same units, applying each relabelling to every test.

    The p of a single test is unchanged. If labellings are sampled, an adjusted p could fall below p by chance, in
    which case p is used.
    """
    from weatherglass.stats.multiplicity import westfall_young

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


def is_small(result: Result, smallest: float | None) -> bool | None:
    """Return whether |d| is shown to be below the smallest effect of interest; None if there is no such limit, or U is
    unknown.
    """
    if smallest is None or result.robustness is None or result.robustness.excluded_above is None:
        return None
    return result.robustness.excluded_above < smallest


def power_fields(result: Result, alpha: float) -> dict[str, Any]:
    """Return the power of a test of this size and its minimum detectable d; a stored result already has both.

    Power is given for each of POWER_EFFECTS that is possible at this size.
    """
    if result.power and result.robustness and result.robustness.level == 1 - alpha:
        return {"power": result.power, "minimum_detectable": result.minimum_detectable}
    x, y, ddof = result.units_x, result.units_y, result.ddof
    if not result.info.from_scores or not x or not y:
        return {"power": {}, "minimum_detectable": None}
    tail: Tail = "two-sided" if result.alternative in ("two-sided", "observed") else "one-sided"
    chances = {d: power(d, x, y, alpha, tail, ddof) for d in POWER_EFFECTS}
    return {
        "power": {f"{d:g}": chance for d, chance in chances.items() if not math.isnan(chance)},
        "minimum_detectable": minimum_detectable_effect_size(x, y, alpha, tail, ddof=ddof),
    }


def floor_values(result: Result, alpha: float) -> dict[str, Any]:
    """Return the values for a warning about the smallest p possible with sets of this size."""
    x, y = result.units_x, result.units_y
    unit = result.permute if y else "exchangeable units"
    return {"x": x, "y": y, "unit": unit, "floor": result.p_floor, "alpha": alpha}


def _support_warnings(result: Result, alpha: float) -> Iterator[Warning]:
    """Yield a warning if a significant result depends on a single word or template."""
    for kind in ("word", "template"):
        decisive = result.robustness.decisive(kind, alpha) if result.robustness else None
        if decisive:
            p, lifting = decisive.p_value, decisive.lifting
            yield Warning.of("fragile", unit=kind, name=decisive.name, p=p, lifting=lifting, alpha=alpha)
