"""Results as tables and lines for the terminal, in the style of May et al.'s Table 4."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from rich.table import Table

from weatherglass.report.measures import spreads
from weatherglass.report.numbers import percent
from weatherglass.runs.agreement import metric_agreement
from weatherglass.runs.results import Result, Run


def results_tables(run: Run) -> Iterator[Table]:
    """One table per metric: tests down, models across."""
    models = list(dict.fromkeys((result.model, result.options) for result in run.results))
    for metric in dict.fromkeys(result.metric for result in run.results):
        rows = [result for result in run.results if result.metric == metric]
        yield _one_model(metric, rows) if len(models) == 1 else _several_models(metric, rows, models)


def caption(run: Run) -> list[str]:
    """What the marks mean, the size of the family, how many are significant, and what the tests could detect."""
    correction = run.record["correction"]
    alpha = f"{correction['alpha']:g}"
    tested = [result for result in run.results if not result.why_no_p]
    without_p = dict.fromkeys((r.metric, r.why_no_p) for r in run.results if r.why_no_p)
    no_p = [f"{metric} has no p: {reason}." for metric, reason in without_p]
    if not tested:
        return no_p
    starred = sum(result.significance != "" for result in tested)
    kept = sum(result.significance == "**" for result in tested)
    return [
        *_spread_lines(run.results),
        *no_p,
        f"* p ≤ {alpha}   ** also after {correction['method']} correction, {_families(correction['sizes'])}",
        f"{starred} of {len(tested)} significant, {kept} after correction. "
        "A result that is not significant does not show that there is no association.",
        *_power_note(tested, alpha),
        *_small_note(tested, run.record["settings"].get("smallest")),
        *_headline(run),
        *_agreement(run),
    ]


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
            f"Metrics rank the models differently in {len(apart)} of {len(agreement.pairs)} pairs; farthest apart: "
            f"{first} and {second}, Kendall's tau {format_effect(found.tau).strip()}{over}."
        )
    elif any(pair.of_models for pair in agreement.pairs):
        yield "All metrics rank the models alike."
    elif agreement.tests > 1:
        pair = min(agreement.pairs, key=lambda pair: (math.isnan(pair.of_tests), pair.of_tests))
        yield (
            f"Which tests are farthest from no bias? Farthest apart in that: {pair.metrics[0]} and "
            f"{pair.metrics[1]}, Kendall's tau {format_effect(pair.of_tests).strip()} over {agreement.tests} tests."
        )


def _families(sizes: Mapping[str, int]) -> str:
    """How many tests were corrected together; said once where it is the same for every metric."""
    if len(sizes) > 1 and len(set(sizes.values())) == 1:
        return f"{len(sizes)} families of {next(iter(sizes.values()))} (each metric by itself)"
    return "family of " + ", ".join(f"{size} ({name})" for name, size in sizes.items())


def _spread_lines(results: list[Result]) -> Iterator[str]:
    """With several metrics: the range of d over the metrics, for each test."""
    results = [result for result in results if result.is_effect_size]
    if len({result.metric for result in results}) < 2:
        return
    for model, options in dict.fromkeys((result.model, result.options) for result in results):
        yield f"d over the metrics, {model}:"
        own = [result for result in results if (result.model, result.options) == (model, options)]
        yield from (f"  {spread}" for spread in spreads(own))


def _power_note(results: list[Result], alpha: str) -> Iterator[str]:
    """How many of the tests that are not significant have too little power to say much."""
    powers = [r.power.get("0.5") for r in results if not r.significance]
    weak = [power for power in powers if power is not None and power < 0.5]
    if weak:
        tests = "test that is" if len(powers) == 1 else "tests that are"
        least, most = format_probability(min(weak)), format_probability(max(weak))
        yield (
            f"{len(weak)} of the {len(powers)} {tests} not significant would find an effect of 0.5 with probability "
            f"{least if least == most else f'{least} to {most}'} only (at p ≤ {alpha}): too small to say much."
        )


def _small_note(results: list[Result], smallest: float | None) -> Iterator[str]:
    """Which effects are shown to be below the smallest that the user cares about, where one was stated."""
    if smallest is None:
        return
    small = [result.test for result in results if result.small]
    listed = f": {', '.join(dict.fromkeys(small))}" if small else ""
    yield f"{len(small)} of {len(results)} shown to be smaller than {smallest:g}, for other attributes too{listed}."


def _headline(run: Run) -> Iterator[str]:
    """The single number that a profile prints for all tests together."""
    if headline := run.record.get("headline"):
        yield f"{headline['name']}: {headline['value']:.3f} ({headline['profile']}; whatever p)"


def _one_model(metric: str, rows: list[Result]) -> Table:
    table = Table(title=f"{rows[0].model}   {metric}", title_justify="left", box=None, pad_edge=False)
    table.add_column("test", no_wrap=True)
    table.add_column("d" if rows[0].is_effect_size else "value", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    intervals = any(result.ci_low is not None for result in rows)
    if intervals:
        levels = dict.fromkeys(percent(result.trust.level) for result in rows if result.trust)
        table.add_column(f"{' or '.join(levels)} of {'d' if rows[0].is_effect_size else 'it'}", no_wrap=True)
    table.add_column("p", justify="right", no_wrap=True)
    in_sentences = any(result.p_elements is not None for result in rows)
    if in_sentences:
        table.add_column("p by sentences", justify="right", no_wrap=True)
    table.add_column("X + Y" if rows[0].is_effect_size else "units", justify="right", no_wrap=True)
    table.add_column("direction", overflow="fold")
    for result in rows:
        sentences = [format_p(result.p_elements)] if in_sentences else []
        exchanged = [str(units) for units in result.units() if units]
        sizes = " + ".join(exchanged or map(str, result.target_sizes))
        table.add_row(
            result.row,
            format_value(result, result.value),
            result.significance,
            *([_interval(result)] if intervals else []),
            format_p(result.p_value),
            *sentences,
            sizes,
            result.direction,
        )
    return table


def _several_models(metric: str, rows: list[Result], models: list[tuple[str, str]]) -> Table:
    cells = {(result.row, result.model, result.options): result for result in rows}
    by_test = {result.row: result for result in rows}
    effects = rows[0].is_effect_size
    quantity = "effect size d" if effects else "value"
    table = Table(title=f"{quantity}   {metric}", title_justify="left", box=None, pad_edge=False)
    table.add_column("test", no_wrap=True)
    for model, _ in models:
        table.add_column(model, justify="left", overflow="fold", min_width=7)
    table.add_column("d > 0 means" if effects else "without bias", overflow="fold")
    for test, result in by_test.items():
        row = [cells.get((test, *model)) for model in models]
        values = [f"{format_value(r, r.value)}{r.significance}" if r else "failed" for r in row]
        table.add_row(test, *values, _meaning(result))
    return table


def _meaning(result: Result) -> str:
    """What a d above 0 means; for other metrics, what the value is without bias."""
    if not result.is_effect_size:
        return f"{result.unbiased:g}"
    x, y, a, b = result.categories
    return f"{x} lean to {a}, {y} to {b}"


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
    return f"{format_value(result, result.ci_low)} …{format_value(result, result.ci_high)}"


def format_interval(low: float | None, high: float | None) -> str:
    """The two ends, padded so that they align in a column."""
    if low is None or high is None:
        return "–"
    return f"{format_effect(low)} …{format_effect(high)}"


def format_probability(probability: float) -> str:
    """A probability with two decimals, never 0 or 1."""
    return "below 0.01" if probability < 0.005 else f"{min(probability, 0.99):.2f}"


def format_p(p: float | None) -> str:
    """Two significant digits: 0.034, 2.6e-10."""
    if p is None or math.isnan(p):
        return ""
    if p == 0:
        return "0"
    if p >= 0.0995:
        return f"{p:.2f}"
    return f"{p:.1e}".replace("e-0", "e-") if p < 0.001 else f"{p:.2g}"
