"""Write the texts that people copy from a ranking audit: sentences, a methods paragraph, tables, a model card and the
impact statement.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weatherglass.catalogue.names import capitalised, model_names
from weatherglass.ranking.change import RankingComparison
from weatherglass.ranking.compare import COLUMNS, OVERALL, QUERIES, REST, GroupComparison
from weatherglass.ranking.ranking import Ranking
from weatherglass.report.numbers import effect, interval, p_value, percent
from weatherglass.report.ranking import (
    headline,
    pieces_sentence,
    selection_sentence,
    sentence,
    summary,
)
from weatherglass.report.writing import in_markdown, markdown_row
from weatherglass.storage.printable import defused, printable_json

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
    return "\n".join(_statement_lines(content)) + "\n"


def _statement_lines(content: Mapping[str, Any]) -> Iterator[str]:
    top = content["top"]
    selected = "" if top is None else f"the top {percent(top)}" if top < 1 else f"the first {top:g} places"
    groups = "; ".join(f"{_cell(name)}: {count}" for name, count in content["groups"].items())
    yield "# Impact statement"
    yield ""
    yield content["caution"]
    yield ""
    yield "| what | value |"
    yield "|---|---|"
    yield from (
        f"| model | {_cell(one['model'])} {_shortened_hash(one['sha256'])} |" for one in content["models"]
    )
    texts = f"{content['queries']} queries, {content['passages']} passages"
    if not content["queries"]:
        texts = "a table of scores"
    yield f"| texts | {texts} {_shortened_hash(content['materials_sha256'])} |"
    yield f"| names | {groups} |"
    yield f"| selected | {selected} of each query's pool |"
    yield f"| date | {content['finished']} |"
    yield f"| software | weatherglass {content['weatherglass']} |"
    yield ""
    yield f"{content['rule']} Intervals are at level {percent(content['level'])}, with names as units."
    yield ""
    yield from _selection_table(content["selection"], len(content["models"]) > 1)


def _selection_table(rows: Sequence[Mapping[str, Any]], several: bool) -> Iterator[str]:
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


def _shortened_hash(digest: str) -> str:
    return f"(SHA-256 {digest[:16]}…)" if digest else ""


FORMAT = 1
"""The version of the card's JSON format; increase it when the meaning of a field changes."""
OF_COMPARISON = (
    *("model", "topic", "x", "y", "outcome", "limit", "win_rate", "ci_low", "ci_high", "p", "p_adjusted"),
    *("p_random", "selected_x", "selected_y", "impact_ratio", "impact_ratio_low", "impact_ratio_high"),
    *("four_fifths", "win_rate_pieces", "p_pieces"),
)
START, END = "<!-- weatherglass-ranking:start -->", "<!-- weatherglass-ranking:end -->"
"""The comments around the block, so that a later audit can replace it."""


def sentences(ranking: Ranking) -> list[str]:
    """Return what may be written of every two groups and model: the preference, the selection and the pieces."""
    said = []
    for _, label, rows in _by_model(ranking):
        for row in rows:
            if row.topic == OVERALL and row.y != REST:
                parts = [f"{label}: {sentence(row, rows, ranking.alpha)}"]
                if row.unit != QUERIES:
                    parts.append(selection_sentence(row, ranking.record.get("settings", {})))
                    parts += filter(None, [pieces_sentence(row)])
                said.append(" ".join(parts))
    return [*said, CAUTION] if said else []


def methods_paragraph(ranking: Ranking) -> str:
    """Return a methods paragraph on what was ranked and how p and the intervals are computed."""
    record, first = ranking.record, ranking.comparisons[0]
    materials, settings = record.get("materials", {}), record.get("settings", {})
    models = list(dict.fromkeys(one.model for one in ranking.comparisons))
    asked = f"{first.queries} queries"
    if "passages" in materials:
        asked += f" and {len(materials['passages'])} passages"
    groups = "; ".join(f"{one['name']} ({len(one['names'])})" for one in materials.get("groups", ()))
    level = percent(1 - ranking.alpha)
    start = (
        f"We audited the rankings of {', '.join(model_names(models))} with weatherglass "
        f"{record.get('weatherglass', '')} on {asked}."
    )
    family = "Outcomes use Holm’s correction over topics and pairs of groups."
    if first.unit == QUERIES:
        return (
            f"{start} Each passage is given in several variants. The win rate of a variant is the share of queries "
            "for which it is more similar. p is computed by exchanging two variants within queries, and the intervals "
            f"are at level {level}. {family}"
        )
    top = settings.get("top", 0.1)
    pool = f"among the top {percent(top)}" if top < 1 else f"among the first {top:g} places"
    return (
        f"{start} Every passage was ranked under every name of each group ({groups}). The win rate is the share of "
        "comparisons of the same text in which a name of one group outranks a name of the other. p is computed by "
        f"exchanging group labels over names, and the intervals are at level {level}. A second p treats queries and "
        f"passages as random. A copy is selected if it is {pool} of its query’s pool; the impact ratio is the "
        f"selection rate of the less selected group divided by that of the other, with names as units. {family}"
    )


def markdown(ranking: Ranking) -> str:
    """Return a table with a row per comparison."""
    return "\n".join(_table(ranking, ranking.comparisons)) + "\n"


def comma_separated(ranking: Ranking) -> str:
    """Return every column of every comparison as CSV, in which no cell can start a formula."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in ranking.comparisons:
        cells = [getattr(one, name) for name in COLUMNS]
        texts = (" ".join(map(str, cell)) if isinstance(cell, tuple) else cell for cell in cells)
        writer.writerow(defused(cell) if isinstance(cell, str) else cell for cell in texts)
    return out.getvalue()


def model_card_block(ranking: Ranking) -> str:
    """Return Markdown between two comments; its last part is a fenced block of JSON (docs/gate.md)."""
    pairs = [one for one in ranking.overall if one.y != REST]
    content = {
        "weatherglass": ranking.record.get("weatherglass"),
        "format": FORMAT,
        "date": ranking.record.get("finished"),
        "alpha": ranking.alpha,
        "top": ranking.record.get("settings", {}).get("top"),
        "materials_sha256": ranking.record.get("materials", {}).get("sha256"),
        "models": ranking.record.get("models", []),
        "comparisons": [{name: getattr(one, name) for name in OF_COMPARISON} for one in pairs],
    }
    machine = printable_json(json.dumps(content, indent=1, ensure_ascii=False))
    # Escaped, so that a name can end neither the fence nor the block.
    machine = machine.replace("`", "\\u0060").replace("<", "\\u003c")
    people = [
        "## Bias: the same text under another name",
        "",
        *(f"{in_markdown(line)}\n" for line in _headlines(ranking)),
        *_table(ranking, pairs),
        "",
        in_markdown(CAUTION),
        "",
        in_markdown(methods_paragraph(ranking)),
    ]
    text = "\n".join(people)
    return f"{START}\n{text}\n\n```json weatherglass-ranking\n{machine}\n```\n{END}\n"


def pull_request_summary(
    ranking: Ranking, reasons: Sequence[str], gated: bool, comparison: RankingComparison | None = None
) -> str:
    """Return Markdown for a comment or a CI job, with pass or fail, the reasons, and the comparisons over all topics.

    Args:
        ranking: the audit.
        reasons: the reasons why the gate failed.
        gated: whether there was a gate.
        comparison: the comparison with an earlier audit.
    """
    head = "" if not gated else ": the gate failed" if reasons else ": the gate passed"
    lines = [f"### Rankings{head}", "", *(f"- {in_markdown(reason)}" for reason in reasons)]
    lines += [""] if reasons else []
    lines += [f"{in_markdown(line)}\n" for line in _headlines(ranking)]
    lines += _table(ranking, [one for one in ranking.overall if one.y != REST])
    if comparison is not None:
        said = summary(comparison)
        lines += ["", in_markdown(f"{said[:1].upper()}{said[1:]}")]
    return "\n".join([*lines, "", in_markdown(CAUTION), "Made with weatherglass."]) + "\n"


def _by_model(ranking: Ranking) -> Iterator[tuple[str, str, list[GroupComparison]]]:
    models = list(dict.fromkeys(one.model for one in ranking.comparisons))
    for model, label in zip(models, model_names(models), strict=True):
        yield model, label, [one for one in ranking.comparisons if one.model == model]


def _headlines(ranking: Ranking) -> Iterator[str]:
    for _, label, rows in _by_model(ranking):
        overall = [one for one in rows if one.topic == OVERALL]
        yield f"{label}: {sentence(headline(overall), rows, ranking.alpha)}"


def _table(ranking: Ranking, rows: Sequence[GroupComparison]) -> Iterator[str]:
    labels = {model: label for model, label, _ in _by_model(ranking)}
    several, topics = len(labels) > 1, len({one.topic for one in rows}) > 1
    heads = [*(["Model"] if several else []), *(["Topic"] if topics else []), "X", "Y", "Win rate of X"]
    heads += [f"{percent(1 - ranking.alpha)} interval", "Corrected *p*", "Impact ratio", "Four-fifths rule"]
    yield markdown_row([*heads, "Outcome"])
    yield markdown_row(["---"] * (len(heads) + 1))
    for one in rows:
        topic = "all topics" if one.topic == OVERALL else capitalised(one.topic)
        ratio = f"{effect(one.impact_ratio)} {interval(one.impact_ratio_low, one.impact_ratio_high)}".strip()
        cells: list[Any] = [
            *([labels[one.model]] if several else []),
            *([topic] if topics else []),
            *(one.x, one.y, effect(one.win_rate), interval(one.ci_low, one.ci_high) or "–"),
            *(p_value(one.p_adjusted), ratio, one.four_fifths or "–", one.outcome),
        ]
        yield markdown_row([in_markdown(cell) for cell in cells])
