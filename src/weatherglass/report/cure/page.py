"""The page of a judgement: one self-contained file, index.html, with figures that follow the theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weatherglass import __version__
from weatherglass.report.cure.figures import effects_figure, recovery_figure
from weatherglass.report.numbers import effect, interval, p_value
from weatherglass.report.shell import script_hash, shared_asset, template_environment

PAGE = "index.html"


def page(judgement: Mapping[str, Any]) -> str:
    """The page, from what judgement.json holds; every text in it is escaped."""
    environment = template_environment(__package__, "templates")
    environment.filters |= {"effect": effect, "p": p_value}
    environment.globals |= {"interval": interval}
    script = f'\n"use strict";\n{shared_asset("theme.js")}\n'
    return environment.get_template("cure.html").render(
        version=__version__,
        script=script,
        script_hash=script_hash(script),
        j=judgement,
        held_out_figure=effects_figure(_effects(judgement["held_out"])),
        tests_figure=effects_figure(_effects(judgement["tests"])),
        recovery_figure=recovery_figure(judgement["recovered"]),
    )


def _effects(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [row for row in rows if row["is_effect_size"]]
