"""What is known of a cure: associations before and after, on all and on held-out words, recoveries and costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from weatherglass.cures.estimate import BeforeAfter
from weatherglass.cures.rule import RULE, Row, Verdict

FORMAT = 1


@dataclass(frozen=True, slots=True)
class Judgement:
    """All that the page shows."""

    model: str
    transforms: tuple[str, ...]
    rank: int | None
    """How many dimensions were removed; None for a transform of another package."""
    width: int
    verdict: Verdict
    rows: tuple[Row, ...]
    """On the tests as they are."""
    held_out: tuple[Row, ...]
    """On words that the transform never saw."""
    words: Mapping[str, Mapping[str, Sequence[str]]]
    """By held-out test: the words left out and those that came in."""
    without_held_out: tuple[str, ...]
    """Tests that have no held-out form, and why."""
    recovered: tuple[BeforeAfter, ...]
    cost: tuple[BeforeAfter, ...]
    notes: tuple[str, ...] = ()
    alpha: float = 0.05
    record: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
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
            "tests": [{**asdict(row), "turned": row.turned} for row in self.rows],
            "held_out": [{**asdict(row), "turned": row.turned} for row in self.held_out],
            "held_out_words": {
                test: {k: list(v) for k, v in words.items()} for test, words in self.words.items()
            },
            "without_held_out": list(self.without_held_out),
            "recovered": [one.to_json() for one in self.recovered],
            "cost": [one.to_json() for one in self.cost],
            "notes": list(self.notes),
            **self.record,
        }
