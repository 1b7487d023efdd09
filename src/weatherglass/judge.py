"""Which results are significant: correction for the family of tests, marks, and what no p of this size could show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from weatherglass.errors import WeatherglassError
from weatherglass.results import Result
from weatherglass.significance.correction import CORRECTIONS, adjust


@dataclass(frozen=True, slots=True)
class Correction:
    """How p-values are corrected for being many (METHODS 4)."""

    method: str = "holm"
    alpha: float = 0.01
    family: int | None = None
    """How many tests to count, if more than there are rows."""

    def __post_init__(self) -> None:
        if self.method not in CORRECTIONS:
            raise WeatherglassError(f"unknown correction '{self.method}' (known: {', '.join(CORRECTIONS)})")
        if not 0 < self.alpha < 1:
            raise WeatherglassError(f"alpha is {self.alpha}, but should lie between 0 and 1")
        if self.family is not None and self.family < 1:
            raise WeatherglassError(f"family is {self.family}, but should count at least one test")


def family_sizes(results: Sequence[Result], correction: Correction) -> dict[str, int]:
    """The size of each family: all rows with the same measure and permutation unit."""
    rows: dict[str, int] = defaultdict(int)
    for result in results:
        rows[_family(result)] += 1
    return {name: correction.family or size for name, size in rows.items()}


def judge(results: Sequence[Result], correction: Correction) -> list[Result]:
    """The results with adjusted p, marks and warnings, once all of them are known."""
    families: dict[str, list[int]] = defaultdict(list)
    for row, result in enumerate(results):
        families[_family(result)].append(row)
    judged = list(results)
    for rows in families.values():
        adjusted = adjust([results[row].p_value for row in rows], correction.method, correction.family)
        size = correction.family or len(rows)
        for row, p_adjusted in zip(rows, adjusted, strict=True):
            judged[row] = _judged(results[row], float(p_adjusted), size, correction.alpha)
    return judged


def _family(result: Result) -> str:
    return result.measure if result.permute == "elements" else f"{result.measure}, by {result.permute}"


def _judged(result: Result, p_adjusted: float, family: int, alpha: float) -> Result:
    mark = ("**" if p_adjusted <= alpha else "*") if result.p_value <= alpha else ""
    floor = f"with {result.num_targ1} + {result.num_targ2} elements p cannot go below {result.p_floor:.2g}"
    warnings = result.warnings
    if result.p_floor > alpha:
        warnings = (*warnings, f"{floor}, so this test cannot reach {alpha:g}")
    elif result.p_floor * family > alpha:
        warnings = (*warnings, f"{floor}, so it cannot survive a correction for {family} tests at {alpha:g}")
    return replace(result, p_adjusted=p_adjusted, significance=mark, warnings=warnings)
