"""What got worse between two runs: effects that grew beyond what chance explains, and verdicts that rose.

Worse is: |d| is larger and the interval of its change leaves out 0, or the verdict on a topic rose. What was in the
earlier run and cannot be compared has not passed either. Controls (flowers and insects) are no bias and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from weatherglass.errors import GateError
from weatherglass.gate.conditions import Condition
from weatherglass.gate.rules import Breach, Rule
from weatherglass.registry import one_of
from weatherglass.runs.compare import Comparison, Difference, compare_models, compare_stored
from weatherglass.runs.results import Result
from weatherglass.runs.stored import StoredRun, read_whole_run
from weatherglass.runs.verdict import CONTROL, Verdict

WORSE = "worse"
RANKS: Mapping[str, int] = {
    "small": 0,
    "cannot tell": 0,
    "suggested": 1,
    "mixed": 2,
    "shown for these words": 2,
    "shown": 3,
}
"""How much a verdict claims; “cannot tell” claims no more than “small”, and “mixed” rests on tests that are shown."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A comparison with the reasons for which the later run is worse."""

    comparison: Comparison
    breaches: list[Breach]
    verdicts: list[tuple[Verdict | None, Verdict]]
    """Of each topic the verdict before, where there was one, and after."""


def check_word(fail_if: str) -> None:
    """Refuse a condition that compares nothing.

    Raises:
        GateError: for any other than "worse".
    """
    if fail_if != WORSE:
        raise GateError(
            f"--fail-if {fail_if!r}: two runs can only be compared by '{WORSE}'; conditions on the numbers of one run "
            "are for 'weatherglass run --fail-if'"
        )


def judge_runs(before: StoredRun, after: StoredRun, alpha: float = 0.05) -> Judged:
    """The later of two runs against the earlier.

    Raises:
        WeatherglassError: if a row of one run could stand for several of the other.
    """
    return _judged(compare_stored(before, after, alpha=alpha), before, after)


def judge_models(run: StoredRun, alpha: float = 0.05) -> Judged:
    """The other models of one run against its first."""
    return _judged(compare_models(run.path, alpha=alpha), run, run)


def read_baseline(path: Path) -> StoredRun:
    """The run that a later one is held against; it has to be whole.

    Raises:
        OutputError: if the folder holds no run, or one of which a part is missing.
        GateError: if it is not finished.
    """
    stored = read_whole_run(path)
    if stored.record.get("status") not in ("complete", "incomplete"):
        raise GateError(f"{path}: this run is not finished; a baseline has to be")
    return stored


def _judged(comparison: Comparison, before: StoredRun, after: StoredRun) -> Judged:
    rule = Rule(Condition(WORSE, (), (), ()))
    by_key = {(result.row, result.metric, result.model): result for result in after.results}
    topics = {**before.record.get("topics", {}), **after.record.get("topics", {})}
    breaches: list[Breach] = []
    for difference in comparison.differences:
        result = by_key[difference.test, difference.metric, difference.models[1]]
        if topics.get(result.test) != CONTROL and (reason := _grew(difference, result)):
            breaches.append(Breach(rule, result, reason))
    for other in comparison.incomparable:
        known_before = any(
            result.test == other.test and result.metric == other.metric for result in before.results
        )
        if known_before and topics.get(other.test) != CONTROL:
            reason = f"{other.test} on {other.model} ({other.metric}): cannot be compared: {other.reason}"
            breaches.append(Breach(rule, None, reason))
    verdicts = list(_paired_verdicts(comparison, before, after))
    for earlier, later in verdicts:
        if reason := _rose(earlier, later):
            decisive = next(
                (r for (row, metric, model), r in by_key.items() if (r.test, metric, model) == _place(later)),
                None,
            )
            breaches.append(Breach(rule, decisive, reason))
    if not comparison.differences:
        breaches.append(Breach(rule, None, "the runs have no result in common, so nothing was judged"))
    return Judged(comparison, breaches, verdicts)


def _place(verdict: Verdict) -> tuple[str, str, str]:
    return verdict.decisive, verdict.metric, verdict.model


def _grew(difference: Difference, result: Result) -> str:
    """Why this effect is worse; empty where it is not."""
    unbiased = 0.0 if result.is_effect_size else result.unbiased
    before, after = abs(difference.before - unbiased), abs(difference.after - unbiased)
    if after <= before or difference.changed is False:
        return ""
    name = "d" if result.is_effect_size else "the value"
    place = f"{difference.test} on {difference.models[1]} ({difference.metric})"
    moved = f"{name} {difference.before:.2f} → {difference.after:.2f}"
    if difference.changed is None:
        return f"{place}: {moved}, which cannot be decided: the change has no interval"
    return f"{place}: {moved}, change {difference.change:+.2f} [{difference.low:.2f}, {difference.high:.2f}]"


def _paired_verdicts(
    comparison: Comparison, before: StoredRun, after: StoredRun
) -> Iterator[tuple[Verdict | None, Verdict]]:
    """The verdicts on each topic of the models that were compared; controls are left out."""
    pairs = dict.fromkeys((row.metric, *row.models) for row in comparison.differences)
    earlier = {(v.metric, v.model, v.topic): v for v in before.verdicts()}
    for metric, old, new in pairs:
        for verdict in after.verdicts():
            if (verdict.metric, verdict.model) == (metric, new) and not verdict.control:
                yield earlier.get((metric, old, verdict.topic)), verdict


def _rose(earlier: Verdict | None, later: Verdict) -> str:
    if earlier is None or earlier.verdict is None:
        return ""
    place = f"'{later.topic}' on {later.model} ({later.metric})"
    if later.verdict is None:
        return f"{place}: the verdict was {earlier.verdict} and cannot be given any more: {later.why}"
    if _rank(later.verdict) <= _rank(earlier.verdict):
        return ""
    return f"{place}: the verdict rose from {earlier.verdict} to {later.verdict}"


def _rank(verdict: str) -> int:
    return RANKS[one_of("verdict", verdict, list(RANKS))]
