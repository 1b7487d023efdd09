"""Show a multiverse in the terminal and as a table, with conclusions, curves in characters, and specifications."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weatherglass.catalogue.names import capitalised, model_name, set_name, topic_name
from weatherglass.multiverses.multiverse import Multiverse
from weatherglass.multiverses.specifications import FACTORS
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
from weatherglass.report.numbers import effect, format_effect, format_p
from weatherglass.storage.printable import tsv_line

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
