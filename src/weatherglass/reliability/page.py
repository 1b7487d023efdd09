"""The page of a study: one HTML file with its verdicts, figures and tables; it opens from the disk, without network."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined

from weatherglass.files import write_whole
from weatherglass.reliability.claims import verdicts
from weatherglass.reliability.explain import Explanation
from weatherglass.reliability.explain_tables import filled_table
from weatherglass.reliability.explain_words import in_plain_words as explained_in_plain_words
from weatherglass.reliability.plots import Drawing
from weatherglass.reliability.seeds import in_plain_words
from weatherglass.reliability.study_file import Study


def write_page(
    path: Path,
    study: Study,
    tables: Mapping[str, pl.DataFrame],
    figures: Sequence[tuple[Drawing, Path]],
    facts: Sequence[tuple[str, str]],
    explanations: Mapping[str, Explanation],
) -> None:
    """Write the page; every text in it is escaped."""
    environment = Environment(
        loader=PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["number"] = lambda value: "–" if value is None or value != value else f"{value:.2f}"
    environment.filters["in_plain_words"] = explained_in_plain_words
    html = environment.get_template("study.html").render(
        study=study,
        facts=facts,
        verdicts=verdicts(tables),
        claims=_rows(tables, "claims"),
        coverage=_rows(tables, "pairs"),
        pearson=_rows(tables, "pearson"),
        missing=missing_entries(tables),
        seed_lines=in_plain_words(_rows(tables, "seed_batches"), _rows(tables, "seed_numbers")),
        explanations=[(pairs, found, *filled_table(found)) for pairs, found in explanations.items()],
        figures=[
            {"title": drawing.title, "caption": drawing.caption, "name": drawing.name, "data": _base64(file)}
            for drawing, file in figures
        ],
    )
    write_whole(path, html)


def missing_entries(tables: Mapping[str, pl.DataFrame]) -> list[dict[str, Any]]:
    """For each corpus and list, what does not occur; the algorithms of one corpus share a vocabulary."""
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


def _rows(tables: Mapping[str, pl.DataFrame], name: str) -> list[dict[str, Any]]:
    return tables[name].to_dicts() if name in tables else []


def _base64(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode("ascii")
