"""Judge a ranking audit by conditions on its comparisons, such as `impact_ratio_high < 0.8`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields

from weatherglass.gate.conditions import Condition, parse
from weatherglass.ranking.change import RankingComparison
from weatherglass.ranking.compare import COLUMNS, OVERALL, GroupComparison
from weatherglass.ranking.ranking import Ranking
from weatherglass.stats import Outcome
from weatherglass.stats.selection import FourFifths

COLUMN_KINDS: Mapping[str, str] = {
    each.name: "number" if str(each.type).startswith(("float", "int")) else "text"
    for each in fields(GroupComparison)
}
"""The names that a condition may use, and whether each is a number or a text."""
WORDS: Mapping[str, Collection[str]] = {
    "outcome": tuple(map(str, Outcome)),
    "four_fifths": (*map(str, FourFifths), ""),
}
"""The texts that a column can have, for columns with a fixed list."""


def ranking_conditions(fail_if: Sequence[str]) -> list[Condition]:
    """Return the conditions of a command.

    Raises:
        GateError: if an expression cannot be understood.
    """
    return [parse(expression, COLUMN_KINDS, WORDS) for expression in fail_if]


@dataclass(frozen=True, slots=True)
class RankingBreach:
    """A reason for the gate to fail."""

    comparison: GroupComparison | None
    """The comparison that meets the condition; None if the condition applies to no comparison."""
    reason: str

    def __str__(self) -> str:
        return self.reason


def judge_ranking(conditions: Sequence[Condition], ranking: Ranking) -> list[RankingBreach]:
    """Return every comparison that meets a condition, or for which it cannot be decided, with the reason.

    A condition is checked for the comparisons over all contexts, because many topics would give false alarms. A
    condition that names the column `topic` is checked for all comparisons.
    """
    breaches: list[RankingBreach] = []
    for condition in conditions:
        rows = ranking.comparisons if "topic" in condition.columns else ranking.overall
        # A comparison with the rest has no impact ratio, and the pairs answer for it.
        asked = [
            one for one in rows if not (one.impact_ratio is None and _asks_ratio(condition) and len(rows) > 1)
        ]
        breaches += [breach for one in asked if (breach := _breach(condition, one))]
        if not asked:
            reason = (
                f"{condition.source}: no comparison has the numbers of this condition, so nothing was judged"
            )
            breaches.append(RankingBreach(None, reason))
    return breaches


def judge_changes(comparison: RankingComparison, after: Ranking) -> list[RankingBreach]:
    """Return every difference over all topics that grew significantly, with its comparison in the later audit."""
    rows = {(one.model, one.x, one.y): one for one in after.overall}
    return [
        RankingBreach(
            rows.get((one.model, one.x, one.y)),
            f"{one.x} and {one.y} on {one.model}: the difference of mean ranks was {one.before:.3f} and is "
            f"{one.after:.3f} (corrected p = {one.p_adjusted:.2g})",
        )
        for one in comparison.worse
    ]


def _asks_ratio(condition: Condition) -> bool:
    return any(name.startswith("impact_ratio") for name in condition.columns)


def _breach(condition: Condition, row: GroupComparison) -> RankingBreach | None:
    values = {name: getattr(row, name) for name in COLUMNS}
    texts = {name: " ".join(value) for name, value in values.items() if isinstance(value, tuple)}
    holds = condition.decide({**values, **texts})
    if holds is False:
        return None
    shown = ", ".join(f"{name} = {_shown(values[name])}" for name in condition.columns)
    topic = "" if row.topic == OVERALL else f", {row.topic}"
    cause = "" if holds else ", which cannot be decided: a number is missing"
    return RankingBreach(
        row, f"{row.x} and {row.y} on {row.model}{topic}: {condition.source}{cause}: {shown}"
    )


def _shown(value: object) -> str:
    if value is None:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float) else f"{value}"
