"""study.html: one self-contained file with a study's verdicts, tables and figures; it opens from disk."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from weatherglass import __version__
from weatherglass.reliability.agreement.icc import FEWEST
from weatherglass.reliability.regression.explain import Explanation
from weatherglass.reliability.regression.tables import filled_table
from weatherglass.reliability.regression.words import plain_sentences
from weatherglass.reliability.study_file import Study
from weatherglass.report.shell import template_environment
from weatherglass.report.study.plots import LABELS, Drawing, label
from weatherglass.report.study.tables import (
    claim_matrices,
    coverage_matrix,
    grouped,
    pearson_matrix,
    seed_groups,
    sets_of_pairs,
    spanned,
)
from weatherglass.storage.atomic import write_whole

Figures = Sequence[tuple[Drawing, Path]]


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """A figure inside the page."""

    drawing: Drawing
    place: str
    """Its HTML id, without spaces."""
    data: str
    """The PNG in base 64."""
    width: int
    height: int


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
    }
    shown = figures_by_pairs(figures, sets_of_pairs(tables))
    html = environment.get_template("study.html").render(
        version=__version__,
        study=study,
        fewest=FEWEST,
        facts=[
            (", ".join(LABELS.get(part, part) for part in name.split(", ")), text) for name, text in facts
        ],
        claims=claim_matrices(tables),
        coverage=coverage_matrix(tables),
        pearson=pearson_matrix(tables),
        missing=grouped(missing_entries(tables), lambda row: str(row["corpus"])),
        seeds=seed_groups(tables),
        explanations=[
            (pairs, explanation, *filled_table(explanation)) for pairs, explanation in explanations.items()
        ],
        figures=shown,
        kinds=list(dict.fromkeys(figure.drawing.kind for group in shown.values() for figure in group)),
    )
    write_whole(path, html)


def missing_entries(tables: Mapping[str, pl.DataFrame]) -> list[dict[str, Any]]:
    """For each corpus and list, the entries that do not occur; the algorithms of one corpus share a vocabulary."""
    table = tables.get("missing", pl.DataFrame())
    if table.is_empty():
        return []
    keys = ["corpus", "kind", "name"]
    return (
        table.unique([*keys, "entry"], maintain_order=True)
        .group_by(keys, maintain_order=True)
        .agg(pl.col("entry"))
        .to_dicts()
    )


def number(value: float | None, digits: int = 2) -> str:
    """The number with a minus sign; a dash if there is none."""
    return "–" if value is None or value != value else f"{value:.{digits}f}".replace("-", "−")


def figures_by_pairs(figures: Figures, order: Sequence[str]) -> dict[str, list[ShownFigure]]:
    """Set of base pairs -> its figures, sorted by kind; those of all algorithms last."""
    kinds = list(dict.fromkeys(drawing.kind for drawing, _ in figures))
    ordered = sorted(
        (_shown(drawing, file) for drawing, file in figures),
        key=lambda figure: (not figure.drawing.subject.algorithm, kinds.index(figure.drawing.kind)),
    )
    return grouped(ordered, lambda figure: figure.drawing.subject.pairs, order)


def _shown(drawing: Drawing, file: Path) -> ShownFigure:
    content = file.read_bytes()
    # The first chunk of a PNG begins with its size.
    width, height = (int.from_bytes(content[start : start + 4], "big") for start in (16, 20))
    return ShownFigure(
        drawing, "-".join(drawing.name.split()), base64.b64encode(content).decode("ascii"), width, height
    )
