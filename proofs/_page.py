"""Write the measured sections of docs/models-proof.md, each between two comments, and the tables beside them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "models-proof.md"
TABLES = DOCS / "proofs"
"""One file per table of all 46 tests, which is too long for a page."""


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_table(name: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table as docs/proofs/NAME.tsv and return a sentence that names the file."""
    TABLES.mkdir(exist_ok=True)
    lines = ("\t".join(line) for line in (header, *rows))
    (TABLES / f"{name}.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return f"`docs/proofs/{name}.tsv` has all {len(rows)} tests."


def write_section(name: str, text: str) -> None:
    """Replace the text between `<!-- NAME: begin … -->` and `<!-- NAME: end -->`."""
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}: begin, written by python -m {name} -->", f"<!-- {name}: end -->"
    if begin not in page or end not in page:
        raise SystemExit(f"{PAGE}: no section between '{begin}' and '{end}'")
    before, _, rest = page.partition(begin)
    after = rest.partition(end)[2]
    PAGE.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}", encoding="utf-8")
