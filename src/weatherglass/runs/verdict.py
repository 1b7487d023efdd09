"""Verdicts on topics: what the tests of one topic, model and metric show together (docs/methods 12)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from weatherglass.inference.topic import TopicSize, WordScores, topic_size
from weatherglass.inference.verdict import Decision, Evidence, Outcome, decide
from weatherglass.runs.joint import JointP
from weatherglass.runs.judge import minimum_detectable
from weatherglass.runs.reference import Standing, standing
from weatherglass.runs.results import Result, word_scores

CONTROL = "control"
"""The topic of tests that ask whether a model has any sense of pleasant and unpleasant; no part of the family."""
IAT: Mapping[str, float] = {
    "weat1": 1.35,
    "weat2": 1.66,
    "weat3": 1.17,
    "weat6": 0.72,
    "weat7": 0.82,
    "weat8": 1.47,
    "weat9": 1.01,
    "weat10": 1.42,
}
"""d of people in the Implicit Association Test with the same words: Caliskan et al. 2017, Table 1."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one model shows on one topic, by one metric."""

    topic: str
    model: str
    options: str
    metric: str
    verdict: str | None
    """mixed, shown, shown for these words, suggested, small or cannot tell; None where there can be none."""
    why: str
    """The reason in words."""
    control: bool
    """Controls stand apart: each is a family of its own."""
    tests: tuple[str, ...]
    significant: int
    """How many of the tests have p ≤ alpha."""
    decisive: str
    """The test that the verdict rests on most."""
    direction: str
    """What the sign of that test means in words."""
    p_these: float | None
    """p of the topic with these attribute words, after Holm over the topics."""
    p_both: float | None
    """The same, with other attribute words of this kind, too."""
    joint_p: float | None
    """p over all specifications of a multiverse; None where none was run."""
    family: int
    """Topics that were corrected together."""
    effect_size: float | None
    """d̄: the mean d of the tests; None where the metric has no d with a sign."""
    ci_low: float | None
    ci_high: float | None
    effect_sizes: Mapping[str, float | None]
    """d of each test."""
    tau2: float | None
    """The variance of d over tests; only from six tests on."""
    further_low: float | None
    """What d a further test of this kind would have; only from six tests on."""
    further_high: float | None
    excluded_above: float | None
    """The largest U: every test excludes |d| above it; None where a test cannot say."""
    minimum_detectable: float | None
    """The smallest d that one of the tests finds with a chance of 80 %."""
    human: Mapping[str, float]
    """d of people in the Implicit Association Test, for the tests that have one."""
    reference: Standing | None
    """How d̄ compares with the reference models; None where they have not these tests, metric and settings."""

    def to_json(self) -> dict[str, Any]:
        """Plain values by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Verdict:
        """The inverse of `to_json`, from JSON, which knows no tuples."""
        reference = record["reference"]
        return cls(
            **{
                **record,
                "tests": tuple(record["tests"]),
                "reference": Standing(**reference) if reference else None,
            }
        )


def verdicts(
    results: Sequence[Result],
    topics: Mapping[str, str],
    *,
    alpha: float,
    smallest: float | None = None,
    joint_p: JointP | None = None,
) -> list[Verdict]:
    """One verdict per model, metric and topic, controls last; a test without a topic is its own.

    Metrics whose value is no effect size have none: their p says that a value is not what chance would make it, which
    for some of them is far from a bias (docs/metrics.md).

    Args:
        results: judged, of one run.
        topics: the topic of each test, by name.
        alpha: of each family, and of the results' leave-one-out.
        smallest: the smallest |d| of interest.
        joint_p: of topics of which a multiverse was run.
    """
    families: dict[tuple[str, str, str], dict[str, list[Result]]] = {}
    for result in results:
        if (
            not result.is_effect_size
        ):  # the rule asks for both readings of a d, which other metrics do not have
            continue
        family = families.setdefault((result.model, result.options, result.metric), {})
        family.setdefault(topics.get(result.test) or result.test, []).append(result)
    found: list[Verdict] = []
    for by_topic in families.values():
        ordinary = {topic: rows for topic, rows in by_topic.items() if topic != CONTROL}
        apart = {topic: rows for topic, rows in by_topic.items() if topic == CONTROL}
        for family in (ordinary, apart):
            found += _family(family, alpha, smallest, joint_p or {})
    return found


def recorded_verdicts(
    results: Sequence[Result], record: Mapping[str, Any], joint_p: JointP | None = None
) -> list[Verdict]:
    """The verdicts on a run, with topics and settings from its record."""
    settings = record.get("settings", {})
    if not results or "alpha" not in settings:
        return []
    return verdicts(
        results,
        record.get("topics", {}),
        alpha=float(settings["alpha"]),
        smallest=settings.get("smallest"),
        joint_p=joint_p,
    )


def why_not_judged(result: Result) -> str:
    """Why a result has no p that a verdict could start from; empty where it has."""
    if result.why_no_p:
        return f"{result.metric} has no p: {result.why_no_p}"
    if result.permute != "words" or result.alternative != "two-sided":
        return (
            "verdicts are by words and two-sided; here p is "
            f"{result.alternative} with {result.permute} exchanged (run with the default settings)"
        )
    if result.trust is None:
        return "verdicts need both readings of an effect (run with --trust all)"
    return ""


def _family(
    by_topic: Mapping[str, Sequence[Result]], alpha: float, smallest: float | None, joint_p: JointP
) -> Iterator[Verdict]:
    judged = {topic: rows for topic, rows in by_topic.items() if not any(why_not_judged(row) for row in rows)}
    joint = [joint_p.get((topic, rows[0].model, rows[0].metric)) for topic, rows in judged.items()]
    evidence = [[_evidence(row, alpha) for row in rows] for rows in judged.values()]
    decisions = dict(zip(judged, decide(evidence, alpha, smallest, joint) if judged else [], strict=True))
    for topic, rows in by_topic.items():
        found = _unjudged(topic, rows, alpha, len(judged))
        if topic in decisions:
            p_joint = joint_p.get((topic, rows[0].model, rows[0].metric))
            found = _judged(found, rows, decisions[topic], p_joint, alpha)
        yield found


def _evidence(result: Result, alpha: float) -> Evidence:
    trust = result.trust
    return Evidence(
        p_these=result.p_value,
        p_such=result.p_attr,
        sign=result.lean,
        stable=trust is not None and trust.hangs_on("word", alpha) is None,
        p_sentences=result.p_elements,
        bound=trust.excluded_above if trust else None,
    )


def _unjudged(topic: str, rows: Sequence[Result], alpha: float, family: int) -> Verdict:
    """All that is known of a topic before the rule is asked."""
    first = rows[0]
    size = _size(rows, alpha)
    interval, further = (size.interval, size.further) if size else (None, None)
    bounds = [row.trust.excluded_above if row.trust else None for row in rows]
    known = [bound for bound in bounds if bound is not None]
    detectable = [d for row in rows if (d := minimum_detectable(row, alpha)) is not None]
    effects = {row.test: _plain(row.bias) for row in rows if row.is_effect_size}
    return Verdict(
        topic=topic,
        model=first.model,
        options=first.options,
        metric=first.metric,
        verdict=None,
        why=next((why for row in rows if (why := why_not_judged(row))), ""),
        control=topic == CONTROL,
        tests=tuple(row.test for row in rows),
        significant=sum(row.p_value <= alpha for row in rows),
        decisive="",
        direction="",
        p_these=None,
        p_both=None,
        joint_p=None,
        family=family,
        effect_size=size.effect_size if size else None,
        ci_low=interval.low if interval else None,
        ci_high=interval.high if interval else None,
        effect_sizes=effects,
        tau2=size.tau2 if size else None,
        further_low=further.low if further else None,
        further_high=further.high if further else None,
        excluded_above=max(known) if known and len(known) == len(bounds) else None,
        minimum_detectable=min(detectable) if detectable and first.is_effect_size else None,
        human={row.test: IAT[row.test] for row in rows if row.test in IAT},
        reference=standing(rows, effects) if size else None,
    )


def _judged(
    verdict: Verdict, rows: Sequence[Result], decision: Decision, joint_p: float | None, alpha: float
) -> Verdict:
    decisive = rows[decision.decisive]
    judged = replace(
        verdict,
        verdict=decision.outcome.value,
        decisive=decisive.test,
        direction=decisive.direction,
        p_these=decision.p_these,
        p_both=decision.p_both,
        joint_p=joint_p,
    )
    return replace(judged, why=_why(judged, rows, decision, alpha))


def _size(rows: Sequence[Result], alpha: float) -> TopicSize | None:
    """d̄ with words shared over tests; None where the metric has no d with a sign, or no test has one."""
    tests = []
    for row in rows:
        if not (row.is_effect_size and row.signed) or not row.scores or math.isnan(row.effect_size):
            continue
        words = sorted(word_scores(row), key=lambda unit: unit.role)  # X before Y
        scores = np.array([unit.score for unit in words])
        n_x = sum(unit.role == "X" for unit in words)
        tests.append(WordScores(scores, [unit.name for unit in words], n_x, row.ddof))
    return topic_size(tests, alpha) if tests else None


def _why(verdict: Verdict, rows: Sequence[Result], decision: Decision, alpha: float) -> str:
    """What the verdict rests on, and what keeps it from saying more."""
    row = rows[decision.decisive]
    p = f"{row.test}: p {row.p_value:.2g}"
    topics = f"{verdict.family} topic{'s' if verdict.family != 1 else ''}"
    match decision.outcome:
        case Outcome.MIXED:
            listed = [r for r in rows if len(rows) * r.p_value <= alpha and r.lean]
            for_, against = ([r.test for r in listed if r.lean == sign] for sign in (1, -1))
            return f"{', '.join(for_)} and {', '.join(against)} point in opposite directions"
        case Outcome.SHOWN:
            every = ", in a multiverse too" if verdict.joint_p is not None else ""
            return f"{p}, {row.p_attr:.2g} for other attributes; without any one word too{every}"
        case Outcome.THESE_WORDS:
            return f"{p}; {_why_not_shown(verdict, rows, alpha)}"
        case Outcome.SUGGESTED if decision.by_sentences:
            by_sentences = f"{row.test}: p {row.p_elements:.1g}, by words {row.p_value:.2g}"
            return f"only single sentences exchanged give it ({by_sentences})"
        case Outcome.SUGGESTED:
            tests = f"{len(rows)} test{'s' if len(rows) > 1 else ''} of {topics}"
            return f"{p}, {decision.p_these:.2g} after correction for {tests}"
        case Outcome.SMALL:
            return f"every test excludes |d| above {verdict.excluded_above:.2f}"
        case _:
            return "; ".join(_what_is_excluded(verdict))


def _why_not_shown(verdict: Verdict, rows: Sequence[Result], alpha: float) -> str:
    """Which condition of "shown" fails; the first, if there are several."""
    if verdict.p_both is not None and verdict.p_both > alpha:
        best = min((row.p_attr for row in rows if row.p_attr is not None), default=None)
        if best is None:
            return "what other attributes would give cannot be told"
        return f"not for other attributes like these (p {verdict.p_both:.2g} after correction)"
    firmest = min(
        (row for row in rows if row.p_attr is not None), key=lambda row: max(row.p_value, row.p_attr or 0)
    )
    hangs_on = firmest.trust.hangs_on("word", alpha) if firmest.trust else None
    if hangs_on:
        return f"hangs on '{hangs_on.name}' (without it p is {hangs_on.p_value:.2g})"
    if verdict.joint_p is not None and verdict.joint_p > alpha:
        return f"over all choices of the multiverse p is {verdict.joint_p:.2g}"
    return "what it hangs on was not computed"


def _what_is_excluded(verdict: Verdict) -> Iterator[str]:
    """U and the minimum detectable d: how much a null result says."""
    if verdict.excluded_above is not None:
        yield f"excludes |d| above {verdict.excluded_above:.2f}"
    else:
        yield "no size is excluded"
    if verdict.minimum_detectable is not None:
        yield f"finds d of {verdict.minimum_detectable:.2f} with a chance of 80 %"


def _plain(d: float) -> float | None:
    return None if math.isnan(d) else d
