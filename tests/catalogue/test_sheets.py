"""Excel files of other programs (tests/catalogue/sheets/write.py): all have the same sets, and the rest is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.messages import naming
from tests.sheets import workbook

from weatherglass.catalogue import load_test
from weatherglass.catalogue.words import read_words
from weatherglass.errors import CatalogueError
from weatherglass.storage.tables import MOST_ROWS

SHEETS = Path(__file__).parent / "sheets"
SETS = {
    "Köche": ("Köchin", "Küche", "Brühe"),
    "Ärzte": ("Ärztin", "Praxis", "Diät"),
    "Frauen": ("sie", "Frau", "Mädchen"),
    "Männer": ("er", "Mann"),
}
TESTS = [
    *("openpyxl-wide", "openpyxl-long", "openpyxl-empty-columns"),
    *("xlsxwriter-wide", "xlsxwriter-long", "xlsxwriter-rich", "xlsxwriter-constant-memory"),
]
FACTS = {"nurse": 0.874, "engineer": 0.159, "lawyer": 0.385, "plumber": 0.023}
REFUSED: dict[str, list[object]] = {
    "refused-formula-without-value": ["B5", "formula"],
    "refused-merged": ["A1:B1", "merged"],
    "refused-error": ["A2", "#N/A"],
    "refused-two-sheets": ["'Listen'", "'andere'", "--sheet"],
    "refused-no-cells": ["empty"],
}


@pytest.mark.parametrize("name", TESTS)
def test_every_program_and_layout_gives_the_same_sets(name: str) -> None:
    test = load_test(SHEETS / f"{name}.xlsx")
    assert {one.category: one.words for one in test.sets} == SETS
    assert test.roles == ("X", "Y", "A", "B")


@pytest.mark.parametrize(("name", "notes"), [("xlsxwriter-facts", 0), ("xlsxwriter-formula", 1)])
def test_facts_are_the_stored_numbers(name: str, notes: int) -> None:
    read = read_words(SHEETS / f"{name}.xlsx", "Anteil")
    assert read.words == FACTS
    assert len(read.notes) == notes  # the stored result of a formula is used, and said to be


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_sheet_leaves_open_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(CatalogueError, match=naming(f"{name}.xlsx", *REFUSED[name])) as caught:
        load_test(SHEETS / f"{name}.xlsx")
    assert "\n" not in str(caught.value)


def test_a_million_rows_are_refused(tmp_path: Path) -> None:
    rows = "<row><c><v>1</v></c></row>" * 1_000_000
    path = tmp_path / "large.xlsx"
    path.write_bytes(workbook({"A": f"<sheetData>{rows}</sheetData>"}))
    with pytest.raises(CatalogueError, match=naming("large.xlsx", MOST_ROWS)):
        load_test(path)


def test_every_file_of_the_folder_is_read() -> None:
    names = {path.stem for path in SHEETS.glob("*.xlsx")}
    assert names == {*TESTS, *REFUSED, "xlsxwriter-facts", "xlsxwriter-formula"}
