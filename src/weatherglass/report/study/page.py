"""study.html: one self-contained file with a study's verdicts, tables and figures; it opens from disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import polars as pl

from weatherglass import __version__
from weatherglass.reliability.agreement.claims import CONSISTENCY, RETEST
from weatherglass.reliability.agreement.icc import FEWEST
from weatherglass.reliability.regression.explain import Explanation
from weatherglass.reliability.regression.tables import filled_table
from weatherglass.reliability.regression.words import plain_sentences
from weatherglass.reliability.study_file import Study
from weatherglass.report.page.blocks import compress, in_json
from weatherglass.report.shell import script_hash, shared_asset, template_environment
from weatherglass.report.study.plots import LABELS, Drawing, label
from weatherglass.report.study.tables import (
    claim_matrices,
    coverage_matrix,
    grouped,
    missing_entries,
    pearson_matrix,
    seed_groups,
    sets_of_pairs,
    spanned,
)
from weatherglass.report.study.themed import themed
from weatherglass.report.study.words import STABLE, answer, summarise, words_for_script
from weatherglass.report.test_names import shortened
from weatherglass.storage.atomic import write_whole

GOOD = (RETEST, CONSISTENCY)
"""Claims that are good news where they hold; that the rules disagree is not."""
Figures = Sequence[tuple[Drawing, Path]]


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """A figure inside the page."""

    drawing: Drawing
    place: str
    """Its HTML id, without spaces."""
    svg: str
    """The drawing as an element, in the colours of the page."""


def write_page(
    path: Path,
    study: Study,
    tables: Mapping[str, pl.DataFrame],
    figures: Figures,
    facts: Sequence[tuple[str, str]],
    explanations: Mapping[str, Explanation],
) -> None:
    """Write the page; every text in it is escaped."""
    environment = template_environment(__package__, "templates")
    environment.filters |= {
        "number": number,
        "label": label,
        "plain_sentences": plain_sentences,
        "spanned": spanned,
        "shortened": shortened,
    }
    shown = figures_by_pairs(figures, sets_of_pairs(tables))
    summary = summarise(study, tables)
    script = f'\n(async () => {{\n"use strict";\n{shared_asset("theme.js")}\n{_asset("study.js")}\n}})();\n'
    html = environment.get_template("study.html").render(
        version=__version__,
        study=study,
        fewest=FEWEST,
        summary=summary,
        answer=answer(summary),
        stable=STABLE,
        good_claims=GOOD,
        words=compress(in_json(words_for_script(study, tables))),
        script=script,
        script_hash=script_hash(script),
        facts=[
            (", ".join(LABELS.get(part, part) for part in name.split(", ")), text) for name, text in facts
        ],
        claims=claim_matrices(tables),
        coverage=coverage_matrix(tables),
        pearson=pearson_matrix(tables),
        missing=grouped(missing_entries(tables), lambda absent: absent.corpus),
        seeds=seed_groups(tables),
        explanations=[
            (pairs, explanation, *filled_table(explanation)) for pairs, explanation in explanations.items()
        ],
        figures=shown,
        kinds=list(dict.fromkeys(figure.drawing.kind for group in shown.values() for figure in group)),
    )
    write_whole(path, html)


def _asset(name: str) -> str:
    return files(__package__).joinpath("templates", name).read_text(encoding="utf-8")


def number(value: float | None, digits: int = 2) -> str:
    """The number with a minus sign; a dash if there is none."""
    return "–" if value is None or value != value else f"{value:.{digits}f}".replace("-", "−")


def figures_by_pairs(figures: Figures, order: Sequence[str]) -> dict[str, list[ShownFigure]]:
    """Set of base pairs -> its figures, sorted by kind; those of all algorithms last."""
    kinds = list(dict.fromkeys(drawing.kind for drawing, _ in figures))
    ordered = sorted(
        (_shown(drawing, file, number) for number, (drawing, file) in enumerate(figures)),
        key=lambda figure: (not figure.drawing.subject.algorithm, kinds.index(figure.drawing.kind)),
    )
    return grouped(ordered, lambda figure: figure.drawing.subject.pairs, order)


def _shown(drawing: Drawing, file: Path, number: int) -> ShownFigure:
    svg = file.with_suffix(".svg").read_text(encoding="utf-8")
    spoken = f"{drawing.title}. {drawing.spoken}."
    return ShownFigure(drawing, "-".join(drawing.name.split()), themed(svg, number, spoken))
