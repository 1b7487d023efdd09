"""The specification curve (Simonsohn et al. 2020): d of every specification, sorted, above the choices that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weatherglass.report.figures import FILL, save_figure
from weatherglass.report.measures import INK, LINE, SOFT
from weatherglass.report.numbers import effect, p_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LONGEST = 34
"""Letters of a level's name that are shown."""
ROW = 0.13
"""Height of a level's row in inches."""
WIDTH = 80
HEIGHT = 11
"""Of the curve as text: columns and rows."""


def write_curve(
    block: Mapping[str, Any], specifications: Sequence[Mapping[str, Any]], path: Path, alpha: float
) -> None:
    """Write the curve of one word list on one model; the end of the name says whether as svg, png or pdf."""
    from matplotlib import rc_context

    settings: Any = {"svg.hashsalt": "weatherglass", "font.size": 7, "axes.linewidth": 0.6}
    with rc_context(settings):
        save_figure(curve(block, specifications, alpha), path, path.suffix.removeprefix("."))


def curve(block: Mapping[str, Any], specifications: Sequence[Mapping[str, Any]], alpha: float) -> Figure:
    """Draw d with intervals above, a tick in each chosen level's row below.

    Dots with p at most alpha are coloured; published settings have a ring.
    """
    from matplotlib.figure import Figure

    shown = sorted_by_size(specifications)
    levels = [(choice, name) for choice, names in block["choices"].items() for name in names]
    figure = Figure(figsize=(6.4, 1.9 + ROW * len(levels)))
    above, below = figure.subplots(
        2, 1, sharex=True, gridspec_kw={"height_ratios": [1.7, max(0.4, ROW * len(levels))], "hspace": 0.05}
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
    below.set_yticks(range(len(levels)), [f"{choice}: {name}"[:LONGEST] for choice, name in levels])
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


def sorted_by_size(specifications: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the specifications that have a d, the smallest first."""
    return sorted((one for one in specifications if one["d"] is not None), key=lambda one: one["d"])


def headline(block: Mapping[str, Any]) -> str:
    """The list, the model, and the numbers that matter most."""
    return (
        f"{block['topic']}: {block['list']} ({block['targets']}), {block['model']}\n"
        f"{block['specification_count']} specifications, median d {effect(block['median_d'])}, "
        f"{block['positive']} positive, joint p {p_value(block['multiverse_p'])}, maxT p {p_value(block['max_t_p'])}"
    )


def curve_as_text(specifications: Sequence[Mapping[str, Any]], alpha: float, width: int = WIDTH) -> list[str]:
    """Return the curve in characters: sorted specifications in columns, d upwards.

    ● has p at most alpha, · a larger p; O is a published setting.
    """
    shown = sorted_by_size(specifications)
    if not shown:
        return []
    columns = min(width - 7, len(shown))
    groups = [shown[len(shown) * c // columns : len(shown) * (c + 1) // columns] for c in range(columns)]
    means = [sum(one["d"] for one in group) / len(group) for group in groups]
    marks = [
        "O" if any(o["published"] for o in g) else "●" if any(o["p"] <= alpha for o in g) else "·"
        for g in groups
    ]
    low, high = min(0.0, *means), max(0.0, *means)
    step = (high - low) / (HEIGHT - 1) or 1.0
    lines = []
    for row in range(HEIGHT - 1, -1, -1):
        level = low + row * step
        is_zero = abs(level) <= step / 2
        cells = [
            mark if round((mean - low) / step) == row else ("─" if is_zero else " ")
            for mean, mark in zip(means, marks, strict=True)
        ]
        lines.append(f"{effect(0.0 if is_zero else level):>5}  {''.join(cells)}".rstrip())
    return lines
