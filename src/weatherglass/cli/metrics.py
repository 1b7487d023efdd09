"""`weatherglass metrics`: what can be measured, on tests of which shape, and what a number means."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from weatherglass.cli.console import say, width_of
from weatherglass.storage.printable import printable_json

WHOLE_FROM = 160
"""Width of the terminal from which one table has everything."""


def metrics(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List every metric: the sets it takes, its range, its value without bias, what more of it means, its source.

    A metric that takes one target or one attribute set is run once for each set of a test that has more.
    """
    from weatherglass.metrics import METRICS

    rows = [_described(metric) for name in METRICS.names() for metric in METRICS.get(name)([], {})]
    if as_json:
        typer.echo(printable_json(json.dumps({"metrics": rows}, ensure_ascii=False)))
        return
    say(_lines(rows, width_of()))


def _lines(rows: Sequence[dict[str, Any]], width: int) -> Iterator[str]:
    """A table and, below it or, where the terminal is wide, in it, what more of each metric means and its source."""
    from weatherglass.report.layout import Column, table_lines, wrapped

    columns = [
        Column("metric", shorten="end"),
        Column("targets, attributes"),
        Column("range"),
        Column("without bias", right=True),
    ]
    cells = [
        [
            row["name"],
            f"{row['targets']}{' paired' if row['paired'] else ''}, {row['attributes']}",
            row["range"],
            f"{row['unbiased']:g}",
        ]
        for row in rows
    ]
    if width >= WHOLE_FROM:
        columns += [Column("meaning", shorten="end"), Column("source", shorten="end")]
        cells = [[*own, row["direction"], row["source"]] for own, row in zip(cells, rows, strict=True)]
        yield from table_lines(columns, cells, width)
        return
    yield from table_lines(columns, cells, width)
    yield ""
    for row in rows:
        about = f"{row['name']}: {row['direction']}" + (f"; {row['source']}" if row["source"] else "")
        yield from wrapped(about, width, further="  ")


def _described(metric: Any) -> dict[str, Any]:
    """What a metric says of itself; one of another package may say less."""
    name = "weat" if metric.name == "cosine/mean" else metric.name
    bounds: tuple[float, float] | None = getattr(metric, "bounds", None)
    return {
        "name": name,
        "summary": getattr(metric, "summary", ""),
        "targets": _number(metric.shape.targets),
        "attributes": _number(metric.shape.attributes),
        "paired": metric.shape.paired,
        "range": " … ".join(map(_end, bounds)) if bounds else "",
        "unbiased": metric.unbiased,
        "signed": metric.signed,
        "effect_size": metric.is_effect_size,
        "direction": getattr(metric, "direction", ""),
        "source": getattr(metric, "source", ""),
        "caution": getattr(metric, "caution", ""),
    }


def _number(count: Any) -> str:
    return str(count.least) if count.most == count.least else f"≥ {count.least}"


def _end(bound: float) -> str:
    if abs(bound) == float("inf"):
        return "∞" if bound > 0 else "−∞"
    return f"{bound:g}".replace("-", "−")
