"""Write study.html, one self-contained file with the verdicts, tables and figures of a study, from its tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from weatherglass.reliability.agreement.claims import (
    CONSISTENCY,
    ENSEMBLE,
    RETEST,
    UNKNOWN,
    ClaimRow,
    ClaimVerdict,
    claim_rows,
    concepts,
    judged_by,
    verdicts,
)
from weatherglass.reliability.agreement.icc import FEWEST
from weatherglass.reliability.agreement.seeds import seed_sentences
from weatherglass.reliability.regression.explain import Explanation
from weatherglass.reliability.regression.tables import filled_table, plain_sentences
from weatherglass.reliability.scoring import RULES
from weatherglass.reliability.study_file import Study
from weatherglass.reliability.tables import (
    CorpusPair,
    Correlation,
    Missing,
    PairCoverage,
    SeedBatch,
    SeedNumber,
    SetComparison,
    read_rows,
)
from weatherglass.report.kit import compress, in_json, render
from weatherglass.report.study.plots import LABELS, Drawing, label
from weatherglass.report.study.words import STABLE, answer, summarise, words_for_script
from weatherglass.storage.atomic import write_whole

Tables = Mapping[str, pl.DataFrame]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class ClaimMatrix:
    """A claim with its verdict, its criterion, and its conditions by set of base pairs."""

    verdict: ClaimVerdict
    by: Sequence[str]
    groups: Mapping[str, Sequence[ClaimRow]]
    incomplete: bool
    """Whether a value could not be estimated."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows by set of base pairs, each with its names and a cell for every column."""

    columns: Sequence[Any]
    groups: Mapping[str, Sequence[tuple[Sequence[str], Sequence[Any]]]]


@dataclass(frozen=True, slots=True)
class SeedGroup:
    """The sentences on the seeds for one set of base pairs."""

    pairs: str
    lowest: float
    highest: float
    """The median test–retest reliability with all seeds, over the conditions."""
    sentences: Sequence[tuple[str, str]]
    """The name of each condition, and the sentence on its number of seeds."""


@dataclass(frozen=True, slots=True)
class MissingEntries:
    """The entries of a list that do not occur in a corpus."""

    corpus: str
    kind: str
    name: str
    entries: Sequence[str]


def grouped(
    items: Iterable[Item], key: Callable[[Item], str], order: Sequence[str] = ()
) -> dict[str, list[Item]]:
    """Group the items by key, with keys in the given order, then in order of first appearance."""
    groups: dict[str, list[Item]] = {name: [] for name in order}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return {name: members for name, members in groups.items() if members}


def sets_of_pairs(tables: Tables) -> list[str]:
    """Return the names of the sets of base pairs, in the study's order."""
    return list(tables["pairs"]["pairs"].unique(maintain_order=True))


def claim_matrices(tables: Tables) -> list[ClaimMatrix]:
    """Return the matrix of each claim, in the order of the verdicts."""
    order = sets_of_pairs(tables)
    unknown = set(tables["claims"].filter(pl.col("verdict") == UNKNOWN)["claim"])
    return [
        ClaimMatrix(
            verdict,
            [label(by) for by in judged_by(tables["claims"], verdict.claim)],
            grouped(claim_rows(tables["claims"], verdict.claim), lambda row: row.pairs, order),
            verdict.claim in unknown,
        )
        for verdict in verdicts(tables)
    ]


def coverage_matrix(tables: Tables) -> Matrix:
    """Return a table of base pairs found per corpus: one row per set, one column per corpus; the first cell is the set
    size.
    """
    rows = read_rows(tables["pairs"], PairCoverage)
    corpora = list(dict.fromkeys(row.corpus for row in rows))
    groups = {}
    for pairs, members in grouped(rows, lambda row: row.pairs).items():
        cells = [_present([row for row in members if row.corpus == corpus]) for corpus in corpora]
        groups[pairs] = [([str(members[0].of)], cells)]
    return Matrix(corpora, groups)


def _present(rows: Sequence[PairCoverage]) -> str:
    """Return one number, or a range if the vocabularies of the algorithms differ."""
    if len({row.present for row in rows}) == 1:
        return str(rows[0].present)
    return ", ".join(f"{label(row.algorithm)} {row.present}" for row in rows) or "–"


def pearson_matrix(tables: Tables) -> Matrix:
    """Return Pearson's r, with a row per set, algorithm and pair of rules, and a column per corpus."""
    rows = read_rows(tables["pearson"], Correlation) if "pearson" in tables else []
    corpora = list(dict.fromkeys(row.corpus for row in rows))
    groups: dict[str, list[tuple[Sequence[str], Sequence[Correlation | None]]]] = {}
    for pairs, set_rows in grouped(rows, lambda row: row.pairs, sets_of_pairs(tables)).items():
        keys = dict.fromkeys((row.algorithm, row.rules) for row in set_rows)
        for algorithm, rules in keys:
            cells = {row.corpus: row for row in set_rows if (row.algorithm, row.rules) == (algorithm, rules)}
            names = [label(algorithm), " and ".join(map(label, _two_rules(rules)))]
            groups.setdefault(pairs, []).append((names, [cells.get(corpus) for corpus in corpora]))
    words = grouped(rows, lambda row: row.corpus)
    return Matrix([(corpus, _words(corpus_rows)) for corpus, corpus_rows in words.items()], groups)


def set_comparisons(tables: Tables) -> dict[tuple[str, str], list[SetComparison]]:
    """Return the measures of two sets of base pairs side by side; empty if a study has only one set."""
    rows = read_rows(tables["pair_sets"], SetComparison) if "pair_sets" in tables else []
    found: dict[tuple[str, str], list[SetComparison]] = {}
    for row in rows:
        found.setdefault((row.first, row.second), []).append(row)
    return found


@dataclass(frozen=True, slots=True)
class CorpusRow:
    """A comparison of two corpora, with the words whose reliability differs most."""

    pair: CorpusPair
    better_first: Sequence[str]
    better_second: Sequence[str]


def corpus_rows(tables: Tables, most: int = 6) -> dict[str, list[CorpusRow]]:
    """Return the comparisons of corpora by set of base pairs, with the words that are more reliable in each corpus."""
    rows = read_rows(tables["corpus_pairs"], CorpusPair) if "corpus_pairs" in tables else []
    if not rows:
        return {}
    words = tables["corpus_words"]
    found = []
    for row in rows:
        column = "retest" if row.measure == "test–retest" else "rater"
        own = words.filter(
            *(pl.col(key) == getattr(row, key) for key in ("first", "second", "algorithm", "pairs"))
        )
        apart = own.select("word", apart=pl.col(f"second_{column}") - pl.col(f"first_{column}"))
        ordered = apart.filter(pl.col("apart").is_finite()).sort("apart", maintain_order=True)
        first = ordered.filter(pl.col("apart") < 0)["word"].to_list()[:most]
        second = ordered.filter(pl.col("apart") > 0)["word"].to_list()[::-1][:most]
        found.append(CorpusRow(row, first, second))
    return grouped(found, lambda one: one.pair.pairs, sets_of_pairs(tables))


def _two_rules(names: str) -> Sequence[str]:
    """Return the two rules of "dbwa-ripa"; the name of a rule may have a hyphen, too."""
    parts = names.split("-")
    cuts = [("-".join(parts[:place]), "-".join(parts[place:])) for place in range(1, len(parts))]
    return next((cut for cut in cuts if all(name in RULES for name in cut)), (names,))


def _words(rows: Sequence[Correlation]) -> str:
    """Return one number, or a range if the vocabularies of the algorithms differ."""
    numbers = sorted({row.words for row in rows})
    return f"{' to '.join(f'{number:,}' for number in (numbers[0], numbers[-1])[: len(numbers)])} words"


def seed_groups(tables: Tables) -> list[SeedGroup]:
    """Return the sentences on the seeds by set of base pairs."""
    numbers = read_rows(tables["seed_numbers"], SeedNumber)
    sentences = seed_sentences(read_rows(tables["seed_batches"], SeedBatch), numbers)
    measured = [row for row in numbers if not row.extrapolated]
    groups = []
    for pairs, set_rows in grouped(measured, lambda row: row.pairs, sets_of_pairs(tables)).items():
        # The last row has all seeds.
        all_seeds = {(row.corpus, row.algorithm, row.rule): row.icc for row in set_rows}
        lines = [
            (f"{corpus}, {label(algorithm)}, {label(rule)}", sentence)
            for (corpus, algorithm, name, rule), sentence in sentences.items()
            if name == pairs
        ]
        groups.append(SeedGroup(pairs, min(all_seeds.values()), max(all_seeds.values()), lines))
    return groups


def missing_entries(tables: Tables) -> list[MissingEntries]:
    """Return the entries of each list that do not occur in a corpus; the algorithms of a corpus share a vocabulary."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for row in read_rows(tables["missing"], Missing) if "missing" in tables else ():
        found.setdefault((row.corpus, row.kind, row.name), {})[row.entry] = None
    return [MissingEntries(*key, tuple(entries)) for key, entries in found.items()]


def spanned(heading: Sequence[str]) -> list[tuple[str, list[str]]]:
    """Return each upper heading of columns named "over: under", with the lower headings below it."""
    parts = [cell.partition(": ") for cell in heading]
    return [
        (over, [under for _, _, under in members])
        for over, members in groupby(parts, key=lambda part: part[0])
        if over
    ]


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
    """Write the page, in which all text is escaped."""
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
