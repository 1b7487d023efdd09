"""Show a `Run`, a `Multiverse` or a `Ranking`; this module provides everything that their methods need from the
reports.

These classes are in lower layers, and import only this module of the reports, when a method is called.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Literal

from weatherglass.errors import WeatherglassError
from weatherglass.lazy import lazy_names
from weatherglass.registry import one_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from weatherglass.audit.run import Run
    from weatherglass.multiverses.multiverse import Multiverse
    from weatherglass.ranking.ranking import Ranking
    from weatherglass.report.notebook import result_rows as result_rows
    from weatherglass.report.notebook import run_html as run_html
    from weatherglass.report.notebook import to_frame as to_frame
    from weatherglass.report.notebook import verdict_rows as verdict_rows
    from weatherglass.report.page import page as page
    from weatherglass.report.tables import latex as latex
    from weatherglass.report.tables import markdown as markdown
    from weatherglass.report.writing import bibtex as bibtex
    from weatherglass.report.writing import methods_paragraph as methods_paragraph
    from weatherglass.report.writing import model_card_block as model_card_block
    from weatherglass.report.writing import sentences as sentences

_PLACES = {
    **dict.fromkeys(("result_rows", "run_html", "to_frame", "verdict_rows"), "notebook"),
    "page": "page",
    **dict.fromkeys(("latex", "markdown"), "tables"),
    **dict.fromkeys(("bibtex", "methods_paragraph", "model_card_block", "sentences"), "writing"),
}
__getattr__, __dir__ = lazy_names("weatherglass.report", _PLACES)  # imported when they are used
PlotKind = Literal["topics", "forest", "matrix", "curve"]
PLOTS: tuple[PlotKind, ...] = ("topics", "forest", "matrix", "curve")
HEADS = ("model", "topic", "specifications", "smallest d", "largest d", "multiverse p", "corrected p")


def run_plot(run: Run, kind: PlotKind, metric: str | None, size: str | None) -> Axes:
    """Draw the results of a run; see `Run.plot`."""
    from weatherglass.report import figures
    from weatherglass.report.tables import interval_levels
    from weatherglass.report.view import lay_out

    chosen = one_of("kind of plot", kind, PLOTS)
    layout, levels, chosen_size = lay_out([run]), interval_levels([run]), figures.figure_size(size)
    if not layout.metrics:
        raise WeatherglassError("the run has no result to plot")
    name = one_of("metric of this run", metric or layout.metrics[0], layout.metrics)
    number = layout.metrics.index(name)
    if chosen != "matrix" and not layout.infos[number].poolable:
        raise WeatherglassError(
            f"the values of {name} have no common scale over tests; plot them as a matrix"
        )
    if chosen == "topics":
        figure = figures.topics([run], layout, number, chosen_size)
    elif chosen == "forest":
        figure = figures.forest(layout, number, levels, chosen_size)
    elif chosen == "matrix":
        figure = figures.matrix(layout, number, chosen_size)
    else:
        figure = figures.sorted_effects([r for r in run.results if r.metric == name], levels)
    return figures.in_pyplot(figure)


def multiverse_html(found: Multiverse, title: str) -> str:
    """Return the table of a multiverse that a notebook shows, with one row per topic and model, below 50 kB."""
    from weatherglass.report.notebook import html_table
    from weatherglass.report.numbers import effect, p_value

    rows = []
    for entry in found.topics:
        sizes = [one["d"] for one in entry["specifications"] if one["d"] is not None]
        ends = (effect(min(sizes)), effect(max(sizes))) if sizes else ("–", "–")
        p = [p_value(entry[name]) for name in ("multiverse_p", "multiverse_p_holm")]
        rows.append([entry["model"], entry["topic"], str(len(sizes)), *ends, *p])
    table = html_table(HEADS, rows, len(rows), (2, 3, 4, 5, 6))
    return f"<div><p><b>{escape(title)}</b></p>{table}</div>"


def multiverse_frame(found: Multiverse, library: str | None) -> Any:
    """Return one row per specification of a multiverse; see `Multiverse.to_frame`."""
    from weatherglass.report.multiverse import COLUMNS
    from weatherglass.report.notebook import to_frame

    rows = [
        {name: {"model": entry["model"], "topic": entry["topic"], **one}.get(name) for name in COLUMNS}
        for entry in found.topics
        for one in entry["specifications"]
    ]
    return to_frame(rows, library)


def multiverse_plot(found: Multiverse, topic: str | None, model: str | None) -> Axes:
    """Draw the specification curve of the first word list of a topic and model."""
    from weatherglass.report.figures import in_pyplot
    from weatherglass.report.multiverse import lists_of
    from weatherglass.report.multiverse.page import curve

    wanted = [
        entry for entry in found.topics if topic in (None, entry["topic"]) and model in (None, entry["model"])
    ]
    if not wanted:
        known = "; ".join(f"{entry['topic']} on {entry['model']}" for entry in found.topics)
        raise WeatherglassError(f"this multiverse has no such topic and model (it has: {known})")
    block, specifications = next(lists_of(wanted))
    return in_pyplot(curve(block, specifications, found.alpha))


def ranking_html(found: Ranking, title: str) -> str:
    """Return the table of a ranking audit that a notebook shows, with one row per comparison, below 50 kB."""
    from weatherglass.report.notebook import html_table
    from weatherglass.report.numbers import effect, interval, p_value

    heads = ("model", "topic", "X", "Y", "win rate of X", "CI", "p", "corrected p", "impact ratio", "outcome")
    rows = [
        [
            *(one.model, one.topic, one.x, one.y, effect(one.win_rate), interval(one.ci_low, one.ci_high)),
            *(p_value(one.p), p_value(one.p_adjusted), effect(one.impact_ratio), one.outcome),
        ]
        for one in found.comparisons
    ]
    table = html_table(heads, rows, len(rows), (4, 5, 6, 7, 8))
    return f"<div><p><b>{escape(title)}</b></p>{table}</div>"


def ranking_plot(found: Ranking, model: str | None) -> Axes:
    """Draw the win rates of a ranking audit by topic; see `Ranking.plot`."""
    from weatherglass.report.figures import in_pyplot
    from weatherglass.report.ranking.page import figure_of

    models = list(dict.fromkeys(one.model for one in found.comparisons))
    name = one_of("model of this audit", model or models[0], models)
    return in_pyplot(figure_of([one for one in found.comparisons if one.model == name], found.alpha))
