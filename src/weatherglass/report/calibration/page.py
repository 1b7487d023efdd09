"""Make the page of a calibration: one self-contained file with a response curve for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from markupsafe import Markup

from weatherglass.calibration.calibrate import CONTROL, PLANTED, Calibration, MetricResponse
from weatherglass.report.calibration import CAUTION, SEES, advice, control_sentence, label, parts, sentence
from weatherglass.report.kit import render
from weatherglass.report.numbers import effect, interval, p_value, percent
from weatherglass.storage.atomic import write_whole

PAGE = "index.html"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 300, 190, 44, 10, 12, 26
"""The size of a curve and the margins of its axes, in pixels."""


def write_page(calibration: Calibration, folder: Path) -> None:
    """Write the page into the folder of the calibration."""
    write_whole(folder / PAGE, page(calibration))


def page(calibration: Calibration) -> str:
    """Return the page; every text in it is escaped."""
    record = calibration.record
    values = {
        "level": percent(1 - record["alpha"]),
        "record": record,
        "caution": CAUTION,
        "failures": calibration.failures,
        "parts": [
            _part(number, corpus, algorithm, rows, record["corpora"][corpus])
            for number, (corpus, algorithm, rows) in enumerate(parts(calibration))
        ],
    }
    return render(__package__, "calibration.html", values, styles=["calibration.css"])


def _part(
    number: int, corpus: str, algorithm: str, rows: Sequence[MetricResponse], facts: dict[str, Any]
) -> dict[str, Any]:
    """Return what the page shows of one corpus and algorithm."""
    planted = sorted(
        (row for row in rows if row.kind == PLANTED),
        key=lambda row: (row.outcome not in SEES, row.response.smallest or 2.0, -abs(row.response.spearman)),
    )
    return {
        "place": f"part-{number}",
        "title": f"{corpus}, {algorithm}",
        "sentence": sentence(rows),
        "controls": control_sentence(rows),
        "advice": advice(rows),
        "facts": facts,
        "curves": [
            {"name": label(row), "outcome": row.outcome, "seen": row.outcome in SEES, "svg": curve(row, rows)}
            for row in planted
        ],
        "rows": [_cells(row) for row in (*planted, *(row for row in rows if row.kind == CONTROL))],
    }


def _cells(row: MetricResponse) -> dict[str, str]:
    fitted = row.response
    return {
        "metric": label(row),
        "test": row.test,
        "slope": effect(fitted.slope),
        "interval": interval(fitted.slope_low, fitted.slope_high),
        "p": p_value(row.p_adjusted),
        "spearman": effect(fitted.spearman),
        "smallest": "–" if fitted.smallest is None else f"{fitted.smallest:.2f}",
        "sd": effect(fitted.sd),
        "outcome": row.outcome,
    }


def curve(row: MetricResponse, rows: Sequence[MetricResponse]) -> Markup:
    """Draw the mean at each dose with its interval, and the control tests of the same metric as thin lines."""
    controls = [
        one for one in rows if one.kind == CONTROL and (one.metric, one.sets) == (row.metric, row.sets)
    ]
    fitted = row.response
    everything = [
        row.unbiased,
        *fitted.lows,
        *fitted.highs,
        *(mean for one in controls for mean in one.response.means),
    ]
    low, high = min(everything), max(everything)
    margin = (high - low) * 0.05 or 1.0
    low, high = low - margin, high + margin

    def x(dose: float) -> float:
        return LEFT + dose * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def points(some: Sequence[float]) -> str:
        return " ".join(
            f"{x(dose):.1f},{y(value):.1f}" for dose, value in zip(fitted.doses, some, strict=True)
        )

    upper, lower = points(fitted.highs), " ".join(reversed(points(fitted.lows).split()))
    parts = [
        f'<line class="grid" x1="{x(tick):.1f}" x2="{x(tick):.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>'
        f'<text class="t" x="{x(tick):.1f}" y="{HEIGHT - 8}">{tick:g}</text>'
        for tick in (0.0, 0.5, 1.0)
    ]
    parts += [
        f'<text class="v" x="{LEFT - 6}" y="{y(value) + 4:.1f}">{escape(effect(value))}</text>'
        for value in (high - margin, low + margin)
    ]
    parts.append(
        f'<line class="zero" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(row.unbiased):.1f}" y2="{y(row.unbiased):.1f}"/>'
    )
    parts += [f'<polyline class="control" points="{points(one.response.means)}"/>' for one in controls]
    parts.append(
        f'<polygon class="band" points="{upper} {lower}"/><polyline class="mean" points="{points(fitted.means)}"/>'
    )
    parts += [
        f'<circle class="at" cx="{x(dose):.1f}" cy="{y(mean):.1f}" r="3"><title>dose {dose:g}: {escape(effect(mean))} '
        f"{escape(interval(at_low, at_high))}</title></circle>"
        for dose, mean, at_low, at_high in zip(
            fitted.doses, fitted.means, fitted.lows, fitted.highs, strict=True
        )
    ]
    spoken = f"{label(row)}: from {effect(fitted.means[0])} at dose 0 to {effect(fitted.means[-1])} at dose 1"
    return Markup(  # every text in it was escaped above
        f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(spoken)}">'
        f"{''.join(parts)}</svg>"
    )
