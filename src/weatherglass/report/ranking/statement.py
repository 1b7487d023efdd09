"""Write the impact statement of a ranking audit, with what was tested, selection rates, impact ratios, dates and
hashes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weatherglass.ranking.compare import OVERALL, REST, GroupComparison
from weatherglass.ranking.ranking import Ranking
from weatherglass.report.numbers import effect, interval, percent

CAUTION = (
    "This is a test with made-up candidates: the same texts under different names. It is not a legal audit of real "
    "applicants."
)
RULE = (
    "An impact ratio is the selection rate of the less selected group divided by that of the other. It fails the "
    "four-fifths rule if the whole interval lies below 0.8 and the difference is significant when names "
    "are exchanged between the groups."
)


def statement(ranking: Ranking) -> dict[str, Any]:
    """Return the statement as plain values, in the form of statement.json."""
    record = ranking.record
    materials = record.get("materials", {})
    settings = record.get("settings", {})
    pairs = [one for one in ranking.comparisons if one.y != REST]
    return {
        "caution": CAUTION,
        "rule": RULE,
        "finished": record.get("finished", ""),
        "weatherglass": record.get("weatherglass", ""),
        "models": [{"model": one["model"], "sha256": one["identity"]} for one in record.get("models", ())]
        or [{"model": name, "sha256": ""} for name in dict.fromkeys(one.model for one in pairs)],
        "materials_sha256": materials.get("sha256", ""),
        "queries": len(materials.get("queries", ())),
        "passages": len(materials.get("passages", ())),
        "groups": {group["name"]: len(group["names"]) for group in materials.get("groups", ())},
        "top": settings.get("top"),
        "level": 1 - ranking.alpha,
        "selection": [_selection(one) for one in pairs],
    }


def _selection(one: GroupComparison) -> dict[str, Any]:
    return {
        "model": one.model,
        "topic": one.topic,
        "groups": [one.x, one.y],
        "selection_rates": [one.selected_x, one.selected_y],
        "impact_ratio": one.impact_ratio,
        "low": one.impact_ratio_low,
        "high": one.impact_ratio_high,
        "four_fifths": one.four_fifths,
    }


def statement_markdown(content: Mapping[str, Any]) -> str:
    """Return the statement as a page of Markdown."""
    return "\n".join(_lines(content)) + "\n"


def _lines(content: Mapping[str, Any]) -> Iterator[str]:
    top = content["top"]
    selected = "" if top is None else f"the top {percent(top)}" if top < 1 else f"the first {top:g} places"
    groups = "; ".join(f"{_cell(name)}: {count}" for name, count in content["groups"].items())
    yield "# Impact statement"
    yield ""
    yield content["caution"]
    yield ""
    yield "| what | value |"
    yield "|---|---|"
    yield from (f"| model | {_cell(one['model'])} {_short(one['sha256'])} |" for one in content["models"])
    texts = f"{content['queries']} queries, {content['passages']} passages"
    if not content["queries"]:
        texts = "a table of scores"
    yield f"| texts | {texts} {_short(content['materials_sha256'])} |"
    yield f"| names | {groups} |"
    yield f"| selected | {selected} of each query's pool |"
    yield f"| date | {content['finished']} |"
    yield f"| software | weatherglass {content['weatherglass']} |"
    yield ""
    yield f"{content['rule']} Intervals are at level {percent(content['level'])}, with names as units."
    yield ""
    yield from _table(content["selection"], len(content["models"]) > 1)


def _table(rows: Sequence[Mapping[str, Any]], several: bool) -> Iterator[str]:
    heads = [
        *(["model"] if several else []),
        "topic",
        "groups",
        "selection rates",
        "impact ratio",
        "four-fifths rule",
    ]
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        rates = ", ".join(percent(round(rate, 3)) for rate in row["selection_rates"])
        topic = "all topics" if row["topic"] == OVERALL else row["topic"]
        cells = [
            *([row["model"]] if several else []),
            *(topic, ", ".join(row["groups"]), rates),
            *(f"{effect(row['impact_ratio'])} {interval(row['low'], row['high'])}", row["four_fifths"]),
        ]
        yield f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    """Return a text that cannot end a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def _short(digest: str) -> str:
    return f"(SHA-256 {digest[:16]}…)" if digest else ""
