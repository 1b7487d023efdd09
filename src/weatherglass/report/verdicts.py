"""Verdicts on topics for the terminal: a chart of one line each, a summary by topic and model, reasons in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from rich.cells import cell_len

from weatherglass.report.layout import items_in_lines, pad, shortened
from weatherglass.report.numbers import effect, percent, spaced
from weatherglass.report.terminal import (
    Series,
    by_topic,
    counted,
    format_effect,
    format_interval,
    missed_note,
    series_of,
    topic_name,
    topics_of,
)
from weatherglass.runs.marks import VerdictMark, verdict_mark
from weatherglass.runs.results import Result, Run
from weatherglass.runs.verdict import Verdict

NOT_JUDGED = VerdictMark.NOT_JUDGED.words
LARGEST = 2.0
"""|d| at the ends of the axis; with sets of equal size |d| cannot be larger."""
MOST_CHARTS = 3
"""With more models and metrics than this, verdicts are a table by topic and model."""
LONGEST_NAME = 32
"""Columns of a model's name in a sentence."""
MOST_LISTED = 4
"""Findings that one sentence names."""
CONTROL_SEEN = ("shown", "shown for these words")


def verdict_charts(verdicts: Sequence[Verdict], width: int) -> Iterator[str]:
    """Per model and metric: for each topic a mark, d̄ with its interval on an axis, how many tests, and the word."""
    several = len({(one.model, one.options, one.metric) for one in verdicts}) > 1
    for number, ((model, _, metric), group) in enumerate(_by_model(verdicts)):
        if number:
            yield ""
        yield from _chart(list(group), f"{model}   {metric}" if several else "", width)


def _chart(own: Sequence[Verdict], title: str, width: int) -> Iterator[str]:
    gap = " " if width < 100 else "  "
    wide = width >= 120
    cells = 17 if width < 100 else 25 if width < 120 else 29 if width < 200 else 41
    compared = wide and any(one.reference for one in own)
    words = max(len(one.verdict or NOT_JUDGED) for one in own)
    right = [5, *([13] if wide else []), 5, *([5] if compared else []), words]
    topic_width = max(8, width - 2 - cells - sum(right) - len(gap) * (len(right) + 1))
    topic_width = min(topic_width, max(cell_len(topic_name(one.topic)) for one in own))
    if title:
        yield shortened(title, width, "front")
    heads = ["    d", *(["95 % of d    "] if wide else []), "tests", *(["above"] if compared else []), ""]
    yield shortened(gap.join([pad("Verdicts", topic_width + 2), _axis(cells), *heads]).rstrip(), width)
    for one in own:
        mark = verdict_mark(one.verdict)
        standing = one.reference
        parts = [
            f"{mark.glyph} {pad(shortened(topic_name(one.topic), topic_width), topic_width)}",
            _drawn(one, mark.glyph, cells),
            pad(format_effect(one.effect_size), 5, right=True),
            *([pad(format_interval(one.ci_low, one.ci_high), 13)] if wide else []),
            pad(f"{one.significant}/{len(one.tests)}", 5, right=True),
            *(
                [pad(f"{standing.above}/{standing.models}" if standing else "", 5, right=True)]
                if compared
                else []
            ),
            one.verdict or NOT_JUDGED,
        ]
        yield shortened(gap.join(parts), width)


def _axis(cells: int) -> str:
    """The numbers −2 to 2 at their places."""
    line = [" "] * cells
    for number in range(-2, 3):
        place = _place(number, cells)
        line[place] = str(abs(number))
        if number < 0:
            line[place - 1 if place else 0], line[place or 1] = "−", str(abs(number))
    return "".join(line)


def _place(d: float, cells: int) -> int:
    return round((min(max(d, -LARGEST), LARGEST) + LARGEST) / (2 * LARGEST) * (cells - 1))


def _drawn(verdict: Verdict, glyph: str, cells: int) -> str:
    """The zero line, the interval and the mark at d̄; only the zero line where there is no d̄."""
    line = [" "] * cells
    zero = _place(0, cells)
    line[zero] = "│"
    if verdict.ci_low is not None and verdict.ci_high is not None:
        low, high = _place(verdict.ci_low, cells), _place(verdict.ci_high, cells)
        line[low : high + 1] = "─" * (high + 1 - low)
        line[zero] = "┼" if low <= zero <= high else "│"
    if verdict.effect_size is not None:
        line[_place(verdict.effect_size, cells)] = glyph
    return "".join(line)


def summary_lines(run: Run, verdicts: Sequence[Verdict], width: int) -> Iterator[str]:
    """Topics down, models and their metrics across: mark and mean d; for other metrics the mean value, without a mark.

    Models that do not fit beside each other stand below each other.
    """
    series, topics = series_of(run.results), topics_of(run)
    rows = list(by_topic(run.results, topics))
    metrics = list(dict.fromkeys(metric for _, _, metric in series))
    by_series = {(one.model, one.options, one.metric, one.topic): one for one in verdicts}
    means = {
        (*key, name): _mean(own)
        for key, results in series.items()
        for name, own in by_topic(results, topics).items()
    }
    if len(metrics) > 1:
        named = [f"{_letter(place)} {metric}" for place, metric in enumerate(metrics)]
        apart = (
            ["≠ another sign than the first"]
            if sum(_signed(series, metric) for metric in metrics) > 1
            else []
        )
        yield from items_in_lines([*named, *apart], width)
    topic_width = min(max(len(topic_name(name)) for name in rows), max(12, width // 3))
    counts = width >= 120
    cell = (13 if counts else 8) if len(metrics) > 1 else (14 if counts else 9)
    models = list(dict.fromkeys((model, options) for model, options, _ in series))
    at_once = max(1, (width - topic_width - 2) // (cell * len(metrics)))
    if len(metrics) == 1 and len(models) <= at_once:
        longest = max(cell_len(model) for model, _ in models) + 2
        cell = max(cell, min(longest, (width - topic_width - 2) // len(models)))
    for start in range(0, len(models), at_once):
        shown = models[start : start + at_once]
        if start:
            yield ""
        yield from _summary_block(rows, shown, metrics, by_series, means, topic_width, cell, counts, width)
    found = {verdict_mark(one.verdict) for one in verdicts}
    yield from items_in_lines([f"{mark.glyph} {mark.words}" for mark in VerdictMark if mark in found], width)
    if counts:
        yield "1/4: tests of the topic with p at most alpha"


def _summary_block(
    rows: Sequence[str],
    models: Sequence[tuple[str, str]],
    metrics: Sequence[str],
    by_series: Mapping[tuple[str, str, str, str], Verdict],
    means: Mapping[tuple[str, str, str, str], tuple[float, int, int]],
    topic_width: int,
    cell: int,
    counts: bool,
    width: int,
) -> Iterator[str]:
    heads = [
        pad(shortened(model, cell * len(metrics) - 1, "front"), cell * len(metrics)) for model, _ in models
    ]
    yield shortened(
        pad("Verdict and d by topic", topic_width + 2)[: topic_width + 2] + "".join(heads), width
    ).rstrip()
    if len(metrics) > 1:
        letters = "".join(pad(_letter(place), cell) for place in range(len(metrics)))
        yield (" " * (topic_width + 2) + letters * len(models)).rstrip()
    for row in rows:
        line = pad(shortened(topic_name(row), topic_width), topic_width + 2)
        for model, options in models:
            first: float | None = None
            for metric in metrics:
                verdict = by_series.get((model, options, metric, row))
                mean = means.get((model, options, metric, row))
                text, d = _cell(verdict, mean, counts)
                other = d is not None and first is not None and d * first < 0
                line += pad(text + ("≠" if other else ""), cell)
                first = d if first is None else first
        yield shortened(line.rstrip(), width)


def _cell(
    verdict: Verdict | None, mean: tuple[float, int, int] | None, counts: bool
) -> tuple[str, float | None]:
    """A verdict's mark and d, or the mean value; and d, where it has a sign."""
    if verdict is not None:
        text = verdict_mark(verdict.verdict).glyph + pad(
            format_effect(verdict.effect_size), 6 if counts else 5, True
        )
        return text + (f" {verdict.significant}/{len(verdict.tests)}" if counts else ""), verdict.effect_size
    if mean is None:
        return " failed", None
    value, significant, tests = mean
    number = "–" if math.isnan(value) else f"{value:.3f}".replace("-", "−")
    return f"  {number:>5}" + (f" {significant}/{tests}" if counts else ""), None


def _mean(results: Sequence[Result]) -> tuple[float, int, int]:
    """The mean value of a topic's results, how many are significant, and how many there are."""
    values = [result.value for result in results if not math.isnan(result.value)]
    mean = sum(values) / len(values) if values else math.nan
    return mean, sum(bool(result.significance) for result in results), len(results)


def _signed(series: Mapping[Series, Sequence[Result]], metric: str) -> bool:
    return any(rows[0].is_effect_size and rows[0].signed for key, rows in series.items() if key[2] == metric)


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"M{place + 1}"


def sentences(run: Run, verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Two or three honest sentences: what is shown, whether the controls are seen, and what would be missed."""
    several_models = len({(one.model, one.options) for one in verdicts}) > 1
    several_metrics = len({one.metric for one in verdicts}) > 1
    judged = [one for one in verdicts if one.verdict]
    findings = [one for one in judged if not one.control]
    shown = [one for one in findings if one.verdict == "shown"]
    for_these = [one for one in findings if one.verdict == "shown for these words"]
    for head, found in (("Shown", shown), ("Shown for these words", for_these)):
        if found:
            yield f"{head}: {_listed(found, several_models, several_metrics)}."
    if findings and not shown:
        suggested = sum(one.verdict == "suggested" for one in findings)
        more = f"; {suggested} of {len(findings)} suggested" if suggested else ""
        yield (
            "Nothing is shown beyond the listed words."
            if for_these
            else f"Nothing is shown on any topic{more}."
        )
    unseen = [one for one in judged if one.control and one.verdict not in CONTROL_SEEN]
    if unseen:
        where = f" in {_names(unseen)}" if several_models or several_metrics else ""
        yield f"The control is not seen{where} ({unseen[0].verdict}): trust the other rows less."
    yield from missed_note([result for result in run.results if result.is_effect_size])
    for why in dict.fromkeys(one.why for one in verdicts if one.verdict is None):
        yield f"{NOT_JUDGED}: {why}."
    if unjudged := list(dict.fromkeys(r.metric for r in run.results if not r.is_effect_size)):
        yield f"No verdict by {', '.join(unjudged)}: verdicts are given on effect sizes d."


def _listed(found: Sequence[Verdict], models: bool, metrics: bool) -> str:
    """What leans to what, and where; the first few."""
    phrases = [
        spaced(one.direction.split(",")[0] or one.topic)
        + (f" in {shortened(one.model, LONGEST_NAME, 'front')}" if models else "")
        + (f" by {one.metric}" if metrics else "")
        for one in found
    ]
    phrases = list(dict.fromkeys(phrases))
    more = f"; and {len(phrases) - MOST_LISTED} more" if len(phrases) > MOST_LISTED else ""
    return "; ".join(phrases[:MOST_LISTED]) + more


def _names(found: Sequence[Verdict]) -> str:
    names = list(dict.fromkeys(shortened(one.model, LONGEST_NAME, "front") for one in found))
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def verdict_notes(verdicts: Sequence[Verdict], alpha: float, width: int) -> Iterator[str]:
    """What the columns are, and what a verdict does not say."""
    if not verdicts:
        yield "There are no verdicts: they are given on effect sizes d, when a run is complete."
        return
    compared = width >= 120 and any(one.reference for one in verdicts)
    above = "; above: reference models with a smaller mean d" if compared else ""
    yield (
        f"tests: how many of the topic's tests have p ≤ {alpha:g}; the line: {percent(1 - alpha)} of the mean d{above}."
    )
    sizes = sorted({one.family for one in verdicts if one.verdict and not one.control})
    if sizes:
        topics = " or ".join(str(size) for size in sizes)
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
    number = f"{verdict.significant} of {counted(len(verdict.tests), 'test')} significant"
    if verdict.effect_size is None:
        yield number
        return
    size = f"mean d {format_effect(verdict.effect_size).strip()}"
    if verdict.ci_low is not None:
        size += f" ({effect(verdict.ci_low)} … {effect(verdict.ci_high)})"
    if verdict.reference:
        size += f", {standing_text(verdict)}"
    yield f"{number}, {size}"
    if verdict.further_low is not None:
        yield f"a further test of this kind: {effect(verdict.further_low)} … {effect(verdict.further_high)}"
    if verdict.human:
        people = ", ".join(f"{test} {d:.2f}" for test, d in verdict.human.items())
        yield f"people in the IAT, d over persons: {people}"


def standing_text(verdict: Verdict) -> str:
    """Where d̄ lies among the reference models."""
    standing = verdict.reference
    return (
        f"higher than {standing.above} of {counted(standing.models, 'reference model')}" if standing else ""
    )


def _by_model(verdicts: Sequence[Verdict]) -> Iterator[tuple[tuple[str, str, str], Iterator[Verdict]]]:
    yield from groupby(verdicts, key=lambda one: (one.model, one.options, one.metric))
