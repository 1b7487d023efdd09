"""The block for a model card: what people read, and below it the same verdicts as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from weatherglass.audit.results import Result
from weatherglass.audit.verdict import Verdict
from weatherglass.report import statements
from weatherglass.report.paper import model_card
from weatherglass.storage.printable import printable_json

START, END = "<!-- weatherglass:start -->", "<!-- weatherglass:end -->"
"""What stands around the block, so that a later run can take its place."""
FORMAT = 2
"""Raised when a name in the JSON changes its meaning."""
OF_VERDICT = (
    *("topic", "model", "metric", "outcome", "limit", "check", "found", "effect_size", "ci_low", "ci_high"),
    *("p", "p_adjusted", "p_random", "tests", "measured", "marked", "fragile", "family"),
)


def model_card_block(
    results: Sequence[Result], record: Mapping[str, Any], verdicts: Sequence[Verdict] | None = None
) -> str:
    """Return Markdown between two comments; its last part is a fenced block of JSON (docs/gate.md)."""
    if verdicts is None:
        verdicts = [Verdict.from_json(one) for one in record.get("verdicts", [])]
    content = {
        "weatherglass": record.get("weatherglass"),
        "format": FORMAT,
        "date": record.get("finished"),
        "alpha": record.get("settings", {}).get("alpha"),
        "models": [
            {name: entry.get(name) for name in ("model", "options", "identity", "resumable")}
            for entry in record.get("models", [])
        ],
        "verdicts": [
            {
                **{name: getattr(one, name) for name in OF_VERDICT},
                "sentence": statements.sentence(one, _alpha(record)),
            }
            for one in verdicts
        ],
    }
    machine = printable_json(json.dumps(content, indent=1, ensure_ascii=False))
    machine = machine.replace("```", "\\u0060\\u0060\\u0060")
    people = model_card(results, record, verdicts)
    return f"{START}\n{people}\n```json weatherglass\n{machine}\n```\n{END}\n"


def _alpha(record: Mapping[str, Any]) -> float:
    return float(record.get("settings", {}).get("alpha", 0.05))


def put_into(card: str, block: str) -> str:
    """The text of a model card with the block in place of an earlier one, else at its end."""
    before, start, rest = card.partition(START)
    _, end, after = rest.partition(END)
    if start and end:
        return before + block.rstrip("\n") + after
    return (card.rstrip("\n") + "\n\n" if card.strip() else "") + block
