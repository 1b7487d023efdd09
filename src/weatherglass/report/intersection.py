"""Show the words of an intersectional group in the terminal and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from weatherglass.audit.results import cell
from weatherglass.catalogue.names import model_name, set_name
from weatherglass.errors import output_error
from weatherglass.report.layout import Column, shortened, table_lines, wrapped
from weatherglass.report.numbers import format_effect, format_p
from weatherglass.storage.atomic import write_whole
from weatherglass.storage.printable import tsv_line
from weatherglass.warnings import counted

if TYPE_CHECKING:
    from weatherglass.audit.intersection import Intersection, IntersectionalWord
    from weatherglass.stats.auc import Auc

COLUMNS = (
    *("word", "effect_size", "against", "p_value", "p_adjusted"),
    *("attribute", "constituent"),
)


def lines_of(found: Intersection, alpha: float, width: int) -> Iterator[str]:
    """Yield one row per word, and what is detected."""
    group, others = set_name(found.group), ", ".join(map(set_name, found.others))
    yield shortened(f"{model_name(found.model)}   {group}, compared with {others}", width)
    columns = [
        Column("   word", shorten="middle", least=10),
        Column("d", right=True),
        Column("p", right=True),
        Column("corrected", right=True),
        Column("smallest d against", shorten="end"),
        Column("known as"),
    ]
    yield from table_lines(columns, [_row(word, alpha) for word in found.words], width)
    detected, emergent = found.detected(alpha), found.emergent(alpha)
    yield from wrapped(
        f"** nearer to {group} than to each other group after Holm's correction over "
        f"{counted(len(found.words), 'word')}: {len(detected)}; without attributes of constituent groups: "
        f"{len(emergent)}",
        width,
    )
    for name, area in (("", found.auc), (" without attributes of constituent groups", found.auc_emergent)):
        if area:
            yield from wrapped(_area(area, name), width)
    if found.least_p * len(found.words) > alpha:
        yield from wrapped(
            f"no single word can be detected: groups of these sizes allow no p below {format_p(found.least_p)}, which "
            f"Holm's correction multiplies by {len(found.words)}; use more names per group",
            width,
        )
    if found.unknown:
        yield f"Unknown to the model: {', '.join(found.unknown)}"


def _row(word: IntersectionalWord, alpha: float) -> list[str]:
    mark = ("**" if word.p_adjusted <= alpha else "*") if word.p_value <= alpha else ""
    known = ["attribute"] * word.attribute + ["constituent"] * word.constituent
    return [
        f"{mark:2} {word.word}",
        format_effect(word.effect_size),
        format_p(word.p_value, alpha),
        format_p(word.p_adjusted, alpha),
        set_name(word.against),
        ", ".join(known),
    ]


def _area(area: Auc, name: str) -> str:
    return (
        f"AUC of d for known attributes{name}: {area.value:.2f}, 95 % {area.low:.2f} … {area.high:.2f} "
        f"({area.positives} attributes, {area.negatives} other words); 0.5 is chance, and the interval is over words, "
        "with these names"
    )


def write_table(found: Intersection, path: Path) -> None:
    """Write the words as a TSV file, atomically."""
    rows = [COLUMNS, *([cell(getattr(word, name)) for name in COLUMNS] for word in found.words)]
    try:
        write_whole(path, "".join(map(tsv_line, rows)))
    except OSError as error:
        raise output_error(path, error) from error
