"""Write the page of the regressions: Table 3 filled in for every set of base pairs, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import polars as pl
from markup import bullets, fill, table

from weatherglass.errors import WeatherglassError
from weatherglass.reliability.regression.explain import Explanation, Part, explain, study_scores
from weatherglass.reliability.regression.tables import (
    agreeing_in_all,
    differing_signs,
    filled_table,
    join_names,
    plain_sentences,
    preferred_model,
    regression_table,
)

TOLERANCE = 1e-4
"""Largest difference between estimates fitted here and those in tables/regression; the page shows this many digits."""
ANSWERS = 3
"""The page has the first sentences on a regression: rows, factors, directions; the tables show the rest, and R²."""
Tables = Mapping[str, pl.DataFrame]
Explanations = Mapping[str, Explanation]


def regression_page(template: str, tables: Tables) -> tuple[str, list[str]]:
    """Return the page, and the names of the figures that it shows."""
    found = explanations(tables)
    estimated = {pairs: explanation for pairs, explanation in found.items() if explanation.parts}
    figures = [f"regression-{pairs}" for pairs in estimated]
    values = {
        "answers": bullets(
            line for pairs, explanation in found.items() for line in _answers(pairs, explanation)
        ),
        "signs": bullets(_signs(estimated)),
        "estimates": _estimates(estimated),
        "figures": "\n\n".join(
            f"![Estimates with their intervals, {name}](regression-{name}.png)" for name in estimated
        ),
        "lost": _lost(estimated),
    }
    return fill(template, values), figures


def explanations(tables: Tables) -> dict[str, Explanation]:
    """Return the regressions of a study from its tables, for each set of base pairs.

    Raises:
        WeatherglassError: if they differ from the study's table of regressions.
    """
    found: dict[str, Explanation] = {}
    for pairs in tables["test_retest_words"]["pairs"].unique(maintain_order=True).to_list():
        try:
            found[pairs] = explain(study_scores(tables, pairs), tables["features"])
        except WeatherglassError as error:
            found[pairs] = Explanation((), missing=(str(error),))
    own = pl.concat([regression_table(explanation, pairs) for pairs, explanation in found.items()])
    keys = ["pairs", "reliability", "model", "quantity", "name"]
    estimate = pl.col("quantity") == "estimate"
    both = tables["regression"].filter(estimate).join(own.filter(estimate), on=keys, how="full")
    apart = (both["value"] - both["value_right"]).abs()
    if apart.null_count() or (apart > TOLERANCE).any():
        raise WeatherglassError(
            "tables/regression does not belong to these tables; run: weatherglass reliability explain"
        )
    return found


def _answers(pairs: str, explanation: Explanation) -> Iterator[str]:
    """Yield the first sentences on each regression, and the estimates that agree with the reproduction in all."""
    for part in explanation.parts:
        lines = [line for line in plain_sentences(part)[:ANSWERS] if not line.startswith("The marginal R²")]
        yield f"**{pairs}, {part.reliability}**: {' '.join(lines)}"
    if len(explanation.parts) > 1:
        yield (
            f"**{pairs}, both reliabilities**: For {join_names(agreeing_in_all(explanation) or ['no feature'])}, "
            "the coefficient has the same sign as in the reproduction and an interval that excludes zero."
        )
    yield from (f"**{pairs}**: {line}" for line in explanation.missing if not explanation.parts)


def _parts(estimated: Explanations) -> dict[str, dict[str, Part]]:
    """Return the parts by reliability and set of base pairs."""
    parts: dict[str, dict[str, Part]] = {}
    for pairs, explanation in estimated.items():
        for part in explanation.parts:
            parts.setdefault(part.reliability, {})[pairs] = part
    return parts


def _signs(estimated: Explanations) -> Iterator[str]:
    """Yield for each reliability the estimates whose sign is the same, or differs, over the sets of base pairs."""
    for reliability, parts in _parts(estimated).items():
        names = dict.fromkeys(
            c.name for part in parts.values() for c in part.models[preferred_model(part)].fit.coefficients
        )
        differing = differing_signs(parts)
        same = [name for name in names if name not in differing]
        yield f"{reliability}: the sign is the same for {join_names(same)}, and differs for {join_names(differing)}."


def _estimates(estimated: Explanations) -> str:
    """Return the estimates of the preferred model for every set of base pairs, beside those of the reproduction."""
    columns: dict[str, dict[str, str]] = {}
    for reliability, parts in _parts(estimated).items():
        for pairs, part in parts.items():
            heading, rows = filled_table(estimated[pairs])
            for title, column in (("reproduction", "reproduction"), (pairs, preferred_model(part))):
                place = heading.index(f"{reliability}: {column}")
                columns.setdefault(f"{reliability}: {title}", {row[0]: row[place] for row in rows})
    names = [
        name
        for name in dict.fromkeys(name for cells in columns.values() for name in cells)
        if not name.startswith("pos:")
    ]
    rows = [[name, *(cells.get(name, "") for cells in columns.values())] for name in names]
    return table(["", *columns], rows, numbers=True)


def _lost(estimated: Explanations) -> str:
    """Return what the marginal R² of the preferred model loses without each factor."""
    columns = {
        f"{reliability}: {pairs}": part.models[preferred_model(part)].changes
        for reliability, parts in _parts(estimated).items()
        for pairs, part in parts.items()
    }
    factors = dict.fromkeys(factor for changes in columns.values() for factor in changes)
    rows = [
        [
            factor,
            *(_number(changes[factor].marginal) if factor in changes else "" for changes in columns.values()),
        ]
        for factor in factors
    ]
    return table(["R² marginal lost without", *columns], rows, numbers=True)


def _number(value: float) -> str:
    rounded = round(value, 4) + 0.0  # −0 is 0
    return f"{rounded:.4f}".replace("-", "−")


def figure_paths(folder: Path, names: Sequence[str]) -> list[Path]:
    """Return the paths of a study's figures, as PNG."""
    return [folder / "figures" / f"{name}.png" for name in names]
