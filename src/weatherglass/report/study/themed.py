"""Figures inside the page: matplotlib's SVG with the page's colours, so that they follow light and dark."""

from __future__ import annotations

import re
from html import escape

COLOURS = {
    "#000000": "var(--ink)",
    "#ffffff": "var(--paper)",
    "#444444": "var(--soft)",
    "#666666": "var(--soft)",
    "#888888": "var(--faint)",
    "#dddddd": "var(--line)",
    "#f3f3f3": "var(--hover)",
    "#1b5e8c": "var(--pos)",
    "#0072b2": "var(--pos)",
    "#c4570a": "var(--neg)",
    "#d55e00": "var(--neg)",
    "#3d7a3d": "var(--good)",
    "#009e73": "var(--good)",
}
"""Colour of the drawing -> that of the page; the others stand out from light and dark paper alike."""


def themed(svg: str, number: int, spoken: str) -> str:
    """The drawing as an element of a page.

    Args:
        svg: a file that matplotlib wrote, with text as text.
        number: of the figure in the page, so that ids of two figures differ.
        spoken: what it shows, in words.
    """
    drawing = svg[svg.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", drawing, flags=re.DOTALL)
    head, rest = drawing.split(">", 1)
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', head)
    width = float(box[1]) if box else 600.0
    rest = re.sub(r'\bid="', f'id="f{number}-', rest)
    rest = re.sub(r"url\(#", f"url(#f{number}-", rest)
    rest = re.sub(r'xlink:href="#', f'href="#f{number}-', rest)
    for colour, name in COLOURS.items():
        rest = rest.replace(colour, name)
    return (
        f'<svg class="drawn" role="img" aria-label="{escape(spoken)}" {box[0] if box else ""} '
        f'style="width:{width / 16 * 1.3:.4g}rem">{rest}'
    )
