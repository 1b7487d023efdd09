"""Judge a mitigation by a printed rule as removed, hidden, not removed or cannot tell (docs/methods 14)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from weatherglass.catalogue.test import Element, ElementSet, Test
from weatherglass.mitigation.lists import Pair, Sides, sides_of
from weatherglass.mitigation_evaluation.recovery import BeforeAfter
from weatherglass.stats.multiplicity import adjust

REMOVED, HIDDEN, NOT_REMOVED, CANNOT_TELL = "removed", "hidden", "not removed", "cannot tell"
KEPT_SHARE = 0.5
RETAINED_SHARE = 0.25

RULE = (
    "Cannot tell: on words that the transform was not fitted on, no d is significant before the transform (Holm over "
    "the tests). "
    f"Not removed: on these words, more than {100 * KEPT_SHARE:.0f} % of d remains, summed in the direction that each "
    "test had before the transform; or a difference between the two ends of the attribute is significant after it, by "
    "any metric (Holm over all rows), in either direction; or, in a test with all its words, d is significant after "
    "the transform in the opposite direction (Holm over these tests). "
    "Hidden: none of the conditions above applies, but a classifier, clusters or neighbours still recover more than "
    f"{100 * RETAINED_SHARE:.0f} % of what they recovered above chance before, at the lower end of the interval. "
    "Removed: none of the conditions above applies."
)


@dataclass(frozen=True, slots=True)
class MetricChange:
    """One test and metric, before and after the mitigation."""

    test: str
    metric: str
    poolable: bool
    """Whether the values are effect sizes on one scale, which are summed over tests."""
    signed: bool
    before: float
    """The value minus the value without bias; for d, this is d itself."""
    after: float
    p_before: float | None
    p_before_holm: float | None
    """p before, corrected over the effect sizes of the same table; None for other metrics."""
    p_after: float | None
    p_after_holm: float | None
    """p after, corrected over the contrasts of the same table; None for other rows."""
    low: float | None
    """The lower end of the interval of the paired change."""
    high: float | None
    p_change: float | None
    value_before: float
    value_after: float
    units: int
    contrast: bool
    """Whether p tests a difference between the two ends of the attribute, which is not the case for MAC."""
    optimised: bool
    """Whether the transform makes this metric small by construction."""

    def flipped(self, alpha: float) -> bool:
        """Return whether the effect is significant after the transform, with corrected p and the opposite sign."""
        significant = self.p_after_holm is not None and self.p_after_holm <= alpha
        return self.signed and self.before * self.after < 0 and significant


def with_holm(rows: Sequence[MetricChange]) -> list[MetricChange]:
    """Return the rows with corrected p; p before is corrected over the effect sizes, p after over the contrasts."""
    before = _corrected([row.p_before if row.poolable else None for row in rows])
    after = _corrected([row.p_after if row.contrast else None for row in rows])
    return [
        replace(row, p_before_holm=first, p_after_holm=second)
        for row, first, second in zip(rows, before, after, strict=True)
    ]


def _corrected(p_values: Sequence[float | None]) -> list[float | None]:
    adjusted = iter(adjust([p for p in p_values if p is not None], "holm").tolist())
    return [None if p is None else next(adjusted) for p in p_values]


@dataclass(frozen=True, slots=True)
class MitigationVerdict:
    """A verdict on a mitigation, and its reasons."""

    word: str
    reasons: tuple[str, ...]


def verdict(
    held_out: Sequence[MetricChange],
    as_they_are: Sequence[MetricChange],
    recovered: Sequence[BeforeAfter],
    alpha: float,
) -> MitigationVerdict:
    """Return the verdict on a mitigation.

    Args:
        held_out: rows on words that the transform was not fitted on, with corrected p.
        as_they_are: rows of the tests with all their words, with p corrected over them.
        recovered: the measures of what can be recovered from neutral words before and after.
        alpha: the significance level of every test.
    """
    effects = [row for row in held_out if row.p_before_holm is not None and row.p_before_holm <= alpha]
    flipped = {row.test: row for row in (*as_they_are, *held_out) if row.poolable and row.flipped(alpha)}
    flips = tuple(
        f"{test}: the sign of d flipped, from {_signed(f'{row.before:.2f}')} to {_signed(f'{row.after:.2f}')}; this is "
        "an association in the opposite direction, not a mitigation"
        for test, row in flipped.items()
    )
    if not effects:
        return MitigationVerdict(
            CANNOT_TELL, ("on held-out words, no d is significant before the transform (corrected p)", *flips)
        )
    kept = kept_share(effects)
    still = [
        row for row in held_out if row.contrast and row.p_after_holm is not None and row.p_after_holm <= alpha
    ]
    tests = f"{len(effects)} test{' that was' if len(effects) == 1 else 's that were'}"
    remains = _signed(f"{100 * kept:.0f} %")
    reasons = [f"{remains} of the effect remains ({tests} significant before)"]
    if still:
        named = ", ".join(f"{row.test} by {row.metric}" for row in still[:3])
        reasons.append(
            "significant after the transform (p corrected with Holm's method): "
            f"{named}{(', …' if len(still) > 3 else '')}"
        )
    if kept > KEPT_SHARE or still or flips:
        return MitigationVerdict(NOT_REMOVED, (*reasons, *flips))
    left = [one for one in recovered if (one.retained_low or 0.0) > RETAINED_SHARE]
    if not left:
        nothing = f"no classifier, cluster or neighbour recovers more than {100 * RETAINED_SHARE:.0f} % above chance"
        return MitigationVerdict(REMOVED, (*reasons, nothing))
    reasons += [
        f"{one.name}: {one.after.value:.2f} after, {one.before.value:.2f} before; "
        f"{100 * (one.retained or 0):.0f} % of the part above chance remains"
        for one in left
    ]
    return MitigationVerdict(HIDDEN, tuple(reasons))


def kept_share(effects: Sequence[MetricChange]) -> float:
    """Return Σ d after, in the direction that each test had before, divided by Σ |d| before."""
    total = sum(abs(row.before) for row in effects)
    return sum(row.after if row.before > 0 else -row.after for row in effects) / total


def _signed(number: str) -> str:
    return number.replace("-", "−")


FORMAT = 1


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The evaluation of a mitigation, in the form that the page shows."""

    model: str
    transforms: tuple[str, ...]
    rank: int | None
    """The number of removed dimensions; None for a transform of another package."""
    width: int
    verdict: MitigationVerdict
    rows: tuple[MetricChange, ...]
    """Rows of the tests with all their words."""
    held_out: tuple[MetricChange, ...]
    """Rows on words that the transform was not fitted on."""
    words: Mapping[str, Mapping[str, Sequence[str]]]
    """The words that were left out and the words that were added, by held-out test."""
    without_held_out: tuple[str, ...]
    """Tests without a held-out form, each with the reason."""
    recovered: tuple[BeforeAfter, ...]
    cost: tuple[BeforeAfter, ...]
    rankings: tuple[Mapping[str, Any], ...] = ()
    """Audits of rankings by names of two groups, before and after; the verdict does not depend on them."""
    notes: tuple[str, ...] = ()
    alpha: float = 0.05
    record: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "model": self.model,
            "transforms": list(self.transforms),
            "rank": self.rank,
            "width": self.width,
            "verdict": self.verdict.word,
            "reasons": list(self.verdict.reasons),
            "rule": RULE,
            "alpha": self.alpha,
            "tests": [{**asdict(row), "turned": row.flipped(self.alpha)} for row in self.rows],
            "held_out": [{**asdict(row), "turned": row.flipped(self.alpha)} for row in self.held_out],
            "held_out_words": {
                test: {k: list(v) for k, v in words.items()} for test, words in self.words.items()
            },
            "without_held_out": list(self.without_held_out),
            "recovered": [one.to_json() for one in self.recovered],
            "cost": [one.to_json() for one in self.cost],
            "rankings": [dict(one) for one in self.rankings],
            "notes": list(self.notes),
            **self.record,
        }


ENDING = "held-out"
LEAST = 2
"""The smallest number of words in a set."""


@dataclass(frozen=True, slots=True)
class HeldOut:
    """A test without the words that the transform was fitted on."""

    test: Test
    left_out: tuple[str, ...]
    added: tuple[str, ...]


def held_out_test(test: Test, seen: Collection[str], sides: Sides, spare: Iterable[Pair]) -> HeldOut | str:
    """Return the test restricted to unseen words, or the reason why there is none.

    Args:
        test: the test whose seen words are left out.
        seen: words that the transform was fitted on.
        sides: the words of both ends of the attribute, which determine the side of a set.
        spare: pairs that replace seen words, as many per side as were left out. They are used only if more than half
            of a set was seen (a noun does not belong among names) and the test contains single words.
    """
    unseen = [pair for pair in spare if not set(pair) & set(seen)]
    sets, left_out, added = [], [], []
    for element_set in test.sets:
        kept = tuple(e for e in element_set.elements if e.word not in seen)
        gone = [e.word for e in element_set.elements if e.word in seen]
        lacking = test.context == "word" and 2 * len(kept) < len(element_set)
        more = _spare_words(gone, sides, unseen, element_set) if lacking else ()
        kept += tuple(Element(word, word) for word in more)
        if len({e.word for e in kept}) < LEAST:
            return (
                f"{test.name}: the transform was fitted on {len(set(gone))} words of {element_set.category}"
            )
        left_out += list(dict.fromkeys(gone))
        added += list(more)
        sets.append(ElementSet(element_set.category, kept))
    count = len(test.targets)
    name = f"{test.name} {ENDING}" if left_out else test.name
    held = replace(test, name=name, targets=tuple(sets[:count]), attributes=tuple(sets[count:]))
    return HeldOut(held, tuple(left_out), tuple(added))


def _spare_words(
    gone: list[str], sides: Sides, spare: list[Pair], element_set: ElementSet
) -> tuple[str, ...]:
    """Return as many held-out words from the set's side as the set lost."""
    if not gone:
        return ()
    counts = [len(set(gone) & set(side)) for side in sides]
    if counts[0] == counts[1]:
        return ()
    words = sides_of(spare)[0 if counts[0] > counts[1] else 1]
    present = set(element_set.words)
    return tuple(word for word in words if word not in present)[: len(set(gone))]
