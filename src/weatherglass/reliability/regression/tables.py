"""Present the regressions as a tidy table, in the form of the published table (also in LaTeX), and as sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

from weatherglass.languages.lexicon import UNIVERSAL
from weatherglass.reliability.regression.features import CONTINUOUS
from weatherglass.reliability.regression.fit import WEIGHTED, Coefficient

if TYPE_CHECKING:
    import polars as pl

    from weatherglass.reliability.regression.explain import Explanation, FittedModel, Part

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
"""The columns; `quantity` is estimate, variance, r2, share, change_r2_marginal, change_r2_conditional, vif, rows or
dropped.
"""

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
    """Return the tidy table, with one number per row."""
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


NOT_INSTALLED = "not installed"
"""The text in place of an estimate whose lexicon is not installed."""


def filled_table(explanation: Explanation) -> tuple[list[str], list[list[str]]]:
    """Fill in Table 3 of the reproduction with the published estimates and those of the models, by reliability.

    Returns:
        The heading and the rows. Standard errors are in brackets; † means that the sign differs from the reproduction,
        and ° that the 95 % interval contains zero.
    """
    parts = explanation.parts
    heading = [
        "",
        *(f"{part.reliability}: {column}" for part in parts for column in ("reproduction", *part.models)),
    ]
    rows = [
        [
            name,
            *(
                cell or (NOT_INSTALLED if explanation.is_absent(name) else "")
                for part in parts
                for cell in _cells(part, name)
            ),
        ]
        for name in _row_names(explanation)
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
    """Return the filled table for a paper."""
    heading, rows = filled_table(explanation)
    lines = [
        "% Needs booktabs. Standard errors in brackets. Dagger: the sign differs from the reproduction.",
        '% Circle: the 95 % interval contains zero. R² and shares in the columns "reproduction": Du et al. (2021).',
        *(f"% {' '.join(line.split())}" for line in explanation.missing),
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
    """Return the names of the rows: first those of the published table, then all other estimates."""
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
    """Return headings and rows with the published estimates and, for each model, the estimate, its interval and its
    sign.
    """
    heads = ["feature", "published", *(h for model in part.models for h in (model, "95 %", "sign"))]
    rows = []
    for name in _row_names(explanation):
        cells = []
        for model in part.models:
            coefficient = _coefficient(part, model, name)
            sign = {True: "same", False: "other", None: ""}[part.same_sign(model, name)]
            if coefficient is None:
                absent = NOT_INSTALLED if explanation.is_absent(name) else ""
                cells += ["reference" if _is_reference(part, name) else absent, "", ""]
            else:
                interval = f"{_number(coefficient.low)} … {_number(coefficient.high)}"
                cells += [_number(coefficient.estimate), interval, sign]
        known = part.published.estimates.get(name)
        if known is not None or any(cells):
            rows.append([name, "" if known is None else _number(known), *cells])
    return heads, rows


def variance_cells(part: Part) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows with the variance explained by all features, by each random factor and by each
    feature.
    """
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


NEGLIGIBLE = 0.005
"""The decrease in the marginal R² below which a factor explains almost nothing."""
WORD_FACTORS = ("log senses", "pos")
"""Factors that are constant for each word, so that (1|word) changes their standard errors."""


def plain_sentences(part: Part) -> list[str]:
    """Return sentences about one reliability; all except the last describe the model with words, if it was fitted."""
    model = preferred_model(part)
    fitted = part.models[model]
    lines = [
        _row_sentence(part, fitted),
        _factor_sentence(fitted),
        _direction_sentence(part, model),
        _variance_sentence(part, fitted),
        _sign_sentence(part, model),
    ]
    if {"as published", "with word"} <= set(part.models):
        lines.append(_word_intercept_sentence(part))
    return [line for line in lines if line]


def preferred_model(part: Part) -> str:
    """Return the model with a random intercept for words or, if it could not be fitted, the published one."""
    return [name for name in part.models if name != WEIGHTED][-1]


def agreeing_in_all(explanation: Explanation) -> list[str]:
    """Return the estimates that have the published sign and exclude zero, for every reliability."""
    agreeing = [
        [
            name
            for name in _comparable(part, preferred_model(part))
            if part.same_sign(preferred_model(part), name)
        ]
        for part in explanation.parts
    ]
    return [name for name in agreeing[0] if all(name in other for other in agreeing)] if agreeing else []


def differing_signs(parts: Mapping[str, Part]) -> dict[str, dict[str, float]]:
    """Return the estimates whose sign differs between parts.

    Args:
        parts: the same reliability under several conditions, by name.

    Returns:
        The estimates of each coefficient by condition.
    """
    estimates: dict[str, dict[str, float]] = {}
    for condition, part in parts.items():
        for c in part.models[preferred_model(part)].fit.coefficients:
            estimates.setdefault(c.name, {})[condition] = c.estimate
    return {name: by for name, by in estimates.items() if min(by.values()) < 0 <= max(by.values())}


def join_names(names: Iterable[str]) -> str:
    """Return the names as a phrase such as "a, b and c"; "none" if there are no names."""
    *first, last = list(names) or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def _percent(share: float, digits: int = 0) -> str:
    rounded = round(100 * share, digits) + 0.0  # −0 is 0
    return f"{rounded:.{digits}f} %".replace("-", "−")


def _row_sentence(part: Part, fitted: FittedModel) -> str:
    left = part.rows - fitted.fit.rows
    reasons = "; ".join(f"{rows:,} with {reason}" for reason, rows in part.dropped.items())
    return f"The model uses {fitted.fit.rows:,} of {part.rows:,} rows" + (
        f"; {_percent(left / part.rows)} are dropped ({reasons})." if left else "."
    )


def _factor_sentence(fitted: FittedModel) -> str:
    """Return a sentence on the factors that explain most, overall and among word features, and those that explain
    almost nothing.
    """
    lost = {factor: change.marginal for factor, change in fitted.changes.items()}
    if not lost or max(lost.values()) <= 0:
        return "The marginal R² does not fall if any one factor is removed."
    most = max(lost, key=lost.__getitem__)
    line = f"The marginal R² ({fitted.fit.r2.marginal:.3f}) falls most if {most} is removed (by {lost[most]:.4f})"
    word_losses = {factor: loss for factor, loss in lost.items() if factor != "rule" and loss > 0}
    if most == "rule" and word_losses:
        next_most = max(word_losses, key=word_losses.__getitem__)
        line += (
            f", and among the features of a word, if {next_most} is removed (by {word_losses[next_most]:.4f})"
        )
    little = [factor for factor, loss in lost.items() if abs(loss) < NEGLIGIBLE]
    rising = [factor for factor, loss in lost.items() if loss <= -NEGLIGIBLE]
    line += "." + (
        f" R² changes by less than {NEGLIGIBLE} after removal of {join_names(little)}." if little else ""
    )
    return line + (f" R² rises after removal of {join_names(rising)}." if rising else "")


def _direction_sentence(part: Part, model: str) -> str:
    """Return a sentence on the continuous features that raise and lower the scores, with the largest estimate
    first.
    """
    estimates = {c.name: c.estimate for c in part.models[model].fit.coefficients if c.name in CONTINUOUS}
    significant = sorted(
        (name for name in estimates if part.excludes_zero(model, name)),
        key=lambda name: -abs(estimates[name]),
    )
    higher = [f"{name} (+{estimates[name]:.4f})" for name in significant if estimates[name] > 0]
    lower = [f"{name} (−{abs(estimates[name]):.4f})" for name in significant if estimates[name] < 0]
    line = f"Scores rise with {join_names(higher)} and fall with {join_names(lower)}."
    unsure = [name for name in estimates if name not in significant]
    return line + (f" The interval contains zero for {join_names(unsure)}." if unsure else "")


def _variance_sentence(part: Part, fitted: FittedModel) -> str:
    shares = fitted.fit.shares
    if not shares:
        return ""
    most = max(shares, key=shares.__getitem__)
    known = part.published.r2.get(most)
    original = "" if known is None else f" ({known:.3f} in the original)"
    return (
        f"The largest share of the variance among the random factors, {shares[most]:.3f}, lies between the "
        f"{fitted.fit.levels[most]} levels of {most}{original}."
    )


def _comparable(part: Part, model: str) -> list[str]:
    """Return the estimates that the reproduction also has and whose interval excludes zero."""
    names = [c.name for c in part.models[model].fit.coefficients]
    return [
        name for name in names if part.excludes_zero(model, name) and part.same_sign(model, name) is not None
    ]


def _sign_sentence(part: Part, model: str) -> str:
    significant = _comparable(part, model)
    same = [name for name in significant if part.same_sign(model, name)]
    other = [name for name in significant if name not in same]
    return (
        f"Estimates whose interval excludes zero: {len(same)} with the sign of the reproduction ({join_names(same)}), "
        f"{len(other)} with the other ({join_names(other)})."
    )


def _word_intercept_sentence(part: Part) -> str:
    """Return a sentence on how the random intercept for words changes the published model."""
    published, with_word = (
        {c.name: c for c in part.models[model].fit.coefficients} for model in ("as published", "with word")
    )
    se_changes = [
        with_word[name].se / published[name].se - 1
        for name in published
        if name.partition(":")[0] in WORD_FACTORS
    ]
    changed_signs = [name for name in published if published[name].estimate * with_word[name].estimate < 0]
    no_longer = [
        name
        for name in published
        if part.excludes_zero("as published", name) > part.excludes_zero("with word", name)
    ]
    newly = [
        name
        for name in published
        if part.excludes_zero("as published", name) < part.excludes_zero("with word", name)
    ]
    share = part.models["with word"].fit.shares.get("word", 0.0)
    line = f"(1|word) explains {_percent(share, 1)} of the variance"
    if se_changes:
        change = _percent(median(se_changes))
        line += f" and changes the standard errors of {join_names(WORD_FACTORS)} by {change} (median)"
    line += f". Signs that change with (1|word): {join_names(changed_signs)}"
    line += f"; intervals that now contain zero: {join_names(no_longer)}"
    return line + (f"; that no longer contain it: {join_names(newly)}." if newly else ".")
