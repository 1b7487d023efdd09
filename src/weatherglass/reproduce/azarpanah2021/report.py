"""Azarpanah & Farhadloo (2021) reproduced, for a terminal and as files: Tables 3 and 4, aggregates, verdicts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.table import Table

from weatherglass.report.measures import spreads
from weatherglass.report.numbers import ABSENT, effect
from weatherglass.reproduce.azarpanah2021.claims import check_claims
from weatherglass.reproduce.azarpanah2021.procedure import (
    ALPHA,
    MEASURES,
    MODELS,
    STARS,
    TESTS,
    Reproduction,
    Summary,
    aggregates,
    published,
    stars,
    table_3,
)
from weatherglass.runs.results import Result
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.spreadsheet import tsv_line

Rows = Iterator[list[str]]


def tables(reproduction: Reproduction) -> Iterator[Table]:
    """Table 3, Table 4 of each model, the aggregates, the sensitivity and the claims."""
    yield _table(
        "Table 3: of the ten tests, significant at 0.01; mean and sd of |d|",
        table_3_rows(reproduction),
        left=2,
    )
    for model in reproduction.models:
        rows = table_4_rows(reproduction, model)
        yield _table(f"Table 4: |d| and stars, {model} ({reproduction.models[model]})", rows, left=11)
    yield _table("|d| over all models and tests", aggregate_rows(reproduction), left=2)
    if reproduction.sensitivity:
        title = "how |d| of the Mahalanobis measures changes with the covariance"
        yield _table(title, sensitivity_rows(reproduction), left=2, right=5)
    yield _table(
        f"claims of the paper, on {', '.join(reproduction.models)}", claim_rows(reproduction), left=4
    )


def lines(reproduction: Reproduction) -> Iterator[str]:
    """What the marks mean, the spread over measures, what failed and which models were not given."""
    levels = ", ".join(f"{level:f}".rstrip("0") for level in STARS)
    yield f"stars: p ≤ {levels}; p is one-sided in the direction observed, as in the paper: anti-conservative"
    for model in reproduction.models:
        yield f"d over the measures, {model}:"
        yield from (f"  {spread}" for spread in spreads(results_of(reproduction, model)))
        if model not in MODELS:
            yield f"{model} is none of the paper's models: there are no published numbers to compare"
    for failure in reproduction.run.failures:
        yield f"failed: {failure.test} on {failure.model}: {failure.reason}"
    for name in reproduction.not_given:
        yield f"not given: {name} (--model {name}={MODELS[name]})"


def results_of(reproduction: Reproduction, model: str) -> list[Result]:
    """All results of one model, measures in the paper's order."""
    return [
        reproduction.results[model, test, measure]
        for test in TESTS
        for measure in MEASURES
        if (model, test, measure) in reproduction.results
    ]


def write_reproduction(reproduction: Reproduction, folder: Path) -> list[Path]:
    """Write the tables as TSV and, for each model, the map of its measures as PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    contents = {
        "table3": list(table_3_rows(reproduction)),
        "aggregates": list(aggregate_rows(reproduction)),
        "sensitivity": list(sensitivity_rows(reproduction)),
        "claims": list(claim_rows(reproduction)),
        **{f"table4-{model}": list(table_4_rows(reproduction, model)) for model in reproduction.models},
    }
    written = []
    for name, rows in contents.items():
        path = folder / f"{name}.tsv"
        write_whole(path, "".join(map(tsv_line, rows)))
        written.append(path)
    return [*written, *_write_maps(reproduction, folder)]


def _write_maps(reproduction: Reproduction, folder: Path) -> Iterator[Path]:
    from weatherglass.report.figures import save_figure
    from weatherglass.report.measures import measure_map

    observed = f"* p ≤ {ALPHA:g}, one-sided in the direction observed"
    note = f"{observed}; ** also after correction over all tests of a measure."
    for model, spec in reproduction.models.items():
        if results := results_of(reproduction, model):
            path = folder / f"measures-{model}.png"
            save_figure(measure_map(results, f"{model} ({spec})", note), path, "png")
            yield path


def table_3_rows(reproduction: Reproduction) -> Rows:
    """A row for each model and measure, published figures beside ours where there are any."""
    yield ["model", "measure", "significant", "mean", "sd", "published", "mean", "sd"]
    printed, ours = published().table_3, table_3(reproduction.results)
    for model in reproduction.models:
        for measure in MEASURES:
            own = ours.get((model, measure))
            yield [model, str(measure), *_cells(own), *_cells(printed.get((model, measure)))]


def table_4_rows(reproduction: Reproduction, model: str) -> Rows:
    """Measures down, tests across."""
    yield ["measure", *TESTS]
    for measure in MEASURES:
        cells = (reproduction.results.get((model, test, measure)) for test in TESTS)
        yield [str(measure), *(_with_stars(cell) for cell in cells)]


def aggregate_rows(reproduction: Reproduction) -> Rows:
    """By statistic, by similarity, and all together."""
    yield ["over", "value", "mean", "sd", "published mean", "sd"]
    ours = aggregates(reproduction.results)
    for (over, value), theirs in published().aggregates.items():
        own = ours.get((over, value))
        yield [over, value, *_cells(own)[1:], *_cells(theirs)[1:]]


def sensitivity_rows(reproduction: Reproduction) -> Rows:
    """How far |d| moved, on average and at most."""
    yield ["model", "instead", "results", "mean change", "largest", "where"]
    for change in reproduction.sensitivity:
        moved = [f"{change.mean_change:.2f}", f"{change.largest_change:.2f}"]
        yield [change.model, change.variant, str(change.compared), *moved, change.where]


def claim_rows(reproduction: Reproduction) -> Rows:
    """Each claim with its verdict and the numbers that decide it."""
    yield ["claim", "verdict", "ours", "published"]
    for claim in check_claims(reproduction.results):
        yield [claim.statement, claim.verdict, claim.ours, claim.theirs]


def _cells(summary: Summary | None) -> list[str]:
    if summary is None:
        return ["", "", ""]
    significant = "" if summary.significant is None else str(summary.significant)
    return [significant, f"{summary.mean:.2f}", f"{summary.sd:.2f}"]


def _with_stars(result: Result | None) -> str:
    if result is None:
        return ABSENT
    return effect(abs(result.effect_size)) + stars(result.p_value)


def _table(title: str, rows: Rows, left: int, right: int | None = None) -> Table:
    """The first row as headings; numbers, from column `left` up to `right`, end at one line."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    headings = next(rows)
    numbers = range(left, len(headings) if right is None else right)
    for number, heading in enumerate(headings):
        table.add_column(heading, justify="right" if number in numbers else "left")
    for row in rows:
        table.add_row(*row)
    return table
