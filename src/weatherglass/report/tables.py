"""Results as text tables: Markdown, LaTeX in the style of May et al.'s Table 4, and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence

from weatherglass.report.numbers import effect, percent
from weatherglass.report.page.subjects import CONTEXTS, Layout, lay_out
from weatherglass.report.paper import CORRECTIONS, in_markdown
from weatherglass.runs.results import COLUMNS, Result
from weatherglass.runs.stored import StoredRun

LONGEST_HEADS = 50
"""With more letters than this in all model names, LaTeX column heads are rotated."""
_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{character: f"\\{character}" for character in "&%$#_{}"},
}


def markdown(runs: Sequence[StoredRun]) -> str:
    """One Markdown table per measure, tests down and models across, and what the marks mean."""
    layout = lay_out(runs)
    parts = []
    for number, measure in enumerate(layout.metrics):
        heads = ["Test", *(in_markdown(subject.label) for subject in layout.subjects)]
        lines = [
            f"### {'Effect size *d*' if layout.is_effect_size(number) else 'Value'}, {in_markdown(measure)}",
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


def latex(runs: Sequence[StoredRun]) -> str:
    """One booktabs table per measure; numbers are aligned, marks follow them."""
    layout = lay_out(runs)
    tables = [_latex_table(layout, number, runs) for number in range(len(layout.metrics))]
    needs = "% needs \\usepackage{booktabs}" + (" and \\usepackage{graphicx}" if _rotated(layout) else "")
    return needs + "\n" + "\n".join(tables)


def comma_separated(runs: Sequence[StoredRun]) -> str:
    """CSV: every result with all its columns, its run, and what its test compares."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["run", *COLUMNS, "context", "X", "Y", "A", "B"])
    for run in runs:
        for result in run.results:
            columns = result.columns()
            targets, attributes = result.target_categories, result.attribute_categories
            sets = (targets[0], "; ".join(targets[1:]), attributes[0], "; ".join(attributes[1:]))
            writer.writerow([run.label, *columns.values(), result.context, *sets])
    return text.getvalue()


def caption(runs: Sequence[StoredRun]) -> str:
    """What the marks mean, and that a missing mark does not show that there is no bias."""
    levels = " or ".join(dict.fromkeys(f"{run.alpha:g}" for run in runs))
    corrections = " or ".join(
        dict.fromkeys(
            CORRECTIONS.get(method, method)
            for method in (run.record.get("correction", {}).get("method", "holm") for run in runs)
        )
    )
    return (
        f"* p ≤ {levels}; ** also after {corrections}. "
        "A result without a mark does not show that there is no association."
    )


def interval_levels(runs: Sequence[StoredRun]) -> str:
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
    return "–" if result is None else effect(result.value) + in_markdown(result.significance)


def _latex_table(layout: Layout, measure: int, runs: Sequence[StoredRun]) -> str:
    heads = [_tex(subject.label) for subject in layout.subjects]
    if _rotated(layout):
        heads = [rf"\rotatebox{{90}}{{{head}}}" for head in heads]
    note = _tex(caption(runs).replace("**", "\0").replace("*", "\1"))
    note = note.replace("\0", "$^{**}$").replace("\1", "$^{*}$").replace("p ≤", r"$p \le$").replace("’", "'")
    quantity = "Effect size $d$" if layout.is_effect_size(measure) else "Value"
    columns = r"r@{\hskip 1.6em}" * len(layout.subjects)
    lines = [
        r"\begin{table*}",
        r"  \centering\footnotesize",
        rf"  \caption{{{quantity}, {_tex(layout.metrics[measure])}. {note}}}",
        rf"  \begin{{tabular}}{{ll{columns}}}",
        r"    \toprule",
        rf"    Test & Context & {' & '.join(heads)} \\",
        r"    \midrule",
        *(
            rf"    {_tex(name)} & {_tex(CONTEXTS.get(context, context))} & "
            rf"{' & '.join(_tex_cell(r) for r in cells)} \\"
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


def _tex_cell(result: Result | None) -> str:
    if result is None:
        return "--"
    number = effect(result.value)
    shown = f"${number.replace('−', '-')}$" if "−" in number else number.replace("–", "--")
    return shown + (rf"\rlap{{$^{{{result.significance}}}$}}" if result.significance else "")
