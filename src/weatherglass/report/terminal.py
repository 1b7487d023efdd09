"""The results of a run as lines for a terminal of any width: one row a test, marks, and what they mean."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from weatherglass.report.layout import Column, Row, items_in_lines, shortened, table_lines, widest_name
from weatherglass.report.measures import spreads
from weatherglass.report.numbers import percent, spaced
from weatherglass.runs.agreement import metric_agreement
from weatherglass.runs.marks import Mark, mark_of
from weatherglass.runs.published_p import published_p
from weatherglass.runs.results import Result, Run
from weatherglass.runs.verdict import CONTROL

MOST_ROWS = 60
"""With more results than this, a summary by topic is printed instead of every row."""
SIZES_FROM, DIRECTION_FROM, WHOLE_DIRECTION_FROM = 100, 120, 160
"""Widths of the terminal from which a row has more columns."""
LEAST_TO_LEAN = 0.2
"""|d| below this is not said in words: Cohen calls 0.2 small."""
NO_TOPIC, CONTROLS = "No topic given", "Controls"

Series = tuple[str, str, str]
"""Model, its options and metric: what one table is about."""


def series_of(results: Sequence[Result]) -> dict[Series, list[Result]]:
    """The results of each model and metric, in order."""
    found: dict[Series, list[Result]] = {}
    for result in results:
        found.setdefault((result.model, result.options, result.metric), []).append(result)
    return found


def topics_of(run: Run) -> Mapping[str, str]:
    """The topic of each test."""
    topics: Mapping[str, str] = run.record.get("topics", {})
    return topics


def by_topic(results: Sequence[Result], topics: Mapping[str, str]) -> dict[str, list[Result]]:
    """Results by topic in order of appearance, a test without one as its own; the controls come last."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(topics.get(result.test) or result.test, []).append(result)
    controls = {CONTROL: groups.pop(CONTROL)} if CONTROL in groups else {}
    return {**groups, **controls}


def topic_name(topic: str) -> str:
    """A topic as a heading.

    >>> topic_name("gender and career")
    'Gender and career'
    """
    return CONTROLS if topic == CONTROL else topic[:1].upper() + topic[1:]


def results_lines(run: Run, width: int) -> Iterator[str]:
    """Every result: a table per model and metric, then what its marks mean."""
    topics, alpha = topics_of(run), _alpha(run)
    for number, rows in enumerate(series_of(run.results).values()):
        if number:
            yield ""
        yield _title(rows, alpha, width)
        columns, cells = _table(rows, topics, alpha, width)
        yield from table_lines(columns, cells, width)
    yield from legend(run, width)


def _title(rows: Sequence[Result], alpha: float, width: int) -> str:
    """Model, metric and how p was computed; the model's name loses its front before anything is cut."""
    first = rows[0]
    without_bias = "" if first.is_effect_size else f"   {first.unbiased:g} without bias"
    tested = f"   {how_tested(rows)}, level {alpha:g}" if any(not row.why_no_p for row in rows) else ""
    tests = counted(len({row.test for row in rows}), "test")
    number = tests if len(rows) == len({row.test for row in rows}) else f"{len(rows)} results of {tests}"
    rest = f"   {first.metric}   {number}{without_bias}{tested}"
    return shortened(shortened(first.model, max(12, width - len(rest)), "front") + rest, width)


def how_tested(rows: Sequence[Result]) -> str:
    """The tail and what is exchanged.

    >>> from weatherglass.report.terminal import counted
    >>> counted(1, "test"), counted(46, "test")
    ('1 test', '46 tests')
    """
    tails = " or ".join(dict.fromkeys(_TAILS.get(row.alternative, row.alternative) for row in rows))
    units = " or ".join(
        dict.fromkeys("sentences" if row.permute == "elements" else row.permute for row in rows)
    )
    return f"{tails}, by {units}"


_TAILS = {"greater": "one-sided (greater)", "less": "one-sided (less)", "observed": "on the side observed"}


def counted(number: int, noun: str) -> str:
    """The number with its noun, in the plural where it is not one."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _table(
    rows: Sequence[Result], topics: Mapping[str, str], alpha: float, width: int
) -> tuple[list[Column], list[Row]]:
    effects = rows[0].is_effect_size
    intervals = any(row.ci_low is not None for row in rows)
    levels = " or ".join(dict.fromkeys(percent(row.trust.level) for row in rows if row.trust))
    published = any(published_p(row) is not None for row in rows)
    columns = [
        Column("  test", shorten="middle", least=14, most=widest_name(width)),
        Column("d" if effects else "value", right=True),
        *([Column(f"{levels} of {'d' if effects else 'it'}")] if intervals else []),
        Column("p", right=True),
        *([Column("published", right=True, from_width=SIZES_FROM)] if published else []),
        Column("X+Y" if effects else "units", right=True, from_width=SIZES_FROM),
        Column("direction", shorten="middle", least=12, from_width=DIRECTION_FROM),
    ]
    cells: list[Row] = []
    heading = ""
    for topic, own in by_topic(rows, topics).items():
        named = NO_TOPIC if topic == own[0].test else topic_name(topic)
        cells += [named] if named != heading else []
        heading = named
        for row in own:
            cells.append(
                [
                    f"{mark_of(row, alpha).glyph or ' '} {row.row}",
                    format_value(row, row.value),
                    *([_interval(row)] if intervals else []),
                    format_p(row.p_value),
                    *([format_p(published_p(row))] if published else []),
                    _sizes(row),
                    direction_in(row, width),
                ]
            )
    return columns, cells


def _sizes(result: Result) -> str:
    exchanged = [str(units) for units in result.units() if units]
    return "+".join(exchanged or map(str, result.target_sizes))


def direction_in(result: Result, width: int) -> str:
    """The sign of d in words, in few words on a narrow terminal; a dash where d is next to nothing."""
    if not result.lean or (result.is_effect_size and abs(result.bias) < LEAST_TO_LEAN):
        return "–"
    if width >= WHOLE_DIRECTION_FROM or result.leans or len(result.categories) != 4:
        return spaced(result.direction)
    x, _, a, b = map(spaced, result.categories)
    return f"{x}: {a if result.lean > 0 else b}"


def legend(run: Run, width: int) -> Iterator[str]:
    """The marks that occur, the family that p was corrected for, and what the columns of a wide table hold."""
    alpha = _alpha(run)
    found = {mark_of(result, alpha) for result in run.results}
    marks = [f"{mark.glyph or 'blank:'} {mark.words}" for mark in Mark if mark in found]
    correction = run.record["correction"]
    families = [_families(correction)] if any(not result.why_no_p for result in run.results) else []
    yield from items_in_lines([*marks, *families], width)
    if width >= SIZES_FROM and any(published_p(result) is not None for result in run.results):
        yield "published: p as the papers compute it, one-sided, single words or sentences exchanged"


def _families(correction: Mapping[str, object]) -> str:
    """How many tests were corrected together; said once where it is the same for every metric."""
    sizes = correction["sizes"]
    assert isinstance(sizes, Mapping)
    method = str(correction["method"]).capitalize()
    if len(set(sizes.values())) == 1:
        each = " for each metric" if len(sizes) > 1 else ""
        return f"{method} of {next(iter(sizes.values()))}{each}"
    return f"{method} of " + ", ".join(f"{size} ({name})" for name, size in sizes.items())


def _alpha(run: Run) -> float:
    return float(run.record["settings"]["alpha"])


def spread_lines(results: Sequence[Result]) -> Iterator[str]:
    """With several metrics: the range of d over the metrics, for each test."""
    results = [result for result in results if result.is_effect_size]
    if len({result.metric for result in results}) < 2:
        return
    for model, options in dict.fromkeys((result.model, result.options) for result in results):
        yield f"d over the metrics, {model}:"
        own = [result for result in results if (result.model, result.options) == (model, options)]
        yield from (f"  {spread}" for spread in spreads(own))


def notes(run: Run) -> Iterator[str]:
    """What to know before quoting: metrics without p, effects shown to be small, a profile's number, disagreement."""
    without_p = dict.fromkeys((r.metric, r.why_no_p) for r in run.results if r.why_no_p)
    yield from (f"{metric} has no p: {reason}." for metric, reason in without_p)
    yield from _small_note(run.results, run.record["settings"].get("smallest"))
    if headline := run.record.get("headline"):
        yield f"{headline['name']}: {headline['value']:.3f} ({headline['profile']}; whatever p)"
    yield from _agreement(run)


def missed_note(results: Sequence[Result]) -> Iterator[str]:
    """Which effects the tests that are not significant would often miss, by the size that most of them have."""
    weak = [r for r in results if not r.significance and r.minimum_detectable is not None and not r.small]
    if not weak:
        return
    sizes = [result.units() for result in weak]
    most = max(dict.fromkeys(sizes), key=sizes.count)
    detectable = max(r.minimum_detectable or 0.0 for r in weak if r.units() == most)
    yield (
        f"“Cannot tell” is not “unbiased”: with {most[0]} + {most[1]} "
        f"{'sentences' if weak[0].permute == 'elements' else weak[0].permute}, effects below d = "
        f"{detectable:.2f} are often missed."
    )


def _agreement(run: Run) -> Iterator[str]:
    """With several metrics: which rank the models, or the tests of one model, most differently."""
    agreement = metric_agreement(run.results)
    if agreement is None:
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
            f"Metrics rank the models differently in {len(apart)} of {counted(len(agreement.pairs), 'pair')}; "
            f"farthest apart: {first} and {second}, Kendall's tau {format_effect(found.tau).strip()}{over}."
        )
    elif any(pair.of_models for pair in agreement.pairs):
        yield "All metrics rank the models alike."
    elif agreement.tests > 1:
        pair = min(agreement.pairs, key=lambda pair: (math.isnan(pair.of_tests), pair.of_tests))
        yield (
            f"Which tests are farthest from no bias? Farthest apart in that: {pair.metrics[0]} and "
            f"{pair.metrics[1]}, Kendall's tau {format_effect(pair.of_tests).strip()} over {agreement.tests} tests."
        )


def _small_note(results: Sequence[Result], smallest: float | None) -> Iterator[str]:
    """Which effects are shown to be below the smallest that the user cares about, where one was stated."""
    if smallest is None:
        return
    small = [result.test for result in results if result.small]
    listed = f": {', '.join(dict.fromkeys(small))}" if small else ""
    yield f"{len(small)} of {len(results)} shown to be smaller than {smallest:g}, for other attributes too{listed}."


def format_effect(d: float | None) -> str:
    """Two decimals with a minus sign, as papers print d."""
    if d is None or math.isnan(d):
        return "–"
    return f"{d:5.2f}".replace("-0.00", " 0.00").replace("-", "−")


def format_value(result: Result, value: float | None) -> str:
    """d as papers print it; the values of other metrics, which are smaller, with a third decimal."""
    if result.is_effect_size or value is None or math.isnan(value):
        return format_effect(value)
    return f"{value:6.3f}".replace("-0.000", " 0.000").replace("-", "−")


def _interval(result: Result) -> str:
    if result.is_effect_size or result.ci_low is None or result.ci_high is None:
        return format_interval(result.ci_low, result.ci_high)
    return f"{format_value(result, result.ci_low)} … {format_value(result, result.ci_high)}"


def format_interval(low: float | None, high: float | None) -> str:
    """The two ends, padded so that they align in a column.

    >>> format_interval(-0.421, 1.51), format_interval(-1.5, -0.98)
    ('−0.42 …  1.51', '−1.50 … −0.98')
    """
    if low is None or high is None:
        return "–"
    return f"{format_effect(low)} … {format_effect(high)}"


def format_p(p: float | None) -> str:
    """Two significant digits: 0.034, 2.6e-10."""
    if p is None or math.isnan(p):
        return ""
    if p == 0:
        return "0"
    if p >= 0.0995:
        return f"{p:.2f}"
    return f"{p:.1e}".replace("e-0", "e-") if p < 0.001 else f"{p:.2g}"
