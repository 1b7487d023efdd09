"""A judgement in the terminal: the verdict and why, d before and after, what is left, what it cost; 80 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from weatherglass.catalogue.names import capitalised, model_name
from weatherglass.report.layout import Bold
from weatherglass.report.numbers import bound, effect, interval, to

WIDTH = 80
NAME = 30
"""Columns of a name; longer ones are cut."""


def lines_of(judgement: Mapping[str, Any]) -> Iterator[str]:
    """From what `Evaluation.to_json` gives."""
    done = f"{' | '.join(judgement['transforms'])} on {model_name(judgement['model'])}"
    yield from map(Bold, _wrapped(f"{capitalised(judgement['verdict'])}: {done}", ""))
    for reason in judgement["reasons"]:
        yield from _wrapped(reason, "  ")
    yield ""
    yield from _effects("d on words that the transform never saw", judgement["held_out"])
    yield from _effects("d on the tests as they are", judgement["tests"])
    yield from _table("what can be recovered (chance, random transform)", judgement["recovered"], _recovered)
    yield from _table("what it cost", judgement["cost"], _cost)
    for note in (*judgement["without_held_out"], *judgement["notes"]):
        yield from _wrapped(f"note: {note}", "")
    yield from _wrapped(f"The rule. {judgement['rule']}", "")


def _effects(title: str, rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    shown = [row for row in rows if row["poolable"]]
    if not shown:
        return
    yield title
    yield f"  {'':{NAME - 2}}   before  after  change, 95 % interval"
    for row in shown:
        change = bound(row["after"] - row["before"])
        ends = to(row["low"], row["high"]) if row["low"] is not None else "no interval"
        mark = " sign flipped" if row["turned"] else ""
        numbers = f"{effect(row['before']):>8} {effect(row['after']):>6}  {change:>6}, {ends}{mark}"
        yield f"  {row['test'][: NAME - 2]:{NAME - 2}} {numbers}"[:WIDTH]
    yield ""


def _table(
    title: str, rows: Sequence[Mapping[str, Any]], line: Callable[[Mapping[str, Any]], str]
) -> Iterator[str]:
    yield title
    for row in rows:
        yield line(row)[:WIDTH]
    yield ""


def _recovered(row: Mapping[str, Any]) -> str:
    random = f", {effect(row['random']['value'])}" if row["random"] else ""
    numbers = f"{effect(row['before']['value'])} → {_estimate(row['after'])}"
    return f"  {row['name'][:NAME]:{NAME}} {numbers}  ({effect(row['chance'])}{random})"


def _cost(row: Mapping[str, Any]) -> str:
    change = f"  change {_estimate(row['change'])}" if row["change"] else ""
    return f"  {row['name'][:NAME]:{NAME}} {effect(row['before']['value'])} → {effect(row['after']['value'])}{change}"


def _estimate(estimate: Mapping[str, float]) -> str:
    return f"{effect(estimate['value'])} {interval(estimate['low'], estimate['high'])}"


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")
