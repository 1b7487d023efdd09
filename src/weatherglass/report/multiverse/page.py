"""The page of a multiverse, index.html, with its curves beside it as files."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path

from weatherglass.multiverses.multiverse import Multiverse
from weatherglass.report.multiverse.curve import write_curve
from weatherglass.report.multiverse.tables import largest_shares, lists_of
from weatherglass.report.numbers import effect, p_value
from weatherglass.storage.atomic import write_whole

PAGE = "index.html"
HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>weatherglass multiverse</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;padding:.3rem .6rem .3rem 0;border-bottom:1px solid #ddd}
img{max-width:100%}</style></head><body>
<h1>Would another sensible choice turn the conclusion?</h1>
<p>Each row is one list of target words on one model. <em>Joint p</em> tests the mean of d over all specifications
(on the whole), <em>maxT p</em> the largest one (somewhere). All numbers are in multiverse.json and
specifications.tsv.</p>
"""


def curve_name(model: str, name: str) -> str:
    """The file of a curve."""
    return re.sub(r"[^\w-]+", "-", f"curve-{model}-{name}").strip("-")[:150] + ".svg"


def write_page(multiverse: Multiverse, folder: Path) -> None:
    """Write the curves and the page."""
    rows, figures = [], []
    for block, own in lists_of(multiverse.topics):
        name = curve_name(block["model"], block["list"])
        write_curve(block, own, folder / name)
        cells = (
            *(block["topic"], block["list"], block["model"], str(block["specification_count"])),
            *(effect(block["median_d"]), p_value(block["joint_p"]), p_value(block["max_t_p"])),
            *(block["conclusion"]["sentence"], largest_shares(block["decomposition"])),
        )
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
        title = escape(f"{block['topic']}: {block['list']}, {block['model']}")
        figures.append(
            f'<h2>{title}</h2><img src="{escape(name)}" alt="Specification curve: '
            f'{escape(block["conclusion"]["sentence"])}">'
        )
    heads = (
        "topic",
        "list",
        "model",
        "specifications",
        "median d",
        "joint p",
        "maxT p",
        "conclusion",
        "d moves with",
    )
    table = (
        "<table><tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>" + "".join(rows) + "</table>"
    )
    write_whole(folder / PAGE, HEAD + table + "\n".join(figures) + "</body></html>\n")
