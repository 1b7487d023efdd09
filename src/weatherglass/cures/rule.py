"""The verdict on a cure, by a rule that is printed with it: removed, hidden, not removed (docs/methods 14)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weatherglass.cures.estimate import BeforeAfter

REMOVED, HIDDEN, NOT_REMOVED, CANNOT_TELL = "removed", "hidden", "not removed", "cannot tell"
KEPT_SHARE = 0.5
RETAINED_SHARE = 0.25

RULE = (
    "Cannot tell: no association is significant before, on words that the transform never saw. "
    "Not removed: on these words d after, summed in the direction that each test had before, is more than "
    f"{100 * KEPT_SHARE:.0f} % of what it was; or a difference between the two ends is significant after, by any "
    "metric (Holm over them), in the old direction or turned. "
    "Hidden: otherwise, if a classifier, clusters or neighbours still recover more than "
    f"{100 * RETAINED_SHARE:.0f} % of what they did above chance before, by the low end of the interval. "
    "Removed: otherwise."
)


@dataclass(frozen=True, slots=True)
class Row:
    """One test and metric before and after."""

    test: str
    metric: str
    is_effect_size: bool
    signed: bool
    before: float
    """Bias: the value less that without bias; for d, d."""
    after: float
    p_before: float | None
    p_after: float | None
    p_after_holm: float | None
    low: float | None
    """Of the paired change of the value."""
    high: float | None
    p_change: float | None
    value_before: float
    value_after: float
    units: int
    contrast: bool
    """Whether its p is about a difference between the two ends of the attribute; MAC's is not."""
    optimised: bool
    """Whether the transform makes this metric small by construction."""

    @property
    def turned(self) -> bool:
        """Whether it is significant after in the other direction than before."""
        return (
            self.signed and self.before * self.after < 0 and self.p_after is not None and self.p_after <= 0.05
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """A word, and why."""

    word: str
    reasons: tuple[str, ...]


def verdict(
    rows: Sequence[Row], every_row: Sequence[Row], recovered: Sequence[BeforeAfter], alpha: float = 0.05
) -> Verdict:
    """The verdict on held-out rows and recoveries; a turned sign in any row is among the reasons."""
    shown = [row for row in rows if row.p_before is not None and row.p_before <= alpha]
    effects = [row for row in shown if row.is_effect_size]
    turned = turned_sentences(every_row)
    if not effects:
        return Verdict(CANNOT_TELL, ("no association of d is significant before on these words", *turned))
    kept = kept_share(effects)
    still = [
        row for row in rows if row.contrast and row.p_after_holm is not None and row.p_after_holm <= alpha
    ]
    reasons = [
        f"d keeps {_percent(kept)} of what it was, over {counted(len(effects), 'test')} that showed it before"
    ]
    if still:
        named = ", ".join(f"{row.test} by {row.metric}" for row in still[:3])
        reasons.append(f"significant after Holm: {named}{', …' if len(still) > 3 else ''}")
    if kept > KEPT_SHARE or still:
        return Verdict(NOT_REMOVED, (*reasons, *turned))
    left = [one for one in recovered if (one.retained_low or 0.0) > RETAINED_SHARE]
    if not left:
        nothing = f"nothing recovers more than {100 * RETAINED_SHARE:.0f} % of what was above chance"
        return Verdict(REMOVED, (*reasons, nothing, *turned))
    reasons += [
        f"{one.name}: {one.after.value:.2f} after, {one.before.value:.2f} before; "
        f"{100 * (one.retained or 0):.0f} % of what was above chance is left"
        for one in left
    ]
    return Verdict(HIDDEN, (*reasons, *turned))


def kept_share(effects: Sequence[Row]) -> float:
    """Σ d after in the direction of before, over Σ |d| before."""
    total = sum(abs(row.before) for row in effects)
    return sum(row.after if row.before > 0 else -row.after for row in effects) / total


def turned_sentences(rows: Sequence[Row]) -> tuple[str, ...]:
    """One sentence for each effect size that was turned around."""
    return tuple(
        f"{row.test}: d turned from {_d(row.before)} to {_d(row.after)}; a turned sign is an association in the "
        "other direction, no cure"
        for row in rows
        if row.is_effect_size and row.turned
    )


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %".replace("-", "−")


def _d(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def counted(number: int, noun: str) -> str:
    """1 test, 2 tests."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
