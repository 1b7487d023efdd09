"""Judge what the tests of one topic show together, by model and metric (docs/methods 12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from weatherglass.audit.judge import floor_values
from weatherglass.audit.reference import Standing, standing
from weatherglass.audit.results import Result, finite, unit_scores
from weatherglass.catalogue.names import sets_of
from weatherglass.stats import Limit, Outcome
from weatherglass.warnings import Warning

if TYPE_CHECKING:
    from weatherglass.audit.multiverse_p import MultiverseP
    from weatherglass.stats.topic import AttributeTables
    from weatherglass.stats.verdict import RowDecision, RowEvidence, TopicDecision, TopicEvidence

CONTROL = "control"
"""The topic of sanity checks: associations that almost everyone shares; they are not corrected with the topics."""
ROW_WARNINGS = ("cannot-survive", "pieces")
"""The kinds of warnings that come with an outcome."""
ROW_FIELDS = ("outcome", "limit", "marked", "p_max_t", "p_pieces", "effect_size_pieces")
"""Fields of a row that its verdict sets; run.json stores them for each result."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What one model shows on one topic, by one metric."""

    topic: str
    """The topic; for a sanity check its two target sets."""
    model: str
    options: str
    metric: str
    outcome: str | None = None
    """robust, limited, conflicting, isolated, unconfirmed, small or inconclusive; None if there can be none."""
    limit: str | None = None
    """What limits the outcome: attribute words, one word, pieces or multiverse."""
    why: str = ""
    """The reason in one sentence."""
    check: bool = False
    """Whether it is a sanity check, which has no outcome and is either found or not."""
    found: bool | None = None
    """Whether a sanity check has p ≤ alpha in the expected direction, without correction; None for other topics."""
    sets: tuple[tuple[str, ...], ...] = ()
    """The categories of X, Y, A and B over all tests; empty if a test has other sets."""
    tests: tuple[str, ...]
    """The tests that are included."""
    measured: tuple[str, ...] = ()
    """The tests that are measured, not tested."""
    marked: tuple[str, ...] = ()
    """The tests that are significant after correction."""
    decisive: str = ""
    """The test that the verdict rests on most."""
    direction: str = ""
    """What the sign of D means in words; empty if its interval contains 0."""
    p: float | None = None
    """p of D for fixed attributes, before correction."""
    p_method: str = ""
    """How p was computed."""
    p_adjusted: float | None = None
    """The larger of p and p_pieces, after Holm over the topics."""
    p_random: float | None = None
    """p of D for random attributes."""
    p_both_adjusted: float | None = None
    """The largest of p, p_pieces and p_random, after Holm over the topics."""
    p_pieces: float | None = None
    """p of D with the number of pieces held fixed; None if there is nothing to hold fixed."""
    multiverse_p: float | None = None
    """p over all specifications of a multiverse, corrected; None if none was run."""
    family: int = 0
    """N, the number of topics of this model and metric that were corrected together; 1 for a sanity check."""
    effect_size: float | None = None
    """D: the weighted mean of d; None if the metric has no d with a sign."""
    ci_low: float | None = None
    ci_high: float | None = None
    effect_size_pieces: float | None = None
    """D with the number of pieces held fixed."""
    ci_pieces_low: float | None = None
    ci_pieces_high: float | None = None
    fragile: tuple[str, ...] = ()
    """Words without which p of D is above alpha; computed only where the outcome depends on them."""
    placebo: float | None = None
    """95 % of random divisions of the attribute words into A and B have a smaller |D|."""
    effect_sizes: Mapping[str, float | None]
    """d of each test that is included."""
    tau2: float | None = None
    """The variance of d over tests; only from six tests on."""
    further_low: float | None = None
    """Prediction interval for d of a further test of this kind; only from six tests on."""
    further_high: float | None = None
    excluded_above: float | None = None
    """The largest U: every test rules out |d| above it; None if it is unknown for a test."""
    minimum_detectable: float | None = None
    """The smallest D that is found with 80 % power at the level after correction."""
    human: Mapping[str, float]
    """d of people in the Implicit Association Test, for the tests that have one."""
    reference: Standing | None = None
    """How the mean d compares with the reference models; None if they lack these tests or this metric."""

    def to_json(self) -> dict[str, Any]:
        """Return plain values by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Verdict:
        """Return the verdict that `to_json` stored, with tuples for the lists of JSON."""
        reference = record["reference"]
        lists = {name: tuple(record[name]) for name in ("tests", "measured", "marked", "fragile")}
        sets = tuple(map(tuple, record["sets"]))
        return cls(
            **{**record, **lists, "sets": sets, "reference": Standing(**reference) if reference else None}
        )


def conclude(
    results: Sequence[Result],
    topics: Mapping[str, str],
    *,
    alpha: float,
    smallest: float | None = None,
    multiverse_p: MultiverseP | None = None,
) -> tuple[list[Result], list[Verdict]]:
    """Return the results with their outcomes, and a verdict per model, metric and topic, sanity checks last.

    A test without a topic is a topic by itself.

    Args:
        results: the judged results of one run.
        topics: the topic of each test, by name.
        alpha: the significance level of each family, and of the results' leave-one-out.
        smallest: the smallest |d| of interest.
        multiverse_p: p of the topics for which a multiverse was run.
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
    """Return what `conclude` returns, with topics and settings from the record of a run."""
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


def outcomes_record(results: Sequence[Result]) -> list[list[Any]]:
    """Return the outcome of each result as run.json stores it, so that a stored run need not be judged again."""
    return [
        [
            *(getattr(result, name) for name in ROW_FIELDS),
            [warning.to_json() for warning in result.warnings if warning.kind in ROW_WARNINGS],
        ]
        for result in results
    ]


def with_outcomes(results: Sequence[Result], outcomes: Sequence[Sequence[Any]]) -> list[Result]:
    """Return the results with the outcomes that `outcomes_record` stored.

    Raises:
        ValueError: if the record does not have one entry for each result.
    """
    return [
        _with_fields(result, dict(zip(ROW_FIELDS, values, strict=True)), map(Warning.from_json, warnings))
        for result, (*values, warnings) in zip(results, outcomes, strict=True)
    ]


def _with_fields(result: Result, fields: Mapping[str, Any], warnings: Iterable[Warning]) -> Result:
    kept = (warning for warning in result.warnings if warning.kind not in ROW_WARNINGS)
    return replace(result, **fields, warnings=(*kept, *warnings))


def why_not_judged(result: Result) -> str:
    """Return why a result has no p that a verdict can use; empty if it has one."""
    if result.why_no_p:
        return f"{result.metric} has no p: {result.why_no_p}"
    if result.permute != "words" or (result.signed and result.alternative != "two-sided"):
        return (
            "verdicts need two-sided p-values by words; here p is "
            f"{result.alternative}, computed by exchanging {result.permute} (run with the default settings)"
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

    The results of the rows that are tested are replaced in `concluded` by those with their outcomes.
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
        yield replace(verdict, why=_why(verdict, group))


def _check(group: _Group, alpha: float) -> Verdict:
    """Return the verdict on one sanity check: found or not."""
    verdict = replace(group.known, check=True, family=1)
    if group.why_not:
        return replace(verdict, why=group.why_not)
    evidence = group.evidence(alpha)
    judged = _with_numbers(verdict, group, evidence, alpha)
    expected = judged.effect_size is None or judged.effect_size > 0
    opposite = "" if expected or evidence.p > alpha else ", in the opposite direction"
    return replace(judged, found=evidence.p <= alpha and expected, why=f"p = {_p(evidence.p)}{opposite}")


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
    return _with_fields(result, fields, warnings)


@dataclass(frozen=True, slots=True)
class _Group:
    """The rows of one topic."""

    tested: Sequence[Result]
    """The rows that are tested."""
    places: Sequence[int]
    """Their positions in the results of the run."""
    known: Verdict
    """The verdict without its outcome and numbers."""
    why_not: str
    """Why the topic cannot be judged; empty if it can."""
    signed_d: bool
    """Whether the metric is a d with a sign, so that the topic has a D."""

    def evidence(self, alpha: float) -> TopicEvidence:
        """Return the evidence on the topic before it is compared with other topics."""
        from weatherglass.stats.topic import TopicTest
        from weatherglass.stats.verdict import measure_topic, measure_unsigned_topic

        if not self.signed_d:
            return measure_unsigned_topic([(row.p_value, row.lean) for row in self.tested])
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
                stable=row.robustness.hangs_on("word", alpha) is None if row.robustness else None,
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
    """Return the tables with scores by template, if each target word appears once in each of the same templates."""
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
    """Return the words without which p is above alpha, the one with the largest p first."""
    if decision.lifting:
        return tuple(str(lifting.word) for lifting in decision.lifting)
    lifting = [
        (left_out.p_value, left_out.name)
        for row in group.tested
        for left_out in (row.robustness.left_out if row.robustness and len(group.tested) == 1 else ())
        if left_out.kind == "word" and left_out.p_value is not None and left_out.p_value > alpha
    ]
    return tuple(name for _, name in sorted(lifting, reverse=True))


def _why(verdict: Verdict, group: _Group) -> str:
    """Return the reason for the verdict, and what limits it."""
    topics = f"{verdict.family} topic{'s' if verdict.family != 1 else ''}"
    corrected = f"p = {_p(verdict.p_adjusted)} after correction for {topics}"
    pieces = ""
    if verdict.limit == Limit.PIECES:
        pieces = f"; with the number of pieces held fixed, p = {_p(verdict.p_pieces)}"
    match verdict.outcome:
        case Outcome.ROBUST:
            random = f"{_p(verdict.p_both_adjusted)} for random attributes"
            multiverse = " and in the multiverse" if verdict.multiverse_p is not None else ""
            return f"{corrected}, {random}; it holds without any single word{multiverse}"
        case Outcome.LIMITED:
            return f"{corrected}; {_why_limited(verdict)}"
        case Outcome.CONFLICTING:
            signs = {row.row: row.lean for row in group.tested}
            for_, against = ([test for test in verdict.marked if signs[test] == sign] for sign in (1, -1))
            return f"{', '.join(for_)} and {', '.join(against)} point in opposite directions"
        case Outcome.ISOLATED:
            listed = ", ".join(verdict.marked)
            stand = "stands" if len(verdict.marked) == 1 else "stand"
            return f"{listed} {stand} out, the mean of {len(verdict.tests)} tests does not ({corrected})"
        case Outcome.UNCONFIRMED:
            return f"p = {_p(verdict.p)}, but {corrected}{pieces}"
        case Outcome.SMALL:
            return f"every test rules out |d| above {verdict.excluded_above:.2f}"
        case _:  # what a null result rules out (U), and the smallest effect that the tests detect
            excluded, least = verdict.excluded_above, verdict.minimum_detectable
            why = "no effect size can be ruled out"
            if excluded is not None:
                why = f"|d| above {excluded:.2f} is ruled out"
            if least is not None:
                why += f"; a mean d of {least:.2f} is found with 80 % power"
            return why + pieces


def _why_limited(verdict: Verdict) -> str:
    match verdict.limit:
        case Limit.ATTRIBUTES if verdict.p_random is None:
            return "p for random attributes cannot be computed"
        case Limit.ATTRIBUTES:
            return f"other attribute words may not show it (p = {_p(verdict.p_both_adjusted)} for random attributes)"
        case Limit.ONE_WORD if verdict.fragile:
            number = len(verdict.fragile)
            which = f"'{verdict.fragile[0]}'" if number == 1 else f"any one of {number} words"
            return f"without {which}, p is above alpha"
        case Limit.MULTIVERSE:
            return f"p = {_p(verdict.multiverse_p)} over all choices of the multiverse"
        case _:
            return "p without single words was not computed"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def _p(p: float | None) -> str:
    if p is None or p >= 0.00095 or p <= 0:
        return "unknown" if p is None else f"{p:.2g}"
    mantissa, exponent = f"{p:.1e}".split("e")
    return f"{mantissa} × 10{exponent.replace('-0', '-').translate(_RAISED)}"
