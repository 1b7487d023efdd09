"""`weatherglass metrics`: what can be measured, on tests of which shape, and what a number means."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from weatherglass.cli.console import plain_table, screen


def metrics(as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List every metric: the sets it takes, its range, its value without bias, what more of it means, its source.

    A metric that takes one target or one attribute set is run once for each set of a test that has more.
    Example: weatherglass run -m rnsb -m 'rnd(normalise=yes)' -t weat6
    """
    from weatherglass.metrics import METRICS

    rows = [_described(metric) for name in METRICS.names() for metric in METRICS.get(name)([], {})]
    if as_json:
        typer.echo(json.dumps({"metrics": rows}, ensure_ascii=False))
        return
    table = plain_table("metric", "targets, attributes", "range", "without bias", "meaning", "source")
    for row in rows:
        table.add_row(
            row["name"],
            f"{row['targets']}{' paired' if row['paired'] else ''}, {row['attributes']}",
            row["range"],
            f"{row['unbiased']:g}",
            row["direction"],
            row["source"],
        )
    screen().print(table)


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
