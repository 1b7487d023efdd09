"""Figures for print: the matrix of May et al.'s Figure 1, the forest plot of effect sizes, the map of measures."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weatherglass.report.measures import INK, LINE, SOFT, measure_map, put_note
from weatherglass.report.numbers import effect
from weatherglass.report.page.subjects import Layout, lay_out
from weatherglass.report.tables import caption, interval_levels
from weatherglass.runs.results import Result
from weatherglass.runs.stored import StoredRun
from weatherglass.storage.atomic import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Blue and orange differ for every kind of colour vision, dark and light in grey print; marks repeat both.
FILL = {
    ("**", False): "#20598a",
    ("*", False): "#cbdeee",
    ("**", True): "#97470f",
    ("*", True): "#f4dac3",
}
ROW = 0.17
"""Height of a test's row in inches."""
LONGEST = 60
"""Letters of a name that a figure shows; longer names are cut."""
LETTER = 4.1
"""Average width of a letter in points."""
NUMBERED = 12
"""With more models than this, cells show marks only."""


def write_figures(runs: Sequence[StoredRun], folder: Path, kind: str) -> list[Path]:
    """Write both figures of each measure, and a map of the measures for each model, as png, svg or pdf.

    Returns:
        The files written.
    """
    from matplotlib import rc_context

    layout = lay_out(runs)
    note = caption(runs)
    written = []
    settings: Any = {
        "pdf.fonttype": 42,
        "svg.hashsalt": "weatherglass",
        "font.size": 7.5,
        "axes.linewidth": 0.6,
    }
    with rc_context(settings):
        for name, figure in _figures(layout, note, interval_levels(runs)):
            path = folder / f"{name}.{kind}"
            save_figure(figure, path, kind)
            written.append(path)
    return written


def _figures(layout: Layout, note: str, levels: str) -> Iterator[tuple[str, Figure]]:
    for number, metric in enumerate(layout.metrics):
        suffix = "" if len(layout.metrics) == 1 else "-" + re.sub(r"[^\w-]+", "-", metric)
        yield f"matrix{suffix}", matrix(layout, number, note)
        if layout.is_effect_size(number):
            yield f"forest{suffix}", forest(layout, number, note, levels)
    if sum(map(layout.is_effect_size, range(len(layout.metrics)))) > 1:
        for number, subject in enumerate(layout.subjects):
            suffix = "" if len(layout.subjects) == 1 else f"-{number + 1}"
            effects = [result for result in layout.results_of(number) if result.is_effect_size]
            yield f"measures{suffix}", measure_map(effects, _shortened(subject.label), note)


def save_figure(figure: Figure, path: Path, kind: str) -> None:
    """Write a figure atomically; the same figure gives the same bytes."""
    # The date would make two figures of the same run differ.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with whole_file(path) as unfinished:
        figure.savefig(unfinished, format=kind, dpi=300, bbox_inches="tight", metadata=metadata)


def matrix(layout: Layout, measure: int, note: str) -> Figure:
    """The matrix: tests down, models across; a cell has its mark, and d if there is room."""
    from matplotlib.patches import Rectangle

    columns, rows = len(layout.subjects), len(layout.tests)
    numbered = columns <= NUMBERED
    width = 0.62 if numbered else 0.24
    axes = _axes(columns * width, rows * ROW)
    for (t, s), number in layout.cells(measure).items():
        r = layout.results[number]
        fill = FILL.get((r.significance, r.lean == -1))
        if fill:
            axes.add_patch(Rectangle((s + 0.03, t + 0.05), 0.94, 0.9, color=fill, linewidth=0))
        text = f"{effect(r.value)}{r.significance}" if numbered else r.significance or "·"
        ink = "white" if r.significance == "**" else INK
        axes.text(s + 0.5, t + 0.52, text, ha="center", va="center", color=ink, fontsize=6.5)
    axes.set_xlim(0, columns)
    axes.set_ylim(rows, 0)
    _label_tests(axes, layout)
    axes.set_xticks(
        [s + 0.5 for s in range(columns)], [_shortened(s.label) for s in layout.subjects], rotation=90
    )
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    _finish(axes, f"{layout.metrics[measure]}. {note}")
    return _figure(axes)


def forest(layout: Layout, measure: int, note: str, levels: str) -> Figure:
    """The forest plot: d with its interval for each test, a panel for each model, all on one scale.

    `levels` are those of the intervals.
    """
    from matplotlib.figure import Figure

    rows, columns = len(layout.tests), len(layout.subjects)
    panel_width = 3.2 if columns == 1 else 1.7
    figure = Figure(figsize=(panel_width * columns, rows * ROW))
    axes = figure.subplots(1, columns, sharex=True, sharey=True, squeeze=False)[0]
    cells = layout.cells(measure)
    for s, (panel, subject) in enumerate(zip(axes, layout.subjects, strict=True)):
        panel.axvline(0, color=SOFT, linewidth=0.6)
        for t in range(rows):
            if (number := cells.get((t, s))) is not None:
                _point(panel, t + 0.5, layout.results[number])
        panel.set_ylim(rows, 0)
        panel.set_title(_shortened(subject.label, 26), fontsize=7.5, color=INK, parse_math=False)
        panel.grid(axis="x", color=LINE, linewidth=0.5)
        panel.set_axisbelow(True)
        panel.tick_params(length=0, labelcolor=INK)
        panel.spines[:].set_visible(False)
    _label_tests(axes[0], layout)
    low, high = axes[0].get_xlim()
    axes[0].set_xlim(min(low, -2.2), max(high, 2.2))
    axes[0].set_xticks(range(-2, 3))
    figure.subplots_adjust(wspace=0.1)
    note = f"{layout.metrics[measure]}: d with its {levels} interval; dark points **, light points *. {note}"
    _finish(axes[0], note)
    return figure


def _point(axes: Axes, y: float, r: Result) -> None:
    edge = FILL["**", r.lean == -1] if r.significance else SOFT
    fill = FILL.get((r.significance, r.lean == -1), "white")
    if r.ci_low is not None and r.ci_high is not None:
        axes.plot([r.ci_low, r.ci_high], [y, y], color=edge, linewidth=0.9, solid_capstyle="butt")
    axes.plot(
        [r.effect_size], [y], "o", markersize=3.4, color=fill, markeredgecolor=edge, markeredgewidth=0.8
    )


def sorted_effects(results: Sequence[Result], note: str, levels: str) -> Figure:
    """The curve: d of every result from the smallest to the largest, with its interval."""
    shown = sorted(
        (r for r in results if r.is_effect_size and not math.isnan(r.effect_size)),
        key=lambda r: r.effect_size,
    )
    axes = _axes(4.8, 2.2)
    axes.axhline(0, color=SOFT, linewidth=0.6)
    for place, r in enumerate(shown):
        colour = FILL["**", r.lean == -1] if r.significance else SOFT
        if r.ci_low is not None and r.ci_high is not None:
            axes.plot([place, place], [r.ci_low, r.ci_high], color=LINE, linewidth=1.2, zorder=1)
        axes.plot([place], [r.effect_size], "o", markersize=3, color=colour, markeredgewidth=0)
    axes.set_xlabel("results, sorted by d", color=INK)
    axes.set_ylabel("d", color=INK)
    axes.set_xlim(-1, max(1, len(shown)))
    axes.spines[["top", "right"]].set_visible(False)
    put_note(
        axes, f"d with its {levels} interval; dark where p ≤ alpha, orange below 0. {note}", 80, (-30, -40)
    )
    return _figure(axes)


def in_pyplot(figure: Figure) -> Axes:
    """The first axes of a figure that pyplot, and so a notebook, shows as its own."""
    from matplotlib import pyplot

    manager = pyplot.figure().canvas.manager
    if manager is not None:
        manager.canvas.figure = figure
        figure.set_canvas(manager.canvas)
    return figure.axes[0]


def _axes(width: float, height: float) -> Axes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(max(width, 0.5), max(height, 0.3)))
    return figure.add_axes((0, 0, 1, 1))


def _figure(axes: Axes) -> Figure:
    figure: Any = axes.figure
    return figure  # type: ignore[no-any-return]


def _label_tests(axes: Axes, layout: Layout) -> None:
    axes.set_yticks(
        [t + 0.5 for t in range(len(layout.tests))], [_shortened(test.name) for test in layout.tests]
    )


def _finish(axes: Axes, note: str) -> None:
    """Colour the labels, show dollar signs as they are, and write the note below, as wide as the figure."""
    for label in [*axes.get_xticklabels(), *axes.get_yticklabels()]:
        label.set_color(INK)
        label.set_parse_math(False)
    figure = _figure(axes)
    names = LETTER * max((len(label.get_text()) for label in axes.get_yticklabels()), default=0)
    letters = max(40, int((names + 72 * figure.get_figwidth()) / LETTER))
    put_note(axes, note, letters, (-names, -20))


def _shortened(name: str, longest: int = LONGEST) -> str:
    return name if len(name) <= longest else name[: longest - 1] + "…"
