"""A small set of sentences and scores in the formats of StereoSet's release; the sentences are made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

LABELS = ("anti-stereotype", "unrelated", "stereotype")


def sentences(terms: int = 6, per_term: int = 4) -> dict[str, Any]:
    """Triples of both kinds, with identifiers such as intrasentence-0-2-stereotype."""
    data = {}
    for kind in ("intrasentence", "intersentence"):
        data[kind] = [
            {
                "id": f"{kind}-{term}-{number}",
                "target": f"term {term}",
                "bias_type": ("gender", "race")[term % 2],
                "context": f"The term {term} was BLANK on day {number}.",
                "sentences": [
                    {
                        "id": f"{kind}-{term}-{number}-{label}",
                        "sentence": f"The term {term} was {label} on day {number}.",
                        "gold_label": label,
                    }
                    for label in LABELS
                ],
            }
            for term in range(terms)
            for number in range(per_term)
        ]
    return {"version": "1.0", "data": data}


def scores(content: dict[str, Any], **by_label: float) -> dict[str, Any]:
    """The same score for all sentences of a label."""
    return {
        kind: [
            {"id": sentence["id"], "score": by_label[sentence["gold_label"].partition("-")[0]]}
            for entry in entries
            for sentence in entry["sentences"]
        ]
        for kind, entries in content["data"].items()
    }


def written(folder: Path, **by_label: float) -> tuple[Path, Path]:
    """The files of sentences and of scores."""
    content = sentences()
    given, scored = folder / "dev.json", folder / "predictions_tiny_LM.json"
    given.write_text(json.dumps(content), encoding="utf-8")
    scored.write_text(json.dumps(scores(content, **by_label)), encoding="utf-8")
    return given, scored
