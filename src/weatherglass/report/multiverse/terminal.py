"""A multiverse in the terminal: per topic what is shown, what it hangs on, and the curve in characters."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from weatherglass.multiverses.multiverse import Multiverse
from weatherglass.report.multiverse.curve import WIDTH, curve_as_text
from weatherglass.report.multiverse.tables import largest_shares, lists_of
from weatherglass.report.terminal import format_effect, format_p


def lines_of(multiverse: Multiverse, curves: bool = True) -> Iterator[str]:
    """80 columns wide."""
    several = {entry["topic"]: len(entry["lists"]) for entry in multiverse.topics}
    for block, own in lists_of(multiverse.topics):
        yield f"{block['topic']}: {block['list']} ({block['targets']})"
        yield f"  {block['model']}"
        if curves:
            yield from curve_as_text(own)
        yield (
            f"  {block['specification_count']} specifications, median d{format_effect(block['median_d'])}, "
            f"{100 * block['share_same_sign']:.0f} % share the sign, "
            f"{100 * block['share_significant']:.0f} % significant"
        )
        holm = f", {format_p(block['joint_p_holm'])} after Holm over {several[block['topic']]} lists"
        yield (
            f"  on the whole: joint p {format_p(block['joint_p'])}{holm if several[block['topic']] > 1 else ''}; "
            f"somewhere: maxT p {format_p(block['max_t_p'])}"
        )
        yield from _wrapped(block["conclusion"]["sentence"])
        yield from _wrapped(f"d moves with: {largest_shares(block['decomposition'])}")
        errors = {
            name: value for name, value in block["squared_standard_errors"].items() if value is not None
        }
        yield from _wrapped(
            f"variance of d over choices {block['decomposition']['variance']:.2f}; squared standard error of one d: "
            + ", ".join(f"{name} {value:.2f}" for name, value in errors.items())
        )
        if turned := [
            f"{name} {100 * half['turned']:.0f} %" for name, half in block["halves"].items() if half
        ]:
            yield f"  half the words turn the sign: {', '.join(turned)}"
        yield ""
    if multiverse.agreement:
        yield "would another choice rank the models alike? (1 yes, 0 no)"
    for entry in multiverse.agreement:
        found = entry["coefficients"]
        yield (
            f"  {entry['list'][:30]:30}  G {found['relative']:.2f} relative, {found['absolute']:.2f} absolute, "
            f"W {found['kendall_w']:.2f}"
        )
    for failure in multiverse.failures:
        yield f"failed: {failure['list']} on {failure['model']}: {failure['reason']}"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ", break_long_words=False)
