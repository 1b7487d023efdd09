"""Show a calibration in the terminal: one sentence and a row per metric, for each corpus and algorithm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from weatherglass.calibration.calibrate import CONTROL, PLANTED, Calibration, MetricResponse
from weatherglass.report.layout import Bold, Column, Dim, table_lines, wrapped
from weatherglass.report.numbers import counted, effect, format_p, percent

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
    blind = _labels(row for row in planted if row.outcome == "blind")
    said = f"{len(seeing)} of {counted(len(planted), 'metric')} respond to the planted stereotype"
    detected = [row for row in seeing if row.response.smallest is not None]
    if detected:
        best = min(detected, key=lambda row: row.response.smallest or 1.0)
        said += f"; {label(best)} detects the smallest dose, {best.response.smallest:.2f}"
    said += "."
    if against:
        said += f" A stronger stereotype looks like less bias in {against}."
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
    blind = [row for row in planted if row.outcome == "blind"]
    found = (
        (
            "To detect a weak stereotype in one model (smallest dose detected)",
            ", ".join(f"{label(row)} ({row.response.smallest:.2f})" for row in detecting),
        ),
        ("To see which group a model favours", _labels(row for row in detecting if row.contrasts)),
        ("To compare the strength in two models, strong ones included", _labels(ranking)),
        (
            "To compare only models with a weak stereotype, because these metrics saturate",
            _labels(saturating),
        ),
        ("Not as a measure of strength: a stronger stereotype looks like less bias", _labels(against)),
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
        yield Dim(line) if row.outcome in ("blind", "flat") else line
