"""Show a `Run`, a `Multiverse`, a `Ranking` or a single value in a notebook, as a frame or as a figure.

These classes are in lower layers, and import only this module of the reports, when a method is called. The HTML is
escaped and has no scripts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from weatherglass.audit.results import COLUMNS, Result, mark_of
from weatherglass.audit.verdict import Verdict
from weatherglass.catalogue.names import topic_name
from weatherglass.errors import MissingExtraError, WeatherglassError
from weatherglass.lazy import lazy_names
from weatherglass.registry import one_of
from weatherglass.report import statements
from weatherglass.report.numbers import effect, interval, p_value, percent
from weatherglass.warnings import Warning, count_line, folded, shortened_list

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from weatherglass.audit.run import Run
    from weatherglass.multiverses.multiverse import Multiverse
    from weatherglass.ranking.ranking import Ranking
    from weatherglass.report.page import page as page
    from weatherglass.report.tables import latex as latex
    from weatherglass.report.tables import markdown as markdown
    from weatherglass.report.values import ValueView
    from weatherglass.report.writing import bibtex as bibtex
    from weatherglass.report.writing import methods_paragraph as methods_paragraph
    from weatherglass.report.writing import model_card_block as model_card_block
    from weatherglass.report.writing import sentences as sentences

_PLACES = {
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

    rows = [
        {name: {"model": entry["model"], "topic": entry["topic"], **one}.get(name) for name in COLUMNS}
        for entry in found.topics
        for one in entry["specifications"]
    ]
    return to_frame(rows, library)


def multiverse_plot(found: Multiverse, topic: str | None, model: str | None) -> Axes:
    """Draw the specification curve of the first word list of a topic and model."""
    from weatherglass.report.figures import in_pyplot
    from weatherglass.report.multiverse import curve, lists_of

    wanted = [
        entry for entry in found.topics if topic in (None, entry["topic"]) and model in (None, entry["model"])
    ]
    if not wanted:
        known = "; ".join(f"{entry['topic']} on {entry['model']}" for entry in found.topics)
        raise WeatherglassError(f"this multiverse has no such topic and model (it has: {known})")
    block, specifications = next(lists_of(wanted))
    return in_pyplot(curve(block, specifications, found.alpha))


def view_of(kind: str, value: Any) -> ValueView:
    """Return the view of a result, a comparison or a map of words; see `audit.shown`."""
    from weatherglass.report import values

    made: ValueView = getattr(values, kind)(value)
    return made


def ranking_html(found: Ranking, title: str) -> str:
    """Return the table of a ranking audit that a notebook shows, with one row per comparison, below 50 kB."""
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


MOST_BYTES = 22_000
"""The largest size in bytes of each of the two tables of a run; the frame has all rows."""
LONGEST = 40
"""The maximum number of characters in a cell; escaping can lengthen one character to six."""


def run_html(
    title: str,
    results: Sequence[Result],
    verdicts: Sequence[Verdict],
    alpha: float,
    warnings: Sequence[Warning] = (),
) -> str:
    """Return two tables, with the verdict on each topic and with every result, and the number of warnings by kind."""
    parts = [f"<p><b>{escape(title)}</b></p>"]
    if verdicts:
        for metric in dict.fromkeys(one.metric for one in verdicts):
            own = [one for one in verdicts if one.metric == metric]
            answer = statements.headline_text(own).removesuffix(statements.failed_check_text(own)).rstrip()
            said = [answer, *statements.caveats(own, alpha)]  # a failed sanity check is the first caveat
            parts.append(f"<p>{escape(' '.join(said))}</p>")
        heads = ("model", "topic", "outcome", "mean d", f"{percent(1 - alpha)} interval", "tests that differ")
        parts.append(html_table(heads, _verdict_rows(verdicts), len(verdicts), numbers=(3, 5)))
    several = len({result.metric for result in results}) > 1
    columns = ("model", "test", *(["metric"] if several else []), "value", "interval", "p", "corrected p", "")
    first = 3 if several else 2
    numbers = (first, first + 2, first + 3)
    parts.append(html_table(columns, _result_rows(results, several), len(results), numbers))
    parts.append(
        "<p>● robust; ◐ limited; ○ unconfirmed; · inconclusive. “Inconclusive” does not mean “unbiased”. "
        "All columns: <code>.to_frame()</code></p>"
    )
    if warnings:
        kinds = folded(warnings)
        named = shortened_list([f"{line.count} {_cut(line.kind)}" for line in kinds])
        parts.append(f"<p>{count_line(kinds)}: {escape(named)}. Texts: <code>.warnings</code></p>")
    return f"<div>{''.join(parts)}</div>"


def html_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], total: int, numbers: Sequence[int] = ()
) -> str:
    """Return a table with as many rows as fit into `MOST_BYTES`, and the number of rows left out.

    Args:
        heads: the heads of the columns.
        rows: the cells of each row as text, not yet escaped.
        total: the number of all rows.
        numbers: the columns that are aligned to the right.
    """
    lines = [_row("th", heads, numbers)]
    size = len(lines[0].encode())
    for row in rows:
        line = _row("td", row, numbers)
        size += len(line.encode())
        if size > MOST_BYTES:
            break
        lines.append(line)
    left_out = total - (len(lines) - 1)
    more = f"<p>… and {left_out} more rows</p>" if left_out else ""
    return f"<table>{''.join(lines)}</table>{more}"


def _row(tag: str, cells: Sequence[str], numbers: Sequence[int]) -> str:
    made = (
        f"<{tag}{' align=right' if place in numbers else ' align=left'}>{escape(_cut(cell))}</{tag}>"
        for place, cell in enumerate(cells)
    )
    return f"<tr>{''.join(made)}</tr>"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _verdict_rows(verdicts: Sequence[Verdict]) -> Iterator[Sequence[str]]:
    models = list(dict.fromkeys((one.model, one.options) for one in verdicts))
    names = dict(zip(models, statements.labels(models), strict=True))
    for one in [*statements.topics(verdicts), *(one for one in verdicts if one.check)]:
        topic = statements.check_name(one) if one.check else topic_name(one.topic)
        numbers = effect(one.effect_size), interval(one.ci_low, one.ci_high)
        differ = f"{len(one.marked)} of {len(one.tests)}"
        yield names[one.model, one.options], topic, statements.outcome_text(one), *numbers, differ


def _result_rows(results: Sequence[Result], several: bool) -> Iterator[Sequence[str]]:
    models = list(dict.fromkeys((one.model, one.options) for one in results))
    names = dict(zip(models, statements.labels(models), strict=True))
    for one in results:
        metric = [one.metric] if several else []
        numbers = effect(one.value), interval(one.ci_low, one.ci_high), p_value(one.p_value)
        yield (
            names[one.model, one.options],
            one.row,
            *metric,
            *numbers,
            p_value(one.p_max_t),
            mark_of(one).glyph,
        )


LIBRARIES = ("polars", "pandas")


def frame_library(asked_for: str | None) -> str:
    """Return the library for frames: the requested one, or the first that is installed.

    Raises:
        UnknownNameError: if the library is not supported.
        MissingExtraError: if the library, or every supported one, is not installed.
    """
    wanted = [one_of("library of frames", asked_for, LIBRARIES)] if asked_for else LIBRARIES
    installed = [name for name in wanted if find_spec(name) is not None]
    if not installed:
        raise MissingExtraError(f"a frame needs {' or '.join(wanted)}; run: pip install {wanted[0]}")
    return installed[0]


def to_frame(rows: Sequence[Mapping[str, Any]], library: str | None = None) -> Any:
    """Return a frame with one row per mapping; all mappings have the same names, and unknown values and NaN become
    null.
    """
    chosen = frame_library(library)
    names = list(rows[0]) if rows else []
    columns = {name: [_known(row[name]) for row in rows] for name in names}
    if chosen == "polars":
        import polars

        return polars.DataFrame(columns, strict=False)
    import pandas

    return pandas.DataFrame(columns)


def result_rows(results: Sequence[Result], topics: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the columns of results.tsv as numbers and texts, and the meaning of the sets and the sign of each test."""
    for result in results:
        yield {
            **{name: getattr(result, name) for name in COLUMNS},
            "topic": topics.get(result.test, ""),
            "context": result.context,
            "direction": result.direction,
            "targets": "; ".join(result.target_categories),
            "attributes": "; ".join(result.attribute_categories),
        }


def verdict_rows(verdicts: Sequence[Verdict]) -> Iterator[dict[str, Any]]:
    """Yield one row per topic, model and metric."""
    for verdict in verdicts:
        record = verdict.to_json()
        yield {
            **{name: value for name, value in record.items() if not isinstance(value, dict | list | tuple)},
            "tests": "; ".join(verdict.tests),
            "reference": f"{verdict.reference.above}/{verdict.reference.models}"
            if verdict.reference
            else None,
        }


def _known(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
