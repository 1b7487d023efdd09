"""Show the comparison of two runs as lines for a terminal of any width."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from weatherglass.catalogue.names import model_name, model_names
from weatherglass.report.layout import Bold, Column, Row, shortened, table_lines, widest_name
from weatherglass.report.numbers import bound, counted, format_effect, format_interval, format_p, percent
from weatherglass.report.terminal import DIRECTION_FROM, MOST_ROWS, SIZES_FROM
from weatherglass.report.warning_summary import Placed, alike, text_lines

if TYPE_CHECKING:
    from weatherglass.audit.compare import Comparison, Difference

CHANGED = "≠"
ADJUSTED_FROM = 80
MOST_NAMED = 10
"""Effects that the line about what got worse names."""


def comparison_lines(comparison: Comparison, width: int, every_row: bool = False) -> Iterator[str]:
    """Yield one row per effect, the largest change first: before, after, the change, its interval and p.

    With many, only those that changed.

    Args:
        width: of the terminal.
        every_row: also where there are more than MOST_ROWS.
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
        yield f"{left} more that are not shown to have changed: add --table"


def _smallness(one: Difference) -> float:
    """Return what sorts effects by the size of their change, the largest first; those without one come last."""
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
    """Yield what changed, before any number: which effects grew, how many changed, and which runs were compared."""
    total = len(comparison.differences)
    if not total:
        return
    changed = sum(difference.changed is True for difference in comparison.differences)
    yield from map(Bold, worse_lines(comparison))
    yield (
        f"{CHANGED} changed: {changed} of {counted(total, 'effect')} (the interval of the change leaves out 0; chance "
        f"alone marks about {100 * comparison.alpha:g} of 100)."
    )
    models = dict.fromkeys(difference.models for difference in comparison.differences)
    if len(models) == 1:
        pair = next(iter(models))
        names = dict(zip(dict.fromkeys(pair), model_names(list(dict.fromkeys(pair))), strict=True))
        before, after = (names[model] for model in pair)
        yield f"before: {before} ({comparison.folders[0]})   after: {after} ({comparison.folders[1]})"
    yield ""


def caption(comparison: Comparison, width: int, verbose: bool = False) -> Iterator[str]:
    """Yield what the interval covers and what was not compared."""
    if comparison.differences:
        yield "An effect that is not marked may have changed by anything in its interval."
        yield (
            "Intervals: paired jackknife over the words of X and Y that both runs scored, for fixed attribute words "
            "and templates."
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
        yield shortened(f"not compared: {counted(kind.count, 'test')}: {kind.text}: {tests}", width)


def worse_lines(comparison: Comparison) -> Iterator[str]:
    """Yield which effects grew significantly after correction, and over how many rows p was corrected."""
    if not comparison.corrected:
        return
    over = f"(adjusted p ≤ {comparison.alpha:g}, Holm over {counted(comparison.corrected, 'row')}, controls left out)"
    names = [f"{one.test} on {model_name(one.models[1])}" for one in comparison.worse]
    listed = ", ".join(names[:MOST_NAMED]) + ", …" * (len(names) > MOST_NAMED)
    found = f"{counted(len(names), 'effect')}: {listed}" if names else "no effect"
    yield f"Grew significantly {over}: {found}"
