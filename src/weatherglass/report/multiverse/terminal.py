"""A multiverse in the terminal: per topic what is shown, what it hangs on, and the curve in characters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from weatherglass.catalogue.names import capitalised, model_name, topic_name
from weatherglass.multiverses.multiverse import Multiverse
from weatherglass.report.layout import Bold, Column, shortened, table_lines, widest_name, wrapped
from weatherglass.report.multiverse.curve import WIDTH, curve_as_text
from weatherglass.report.multiverse.tables import largest_shares, lists_of, named_targets
from weatherglass.report.numbers import effect
from weatherglass.report.terminal import DIRECTION_FROM, SIZES_FROM, format_effect, format_p

MOST_CURVES = 6
"""With more word lists and models than this, each is one row of a table."""


def lines_of(multiverse: Multiverse, width: int = WIDTH, every_list: bool = True) -> Iterator[str]:
    """Per word list and model the curve and what it says; with many, and unless every list is asked for, a table."""
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
        Column("joint p", right=True),
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
        "joint p: of the mean of d over all specifications; corrected over the lists of a topic and the topics of a "
        "model (Holm), which decides the conclusion. Curves and what d moves with: the page, or --table",
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
            f"on the whole: joint p {format_p(block['multiverse_p'])}{after.get('multiverse_p', '')}; "
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
