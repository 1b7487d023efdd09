"""Show a run in a terminal of any width: topics by verdict, what can be said and, on request, every test."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from weatherglass.audit.results import Outcome, Result, mark_of
from weatherglass.audit.run import Run
from weatherglass.audit.verdict import Verdict
from weatherglass.catalogue.names import capitalised, topic_name
from weatherglass.report import statements
from weatherglass.report.layout import (
    Bold,
    Dim,
    items_in_lines,
    pad,
    shortened,
    wrapped,
)
from weatherglass.report.numbers import (
    bound,
    counted,
    effect,
    format_effect,
    format_interval,
    percent,
)
from weatherglass.storage.printable import cell_len

INTERVAL_FROM = 100
"""The smallest terminal width at which the interval of a topic is shown."""
WIDEST = 120
"""The maximum number of columns of a run's screen, as in a pipe."""
LARGEST = 2.0
"""The |d| at the ends of the axis; with sets of equal size, |d| cannot be larger."""
CHECKS = "Sanity checks"
FOUND = {True: "✓", False: "✗", None: "–"}
NOT_TESTED = "not tested"


def screen_lines(run: Run, verdicts: Sequence[Verdict], width: int) -> Iterator[str]:
    """Yield the first screen of a run: topics by verdict, sanity checks, what can be said, and its caveats."""
    width = min(width, WIDEST)
    if not verdicts:
        yield "There are no verdicts, which need a complete run and a metric with p-values."
        return
    metrics = list(dict.fromkeys(one.metric for one in verdicts))
    models = list(dict.fromkeys((one.model, one.options) for one in verdicts))
    if len(metrics) == len(models) == 1:
        yield from topic_chart(run, verdicts, width)
    else:
        yield from model_table(run, verdicts, width)
    for metric in metrics:
        own = [one for one in verdicts if one.metric == metric]
        by = f" by {metric}" if len(metrics) > 1 else ""
        if said := statements.quotable(own, run.alpha):
            yield ""
            yield Bold(f"What you can say{by}")
            yield from wrapped(" ".join(said), width, "  ")
    yield from _caveats(run, verdicts, metrics, width)


def _caveats(run: Run, verdicts: Sequence[Verdict], metrics: Sequence[str], width: int) -> Iterator[str]:
    lines = [
        caveat
        for metric in metrics
        for caveat in statements.caveats(
            [one for one in verdicts if one.metric == metric], run.alpha, "--table"
        )
    ]
    if lines:
        yield Bold("Before you quote it")
    more = (note for note in notes(run) if f"No verdict: {note}" not in lines)
    for line in dict.fromkeys([*lines, *more]):
        yield from wrapped(line, width, "  • ", "    ")


def topic_chart(run: Run, verdicts: Sequence[Verdict], width: int) -> Iterator[str]:
    """Yield the topics of one model and metric by verdict, each with its bar, followed by the sanity checks."""
    width = min(width, WIDEST)
    first = verdicts[0]
    rows = [
        r for r in run.results if (r.model, r.options, r.metric) == (first.model, first.options, first.metric)
    ]
    found, alpha = statements.topics(verdicts), run.alpha
    number = counted(len({row.row for row in rows}), "test")
    how = f"{rows[0].info.symbol} by {first.metric}, {how_tested(rows)}"
    rest = f"   {number} on {counted(len(found), 'topic')}   {how}"
    (name,) = statements.labels([(first.model, first.options)])
    yield Bold(shortened(shortened(name, max(12, width - cell_len(rest)), "front") + rest, width))
    yield ""
    cells = 21 if width < INTERVAL_FROM else 29
    intervals = width >= INTERVAL_FROM
    after = ["tests that differ"] if width >= 72 else ["differ"]
    names = [capitalised(topic_name(one.topic)) for one in found]
    fixed = 2 + 8 + 2 + cells + 3 + len(after[0]) + (16 if intervals else 0)
    topic_width = max(8, min(max(map(cell_len, [*names, "Topic"]), default=8), width - fixed))
    middle = f"{percent(1 - alpha)} CI".ljust(14) + "  " if intervals else ""
    yield shortened(
        f"  {pad('Topic', topic_width)}  mean {rows[0].info.symbol}  {middle}{_axis(cells)}   {after[0]}",
        width,
    ).rstrip()
    for (outcome, word), group in groupby(found, key=lambda one: (one.outcome, statements.word_of(one))):
        own = list(group)
        yield from _heading(word, own[0], alpha, width)
        for one in own:
            interval = f"{format_interval(one.ci_low, one.ci_high):14}  " if intervals else ""
            line = (
                f"{_glyph(one)} {pad(shortened(capitalised(topic_name(one.topic)), topic_width), topic_width)}  "
                f"{pad(format_effect(one.effect_size), 6, right=True)}  {interval}{_drawn(one, cells)}   {_differ(one)}"
            )
            line = shortened(line.rstrip(), width)
            yield Dim(line) if outcome in (Outcome.INCONCLUSIVE, None) else line
    yield from _check_lines(verdicts, width)


def _heading(word: statements.Word, verdict: Verdict, alpha: float, width: int) -> Iterator[str]:
    meaning = word.explained(verdict.family, alpha) or verdict.why.rstrip(".")
    first, *rest = word.heading.split(" ")
    for line in wrapped(f"{' '.join([first.upper(), *rest])}: {meaning}", width):
        yield Bold(line)


def _differ(verdict: Verdict) -> str:
    """Return the number of tests that are significant after correction, out of those that are tested."""
    if not verdict.tests:
        return f"{len(verdict.measured)} measured"
    return f"{len(verdict.marked)} of {len(verdict.tests)}"


def _check_lines(verdicts: Sequence[Verdict], width: int) -> Iterator[str]:
    own = [one for one in verdicts if one.check]
    if not own:
        return
    for line in wrapped("SANITY CHECKS: associations that people and most models show", width):
        yield Bold(line)
    names = [capitalised(statements.check_name(one)) for one in own]
    sizes = [_sizes_of_tests(one) for one in own]
    right = max(map(cell_len, sizes)) + 3 + len("NOT FOUND")
    room = max(12, min(max(map(cell_len, names)) + 3, width - right - 2))
    for one, name, size in zip(own, names, sizes, strict=True):
        said = {True: "found", False: "NOT FOUND", None: NOT_TESTED}[one.found]
        yield shortened(
            f"{FOUND[one.found]} {pad(shortened(name, room), room)}{pad(size, right - 9)}{said}", width
        )


def _sizes_of_tests(verdict: Verdict) -> str:
    """Return d of each test of a sanity check, or their mean if there are many."""
    shown = [effect(d) for d in verdict.effect_sizes.values() if d is not None]
    if not shown or len(shown) > 3:
        return f"mean d {effect(verdict.effect_size)}" if verdict.effect_size is not None else ""
    return "d " + " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _axis(cells: int) -> str:
    """Return the numbers −2 to 2 at their places."""
    line = [" "] * cells
    for number in range(-2, 3):
        place = _place(number, cells)
        line[place] = str(abs(number))
        if number < 0:
            line[place - 1 if place else 0], line[place or 1] = "−", str(abs(number))
    return "".join(line)


def _place(d: float, cells: int) -> int:
    return round((min(max(d, -LARGEST), LARGEST) + LARGEST) / (2 * LARGEST) * (cells - 1))


def _drawn(verdict: Verdict, cells: int) -> str:
    """Return the zero line, the interval and the mark at D, or only the zero line if there is no D.

    An interval that excludes 0 is drawn next to the zero line; an interval that contains 0 is drawn across it.
    """
    line = [" "] * cells
    zero = _place(0, cells)
    line[zero] = "│"
    if verdict.ci_low is not None and verdict.ci_high is not None:
        low, high = _place(verdict.ci_low, cells), _place(verdict.ci_high, cells)
        if verdict.ci_low > 0:
            low = max(low, zero + 1)
        if verdict.ci_high < 0:
            high = min(high, zero - 1)
        line[low : high + 1] = "─" * (high + 1 - low)
        line[zero] = "┼" if verdict.ci_low <= 0 <= verdict.ci_high else "│"
    if verdict.effect_size is not None:
        place = _place(verdict.effect_size, cells)
        if statements.sign_of(verdict):
            place = max(place, zero + 1) if verdict.effect_size > 0 else min(place, zero - 1)
        line[place] = _glyph(verdict)
    return "".join(line)


def model_table(run: Run, verdicts: Sequence[Verdict], width: int) -> Iterator[str]:
    """Yield a table with a row per topic and a column per model and metric, with the mark of the outcome and D.

    Models that do not fit side by side are listed one below the other.
    """
    width = min(width, WIDEST)
    metrics = list(dict.fromkeys(one.metric for one in verdicts))
    models = list(dict.fromkeys((one.model, one.options) for one in verdicts))
    names = dict(zip(models, statements.labels(models), strict=True))
    columns = [(model, metric) for model in models for metric in metrics]
    cells = {((one.model, one.options), one.metric, one.topic, one.check): one for one in verdicts}
    ordered = sorted((one for one in verdicts if not one.check), key=statements.rank)
    rows = [(one.topic, False) for one in ordered] + [(one.topic, True) for one in verdicts if one.check]
    rows = list(dict.fromkeys(rows))
    labels = {
        (one.topic, one.check): capitalised(
            statements.check_name(one) if one.check else topic_name(one.topic)
        )
        for one in verdicts
    }
    tests = counted(len({result.row for result in run.results}), "test")
    yield Bold(
        shortened(
            f"{counted(len(models), 'model')}   {tests} on {counted(sum(not check for _, check in rows), 'topic')}   "
            f"{', '.join(metrics)}, {how_tested(run.results)}",
            width,
        )
    )
    if len(metrics) > 1:
        yield from items_in_lines(
            [f"{_letter(place)} {metric}" for place, metric in enumerate(metrics)], width
        )
    topic_width = min(max(cell_len(label) for label in labels.values()), max(12, width // 3))
    room = (width - topic_width - 2) // len(models)
    heads = dict(names)
    if max(map(cell_len, names.values())) + 2 > room:
        heads = {model: f"({place + 1})" for place, model in enumerate(models)}
        yield from items_in_lines([f"{heads[model]} {names[model]}" for model in models], width)
    per_model = max(9 * len(metrics), min(max(map(cell_len, heads.values())) + 2, room))
    at_once = max(1, (width - topic_width - 2) // per_model)
    for start in range(0, len(models), at_once):
        shown = models[start : start + at_once]
        yield ""
        head = "".join(pad(heads[model], per_model) for model in shown)
        yield Bold((pad("Mean d by topic", topic_width + 2)[: topic_width + 2] + head).rstrip())
        cell = per_model // len(metrics)
        if len(metrics) > 1:
            letters = "".join(pad(_letter(place), cell) for place in range(len(metrics)))
            yield (" " * (topic_width + 2) + pad(letters, per_model) * len(shown)).rstrip()
        checked = False
        for row in rows:
            if row[1] and not checked:
                yield Bold(CHECKS)
                checked = True
            line = pad(shortened(labels[row], topic_width), topic_width + 2)
            for model, metric in columns:
                if model in shown:
                    line += pad(_cell(cells.get((model, metric, *row))), cell)
            yield shortened(line.rstrip(), width)
    yield from _legend(verdicts, width)


def _glyph(verdict: Verdict) -> str:
    return mark_of(verdict).glyph or "–"


def _cell(verdict: Verdict | None) -> str:
    """Return the mark of a verdict and D."""
    if verdict is None:
        return "not run"
    mark = FOUND[verdict.found] if verdict.check else _glyph(verdict)
    return mark if verdict.effect_size is None else f"{mark} {effect(verdict.effect_size):>5}"


def _legend(verdicts: Sequence[Verdict], width: int) -> Iterator[str]:
    found = {one.outcome for one in verdicts if not one.check}
    items = [f"{outcome.mark} {outcome}" for outcome in Outcome if outcome in found]
    items += ["– no verdict"] if None in found else []
    items += ["✓ found  ✗ not found"] if any(one.check for one in verdicts) else []
    yield from items_in_lines(items, width)


def _letter(place: int) -> str:
    return chr(ord("A") + place) if place < 26 else f"M{place + 1}"


def reasons(verdicts: Sequence[Verdict], alpha: float) -> Iterator[str]:
    """Yield, for each topic, its outcome, the reason, what can be said, and what its size can be compared with."""
    models = list(dict.fromkeys((one.model, one.options) for one in verdicts))
    names = dict(zip(models, statements.labels(models), strict=True))
    several = len({(one.model, one.options, one.metric) for one in verdicts}) > 1
    for one in [*statements.topics(verdicts), *(one for one in verdicts if one.check)]:
        name = names[one.model, one.options]
        where = f" ({name}, {one.metric})" if several else ""
        mark = FOUND[one.found] if one.check else _glyph(one)
        said = {True: "found", False: "not found", None: NOT_TESTED}[one.found] if one.check else one.outcome
        topic = statements.check_name(one) if one.check else topic_name(one.topic)
        yield Bold(f"{mark} {capitalised(topic)}{where}: {said or 'no verdict'}")
        for text in _details(one, alpha, name):
            yield f"  {text}"


def _details(verdict: Verdict, alpha: float, name: str) -> Iterable[str]:
    yield statements.reason(verdict)
    if verdict.outcome or verdict.check:
        yield statements.sentence(verdict, alpha, name)
    if verdict.placebo is not None:
        yield (
            f"Attribute words divided at random give |mean d| up to {effect(verdict.placebo)} in 95 % of divisions."
        )
    if verdict.further_low is not None and verdict.further_high is not None:
        yield f"Prediction interval for a further test: {bound(verdict.further_low)} to {bound(verdict.further_high)}."
    if verdict.reference:
        yield f"{capitalised(statements.standing_text(verdict))}."
    if verdict.human:
        people = ", ".join(f"{test} {d:.2f}" for test, d in verdict.human.items())
        yield f"People in the IAT (d over people, a rough guide): {people}."


def how_tested(rows: Sequence[Result]) -> str:
    """Return the tail of the test and the exchanged units."""
    tails = " or ".join(dict.fromkeys(_TAILS.get(row.alternative, row.alternative) for row in rows))
    units = " or ".join(
        dict.fromkeys("sentences" if row.permute == "elements" else row.permute for row in rows)
    )
    return f"{tails}, by {units}"


_TAILS = {"greater": "one-sided (greater)", "less": "one-sided (less)", "observed": "on the observed side"}


def notes(run: Run) -> Iterator[str]:
    """Yield further caveats: metrics without p, the number of a profile, disagreement of metrics."""
    without_p = dict.fromkeys((r.metric, r.why_no_p) for r in run.results if r.why_no_p and not r.not_tested)
    yield from (f"{metric} has no p: {reason}." for metric, reason in without_p)
    smallest = run.record.get("settings", {}).get("smallest")
    if smallest is not None:
        small = sum(bool(result.small) for result in run.results)
        yield f"{small} of {counted(len(run.results), 'result')} rule out an effect of d = {smallest:g}."
    if headline := run.record.get("headline"):
        yield f"{headline['name']}: {headline['value']:.3f} ({headline['profile']}; whatever p)"
    yield from _agreement(run)


def _agreement(run: Run) -> Iterator[str]:
    """Yield which metrics rank the models, or the tests of one model, most differently; yield nothing for a single
    metric.
    """
    agreement = run.agreement
    if agreement is None:
        return
    if agreement.why_no_tau:
        yield f"Whether the metrics agree is unknown: {agreement.why_no_tau}."
        return
    apart = agreement.disagreeing()
    if apart and apart[0].of_models:
        found, (first, second) = apart[0].of_models, apart[0].metrics
        over = (
            f", 95 % {format_interval(found.low, found.high).strip()} over tests"
            if found.low is not None
            else ""
        )
        yield (
            f"Metrics rank the models differently in {len(apart)} of "
            f"{counted(len(agreement.pairs), 'pair')}; {first} and {second} differ most, with Kendall's "
            f"tau {format_effect(found.tau).strip()}{over}."
        )
    elif any(pair.of_models for pair in agreement.pairs):
        yield "All metrics rank the models alike."
    else:
        pair = min(agreement.pairs, key=lambda pair: (math.isnan(pair.of_tests), pair.of_tests))
        yield (
            f"The metrics that disagree most on which tests show the most bias are {pair.metrics[0]} and "
            f"{pair.metrics[1]}, with Kendall's tau {format_effect(pair.of_tests).strip()} over "
            f"{agreement.tests} tests."
        )
