"""Report the reproduction of May et al. (2019) on the terminal and on a page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

from weatherglass.audit.run import Run
from weatherglass.registry import did_you_mean
from weatherglass.report.numbers import format_effect, format_interval, format_p
from weatherglass.reproduce.may2019 import (
    ALPHA,
    FAMILY,
    MODELS,
    CellComparison,
    Coherence,
    MayReproduction,
    column_of,
    published,
    variant_of,
)
from weatherglass.reproduce.may2019.claims import check_claims
from weatherglass.reproduce.may2019.designs import ABW, INTERACTION, DesignContrast
from weatherglass.reproduce.sheets import VERDICTS, PaperClaim, PaperTable, Picture, claim_lines, write_sheets

SHOWN = 30
"""The number of missing words that are listed on the terminal."""
TITLE = "May et al. (2019), On Measuring Social Biases in Sentence Encoders"
FIGURE = "figure1.png"
MARKS_OF_FIGURE = (
    f"coloured if it is significant. Light, *: p ≤ {ALPHA:g}; dark, **: also after Holm–Bonferroni correction over all "
    "rows of the run. Blue: in the direction of the test's name; p is one-sided, so the opposite is never significant."
)


def sheets(reproduction: MayReproduction) -> Iterator[PaperTable]:
    """Yield Table 4 for each published model, then the further models and the contrasts; without models, yield the
    published Table 4.
    """
    if not reproduction.models:
        yield _as_published()
    else:
        cells = reproduction.comparisons
        for model in dict.fromkeys(cell.model for cell in cells):
            yield _model_sheet(model, [cell for cell in cells if cell.model == model])
        yield from (_further_sheet(reproduction, m) for m in reproduction.models if column_of(m) is None)
        yield _designs_sheet(reproduction)


def not_given(reproduction: MayReproduction) -> dict[str, str]:
    """Return the specs of the paper's models that the user did not give."""
    return {name: MODELS[name].spec for name in reproduction.not_given}


def _as_published() -> PaperTable:
    table = published()
    rows = [
        [test, *(_marked(*table.effect_sizes[test, model]) for model in table.columns)]
        for test in table.tests
    ]
    return PaperTable(
        "table4-published", "Table 4 of May et al. (2019): effect sizes", [["test", *table.columns], *rows]
    )


def _marked(d: float, mark: str) -> str:
    return f"{format_effect(d)}{mark}"


def _model_sheet(model: str, cells: list[CellComparison]) -> PaperTable:
    with_released = any(cell.released for cell in cells)
    headings = [
        "test",
        "paper",
        "ours",
        "of 644",
        "diff.",
        "p",
        *(["released code"] if with_released else []),
    ]
    rows = []
    for cell in cells:
        ours, released = cell.ours, cell.released
        own = ["failed", "", "", ""]
        if ours is not None:
            mark = cell.mark_of_644 or "–"
            own = [
                _marked(ours.effect_size, ours.mark),
                mark,
                _signed(cell.difference),
                format_p(ours.p_value),
            ]
        other = [_marked(released.effect_size, released.mark) if released else ""] if with_released else []
        rows.append([cell.test, _marked(cell.published, cell.published_mark), *own, *other])
    intro = (
        "Our significance marks are corrected for the rows of this run; the column 'of 644' shows the marks after "
        "correction for all 644 rows of the paper. The published numbers are for the weights that the paper used."
    )
    return PaperTable(
        f"table4-{model}", f"Table 4, {model}: published and ours", [headings, *rows], intro=intro
    )


def _further_sheet(reproduction: MayReproduction, model: str) -> PaperTable:
    rows = []
    for test in published().tests:
        result = reproduction.results.get((test, model))
        cells = ["failed", "", ""]
        if result is not None:
            mark = reproduction.marks_of_644[test, model] or "–"
            cells = [_marked(result.effect_size, result.mark), mark, format_p(result.p_value)]
        rows.append([test, *cells])
    known = "a variant that Table 4 does not show" if variant_of(model) else "not a model of the paper"
    return PaperTable(
        f"table4-{model}", f"Tests of Table 4, {model}: {known}", [["test", "ours", "of 644", "p"], *rows]
    )


def _designs_sheet(reproduction: MayReproduction) -> PaperTable:
    headings = ["contrast", "C", "95 % CI", "p", "first d", "second d"]
    rows = [[design_name(design), *_design_cells(design)] for design in reproduction.designs]
    intro = (
        "C is d with given names minus d with group terms, tested with the t-test of docs/methods 12. "
        "Interaction: the difference between white and black women minus that between white and black men, "
        "in standard deviations of all names; above 0, the stereotype is more than race plus gender. There "
        "is no p if all group terms of a set share a word."
    )
    return PaperTable(
        "contrasts", "Contrasts: names and group terms; race and gender", [headings, *rows], intro=intro
    )


def design_name(design: DesignContrast) -> str:
    """Return the model and the tests of a contrast, short enough for a terminal."""
    first, second = (name.replace(ABW, "ABW") for name in (design.first, design.second))
    what = f"{first}, women − men" if design.kind == INTERACTION else f"{first} − {second}"
    return f"{design.model}: {what}"


def _design_cells(design: DesignContrast) -> list[str]:
    found = design.result
    if found is None:
        return ["–"] * 5
    interval = format_interval(found.interval.low, found.interval.high)
    tested = [interval, format_p(found.p)] if design.tested else ["–", "–"]
    return [format_effect(found.value), *tested, *map(format_effect, found.effects)]


def claims(reproduction: MayReproduction) -> list[PaperClaim]:
    """Judge the paper's statements on all given models and on Table 4."""
    return check_claims(list(reproduction.models), reproduction.results)


def write_reproduction(reproduction: MayReproduction, folder: Path) -> None:
    """Write Figure 1, the tables as TSV, and the page with all of them."""
    from weatherglass.report.figures import matrix, save_figure
    from weatherglass.report.panels import FONT
    from weatherglass.report.view import lay_out

    pictures = []
    if reproduction.run.results:
        from matplotlib import rc_context

        with rc_context({"font.size": FONT}):
            figure = matrix(lay_out([reproduction.run]), 0, published=MARKS_OF_FIGURE)
            save_figure(figure, folder / FIGURE, "png")
        pictures.append(Picture(folder / FIGURE, "Figure 1: significance of all tests on all models"))
    coherence = [["check", "p", "published p", "verdict"], *map(_coherence_cells, reproduction.coherence)]
    listed = [
        PaperTable.of_claims("Statements of the paper", claims(reproduction)),
        *sheets(reproduction),
        PaperTable("coherence", "Coherence: p-values that should agree or rise", coherence, (0, 1, 2, 3)),
        *PaperTable.of_models_not_given(not_given(reproduction)),
    ]
    write_sheets(folder, TITLE, listed, pictures, _notes(reproduction))


def lines(reproduction: MayReproduction) -> Iterator[str]:
    """Yield the statements, the coherence checks, and a summary of agreement, failures and missing words."""
    yield "statements of the paper, over all models"
    yield from claim_lines(claims(reproduction))
    if reproduction.coherence:
        yield ""
        yield "p-values that should agree (weat7, weat8) or rise (weat3, 4, 5)"
        for cells in map(_coherence_cells, reproduction.coherence):
            theirs = f", published {cells[2]}" if cells[2] else ""
            yield f"  {cells[0]}: {cells[1]}{theirs}: {cells[3]}"
    yield ""
    yield from _notes(reproduction)


def _notes(reproduction: MayReproduction) -> Iterator[str]:
    rows = len(reproduction.run.results)
    if rows:
        yield (
            f"* p ≤ {ALPHA:g}   ** also after Holm–Bonferroni correction over the {rows} rows of this run; 'of 644' is "
            f"the mark after correction for all {FAMILY} rows of the paper, "
            "assuming that the missing rows have larger p"
        )
    else:
        yield f"* p ≤ {ALPHA:g}   ** also after Holm–Bonferroni correction over {FAMILY} rows"
    cells = reproduction.comparisons
    for model in dict.fromkeys(cell.model for cell in cells):
        yield _agreement(model, [cell for cell in cells if cell.model == model])
    for model in reproduction.models:
        yield from _other_weights(reproduction, model)
    for record in reproduction.run.record.get("models", []):
        yield from (f"note: {record['model']}: {note}" for note in record["notes"])
    yield from _shortfalls(reproduction.run, "")
    if reproduction.released is not None:
        yield from _shortfalls(reproduction.released, "released code's settings: ")


def _other_weights(reproduction: MayReproduction, model: str) -> Iterator[str]:
    """Yield the known differences from the paper's model."""
    variant = variant_of(model)
    if variant is None:
        yield f"{model}: not a model of the paper, so it has no published numbers{did_you_mean(model, MODELS)}"
        return
    width, theirs = reproduction.widths.get(model), MODELS[variant].width
    if width is not None and width != theirs:
        yield (
            f"{model}: {width} dimensions, but the paper's vectors have {theirs}: these are different vectors, to "
            "which the published numbers do not apply"
        )


def _coherence_cells(check: Coherence) -> list[str]:
    printed = ", ".join(format_p(p) if p is not None else "–" for p in check.published)
    ours = ", ".join(format_p(p) if p is not None else "–" for p in check.p_values)
    known = printed if any(p is not None for p in check.published) else ""
    what = f"{check.model}: {', '.join(check.tests)}, {check.expected}"
    return [what, ours, known, VERDICTS[check.holds]]


def _agreement(model: str, cells: list[CellComparison]) -> str:
    done = [cell for cell in cells if cell.ours is not None and not math.isnan(cell.ours.effect_size)]
    if not done:
        return f"{model}: none of the {len(cells)} tests of Table 4 could be run"
    differences = [abs(cell.difference) for cell in done if cell.difference is not None]
    signs = sum(cell.ours is not None and cell.ours.effect_size * cell.published > 0 for cell in done)
    marks = sum(cell.mark_of_644 == cell.published_mark for cell in done)
    return (
        f"{model}: of {len(done)} tests of Table 4, {signs} have the published sign and {marks} the published mark (of "
        f"644); d differs by {sum(differences) / len(differences):.2f} on average and by {max(differences):.2f} at most"
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
                f"{which}{model}: {dropped} elements dropped and {len(words)} words unknown: "
                f"{' '.join(words[:SHOWN])}{more}"
            )


def _signed(difference: float | None) -> str:
    if difference is None or math.isnan(difference):
        return "–"
    return f"{difference:+.2f}".replace("-", "−")
