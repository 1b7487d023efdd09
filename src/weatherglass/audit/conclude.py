"""Judge what the tests of one topic show together, by model and metric (docs/methods 12)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from weatherglass.audit.judge import floor_values
from weatherglass.audit.reference import standing
from weatherglass.audit.results import Result, finite, unit_scores
from weatherglass.audit.verdict import CONTROL, Verdict, p_text, reason, with_fields
from weatherglass.catalogue.names import sets_of
from weatherglass.stats import Limit
from weatherglass.warnings import Warning

if TYPE_CHECKING:
    from weatherglass.audit.multiverse_p import MultiverseP
    from weatherglass.stats.topic import AttributeTables
    from weatherglass.stats.verdict import RowDecision, RowEvidence, TopicDecision, TopicEvidence

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
"""Effect sizes of people in the Implicit Association Test with the same words (Caliskan et al. 2017, Table 1)."""


def conclude(
    results: Sequence[Result],
    topics: Mapping[str, str],
    *,
    alpha: float,
    smallest: float | None = None,
    multiverse_p: MultiverseP | None = None,
) -> tuple[list[Result], list[Verdict]]:
    """Return the results with their outcomes, and a verdict per model, metric and topic, sanity checks last.

    A test without a topic is a topic of its own.

    Args:
        results: the judged results of one run.
        topics: the topic of each test, by name.
        alpha: the significance level of each family, and of the leave-one-out tests.
        smallest: the smallest |d| of interest.
        multiverse_p: the p of each topic for which a multiverse was run.
    """
    families: dict[tuple[str, str, str], dict[str, list[int]]] = {}
    checks: dict[tuple[str, str, str], dict[str, list[int]]] = {}
    for place, result in enumerate(results):
        topic = topics.get(result.test) or result.test
        key = (result.model, result.options, result.metric)
        own, own_checks = families.setdefault(key, {}), checks.setdefault(key, {})
        group, name = (own_checks, _pair_of(result)) if topic == CONTROL else (own, topic)
        group.setdefault(name, []).append(place)
    concluded = list(results)
    found: list[Verdict] = []
    for key, by_topic in families.items():
        groups = [_group(topic, places, results) for topic, places in by_topic.items()]
        found += _family(groups, concluded, alpha, smallest, multiverse_p or {})
        found += [_check(_group(name, places, results), alpha) for name, places in checks[key].items()]
    return concluded, found


def recorded(
    results: Sequence[Result], record: Mapping[str, Any], multiverse_p: MultiverseP | None = None
) -> tuple[list[Result], list[Verdict]]:
    """Return the same as `conclude`, with topics and settings from the record of a run."""
    settings = record.get("settings", {})
    if not results or "alpha" not in settings:
        return list(results), []
    return conclude(
        results,
        record.get("topics", {}),
        alpha=float(settings["alpha"]),
        smallest=settings.get("smallest"),
        multiverse_p=multiverse_p,
    )


def why_not_judged(result: Result) -> str:
    """Return why a verdict cannot use the p of a result; empty if it can."""
    if result.why_no_p:
        return f"{result.metric} has no p: {result.why_no_p}"
    if result.permute != "words" or (result.signed and result.alternative != "two-sided"):
        return (
            f"verdicts need two-sided p-values by words, but this p is {result.alternative} and computed "
            f"by exchanging {result.permute} (run with the default settings)"
        )
    if result.info.poolable and result.robustness is None:
        return "verdicts need p for random attributes (run with --trust all)"
    return ""


def _pair_of(result: Result) -> str:
    return " and ".join(result.target_categories).lower()


def _family(
    groups: Sequence[_Group],
    concluded: list[Result],
    alpha: float,
    smallest: float | None,
    multiverse_p: MultiverseP,
) -> Iterator[Verdict]:
    """Yield the verdict on each topic of one model and metric, after correction for all of these topics.

    In `concluded`, the results of tested rows are replaced by results with outcomes.
    """
    from weatherglass.stats.verdict import decide

    judged = [group for group in groups if not group.why_not]
    asked = [multiverse_p.get((g.known.topic, g.known.model, g.known.metric)) for g in judged]
    evidence = [group.evidence(alpha) for group in judged]
    decisions = zip(decide(evidence, alpha, smallest, asked), asked, strict=True)
    for group in groups:
        if group.why_not:
            yield replace(group.known, why=group.why_not, family=len(judged))
            continue
        decision, p = next(decisions)
        for place, row, own in zip(group.places, decision.rows, decision.evidence.rows, strict=True):
            concluded[place] = _with_decision(concluded[place], row, own, decision.family, alpha)
        verdict = replace(
            group.known,
            outcome=decision.outcome.value if decision.outcome else None,
            limit=decision.limit.value if decision.limit else None,
            marked=tuple(row.row for row, own in zip(group.tested, decision.rows, strict=True) if own.marked),
            p_adjusted=decision.p_adjusted,
            p_both_adjusted=decision.p_both_adjusted,
            multiverse_p=p,
            family=decision.family,
            fragile=_fragile(group, decision, alpha) if decision.limit is Limit.ONE_WORD else (),
        )
        verdict = _with_numbers(verdict, group, decision.evidence, alpha)
        yield replace(verdict, why=reason(verdict))


def _check(group: _Group, alpha: float) -> Verdict:
    """Return the verdict on one sanity check: found or not."""
    verdict = replace(group.known, check=True, family=1)
    if group.why_not:
        return replace(verdict, why=group.why_not)
    evidence = group.evidence(alpha)
    judged = _with_numbers(verdict, group, evidence, alpha)
    expected = judged.effect_size is None or judged.effect_size > 0
    opposite = "" if expected or evidence.p > alpha else ", in the opposite direction"
    return replace(judged, found=evidence.p <= alpha and expected, why=f"p = {p_text(evidence.p)}{opposite}")


def _with_decision(
    result: Result, decision: RowDecision, evidence: RowEvidence | None, family: int, alpha: float
) -> Result:
    """Return a row with its outcome, and a warning if p is too coarse for the correction, or pieces may explain d."""
    pieces = evidence.pieces if evidence else None
    warnings = []
    if result.p_floor <= alpha < family * result.p_floor:
        warnings.append(Warning.of("cannot-survive", **floor_values(result, alpha), topics=family))
    if decision.limit is Limit.PIECES and result.pieces:
        x, y = result.pieces[: result.units_x], result.pieces[result.units_x :]
        warnings.append(Warning.of("pieces", x=sum(x) / len(x), y=sum(y) / len(y)))
    fields = {
        "outcome": decision.outcome.value if decision.outcome else None,
        "limit": decision.limit.value if decision.limit else None,
        "marked": decision.marked,
        "p_max_t": evidence.p_adjusted if evidence else None,
        "p_pieces": pieces.p if pieces else None,
        "effect_size_pieces": pieces.effect_size if pieces else None,
    }
    return with_fields(result, fields, warnings)


@dataclass(frozen=True, slots=True)
class _Group:
    """The rows of one topic."""

    tested: Sequence[Result]
    """The tested rows."""
    places: Sequence[int]
    """The positions of the rows in the results of the run."""
    known: Verdict
    """The verdict without its outcome and numbers."""
    why_not: str
    """The reason why the topic cannot be judged; empty if it can."""
    signed_d: bool
    """Whether the metric is a signed d, so that the topic has a D."""

    def evidence(self, alpha: float) -> TopicEvidence:
        """Return the evidence on the topic before it is compared with other topics."""
        from weatherglass.stats.topic import TopicTest
        from weatherglass.stats.verdict import measure_topic, measure_unsigned_topic

        if not self.signed_d:
            stable = [
                row.robustness.decisive("word", alpha) is None if row.robustness else None
                for row in self.tested
            ]
            one_reading = self.tested[0].info.one_reading
            rows = [(row.p_value, row.lean) for row in self.tested]
            return measure_unsigned_topic(rows, stable if one_reading else None)
        tests = []
        for row in self.tested:
            words = sorted(unit_scores(row.scores, "words"), key=lambda unit: unit.role)  # X before Y
            test = TopicTest(
                words=[unit.name for unit in words],
                n_x=sum(unit.role == "X" for unit in words),
                scores=np.array([unit.score for unit in words]),
                p_value=row.p_value,
                ddof=row.ddof,
                tables=with_templates(row.tables, row) if row.tables else None,
                pieces=None if row.pieces is None else np.array(row.pieces),
                p_random=row.p_random,
                stable=row.robustness.decisive("word", alpha) is None if row.robustness else None,
                bound=row.robustness.excluded_above if row.robustness else None,
            )
            tests.append(test)
        return measure_topic(tests, alpha)


def _group(topic: str, places: Sequence[int], results: Sequence[Result]) -> _Group:
    """Return the rows of a topic, the part of its verdict that needs no numbers, and why it cannot be judged."""
    rows = [results[place] for place in places]
    tested = [row for row in rows if not row.not_tested]
    first = rows[0]
    known = Verdict(
        topic=topic,
        model=first.model,
        options=first.options,
        metric=first.metric,
        sets=sets_of(row.categories for row in tested or rows),
        tests=tuple(row.row for row in tested),
        measured=tuple(row.row for row in rows if row.not_tested),
        effect_sizes={row.row: finite(row.bias) for row in tested},
        human={row.test: IAT[row.test] for row in tested if row.test in IAT},
    )
    why_not = next((why for row in tested if (why := why_not_judged(row))), "")
    if not tested:
        tests = "its test is" if len(rows) == 1 else f"all {len(rows)} tests are"
        why_not = f"{tests} measured, not tested: {first.not_tested}"
    tested_places = [place for place in places if not results[place].not_tested]
    return _Group(tested, tested_places, known, why_not, first.info.poolable and first.signed)


def with_templates(tables: AttributeTables, row: Result) -> AttributeTables:
    """Return the tables with scores by template, if each target word occurs once in each of the same templates."""
    by_word: dict[tuple[str, str], dict[str | None, float]] = {}
    for score in row.scores:
        by_word.setdefault((score.role, score.word), {})[score.template] = score.score
    names = next(iter(by_word.values())).keys()
    complete = len(names) * len(by_word) == len(row.scores) and None not in names
    if not complete or any(own.keys() != names for own in by_word.values()):
        return tables
    words = sorted(by_word, key=lambda word: word[0])  # X before Y
    templates = np.array([[by_word[word][name] for name in names] for word in words])
    return replace(tables, templates=templates, template_names=tuple(names))


def _with_numbers(verdict: Verdict, group: _Group, evidence: TopicEvidence, alpha: float) -> Verdict:
    """Return the verdict with the numbers of its topic; for a single test, those of its row."""
    from weatherglass.stats.topic_attributes import placebo
    from weatherglass.stats.topic_effect import heterogeneity
    from weatherglass.stats.verdict import minimum_detectable_mean

    topic, rows = evidence.topic, group.tested
    significance, interval, pieces = evidence.significance, evidence.interval, evidence.pieces
    # The row with the smallest adjusted p.
    known_rows = [(row, own) for row, own in zip(rows, evidence.rows, strict=True) if own is not None]
    decisive = min(known_rows, key=lambda item: (item[1].p_adjusted, item[1].p))[0]
    bounds = [row.robustness.excluded_above if row.robustness else None for row in rows]
    known = [bound for bound in bounds if bound is not None]
    d = evidence.effect_size
    low, high = (interval.low, interval.high) if interval else (None, None)
    method = significance.p_method if significance else ""
    if group.signed_d and len(rows) == 1:
        d, low, high, method = finite(rows[0].bias), rows[0].ci_low, rows[0].ci_high, rows[0].p_method
    pieces_interval = pieces.interval if pieces else None
    spread = heterogeneity(topic.tests, alpha) if topic else None
    return replace(
        verdict,
        decisive=decisive.row,
        direction=_direction(group, decisive, d, low, high),
        p=evidence.p_exchange if significance else None,
        p_method=method,
        p_random=evidence.p_random,
        p_pieces=pieces.p if pieces else None,
        effect_size=d,
        ci_low=low,
        ci_high=high,
        effect_size_pieces=pieces.effect_size if pieces else None,
        ci_pieces_low=pieces_interval.low if pieces_interval else None,
        ci_pieces_high=pieces_interval.high if pieces_interval else None,
        placebo=placebo(topic) if topic else None,
        tau2=spread.tau2 if spread else None,
        further_low=spread.further.low if spread else None,
        further_high=spread.further.high if spread else None,
        excluded_above=max(known) if known and len(known) == len(bounds) else None,
        minimum_detectable=minimum_detectable_mean(topic, alpha / verdict.family) if topic else None,
        reference=standing(rows, verdict.effect_sizes) if group.signed_d else None,
    )


def _direction(
    group: _Group, decisive: Result, d: float | None, low: float | None, high: float | None
) -> str:
    if not group.signed_d:
        return decisive.direction if decisive.has_direction and decisive.signed else ""
    if d is None or low is None or high is None or low <= 0 <= high:
        return ""
    return decisive.direction_of(1 if d > 0 else -1)


def _fragile(group: _Group, decision: TopicDecision, alpha: float) -> tuple[str, ...]:
    """Return the words without which p is above alpha, starting with the one whose removal makes p largest."""
    if decision.lifting:
        return tuple(str(lifting.word) for lifting in decision.lifting)
    lifting = [
        (left_out.p_value, left_out.name)
        for row in group.tested
        for left_out in (row.robustness.left_out if row.robustness and len(group.tested) == 1 else ())
        if left_out.kind == "word" and left_out.p_value is not None and left_out.p_value > alpha
    ]
    return tuple(name for _, name in sorted(lifting, reverse=True))
