"""Verdicts on topics for the terminal: a table of one line each, and the reasons in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from rich.table import Table

from weatherglass.report.numbers import percent
from weatherglass.report.terminal import format_effect, format_interval
from weatherglass.runs.verdict import Verdict

NOT_JUDGED = "not judged"
LONGEST_TOPIC = 23
"""Letters of a topic in a table that fits 80 columns; the published topics have no more."""


def verdict_tables(verdicts: Sequence[Verdict]) -> Iterator[Table]:
    """One table per model and metric: a line of at most 80 columns for each topic, controls last."""
    for (model, _, metric), group in _by_model(verdicts):
        own = list(group)
        table = Table(
            title=f"verdicts   {model}   {metric}",
            title_justify="left",
            box=None,
            pad_edge=False,
            padding=(0, 1, 0, 0),
        )
        table.add_column("topic", max_width=LONGEST_TOPIC, overflow="ellipsis", no_wrap=True)
        table.add_column("verdict", no_wrap=True)
        table.add_column("mean d", justify="right", no_wrap=True)
        table.add_column("interval", no_wrap=True)
        table.add_column("tests", justify="right", no_wrap=True)
        compared = any(one.reference for one in own)
        if compared:
            table.add_column("above", justify="right", no_wrap=True)
        for one in own:
            standing = one.reference
            table.add_row(
                one.topic,
                one.verdict or NOT_JUDGED,
                format_effect(one.effect_size),
                format_interval(one.ci_low, one.ci_high),
                f"{one.significant}/{len(one.tests)}",
                *([f"{standing.above}/{standing.models}" if standing else ""] if compared else []),
            )
        yield table


def verdict_notes(verdicts: Sequence[Verdict], alpha: float) -> Iterator[str]:
    """What the columns are, and what a verdict does not say."""
    if not verdicts:
        yield "There are no verdicts: they are given on effect sizes d, when a run is complete."
        return
    above = "; above: reference models with a smaller mean d" if any(v.reference for v in verdicts) else ""
    yield (
        f"tests: how many of the topic's tests have p ≤ {alpha:g}; interval: {percent(1 - alpha)} of the mean d{above}."
    )
    sizes = sorted({one.family for one in verdicts if one.verdict and not one.control})
    topics = " or ".join(str(size) for size in sizes)
    if topics:
        yield (
            f"Corrected for the {topics} topic{'s' if topics != '1' else ''} of each model and metric; "
            "controls stand apart. “Cannot tell” does not say that there is no bias on a topic."
        )
    for why in dict.fromkeys(one.why for one in verdicts if one.verdict is None):
        yield f"{NOT_JUDGED}: {why}."


def reasons(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """A line or two for each topic: what it rests on, its size, and what to hold it against."""
    several = len({(one.model, one.options, one.metric) for one in verdicts}) > 1
    for one in verdicts:
        name = f"{one.topic} ({one.model}, {one.metric})" if several else one.topic
        yield f"{name}: {one.verdict or NOT_JUDGED}. {'. '.join(_sentences(one))}."


def _sentences(verdict: Verdict) -> Iterable[str]:
    if verdict.direction and verdict.verdict not in (None, "small", "cannot tell", "mixed"):
        yield verdict.direction
    yield verdict.why
    number = f"{verdict.significant} of {len(verdict.tests)} test{'s' if len(verdict.tests) != 1 else ''} significant"
    if verdict.effect_size is None:
        yield number
        return
    size = f"mean d {format_effect(verdict.effect_size).strip()}"
    if verdict.ci_low is not None:
        size += f" ({' '.join(format_interval(verdict.ci_low, verdict.ci_high).split())})"
    if verdict.reference:
        size += f", {standing_text(verdict)}"
    yield f"{number}, {size}"
    if verdict.further_low is not None:
        further = format_interval(verdict.further_low, verdict.further_high)
        yield f"a further test of this kind: {' '.join(further.split())}"
    if verdict.human:
        people = ", ".join(f"{test} {d:.2f}" for test, d in verdict.human.items())
        yield f"people in the IAT, d over persons: {people}"


def standing_text(verdict: Verdict) -> str:
    """Where d̄ lies among the reference models."""
    standing = verdict.reference
    return f"higher than {standing.above} of {standing.models} reference models" if standing else ""


def _by_model(verdicts: Sequence[Verdict]) -> Iterator[tuple[tuple[str, str, str], Iterator[Verdict]]]:
    yield from groupby(verdicts, key=lambda one: (one.model, one.options, one.metric))
