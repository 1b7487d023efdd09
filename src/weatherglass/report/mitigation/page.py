"""The page of a judgement: one self-contained file, index.html, with figures that follow the theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weatherglass.report.kit import render
from weatherglass.report.mitigation.figures import effects_figure, recovery_figure

PAGE = "index.html"


def page(judgement: Mapping[str, Any]) -> str:
    """The page, from what judgement.json holds; every text in it is escaped."""
    values = {
        "j": judgement,
        "held_out_figure": effects_figure(_effects(judgement["held_out"])),
        "tests_figure": effects_figure(_effects(judgement["tests"])),
        "recovery_figure": recovery_figure(judgement["recovered"]),
    }
    return render(__package__, "mitigation.html", values, styles=["mitigation.css"])


def _effects(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["poolable"]]
