"""Draw rows of effects for print, with names on the left, a panel per model, and the same outcome marks as on the
page.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weatherglass.errors import WeatherglassError
from weatherglass.report.measures import INK, LINE, SOFT
from weatherglass.report.page.topics import REACH
from weatherglass.storage.printable import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = {1: "#1f5886", -1: "#a44f0d", 0: "#6b7176"}
"""The colours of directions: as named, the opposite, none established."""
BAND = "#ece9e1"
SIZES = {"one-column": 3.35, "two-columns": 6.9}
"""The widths of figures in journals, in inches."""
FONT, LETTER, LINE_HEIGHT = 7.5, 4.1, 0.125
"""The size of the text and the average width of a letter in points, and the height of a line in inches."""
NAMES = (1.3, 2.6)
"""The smallest and largest width of the column of names in inches."""
LEAST_PANEL, LEAST_ROW = 0.75, 0.11
"""The smallest width of a panel and the smallest height of a row in inches."""
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
"""The marker of each mark, and whether it is filled; half-filled and dashed circles are drawn by `draw_mark`."""


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a figure in inches; None for the natural width or height."""

    width: float | None = None
    height: float | None = None


@dataclass(frozen=True, slots=True)
class DrawnEffect:
    """The effect of one model in one row, with its interval and the values that it is compared with."""

    d: float | None
    low: float | None
    high: float | None
    symbol: str
    sign: int
    """The established direction; 0 if there is none."""
    dots: tuple[tuple[float, bool, bool], ...] = ()
    """d of each test of a topic, whether it is significant, and whether it is tested."""
    band: tuple[float, float] | None = None
    people: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class FigureRow:
    """A row of a figure: a heading, or a name with the effect of each model."""

    name: str
    small: str = ""
    cells: tuple[DrawnEffect | None, ...] | None = None
    """The effects; None for a heading."""


def draw_rows(
    rows: Sequence[FigureRow], models: Sequence[str], note: str, ends: tuple[str, str], size: Size
) -> Figure:
    """Draw rows of estimates, with names on the left, a panel per model, and the meaning of left and right below."""
    from matplotlib.figure import Figure

    several = len(models) > 1
    width = size.width or max(SIZES["two-columns"], NAMES[1] + len(models) * (LEAST_PANEL + 0.1))
    longest = max((len(text) for row in rows for text in (row.name, row.small)), default=10)
    most = min(NAMES[1], width * 0.42, width - 0.1 - len(models) * LEAST_PANEL)
    names = max(NAMES[0], min(longest * LETTER / 72 + 0.1, most))
    panel = (width - names - 0.1) / len(models)
    if panel < LEAST_PANEL - 1e-9:
        raise too_narrow(len(models), width, NAMES[0] + 0.1 + len(models) * LEAST_PANEL)
    letters = int((names - 0.08) * 72 / LETTER)
    labels = [_label(row, letters) for row in rows]
    lines = wrapped(note, int((width - 0.16) * 72 / (LETTER * 0.87)))
    heads = [wrapped(one, int(panel * 72 / (LETTER * 1.2))) if several else [] for one in models]
    room = (width - names) / 2
    directions = [_halves(text, int((room - 0.3) * 72 / (LETTER * 0.87))) for text in ends]
    top = 0.1 + LINE_HEIGHT * max(map(len, heads))
    bottom = 0.3 + LINE_HEIGHT * (max(map(len, directions)) + len(lines)) + 0.1
    natural = [max(len(label), 1.1) * LINE_HEIGHT + 0.05 for row, label in zip(rows, labels, strict=True)]
    height = size.height or top + bottom + sum(natural)
    scale = (height - top - bottom) / sum(natural)
    if scale * min(natural) < LEAST_ROW or scale < 0.75:
        raise too_low(len(rows), height, top + bottom + sum(natural))
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
    put_lines(
        figure, 0.06 / width, (LINE_HEIGHT * len(lines) + 0.06) / height, lines, fontsize=FONT - 1, color=SOFT
    )
    return figure


def too_narrow(models: int, width: float, needed: float) -> WeatherglassError:
    """Return the error for a figure, with its widths in inches, that is too narrow for its models."""
    return WeatherglassError(
        f"{models} models do not fit into a width of {width * 2.54:.1f} cm; choose a width of at least "
        f"{math.ceil(needed * 2.54)} cm"
    )


def too_low(rows: int, height: float, needed: float) -> WeatherglassError:
    """Return the error for a figure, with its heights in inches, that is too low for its rows."""
    return WeatherglassError(
        f"{rows} rows do not fit into a height of {height * 2.54:.1f} cm; choose a height of at least "
        f"{math.ceil(needed * 2.54)} cm, or omit the height"
    )


def _label(row: FigureRow, letters: int) -> list[tuple[str, bool]]:
    """Return the lines of a row's name, and whether each is the name itself; if there are no dots, use one line if it
    fits.
    """
    together = f"{row.name}: {row.small}"
    dots = any(cell.dots for cell in row.cells or () if cell)
    if row.cells and row.small and not dots and len(together) <= letters:
        return [(one_line(together), True)]
    small = [(text, False) for text in _halves(row.small, int(letters * 1.1))]
    return [*((text, True) for text in wrapped(row.name, letters)), *small]


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
    """Draw the band, the interval and the mark, with the dots of tests below them."""
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
    """Draw the mark of an outcome in the same way as the page."""
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


def put_lines(figure: Figure, x: float, y: float, lines: Sequence[str], **own: Any) -> None:
    """Write lines of text one below the other, starting at the given place."""
    own = {"color": INK, **own}
    figure.text(x, y, "\n".join(lines), va="top", parse_math=False, **own)


def wrapped(text: str, letters: int) -> list[str]:
    """Return printable lines, since an escape sequence in a name would have no glyph."""
    return textwrap.wrap(one_line(text), max(6, letters)) or ([""] if text else [])


def _halves(text: str, letters: int) -> list[str]:
    """Return "men with career · women with family" in one line, or with each half on its own line if it is too
    long.
    """
    halves = [text] if len(text) <= letters else text.split(" · ")
    return [line for half in halves for line in wrapped(half, letters)]
