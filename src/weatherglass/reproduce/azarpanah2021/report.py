"""Report the reproduction of Azarpanah & Farhadloo (2021) on the terminal, in files and on a page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from weatherglass.audit.results import Result
from weatherglass.report.measures import spreads
from weatherglass.report.numbers import ABSENT, effect
from weatherglass.reproduce.azarpanah2021 import (
    ALPHA,
    MEASURES,
    MODELS,
    STARS,
    TESTS,
    AzarpanahReproduction,
    Cell,
    Summary,
    aggregates,
    agreements,
    cells_of,
    published,
    table_3,
)
from weatherglass.reproduce.azarpanah2021.claims import check_claims
from weatherglass.reproduce.azarpanah2021.readings import Reading
from weatherglass.reproduce.sheets import (
    PaperClaim,
    PaperTable,
    Picture,
    claim_lines,
    file_name,
    write_sheets,
)

Rows = Iterator[list[str]]
NEAREST = 10
"""The number of interpretations of a model on the terminal and the page; the file has all of them."""
TITLE = "Azarpanah & Farhadloo (2021), Measuring Biases of Word Embeddings"
CHOICES = ("synonyms", "vectors", "scaling", "estimator", "covariance", "matrix", "form")


def sheets(reproduction: AzarpanahReproduction) -> Iterator[PaperTable]:
    """Yield Table 3, Table 4 of each model with the published cells, aggregates, sensitivity and readings."""
    yield PaperTable(
        "table3",
        "Table 3: number of the ten tests significant at 0.01, and mean and sd of |d|",
        list(table_3_rows(reproduction)),
    )
    for model in reproduction.models:
        rows = list(table_4_rows(reproduction, model))
        yield PaperTable(
            f"table4-{model}", f"Table 4, {model}: |d| and stars", rows, tuple(range(len(rows[0])))
        )
        if compared := list(compared_rows(reproduction, model)):
            headings = ["cell", "published", "ours", "difference"]
            yield PaperTable(
                f"compared-{model}",
                f"Table 4 compared, {model}: legible cells and our results",
                [headings, *compared],
            )
    if agreed := agreements(reproduction.results):
        headings = ["model and similarity", "cells", "equal to two digits", "mean difference", "equal stars"]
        rows = [
            [
                f"{a.model}: {a.what}",
                str(a.cells),
                str(a.equal),
                f"{a.mean_difference:.2f}",
                str(a.equal_stars),
            ]
            for a in agreed
        ]
        yield PaperTable(
            "agreement",
            "Agreement: legible cells of the paper's Table 4 that equal our results",
            [headings, *rows],
        )
    yield PaperTable(
        "aggregates", "Aggregates: |d| over all models and tests", list(aggregate_rows(reproduction))
    )
    if reproduction.sensitivity:
        rows = list(sensitivity_rows(reproduction))
        yield PaperTable(
            "sensitivity",
            "Sensitivity: how |d| of the Mahalanobis measures changes with the covariance",
            rows,
            (0, 4),
        )
    for model, readings in readings_by_model(reproduction).items():
        headings = ["reading", "mean difference", "equal", "cells", *CHOICES]
        rows = [
            [str(place), f"{r.mean_difference:.3f}", str(r.equal), str(r.cells), *r.choices]
            for place, r in enumerate(readings, 1)
        ]
        title = f"Interpretations of the Mahalanobis distance, {model}: sorted by distance from Table 4"
        words = (0, *range(4, len(headings)))
        yield PaperTable(f"readings-{model}", title, [headings, *rows], words, at_most=NEAREST)


def not_given(reproduction: AzarpanahReproduction) -> dict[str, str]:
    """Return the specs of the paper's models that the user did not give."""
    return {name: MODELS[name] for name in reproduction.not_given}


def claims(reproduction: AzarpanahReproduction) -> list[PaperClaim]:
    """Return each claim with its verdict."""
    return check_claims(reproduction.results)


def lines(reproduction: AzarpanahReproduction) -> Iterator[str]:
    """Yield the claims, the meaning of the marks, the spread over measures and the failures."""
    yield f"claims of the paper, on {', '.join(reproduction.models)}"
    yield from claim_lines(claims(reproduction))
    yield ""
    yield from _notes(reproduction)


def _notes(reproduction: AzarpanahReproduction) -> Iterator[str]:
    levels = ", ".join(f"{level:f}".rstrip("0") for level in STARS)
    yield (
        f"stars: p ≤ {levels}; as in the paper, p is one-sided in the observed direction and does not count equal "
        "sums, so it is anti-conservative, and 0 if no partition has a larger sum"
    )
    for agreed in agreements(reproduction.results):
        verdict = ": not reproduced" if 2 * agreed.equal < agreed.cells else ""
        yield (
            f"{agreed.model}, {agreed.what}: {agreed.equal} of {agreed.cells} legible cells of Table 4 agree to two "
            f"digits (mean difference {agreed.mean_difference:.2f}){verdict}"
        )
    yield from _nearest_readings(reproduction)
    for model in reproduction.models:
        yield f"d over the measures, {model}:"
        yield from (f"  {spread}" for spread in spreads(results_of(reproduction, model), _mark))
        if model not in MODELS:
            yield f"{model} is not one of the paper's models, so there are no published numbers to compare with"
    for failure in reproduction.run.failures:
        yield f"failed: {failure.test} on {failure.model}: {failure.reason}"


def _nearest_readings(reproduction: AzarpanahReproduction) -> Iterator[str]:
    """Yield a sentence for each model on its nearest reading, and on whether that reading reproduces the paper."""
    for model, tried in readings_by_model(reproduction).items():
        nearest = tried[0]
        verdict = (
            "this interpretation reproduces the Mahalanobis columns"
            if nearest.equal == nearest.cells
            else "no interpretation reproduces the Mahalanobis columns"
        )
        yield (
            f"{model}: of {len(tried)} interpretations of the Mahalanobis distance, the nearest "
            f"({', '.join(nearest.choices)}) has {nearest.equal} of {nearest.cells} cells to two digits, mean "
            f"difference {nearest.mean_difference:.2f}: {verdict}"
        )


def results_of(reproduction: AzarpanahReproduction, model: str) -> list[Result]:
    """Return all results of one model, in the paper's order of measures."""
    return [
        reproduction.results[model, test, measure]
        for test in TESTS
        for measure in MEASURES
        if (model, test, measure) in reproduction.results
    ]


def write_reproduction(reproduction: AzarpanahReproduction, folder: Path) -> list[Path]:
    """Write the tables as TSV, a map of the measures of each model as PNG, and the page with all of them."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures = list(_write_maps(reproduction, folder))
    listed = [
        PaperTable.of_claims("Claims of the paper", claims(reproduction)),
        *sheets(reproduction),
        *PaperTable.of_models_not_given(not_given(reproduction)),
    ]
    written = write_sheets(folder, TITLE, listed, pictures, _notes(reproduction))
    return [*written, *(picture.path for picture in pictures)]


def _write_maps(reproduction: AzarpanahReproduction, folder: Path) -> Iterator[Picture]:
    from weatherglass.report.figures import save_figure
    from weatherglass.report.measures import measure_map

    note = f"*, bold numbers and filled points: p ≤ {ALPHA:g}, one-sided in the observed direction."
    for model, spec in reproduction.models.items():
        if results := results_of(reproduction, model):
            path = folder / f"{file_name(f'measures-{model}')}.png"
            save_figure(measure_map(results, f"{model} ({spec})", note, mark=_mark), path, "png")
            yield Picture(path, f"{model}: d by test and measure")


def table_3_rows(reproduction: AzarpanahReproduction) -> Rows:
    """Yield a row for each model and measure, with our numbers and, if there are any, the published ones."""
    yield ["model and measure", "signif.", "mean", "sd", "paper", "paper mean", "paper sd"]
    printed, ours = published().table_3, table_3(reproduction.results)
    for model in reproduction.models:
        for measure in MEASURES:
            own = ours.get((model, measure))
            yield [f"{model} {measure}", *_cells(own), *_cells(printed.get((model, measure)))]


def table_4_rows(reproduction: AzarpanahReproduction, model: str) -> Rows:
    """Yield a row for each measure, with a cell for each test."""
    yield ["measure", *TESTS]
    ours = cells_of(reproduction.results)
    for measure in MEASURES:
        yield [str(measure), *(_with_stars(ours.get((model, test, measure))) for test in TESTS)]


def compared_rows(reproduction: AzarpanahReproduction, model: str) -> Rows:
    """Yield the legible cells of Table 4, each with our result."""
    ours = cells_of(reproduction.results)
    for (name, test, measure), theirs in published().table_4.items():
        if name == model and (own := ours.get((name, test, measure))):
            apart = effect(own.effect_size - theirs.effect_size)
            yield [f"{test} {measure}", _with_stars(theirs), _with_stars(own), apart]


def aggregate_rows(reproduction: AzarpanahReproduction) -> Rows:
    """Yield counts, mean, sd and range by statistic, by similarity, and overall."""
    yield ["over", "signif.", "of", "mean", "sd", "range", "paper mean", "paper sd", "paper range"]
    ours = aggregates(reproduction.results)
    for (over, value), theirs in published().aggregates.items():
        own = ours.get((over, value))
        counts = ["", ""] if own is None else [str(own.significant), str(own.count)]
        name = "all" if over == "all" else f"{over} {value}"
        yield [name, *counts, *_cells(own)[1:], _range(own), *_cells(theirs)[1:], _range(theirs)]


def sensitivity_rows(reproduction: AzarpanahReproduction) -> Rows:
    """Yield the mean and the largest change of |d|."""
    yield ["model, instead", "results", "mean change", "largest", "where"]
    for change in reproduction.sensitivity:
        moved = [f"{change.mean_change:.2f}", f"{change.largest_change:.2f}"]
        yield [f"{change.model}, {change.variant}", str(change.compared), *moved, change.where]


def readings_by_model(reproduction: AzarpanahReproduction) -> dict[str, list[Reading]]:
    """Return the readings of each model, nearest first."""
    found: dict[str, list[Reading]] = {}
    for reading in reproduction.readings:
        found.setdefault(reading.model, []).append(reading)
    return found


def _cells(summary: Summary | None) -> list[str]:
    if summary is None:
        return ["", "", ""]
    significant = "" if summary.significant is None else str(summary.significant)
    return [significant, f"{summary.mean:.2f}", f"{summary.sd:.2f}"]


def _range(summary: Summary | None) -> str:
    if summary is None or summary.smallest is None or summary.largest is None:
        return ""
    return f"{summary.smallest:.2f} to {summary.largest:.2f}"


def _with_stars(cell: Cell | None) -> str:
    return ABSENT if cell is None else effect(cell.effect_size) + "*" * cell.stars


def _mark(result: Result) -> str:
    """Return the star of a significant result, at a single level, although Table 4 has four levels."""
    return "*" if result.p_value <= ALPHA else ""
