"""Draw figures for print: topics, forest and matrix with the same marks as the page, and a map of metrics.

Colours mean the same as on the page: blue is the direction that the row names, orange the opposite, and grey means
that no direction is established. Marks show the outcome. Both can be distinguished in grey print.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from weatherglass.audit.results import Mark, Result, mark_of
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import CONTROL
from weatherglass.catalogue.names import capitalised, contrast, topic_name
from weatherglass.errors import WeatherglassError
from weatherglass.report.measures import INK, LINE, SOFT, measure_map, put_note
from weatherglass.report.numbers import effect
from weatherglass.report.page.topics import chart
from weatherglass.report.panels import (
    COLOURS,
    FONT,
    LETTER,
    LINE_HEIGHT,
    NAMES,
    SIZES,
    DrawnEffect,
    FigureRow,
    Size,
    draw_mark,
    draw_rows,
    put_lines,
    too_low,
    too_narrow,
    wrapped,
)
from weatherglass.report.statements import pieces_note, sign_of
from weatherglass.report.tables import interval_levels
from weatherglass.report.view import ReportLayout, TestRow, lay_out
from weatherglass.storage.atomic import whole_file
from weatherglass.storage.printable import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Blue and orange differ for every kind of colour vision, dark and light in grey print; marks show both as well.
FILL = {
    ("**", False): "#20598a",
    ("*", False): "#cbdeee",
    ("**", True): "#97470f",
    ("*", True): "#f4dac3",
}
INCHES = {"cm": 1 / 2.54, "mm": 1 / 25.4, "in": 1.0}
NUMBERED = 12
"""The number of models above which cells of the matrix show only marks."""
LONGEST = 60
"""The number of characters of a name that the map shows; longer names are cut."""


def figure_size(text: str | None) -> Size:
    """Return the size that a text names.

    >>> figure_size("one-column"), figure_size("6.3x4in")
    (Size(width=3.35, height=None), Size(width=6.3, height=4.0))

    Raises:
        WeatherglassError: if the text is not a size, or not between 1 and 100 inches.
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
    """Write the topics, matrix and forest of each metric, and a map of the metrics for each model, as png, svg or pdf
    files.

    Args:
        runs: the runs to draw.
        folder: the folder for the files, which must exist.
        kind: png, svg or pdf.
        size: a text that `figure_size` reads; the map has a fixed size.

    Returns:
        The files that were written.

    Raises:
        WeatherglassError: if the text is not a size, or the size has no room for the figure.
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


def _figures(runs: Sequence[Run], layout: ReportLayout, size: Size) -> Iterator[tuple[str, Figure]]:
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
        figure: the figure.
        path: the file.
        kind: png, svg or pdf.
        tight: whether to cut the margins; otherwise the file has the size of the figure.
    """
    # The date would make two figures of the same run differ.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    with whole_file(path) as unfinished:
        figure.savefig(
            unfinished, format=kind, dpi=300, bbox_inches="tight" if tight else None, metadata=metadata
        )


def topics(runs: Sequence[Run], layout: ReportLayout, metric: int, size: Size | None = None) -> Figure:
    """Draw the mean d of each topic with its interval and its tests, with a panel per model, as on the page."""
    shown = chart(runs, [run.verdicts() for run in runs], layout, metric)
    rows: list[FigureRow] = []
    for listed, heading in ((shown.topics, ""), (shown.checks, "Sanity checks")):
        rows += [FigureRow(heading)] if heading and listed else []
        for topic in listed:
            cells: list[DrawnEffect | None] = [None] * len(layout.subjects)
            for row in topic:
                v = row.verdict
                dots = tuple((dot.d, dot.marked, dot.tested) for dot in row.dots)
                mark = row.mark.name.lower() if row.symbol == "none" and v.measured else row.symbol
                cells[row.subject] = DrawnEffect(
                    *(v.effect_size, v.ci_low, v.ci_high, mark, sign_of(v), dots, row.band, row.people)
                )
            rows.append(FigureRow(topic[0].name, topic[0].contrast, tuple(cells)))
    used = {cell.symbol for row in rows for cell in row.cells or () if cell}
    note = (
        f"{layout.metrics[metric]}: mean d of the topic’s tests with its {interval_levels(runs)} interval, dashed "
        "where it contains 0; small circles are tests (filled: significant; square: not tested); grey band: reference "
        f"models; diamond: people in the IAT. {_legend(used)} {pieces_note(shown.verdicts)}"
    ).rstrip()
    sets = [one.sets for one in shown.verdicts]
    return draw_rows(rows, [s.label for s in layout.subjects], note, _ends(sets), size or Size())


def forest(layout: ReportLayout, metric: int, levels: str, size: Size | None = None) -> Figure:
    """Draw d of each test with its interval, with a panel per model, all on one scale.

    Args:
        layout: the layout of the runs.
        metric: the number of the metric.
        levels: the levels of the intervals.
        size: the size of the figure.
    """
    cells = layout.cells(metric)
    rows: list[FigureRow] = []
    for heading, compared, tests in _by_topic(layout):
        rows += [FigureRow(heading, compared)] if heading else []
        for name, words, t in tests:
            found = [cells.get((t, s)) for s in range(len(layout.subjects))]
            estimates = tuple(None if n is None else _estimate(layout.results[n]) for n in found)
            rows.append(FigureRow(name, words, estimates))
    used = {cell.symbol for row in rows for cell in row.cells or () if cell}
    drawn = (layout.results[number] for number in cells.values())
    note = f"{layout.metrics[metric]}: d with its {levels} interval. {_legend(used)} {pieces_note(drawn)}".rstrip()
    return draw_rows(rows, [s.label for s in layout.subjects], note, _ends([_sets(layout)]), size or Size())


def _sets(layout: ReportLayout) -> Sequence[Sequence[str]]:
    """Return the sets of the only test; empty if there are several."""
    tests = {test.categories for test in layout.tests}
    return [[category] for category in next(iter(tests))] if len(tests) == 1 else []


def _ends(sets: Sequence[Sequence[Sequence[str]]]) -> tuple[str, str]:
    """Return the meaning of left and right of 0, in the words of the only test or topic, or by the names of the
    rows.
    """
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


def _by_topic(layout: ReportLayout) -> Iterator[tuple[str, str, list[tuple[str, str, int]]]]:
    """Yield the heading of each topic, the comparison that its tests share, if any, and the name, words and number of
    each test.

    If there is only one test, its topic has no heading.
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
    """Return a legend of the marks in use and of the colours, and state what “inconclusive” does not mean."""
    glyphs = {Mark.INCONCLUSIVE: "◌", Mark.MEASURED: "□"}
    judged = [mark for mark in Mark if mark is not Mark.NOT_JUDGED and mark.name.lower() in used]
    marks = [f"{glyphs.get(mark, mark.glyph)} {mark.words}" for mark in judged]
    marks += ["+ found"] if "found" in used else []
    marks += ["× not found"] if "missed" in used else []
    said = [f"{', '.join(marks)}."] if marks else []
    said.append("Blue: as named; orange: the opposite; grey: no direction established.")
    said += ["“Inconclusive” does not mean “unbiased”."] if "inconclusive" in used else []
    return " ".join(said)


def matrix(layout: ReportLayout, metric: int, size: Size | None = None, published: str = "") -> Figure:
    """Draw a table with a row per test and a column per model; a cell shows the mark and d, coloured by direction.

    Args:
        layout: the layout of the runs.
        metric: the number of the metric.
        size: the size of the figure.
        published: what * and ** mean in the procedure of a paper, for cells that show these marks; by default, cells
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
        raise too_narrow(columns, width, NAMES[0] * 1.2 + columns * (0.4 if numbered else 0.14))
    names = width - columns * cell
    letters = int((names - 0.1) * 72 / LETTER)
    labels = [wrapped(f"{title}: {words}" if words else title, letters) for title, words, _ in rows]
    used = {mark_of(layout.results[n]).name.lower() for n in layout.cells(metric).values()}
    legend = published or f"coloured where a test is significant after correction. {_legend(used)}"
    lines = wrapped(
        f"{layout.metrics[metric]}: {layout.infos[metric].quantity}, {legend}",
        int((width - 0.16) * 72 / (LETTER * 0.87)),
    )
    longest = max(len(s.label) for s in layout.subjects)
    top, bottom = min(2.2, min(longest, 38) * LETTER / 72) + 0.2, 0.16 + LINE_HEIGHT * len(lines)
    natural = [len(label) * LINE_HEIGHT + 0.04 for label in labels]
    height = size.height or top + bottom + sum(natural)
    scale = (height - top - bottom) / sum(natural)
    if scale < 0.8:
        raise too_low(len(rows), height, top + bottom + sum(natural))
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
    put_lines(
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
    """Pass a figure to pyplot, so that a notebook shows it, and return its first axes."""
    from matplotlib import pyplot

    manager = pyplot.figure().canvas.manager
    if manager is not None:
        manager.canvas.figure = figure
        figure.set_canvas(manager.canvas)
    return figure.axes[0]


def _test_name(test: TestRow) -> str:
    return one_line(f"{test.title}: {test.words}" if test.words else test.title)


def _shortened(name: str, longest: int = LONGEST) -> str:
    name = one_line(name)
    return name if len(name) <= longest else name[: longest - 1] + "…"
