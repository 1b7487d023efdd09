"""Define `Verdict`, which states what the tests of one topic show together and why, and how run.json stores
outcomes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from weatherglass.audit.reference import ReferenceStanding
from weatherglass.audit.results import Result
from weatherglass.stats import Limit, Outcome
from weatherglass.warnings import Warning

CONTROL = "control"
"""The topic of sanity checks, which test associations that almost everyone shares; they are not corrected with the
topics.
"""
ROW_WARNINGS = ("cannot-survive", "pieces")
"""The kinds of warnings that come with an outcome."""
ROW_FIELDS = ("outcome", "limit", "marked", "p_max_t", "p_pieces", "effect_size_pieces")
"""Fields of a row that its verdict determines; run.json stores them for each result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on one model, one topic and one metric."""

    topic: str
    """The topic; for a sanity check, its two target sets."""
    model: str
    options: str
    metric: str
    outcome: str | None = None
    """The outcome: robust, limited, conflicting, isolated, unconfirmed, small or inconclusive; None if there is
    none.
    """
    limit: str | None = None
    """The reasons that limit the outcome: attribute words, one word, pieces or multiverse."""
    why: str = ""
    """The reason in one sentence."""
    check: bool = False
    """Whether this is a sanity check, which has no outcome and is either found or not."""
    found: bool | None = None
    """Whether a sanity check has p ≤ alpha in the expected direction, without correction; None for other topics."""
    sets: tuple[tuple[str, ...], ...] = ()
    """The categories of X, Y, A and B over all tests; empty if a test has other sets."""
    tests: tuple[str, ...]
    """The tests that are included."""
    measured: tuple[str, ...] = ()
    """The tests that are measured but not tested."""
    marked: tuple[str, ...] = ()
    """The tests that are significant after correction."""
    decisive: str = ""
    """The test on which the verdict depends most."""
    direction: str = ""
    """The meaning of the sign of D in words; empty if the interval of D contains 0."""
    p: float | None = None
    """The p of D for fixed attributes, before correction."""
    p_method: str = ""
    """The method by which p was computed."""
    p_adjusted: float | None = None
    """The larger of p and p_pieces, corrected with Holm's method over the topics."""
    p_random: float | None = None
    """The p of D for random attributes."""
    p_both_adjusted: float | None = None
    """The largest of p, p_pieces and p_random, corrected with Holm's method over the topics."""
    p_pieces: float | None = None
    """The p of D after adjustment for the number of tokens; None if that number does not vary."""
    multiverse_p: float | None = None
    """The corrected p over all specifications of a multiverse; None if none was run."""
    family: int = 0
    """N, the number of topics of this model and metric that were corrected together; 1 for a sanity check."""
    effect_size: float | None = None
    """D, the weighted mean of d; None if the metric has no signed d."""
    ci_low: float | None = None
    ci_high: float | None = None
    effect_size_pieces: float | None = None
    """D adjusted for the number of tokens."""
    ci_pieces_low: float | None = None
    ci_pieces_high: float | None = None
    fragile: tuple[str, ...] = ()
    """Words without which the p of D is above alpha; they are computed only if the outcome depends on them."""
    placebo: float | None = None
    """The |D| that 95 % of random divisions of the attribute words into A and B stay below."""
    effect_sizes: Mapping[str, float | None]
    """d of each included test."""
    tau2: float | None = None
    """The variance of d over tests; only for six or more tests."""
    further_low: float | None = None
    """The prediction interval for d of a further test on this topic; only for six or more tests."""
    further_high: float | None = None
    excluded_above: float | None = None
    """The largest U; every test rules out |d| above it. None if U is unknown for a test."""
    minimum_detectable: float | None = None
    """The smallest D that is detected with 80 % power at the corrected level."""
    human: Mapping[str, float]
    """The d of people in the Implicit Association Test, for the tests that have one."""
    reference: ReferenceStanding | None = None
    """The position of the mean d among the reference models; None if they lack the tests or the metric."""

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
            **{
                **record,
                **lists,
                "sets": sets,
                "reference": ReferenceStanding(**reference) if reference else None,
            }
        )


def outcomes_record(results: Sequence[Result]) -> list[list[Any]]:
    """Return the outcome of each result in the form that run.json stores, so that a stored run need not be judged
    again.
    """
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
        with_fields(result, dict(zip(ROW_FIELDS, values, strict=True)), map(Warning.from_json, warnings))
        for result, (*values, warnings) in zip(results, outcomes, strict=True)
    ]


def with_fields(result: Result, fields: Mapping[str, Any], warnings: Iterable[Warning]) -> Result:
    """Return a row with the fields and warnings of its outcome, which replace its earlier ones."""
    kept = (warning for warning in result.warnings if warning.kind not in ROW_WARNINGS)
    return replace(result, **fields, warnings=(*kept, *warnings))


def reason(verdict: Verdict) -> str:
    """Return the reason for the verdict, and its limits."""
    topics = f"{verdict.family} topic{'s' if verdict.family != 1 else ''}"
    corrected = f"p = {p_text(verdict.p_adjusted)} after correction for {topics}"
    pieces = ""
    if verdict.limit == Limit.PIECES:
        pieces = f"; with the number of pieces held fixed, p = {p_text(verdict.p_pieces)}"
    match verdict.outcome:
        case Outcome.ROBUST:
            random = f"{p_text(verdict.p_both_adjusted)} for random attributes"
            multiverse = " and in the multiverse" if verdict.multiverse_p is not None else ""
            if verdict.effect_size is None:  # sentence pairs, which have no attribute words
                return f"{corrected}; this remains so without any single unit{multiverse}"
            return f"{corrected}, {random}; this remains so without any single word{multiverse}"
        case Outcome.LIMITED:
            return f"{corrected}; {_why_limited(verdict)}"
        case Outcome.CONFLICTING:
            positive = [test for test in verdict.marked if (verdict.effect_sizes[test] or 0.0) > 0]
            negative = [test for test in verdict.marked if test not in positive]
            return f"{', '.join(positive)} and {', '.join(negative)} point in opposite directions"
        case Outcome.ISOLATED:
            listed = ", ".join(verdict.marked)
            stand = "stands" if len(verdict.marked) == 1 else "stand"
            return f"{listed} {stand} out, but the mean of {len(verdict.tests)} tests does not ({corrected})"
        case Outcome.UNCONFIRMED:
            return f"p = {p_text(verdict.p)}, but {corrected}{pieces}"
        case Outcome.SMALL:
            return f"every test rules out |d| above {verdict.excluded_above:.2f}"
        case _:  # what a null result rules out (U), and the smallest effect that the tests detect
            excluded, least = verdict.excluded_above, verdict.minimum_detectable
            why = "no effect size can be ruled out"
            if excluded is not None:
                why = f"|d| above {excluded:.2f} is ruled out"
            if least is not None:
                why += f"; a mean d of {least:.2f} would be detected with 80 % power"
            return why + pieces


def _why_limited(verdict: Verdict) -> str:
    match verdict.limit:
        case Limit.ATTRIBUTES if verdict.p_random is None:
            return "p for random attributes cannot be computed"
        case Limit.ATTRIBUTES:
            p = p_text(verdict.p_both_adjusted)
            return f"other attribute words may not show the effect (p = {p} for random attributes)"
        case Limit.ONE_WORD if verdict.fragile:
            number = len(verdict.fragile)
            which = f"'{verdict.fragile[0]}'" if number == 1 else f"any one of {number} words"
            return f"without {which}, p is above alpha"
        case Limit.MULTIVERSE:
            return f"p = {p_text(verdict.multiverse_p)} over all choices of the multiverse"
        case _:
            return "p without single words was not computed"


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def p_text(p: float | None) -> str:
    """Return p with two significant digits, and a power of ten if it is small."""
    if p is None or p >= 0.00095 or p <= 0:
        return "unknown" if p is None else f"{p:.2g}"
    mantissa, exponent = f"{p:.1e}".split("e")
    return f"{mantissa} × 10{exponent.replace('-0', '-').translate(_RAISED)}"
