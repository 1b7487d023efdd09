"""Results as text tables: Markdown, LaTeX in the style of May et al.'s Table 4, and CSV."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from weatherglass.audit.results import COLUMNS, Result, stars
from weatherglass.audit.run import Run
from weatherglass.report.numbers import effect, interval, p_value, percent
from weatherglass.report.view import CONTEXTS, Layout, lay_out
from weatherglass.report.writing import in_markdown
from weatherglass.storage.printable import defused

if TYPE_CHECKING:
    from weatherglass.metrics.base import MetricInfo

LABEL = "tab:weatherglass"
LONGEST_HEADS = 50
"""With more letters than this in all model names, LaTeX column heads are rotated."""
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}
_NOT_SUPERSCRIPT = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")


def markdown(runs: Sequence[Run]) -> str:
    """One Markdown table per measure, tests down and models across, and what the marks mean."""
    layout = lay_out(runs)
    parts = []
    for number, measure in enumerate(layout.metrics):
        heads = ["Test", *(in_markdown(subject.label) for subject in layout.subjects)]
        lines = [
            f"### {_quantity(layout.info(number), '*', in_markdown)}, {in_markdown(measure)}",
            "",
            _line(heads),
            _line(["---", *("--:" for _ in layout.subjects)]),
            *(
                _line([in_markdown(name), *(_markdown_cell(r) for r in cells)])
                for name, _, cells in _rows(layout, number)
            ),
        ]
        parts.append("\n".join(lines))
    parts.append(in_markdown(caption(runs)))
    return "\n\n".join(parts) + "\n"


def latex(runs: Sequence[Run], label: str = LABEL) -> str:
    """One booktabs table per metric: d with its mark, interval and p; numbers are aligned, marks follow them.

    One model has a column each for d, interval and p; several have them below each other in one cell.

    Args:
        label: for \\ref; with several metrics, the metric follows it.
    """
    layout = lay_out(runs)
    tables = [
        _latex_table(layout, number, runs, _label(layout, number, label))
        for number in range(len(layout.metrics))
    ]
    needs = "% needs \\usepackage{booktabs}" + (" and \\usepackage{graphicx}" if _rotated(layout) else "")
    return needs + "\n" + "\n".join(tables)


def latex_table(heads: Sequence[str], rows: Iterable[Sequence[object]], title: str, label: str) -> str:
    """Any table for a paper: texts to the left, numbers to the right with two decimals."""
    listed = [list(row) for row in rows]
    numeric = [
        all(isinstance(row[place], int | float | None) for row in listed) for place in range(len(heads))
    ]
    lines = [
        "% needs \\usepackage{booktabs}",
        r"\begin{table*}",
        r"  \centering\footnotesize",
        rf"  \caption{{{_tex(title)}.}}",
        rf"  \label{{{label}}}",
        rf"  \begin{{tabular}}{{{''.join('r' if each else 'l' for each in numeric)}}}",
        r"    \toprule",
        rf"    {' & '.join(_tex(head.replace('_', ' ')) for head in heads)} \\",
        r"    \midrule",
        *(rf"    {' & '.join(_tex_value(value) for value in row)} \\" for row in listed),
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
    """CSV: every result with all its columns, its run, and what its test compares."""
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
    """What the marks mean, and that a missing mark does not show that there is no bias."""
    levels = " or ".join(dict.fromkeys(f"{run.alpha:g}" for run in runs))
    return (
        f"** robust and * limited, at level {levels} after correction for the topics of a model. "
        "A result without a mark does not show that there is no association."
    )


def interval_levels(runs: Sequence[Run]) -> str:
    """The levels of the runs' intervals, such as "95 %"."""
    return " or ".join(dict.fromkeys(percent(1 - run.alpha) for run in runs))


def _rows(layout: Layout, measure: int) -> Iterator[tuple[str, str, list[Result | None]]]:
    """Name, context and cells of each test."""
    cells = layout.cells(measure)
    for t, test in enumerate(layout.tests):
        numbers = [cells.get((t, s)) for s in range(len(layout.subjects))]
        yield test.name, test.context, [None if n is None else layout.results[n] for n in numbers]


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(result: Result | None) -> str:
    return "–" if result is None else effect(result.value) + in_markdown(stars(result))


def _label(layout: Layout, measure: int, label: str) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", layout.metrics[measure].lower()).strip("-")
    return f"{label}-{slug}" if len(layout.metrics) > 1 else label


def _symbol(info: MetricInfo, mark: str, escaped: Callable[[str], str]) -> str:
    """Return what the value is called in a head; a single letter is set as a variable."""
    symbol = escaped(info.symbol)
    return f"{mark}{symbol}{mark}" if len(info.symbol) == 1 else symbol


def _quantity(info: MetricInfo, mark: str, escaped: Callable[[str], str]) -> str:
    """Return what the value is called in a caption, such as "Effect size *d*"."""
    words = info.quantity[:1].upper() + info.quantity[1:]
    front = words.removesuffix(f" {info.symbol}")
    return escaped(words) if front == words else f"{escaped(front)} {_symbol(info, mark, escaped)}"


def _latex_table(layout: Layout, measure: int, runs: Sequence[Run], label: str) -> str:
    single = len(layout.subjects) == 1
    heads = [_tex(subject.label) for subject in layout.subjects]
    if _rotated(layout):
        heads = [rf"\rotatebox{{90}}{{{head}}}" for head in heads]
    note = _tex(caption(runs).replace("**", "\0").replace("*", "\1"))
    note = note.replace("\0", "$^{**}$").replace("\1", "$^{*}$").replace("p ≤", r"$p \le$").replace("’", "'")
    info = layout.info(measure)
    quantity = _quantity(info, "$", _tex)
    if single:
        quantity += f" of {heads[0]}"
        heads = [_symbol(info, "$", _tex), "interval", "$p$"]
    levels = _tex(interval_levels(runs))
    note = rf"Intervals at level {levels}; $p$ before correction. {note}"
    columns = r"r@{\hskip 1.6em}lr" if single else r"r@{\hskip 1.6em}" * len(layout.subjects)
    lines = [
        r"\begin{table*}",
        r"  \centering\footnotesize",
        rf"  \caption{{{quantity}, {_tex(layout.metrics[measure])}. {note}}}",
        rf"  \label{{{label}}}",
        rf"  \begin{{tabular}}{{ll{columns}}}",
        r"    \toprule",
        rf"    Test & Context & {' & '.join(heads)} \\",
        r"    \midrule",
        *(
            rf"    {_tex(name)} & {_tex(CONTEXTS.get(context, context))} & "
            rf"{_tex_columns(cells[0]) if single else ' & '.join(_tex_stack(r) for r in cells)} \\"
            for name, context, cells in _rows(layout, measure)
        ),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table*}",
        "",
    ]
    return "\n".join(lines)


def _rotated(layout: Layout) -> bool:
    return sum(len(subject.label) for subject in layout.subjects) > LONGEST_HEADS


def _tex(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in " ".join(text.split()))


def _tex_columns(result: Result | None) -> str:
    """d, interval and p, each in a column of its own."""
    if result is None:
        return "-- & &"
    return f"{_tex_cell(result)} & {_tex_interval(result)} & {_tex_p(result)}"


def _tex_stack(result: Result | None) -> str:
    """d, interval and p below each other."""
    if result is None:
        return "--"
    below = [part for part in (_tex_interval(result), _tex_p(result)) if part]
    lines = [_tex_cell(result), *(rf"{{\scriptsize {part}}}" for part in below)]
    return r"\shortstack[r]{" + r"\\ ".join(lines) + "}"


def _tex_interval(result: Result) -> str:
    return (
        f"${interval(result.ci_low, result.ci_high).replace('−', '-')}$" if result.ci_low is not None else ""
    )


def _tex_p(result: Result) -> str:
    """p as TeX: 2.6 × 10⁻¹⁰ has a power of ten of its own there."""
    if math.isnan(result.p_value):
        return ""
    mantissa, times, exponent = p_value(result.p_value).partition(" × 10")
    if not times:
        return f"${mantissa}$"
    return rf"${mantissa} \times 10^{{{exponent.translate(_NOT_SUPERSCRIPT)}}}$"


def _tex_cell(result: Result | None) -> str:
    if result is None:
        return "--"
    number = effect(result.value)
    shown = f"${number.replace('−', '-')}$" if "−" in number else number.replace("–", "--")
    return shown + (rf"\rlap{{$^{{{stars(result)}}}$}}" if stars(result) else "")
