"""Compare two runs effect by effect over the units that both scored, and list what cannot be compared."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from weatherglass.audit.conclude import with_templates
from weatherglass.audit.folder import RECORD
from weatherglass.audit.results import ElementScore, Result, UnitScore, unit_scores
from weatherglass.audit.run import Run
from weatherglass.audit.shown import Shown
from weatherglass.audit.stored import read_whole_run
from weatherglass.audit.verdict import CONTROL
from weatherglass.errors import WeatherglassError
from weatherglass.stats.attributes import LEAST_ATTRIBUTES
from weatherglass.stats.multiplicity import adjust
from weatherglass.stats.paired import Levels, levels_of, paired_change
from weatherglass.stats.permutation.choose import EXACT
from weatherglass.stats.robustness import paired_change_of_values
from weatherglass.stats.scale import Scale, within

MOST_NAMED = 5
"""The number of a run's tests that an error names."""
RANDOM, FIXED = "random", "fixed"
NO_ATTRIBUTES = "attribute words count as fixed: a set has fewer than 3, or a run was made with --trust none"
MUST_AGREE = ("permute", "ddof")
"""Columns without which two effect sizes are not the same quantity."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One effect in two runs."""

    test: str
    metric: str
    models: tuple[str, str]
    before: float
    """d before, over the units that both runs scored, as for `after`."""
    after: float
    low: float | None
    """The interval of the change at level 1 − alpha, by a paired jackknife; None if it is not estimable."""
    high: float | None
    p_value: float | None
    """The two-sided p of the hypothesis that the change is 0; at most alpha if and only if the interval excludes 0."""
    units: tuple[int, int]
    """The numbers of units of X and of Y that both runs scored."""
    notes: tuple[str, ...]
    """Notes on what differs besides the model."""
    grew: bool
    """Whether the value is farther than before from the value without bias; for d, whether |d| is larger."""
    control: bool
    """Whether the test is a control, which does not measure bias."""
    attributes: str = RANDOM
    """"random" if p and the interval account for the choice of attribute words (and templates), otherwise "fixed"."""
    tested: bool = True
    """Whether the row is tested; a row that is only measured (docs/methods 10.6) has no p for its change and is not
    judged.
    """
    p_adjusted: float | None = None
    """p_value after Holm's correction over all judged rows; None for other rows and rows without p."""

    @property
    def change(self) -> float:
        """Return d after minus d before."""
        return self.after - self.before

    @property
    def judged(self) -> bool:
        """Return whether the row counts in the correction and in gates: it must be tested and not be a control."""
        return self.tested and not self.control

    @property
    def changed(self) -> bool | None:
        """Return whether the interval excludes 0; None if there is no interval."""
        if self.low is None or self.high is None:
            return None
        return self.low > 0 or self.high < 0

    def is_worse(self, alpha: float) -> bool:
        """Return whether the effect grew and its change is significant after correction (docs/methods 12)."""
        return self.grew and self.p_adjusted is not None and self.p_adjusted <= alpha


@dataclass(frozen=True, slots=True)
class Incomparable:
    """A row of one or both runs without a counterpart, and the reason."""

    test: str
    metric: str
    model: str
    reason: str


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Shown):
    """The comparison of two runs."""

    kind: ClassVar[str] = "ComparisonView"
    folders: tuple[str, str]
    differences: tuple[Difference, ...]
    incomparable: tuple[Incomparable, ...]
    alpha: float

    @property
    def corrected(self) -> int:
        """Return the number of rows for which p was corrected."""
        return sum(row.judged for row in self.differences)

    @property
    def worse(self) -> tuple[Difference, ...]:
        """Return the effects that grew significantly after correction."""
        return tuple(row for row in self.differences if row.is_worse(self.alpha))

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "runs": list(self.folders),
            "alpha": self.alpha,
            "corrected": self.corrected,
            "differences": [
                {
                    **asdict(row),
                    "change": row.change,
                    "changed": row.changed,
                    "worse": row.is_worse(self.alpha),
                }
                for row in self.differences
            ],
            "incomparable": [asdict(row) for row in self.incomparable],
        }


def compare_runs(
    before: Run | str | Path, after: Run | str | Path, *, alpha: float = 0.05, attributes: str = RANDOM
) -> Comparison:
    """Compare two runs row by row, matched by test and metric, and by model where a run has several.

    Args:
        before: a run, or its folder.
        after: another run, or its folder.
        alpha: the intervals of changes are at level 1 − alpha.
        attributes: "random", or "fixed" for p and intervals of d over target words alone.

    Raises:
        OutputError: if a folder does not contain a run.
        WeatherglassError: if the runs have no test in common, or a row of one run matches several of the other.
    """
    runs = _read(before), _read(after)
    check_common(runs[0], tests_in(runs[1]), str(runs[1].path))
    by_model = any(len({result.model for result in run.results}) > 1 for run in runs)
    first, second = (_by_key(run, by_model) for run in runs)
    rows: list[Difference | Incomparable] = [
        _difference((row, second[key]), alpha, attributes) if key in second else _only_in(row, runs[1])
        for key, row in first.items()
    ]
    rows += [_only_in(row, runs[0]) for key, row in second.items() if key not in first]
    return _comparison((str(runs[0].path), str(runs[1].path)), rows, alpha)


def compare_models(run: Run | str | Path, *, alpha: float = 0.05, attributes: str = RANDOM) -> Comparison:
    """Compare every other model of one run with the first, row by row, matched by test and metric.

    For example, run a model with and without dim=64 to see whether truncation changes bias.

    Raises:
        OutputError: if the folder does not contain a run.
        WeatherglassError: if the run has only one model.
    """
    run = _read(run)
    # From the record: a model that no test could be run with has no result.
    models = list(dict.fromkeys(str(entry["model"]) for entry in run.record.get("models", [])))
    if len(models) < 2:
        raise WeatherglassError(
            f"{run.path}: this run has only one model; name another run to compare it with"
        )
    keyed = _by_key(run, by_model=True)
    rows: list[Difference | Incomparable] = []
    for (test, metric, model), row in keyed.items():
        if model == models[0]:
            continue
        first = keyed.get((test, metric, models[0]))
        rows.append(
            _difference((first, row), alpha, attributes) if first else _only_of(row.result, models[0], run)
        )
    for (test, metric, model), row in keyed.items():
        if model == models[0]:
            without = (other for other in models[1:] if (test, metric, other) not in keyed)
            rows += [_only_of(row.result, other, run) for other in without]
    return _comparison((str(run.path), str(run.path)), rows, alpha)


def _read(run: Run | str | Path) -> Run:
    return run if isinstance(run, Run) else read_whole_run(Path(run))


def tests_in(run: Run) -> list[str]:
    """Return the names of the tests of a run, including those that failed."""
    return list(dict.fromkeys([result.test for result in run.results] + [one.test for one in run.failures]))


def check_common(before: Run, tests: Sequence[str], after: str) -> None:
    """Refuse a comparison in which no test is in both runs.

    Args:
        before: a run.
        tests: names of the tests of the run that it is compared with.
        after: the name of that run in an error message.

    Raises:
        WeatherglassError: if the runs have no test in common; the message names some tests of each.
    """
    known = tests_in(before)
    if set(known).isdisjoint(tests):
        has = [", ".join(names[:MOST_NAMED]) + ", …" * (len(names) > MOST_NAMED) for names in (known, tests)]
        raise WeatherglassError(
            f"the runs have no test in common: {before.path} has {has[0] or 'none'}; {after} has {has[1] or 'none'}"
        )


def _comparison(
    folders: tuple[str, str], rows: Sequence[Difference | Incomparable], alpha: float
) -> Comparison:
    return Comparison(
        folders,
        _corrected([row for row in rows if isinstance(row, Difference)]),
        tuple(row for row in rows if isinstance(row, Incomparable)),
        alpha,
    )


def _corrected(rows: Sequence[Difference]) -> tuple[Difference, ...]:
    """Return the rows with p adjusted over those that are judged; rows without p count, too."""
    family = [row.p_value for row in rows if row.judged]
    adjusted = iter(adjust([math.nan if p is None else p for p in family], "holm"))
    found = [float(next(adjusted)) if row.judged else None for row in rows]
    return tuple(
        replace(row, p_adjusted=None if p is None or math.isnan(p) else p)
        for row, p in zip(rows, found, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """A result of one of the runs."""

    run: Run
    position: int

    @property
    def result(self) -> Result:
        return self.run.results[self.position]

    @property
    def fingerprint(self) -> str | None:
        """Return the hash of the words of its test."""
        fingerprint: str | None = self.run.record.get("tests", {}).get(self.result.test)
        return fingerprint

    @property
    def control(self) -> bool:
        """Return whether its test is a control."""
        return bool(self.run.record.get("topics", {}).get(self.result.test) == CONTROL)

    def dropped(self, role: str) -> list[str]:
        """Return the elements of the test that the model does not know."""
        missing_by_test = self.run.record.get("missing_words", {}).get(self.result.model, {})
        return sorted(missing_by_test.get(self.result.test, {}).get("dropped", {}).get(role, []))


def _by_key(run: Run, by_model: bool) -> dict[tuple[str, ...], _Row]:
    rows: dict[tuple[str, ...], _Row] = {}
    for position, result in enumerate(run.results):
        key = (result.row, result.metric, result.model if by_model else "")
        if key in rows:
            raise WeatherglassError(
                f"{run.path}: {result.test}, {result.metric} has several results of {result.model}, which "
                "differ in options; compare runs that have one result each"
            )
        rows[key] = _Row(run, position)
    return rows


def _only_in(row: _Row, there: Run) -> Incomparable:
    result, reason = row.result, f"is only in {row.run.path}"
    for failure in there.record.get("failures", []):
        if failure["test"] == result.test:
            reason = f"could not be run in {there.path}: {failure['reason']}"
            break
    return Incomparable(result.test, result.metric, result.model, reason)


def _only_of(result: Result, other: str, run: Run) -> Incomparable:
    """Return the entry for a row that has no counterpart for the model `other` in the same run."""
    reasons = [
        failure["reason"]
        for failure in run.record.get("failures", [])
        if (failure["model"], failure["test"]) == (other, result.test)
    ]
    reason = f"could not be run with {other}: {reasons[0]}" if reasons else f"has no result of {other}"
    return Incomparable(result.test, result.metric, result.model, reason)


def _difference(rows: tuple[_Row, _Row], alpha: float, attributes: str) -> Difference | Incomparable:
    first, second = (row.result for row in rows)
    test, metric = first.row, first.metric
    model = " and ".join(dict.fromkeys((first.model, second.model)))
    if reason := _obstacle(rows):
        return Incomparable(test, metric, model, reason)
    if not first.info.from_scores:
        return _difference_of_values(rows, alpha)
    permute, ddof = first.permute, first.ddof
    shared = _shared([row.result.scores for row in rows], permute)
    n_x = sum(unit.role == "X" for unit in shared[0])
    units = n_x, len(shared[0]) - n_x
    if min(units) < 2:
        return Incomparable(
            test,
            metric,
            model,
            f"the runs share only {units[0]} + {units[1]} {permute}, but 2 + 2 are needed",
        )
    before, after = (np.array([unit.score for unit in of_run]) for of_run in shared)
    factors: list[tuple[Levels, Levels]] = []
    if attributes == RANDOM:
        levels = [_levels(row.result, of_run, n_x) for row, of_run in zip(rows, shared, strict=True)]
        factors = [(levels[0][role], levels[1][role]) for role in levels[0] if role in levels[1]]
    change = paired_change(before, after, n_x, alpha, ddof, factors)
    if math.isnan(change.before) or math.isnan(change.after):
        return Incomparable(
            test, metric, model, "all scores are equal in one of the runs, so d is not defined there"
        )
    measured = first.not_tested or second.not_tested
    low, high, p = None, None, None
    if not measured and change.interval:
        low, high, p = change.interval.low, change.interval.high, change.p
    return Difference(
        *(test, metric, (first.model, second.model), change.before, change.after),
        *(low, high, p, units, tuple(_notes(rows, fixed=attributes == RANDOM and not factors))),
        grew=_grew(second, change.before, change.after),
        control=any(row.control for row in rows),
        attributes=RANDOM if factors else FIXED,
        tested=not measured,
    )


def _levels(result: Result, units: Sequence[UnitScore], n_x: int) -> dict[str, Levels]:
    """Return the effect without each attribute word and template, by set; empty if the run does not store it.

    For the statistic mean, it is computed from the tables; for other statistics, the effect without each attribute
    word is stored.

    Args:
        result: a result of one of the runs.
        units: the units that both runs scored, X before Y.
        n_x: the number of units in X.
    """
    levels: dict[str, Levels] = {}
    if result.tables and result.permute == "words":
        tables = with_templates(result.tables, result)
        own = sorted(unit_scores(result.scores, "words"), key=lambda unit: unit.role)
        at = {(unit.role, unit.name): place for place, unit in enumerate(own)}
        rows = [at[unit.role, unit.name] for unit in units]
        tables = replace(
            tables,
            to_a=tables.to_a[rows],
            to_b=tables.to_b[rows],
            templates=None if tables.templates is None else tables.templates[rows],
        )
        scores = np.array([unit.score for unit in units])
        levels = levels_of(tables, within(scores, n_x, result.ddof))
    elif result.robustness:
        scale = Scale(*result.units(), result.ddof)
        for role in "AB":
            own_words = [
                word for word in result.robustness.left_out if (word.kind, word.role) == ("word", role)
            ]
            d = np.array([math.nan if word.effect_size is None else word.effect_size for word in own_words])
            levels[role] = Levels([word.name for word in own_words], scale.g_of(d))
    enough = all(
        len(own.names) >= LEAST_ATTRIBUTES and np.isfinite(own.without).all() for own in levels.values()
    )
    return levels if enough else {}


def _difference_of_values(rows: tuple[_Row, _Row], alpha: float) -> Difference | Incomparable:
    """Return the change of a value that is not computed from scores, with an interval from leaving out words."""
    first, second = (row.result for row in rows)
    model = " and ".join(dict.fromkeys((first.model, second.model)))
    if math.isnan(first.value) or math.isnan(second.value):
        return Incomparable(first.row, first.metric, model, "the value is not defined in one of the runs")
    if any(rows[0].dropped(role) != rows[1].dropped(role) for role in first.roles):
        values = f"{first.value:.4g} before, {second.value:.4g} after"
        return Incomparable(first.row, first.metric, model, f"{values}, but the models know different words")
    change = paired_change_of_values(
        *(first.value, second.value, _without_each(first), _without_each(second), alpha),
        pooled=first.info.one_sample,
    )
    measured = first.not_tested or second.not_tested
    if change.p is None and not measured:
        values = f"{first.value:.4g} before, {second.value:.4g} after"
        reason = f"{values}; the change has no interval unless both runs have intervals"
        return Incomparable(first.row, first.metric, model, reason)
    return Difference(
        *(first.row, first.metric, (first.model, second.model), first.value, second.value),
        *(change.low, change.high, change.p, first.units(), tuple(_notes(rows))),
        grew=_grew(second, first.value, second.value),
        control=any(row.control for row in rows),
        tested=not measured,
    )


def _grew(result: Result, before: float, after: float) -> bool:
    """Return whether a value moved away from the value without bias."""
    return abs(after - result.unbiased) > abs(before - result.unbiased)


def _without_each(result: Result) -> dict[tuple[str, str], float]:
    """Return the value without each word, by set and word."""
    left_out = result.robustness.left_out if result.robustness else ()
    return {(w.role, w.name): w.effect_size for w in left_out if w.effect_size is not None}


def _obstacle(rows: tuple[_Row, _Row]) -> str | None:
    """Return why two rows do not measure the same quantity; empty if they do."""
    prints = {row.fingerprint for row in rows}
    if None in prints:
        return f"{RECORD} does not list the words of the test"
    if len(prints) > 1:
        return "the words of the test differ between the runs"
    first, second = (row.result for row in rows)
    for name in MUST_AGREE:
        values = getattr(first, name), getattr(second, name)
        if values[0] != values[1]:
            return f"{name} is {values[0]} in one run and {values[1]} in the other"
    return None


def _notes(rows: tuple[_Row, _Row], fixed: bool = False) -> Iterator[str]:
    """Yield notes on what differs besides the model, and on what p does not account for.

    Args:
        rows: the row in both runs.
        fixed: whether random attributes were asked for, but the runs lack the numbers for them.
    """
    first, second = (row.result for row in rows)
    if measured := first.not_tested or second.not_tested:
        yield f"measured, not tested: {measured}"
    elif fixed:
        yield NO_ATTRIBUTES
    for role, name in (("X", "num_targ1"), ("Y", "num_targ2"), ("A", "num_attr1"), ("B", "num_attr2")):
        if rows[0].dropped(role) != rows[1].dropped(role):
            how = (
                "compared over those that both have"
                if role in "XY"
                else "so the scores are based on different words"
            )
            yield f"{role} has {getattr(first, name)} and {getattr(second, name)} known elements: {how}"
    if first.alternative != second.alternative:
        yield f"p: the alternative is {first.alternative} in one run and {second.alternative} in the other"
    methods = first.p_method, second.p_method
    if methods[0] != methods[1] and not set(methods) <= set(EXACT):  # exact methods give the same p
        yield f"p was computed by {methods[0]} in one run and by {methods[1]} in the other"


def _shared(scores: Sequence[Sequence[ElementScore]], permute: str) -> list[list[UnitScore]]:
    """Return the units that both runs scored, X before Y, with the scores of each run in the same order."""
    first, second = (_by_element(run_scores) for run_scores in scores)
    common = [key for key in first if key in second]
    return [
        sorted(unit_scores([run[key] for key in common], permute), key=lambda unit: unit.role)
        for run in (first, second)
    ]


def _by_element(scores: Sequence[ElementScore]) -> dict[tuple[str, str, int], ElementScore]:
    """Return the scores by role, text and the number of earlier occurrences of the text, since a set may contain a
    text twice.
    """
    by_element: dict[tuple[str, str, int], ElementScore] = {}
    seen: dict[tuple[str, str], int] = {}
    for score in scores:
        place = seen.get((score.role, score.text), 0)
        seen[score.role, score.text] = place + 1
        by_element[score.role, score.text, place] = score
    return by_element
