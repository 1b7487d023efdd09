"""The measured sections of docs/models.md: each stands between two comments and is replaced as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "models.md"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def write_section(name: str, text: str) -> None:
    """Replace what stands between `<!-- NAME: begin … -->` and `<!-- NAME: end -->`."""
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- {name}: begin, written by python -m {name} -->", f"<!-- {name}: end -->"
    if begin not in page or end not in page:
        raise SystemExit(f"{PAGE}: no section between '{begin}' and '{end}'")
    before, _, rest = page.partition(begin)
    after = rest.partition(end)[2]
    PAGE.write_text(f"{before}{begin}\n\n{text.strip()}\n\n{end}{after}", encoding="utf-8")
