"""Draw a study's figures: rows of panels with boxes or with points and intervals, and a coefficient plot."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any

import matplotlib as mpl
import polars as pl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from weatherglass.reliability.regression.explain import Explanation, Part
from weatherglass.reliability.regression.tables import ESTIMATES
from weatherglass.reliability.scoring import RULES

COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00")
"""The palette of Okabe & Ito, which is safe for colour-blind readers."""
LABELS = {"sgns": "SGNS", "cbow": "CBOW", "glove": "GloVe", "sgns-window": "SGNS by windows"}
"""Readable names of algorithms."""
BOX = {
    "whislo": "low_whisker",
    "q1": "lower_quartile",
    "med": "median",
    "q3": "upper_quartile",
    "whishi": "high_whisker",
}
STYLES = {
    "as published": ("o", "#1b5e8c", 0.27),
    "with word": ("s", "#c4570a", 0.09),
    "weighted": ("^", "#3d7a3d", -0.09),
}
"""The marker, colour and vertical offset of each regression model; the colours are safe for colour-blind readers."""
BELOW = -0.27
"""The vertical offset of the reproduced estimates, so that they do not cover those of a model."""
LETTERS_PER_INCH = 11
"""The number of characters per inch of a title."""
Rows = list[dict[str, Any]]
Legend = list[tuple[str, str]]
"""Names with their colours."""


@dataclass(frozen=True)
class FigurePlan:
    """One kind of figure, for any subject."""

    name: str
    title: str
    caption: str
    unit: str
    """The label of the vertical axis."""
    value: str
    """The column that is drawn; rows without it are left out."""
    threshold: float
    """The position of the dashed line; NaN for none."""
    by: str = "corpus"
    """The column with one panel per value."""
    bottom: float | None = None
    """The lowest end of the vertical axis."""
    across: str = ""
    """The label of the horizontal axis, if it needs one."""
    panel_width: float = 4.2
    """The width of a panel in inches."""
    published: Mapping[str, str] = field(default_factory=dict)
    """The numbers of the corresponding figures in the reproduction of Du et al. (2021), by key of the subject."""


@dataclass(frozen=True)
class FigureSubject:
    """The set of base pairs and the algorithm that a figure shows."""

    pairs: str
    algorithm: str = ""
    """The algorithm; empty if one figure shows all algorithms."""

    @property
    def key(self) -> str:
        """Return the part of a file name that identifies the subject."""
        return f"{self.pairs}-{self.algorithm}" if self.algorithm else self.pairs

    def __str__(self) -> str:
        pairs = f"{label(self.pairs)} pairs"
        return f"{label(self.algorithm)}, {pairs}" if self.algorithm else pairs


@dataclass(frozen=True)
class Drawing:
    """One figure, with the texts that a reader needs to understand it."""

    kind: str
    """The title of the kind of figure, without its subject."""
    subject: FigureSubject
    name: str
    title: str
    caption: str
    spoken: str
    """The text for screen readers."""
    figure: Figure
    published: str = ""
    """The numbers of the corresponding figures in the reproduction of Du et al.; empty if there are none."""


def label(name: str) -> str:
    """Return the readable name of a rule, algorithm, list or set of base pairs, without underscores."""
    if name in RULES:
        return RULES.get(name).label
    return LABELS.get(name, name.replace("_", " "))


def panels(
    plan: FigurePlan, subject: FigureSubject, rows: pl.DataFrame, draw: Callable[[Axes, Rows], Legend]
) -> Iterator[Drawing]:
    """Yield a row of panels, each filled with its rows by `draw`; yield nothing if no panel has an estimate."""
    by_corpus = "corpus" in rows.columns
    corpora = rows["corpus"].unique(maintain_order=True).to_list() if by_corpus else []
    rows = rows.filter(pl.col(plan.value).is_finite())
    if rows.is_empty():
        return
    without = [corpus for corpus in corpora if corpus not in set(rows["corpus"])]
    caption = f"{plan.caption} Not estimable: {', '.join(without)}." if without else plan.caption
    name, title = f"{plan.name}-{subject.key}", f"{plan.title}: {subject}"
    with mpl.rc_context(
        {
            "font.size": 9,
            "svg.hashsalt": name,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "text.parse_math": False,  # A name may have dollar signs.
        }
    ):
        values = rows[plan.by].unique(maintain_order=True).to_list()
        width = 1.2 + plan.panel_width * len(values)
        figure = Figure(figsize=(width, 3.9), layout="constrained")
        legend: Legend = []
        first: Axes | None = None
        for number, panel in enumerate(values):
            axes = figure.add_subplot(1, len(values), number + 1, sharey=first)
            first = first or axes
            legend = draw(axes, rows.filter(pl.col(plan.by) == panel).to_dicts())
            if not math.isnan(plan.threshold):
                axes.axhline(plan.threshold, color="#666666", linewidth=0.8, linestyle="--", zorder=1)
            axes.set_title(label(panel) if plan.by == "pairs" else panel, fontsize=10)
            axes.set_xlabel(plan.across)
            axes.grid(axis="y", color="#dddddd", linewidth=0.6)
            axes.set_axisbelow(True)
        assert first is not None
        first.set_ylabel(plan.unit)
        low = min(first.get_ylim()[0], 0.0)
        first.set_ylim(low if plan.bottom is None else max(low, plan.bottom), 1.02)
        _legend(figure, legend)
        # A figure of one panel is narrower than most titles.
        figure.suptitle(fill(title, int(LETTERS_PER_INCH * width)), fontsize=11, x=0.01, ha="left")
    published = plan.published.get(subject.key, "")
    if published:
        several = "," in published or "–" in published
        caption += f" As Figure{'s' if several else ''} {published} of the reproduction."
    yield Drawing(plan.title, subject, name, title, caption, _spoken(plan, rows), figure, published)


def _spoken(plan: FigurePlan, rows: pl.DataFrame) -> str:
    """Return the range of every panel, as text for screen readers."""
    value = pl.col(plan.value)
    ranges = rows.group_by(plan.by, maintain_order=True).agg(
        value.min().alias("low"), value.max().alias("high")
    )
    what = f"{plan.unit}, medians" if plan.value == "median" else plan.unit
    return f"{what}: " + "; ".join(
        f"{panel} {low:.2f} to {high:.2f}" for panel, low, high in ranges.iter_rows()
    )


def _legend(figure: Figure, entries: Legend) -> None:
    from matplotlib.patches import Patch

    if not entries:
        return
    handles = [Patch(color=colour, label=label(name)) for name, colour in entries]
    figure.legend(handles=handles, loc="outside lower left", ncols=len(handles), frameon=False)


def _groups(
    rows: Rows, across: str, within: str, order: Sequence[str], groups: Sequence[str]
) -> Iterator[tuple[float, str, dict[str, Any]]]:
    """Yield the position, colour and row of each element, with groups side by side and elements in order within a
    group.
    """
    width = 0.8 / len(order)
    for row in rows:
        member = list(order).index(row[within])
        place = groups.index(row[across]) + (member - (len(order) - 1) / 2) * width
        yield place, COLOURS[member % len(COLOURS)], row


def _names(rows: Rows, across: str) -> list[Any]:
    return list(dict.fromkeys(row[across] for row in rows))


def _name_groups(axes: Axes, groups: Sequence[Any]) -> None:
    labels = [label(str(group)) for group in groups]
    crowded = sum(map(len, labels)) > 45
    axes.set_xticks(
        range(len(groups)),
        labels,
        rotation=60 if crowded else 0,
        ha="right" if crowded else "center",
        fontsize=7 if len(groups) > 12 else 8,
        rotation_mode="anchor" if crowded else "default",
    )
    axes.set_xlim(-0.6, len(groups) - 0.4)


def boxes(
    axes: Axes,
    rows: Rows,
    across: str,
    within: str,
    order: Sequence[str],
    groups: Sequence[Any] | None = None,
) -> Legend:
    """Draw a box per row.

    Args:
        groups: the labels of the axis, including those without a row; by default, the labels of the rows.
    """
    groups = groups or _names(rows, across)
    for place, colour, row in _groups(rows, across, within, order, groups):
        statistics = {name: row[column] for name, column in BOX.items()}
        axes.bxp(
            [statistics],
            positions=[place],
            widths=0.8 / len(order) * 0.85,
            showfliers=False,
            patch_artist=True,
            manage_ticks=False,
            boxprops={"facecolor": colour, "alpha": 0.65, "linewidth": 0.7},
            medianprops={"color": "black", "linewidth": 1.2},
            whiskerprops={"linewidth": 0.7},
            capprops={"linewidth": 0.7},
        )
    _name_groups(axes, groups)
    return [(name, COLOURS[number % len(COLOURS)]) for number, name in enumerate(order)]


def points(
    axes: Axes,
    rows: Rows,
    across: str,
    within: str,
    order: Sequence[str],
    value: str,
    bottom: float = -math.inf,
    groups: Sequence[Any] | None = None,
) -> Legend:
    """Draw points with their intervals.

    Args:
        bottom: the value below which points are drawn as triangles at the bottom.
        groups: the labels of the axis, including those without a row; by default, the labels of the rows.
    """
    groups = groups or _names(rows, across)
    for place, colour, row in _groups(rows, across, within, order, groups):
        axes.vlines(place, row["low"], row["high"], color=colour, linewidth=1.1)
        hollow = row.get("extrapolated", False)
        axes.plot(
            place,
            max(row[value], bottom),
            "v" if row[value] < bottom else "o",
            clip_on=False,
            markersize=3.5,
            color=colour,
            markerfacecolor="white" if hollow else colour,
        )
    _name_groups(axes, groups)
    return [(name, COLOURS[number % len(COLOURS)]) for number, name in enumerate(order)]


def coefficient_drawing(explanation: Explanation, pairs: str) -> Drawing:
    """Draw a panel per reliability, with a line per coefficient, and a diamond if the reproduction has its
    estimate.
    """
    names = [name for name in ESTIMATES if any(_plotted(part, name) for part in explanation.parts)]
    panels = max(1, len(explanation.parts))
    figure = Figure(figsize=(2 + 4.2 * panels, 1.6 + 0.36 * len(names)), layout="constrained")
    axes: Sequence[Axes] = figure.subplots(1, panels, sharey=True, squeeze=False)[0]
    for axis, part in zip(axes, explanation.parts, strict=False):
        _panel(axis, part, names)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].set_ylim(len(names) - 0.5, -0.5)
    first, *others = axes[0].get_legend_handles_labels()[
        0
    ]  # matplotlib lists lines before error bars; show them last.
    figure.legend(handles=[*others, first], loc="outside lower center", ncols=1 + len(others), frameon=False)
    subject, kind = FigureSubject(pairs), "Which words are measured reliably?"
    return Drawing(
        kind,
        subject,
        f"regression-{subject.key}",
        f"{kind} {str(subject).capitalize()}",
        "Estimates of the multilevel regression with 95 % intervals: the change of a word's reliability "
        "with one standard deviation of a feature, or relative to the reference (DB/WA, adjective). Hollow "
        "diamonds: the estimates in the reproduction of Du et al. (2021), for gender pairs on other "
        "corpora.",
        f"{len(names)} estimates of each model with their intervals, which are also in the table",
        figure,
    )


def _plotted(part: Part, name: str) -> bool:
    return any(c.name == name for model in part.models.values() for c in model.fit.coefficients)


def _panel(axis: Axes, part: Part, names: Sequence[str]) -> None:
    place = {name: line for line, name in enumerate(names)}
    for line in range(1, len(names), 2):
        axis.axhspan(line - 0.5, line + 0.5, color="#f3f3f3", zorder=0)
    axis.axvline(0, color="#888888", linewidth=0.8, zorder=1)
    for model, fitted in part.models.items():
        marker, colour, offset = STYLES[model]
        coefficients = [c for c in fitted.fit.coefficients if c.name in place]
        axis.errorbar(
            [c.estimate for c in coefficients],
            [place[c.name] - offset for c in coefficients],
            xerr=[[c.estimate - c.low for c in coefficients], [c.high - c.estimate for c in coefficients]],
            fmt=marker,
            color=colour,
            markersize=4,
            elinewidth=1.4,
            linestyle="none",
            label=f"{model}, 95 %",
        )
    known = {name: value for name, value in part.published.estimates.items() if name in place}
    axis.plot(
        list(known.values()),
        [place[name] - BELOW for name in known],
        linestyle="none",
        marker="D",
        markersize=4,
        markerfacecolor="none",
        markeredgecolor="#444444",
        markeredgewidth=0.9,
        label="reproduction",
        zorder=1.5,
    )
    axis.set_title(f"{part.reliability}: {next(iter(part.models.values())).fit.rows:,} rows", fontsize=10)
    axis.set_xlabel("change of the score, per standard deviation or relative to the reference", fontsize=8)
    axis.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axis.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
