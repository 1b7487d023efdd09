"""Show results row by row in a terminal of any width: every test of a run, or the changes between two runs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from weatherglass.audit.results import Outcome, Result, mark_of, published_p
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import CONTROL
from weatherglass.catalogue.names import capitalised, model_name, model_names, topic_name
from weatherglass.report import statements
from weatherglass.report.layout import (
    DIRECTION_FROM,
    MOST_ROWS,
    SIZES_FROM,
    Bold,
    Column,
    Row,
    items_in_lines,
    shortened,
    table_lines,
    widest_name,
    wrapped,
)
from weatherglass.report.measures import spreads
from weatherglass.report.numbers import bound, counted, format_effect, format_interval, format_p, percent
from weatherglass.report.terminal import CHECKS, NOT_TESTED, how_tested
from weatherglass.report.warning_summary import Placed, alike, text_lines

if TYPE_CHECKING:
    from weatherglass.audit.compare import Comparison, Difference

NO_TOPIC = "No topic given"
CHANGED = "≠"
ADJUSTED_FROM = 80
MOST_NAMED = 10
"""The maximum number of effects named in the line about growing effects."""


def results_lines(run: Run, width: int) -> Iterator[str]:
    """Yield every result as a table per model and metric, followed by the meaning of its marks."""
    topics: Mapping[str, str] = run.record.get("topics", {})
    series: dict[tuple[str, str, str], list[Result]] = {}
    for result in run.results:
        series.setdefault((result.model, result.options, result.metric), []).append(result)
    models = list(dict.fromkeys((result.model, result.options) for result in run.results))
    names = dict(zip(models, statements.labels(models), strict=True))
    for number, (key, rows) in enumerate(series.items()):
        if number:
            yield ""
        yield Bold(_title(rows, names[key[:2]], run.alpha, width))
        columns, cells = _table(rows, topics, run.alpha, width)
        yield from table_lines(columns, cells, width)
    yield from _row_legend(run, width)


def _title(rows: Sequence[Result], name: str, alpha: float, width: int) -> str:
    """Return the model, the metric and how p was computed; if space is short, the start of the model's name is cut
    first.
    """
    first = rows[0]
    without_bias = f"   {first.info.scale}" if first.info.scale else ""
    tested = f"   {how_tested(rows)}, level {alpha:g}" if any(not row.why_no_p for row in rows) else ""
    tests = counted(len({row.test for row in rows}), "test")
    number = tests if len(rows) == len({row.test for row in rows}) else f"{len(rows)} results of {tests}"
    rest = f"   {first.metric}   {number}{without_bias}{tested}"
    return shortened(shortened(name, max(12, width - len(rest)), "front") + rest, width)


def by_topic(results: Sequence[Result], topics: Mapping[str, str]) -> dict[str, list[Result]]:
    """Return results by topic in order of appearance; a test without a topic is its own topic, and sanity checks come
    last.
    """
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(topics.get(result.test) or result.test, []).append(result)
    checks = {CONTROL: groups.pop(CONTROL)} if CONTROL in groups else {}
    return {**groups, **checks}


def _table(
    rows: Sequence[Result], topics: Mapping[str, str], alpha: float, width: int
) -> tuple[list[Column], list[Row]]:
    info = rows[0].info
    intervals = any(row.ci_low is not None for row in rows)
    levels = " or ".join(dict.fromkeys(percent(row.robustness.level) for row in rows if row.robustness))
    published = any(published_p(row) is not None for row in rows)
    columns = [
        Column("  test", shorten="middle", least=14, most=widest_name(width)),
        Column(info.symbol, right=True),
        *([Column(f"{levels} CI")] if intervals else []),
        Column("p", right=True),
        *([Column("published", right=True, from_width=SIZES_FROM)] if published else []),
        Column("X+Y" if info.from_scores else "units", right=True, from_width=SIZES_FROM),
        Column("direction", shorten="middle", least=12, from_width=DIRECTION_FROM),
    ]
    cells: list[Row] = []
    heading = ""
    for topic, own in by_topic(rows, topics).items():
        named = (
            NO_TOPIC
            if topic == own[0].test
            else CHECKS
            if topic == CONTROL
            else capitalised(topic_name(topic))
        )
        cells += [named] if named != heading else []
        heading = named
        for row in own:
            ends = format_interval(row.ci_low, row.ci_high, info.decimals)
            cells.append(
                [
                    f"{mark_of(row).glyph or ' '} {row.row}",
                    format_effect(row.value, info.decimals),
                    *([NOT_TESTED if row.not_tested else ends] if intervals else []),
                    "" if row.not_tested else format_p(row.p_value, alpha),
                    *([format_p(published_p(row), alpha)] if published else []),
                    _sizes(row),
                    row.not_tested or row.direction,
                ]
            )
    return columns, cells


def _sizes(result: Result) -> str:
    exchanged = [str(units) for units in result.units() if units]
    return "+".join(exchanged or map(str, result.target_sizes))


def _row_legend(run: Run, width: int) -> Iterator[str]:
    """Yield the marks that occur, and the meaning of the columns of a wide table."""
    found = {result.outcome for result in run.results}
    marks = [f"{outcome.mark} {outcome}" for outcome in Outcome if outcome in found]
    marks += ["– measured, not tested"] if any(result.not_tested for result in run.results) else []
    yield from items_in_lines(marks, width)
    if note := statements.pieces_note(run.results):
        yield from wrapped(note, width)
    if width >= SIZES_FROM and any(published_p(result) is not None for result in run.results):
        yield "published: one-sided p from exchanging single words or sentences, as in the papers"


def spread_lines(results: Sequence[Result]) -> Iterator[str]:
    """Yield the range of d over the metrics for each test; empty for a single metric."""
    results = [result for result in results if result.info.poolable]
    if len({result.metric for result in results}) < 2:
        return
    models = list(dict.fromkeys((result.model, result.options) for result in results))
    for (model, options), name in zip(models, statements.labels(models), strict=True):
        yield f"d over the metrics, {name}:"
        own = [result for result in results if (result.model, result.options) == (model, options)]
        yield from (f"  {spread}" for spread in spreads(own))


def comparison_lines(comparison: Comparison, width: int, every_row: bool = False) -> Iterator[str]:
    """Yield one row per effect, the largest change first, with the values before and after, the change, its interval
    and p.

    By default, more than MOST_ROWS are reduced to those that changed.

    Args:
        width: the width of the terminal.
        every_row: whether to show all rows.
    """
    shown = comparison.differences
    if len(shown) > MOST_ROWS and not every_row:
        shown = tuple(difference for difference in shown if difference.changed)
    columns = [
        Column("  test", shorten="middle", least=14, most=widest_name(width)),
        *(Column(heading, right=True) for heading in ("before", "after", "change")),
        Column(f"{percent(1 - comparison.alpha)} CI"),
        Column("p", right=True, from_width=ADJUSTED_FROM),
        Column("adj. p", right=True, from_width=ADJUSTED_FROM),
        Column("X+Y", right=True, from_width=SIZES_FROM),
        Column("note", shorten="end", least=12, from_width=DIRECTION_FROM),
    ]
    several_metrics = len({difference.metric for difference in comparison.differences}) > 1
    several_models = len({difference.models for difference in comparison.differences}) > 1
    order = {key: place for place, key in enumerate(dict.fromkeys((one.models, one.metric) for one in shown))}
    rows: list[Row] = []
    heading = ""
    for one in sorted(shown, key=lambda one: (order[one.models, one.metric], _smallness(one))):
        names = model_names(list(dict.fromkeys(one.models)))
        models = " → ".join(shortened(name, width // 3, "front") for name in names)
        named = "   ".join([models] * several_models + [one.metric] * several_metrics)
        rows += [named] if named != heading else []
        heading = named
        rows.append(_cells(one))
    if rows:
        yield from table_lines(columns, rows, width)
    if len(shown) < len(comparison.differences):
        left = len(comparison.differences) - len(shown)
        yield f"{left} more effects did not change significantly; add --table to list them"


def _smallness(one: Difference) -> float:
    """Return a key that sorts effects by the size of their change, the largest first and those without a change
    last.
    """
    return math.inf if one.change is None or math.isnan(one.change) else -abs(one.change)


def _cells(one: Difference) -> list[str]:
    return [
        f"{CHANGED if one.changed else ' '} {one.test}",
        format_effect(one.before),
        format_effect(one.after),
        format_effect(one.change) if not one.change or abs(one.change) >= 0.005 else bound(one.change),
        format_interval(one.low, one.high),
        format_p(one.p_value),
        format_p(one.p_adjusted),
        f"{one.units[0]}+{one.units[1]}",
        "; ".join(one.notes),
    ]


def answer(comparison: Comparison) -> Iterator[str]:
    """Yield the answer, which states which effects grew, how many changed, and which runs were compared."""
    total = len(comparison.differences)
    if not total:
        return
    changed = sum(difference.changed is True for difference in comparison.differences)
    yield from map(Bold, worse_lines(comparison))
    yield (
        f"{CHANGED} changed: {changed} of {counted(total, 'effect')} (the interval of the change excludes "
        f"0; by chance alone, about {100 * comparison.alpha:g} of 100 would)."
    )
    models = dict.fromkeys(difference.models for difference in comparison.differences)
    if len(models) == 1:
        pair = next(iter(models))
        names = dict(zip(dict.fromkeys(pair), model_names(list(dict.fromkeys(pair))), strict=True))
        before, after = (names[model] for model in pair)
        yield f"before: {before} ({comparison.folders[0]})   after: {after} ({comparison.folders[1]})"
    yield ""


def caption(comparison: Comparison, width: int, verbose: bool = False) -> Iterator[str]:
    """Yield lines on what the interval covers and what was not compared."""
    if comparison.differences:
        yield "An effect that is not marked may have changed by any amount in its interval."
        yield (
            "Intervals: paired jackknife over the words of X and Y that both runs scored, and over attribute words and "
            "templates (random attributes)."
        )
    noted = [Placed(one.test, note) for one in comparison.differences for note in one.notes]
    if noted and width < DIRECTION_FROM:
        yield from text_lines(noted, width, noun="note", where="at 120 columns and with --json")
    others = [
        Placed(one.test, f"{one.reason} ({one.metric}, {one.model})") for one in comparison.incomparable
    ]
    if verbose:
        yield from (f"not compared: {other}" for other in others)
        return
    for kind in alike(others):
        tests = ", ".join(kind.examples)
        line = f"not compared: {counted(kind.count, 'test')}: {kind.text}: {tests}"
        yield from wrapped(line, width, further="  ")


def worse_lines(comparison: Comparison) -> Iterator[str]:
    """Yield lines on the effects that grew significantly after correction, and the number of rows in the
    correction.
    """
    if not comparison.corrected:
        return
    over = (
        f"(adjusted p ≤ {comparison.alpha:g}, Holm correction over {counted(comparison.corrected, 'row')}; "
        "sanity checks are not counted)"
    )
    names = [f"{one.test} on {model_name(one.models[1])}" for one in comparison.worse]
    listed = ", ".join(names[:MOST_NAMED]) + ", …" * (len(names) > MOST_NAMED)
    found = f"{counted(len(names), 'effect')}: {listed}" if names else "no effect"
    yield f"Grew significantly {over}: {found}"
