"""The comparison of two runs as lines for a terminal of any width."""

from __future__ import annotations

from collections.abc import Iterator

from weatherglass.report.folded import Placed, folded, warning_lines
from weatherglass.report.layout import Column, Row, shortened, table_lines, widest_name
from weatherglass.report.numbers import percent
from weatherglass.report.terminal import (
    DIRECTION_FROM,
    MOST_ROWS,
    SIZES_FROM,
    counted,
    format_effect,
    format_interval,
)
from weatherglass.runs.compare import Comparison, Difference

CHANGED = "≠"


def comparison_lines(comparison: Comparison, width: int, every_row: bool = False) -> Iterator[str]:
    """One row per effect: before, after, the change and its interval; with many, those that changed.

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
        Column(f"{percent(1 - comparison.alpha)} of it"),
        Column("X+Y", right=True, from_width=SIZES_FROM),
        Column("note", shorten="end", least=12, from_width=DIRECTION_FROM),
    ]
    several_metrics = len({difference.metric for difference in comparison.differences}) > 1
    several_models = len({difference.models for difference in comparison.differences}) > 1
    order = {key: place for place, key in enumerate(dict.fromkeys((one.models, one.metric) for one in shown))}
    rows: list[Row] = []
    heading = ""
    for one in sorted(shown, key=lambda one: order[one.models, one.metric]):
        models = " → ".join(shortened(name, width // 3, "front") for name in dict.fromkeys(one.models))
        named = "   ".join([models] * several_models + [one.metric] * several_metrics)
        rows += [named] if named != heading else []
        heading = named
        rows.append(_cells(one))
    if rows:
        yield from table_lines(columns, rows, width)
    if len(shown) < len(comparison.differences):
        left = len(comparison.differences) - len(shown)
        yield f"{left} more that are not shown to have changed: add --table"


def _cells(one: Difference) -> list[str]:
    return [
        f"{CHANGED if one.changed else ' '} {one.test}",
        format_effect(one.before),
        format_effect(one.after),
        format_effect(one.change),
        format_interval(one.low, one.high),
        f"{one.units[0]}+{one.units[1]}",
        "; ".join(one.notes),
    ]


def caption(comparison: Comparison, width: int, verbose: bool = False) -> Iterator[str]:
    """What the interval covers, how many changes chance alone would show, and what was not compared."""
    total = len(comparison.differences)
    changed = sum(difference.changed is True for difference in comparison.differences)
    if total:
        models = dict.fromkeys(difference.models for difference in comparison.differences)
        if len(models) == 1:
            before, after = next(iter(models))
            yield f"before: {before} ({comparison.folders[0]})   after: {after} ({comparison.folders[1]})"
        yield (
            f"{CHANGED} changed: {changed} of {counted(total, 'effect')}, where the interval excludes 0. "
            f"Chance alone marks about {100 * comparison.alpha:g} of 100. "
            "An effect that is not marked may have changed by anything in its interval."
        )
        yield (
            "Intervals: paired jackknife over the words of X and Y that both runs scored; "
            "A, B and the templates are held as they are."
        )
    noted = [Placed(one.test, note) for one in comparison.differences for note in one.notes]
    if noted and width < DIRECTION_FROM:
        yield from warning_lines(noted, width, noun="note", where="at 120 columns and with --json")
    others = [
        Placed(one.test, f"{one.reason} ({one.metric}, {one.model})") for one in comparison.incomparable
    ]
    if verbose:
        yield from (f"not compared: {other}" for other in others)
        return
    for kind in folded(others):
        tests = ", ".join(kind.examples)
        yield shortened(f"not compared: {counted(kind.count, 'test')}: {kind.text}: {tests}", width)
