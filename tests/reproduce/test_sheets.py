"""The tables of a reproduction: on a narrow terminal, as files, and on a page that runs nothing from them."""

from __future__ import annotations

import re
from pathlib import Path

from weatherglass.reproduce.sheets import (
    PAGE,
    PaperClaim,
    PaperTable,
    claim_lines,
    page,
    sheet_lines,
    write_sheets,
)

SHEET = PaperTable(
    "table", "a table", [["test", "first", "second"], ["weat1", "1.50**", "0.1"], ["<b>", "2", "=1+1"]]
)


def test_rows_can_be_matched_where_columns_do_not_fit() -> None:
    lines = list(sheet_lines(SHEET, 16))
    assert max(map(len, lines)) <= 16
    assert sum(line.startswith("weat1") for line in lines) == 2  # once for each column


def test_texts_of_a_page_are_escaped() -> None:
    html = page("<i>", [SHEET], [], ["<script>alert(1)</script>"])
    for text in ("<b>", "<i>", "<script>alert"):
        assert text not in html
    assert "&lt;b&gt;" in html
    assert html.count("<tr>") == 3


def test_a_long_table_is_cut_on_terminal_and_page_but_not_in_its_file(tmp_path: Path) -> None:
    rows = [["n", "square"], *([str(n), str(n * n)] for n in range(1, 40))]
    sheet = PaperTable("my table/1", "Squares: of numbers", rows, at_most=5)
    assert sum(line[:1].isdigit() for line in sheet_lines(sheet, 80)) == 5
    table, html = write_sheets(tmp_path, "title", [sheet], [], [])
    assert table.parent == tmp_path
    assert len(table.read_text(encoding="utf-8").splitlines()) == 40
    text = html.read_text(encoding="utf-8")
    assert text.count('<th scope="row"') == 5
    ids = set(re.findall(r'id="([^"]*)"', text))
    assert not any(" " in name or "/" in name for name in ids)
    assert set(re.findall(r'href="#([^"]*)"', text)) <= ids


def test_every_table_is_a_file_beside_the_page(tmp_path: Path) -> None:
    claim = PaperClaim("s", True, "1", "2", None)
    sheets = [SHEET, PaperTable.of_claims("claims", [claim])]
    written = write_sheets(tmp_path / "new", "title", sheets, [], [])
    assert [path.name for path in written] == ["table.tsv", "claims.tsv", PAGE]
    rows = [line.split("\t") for line in written[1].read_text(encoding="utf-8").splitlines()]
    assert rows == [
        ["statement", "verdict", "ours", "published_verdict", "published"],
        ["s", claim.verdict, "1", claim.published_verdict, "2"],
    ]
    assert claim.verdict != claim.published_verdict
    assert len(list(claim_lines([claim]))) == 3
