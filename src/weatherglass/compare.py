"""What changed between two runs: effect by effect, over the units that both scored, and what cannot be compared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from weatherglass.arrays import Vector
from weatherglass.association.bootstrap import confidence_interval_of_difference
from weatherglass.association.effect import effect_size
from weatherglass.errors import WeatherglassError
from weatherglass.results import ElementScore
from weatherglass.stored import Row, StoredRun

MUST_AGREE = ("permute", "ddof")
"""Columns without which two effect sizes are not the same quantity."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One effect in both runs."""

    test: str
    measure: str
    models: tuple[str, str]
    before: float
    """d over the units that both runs scored, as `after`."""
    after: float
    low: float | None
    """The 95 % interval of the change, BCa; None where it cannot be had."""
    high: float | None
    units: tuple[int, int]
    """Units of X and of Y that both runs scored."""
    notes: tuple[str, ...]
    """What differs besides the model."""

    @property
    def change(self) -> float:
        """d after less d before."""
        return self.after - self.before

    @property
    def changed(self) -> bool | None:
        """Whether the interval leaves out 0; None without an interval."""
        if self.low is None or self.high is None:
            return None
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, slots=True)
class Incomparable:
    """A row of one or both runs without a counterpart, and why."""

    test: str
    measure: str
    model: str
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs held side by side."""

    folders: tuple[str, str]
    differences: tuple[Difference, ...]
    incomparable: tuple[Incomparable, ...]
    resamples: int

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "runs": list(self.folders),
            "resamples": self.resamples,
            "attributes": "held fixed",
            "differences": [
                {**asdict(each), "change": each.change, "changed": each.changed} for each in self.differences
            ],
            "incomparable": [asdict(each) for each in self.incomparable],
        }


def compare_runs(
    before: str | Path, after: str | Path, *, resamples: int = 2000, seed: int = 0
) -> Comparison:
    """Compare two runs row by row, matched by test and measure, and by model where a run has several.

    Args:
        before: the folder of a run.
        after: the folder of another.
        resamples: of the paired bootstrap.
        seed: of its draws; every row starts from it anew.

    Raises:
        OutputError: if a folder holds no run.
        WeatherglassError: if a row of one run could stand for several of the other.
    """
    runs = StoredRun(Path(before)), StoredRun(Path(after))
    try:
        by_model = any(len({row["model"] for row in run.rows}) > 1 for run in runs)
        first, second = (_by_key(run, by_model) for run in runs)
        found: list[Difference | Incomparable] = [
            _difference(runs, (row, second[key]), resamples, np.random.default_rng(seed))
            if key in second
            else _only_in(row, runs[0], runs[1])
            for key, row in first.items()
        ]
        found += [_only_in(row, runs[1], runs[0]) for key, row in second.items() if key not in first]
    finally:
        for run in runs:
            run.close()
    return Comparison(
        (str(before), str(after)),
        tuple(each for each in found if isinstance(each, Difference)),
        tuple(each for each in found if isinstance(each, Incomparable)),
        resamples,
    )


def _by_key(run: StoredRun, by_model: bool) -> dict[tuple[str, ...], Row]:
    rows: dict[tuple[str, ...], Row] = {}
    for row in run.rows:
        key = (row["test"], row["measure"], row["model"] if by_model else "")
        if key in rows:
            raise WeatherglassError(
                f"{run.folder}: {row['test']}, {row['measure']} has several results of {row['model']}, which differ in "
                "options; compare runs in which it has one"
            )
        rows[key] = row
    return rows


def _only_in(row: Row, here: StoredRun, there: StoredRun) -> Incomparable:
    for failure in there.record.get("failures", []):
        if failure["test"] == row["test"]:
            reason = f"could not be run in {there.folder}: {failure['reason']}"
            return Incomparable(row["test"], row["measure"], row["model"], reason)
    return Incomparable(row["test"], row["measure"], row["model"], f"is in {here.folder} only")


def _difference(
    runs: tuple[StoredRun, StoredRun], rows: tuple[Row, Row], resamples: int, rng: np.random.Generator
) -> Difference | Incomparable:
    first, second = rows
    test, measure = first["test"], first["measure"]
    model = " and ".join(dict.fromkeys(row["model"] for row in rows))
    if reason := _obstacle(runs, rows):
        return Incomparable(test, measure, model, reason)
    permute, ddof = first["permute"], int(first["ddof"])
    before, after = _shared([run.scores(row) for run, row in zip(runs, rows, strict=True)], permute)
    units = len(before[0]), len(before[1])
    if min(units) < 2:
        return Incomparable(
            test, measure, model, f"the runs share {units[0]} + {units[1]} {permute} only; 2 + 2 are needed"
        )
    d = [effect_size(*scores, ddof) for scores in (before, after)]
    if any(math.isnan(each) for each in d):
        return Incomparable(test, measure, model, "all scores are equal in one of the runs, so it has no d")
    interval = confidence_interval_of_difference(before, after, rng, resamples, ddof)
    return Difference(
        test,
        measure,
        (first["model"], second["model"]),
        d[0],
        d[1],
        interval.bca_low if interval else None,
        interval.bca_high if interval else None,
        units,
        tuple(_notes(runs, rows)),
    )


def _obstacle(runs: tuple[StoredRun, StoredRun], rows: tuple[Row, Row]) -> str | None:
    """Why two rows do not measure the same thing."""
    first, second = rows
    prints = [run.record["tests"].get(first["test"]) for run in runs]
    if prints[0] != prints[1]:
        return "the words of the test differ between the runs"
    for name in MUST_AGREE:
        if first[name] != second[name]:
            return f"{name} is {first[name]} in one run and {second[name]} in the other"
    return None


def _notes(runs: tuple[StoredRun, StoredRun], rows: tuple[Row, Row]) -> Iterator[str]:
    for role, name in (("X", "num_targ1"), ("Y", "num_targ2"), ("A", "num_attr1"), ("B", "num_attr2")):
        dropped = [_dropped(run, row, role) for run, row in zip(runs, rows, strict=True)]
        if dropped[0] != dropped[1]:
            how = "compared over what both have" if role in "XY" else "so its scores rest on other words"
            yield f"{role} has {rows[0][name]} and {rows[1][name]} known elements: {how}"
    for name in ("alternative", "p_method"):
        if rows[0][name] != rows[1][name]:
            yield f"p: {name} {rows[0][name]} and {rows[1][name]}"


def _dropped(run: StoredRun, row: Row, role: str) -> list[str]:
    ledger = run.record.get("missing_words", {}).get(row["model"], {}).get(row["test"], {})
    return sorted(ledger.get("dropped", {}).get(role, []))


def _shared(
    scores: Sequence[Sequence[ElementScore]], permute: str
) -> tuple[tuple[Vector, Vector], tuple[Vector, Vector]]:
    """The scores of X and Y in both runs, of the same units in the same order."""
    first, second = (_by_element(each) for each in scores)
    common = [key for key in first if key in second]
    sides = []
    for run in (first, second):
        pair = []
        for role in "XY":
            units: dict[object, list[float]] = {}
            for key in common:
                if key[0] == role:
                    word, value = run[key]
                    units.setdefault(word if permute == "words" else key, []).append(value)
            pair.append(np.array([float(np.mean(sorted(values))) for values in units.values()]))
        sides.append((pair[0], pair[1]))
    return sides[0], sides[1]


def _by_element(scores: Sequence[ElementScore]) -> dict[tuple[str, str, int], tuple[str, float]]:
    """Word and score by role, text and how often the text came before: a set may hold a text twice."""
    found: dict[tuple[str, str, int], tuple[str, float]] = {}
    seen: dict[tuple[str, str], int] = {}
    for score in scores:
        place = seen.get((score.role, score.text), 0)
        seen[score.role, score.text] = place + 1
        found[score.role, score.text, place] = score.word, score.score
    return found
