"""The coefficient plot: every estimate of every model with its interval, beside the published estimate."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from weatherglass.reliability.regression.explain import Explanation, Part
from weatherglass.reliability.regression.tables import ESTIMATES
from weatherglass.report.study.plots import Drawing, Subject

STYLES = {
    "as published": ("o", "#1b5e8c", 0.27),
    "with word": ("s", "#c4570a", 0.09),
    "weighted": ("^", "#3d7a3d", -0.09),
}
"""Model -> marker, colour and vertical offset; the colours are safe for colour-blind readers."""
BELOW = -0.27
"""Vertical offset of the reproduction, so that it covers neither model."""


def coefficient_drawing(explanation: Explanation, pairs: str) -> Drawing:
    """One panel per reliability; a line per coefficient, a diamond where the reproduction has its estimate."""
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
    subject, kind = Subject(pairs), "Which words are measured reliably?"
    return Drawing(
        kind,
        subject,
        f"regression-{subject.key}",
        f"{kind} {str(subject).capitalize()}",
        "Estimates of the multilevel regression with 95 % intervals: how much a word's reliability changes with one "
        "standard deviation of a feature, or against the reference (DB/WA, adjective). Hollow diamonds: the "
        "reproduction's estimates, for gender pairs on other corpora.",
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
    axis.set_xlabel("change of the score, per standard deviation or against the reference", fontsize=8)
    axis.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    axis.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axis.spines[side].set_visible(False)
