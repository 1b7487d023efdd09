"""Draw figures for print: topics, forest and matrix with the marks of the page, and the map of metrics.

Colour has one meaning, that of the page: blue is what the row's name says, orange the opposite, grey that no direction
is established. Marks are the outcome. Both also differ in grey print.
"""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weatherglass.audit.results import Mark, Result, mark_of
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import CONTROL
from weatherglass.catalogue.names import capitalised, contrast, topic_name
from weatherglass.errors import WeatherglassError
from weatherglass.report.measures import INK, LINE, SOFT, measure_map, put_note
from weatherglass.report.numbers import effect
from weatherglass.report.page.topics import REACH, chart
from weatherglass.report.statements import pieces_note, sign_of
from weatherglass.report.tables import interval_levels
from weatherglass.report.view import Layout, TestRow, lay_out
from weatherglass.storage.atomic import whole_file
from weatherglass.storage.printable import one_line

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
COLOURS = {1: "#1f5886", -1: "#a44f0d", 0: "#6b7176"}
"""Colours of a direction: as named, the opposite, none established."""
BAND = "#ece9e1"
SIZES = {"one-column": 3.35, "two-columns": 6.9}
"""Widths of figures in journals, in inches."""
INCHES = {"cm": 1 / 2.54, "mm": 1 / 25.4, "in": 1.0}
FONT, LETTER, LINE_HEIGHT = 7.5, 4.1, 0.125
"""Size of the text and average width of a letter in points; height of a line in inches."""
NAMES = (1.3, 2.6)
"""The least and the largest width of the column of names in inches."""
LEAST_PANEL, LEAST_ROW = 0.75, 0.11
"""The least width of a model's panel and the least height of a row in inches."""
NUMBERED = 12
"""With more models than this, cells of the matrix show marks only."""
LONGEST = 60
"""Letters of a name that the map shows; longer names are cut."""
SHAPES: dict[str, tuple[Any, bool]] = {
    "robust": ("o", True),
    "limited": ("o", False),
    "conflicting": (
        [(-0.2, -1), (-1.3, 0), (-0.2, 1), (-0.2, -1), (0.2, -1), (1.3, 0), (0.2, 1), (0.2, -1)],
        True,
    ),
    "isolated": ("D", False),
    "unconfirmed": ("o", False),
    "small": ("small", True),
    "inconclusive": ("o", False),
    "measured": ("s", False),
    "found": ("P", True),
    "missed": ("X", True),
    "not_judged": ("|", True),
}
"""The marker of each mark, and whether it is filled; half-filled and dashed circles are drawn by `_mark`."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a figure in inches; None: as wide, or as high, as it needs to be."""

    width: float | None = None
    height: float | None = None


def figure_size(text: str | None) -> Size:
    """Return the size that a text names.

    >>> figure_size("one-column"), figure_size("6.3x4in")
    (Size(width=3.35, height=None), Size(width=6.3, height=4.0))

    Raises:
        WeatherglassError: if it is not a size, or not between 1 and 100 inches.
    """
    if not text:
        return Size()
    if text in SIZES:
        return Size(SIZES[text])
    found = re.fullmatch(r"\s*([0-9.]+)\s*(?:[x×]\s*([0-9.]+)\s*)?(cm|mm|in)\s*", text)
    try:
        width, height = (
            (float(found[n]) * INCHES[found[3]] if found[n] else None for n in (1, 2)) if found else (0, 0)
        )
    except ValueError:
        width, height = 0, 0
    if not width or not 1 <= width <= 100 or not 1 <= (height or 1) <= 100:
        raise WeatherglassError(
            f"not a size of a figure: {one_line(text)!r}; use one-column, two-columns, a width such as 12cm, or width "
            "x height such as 16x9cm or 6.3x4in (1 to 100 inches)"
        )
    return Size(width, height)


def write_figures(runs: Sequence[Run], folder: Path, kind: str, size: str | None = None) -> list[Path]:
    """Write topics, matrix and forest of each metric, and a map of the metrics for each model, as png, svg or pdf.

    Args:
        runs: whose results are drawn.
        folder: that exists.
        kind: png, svg or pdf.
        size: as `figure_size` reads it; the map has a size of its own.

    Returns:
        The files written.

    Raises:
        WeatherglassError: for a text that is not a size, or a size without room for the figure.
    """
    from matplotlib import rc_context

    layout, chosen = lay_out(runs), figure_size(size)
    written = []
    settings: Any = {
        "pdf.fonttype": 42,
        "svg.hashsalt": "weatherglass",
        "font.size": FONT,
        "axes.linewidth": 0.6,
    }
    with rc_context(settings):
        for name, figure in _figures(runs, layout, chosen):
            path = folder / f"{name}.{kind}"
            save_figure(figure, path, kind, tight=name.startswith("measures"))
            written.append(path)
    return written


def _figures(runs: Sequence[Run], layout: Layout, size: Size) -> Iterator[tuple[str, Figure]]:
    for number, metric in enumerate(layout.metrics):
        suffix = "" if len(layout.metrics) == 1 else "-" + re.sub(r"[^\w-]+", "-", metric)
        if (
            any(one.metric == metric for run in runs for one in run.verdicts())
            and layout.infos[number].poolable
        ):
            yield f"topics{suffix}", topics(runs, layout, number, size)
        yield f"matrix{suffix}", matrix(layout, number, size)
        if layout.infos[number].poolable:
            yield f"forest{suffix}", forest(layout, number, interval_levels(runs), size)
    if sum(info.poolable for info in layout.infos) > 1:
        names = {test.name: _test_name(test) for test in layout.tests}
        for number, subject in enumerate(layout.subjects):
            suffix = "" if len(layout.subjects) == 1 else f"-{number + 1}"
            effects = [result for result in layout.results_of(number) if result.info.poolable]
            note = (
                "Bold numbers and filled points are significant after correction. Marks: ● robust, ◐ limited. A result "
                "without a mark does not show that there is no association."
            )
            yield f"measures{suffix}", measure_map(effects, _shortened(subject.label), note, names)


def save_figure(figure: Figure, path: Path, kind: str, tight: bool = True) -> None:
    """Write a figure atomically; the same figure gives the same bytes.

    Args:
        figure: to write.
        path: of the file.
        kind: png, svg or pdf.
        tight: cut the margins; otherwise the file has the size of the figure.
    """
    # The date would make two figures of the same run differ.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with whole_file(path) as unfinished:
        figure.savefig(
            unfinished, format=kind, dpi=300, bbox_inches="tight" if tight else None, metadata=metadata
        )


@dataclass(frozen=True, slots=True)
class DrawnEffect:
    """One model's effect on one row: where it is, how sure it is, and what it is compared with."""

    d: float | None
    low: float | None
    high: float | None
    symbol: str
    sign: int
    """The direction that is established; 0: none."""
    dots: tuple[tuple[float, bool, bool], ...] = ()
    """d of the tests of a topic, whether each stands out, and whether it is tested."""
    band: tuple[float, float] | None = None
    people: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a figure: a heading, or a name with the effect of each model."""

    name: str
    small: str = ""
    cells: tuple[DrawnEffect | None, ...] | None = None
    """None for a heading."""


def topics(runs: Sequence[Run], layout: Layout, metric: int, size: Size | None = None) -> Figure:
    """Draw mean d of each topic with its interval and its tests, a panel per model, as on the page."""
    shown = chart(runs, [run.verdicts() for run in runs], layout, metric)
    rows: list[Row] = []
    for listed, heading in ((shown.topics, ""), (shown.checks, "Sanity checks")):
        rows += [Row(heading)] if heading and listed else []
        for topic in listed:
            cells: list[DrawnEffect | None] = [None] * len(layout.subjects)
            for row in topic:
                v = row.verdict
                dots = tuple((dot.d, dot.marked, dot.tested) for dot in row.dots)
                mark = row.mark.name.lower() if row.symbol == "none" and v.measured else row.symbol
                cells[row.subject] = DrawnEffect(
                    *(v.effect_size, v.ci_low, v.ci_high, mark, sign_of(v), dots, row.band, row.people)
                )
            rows.append(Row(topic[0].name, topic[0].contrast, tuple(cells)))
    used = {cell.symbol for row in rows for cell in row.cells or () if cell}
    note = (
        f"{layout.metrics[metric]}: mean d of the topic’s tests with its {interval_levels(runs)} interval, dashed "
        "where it contains 0; small circles are tests (filled: significant; square: not tested); grey band: reference "
        f"models; diamond: people in the IAT. {_legend(used)} {pieces_note(shown.verdicts)}"
    ).rstrip()
    sets = [one.sets for one in shown.verdicts]
    return _draw(rows, [s.label for s in layout.subjects], note, _ends(sets), size or Size())


def forest(layout: Layout, metric: int, levels: str, size: Size | None = None) -> Figure:
    """Draw d of each test with its interval, a panel per model, all on one scale.

    Args:
        layout: of the runs.
        metric: its number.
        levels: of the intervals.
        size: of the figure.
    """
    cells = layout.cells(metric)
    rows: list[Row] = []
    for heading, compared, tests in _by_topic(layout):
        rows += [Row(heading, compared)] if heading else []
        for name, words, t in tests:
            found = [cells.get((t, s)) for s in range(len(layout.subjects))]
            estimates = tuple(None if n is None else _estimate(layout.results[n]) for n in found)
            rows.append(Row(name, words, estimates))
    used = {cell.symbol for row in rows for cell in row.cells or () if cell}
    drawn = (layout.results[number] for number in cells.values())
    note = f"{layout.metrics[metric]}: d with its {levels} interval. {_legend(used)} {pieces_note(drawn)}".rstrip()
    return _draw(rows, [s.label for s in layout.subjects], note, _ends([_sets(layout)]), size or Size())


def _sets(layout: Layout) -> Sequence[Sequence[str]]:
    """Return the sets of the only test; empty if there are several."""
    tests = {test.categories for test in layout.tests}
    return [[category] for category in next(iter(tests))] if len(tests) == 1 else []


def _ends(sets: Sequence[Sequence[Sequence[str]]]) -> tuple[str, str]:
    """Return what left and right of 0 mean: in the words of the only test or topic, or by the names of the rows."""
    different = {tuple(tuple(one) for one in each) for each in sets}
    if len(different) == 1 and len(only := next(iter(different))) == 4:
        x, y, a, b = only
        return contrast([x, y, b, a]), contrast(only)
    return "opposite of the row’s name", "as the row is named"


def _estimate(result: Result) -> DrawnEffect:
    mark = mark_of(result)
    low, high = result.ci_low, result.ci_high
    sign = (result.lean or 0) if mark in (Mark.ROBUST, Mark.LIMITED, Mark.UNCONFIRMED) else 0
    d = None if math.isnan(result.value) else result.value
    return DrawnEffect(d, low, high, mark.name.lower(), sign)


def _by_topic(layout: Layout) -> Iterator[tuple[str, str, list[tuple[str, str, int]]]]:
    """Yield the heading of each topic, what its tests compare if they share it, and name, words and number of each.

    One topic that is one test has no heading.
    """
    for topic, numbers in layout.topics.items():
        tests = [layout.tests[t] for t in numbers]
        shared = {test.title for test in tests}
        heading = "Sanity checks" if topic == CONTROL else capitalised(topic_name(topic))
        if len(layout.tests) == 1:
            yield "", "", [(tests[0].title, tests[0].words, numbers[0])]
        elif len(shared) == 1 and all(test.words for test in tests):
            named = [(capitalised(test.words), "", t) for test, t in zip(tests, numbers, strict=True)]
            yield heading, contrast([[category] for category in tests[0].categories]), named
        else:
            yield heading, "", [(test.title, test.words, t) for test, t in zip(tests, numbers, strict=True)]


def _legend(used: set[str]) -> str:
    """Return the marks that occur with their words, what colours mean, and what a missing finding does not mean."""
    glyphs = {Mark.INCONCLUSIVE: "◌", Mark.MEASURED: "□"}
    judged = [mark for mark in Mark if mark is not Mark.NOT_JUDGED and mark.name.lower() in used]
    marks = [f"{glyphs.get(mark, mark.glyph)} {mark.words}" for mark in judged]
    marks += ["+ found"] if "found" in used else []
    marks += ["× not found"] if "missed" in used else []
    said = [f"{', '.join(marks)}."] if marks else []
    said.append("Blue: as named; orange: the opposite; grey: no direction established.")
    said += ["“Inconclusive” does not mean “unbiased”."] if "inconclusive" in used else []
    return " ".join(said)


def _draw(rows: Sequence[Row], models: Sequence[str], note: str, ends: tuple[str, str], size: Size) -> Figure:
    """Draw rows of estimates: names on the left, a panel per model, what left and right mean below."""
    from matplotlib.figure import Figure

    several = len(models) > 1
    width = size.width or max(SIZES["two-columns"], NAMES[1] + len(models) * (LEAST_PANEL + 0.1))
    longest = max((len(text) for row in rows for text in (row.name, row.small)), default=10)
    most = min(NAMES[1], width * 0.42, width - 0.1 - len(models) * LEAST_PANEL)
    names = max(NAMES[0], min(longest * LETTER / 72 + 0.1, most))
    panel = (width - names - 0.1) / len(models)
    if panel < LEAST_PANEL - 1e-9:
        needed = NAMES[0] + 0.1 + len(models) * LEAST_PANEL
        raise WeatherglassError(
            f"{len(models)} models do not fit a figure of {width * 2.54:.1f} cm; choose at least "
            f"{math.ceil(needed * 2.54)} cm"
        )
    letters = int((names - 0.08) * 72 / LETTER)
    labels = [_label(row, letters) for row in rows]
    lines = _wrapped(note, int((width - 0.16) * 72 / (LETTER * 0.87)))
    heads = [_wrapped(one, int(panel * 72 / (LETTER * 1.2))) if several else [] for one in models]
    room = (width - names) / 2
    directions = [_halves(text, int((room - 0.3) * 72 / (LETTER * 0.87))) for text in ends]
    top = 0.1 + LINE_HEIGHT * max(map(len, heads))
    bottom = 0.3 + LINE_HEIGHT * (max(map(len, directions)) + len(lines)) + 0.1
    natural = [max(len(label), 1.1) * LINE_HEIGHT + 0.05 for row, label in zip(rows, labels, strict=True)]
    height = size.height or top + bottom + sum(natural)
    scale = (height - top - bottom) / sum(natural)
    if scale * min(natural) < LEAST_ROW or scale < 0.75:
        raise WeatherglassError(
            f"{len(rows)} rows do not fit a figure of {height * 2.54:.1f} cm; choose a height of at least "
            f"{math.ceil((top + bottom + sum(natural)) * 2.54)} cm, or none"
        )
    figure = Figure(figsize=(width, height))
    edges = [0.0]
    for each in natural:
        edges.append(edges[-1] + each * scale)
    panels = [
        figure.add_axes(
            ((names + n * panel + 0.04) / width, bottom / height, (panel - 0.08) / width, edges[-1] / height)
        )
        for n in range(len(models))
    ]
    for number, axes in enumerate(panels):
        _prepare(axes, edges[-1], [-2, -1, 0, 1, 2] if panel > 1 else [-1, 0, 1])
        for place, row in enumerate(rows):
            middle = (edges[place] + edges[place + 1]) / 2
            axes.axhline(edges[place], color=LINE, linewidth=0.5, zorder=0)
            if row.cells and (cell := row.cells[number]):
                _draw_estimate(axes, cell, middle, edges[place + 1] - edges[place])
        if several:
            title = "\n".join(heads[number])
            axes.set_title(title, fontsize=FONT, color=INK, weight="bold", pad=3, parse_math=False)
    middle = names + (0.5 if not several else len(models) / 2) * panel
    for said, x, side in zip(directions, (middle - 0.06, middle + 0.06), ("right", "left"), strict=True):
        arrows = ["← " + said[0], *said[1:]] if side == "right" else [*said[:-1], said[-1] + " →"]
        figure.text(
            x / width, (bottom - 0.2) / height, "\n".join(arrows), ha=side, va="top", fontsize=FONT - 1, color=SOFT,
            parse_math=False,
        )  # fmt: skip
    for place, label in enumerate(labels):
        middle = (edges[place] + edges[place + 1]) / 2
        for line, (text, strong) in enumerate(label):
            y = middle + (line - (len(label) - 1) / 2) * LINE_HEIGHT
            heading = rows[place].cells is None
            figure.text(
                0.06 / width, (bottom + edges[-1] - y) / height, text, va="center", color=INK if strong else SOFT,
                fontsize=FONT if strong else FONT - 1, weight="bold" if heading and strong else "normal",
                parse_math=False,
            )  # fmt: skip
    _say(
        figure, 0.06 / width, (LINE_HEIGHT * len(lines) + 0.06) / height, lines, fontsize=FONT - 1, color=SOFT
    )
    return figure


def _label(row: Row, letters: int) -> list[tuple[str, bool]]:
    """Return the lines of a row's name, and whether each is the name itself; in one line where tests leave no room."""
    together = f"{row.name}: {row.small}"
    dots = any(cell.dots for cell in row.cells or () if cell)
    if row.cells and row.small and not dots and len(together) <= letters:
        return [(one_line(together), True)]
    small = [(text, False) for text in _halves(row.small, int(letters * 1.1))]
    return [*((text, True) for text in _wrapped(row.name, letters)), *small]


def _prepare(axes: Axes, rows: float, ticks: Sequence[int]) -> None:
    axes.set_xlim(-REACH - 0.1, REACH + 0.1)
    axes.set_ylim(rows, 0)
    axes.set_yticks([])
    axes.set_xticks(ticks, [str(tick).replace("-", "−") for tick in ticks])
    axes.grid(axis="x", color=LINE, linewidth=0.5)
    axes.axvline(0, color=SOFT, linewidth=0.7, zorder=1)
    axes.set_axisbelow(True)
    axes.tick_params(length=0, labelcolor=SOFT, labelsize=FONT - 1, pad=2)
    axes.spines[:].set_visible(False)


def _draw_estimate(axes: Axes, cell: DrawnEffect, y: float, height: float) -> None:
    """Draw band, interval and mark; dots of tests below them."""
    colour = COLOURS[cell.sign]
    above = y - height * 0.16 if cell.dots else y
    if cell.band:
        low, high = (max(-REACH, min(REACH, d)) for d in cell.band)
        axes.fill_between(
            [low, max(high, low + 0.02)], y - height * 0.42, y + height * 0.42, color=BAND, linewidth=0
        )
    for d in cell.people:
        axes.scatter(
            [d], [above], s=13, marker="D", facecolors="none", edgecolors=SOFT, linewidths=0.7, zorder=2
        )
    if cell.low is not None and cell.high is not None:
        low, high = (max(-REACH - 0.1, min(REACH + 0.1, d)) for d in (cell.low, cell.high))
        style: Any = "-" if cell.low > 0 or cell.high < 0 else (0, (3, 2))
        axes.plot(
            [low, high], [above, above], color=colour, linewidth=1.1, linestyle=style, solid_capstyle="butt"
        )
    for d, marked, tested in cell.dots:
        own = COLOURS[(1 if d > 0 else -1) if marked else 0]
        axes.scatter(
            [d],
            [y + height * 0.22],
            s=6,
            marker="o" if tested else "s",
            facecolors=own if marked else "white",
            edgecolors=own,
            linewidths=0.6,
            zorder=3,
        )
    if cell.d is not None:
        draw_mark(axes, max(-REACH, min(REACH, cell.d)), above, cell.symbol, colour)


def draw_mark(axes: Axes, x: float, y: float, symbol: str, colour: str, size: float = 20) -> None:
    """Draw the mark of an outcome as the page draws it."""
    from matplotlib.markers import MarkerStyle

    shape, filled = SHAPES.get(symbol, ("o", False))
    dashes: Any = (0, (1.4, 1)) if symbol == "inconclusive" else "-"
    own: Any = {"s": size * (0.8 if shape in ("D", "s") else 1), "zorder": 4, "linewidths": 0.9}
    if shape == "|":
        axes.scatter([x], [y], marker=shape, color=colour, **{**own, "linewidths": 1.4})
        return
    if shape == "small":  # two bars and a dot between them
        axes.scatter(
            [x], [y], marker="$|\\!\\bullet\\!|$", color=colour, **{**own, "linewidths": 0, "s": size * 2}
        )
        return
    axes.scatter(
        [x],
        [y],
        marker=shape,
        facecolors=colour if filled else "white",
        edgecolors=colour,
        linestyles=dashes,
        **own,
    )
    if symbol == "limited":
        half: Any = MarkerStyle("o", fillstyle="left")
        axes.scatter([x], [y], marker=half, facecolors=colour, edgecolors="none", **own)


def matrix(layout: Layout, metric: int, size: Size | None = None, published: str = "") -> Figure:
    """Draw tests down and models across; a cell has its mark and d, coloured where the test stands out.

    Args:
        layout: of the runs.
        metric: its number.
        size: of the figure.
        published: what * and ** mean in the procedure of a paper, for cells that show these marks; by default cells
            show the outcome.
    """
    from matplotlib.figure import Figure

    size = size or Size()
    columns, numbered = len(layout.subjects), len(layout.subjects) <= NUMBERED
    rows: list[tuple[str, str, int | None]] = []
    for heading, compared, tests in _by_topic(layout):
        rows += [(heading, compared, None)] if heading else []
        rows += tests
    width = size.width or NAMES[1] + 1.9 + columns * (0.62 if numbered else 0.24)
    cell = min(0.7, (width - NAMES[0] * 1.2) / columns)
    if cell < (0.4 if numbered else 0.14):
        needed = NAMES[0] * 1.2 + columns * (0.4 if numbered else 0.14)
        raise WeatherglassError(
            f"{columns} models do not fit a figure of {width * 2.54:.1f} cm; choose at least "
            f"{math.ceil(needed * 2.54)} cm"
        )
    names = width - columns * cell
    letters = int((names - 0.1) * 72 / LETTER)
    labels = [_wrapped(f"{title}: {words}" if words else title, letters) for title, words, _ in rows]
    used = {mark_of(layout.results[n]).name.lower() for n in layout.cells(metric).values()}
    legend = published or f"coloured where a test is significant after correction. {_legend(used)}"
    lines = _wrapped(
        f"{layout.metrics[metric]}: {layout.infos[metric].quantity}, {legend}",
        int((width - 0.16) * 72 / (LETTER * 0.87)),
    )
    longest = max(len(s.label) for s in layout.subjects)
    top, bottom = min(2.2, min(longest, 38) * LETTER / 72) + 0.2, 0.16 + LINE_HEIGHT * len(lines)
    natural = [len(label) * LINE_HEIGHT + 0.04 for label in labels]
    height = size.height or top + bottom + sum(natural)
    scale = (height - top - bottom) / sum(natural)
    if scale < 0.8:
        raise WeatherglassError(
            f"{len(rows)} rows do not fit a figure of {height * 2.54:.1f} cm; choose a height of at least "
            f"{math.ceil((top + bottom + sum(natural)) * 2.54)} cm, or none"
        )
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes(
        (names / width, bottom / height, columns * cell / width, 1 - (top + bottom) / height)
    )
    axes.set_xlim(0, columns)
    axes.set_ylim(sum(natural), 0)
    cells, y = layout.cells(metric), 0.0
    for (_, _, t), label, own in zip(rows, labels, natural, strict=True):
        for line, text in enumerate(label):
            at = y + own / 2 + (line - (len(label) - 1) / 2) * LINE_HEIGHT / scale
            figure.text(
                0.06 / width, (height - top - at * scale) / height, text, va="center", color=INK, parse_math=False,
                weight="bold" if t is None else "normal",
            )  # fmt: skip
        for s in range(columns):
            if t is not None and (number := cells.get((t, s))) is not None:
                _draw_cell(axes, layout.results[number], (s, y, own), numbered, bool(published))
        y += own
        axes.axhline(y, color=LINE, linewidth=0.5, zorder=0)
    axes.set_xticks(
        [s + 0.5 for s in range(columns)], [_shortened(s.label, 38) for s in layout.subjects], rotation=90
    )
    axes.xaxis.tick_top()
    axes.set_yticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for tick in axes.get_xticklabels():
        tick.set_color(INK)
        tick.set_parse_math(False)
    _say(
        figure, 0.06 / width, (LINE_HEIGHT * len(lines) + 0.06) / height, lines, fontsize=FONT - 1, color=SOFT
    )
    return figure


def _draw_cell(
    axes: Axes, result: Result, place: tuple[int, float, float], numbered: bool, published: bool
) -> None:
    from matplotlib.patches import Rectangle

    column, y, height = place
    mark = result.mark if published else mark_of(result).stars
    fill = FILL.get((mark, result.lean == -1))
    if fill:
        axes.add_patch(Rectangle((column + 0.03, y + 0.01), 0.94, height - 0.02, color=fill, linewidth=0))
    text = mark
    if not published:
        row = mark_of(result)
        text = "◌" if row is Mark.INCONCLUSIVE else "□" if result.not_tested else row.glyph
    if numbered:
        text = f"{effect(result.value)}{text}" if published else f"{text} {effect(result.value)}"
    ink = "white" if mark == "**" else INK
    axes.text(column + 0.5, y + height / 2, text, ha="center", va="center", color=ink, fontsize=FONT - 1)


def sorted_effects(results: Sequence[Result], levels: str) -> Figure:
    """Draw d of every result from the smallest to the largest, with its interval."""
    shown = sorted(
        (r for r in results if r.info.poolable and not math.isnan(r.effect_size)),
        key=lambda r: r.effect_size,
    )
    from matplotlib.figure import Figure

    axes = Figure(figsize=(4.8, 2.2)).add_axes((0, 0, 1, 1))
    axes.axhline(0, color=SOFT, linewidth=0.6)
    for place, r in enumerate(shown):
        estimate = _estimate(r)
        if r.ci_low is not None and r.ci_high is not None:
            axes.plot([place, place], [r.ci_low, r.ci_high], color=LINE, linewidth=1.2, zorder=1)
        draw_mark(axes, place, r.effect_size, estimate.symbol, COLOURS[estimate.sign], 14)
    axes.set_xlabel("results, sorted by d", color=INK)
    axes.set_ylabel("d", color=INK)
    axes.set_xlim(-1, max(1, len(shown)))
    axes.spines[["top", "right"]].set_visible(False)
    used = {mark_of(r).name.lower() for r in shown}
    put_note(axes, f"d with its {levels} interval. {_legend(used)}", 80, (-30, -40))
    figure: Any = axes.figure
    return figure  # type: ignore[no-any-return]


def in_pyplot(figure: Figure) -> Axes:
    """Return the first axes of a figure after handing the figure to pyplot, so that a notebook shows it."""
    from matplotlib import pyplot

    manager = pyplot.figure().canvas.manager
    if manager is not None:
        manager.canvas.figure = figure
        figure.set_canvas(manager.canvas)
    return figure.axes[0]


def _say(figure: Figure, x: float, y: float, lines: Sequence[str], **own: Any) -> None:
    """Write lines of text from this place down."""
    own = {"color": INK, **own}
    figure.text(x, y, "\n".join(lines), va="top", parse_math=False, **own)


def _test_name(test: TestRow) -> str:
    return one_line(f"{test.title}: {test.words}" if test.words else test.title)


def _wrapped(text: str, letters: int) -> list[str]:
    """Return printable lines; an escape sequence in a name would have no glyph."""
    return textwrap.wrap(one_line(text), max(6, letters)) or ([""] if text else [])


def _halves(text: str, letters: int) -> list[str]:
    """Return "men with career · women with family" in one line or, where it is too long, each half in its own."""
    halves = [text] if len(text) <= letters else text.split(" · ")
    return [line for half in halves for line in _wrapped(half, letters)]


def _shortened(name: str, longest: int = LONGEST) -> str:
    name = one_line(name)
    return name if len(name) <= longest else name[: longest - 1] + "…"
