"""Write Excel files for tests, with the parts that a reader needs, and any others that a hostile file may have."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

Cell = str | float | None


def workbook(sheets: Mapping[str, Sequence[Sequence[Cell]] | str], **parts: str | bytes) -> bytes:
    """Return an .xlsx file.

    Args:
        sheets: rows of cells by the name of the sheet, or the XML inside of the sheet's root.
        parts: other parts, or replacements of these, by name; `__` stands for a slash and `_dot_` for a dot.
    """
    texts: dict[str, int] = {}
    written: dict[str, str | bytes] = {}
    entries, relations = [], []
    for number, (name, rows) in enumerate(sheets.items(), 1):
        inner = rows if isinstance(rows, str) else f"<sheetData>{_rows(rows, texts)}</sheetData>"
        written[f"xl/worksheets/sheet{number}.xml"] = f'{HEAD}<worksheet xmlns="{MAIN}">{inner}</worksheet>'
        entries.append(f'<sheet name={quoteattr(name)} sheetId="{number}" r:id="rId{number}"/>')
        relations.append(_relation(f"rId{number}", "worksheet", f"worksheets/sheet{number}.xml"))
    relations.append(_relation("rIdT", "sharedStrings", "sharedStrings.xml"))
    shared = "".join(f'<si><t xml:space="preserve">{escape(text)}</t></si>' for text in texts)
    written["xl/sharedStrings.xml"] = f'{HEAD}<sst xmlns="{MAIN}">{shared}</sst>'
    written["xl/workbook.xml"] = (
        f'{HEAD}<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{"".join(entries)}</sheets></workbook>'
    )
    written["xl/_rels/workbook.xml.rels"] = (
        f'{HEAD}<Relationships xmlns="{PACKAGE}">{"".join(relations)}</Relationships>'
    )
    written |= {name.replace("__", "/").replace("_dot_", "."): content for name, content in parts.items()}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in written.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def _relation(identity: str, kind: str, target: str) -> str:
    return f'<Relationship Id="{identity}" Type="{OFFICE}/{kind}" Target="{target}"/>'


def _rows(rows: Sequence[Sequence[Cell]], texts: dict[str, int]) -> str:
    return "".join(
        f'<row r="{number}">{"".join(_cell(number, place, cell, texts) for place, cell in enumerate(cells))}</row>'
        for number, cells in enumerate(rows, 1)
    )


def _cell(row: int, place: int, cell: Cell, texts: dict[str, int]) -> str:
    if cell is None or cell == "":
        return ""
    where = f'r="{chr(65 + place)}{row}"'
    if isinstance(cell, str):
        return f'<c {where} t="s"><v>{texts.setdefault(cell, len(texts))}</v></c>'
    return f"<c {where}><v>{cell!r}</v></c>"
