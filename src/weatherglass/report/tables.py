"""Write results as text tables in Markdown, in LaTeX (in the style of May et al.'s Table 4), and in CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from weatherglass.audit.results import COLUMNS, Result, mark_of
from weatherglass.audit.run import Run
from weatherglass.report.numbers import effect, interval, p_value, percent
from weatherglass.report.view import CONTEXTS, ReportLayout, lay_out
from weatherglass.report.writing import in_markdown, markdown_row
from weatherglass.storage.printable import defused

if TYPE_CHECKING:
    from weatherglass.metrics.base import MetricInfo

LABEL = "tab:weatherglass"
LONGEST_HEADS = 50
"""The number of characters in all model names above which LaTeX column heads are rotated."""
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_NOT_SUPERSCRIPT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def markdown(runs: Sequence[Run]) -> str:
    """Return one Markdown table per metric, with a row per test and a column per model, and a legend of the marks."""
    layout = lay_out(runs)
    parts = []
    for number, measure in enumerate(layout.metrics):
        heads = ["Test", *(in_markdown(subject.label) for subject in layout.subjects)]
        lines = [
            f"### {_quantity(layout.infos[number], '*', in_markdown)[0]}, {in_markdown(measure)}",
            "",
            markdown_row(heads),
            markdown_row(["---", *("--:" for _ in layout.subjects)]),
            *(
                markdown_row([in_markdown(name), *(_markdown_cell(r) for r in cells)])
                for name, _, cells in _rows(layout, number)
            ),
        ]
        parts.append("\n".join(lines))
    parts.append(in_markdown(caption(runs)))
    return "\n\n".join(parts) + "\n"


def latex(runs: Sequence[Run], label: str = LABEL) -> str:
    """Return one booktabs table per metric, with d and its mark, interval and p; numbers are aligned, and marks follow
    them.

    With one model, d, interval and p have a column each; with several, they are on separate lines of one cell.

    Args:
        label: the label for \\ref; with several metrics, the metric follows it.
    """
    layout = lay_out(runs)
    single = len(layout.subjects) == 1
    rotated = sum(len(subject.label) for subject in layout.subjects) > LONGEST_HEADS
    models = [_tex(subject.label) for subject in layout.subjects]
    if rotated:
        models = [rf"\rotatebox{{90}}{{{model}}}" for model in models]
    marks = _tex(caption(runs).replace("**", "\0").replace("*", "\1"))
    marks = marks.replace("\0", "$^{**}$").replace("\1", "$^{*}$")
    note = rf"Intervals at level {_tex(interval_levels(runs))}; $p$ before correction. {marks}"
    columns = r"r@{\hskip 1.6em}lr" if single else r"r@{\hskip 1.6em}" * len(models)
    tables = []
    for number, metric in enumerate(layout.metrics):
        slug = re.sub(r"[^a-z0-9]+", "-", metric.lower()).strip("-")
        quantity, symbol = _quantity(layout.infos[number], "$", _tex)
        rows = (
            [
                *(_tex(name), _tex(CONTEXTS.get(context, context))),
                *(_tex_cells(cells[0]) if single else map(_tex_stack, cells)),
            ]
            for name, context, cells in _rows(layout, number)
        )
        table = _booktabs(
            f"ll{columns}",
            ["Test", "Context", *([symbol, "interval", "$p$"] if single else models)],
            rows,
            f"{quantity}{f' of {models[0]}' if single else ''}, {_tex(metric)}. {note}",
            f"{label}-{slug}" if len(layout.metrics) > 1 else label,
        )
        tables.append(table)
    needs = "% needs \\usepackage{booktabs}" + (" and \\usepackage{graphicx}" if rotated else "")
    return needs + "\n" + "\n".join(tables)


def latex_table(heads: Sequence[str], rows: Iterable[Sequence[object]], title: str, label: str) -> str:
    """Return any table for a paper, with texts on the left and numbers on the right with two decimals."""
    listed = [list(row) for row in rows]
    numeric = [
        all(isinstance(row[place], int | float | None) for row in listed) for place in range(len(heads))
    ]
    columns = "".join("r" if each else "l" for each in numeric)
    names = [_tex(head.replace("_", " ")) for head in heads]
    cells = [[_tex_value(value) for value in row] for row in listed]
    return "% needs \\usepackage{booktabs}\n" + _booktabs(columns, names, cells, f"{_tex(title)}.", label)


def _booktabs(
    columns: str, heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str, label: str
) -> str:
    """Return a table made from cells that are already escaped."""
    lines = [
        r"\begin{table*}",
        r"  \centering\footnotesize",
        rf"  \caption{{{caption}}}",
        rf"  \label{{{label}}}",
        rf"  \begin{{tabular}}{{{columns}}}",
        r"    \toprule",
        rf"    {' & '.join(heads)} \\",
        r"    \midrule",
        *(rf"    {' & '.join(row)} \\" for row in rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table*}",
        "",
    ]
    return "\n".join(lines)


def _tex_value(value: object) -> str:
    if value is None:
        return "--"
    if isinstance(value, float):
        return effect(value).replace("–", "--") if value >= 0 else f"${effect(value).replace('−', '-')}$"
    return _tex(str(value))


def comma_separated(runs: Sequence[Run]) -> str:
    """Return every result as CSV, with all its columns, its run, and the sets of its test."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["run", *COLUMNS, "context", "X", "Y", "A", "B"])
    for run in runs:
        for result in run.results:
            columns = result.columns()
            targets, attributes = result.target_categories, result.attribute_categories
            sets = (targets[0], "; ".join(targets[1:]), attributes[0], "; ".join(attributes[1:]))
            writer.writerow(map(defused, (run.label, *columns.values(), result.context, *sets)))
    return text.getvalue()


def caption(runs: Sequence[Run]) -> str:
    """Return a caption that explains the marks, and that a missing mark does not show that there is no bias."""
    levels = " or ".join(dict.fromkeys(f"{run.alpha:g}" for run in runs))
    return (
        f"** robust and * limited, at level {levels} after correction for the topics of a model. "
        "A result without a mark does not show that there is no association."
    )


def interval_levels(runs: Sequence[Run]) -> str:
    """Return the levels of the runs' intervals, such as "95 %"."""
    return " or ".join(dict.fromkeys(percent(1 - run.alpha) for run in runs))


def _rows(layout: ReportLayout, measure: int) -> Iterator[tuple[str, str, list[Result | None]]]:
    """Yield the name, context and cells of each test."""
    cells = layout.cells(measure)
    for t, test in enumerate(layout.tests):
        numbers = [cells.get((t, s)) for s in range(len(layout.subjects))]
        yield test.name, test.context, [None if n is None else layout.results[n] for n in numbers]


def _markdown_cell(result: Result | None) -> str:
    return "–" if result is None else effect(result.value) + in_markdown(mark_of(result).stars)


def _quantity(info: MetricInfo, mark: str, escaped: Callable[[str], str]) -> tuple[str, str]:
    """Return the name of the value in a caption and in a column head, such as "Effect size *d*" and "*d*".

    Args:
        info: the facts that the metric declares. mark: the markup around a variable, which is a symbol of one letter.
        escaped: the function that escapes text.
    """
    symbol = escaped(info.symbol)
    symbol = f"{mark}{symbol}{mark}" if len(info.symbol) == 1 else symbol
    words = info.quantity[:1].upper() + info.quantity[1:]
    front = words.removesuffix(f" {info.symbol}")
    return escaped(words) if front == words else f"{escaped(front)} {symbol}", symbol


def _tex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))


def _tex_cells(result: Result | None) -> list[str]:
    """Return d with its mark, its interval and p as TeX, with powers of ten like 2.6 × 10⁻¹⁰."""
    if result is None:
        return ["--", "", ""]
    number = effect(result.value)
    shown = f"${number.replace('−', '-')}$" if "−" in number else number.replace("–", "--")
    stars = mark_of(result).stars
    shown += rf"\rlap{{$^{{{stars}}}$}}" if stars else ""
    ends = interval(result.ci_low, result.ci_high).replace("−", "-")
    p = ""
    if not math.isnan(result.p_value):
        mantissa, times, exponent = p_value(result.p_value).partition(" × 10")
        p = (
            rf"${mantissa} \times 10^{{{exponent.translate(_NOT_SUPERSCRIPT)}}}$"
            if times
            else f"${mantissa}$"
        )
    return [shown, f"${ends}$" if result.ci_low is not None else "", p]


def _tex_stack(result: Result | None) -> str:
    """Return a table cell with d, its interval and p on separate lines."""
    d, *below = _tex_cells(result)
    if result is None:
        return d
    lines = [d, *(rf"{{\scriptsize {part}}}" for part in below if part)]
    return r"\shortstack[r]{" + r"\\ ".join(lines) + "}"
