"""Write the Excel files of this folder with openpyxl and XlsxWriter, which the other tests do not need.

pip install openpyxl==3.1.5 xlsxwriter==3.3.1 && python tests/catalogue/sheets/write.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl  # type: ignore[import-not-found,import-untyped,unused-ignore]
import xlsxwriter  # type: ignore[import-not-found,import-untyped,unused-ignore]
from openpyxl.comments import Comment  # type: ignore[import-not-found,import-untyped,unused-ignore]
from openpyxl.styles import Font  # type: ignore[import-not-found,import-untyped,unused-ignore]

FOLDER = Path(__file__).parent
Rows = Sequence[Sequence[str | float | None]]
Change = Callable[[Any, Any], object]
WIDE: Rows = [
    ["X: Köche", "Y: Ärzte", "A: Frauen", "B: Männer"],
    ["Köchin", "Ärztin", "sie", "er"],
    ["Küche", "Praxis", "Frau", "Mann"],
    ["Brühe", "Diät", "Mädchen", None],
]
LONG: Rows = [
    ["role", "set", "word"],
    *(
        [*str(name).split(": "), row[place]]
        for place, name in enumerate(WIDE[0])
        for row in WIDE[1:]
        if row[place]
    ),
]
JOBS: Rows = [
    ["Beruf", "Anteil"],
    ["nurse", 0.874],
    ["engineer", 0.159],
    ["lawyer", 0.385],
    ["plumber", 0.023],
]
WITH_GAPS: Rows = [[None] * 6, *([a, None, b, None, c, d] for a, b, c, d in WIDE), [None] * 6]


def by_openpyxl(name: str, rows: Rows, change: Change = lambda *_: None) -> None:
    """Write rows with openpyxl."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Listen"
    for row in rows:
        sheet.append(row)
    change(book, sheet)
    book.save(FOLDER / name)


def by_xlsxwriter(name: str, rows: Rows, change: Change = lambda *_: None, **options: bool) -> None:
    """Write rows with XlsxWriter."""
    book = xlsxwriter.Workbook(str(FOLDER / name), options)
    sheet = book.add_worksheet("Listen")
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            if cell is not None:
                sheet.write(row, column, cell)
    change(book, sheet)
    book.close()


def decorated(_: Any, sheet: Any) -> None:
    """Add what people add: bold names, a frozen row, a filter, a wide column and a comment."""
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = "A1:D4"
    sheet.column_dimensions["A"].width = 30
    sheet["A2"].comment = Comment("a comment", "me")


def as_table(_: Any, sheet: Any) -> None:
    """Make a table of Excel of the rows."""
    sheet.add_table(0, 0, len(LONG) - 1, 2, {"columns": [{"header": name} for name in LONG[0]]})


def in_percent(book: Any, sheet: Any) -> None:
    """Show shares in percent; the stored numbers stay as they are."""
    style = book.add_format({"num_format": "0.0%"})
    for row, (_, share) in enumerate(JOBS[1:], 1):
        sheet.write(row, 1, share, style)


if __name__ == "__main__":
    by_openpyxl("openpyxl-wide.xlsx", WIDE, decorated)
    by_openpyxl("openpyxl-long.xlsx", LONG)
    by_openpyxl("openpyxl-empty-columns.xlsx", WITH_GAPS)
    by_xlsxwriter("xlsxwriter-wide.xlsx", WIDE, lambda book, _: book.add_worksheet("leer"))
    by_xlsxwriter("xlsxwriter-long.xlsx", LONG, as_table)
    by_xlsxwriter(
        "xlsxwriter-rich.xlsx",
        WIDE,
        lambda book, sheet: sheet.write_rich_string(1, 0, book.add_format({"bold": True}), "Kö", "chin"),
    )
    by_xlsxwriter("xlsxwriter-constant-memory.xlsx", WIDE, constant_memory=True)
    by_xlsxwriter("xlsxwriter-facts.xlsx", JOBS, in_percent)
    by_xlsxwriter(
        "xlsxwriter-formula.xlsx", JOBS, lambda _, sheet: sheet.write_formula(4, 1, "=1-0.977", None, 0.023)
    )
    by_openpyxl(
        "refused-formula-without-value.xlsx", JOBS, lambda _, sheet: sheet.__setitem__("B5", "=1-0.977")
    )
    by_openpyxl("refused-merged.xlsx", WIDE, lambda _, sheet: sheet.merge_cells("A1:B1"))
    by_xlsxwriter(
        "refused-error.xlsx", WIDE, lambda _, sheet: sheet.write_formula(1, 0, "=NA()", None, "#N/A")
    )
    by_openpyxl(
        "refused-two-sheets.xlsx", WIDE, lambda book, _: book.create_sheet("andere").append(["X: a", "Y: b"])
    )
    by_openpyxl("refused-no-cells.xlsx", [])
