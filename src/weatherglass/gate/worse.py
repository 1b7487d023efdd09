"""Judge what got worse between two runs, that is, which effects grew beyond what chance explains (docs/methods 12).

A row is worse if |d| is larger than before and the paired p of its change is at most alpha after Holm's correction
over all compared rows. A verdict that rose is not a test, so the gate fails only if a row of its topic is worse. A row
of the earlier run that cannot be compared has not passed either. Controls (flowers and insects) do not measure bias
and are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weatherglass.audit.compare import Comparison, Difference, compare_models
from weatherglass.audit.results import Result
from weatherglass.audit.run import JUDGED, Run
from weatherglass.audit.stored import read_whole_run
from weatherglass.audit.verdict import CONTROL, Verdict
from weatherglass.errors import GateError
from weatherglass.gate.conditions import Condition
from weatherglass.gate.rules import RANKS, Breach, Rule
from weatherglass.registry import one_of

WORSE = "worse"


@dataclass(frozen=True, slots=True)
class Judged:
    """A comparison, with the reasons why the later run is worse."""

    comparison: Comparison
    breaches: list[Breach]
    verdicts: list[tuple[Verdict | None, Verdict]]
    """The earlier verdict on each topic, if there was one, and the later verdict."""
    rises: list[str]
    """Verdicts that rose although no effect of their topic is worse; they are reported, but are not a reason to
    fail.
    """


def check_word(fail_if: str) -> None:
    """Refuse a condition other than "worse", which is the only one that compares runs.

    Raises:
        GateError: if the condition is not "worse".
    """
    if fail_if != WORSE:
        raise GateError(
            f"--fail-if {fail_if!r}: two runs can only be compared by '{WORSE}'; conditions on the numbers of one run "
            "are for 'weatherglass run --fail-if'"
        )


def judge_runs(before: Run, after: Run, alpha: float = 0.05) -> Judged:
    """Judge the later of two runs against the earlier.

    Raises:
        WeatherglassError: if the runs have no test in common, or a row of one run matches several of the other.
    """
    return _judged(before.compare(after, alpha=alpha), before, after)


def judge_models(run: Run, alpha: float = 0.05) -> Judged:
    """Judge the other models of one run against its first."""
    return _judged(compare_models(run, alpha=alpha), run, run)


def read_baseline(path: Path) -> Run:
    """Return the run with which a later run is compared; it must be complete.

    Raises:
        OutputError: if the folder does not contain a run, or a part of it is missing.
        GateError: if the run is not finished.
    """
    stored = read_whole_run(path)
    if stored.record.get("status") not in JUDGED:
        raise GateError(f"{path}: this run is not finished; a baseline must be a finished run")
    return stored


def _judged(comparison: Comparison, before: Run, after: Run) -> Judged:
    rule = Rule(Condition(WORSE, (), (), ()))
    by_key = {(result.row, result.metric, result.model): result for result in after.results}
    breaches: list[Breach] = []
    worse: list[Result] = []
    for difference in comparison.differences:
        result = by_key[difference.test, difference.metric, difference.models[1]]
        if difference.is_worse(comparison.alpha):
            worse.append(result)
        if reason := _grew(difference, result, comparison):
            breaches.append(Breach(rule, result, reason))
    topics = {**before.record.get("topics", {}), **after.record.get("topics", {})}
    for other in comparison.incomparable:
        known_before = any(
            result.test == other.test and result.metric == other.metric for result in before.results
        )
        if known_before and topics.get(other.test) != CONTROL:
            reason = f"{other.test} on {other.model} ({other.metric}): cannot be compared: {other.reason}"
            breaches.append(Breach(rule, None, reason))
    verdicts = list(_paired_verdicts(comparison, before, after))
    rises: list[str] = []
    for earlier, later in verdicts:
        grown = next((result for result in worse if _belongs(result, later)), None)
        if earlier is None or earlier.outcome is None:
            continue
        if later.outcome is None:
            lost = f"the verdict was {earlier.outcome} but can no longer be given: {later.why}"
            breaches.append(Breach(rule, grown, f"{_place(later)}: {lost}"))
        elif _rank(later.outcome) > _rank(earlier.outcome):
            rose = f"{_place(later)}: the verdict rose from {earlier.outcome} to {later.outcome}"
            if grown is None:
                rises.append(f"{rose}; no effect of this topic grew significantly, so the gate does not fail")
            else:
                breaches.append(Breach(rule, grown, rose))
    if not any(difference.tested for difference in comparison.differences):
        breaches.append(
            Breach(rule, None, "no result of the two runs can be compared, so nothing was judged")
        )
    return Judged(comparison, breaches, verdicts, rises)


def _place(verdict: Verdict) -> str:
    return f"'{verdict.topic}' on {verdict.model} ({verdict.metric})"


def _belongs(result: Result, verdict: Verdict) -> bool:
    """Return whether the verdict is on the topic, model and metric of the result."""
    of_topic = result.test in verdict.tests
    return of_topic and (result.model, result.metric) == (verdict.model, verdict.metric)


def _grew(difference: Difference, result: Result, comparison: Comparison) -> str:
    """Return why this effect has not passed; empty if it has."""
    undecided = difference.grew and difference.p_value is None and difference.judged
    if not undecided and not difference.is_worse(comparison.alpha):
        return ""
    place = f"{difference.test} on {difference.models[1]} ({difference.metric})"
    moved = f"{result.info.symbol} {difference.before:.2f} → {difference.after:.2f}"
    if undecided:
        return f"{place}: {moved}, which cannot be decided: the change has no p"
    interval = f"change {difference.change:+.2f} [{difference.low:.2f}, {difference.high:.2f}]"
    corrected = f"{difference.p_adjusted:.2g} after correction over {comparison.corrected}"
    return f"{place}: {moved}, {interval}, p {difference.p_value:.2g}, {corrected}"


def _paired_verdicts(
    comparison: Comparison, before: Run, after: Run
) -> Iterator[tuple[Verdict | None, Verdict]]:
    """Yield the verdicts on each topic of the compared models; controls are left out."""
    pairs = dict.fromkeys((row.metric, *row.models) for row in comparison.differences)
    earlier = {(v.metric, v.model, v.topic): v for v in before.verdicts()}
    for metric, old, new in pairs:
        for verdict in after.verdicts():
            if (verdict.metric, verdict.model) == (metric, new) and not verdict.check:
                yield earlier.get((metric, old, verdict.topic)), verdict


def _rank(verdict: str) -> int:
    return RANKS[one_of("verdict", verdict, list(RANKS))]
