"""Two runs side by side, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from weatherglass.report.terminal import format_effect, format_interval
from weatherglass.runs.compare import Comparison


def comparison_table(found: Comparison) -> Table:
    """One row per effect: before, after, change with its interval."""
    table = Table(box=None, pad_edge=False)
    several = len({each.metric for each in found.differences}) > 1
    models = len({each.models for each in found.differences}) > 1
    table.add_column("test", no_wrap=True)
    for shown, heading in ((several, "metric"), (models, "model")):
        if shown:
            table.add_column(heading, overflow="fold")
    for heading in ("before", "after", "change"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("95 % of the change", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("X + Y", justify="right", no_wrap=True)
    table.add_column("note", overflow="fold")
    for each in found.differences:
        table.add_row(
            each.test,
            *([each.metric] if several else []),
            *([" → ".join(dict.fromkeys(each.models))] if models else []),
            format_effect(each.before),
            format_effect(each.after),
            format_effect(each.change),
            format_interval(each.low, each.high),
            "changed" if each.changed else "",
            f"{each.units[0]} + {each.units[1]}",
            "; ".join(each.notes),
        )
    return table


def caption(found: Comparison) -> Iterator[str]:
    """What the interval covers, how many changes chance alone would show, and what was not compared."""
    total = len(found.differences)
    changed = sum(each.changed is True for each in found.differences)
    if total:
        models = dict.fromkeys(each.models for each in found.differences)
        if len(models) == 1:
            before, after = next(iter(models))
            yield f"before: {before} ({found.folders[0]})   after: {after} ({found.folders[1]})"
        yield (
            f"{changed} of {total} effects changed: their interval leaves out 0. Chance alone marks 7 of 100, "
            "and 12 in sets of 8. An effect that is not marked may have changed by anything in its interval."
        )
        yield (
            f"Intervals: BCa, {found.resamples} resamples of the units of X and Y that both runs scored, "
            "drawn jointly; A and B are held fixed."
        )
    alike: dict[tuple[str, str, str], list[str]] = {}
    for other in found.incomparable:
        alike.setdefault((other.metric, other.model, other.reason), []).append(other.test)
    for (metric, model, reason), tests in alike.items():
        yield f"not compared: {', '.join(tests)} ({metric}, {model}): {reason}"
