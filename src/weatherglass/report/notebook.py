"""What a notebook shows of a result: a small table of HTML, escaped, without script, below 50 kB."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from weatherglass.report.numbers import effect, interval, p_value, percent
from weatherglass.runs.results import Result
from weatherglass.runs.verdict import Verdict

MOST_BYTES = 22_000
"""Of each of the two tables of a run; what does not fit is in the frame."""
LONGEST = 40
"""Letters of a cell; escaped, each may become six."""


def run_html(title: str, results: Sequence[Result], verdicts: Sequence[Verdict], alpha: float) -> str:
    """The verdict on each topic, then every result, as two tables."""
    parts = [f"<p><b>{escape(title)}</b></p>"]
    if verdicts:
        heads = ("model", "topic", "verdict", "mean d", f"{percent(1 - alpha)} interval", "tests")
        parts.append(html_table(heads, _verdict_rows(verdicts), len(verdicts), numbers=(3, 5)))
    several = len({result.metric for result in results}) > 1
    columns = ("model", "test", *(["metric"] if several else []), "value", "interval", "p", "corrected p", "")
    first = 3 if several else 2
    numbers = (first, first + 2, first + 3)
    parts.append(html_table(columns, _result_rows(results, several), len(results), numbers))
    parts.append(
        "<p>* p ≤ alpha; ** also after correction. “Cannot tell” does not say that there is no bias. "
        "All columns: <code>.to_frame()</code></p>"
    )
    return f"<div>{''.join(parts)}</div>"


def html_table(
    heads: Sequence[str], rows: Iterable[Sequence[str]], total: int, numbers: Sequence[int] = ()
) -> str:
    """A table of as many rows as fit `MOST_BYTES`, and how many more there are.

    Args:
        heads: of the columns.
        rows: their cells as text, not yet escaped.
        total: how many rows there are.
        numbers: the columns that are aligned to the right.
    """
    lines = [_row("th", heads, numbers)]
    size = len(lines[0].encode())
    for row in rows:
        line = _row("td", row, numbers)
        size += len(line.encode())
        if size > MOST_BYTES:
            break
        lines.append(line)
    left_out = total - (len(lines) - 1)
    more = f"<p>… and {left_out} more rows</p>" if left_out else ""
    return f"<table>{''.join(lines)}</table>{more}"


def _row(tag: str, cells: Sequence[str], numbers: Sequence[int]) -> str:
    made = (
        f"<{tag}{' align=right' if place in numbers else ' align=left'}>{escape(_cut(cell))}</{tag}>"
        for place, cell in enumerate(cells)
    )
    return f"<tr>{''.join(made)}</tr>"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _verdict_rows(verdicts: Sequence[Verdict]) -> Iterator[Sequence[str]]:
    for one in verdicts:
        shown = one.verdict or "not judged"
        numbers = effect(one.effect_size), interval(one.ci_low, one.ci_high)
        yield one.model, one.topic, shown, *numbers, f"{one.significant}/{len(one.tests)}"


def _result_rows(results: Sequence[Result], several: bool) -> Iterator[Sequence[str]]:
    for one in results:
        metric = [one.metric] if several else []
        numbers = effect(one.value), interval(one.ci_low, one.ci_high), p_value(one.p_value)
        yield one.model, one.row, *metric, *numbers, p_value(one.p_adjusted), one.significance
