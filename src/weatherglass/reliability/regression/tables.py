"""The regressions as tables: tidy, as the published table (also LaTeX), and as cells for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from weatherglass.languages.lexicon.pos import UNIVERSAL
from weatherglass.reliability.regression.explain import Explanation, Part
from weatherglass.reliability.regression.fit import Coefficient

if TYPE_CHECKING:
    import polars as pl

COLUMNS = (
    "reliability",
    "model",
    "quantity",
    "name",
    "value",
    "se",
    "low",
    "high",
    "published",
    "same_sign",
    "df",
    "low_t",
    "high_t",
)
"""quantity: estimate, variance, r2, share, change_r2_marginal, change_r2_conditional, vif, rows or dropped."""

Cell = str | float | None

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


def regression_table(explanation: Explanation, pairs: str) -> pl.DataFrame:
    """The tidy table: one number per row."""
    import polars as pl

    text = dict.fromkeys(("reliability", "model", "quantity", "name", "same_sign"), pl.String)
    schema: dict[str, type[pl.DataType]] = {name: text.get(name, pl.Float64) for name in COLUMNS}
    rows = [row for part in explanation.parts for row in _rows(part)]
    table = pl.DataFrame(rows, schema=schema, orient="row")
    return table.select(pl.lit(pairs).alias("pairs"), *COLUMNS)


def _rows(part: Part) -> Iterator[list[Cell]]:
    def row(model: str, quantity: str, name: str, value: float, **rest: Cell) -> list[Cell]:
        cells: dict[str, Cell] = {"reliability": part.reliability, "model": model, "quantity": quantity}
        cells |= {"name": name, "value": value, **rest}
        return [cells.get(column) for column in COLUMNS]

    yield row("", "rows", "all", part.rows)
    for reason, rows in part.dropped.items():
        yield row("", "dropped", reason, rows)
    for factor, vif in part.inflation.items():
        yield row("", "vif", factor, vif)
    for name, model in part.models.items():
        yield row(name, "rows", "fitted", model.fit.rows)
        for c in (model.fit.intercept, *model.fit.coefficients):
            known = part.published.estimates.get(c.name)
            sign = {True: "yes", False: "no", None: None}[part.same_sign(name, c.name)]
            yield row(
                name,
                "estimate",
                c.name,
                c.estimate,
                se=c.se,
                low=c.low,
                high=c.high,
                published=known,
                same_sign=sign,
                df=c.df,
                low_t=c.low_t,
                high_t=c.high_t,
            )
        for factor, variance in {**model.fit.variances, "residual": model.fit.residual}.items():
            yield row(name, "variance", factor, variance)
        for kind in ("marginal", "conditional"):
            yield row(name, "r2", kind, getattr(model.fit.r2, kind), published=part.published.r2[kind])
        for factor, share in model.fit.shares.items():
            yield row(name, "share", factor, share, published=part.published.r2.get(factor))
        for factor, change in model.changes.items():
            yield row(name, "change_r2_marginal", factor, change.marginal)
            yield row(name, "change_r2_conditional", factor, change.conditional)


def filled_table(explanation: Explanation) -> tuple[list[str], list[list[str]]]:
    """Table 3 of the reproduction, filled in: per reliability the published estimate and those of both models.

    Returns:
        Heading and rows. Standard errors are in brackets; † the sign differs from the reproduction; ° the 95 %
        interval contains zero.
    """
    parts = explanation.parts
    heading = [
        "",
        *(f"{part.reliability}: {column}" for part in parts for column in ("reproduction", *part.models)),
    ]
    rows = [
        [name, *(cell for part in parts for cell in _cells(part, name))] for name in _row_names(explanation)
    ]
    explained = {"R² marginal": "marginal", "R² conditional": "conditional"}
    rows += [
        [label, *(cell for part in parts for cell in _r2_cells(part, kind))]
        for label, kind in explained.items()
    ]
    shared = ("corpus", "algorithm", "word")
    rows += [
        [f"share of {name}", *(cell for part in parts for cell in _share_cells(part, name))]
        for name in shared
    ]
    return (heading, rows) if parts else ([], [])


def to_latex(explanation: Explanation) -> str:
    """The filled table for a paper."""
    heading, rows = filled_table(explanation)
    lines = [
        "% Needs booktabs. Standard errors in brackets. Dagger: the sign differs from the reproduction.",
        '% Circle: the 95 % interval contains zero. R² and shares in the columns "reproduction": Du et al. (2021).',
        "\\begin{tabular}{l" + "r" * (len(heading) - 1) + "}",
        "\\toprule",
        _latex_row(heading),
        "\\midrule",
        *map(_latex_row, rows),
        "\\bottomrule",
        "\\end{tabular}",
    ]
    return "\n".join([*lines, ""])


def _latex_row(cells: Sequence[str]) -> str:
    marks = {"†": "$^\\dagger$", "°": "$^\\circ$", "²": "$^2$", "−": "$-$"}
    return " & ".join("".join(marks.get(letter, letter) for letter in cell) for cell in cells) + " \\\\"


def _row_names(explanation: Explanation) -> list[str]:
    """The names of the rows: those of the published table, then all other estimates."""
    own = {
        c.name for part in explanation.parts for model in part.models.values() for c in model.fit.coefficients
    }
    own |= {f"{name}:{level}" for part in explanation.parts for name, level in part.references.items()}
    known = {name for part in explanation.parts for name in part.published.estimates}
    ordered = [name for name in ESTIMATES if name in own | known]
    return ordered + sorted(own.difference(ordered))


def _is_reference(part: Part, name: str) -> bool:
    factor, _, level = name.partition(":")
    return part.references.get(factor) == level


def _coefficient(part: Part, model: str, name: str) -> Coefficient | None:
    return next((c for c in part.models[model].fit.coefficients if c.name == name), None)


def _number(value: float) -> str:
    return f"{value:.4f}".replace("-", "−")


def _cells(part: Part, name: str) -> list[str]:
    if _is_reference(part, name):
        return ["reference"] * (1 + len(part.models))
    known = part.published.estimates.get(name)
    cells = ["" if known is None else _number(known)]
    for model in part.models:
        coefficient = _coefficient(part, model, name)
        if coefficient is None:
            cells.append("")
            continue
        other = "†" if part.same_sign(model, name) is False else ""
        unsure = "" if part.excludes_zero(model, name) else "°"
        cells.append(f"{_number(coefficient.estimate)} ({coefficient.se:.4f}){other}{unsure}")
    return cells


def _r2_cells(part: Part, kind: str) -> list[str]:
    own = [f"{getattr(model.fit.r2, kind):.3f}" for model in part.models.values()]
    return [f"{part.published.r2[kind]:.3f}", *own]


def _share_cells(part: Part, factor: str) -> list[str]:
    known = part.published.r2.get(factor)
    shares = (model.fit.shares.get(factor) for model in part.models.values())
    return ["" if value is None else f"{value:.3f}" for value in (known, *shares)]


def estimate_cells(explanation: Explanation, part: Part) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: estimates with interval and sign beside the published ones, for each model."""
    heads = ["feature", "published", *(h for model in part.models for h in (model, "95 %", "sign"))]
    rows = []
    for name in _row_names(explanation):
        cells = []
        for model in part.models:
            coefficient = _coefficient(part, model, name)
            sign = {True: "same", False: "other", None: ""}[part.same_sign(model, name)]
            if coefficient is None:
                cells += ["reference" if _is_reference(part, name) else "", "", ""]
            else:
                interval = f"{_number(coefficient.low)} … {_number(coefficient.high)}"
                cells += [_number(coefficient.estimate), interval, sign]
        known = part.published.estimates.get(name)
        if known is not None or any(cells):
            rows.append([name, "" if known is None else _number(known), *cells])
    return heads, rows


def variance_cells(part: Part) -> tuple[list[str], list[list[str]]]:
    """Headings and rows: what the features, each random factor and each feature explain."""
    rows = [
        ["R² marginal", *_r2_cells(part, "marginal")],
        ["R² conditional", *_r2_cells(part, "conditional")],
        *([f"share of {factor}", *_share_cells(part, factor)] for factor in ("corpus", "algorithm", "word")),
    ]
    for factor in next(iter(part.models.values())).changes:
        losses = [
            f"{model.changes[factor].marginal:.4f}" if factor in model.changes else ""
            for model in part.models.values()
        ]
        rows.append([f"R² lost without {factor}", "", *losses])
    return ["variance explained", "published", *part.models], rows
