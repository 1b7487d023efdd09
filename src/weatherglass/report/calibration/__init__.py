"""Show a calibration in the terminal, with a row per metric, and on a page, with a response curve per metric."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

from markupsafe import Markup

from weatherglass.calibration.calibrate import CONTROL, PLANTED, Calibration, MetricResponse
from weatherglass.report.kit import render
from weatherglass.report.layout import Bold, Column, Dim, table_lines, wrapped
from weatherglass.report.numbers import counted, effect, format_p, interval, p_value, percent
from weatherglass.storage.atomic import write_whole

WIDEST = 100
SEES = ("follows", "saturates")
"""Outcomes of a metric that responds to the dose."""
RANKS = 0.9
"""The rank correlation with the dose from which a metric is recommended for comparing models."""
CAUTION = (
    "A dose is the share of sentences of this corpus that agree with the stereotype. It is a scale of this corpus and "
    "this way of training, not of your model."
)


def lines_of(calibration: Calibration, width: int, every: bool = False) -> Iterator[str]:
    """Yield the screen of a calibration.

    Args:
        calibration: the responses.
        width: columns of the terminal.
        every: whether to print the rows of control tests, too.
    """
    width = min(width, WIDEST)
    for place, (corpus, algorithm, rows) in enumerate(parts(calibration)):
        if place:
            yield ""
        for line in wrapped(f"{corpus}, {algorithm}: {sentence(rows)}", width):
            yield Bold(line)
        planted = [row for row in rows if row.kind == PLANTED]
        yield from _table(planted, width)
        for line in wrapped(control_sentence(rows), width):
            yield line
        if every and (controls := [row for row in rows if row.kind == CONTROL]):
            yield from _table(controls, width)
    yield ""
    yield from wrapped(CAUTION, width)
    for failure in calibration.failures:
        yield f"failed: {failure}"


def parts(calibration: Calibration) -> Iterator[tuple[str, str, list[MetricResponse]]]:
    """Yield each corpus and algorithm with its responses."""
    keys = dict.fromkeys((row.corpus, row.algorithm) for row in calibration.rows)
    for corpus, algorithm in keys:
        yield (
            corpus,
            algorithm,
            [row for row in calibration.rows if (row.corpus, row.algorithm) == (corpus, algorithm)],
        )


def sentence(rows: Sequence[MetricResponse]) -> str:
    """Return what the planted test shows: how many metrics follow the dose, and which are blind."""
    planted = [row for row in rows if row.kind == PLANTED]
    seeing = [row for row in planted if row.outcome in SEES]
    against = _labels(row for row in planted if row.outcome == "reversed")
    weak = _labels(row for row in planted if row.outcome == "weak")
    blind = _labels(row for row in planted if row.outcome == "blind")
    said = f"{len(seeing)} of {counted(len(planted), 'metric')} respond to the planted stereotype"
    detected = [row for row in seeing if row.response.smallest is not None]
    if detected:
        best = min(detected, key=lambda row: row.response.smallest or 1.0)
        said += f"; {label(best)} detects the smallest dose, {best.response.smallest:.2f}"
    said += "."
    if against:
        said += f" A stronger stereotype looks like less bias in {against}."
    if weak:
        said += f" A response of {weak} shows only on average over seeds, not in a single embedding."
    return f"{said} No response is detected in {blind}." if blind else said


def control_sentence(rows: Sequence[MetricResponse]) -> str:
    """Return how many metrics moved on the control tests, whose words were not changed."""
    controls = [row for row in rows if row.kind == CONTROL]
    if not controls:
        return "No control test was given."
    moved = [label(row) for row in controls if row.outcome == "moves"]
    said = f"Control tests: {len(controls) - len(moved)} of {len(controls)} responses are flat"
    return f"{said}; these move: {', '.join(moved)}." if moved else f"{said}."


def advice(rows: Sequence[MetricResponse]) -> list[tuple[str, str]]:
    """Return purposes of a metric, each with the metrics that this calibration supports for it, the best first."""
    planted = [row for row in rows if row.kind == PLANTED]
    seeing = [row for row in planted if row.outcome in SEES]
    detecting = sorted(
        (row for row in seeing if row.response.smallest is not None),
        key=lambda row: row.response.smallest or 1.0,
    )
    ranking = sorted(
        (row for row in seeing if row.outcome == "follows" and abs(row.response.spearman) >= RANKS),
        key=lambda row: -abs(row.response.spearman),
    )
    saturating = [row for row in seeing if row.outcome == "saturates"]
    against = [row for row in planted if row.outcome == "reversed"]
    weak = [row for row in planted if row.outcome == "weak"]
    blind = [row for row in planted if row.outcome == "blind"]
    found = (
        (
            "To detect a weak stereotype in one model (smallest dose detected)",
            ", ".join(f"{label(row)} ({row.response.smallest:.2f})" for row in detecting),
        ),
        ("To see which group a model favours", _labels(row for row in detecting if row.contrasts)),
        ("To compare the strength in two models, strong ones included", _labels(ranking)),
        (
            "To compare only models with a weak stereotype: with a strong one, these metrics saturate",
            _labels(saturating),
        ),
        ("Not as a measure of strength: a stronger stereotype looks like less bias", _labels(against)),
        (
            "Only on average over trainings: with these seeds, no dose is detected in a single model",
            _labels(weak),
        ),
        ("Not usable here: no response was detected", _labels(blind)),
    )
    return [(use, metrics) for use, metrics in found if metrics]


def _labels(rows: Iterable[MetricResponse]) -> str:
    return ", ".join(map(label, rows))


def label(row: MetricResponse) -> str:
    """Return the name of a metric, with its sets if it measures only some of them."""
    return row.metric if row.sets == "X Y A B" else f"{row.metric} ({row.sets.replace(' ', ', ')})"


def _table(rows: Sequence[MetricResponse], width: int) -> Iterator[str]:
    if not rows:
        return
    level = percent(0.95)
    columns = [
        Column("Metric", shorten="middle", least=12),
        Column("at 0", right=True),
        Column("at ½", right=True),
        Column("at 1", right=True),
        Column("slope", right=True),
        Column(f"{level} CI", from_width=76),
        Column("p", right=True, from_width=90),
        Column("rank r", right=True),
        Column("detects", right=True),
        Column("outcome"),
    ]
    cells = []
    for row in rows:
        fitted = row.response
        middle = fitted.doses.index(0.5)
        cells.append(
            [
                label(row),
                effect(fitted.means[0]),
                effect(fitted.means[middle]),
                effect(fitted.means[-1]),
                effect(fitted.slope),
                f"{effect(fitted.slope_low)} … {effect(fitted.slope_high)}",
                format_p(row.p_adjusted),
                effect(fitted.spearman),
                "–" if fitted.smallest is None else f"{fitted.smallest:.2f}",
                row.outcome,
            ]
        )
    head, *lines = table_lines(columns, cells, width)
    yield head
    for line, row in zip(lines, rows, strict=True):
        yield Dim(line) if row.outcome in ("weak", "blind", "flat") else line


PAGE = "index.html"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 300, 190, 44, 10, 12, 26
"""The size of a curve and the margins of its axes, in pixels."""


def write_page(calibration: Calibration, folder: Path) -> None:
    """Write the page into the folder of the calibration."""
    write_whole(folder / PAGE, page(calibration))


def page(calibration: Calibration) -> str:
    """Return the page, in which all text is escaped."""
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
