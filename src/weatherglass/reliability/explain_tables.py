"""The explanation as tables: tidy TSV, the published table in LaTeX, and what a terminal shows."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import TYPE_CHECKING

from weatherglass.reliability.explain import Explanation, Part
from weatherglass.reliability.pos import UNIVERSAL
from weatherglass.reliability.regression import Coefficient

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = (
    "reliability",
    "model",
    "quantity",
    "name",
    "value",
    "se",
    "ci_low",
    "ci_high",
    "published",
    "same_sign",
)
"""quantity: estimate, variance, r2, share, change_r2_marginal, change_r2_conditional, vif, rows or dropped."""

ESTIMATES = (
    "rule:dbwa",
    "rule:ripa",
    "rule:nbm",
    "log freq",
    "log freq squared",
    "log senses",
    *(f"pos:{tag}" for tag in UNIVERSAL),
    "nn similarity",
    "l2 norm",
    "embedding stability",
)
"""The rows of the published table, in its order."""


def to_tsv(explanation: Explanation) -> str:
    """One number per line, with full precision."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow(COLUMNS)
    for part in explanation.parts:
        writer.writerows(_rows(part))
    return text.getvalue()


def _rows(part: Part) -> Iterator[list[object]]:
    def row(model: str, quantity: str, name: str, value: object, *rest: object) -> list[object]:
        return [part.reliability, model, quantity, name, value, *rest, *[""] * (5 - len(rest))]

    yield row("", "rows", "all", part.rows)
    for reason, rows in part.dropped.items():
        yield row("", "dropped", reason, rows)
    for factor, vif in part.inflation.items():
        yield row("", "vif", factor, vif)
    for name, model in part.models.items():
        yield row(name, "rows", "fitted", model.fit.rows)
        for c in (model.fit.intercept, *model.fit.coefficients):
            known = part.published.estimates.get(c.name, "")
            sign = {True: "yes", False: "no", None: ""}[part.agrees(name, c.name)]
            yield row(name, "estimate", c.name, c.estimate, c.se, c.low, c.high, known, sign)
        for factor, variance in {**model.fit.variances, "residual": model.fit.residual}.items():
            yield row(name, "variance", factor, variance)
        for kind in ("marginal", "conditional"):
            value = getattr(model.fit.r2, kind)
            yield row(name, "r2", kind, value, "", "", "", part.published.r2[kind])
        for factor, share in model.fit.shares.items():
            yield row(name, "share", factor, share, "", "", "", part.published.r2.get(factor, ""))
        for factor, change in model.changes.items():
            yield row(name, "change_r2_marginal", factor, change.marginal)
            yield row(name, "change_r2_conditional", factor, change.conditional)


def to_latex(explanation: Explanation) -> str:
    """Table 3 of the reproduction, filled in: per reliability the published estimate and those of both models."""
    parts = explanation.parts
    blocks = [(part, ["reproduction", *part.models]) for part in parts]
    lines = [
        "% Needs \\usepackage{booktabs}. Standard errors in brackets; \\dag: the sign is not that of the reproduction.",
        "\\begin{tabular}{l" + "".join("r" * len(columns) for _, columns in blocks) + "}",
        "\\toprule",
        " & ".join(["", *(f"\\multicolumn{{{len(c)}}}{{c}}{{{_title(p)}}}" for p, c in blocks)]) + " \\\\",
        " & ".join(["feature", *(column for _, columns in blocks for column in columns)]) + " \\\\",
        "\\midrule",
    ]
    for name in _present(explanation):
        cells = [cell for part in parts for cell in _latex_cells(part, name)]
        lines.append(" & ".join([name.replace(":", ": "), *cells]) + " \\\\")
    lines.append("\\midrule")
    for label, kind in (("$R^2$ marginal", "marginal"), ("$R^2$ conditional", "conditional")):
        cells = [cell for part in parts for cell in _latex_r2(part, kind)]
        lines.append(" & ".join([label, *cells]) + " \\\\")
    for factor in ("corpus", "algorithm", "word"):
        cells = [cell for part in parts for cell in _latex_shares(part, factor)]
        lines.append(" & ".join([f"share of {factor}", *cells]) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def _title(part: Part) -> str:
    return part.reliability.replace("test-retest", "test--retest")


def _present(explanation: Explanation) -> list[str]:
    """The rows of the published table, and whatever else was estimated."""
    own = {
        c.name for part in explanation.parts for model in part.models.values() for c in model.fit.coefficients
    }
    own |= {f"{name}:{level}" for part in explanation.parts for name, level in part.references.items()}
    known = {name for part in explanation.parts for name in part.published.estimates}
    listed = [name for name in ESTIMATES if name in own | known]
    return listed + sorted(own.difference(listed))


def _is_reference(part: Part, name: str) -> bool:
    factor, _, level = name.partition(":")
    return part.references.get(factor) == level


def _found(part: Part, model: str, name: str) -> Coefficient | None:
    return next((c for c in part.models[model].fit.coefficients if c.name == name), None)


def _latex_cells(part: Part, name: str) -> list[str]:
    if _is_reference(part, name):
        return ["ref."] * (1 + len(part.models))
    known = part.published.estimates.get(name)
    cells = ["" if known is None else f"${known:.4f}$"]
    for model in part.models:
        found = _found(part, model, name)
        mark = "\\dag" if part.agrees(model, name) is False else ""
        cells.append(f"${found.estimate:.4f}${mark} ({found.se:.4f})" if found else "")
    return cells


def _latex_r2(part: Part, kind: str) -> list[str]:
    own = [f"{getattr(model.fit.r2, kind):.3f}" for model in part.models.values()]
    return [f"{part.published.r2[kind]:.3f}", *own]


def _latex_shares(part: Part, factor: str) -> list[str]:
    known = part.published.r2.get(factor)
    shares = (model.fit.shares.get(factor) for model in part.models.values())
    return ["" if value is None else f"{value:.3f}" for value in (known, *shares)]


def terminal_tables(explanation: Explanation) -> list[Table]:
    """Per reliability: estimates beside the published ones, then what each factor and the random part explain."""
    return [table for part in explanation.parts for table in (_estimates(explanation, part), _variance(part))]


def _estimates(explanation: Explanation, part: Part) -> Table:
    from rich.table import Table

    first = next(iter(part.models.values()))
    table = Table(title=f"{part.reliability}: {first.fit.rows} of {part.rows} rows", title_justify="left")
    table.add_column("feature")
    table.add_column("reproduction", justify="right")
    for model in part.models:
        table.add_column(model, justify="right")
        table.add_column("95 %", justify="right")
        table.add_column("sign")
    for name in _present(explanation):
        cells = []
        for model in part.models:
            found = _found(part, model, name)
            sign = {True: "same", False: "other", None: ""}[part.agrees(model, name)]
            if found is None:
                cells += ["reference" if _is_reference(part, name) else "", "", ""]
            else:
                cells += [f"{found.estimate:.4f}", f"{found.low:.4f} … {found.high:.4f}", sign]
        known = part.published.estimates.get(name)
        if known is not None or any(cells):
            table.add_row(name, "" if known is None else f"{known:.4f}", *cells)
    return table


def _variance(part: Part) -> Table:
    from rich.table import Table

    table = Table(title=f"{part.reliability}: variance explained", title_justify="left")
    table.add_column("")
    table.add_column("Du et al.", justify="right")
    for model in part.models:
        table.add_column(model, justify="right")
    for label, kind in (("R² marginal", "marginal"), ("R² conditional", "conditional")):
        table.add_row(label, *_latex_r2(part, kind))
    for factor in ("corpus", "algorithm", "word"):
        table.add_row(f"share of {factor}", *_latex_shares(part, factor))
    factors = next(iter(part.models.values())).changes
    for factor in factors:
        losses = [f"{model.changes[factor].marginal:.4f}" for model in part.models.values()]
        table.add_row(f"R² marginal lost without {factor}", "", *losses)
    return table
