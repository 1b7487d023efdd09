"""The reproduction of May et al. (2019) for a terminal: Table 4 beside ours, coherence, what is missing."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rich.table import Table

from weatherglass.report.terminal import format_effect, format_p
from weatherglass.reproduce.may2019.claims import check_claims, claim_rows
from weatherglass.reproduce.may2019.procedure import (
    ALPHA,
    FAMILY,
    MODELS,
    Comparison,
    Reproduction,
    published,
)
from weatherglass.runs.results import Run

SHOWN = 30
"""Missing words that are listed on the screen."""


def tables(reproduction: Reproduction) -> Iterator[Table]:
    """One table per model, then the coherence checks; without models, Table 4 as it was printed."""
    models = list(dict.fromkeys(cell.model for cell in reproduction.comparisons))
    if not models:
        yield _as_published()
        return
    for model in models:
        yield _model_table(model, [cell for cell in reproduction.comparisons if cell.model == model])
    yield _coherence_table(reproduction)
    yield _claims_table(reproduction, models)


def _as_published() -> Table:
    table = _table("Table 4 of May et al. (2019): effect sizes")
    table.add_column("test", no_wrap=True)
    for model in MODELS:
        table.add_column(model, no_wrap=True)
    for test in published().tests:
        cells = (published().effect_sizes[test, model] for model in MODELS)
        table.add_row(test, *(f"{format_effect(d)}{mark}" for d, mark in cells))
    return table


def _model_table(model: str, cells: list[Comparison]) -> Table:
    with_released = any(cell.released for cell in cells)
    table = _table(f"{model}: Table 4 and ours")
    for heading in ("test", "published", "ours", "difference", "p"):
        table.add_column(heading, no_wrap=True)
    if with_released:
        table.add_column("released code's settings", no_wrap=True)
    for cell in cells:
        theirs = f"{format_effect(cell.published)}{cell.published_mark}"
        ours = cell.ours
        own = (
            ("failed", "", "")
            if ours is None
            else (
                f"{format_effect(ours.effect_size)}{ours.significance}",
                _signed(cell.difference),
                format_p(ours.p_value),
            )
        )
        released = cell.released
        other = f"{format_effect(released.effect_size)}{released.significance}" if released else ""
        table.add_row(cell.test, theirs, *own, *([other] if with_released else []))
    return table


def _coherence_table(reproduction: Reproduction) -> Table:
    table = _table("coherence: p-values that should stand together")
    for heading in ("model", "expected", "tests", "p", "published p", ""):
        table.add_column(heading, no_wrap=True)
    for check in reproduction.coherence:
        verdict = {True: "holds", False: "does not hold", None: "not known"}[check.holds]
        printed = ", ".join(format_p(p) if p is not None else "–" for p in check.published)
        table.add_row(
            check.model,
            check.expected,
            ", ".join(check.tests),
            ", ".join(format_p(p) if p is not None else "–" for p in check.p_values),
            printed if any(p is not None for p in check.published) else "",
            verdict,
        )
    return table


def _claims_table(reproduction: Reproduction, models: list[str]) -> Table:
    table = _table("statements of the paper, on each model")
    for heading in ("model", "statement", "verdict", "ours", "Table 4"):
        table.add_column(heading)
    for row in claim_rows(check_claims(models, reproduction.results)):
        table.add_row(*row)
    return table


def lines(reproduction: Reproduction) -> Iterator[str]:
    """A summary in words: agreement, failures, out-of-vocabulary words, and models that were not given."""
    yield f"* p ≤ {ALPHA:g}   ** also after Holm–Bonferroni correction in a family of {FAMILY}"
    for model in dict.fromkeys(cell.model for cell in reproduction.comparisons):
        yield _agreement(model, [cell for cell in reproduction.comparisons if cell.model == model])
    for model in reproduction.run.record.get("models", []):
        yield from (f"note: {note}" for note in model["notes"])
    if reproduction.comparisons:
        yield "The published numbers are those of the paper's weights; ours are those of the weights given here."
    yield from _shortfalls(reproduction.run, "")
    if reproduction.released is not None:
        yield from _shortfalls(reproduction.released, "released code's settings: ")
    for name in reproduction.not_given:
        yield f"not given: {name} (--model {name}={MODELS[name]}; see docs/encoders/{name}.md)"


def _agreement(model: str, cells: list[Comparison]) -> str:
    done = [cell for cell in cells if cell.ours is not None and not math.isnan(cell.ours.effect_size)]
    if not done:
        return f"{model}: none of the {len(cells)} tests of Table 4 could be run"
    differences = [abs(cell.difference) for cell in done if cell.difference is not None]
    signs = sum(cell.ours is not None and cell.ours.effect_size * cell.published > 0 for cell in done)
    marks = sum(cell.ours is not None and cell.ours.significance == cell.published_mark for cell in done)
    return (
        f"{model}: of {len(done)} tests of Table 4, {signs} have the published sign and {marks} the published mark; "
        f"d differs by {sum(differences) / len(differences):.2f} on average and by {max(differences):.2f} at most"
    )


def _shortfalls(finished: Run, which: str) -> Iterator[str]:
    for failure in finished.failures:
        yield f"{which}failed: {failure.test} on {failure.model}: {failure.reason}"
    for model, tests in finished.record.get("missing_words", {}).items():
        words = list(dict.fromkeys(word for ledger in tests.values() for word in ledger["missing"]))
        dropped = sum(len(texts) for ledger in tests.values() for texts in ledger["dropped"].values())
        if words or dropped:
            more = " … (all of them, test by test, in run.json)" if len(words) > SHOWN else ""
            yield (
                f"{which}{model}: {dropped} elements dropped, {len(words)} words unknown: "
                f"{' '.join(words[:SHOWN])}{more}"
            )


def _signed(difference: float | None) -> str:
    if difference is None or math.isnan(difference):
        return "–"
    return f"{difference:+.2f}".replace("-", "−")


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", box=None, pad_edge=False)
