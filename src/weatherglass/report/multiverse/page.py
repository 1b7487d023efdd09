"""Write the page of a multiverse as one self-contained file, index.html, and the specification curves as figures.

The curve (Simonsohn et al. 2020) shows the sorted d of all specifications above their choices.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from weatherglass.catalogue.names import capitalised, model_name, topic_name
from weatherglass.multiverses.multiverse import Multiverse
from weatherglass.report.figures import FILL, save_figure
from weatherglass.report.kit import render
from weatherglass.report.measures import INK, LINE, SOFT
from weatherglass.report.multiverse import (
    largest_shares,
    lists_of,
    named_targets,
    omissions,
    sorted_by_size,
)
from weatherglass.report.numbers import effect, p_value, percent
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.printable import one_line
from weatherglass.warnings import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAGE = "index.html"
OUTCOMES = {
    "robust": ("is robust to every choice", "are robust to every choice"),
    "hangs": ("depends on a choice", "depend on a choice"),
    "somewhere": ("is shown only in some specifications", "are shown only in some specifications"),
    "not shown": ("is not shown", "are not shown"),
}
"""The predicate of the headline for one list and for several, by kind of conclusion."""
LEFT, WIDTH, ABOVE, ROW, TOP = 190, 720, 150, 13, 10
"""The dimensions of a curve in the page in pixels: labels, whole width, height of the part with d, height of a
choice's row, margin.
"""
LONGEST, ROW_INCHES = 34, 0.13
"""The number of letters of a level's name in a figure, and the height of its row in inches."""


def curve_name(model: str, name: str) -> str:
    """Return the name of a curve's file, without its suffix."""
    return re.sub(r"[^\w-]+", "-", f"curve-{model}-{name}").strip("-")[:150]


def write_page(multiverse: Multiverse, folder: Path) -> None:
    """Write the curves as files and the page."""
    for block, own in lists_of(multiverse.topics):
        write_curve(block, own, folder / f"{curve_name(block['model'], block['list'])}.svg", multiverse.alpha)
    write_whole(folder / PAGE, page(multiverse))


def page(multiverse: Multiverse) -> str:
    """Return the page, in which every text is escaped."""
    blocks = list(lists_of(multiverse.topics))
    values = {
        "headline": _headline([block for block, _ in blocks]),
        "alpha": f"{multiverse.alpha:g}",
        "level": percent(1 - multiverse.alpha),
        "several": len({block["model"] for block, _ in blocks}) > 1,
        "count": sum(block["specification_count"] for block, _ in blocks),
        "failures": multiverse.failures,
        "agreement": multiverse.agreement,
        "lists": [
            {
                "place": f"list-{number}",
                "file": curve_name(block["model"], block["list"]),
                "topic": capitalised(topic_name(block["topic"])),
                "name": block["list"],
                "targets": named_targets(block["targets"]),
                "model": model_name(block["model"]),
                "sentence": block["conclusion"]["sentence"],
                "median": block["median_d"],
                "same_sign": round(100 * block["share_same_sign"]),
                "p": block["multiverse_p"],
                "p_corrected": block["multiverse_p_holm"],
                "p_largest": block["max_t_p"],
                "p_largest_corrected": block["max_t_p_holm"],
                "changes_with": largest_shares(block["decomposition"]),
                "omissions": [capitalised(line) for line in omissions(block)],
                "curve": drawn_curve(block, own, multiverse.alpha),
            }
            for number, (block, own) in enumerate(blocks)
        ],
    }
    return render(__package__, "multiverse.html", values, styles=["multiverse.css"])


def _headline(blocks: Sequence[Mapping[str, Any]]) -> str:
    """Return how many lists have each conclusion, starting with the most frequent."""
    counts = Counter(block["conclusion"]["kind"] for block in blocks)
    if not counts:
        return "No list could be computed."
    parts = [f"{count} {OUTCOMES[kind][count > 1]}" for kind, count in counts.most_common()]
    return f"Of {counted(len(blocks), 'word list')}, {', '.join(parts)}."


def drawn_curve(
    block: Mapping[str, Any], specifications: Sequence[Mapping[str, Any]], alpha: float
) -> Markup:
    """Return the specification curve as SVG in the page's colours; all dots of a kind are one path, which keeps it
    small.
    """
    shown = sorted_by_size(specifications)
    levels = [(choice, name) for choice, names in block["choices"].items() for name in names]
    reached = [
        0.0,
        *(one[key] for one in shown for key in ("d", "ci_low", "ci_high") if one[key] is not None),
    ]
    low, high = min(reached), max(reached)
    step = (WIDTH - LEFT - 10) / max(1, len(shown))
    xs = [LEFT + step * (place + 0.5) for place in range(len(shown))]

    def y(d: float) -> float:
        return float(TOP + ABOVE * (high - d) / ((high - low) or 1.0))

    dots: dict[str, list[str]] = {"unsure": [], "sure": [], "sure below": []}
    for x, one in zip(xs, shown, strict=True):
        kind = "unsure" if one["p"] > alpha else "sure below" if one["d"] < 0 else "sure"
        dots[kind].append(f"M{x:.1f} {y(one['d']):.1f}h0")
    ends = [
        f"M{x:.1f} {y(one['ci_low']):.1f}V{y(one['ci_high']):.1f}"
        for x, one in zip(xs, shown, strict=True)
        if one["ci_low"] is not None
    ]
    parts = [f'<path class="ends" d="{"".join(ends)}"/>']
    for d in sorted({low, 0.0, high}):
        parts.append(
            f'<line class="{"grid" if d else "zero"}" x1="{LEFT}" x2="{WIDTH}" y1="{y(d):.1f}" y2="{y(d):.1f}"/>'
        )
        parts.append(
            f'<text class="level" x="{LEFT - 8}" y="{y(d) + 4:.1f}">{effect(d) if d else "d = 0"}</text>'
        )
    parts += [f'<path class="dots {kind}" d="{"".join(marks)}"/>' for kind, marks in dots.items() if marks]
    parts += [
        f'<circle cx="{x:.1f}" cy="{y(one["d"]):.1f}" r="5"/>'
        for x, one in zip(xs, shown, strict=True)
        if one["published"]
    ]
    for row, (choice, name) in enumerate(levels):
        at = TOP + ABOVE + 22 + ROW * row
        marks = [f"M{x:.1f} {at - 7}v6" for x, one in zip(xs, shown, strict=True) if one.get(choice) == name]
        label = f"{choice}: {name}"
        label = label if len(label) <= 30 else f"{label[:29]}…"
        parts.append(f'<text class="level choice" x="{LEFT - 8}" y="{at}">{escape(label)}</text>')
        parts.append(f'<path class="ticks" d="{"".join(marks)}"/>')
    height = TOP + ABOVE + 22 + ROW * len(levels)
    spoken = escape(headline(block).replace("\n", ": "))
    return Markup(  # all texts were escaped above
        f'<svg class="curve" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{spoken}">{"".join(parts)}</svg>'
    )


def write_curve(
    block: Mapping[str, Any], specifications: Sequence[Mapping[str, Any]], path: Path, alpha: float
) -> None:
    """Write the curve of one word list on one model as svg, png or pdf, by the suffix of the path."""
    from matplotlib import rc_context

    settings: Any = {"svg.hashsalt": "weatherglass", "font.size": 7, "axes.linewidth": 0.6}
    with rc_context(settings):
        save_figure(curve(block, specifications, alpha), path, path.suffix.removeprefix("."))


def curve(block: Mapping[str, Any], specifications: Sequence[Mapping[str, Any]], alpha: float) -> Figure:
    """Draw d with its intervals and, below them, a tick in the row of each chosen level.

    Dots with p at most alpha are coloured; published settings have a ring.
    """
    from matplotlib.figure import Figure

    shown = sorted_by_size(specifications)
    levels = [(choice, name) for choice, names in block["choices"].items() for name in names]
    figure = Figure(figsize=(6.4, 1.9 + ROW_INCHES * len(levels)))
    above, below = figure.subplots(
        2,
        1,
        sharex=True,
        gridspec_kw={"height_ratios": [1.7, max(0.4, ROW_INCHES * len(levels))], "hspace": 0.05},
    )
    above.axhline(0, color=SOFT, linewidth=0.6)
    ends = [(p, one["ci_low"], one["ci_high"]) for p, one in enumerate(shown) if one["ci_low"] is not None]
    if ends:
        places, lows, highs = zip(*ends, strict=True)
        above.vlines(places, lows, highs, color=LINE, linewidth=0.8, rasterized=True)
    colours = [FILL["**", one["d"] < 0] if one["p"] <= alpha else SOFT for one in shown]
    above.scatter(range(len(shown)), [one["d"] for one in shown], s=2.2, c=colours, linewidths=0)
    for place, one in enumerate(shown):
        if one["published"]:
            above.plot(
                [place], [one["d"]], "o", markersize=7, markerfacecolor="none", color=INK, markeredgewidth=0.9
            )
    place_of = {level: row for row, level in enumerate(levels)}
    ticks = [
        (place, place_of[choice, one[choice]])
        for place, one in enumerate(shown)
        for choice in block["choices"]
        if (choice, one[choice]) in place_of
    ]
    below.plot(
        *zip(*ticks, strict=True), "|", markersize=3.4, color=INK, markeredgewidth=0.5, rasterized=True
    )
    below.set_yticks(range(len(levels)), [one_line(f"{choice}: {name}")[:LONGEST] for choice, name in levels])
    below.set_ylim(len(levels) - 0.5, -0.5)
    below.set_xticks([])
    for label in below.get_yticklabels():
        label.set_parse_math(False)
    above.set_ylabel("d")
    above.set_title(headline(block), fontsize=7.5, loc="left", color=INK, parse_math=False)
    for axes in (above, below):
        axes.tick_params(length=0, labelcolor=INK)
        axes.spines[:].set_visible(False)
    return figure


def headline(block: Mapping[str, Any]) -> str:
    """Return the word list, the model, and the most important numbers."""
    subject = one_line(f"{block['topic']}: {block['list']} ({block['targets']}), {block['model']}")
    return (
        f"{subject}\n"
        f"{block['specification_count']} specifications, median d {effect(block['median_d'])}, "
        f"{block['positive']} positive, multiverse p {p_value(block['multiverse_p'])}, "
        f"maxT p {p_value(block['max_t_p'])}"
    )
