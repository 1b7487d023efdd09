"""Write study.html, one self-contained file with the verdicts, tables and figures of a study."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import polars as pl

from weatherglass.reliability.agreement.claims import CONSISTENCY, ENSEMBLE, RETEST, concepts
from weatherglass.reliability.agreement.icc import FEWEST
from weatherglass.reliability.regression.explain import Explanation
from weatherglass.reliability.regression.tables import filled_table, plain_sentences
from weatherglass.reliability.study_file import Study
from weatherglass.report.kit import compress, in_json, render
from weatherglass.report.study.plots import LABELS, Drawing, label
from weatherglass.report.study.tables import (
    claim_matrices,
    corpus_rows,
    coverage_matrix,
    grouped,
    missing_entries,
    pearson_matrix,
    seed_groups,
    set_comparisons,
    sets_of_pairs,
    spanned,
)
from weatherglass.report.study.words import STABLE, answer, summarise, words_for_script
from weatherglass.storage.atomic import write_whole

GOOD = (RETEST, CONSISTENCY, ENSEMBLE)
"""Claims that are reassuring if they hold, unlike the claim that the rules disagree."""
STATIC_ROWS = 40
"""The number of rows of the table of words without a script, and initially in study.js."""
COLOURS = {
    "#000000": "var(--ink)",
    "#ffffff": "var(--paper)",
    "#444444": "var(--soft)",
    "#666666": "var(--soft)",
    "#888888": "var(--faint)",
    "#dddddd": "var(--line)",
    "#f3f3f3": "var(--hover)",
    "#1b5e8c": "var(--pos)",
    "#0072b2": "var(--pos)",
    "#c4570a": "var(--neg)",
    "#d55e00": "var(--neg)",
    "#3d7a3d": "var(--good)",
    "#009e73": "var(--good)",
}
"""The page's colours by colour of the drawing; the other colours are legible on light and dark backgrounds."""
Figures = Sequence[tuple[Drawing, Path]]


@dataclass(frozen=True, slots=True)
class ShownFigure:
    """A figure inside the page."""

    drawing: Drawing
    place: str
    """The HTML id of the figure, without spaces."""
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
    """Write the page, in which every text is escaped."""
    shown = figures_by_pairs(figures, sets_of_pairs(tables))
    summary = summarise(study, tables)
    words = words_for_script(study, tables)
    values = {
        "study": study,
        "fewest": FEWEST,
        "summary": summary,
        "answer": answer(summary),
        "stable": STABLE,
        "good_claims": GOOD,
        "words": compress(in_json(words)),
        "first_words": _first_words(words),
        "facts": [
            (", ".join(LABELS.get(part, part) for part in name.split(", ")), text) for name, text in facts
        ],
        "claims": claim_matrices(tables),
        "ensemble": ENSEMBLE,
        "concepts": concepts(tables["claims"]),
        "set_comparisons": set_comparisons(tables),
        "corpus_rows": corpus_rows(tables),
        "coverage": coverage_matrix(tables),
        "pearson": pearson_matrix(tables),
        "missing": grouped(missing_entries(tables), lambda absent: absent.corpus),
        "seeds": seed_groups(tables),
        "explanations": [
            (pairs, explanation, *filled_table(explanation)) for pairs, explanation in explanations.items()
        ],
        "figures": shown,
        "kinds": list(dict.fromkeys(figure.drawing.kind for group in shown.values() for figure in group)),
    }
    filters: dict[str, Callable[..., Any]] = {
        "number": number,
        "label": label,
        "plain_sentences": plain_sentences,
        "spanned": spanned,
    }
    page = render(
        __package__, "study.html", values, styles=["study.css"], scripts=["study.js"], filters=filters
    )
    write_whole(path, page)


def _first_words(words: Mapping[str, Any]) -> list[Sequence[Any]]:
    """Return the first rows of the table of words, for a browser without scripts."""
    first = words["conditions"][0]["rows"] if words["conditions"] else []
    return sorted(first, key=lambda row: (row[2], 2.0 if row[7] is None else row[7]))[:STATIC_ROWS]


def number(value: float | None, digits: int = 2) -> str:
    """Return the number with a minus sign, or a dash if it is missing."""
    if value is None or value != value:
        return "–"
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")  # −0 is 0


def figures_by_pairs(figures: Figures, order: Sequence[str]) -> dict[str, list[ShownFigure]]:
    """Return the figures by set of base pairs, sorted by kind; figures of all algorithms come last."""
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


def themed(svg: str, number: int, spoken: str) -> str:
    """Return the drawing as an element of a page.

    Args:
        svg: a file that matplotlib wrote, with text as text.
        number: the number of the figure in the page, so that the ids of two figures differ.
        spoken: a description for screen readers.
    """
    drawing = svg[svg.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>", "", drawing, flags=re.DOTALL)
    head, rest = drawing.split(">", 1)
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', head)
    width = float(box[1]) if box else 600.0
    rest = re.sub(r'\bid="', f'id="f{number}-', rest)
    rest = re.sub(r"url\(#", f"url(#f{number}-", rest)
    rest = re.sub(r'xlink:href="#', f'href="#f{number}-', rest)
    for colour, name in COLOURS.items():
        rest = rest.replace(colour, name)
    return (
        f'<svg class="drawn" role="img" aria-label="{escape(spoken)}" {box[0] if box else ""} '
        f'style="width:{width / 16 * 1.3:.4g}rem">{rest}'
    )
