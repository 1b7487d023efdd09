"""Show how much a finding depends on the metric, with d of every test under every metric as a map and as lines."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weatherglass.audit.results import Result, mark_of
from weatherglass.report.numbers import effect
from weatherglass.storage.printable import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK, SOFT, LINE = "#1c2023", "#595f64", "#d8d5cc"
BLUE, ORANGE, GREY = "#20598a", "#97470f", "#5f5f5f"
"""Colours for X closer to A, X closer to B, and no direction; they differ for every kind of colour vision."""
LARGEST = 2.0
"""The |d| of the darkest colour; with sets of equal size, |d| cannot be larger."""
CELL, ROW, GAP = 0.4, 0.2, 0.25
"""The width of a measure and the height of a test in inches, and the gap between similarities in measures."""
PANEL = 2.6
"""The width of the panel of ranges in inches."""
MarkOf = Callable[[Result], str]
"""A function that returns the mark of a result, or an empty text if it has none."""


def outcome_mark(result: Result) -> str:
    """Return the mark of the outcome if the result is significant after correction."""
    return mark_of(result).glyph if result.marked else ""


@dataclass(frozen=True, slots=True)
class MetricSpread:
    """The range of d over the measures of one test, or of |d| for unsigned measures, such as eq2."""

    test: str
    lowest: float
    highest: float
    significant: int
    measures: int

    def __str__(self) -> str:
        return f"{self.test}: {self.in_words}"

    @property
    def in_words(self) -> str:
        """Return the range and the count in words, without the test's name."""
        low, high = f"{self.lowest:.1f}", f"{self.highest:.1f}"
        reach = f"from {low} to {high}".replace("-0.0", "0.0").replace("-", "−")
        if math.isnan(self.lowest):
            reach = "no d"
        return f"{reach}; significant in {self.significant} of {self.measures}"


def spreads(results: Sequence[Result], mark: MarkOf = outcome_mark) -> list[MetricSpread]:
    """Return the spread of each test of one model, in order; a result with a mark is significant.

    >>> print(MetricSpread("weat7", 0.2, 1.1, 9, 20))
    weat7: from 0.2 to 1.1; significant in 9 of 20
    """
    by_test: dict[str, list[Result]] = {}
    for result in results:
        by_test.setdefault(result.test, []).append(result)
    return [
        MetricSpread(
            test,
            min((d for d in map(_d, test_results) if not math.isnan(d)), default=math.nan),
            max((d for d in map(_d, test_results) if not math.isnan(d)), default=math.nan),
            sum(bool(mark(result)) for result in test_results),
            len(test_results),
        )
        for test, test_results in by_test.items()
    ]


MAP_NOTE = "Blue: as named; orange: the opposite; grey: a metric without direction. Deeper colour: larger d."
"""The legend of the map, without the meaning of the marks."""


def measure_map(
    results: Sequence[Result],
    title: str,
    note: str,
    names: Mapping[str, str] | None = None,
    mark: MarkOf = outcome_mark,
) -> Figure:
    """Draw a table with a row per test and a column per measure, with the range over measures next to each test.

    Args:
        results: the results of one model.
        title: the title of the figure, such as the model's spec.
        note: what the marks mean; it follows MAP_NOTE.
        names: the names of tests for readers; a test without one is shown by its id.
        mark: the mark of a result; a result with a mark has a bold number and a filled point.
    """
    from matplotlib.figure import Figure

    measures = list(dict.fromkeys(result.metric for result in results))
    tests = list(dict.fromkeys(result.test for result in results))
    spellings = [_measure(metric) for metric in measures]
    places = _places(spellings)
    across = places[-1] + 1
    width, height = across * CELL, len(tests) * ROW
    figure = Figure(figsize=(width + PANEL, height))
    share = width / (width + PANEL)
    cells = figure.add_axes((0, 0, share, 1))
    ranges = figure.add_axes((share + 0.01, 0, 1 - share - 0.01, 1))
    _draw_cells(cells, results, tests, dict(zip(measures, places, strict=True)), mark)
    _label_measures(cells, spellings, places)
    _draw_ranges(ranges, results, mark)
    for axes in (cells, ranges):
        axes.set_ylim(len(tests), 0)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0, labelsize=7, labelcolor=INK)
    cells.set_xlim(0, across)
    called = [one_line((names or {}).get(test, test)) for test in tests]
    cells.set_yticks([row + 0.5 for row in range(len(tests))], called)
    for label in [*cells.get_xticklabels(), *cells.get_yticklabels()]:
        label.set_parse_math(False)
    _title_and_note(cells, one_line(title), f"{MAP_NOTE} {note}", letters=int((width + PANEL) * 72 / 3.4))
    return figure


def _measure(metric: str) -> str:
    """Return the measure of a metric: cosine/mean of weat(cosine/mean, profile=wefe)."""
    return metric.removeprefix("weat(").partition(",")[0].removesuffix(")")


def _places(measures: Sequence[str]) -> list[float]:
    """Return the left edge of each metric's column, with a gap between similarities."""
    places: list[float] = []
    for number, measure in enumerate(measures):
        if not number:
            places.append(0.0)
            continue
        same = measure.partition("/")[0] == measures[number - 1].partition("/")[0]
        places.append(places[-1] + 1 + (0 if same else GAP))
    return places


def _draw_cells(
    axes: Axes, results: Sequence[Result], tests: Sequence[str], place: dict[str, float], mark: MarkOf
) -> None:
    from matplotlib.patches import Rectangle

    row = {test: number for number, test in enumerate(tests)}
    for result in results:
        x, y = place[result.metric], row[result.test]
        fill, ink = _fill_and_ink(result)
        axes.add_patch(Rectangle((x + 0.02, y + 0.04), 0.96, 0.92, facecolor=fill, linewidth=0))
        axes.text(
            x + 0.73,  # numbers are right-aligned, marks follow
            y + 0.53,
            effect(result.effect_size),
            ha="right",
            va="center",
            fontsize=6,
            color=ink,
            weight="bold" if mark(result) else "normal",
        )
        axes.text(
            x + 0.745,
            y + 0.56,
            mark(result),
            ha="left",
            va="center",
            fontsize=6,
            color=ink,
        )


def _label_measures(axes: Axes, measures: Sequence[str], places: Sequence[float]) -> None:
    """Write statistics above the columns, and similarities above their groups."""
    axes.xaxis.tick_top()
    statistics = [one_line(measure.partition("/")[2]) for measure in measures]
    axes.set_xticks([place + 0.5 for place in places], statistics)
    groups: dict[str, list[float]] = {}
    for measure, place in zip(measures, places, strict=True):
        groups.setdefault(one_line(measure.partition("/")[0]), []).append(place)
    for similarity, columns in groups.items():
        _head(axes, similarity, (columns[0] + columns[-1] + 1) / 2)


def _draw_ranges(axes: Axes, results: Sequence[Result], mark: MarkOf) -> None:
    """Draw, for each test, a line from the smallest to the largest d, a point per metric, and the spread in words."""
    for row, spread in enumerate(spreads(results, mark)):
        y = row + 0.5
        axes.text(2.35, y, spread.in_words, va="center", fontsize=6, color=INK)
        if math.isnan(spread.lowest):
            continue
        axes.plot([spread.lowest, spread.highest], [y, y], color=SOFT, linewidth=0.9, zorder=1)
        for result in results:
            if result.test == spread.test and not math.isnan(result.effect_size):
                edge = _hue(result)
                fill = edge if mark(result) else "white"
                axes.plot(
                    *([_d(result)], [y], "o"),
                    markersize=2.6,
                    color=fill,
                    markeredgecolor=edge,
                    markeredgewidth=0.6,
                    zorder=2,
                )
    axes.axvline(0, color=LINE, linewidth=0.8, zorder=0)
    axes.set_xlim(-2.1, 6.6)
    axes.set_xticks([-2, -1, 0, 1, 2], ["−2", "−1", "0", "1", "2"])
    axes.xaxis.tick_top()
    axes.set_yticks([])
    _head(axes, "d of each measure", 0)


def _head(axes: Axes, text: str, place: float) -> None:
    """Write a heading above the labels of the columns."""
    axes.annotate(
        text,
        (place, 0),
        (0, 16),
        textcoords="offset points",
        ha="center",
        fontsize=7.5,
        weight="bold",
        color=INK,
        annotation_clip=False,
        parse_math=False,
    )


def _title_and_note(axes: Axes, title: str, note: str, letters: int) -> None:
    axes.annotate(
        title,
        (0, 1),
        (0, 32),
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=8.5,
        color=INK,
        parse_math=False,
    )
    put_note(axes, note, letters, (0, -8))


def put_note(axes: Axes, note: str, letters: int, offset: tuple[float, float]) -> None:
    """Write a note below a figure, wrapped at `letters`, at `offset` points from its lower left corner."""
    axes.annotate(
        "\n".join(textwrap.wrap(note, letters)),
        (0, 0),
        offset,
        xycoords="axes fraction",
        textcoords="offset points",
        fontsize=6.5,
        color=SOFT,
        va="top",
        parse_math=False,
    )


def _fill_and_ink(result: Result) -> tuple[tuple[float, float, float], str]:
    """Return the fill and text colours of a cell, which is darker for larger |d|, and blue, orange or grey by
    direction.
    """
    from matplotlib.colors import to_rgb

    d = 0.0 if math.isnan(result.effect_size) else result.effect_size
    depth = min(abs(d) / LARGEST, 1.0)
    full = to_rgb(_hue(result))
    fill = (1 + depth * (full[0] - 1), 1 + depth * (full[1] - 1), 1 + depth * (full[2] - 1))
    light = 0.299 * fill[0] + 0.587 * fill[1] + 0.114 * fill[2]
    return fill, INK if light > 0.55 else "white"


def _hue(result: Result) -> str:
    if not result.signed:
        return GREY
    return BLUE if result.effect_size >= 0 else ORANGE


def _d(result: Result) -> float:
    """Return d, or |d| if the metric has no direction."""
    return result.effect_size if result.signed else abs(result.effect_size)
