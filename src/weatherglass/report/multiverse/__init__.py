"""Show a multiverse in the terminal, as a table, on a page and in figures.

The curve (Simonsohn et al. 2020) shows the sorted d of all specifications above their choices.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from weatherglass.catalogue.names import capitalised, model_name, set_name, topic_name
from weatherglass.multiverses.multiverse import Multiverse
from weatherglass.multiverses.specifications import FACTORS
from weatherglass.report.figures import FILL, save_figure
from weatherglass.report.kit import render
from weatherglass.report.layout import (
    DIRECTION_FROM,
    SIZES_FROM,
    Bold,
    Column,
    shortened,
    table_lines,
    widest_name,
    wrapped,
)
from weatherglass.report.measures import INK, LINE, SOFT
from weatherglass.report.numbers import effect, format_effect, format_p, p_value, percent
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.printable import one_line, tsv_line
from weatherglass.warnings import counted

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 80, 11
"""The numbers of columns and rows of a curve in characters."""
MOST_CURVES = 6
"""The number of word lists and models above which each is one row of a table."""


def lines_of(multiverse: Multiverse, width: int = WIDTH, every_list: bool = True) -> Iterator[str]:
    """Yield the curve and the conclusion of each word list and model; by default, many are reduced to a table."""
    blocks = list(lists_of(multiverse.topics))
    if len(blocks) > MOST_CURVES and not every_list:
        yield from _summary([block for block, _ in blocks], width)
    else:
        yield from _in_full(multiverse, width)
    yield from _agreement(multiverse, width)
    for failure in multiverse.failures:
        yield f"failed: {failure['list']} on {failure['model']}: {failure['reason']}"


def _summary(blocks: list[Mapping[str, Any]], width: int) -> Iterator[str]:
    columns = [
        Column("list", shorten="middle", least=14, most=widest_name(width)),
        Column("median d", right=True),
        Column("multiverse p", right=True),
        Column("corrected", right=True),
        Column("same sign", right=True),
        Column("maxT p", right=True, from_width=SIZES_FROM),
        Column("significant", right=True, from_width=SIZES_FROM),
        Column("model", shorten="front", least=12, from_width=DIRECTION_FROM),
    ]
    rows = [
        [
            block["list"],
            format_effect(block["median_d"]),
            format_p(block["multiverse_p"]),
            format_p(block["multiverse_p_holm"]),
            f"{100 * block['share_same_sign']:.0f} %",
            format_p(block["max_t_p"]),
            f"{100 * block['share_significant']:.0f} %",
            model_name(block["model"]),
        ]
        for block in blocks
    ]
    yield from table_lines(columns, rows, width)
    yield from wrapped(
        "multiverse p tests the mean of d over all specifications. Corrected with Holm's method over the "
        "lists of a topic and the topics of a model, it determines the conclusion. The page, or --table, "
        "shows the curves and the choices that d depends on",
        width,
    )
    yield ""


def _in_full(multiverse: Multiverse, width: int) -> Iterator[str]:
    for block, own in lists_of(multiverse.topics):
        topic = capitalised(topic_name(block["topic"]))
        yield Bold(shortened(f"{topic}: {block['list']} ({named_targets(block['targets'])})", width))
        yield f"  {shortened(model_name(block['model']), width - 2, 'front')}"
        yield from _wrapped(block["conclusion"]["sentence"], width)
        yield from curve_as_text(own, multiverse.alpha, min(width, WIDTH))
        yield (
            f"  {block['specification_count']} specifications, median d {effect(block['median_d'])}, "
            f"{100 * block['share_same_sign']:.0f} % share the sign, "
            f"{100 * block['share_significant']:.0f} % significant"
        )
        after = {
            name: f" ({format_p(block[f'{name}_holm'])} after Holm over {block['family']} lists)"
            for name in ("multiverse_p", "max_t_p")
            if block["family"] > 1
        }
        yield from _wrapped(
            f"on the whole: multiverse p {format_p(block['multiverse_p'])}{after.get('multiverse_p', '')}; "
            f"somewhere: maxT p {format_p(block['max_t_p'])}{after.get('max_t_p', '')}",
            width,
        )
        yield from _wrapped(f"d moves with: {largest_shares(block['decomposition'])}", width)
        errors = {
            name: value for name, value in block["squared_standard_errors"].items() if value is not None
        }
        yield from _wrapped(
            f"variance of d over choices {block['decomposition']['variance']:.2f}; squared standard error of one d: "
            + ", ".join(f"{name} {value:.2f}" for name, value in errors.items()),
            width,
        )
        for line in omissions(block):
            yield from _wrapped(line, width)
        if turned := [
            f"{name} {100 * half['turned']:.0f} %" for name, half in block["halves"].items() if half
        ]:
            yield f"  with a random half of the words, the sign flips in: {', '.join(turned)}"
        yield ""


def _agreement(multiverse: Multiverse, width: int) -> Iterator[str]:
    if multiverse.agreement:
        yield "Would other reasonable choices rank the models alike? (1 yes, 0 no)"
    columns = [
        Column("  list", shorten="end", most=40),
        Column("G relative", right=True),
        Column("absolute", right=True),
        Column("W", right=True),
    ]
    rows = [
        [
            f"  {entry['list']}",
            *(f"{entry['coefficients'][name]:.2f}" for name in ("relative", "absolute", "kendall_w")),
        ]
        for entry in multiverse.agreement
    ]
    yield from table_lines(columns, rows, width) if rows else ()


def _wrapped(text: str, width: int) -> Iterator[str]:
    return wrapped(text, min(width, 100), indent="  ", further="    ")


COLUMNS = (
    *("model", "topic", "target_list", *FACTORS),
    *("d", "ci_low", "ci_high", "p", "p_max_t", "counted", "published"),
)


def specifications_tsv(topics: Sequence[Mapping[str, Any]]) -> str:
    """Return one line per specification; a cell is empty if there is no choice or number."""
    lines = [tsv_line(COLUMNS)]
    for entry in topics:
        for one in entry["specifications"]:
            row = {"model": entry["model"], "topic": entry["topic"], **one}
            lines.append(tsv_line([_cell(row.get(column)) for column in COLUMNS]))
    return "".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def largest_shares(decomposition: Mapping[str, Any]) -> str:
    """Return the three choices that change d most, with their shares of the variance.

    >>> largest_shares({"variance": 0.5, "main": {"statistic": 0.3}, "pairs": {}, "rest": 0.2})
    'statistic 60 %, rest 40 %'
    """
    variance = decomposition["variance"]
    parts = {**decomposition["main"], **decomposition["pairs"], "rest": decomposition["rest"]}
    ordered = sorted(parts.items(), key=lambda item: -item[1])[:3]
    return (
        ", ".join(f"{name} {100 * part / variance:.0f} %" for name, part in ordered if part > 0) or "nothing"
    )


def omissions(block: Mapping[str, Any]) -> list[str]:
    """Return sentences on the choices and the words of a list that are left out."""
    lines = []
    if choices := block.get("left_out"):
        lines.append(f"not varied, because the model's vectors do not depend on it: {', '.join(choices)}")
    if words := block["dropped"]:
        lines.append(f"words left out, because a specification lacks them: {', '.join(words)}")
    return lines


def lists_of(
    topics: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[Mapping[str, Any], list[Mapping[str, Any]]]]:
    """Yield every word list on every model, with its specifications."""
    for entry in topics:
        for block in entry["lists"]:
            own = [one for one in entry["specifications"] if one["target_list"] == block["list"]]
            yield block, own


def named_targets(targets: str) -> str:
    """Return the names of target sets for readers."""
    return " and ".join(map(set_name, targets.split(" and ")))


def sorted_by_size(specifications: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the specifications that have a d, the smallest first."""
    return sorted((one for one in specifications if one["d"] is not None), key=lambda one: one["d"])


def curve_as_text(specifications: Sequence[Mapping[str, Any]], alpha: float, width: int = WIDTH) -> list[str]:
    """Return the curve in characters, with sorted specifications from left to right and d upwards.

    ● means that p is at most alpha, · that it is larger, and O is a published setting.
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


PAGE = "index.html"
OUTCOMES = {
    "robust": ("is robust to every choice", "are robust to every choice"),
    "hangs": ("depends on a choice", "depend on a choice"),
    "somewhere": ("is shown only in some specifications", "are shown only in some specifications"),
    "not shown": ("is not shown", "are not shown"),
}
"""The predicate of the headline for one list and for several, by kind of conclusion."""
LEFT, RIGHT, ABOVE, ROW, TOP = 190, 720, 150, 13, 10
"""The dimensions of a curve in the page in pixels: labels, whole width, height of the part with d, height of a
choice's row, margin.
"""
LONGEST, ROW_INCHES = 34, 0.13
"""The number of characters of a level's name in a figure, and the height of its row in inches."""


def curve_name(model: str, name: str) -> str:
    """Return the name of a curve's file, without its suffix."""
    return re.sub(r"[^\w-]+", "-", f"curve-{model}-{name}").strip("-")[:150]


def write_page(multiverse: Multiverse, folder: Path) -> None:
    """Write the curves as files and the page."""
    for block, own in lists_of(multiverse.topics):
        write_curve(block, own, folder / f"{curve_name(block['model'], block['list'])}.svg", multiverse.alpha)
    write_whole(folder / PAGE, page(multiverse))


def page(multiverse: Multiverse) -> str:
    """Return the page, in which all text is escaped."""
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
    step = (RIGHT - LEFT - 10) / max(1, len(shown))
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
            f'<line class="{"grid" if d else "zero"}" x1="{LEFT}" x2="{RIGHT}" y1="{y(d):.1f}" y2="{y(d):.1f}"/>'
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
        f'<svg class="curve" viewBox="0 0 {RIGHT} {height}" role="img" aria-label="{spoken}">{"".join(parts)}</svg>'
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
