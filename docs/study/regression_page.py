"""The page of the regressions: for each set of base pairs Table 3 filled in, and what follows from it in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
"""Between what is fitted here and what the study has in tables/regression; estimates are shown to as many digits."""
Tables = Mapping[str, pl.DataFrame]
Explanations = Mapping[str, Explanation]


def regression_page(template: str, tables: Tables, fewer_seeds: Sequence[Tables]) -> tuple[str, list[str]]:
    """The page, and the names of the figures that it shows.

    Args:
        template: with places for regressions, over_pairs and over_seeds.
        tables: of the study.
        fewer_seeds: the tables of the same study with fewer seeds; may be empty.
    """
    found = explanations(tables)
    estimated = [pairs for pairs, explanation in found.items() if explanation.parts]
    values = {
        "regressions": "\n\n".join(_section(pairs, explanation) for pairs, explanation in found.items()),
        "over_pairs": _differences({f"{pairs} pairs": found[pairs] for pairs in estimated}),
        "over_seeds": _over_seeds(tables, found, fewer_seeds),
    }
    return fill(template, values), [_figure(pairs) for pairs in estimated]


def explanations(tables: Tables) -> dict[str, Explanation]:
    """The regressions of a study from its tables, for each set of base pairs.

    Raises:
        WeatherglassError: if they are not those of the study's table of regressions.
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
            "tables/regression is not of these tables; run: weatherglass reliability explain"
        )
    return found


def _section(pairs: str, explanation: Explanation) -> str:
    heading = f"## {pairs.replace('_', ' ').capitalize()} pairs"
    if not explanation.parts:
        return "\n\n".join([heading, *explanation.missing])
    blocks = [heading]
    for part in explanation.parts:
        blocks += [f"**{part.reliability.capitalize()} in plain words**", bullets(plain_sentences(part))]
    both = agreeing_in_all(explanation)
    if len(explanation.parts) > 1:
        blocks.append(
            "With the sign of the reproduction, and an interval without zero, in both reliabilities: "
            f"{join_names(both)}."
        )
    blocks += [
        table(*filled_table(explanation), numbers=True),
        f"![Estimates with their intervals, beside those of the reproduction]({_figure(pairs)}.png)",
        _lost(explanation),
        "Warnings:",
        bullets(f"{part.reliability}: {warning}" for part in explanation.parts for warning in part.warnings),
    ]
    return "\n\n".join(blocks)


def _figure(pairs: str) -> str:
    return f"regression-{pairs}"


def _lost(explanation: Explanation) -> str:
    """What the marginal R² loses without each factor."""
    columns = [(part, model) for part in explanation.parts for model in part.models]
    factors = dict.fromkeys(factor for part, model in columns for factor in part.models[model].changes)
    rows = []
    for factor in factors:
        changes = [part.models[model].changes.get(factor) for part, model in columns]
        rows.append([factor, *("" if change is None else _number(change.marginal) for change in changes)])
    header = ["R² marginal lost without", *(f"{part.reliability}: {model}" for part, model in columns)]
    return table(header, rows, numbers=True)


def _number(value: float) -> str:
    rounded = round(value, 4) + 0.0  # −0 is 0
    return f"{rounded:.4f}".replace("-", "−")


def _over_seeds(tables: Tables, found: Explanations, fewer_seeds: Sequence[Tables]) -> str:
    """Signs that change with the number of seeds, of the first set of base pairs that was estimated."""
    pairs = next((pairs for pairs, explanation in found.items() if explanation.parts), None)
    if pairs is None or not fewer_seeds:
        return "This page was written without a folder of fewer seeds."
    by_seeds = {_seeds(other): explanations(other)[pairs] for other in fewer_seeds}
    by_seeds[_seeds(tables)] = found[pairs]
    return f"{pairs.capitalize()} pairs. " + _differences(
        {f"{seeds} seeds": explanation for seeds, explanation in sorted(by_seeds.items())}
    )


def _seeds(tables: Tables) -> int:
    """The number of seeds of a study: the largest that its tables did not extrapolate to."""
    numbers = tables["seed_numbers"].filter(~pl.col("extrapolated"))["seeds"]
    return int(numbers.to_numpy().max())


def _differences(by_condition: Explanations) -> str:
    """For each reliability, the estimates whose sign is not the same in all conditions."""
    if len(by_condition) < 2:
        return "Only one can be estimated."
    blocks = []
    for reliability in dict.fromkeys(
        part.reliability for found in by_condition.values() for part in found.parts
    ):
        parts = {
            condition: part
            for condition, found in by_condition.items()
            for part in found.parts
            if part.reliability == reliability
        }
        differing = differing_signs(parts)
        names = [
            c.name for part in parts.values() for c in part.models[preferred_model(part)].fit.coefficients
        ]
        kept = [name for name in dict.fromkeys(names) if name not in differing]
        blocks.append(f"{reliability.capitalize()}: the same sign everywhere: {join_names(kept)}.")
        if differing:
            rows = [[name, *(_cell(part, name) for part in parts.values())] for name in differing]
            blocks.append(table([f"sign differs, {reliability}", *parts], rows, numbers=True))
    return "\n\n".join(blocks)


def _cell(part: Part, name: str) -> str:
    model = preferred_model(part)
    found = next((c for c in part.models[model].fit.coefficients if c.name == name), None)
    if found is None:
        return ""
    return _number(found.estimate) + ("" if part.excludes_zero(model, name) else "°")


def figure_paths(folder: Path, names: Sequence[str]) -> list[Path]:
    """The figures of a study's folder, as PNG."""
    return [folder / "figures" / f"{name}.png" for name in names]
