"""The comparison of two runs as a table and lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from weatherglass.report.terminal import format_effect, format_interval
from weatherglass.runs.compare import Comparison


def comparison_table(comparison: Comparison) -> Table:
    """One row per effect: before, after, change with its interval."""
    table = Table(box=None, pad_edge=False)
    several_metrics = len({difference.metric for difference in comparison.differences}) > 1
    several_models = len({difference.models for difference in comparison.differences}) > 1
    table.add_column("test", no_wrap=True)
    for shown, heading in ((several_metrics, "metric"), (several_models, "model")):
        if shown:
            table.add_column(heading, overflow="fold")
    for heading in ("before", "after", "change"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column(f"{100 * (1 - comparison.alpha):g} % of the change", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("X + Y", justify="right", no_wrap=True)
    table.add_column("note", overflow="fold")
    for difference in comparison.differences:
        table.add_row(
            difference.test,
            *([difference.metric] if several_metrics else []),
            *([" → ".join(dict.fromkeys(difference.models))] if several_models else []),
            format_effect(difference.before),
            format_effect(difference.after),
            format_effect(difference.change),
            format_interval(difference.low, difference.high),
            "changed" if difference.changed else "",
            f"{difference.units[0]} + {difference.units[1]}",
            "; ".join(difference.notes),
        )
    return table


def caption(comparison: Comparison) -> Iterator[str]:
    """What the interval covers, how many changes chance alone would show, and what was not compared."""
    total = len(comparison.differences)
    changed = sum(difference.changed is True for difference in comparison.differences)
    if total:
        models = dict.fromkeys(difference.models for difference in comparison.differences)
        if len(models) == 1:
            before, after = next(iter(models))
            yield f"before: {before} ({comparison.folders[0]})   after: {after} ({comparison.folders[1]})"
        yield (
            f"{changed} of {total} effects changed: their interval excludes 0. Chance alone marks about "
            f"{100 * comparison.alpha:g} of 100. "
            "An effect that is not marked may have changed by anything in its interval."
        )
        yield (
            "Intervals: paired jackknife over the words of X and Y that both runs scored; "
            "A, B and the templates are held as they are."
        )
    tests_by_reason: dict[tuple[str, str, str], list[str]] = {}
    for other in comparison.incomparable:
        tests_by_reason.setdefault((other.metric, other.model, other.reason), []).append(other.test)
    for (metric, model, reason), tests in tests_by_reason.items():
        yield f"not compared: {', '.join(tests)} ({metric}, {model}): {reason}"
