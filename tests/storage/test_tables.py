"""Tables from text files and Excel files: what is read, and what is refused."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from tests.messages import naming
from tests.sheets import MAIN, Cell, workbook

from weatherglass.errors import CatalogueError, SpecError
from weatherglass.storage import tables, xlsx
from weatherglass.storage.tables import Row, Table, numbers, read_rows, read_table

ROWS = [["Köche", "Ärzte", "Frauen"], ["Köchin", "Ärztin", "sie"], ["Koch", "Arzt", "Frau"]]
ENCODINGS = {
    "utf-8": "UTF-8",
    "utf-8-sig": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-be": "UTF-16",
    "cp1252": "Windows-1252",
}


def delimited(rows: Sequence[Sequence[Cell]], delimiter: str) -> str:
    """The rows as text, with line ends of Windows."""
    return "".join(delimiter.join("" if cell is None else str(cell) for cell in row) + "\r\n" for row in rows)


def read(folder: Path, name: str, content: str | bytes, **more: str) -> Table:
    """The table of a file with this content."""
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return read_table(path, CatalogueError, **more)  # type: ignore[arg-type]


def cells(table: Table) -> list[list[str]]:
    return [list(row.cells) for row in table.rows]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    ("suffix", "delimiter"), [("csv", ","), ("csv", ";"), ("csv", "\t"), ("tsv", "\t"), ("txt", "|")]
)
def test_any_encoding_and_delimiter_give_the_same_cells(
    tmp_path: Path, encoding: str, suffix: str, delimiter: str
) -> None:
    table = read(tmp_path, f"a.{suffix}", delimited(ROWS, delimiter).encode(encoding))
    assert cells(table) == ROWS
    assert table.form.endswith(ENCODINGS[encoding])
    assert table.delimiter == delimiter
    assert bool(table.notes) == (encoding == "cp1252")  # a warning names a word to look at
    assert not table.notes or "Köche" in table.notes[0]


def test_excel_gives_the_same_cells(tmp_path: Path) -> None:
    table = read(tmp_path, "a.xlsx", workbook({"Listen": ROWS, "leer": []}))
    assert cells(table) == ROWS
    assert [row.number for row in table.rows] == [1, 2, 3]
    assert "'Listen'" in table.form


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.csv", "word\nnurse\n", [["word"], ["nurse"]]),
        ("a.csv", "sep=;\nword;share\nnurse;3,5\n", [["word", "share"], ["nurse", "3,5"]]),
        ("a.csv", "nurse;3,5\nclerk;4,5\n", [["nurse", "3,5"], ["clerk", "4,5"]]),  # not nurse;3 and 5
        ("a.csv", 'word,note\n"a, b","say ""x"""\n', [["word", "note"], ["a, b", 'say "x"']]),
        ("a.csv", 'word,note\n"two\nlines",\n', [["word", "note"], ["two\nlines", ""]]),
        ("a.csv", "a,b,,\nc,,,\n", [["a", "b"], ["c", ""]]),  # empty columns
        ("a.csv", ",a,,b\n,c,,d\n", [["a", "b"], ["c", "d"]]),
        ("a.csv", "a,b\n\n , \nc\n", [["a", "b"], ["c", ""]]),
        ("a.txt", "# a comment\nnurse\n\n New York \r", [["nurse"], ["New York"]]),
        ("a.txt", "He is, I think, here.\nShe, too.\n", [["He is, I think, here."], ["She, too."]]),
        ("a.txt", "nurse,90\nclerk,80\n", [["nurse", "90"], ["clerk", "80"]]),
        ("a.txt", "nurse\t90\nclerk\n", [["nurse", "90"], ["clerk", ""]]),
        ("a.tsv", "word\n'=1+1\n", [["word"], ["=1+1"]]),  # as our own tables write it
        ("a.jsonl", '{"word": "nurse", "n": 1}\n{"word": "clerk"}\n', [["word", "n"], ["nurse", "1"], ["clerk", ""]]),
        ("a.toml", '[[row]]\nword = "nurse"\n[[row]]\nword = "clerk"\n', [["word"], ["nurse"], ["clerk"]]),
    ],
)  # fmt: skip
def test_text_files(tmp_path: Path, name: str, content: str, expected: list[list[str]]) -> None:
    assert cells(read(tmp_path, name, content)) == expected


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("a.csv", "a;b,c\nd;e,f\n", ["commas", "semicolons", ".tsv"]),
        ("a.csv", "word\nnurse,90\n", ["line 2", "2 cells", "double quotes"]),
        ("a.csv", "a,b\nc,d,e\n", ["line 2", "3 cells"]),
        ("a.csv", 'a,b\n"c,d\n', ["a.csv, line", "malformed CSV"]),
        ("a.csv", "", ["a.csv"]),
        ("a.csv", ",,\n", ["a.csv"]),
        ("a.csv", "a\x00b,c", ["zero bytes"]),
        ("a.csv", "a,b\x1b[2J", ["line 1", "control character"]),
        ("a.csv", b"\xff\xfea", ["UTF-16"]),
        ("a.csv", b"\x81\x8d", ["UTF-8", "Windows-1252"]),
        ("a.csv", f"a\n{'x' * 100_001}\n", ["line 2", 100_000]),
        ("a.csv", ",".join(map(str, range(300))), [256, "columns"]),
        ("a.jsonl", '{"word": "a"}\n{"word": a}\n', ["line 2, column 10", "malformed JSON"]),
        ("a.jsonl", '{"word": ["a"]}\n', ["line 1", "'word'"]),
        ("a.jsonl", "[1]\n", ["line 1"]),
        ("a.toml", "a = 1\n", ["[[row]]"]),
        ("a.xls", "", [".xlsx"]),
        ("a.ods", "", [".xlsx"]),
        ("a.xlsx", b"\xd0\xcf\x11\xe0", ["password"]),
        ("a.xlsx", "word,share\n", [".xlsx"]),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(
    tmp_path: Path, name: str, content: str | bytes, named: list[object]
) -> None:
    with pytest.raises(CatalogueError, match=naming(name, *named)) as caught:
        read(tmp_path, name, content)
    assert "\n" not in str(caught.value)


def test_limits_of_a_text_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CatalogueError, match=naming(3, "rows")):
        read_table(_file(tmp_path, "a.txt", "a\nb\nc\nd\n"), CatalogueError, most_rows=3)
    monkeypatch.setattr(tables, "MOST_BYTES", 4)
    with pytest.raises(CatalogueError, match=naming("101 bytes", "100 bytes")):
        read_table(_file(tmp_path, "b.txt", "x" * 101), CatalogueError, most_rows=1)
    assert read_table(_file(tmp_path, "b.txt", "x" * 101), CatalogueError, most_rows=2).width == 1


def _file(folder: Path, name: str, content: str) -> Path:
    path = folder / name
    path.write_text(content)
    return path


def sheet(inner: str, after: str = "", **parts: str | bytes) -> bytes:
    return workbook({"A": f"<sheetData>{inner}</sheetData>{after}"}, **parts)


def test_the_kinds_of_cells(tmp_path: Path) -> None:
    row = (
        '<row r="2" hidden="1"><c r="b2"><f>1+1</f><v>2</v></c><c r="D2" t="inlineStr"><is><r><t>in</t></r>'
        '<rPh><t>x</t></rPh><r><t>line</t></r></is></c><c t="b"><v>1</v></c><c t="str"><f>A1</f>'
        '<v> x </v></c><c r="G2"/></row>'
    )
    columns = '<cols><col min="1" max="3" hidden="1"/><col max="9" hidden="1"/></cols>'
    table = read(tmp_path, "a.xlsx", workbook({"A": f"{columns}<sheetData>{row}</sheetData>"}))
    assert table.rows == (Row(2, ("2", "inline", "TRUE", "x")),)  # the empty columns are gone
    assert [note.split()[0] for note in table.notes] == ["2", "2"]  # formulas; a hidden row and column


def test_texts_of_cells(tmp_path: Path) -> None:
    texts = (
        f'<sst xmlns="{MAIN}"><si><t xml:space="preserve"> nur</t><r><t>se</t></r>'
        "<rPh><t>phonetic</t></rPh></si><si><t>a_x0041_</t></si></sst>"
    )
    rows = '<row><c t="s"><v>0</v></c></row><row><c t="s"><v>1</v></c></row>'
    table = read(tmp_path, "a.xlsx", sheet(rows, xl__sharedStrings_dot_xml=texts))
    assert cells(table) == [["nurse"], ["aA"]]


def test_a_sheet_is_chosen_by_its_name(tmp_path: Path) -> None:
    both = workbook({"one": [["a"]], "two": [["b"]]})
    with pytest.raises(CatalogueError, match=naming("'one'", "'two'", "--sheet")):
        read(tmp_path, "a.xlsx", both)
    assert cells(read(tmp_path, "a.xlsx", both, sheet="two")) == [["b"]]
    with pytest.raises(CatalogueError, match=naming("'tow'", suggesting="two")):
        read(tmp_path, "a.xlsx", both, sheet="tow")


ENTITIES = '<!DOCTYPE a [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><sst>&b;</sst>'
MERGED = '<mergeCells><mergeCell ref="A1:B2"/></mergeCells>'
ONE = "<row><c><v>1</v></c></row>"
RELATIONS = "xl/_rels/workbook.xml.rels"
HOSTILE: dict[str, tuple[Callable[[], bytes], list[object]]] = {
    "merged": (lambda: sheet(ONE, MERGED), ["A1:B2"]),
    "formula without value": (lambda: sheet('<row r="3"><c r="B3"><f>1+1</f></c></row>'), ["B3", "formula"]),
    "error": (lambda: sheet('<row r="3"><c r="B3" t="e"><v>#N/A</v></c></row>'), ["B3", "#N/A"]),
    "missing text": (lambda: sheet('<row r="3"><c r="B3" t="s"><v>99</v></c></row>'), ["B3"]),
    "text by a negative number": (lambda: sheet('<row><c t="s"><v>-1</v></c></row>'), ["A1"]),
    "entities": (lambda: sheet("", xl__sharedStrings_dot_xml=ENTITIES), ["document type"]),
    "not XML": (lambda: sheet("<row>"), ["xl/worksheets/sheet1.xml"]),
    "no sheets": (lambda: workbook({}), ["sheet"]),
    "no workbook": (lambda: zipped({"a.txt": b"a"}), [RELATIONS]),
    "bomb": (lambda: sheet(" " * 2**21), ["1 MB"]),
    "elements": (lambda: sheet("<row>" + "<c/>" * 2000 + "</row>"), [1000]),
    "rows": (lambda: sheet(ONE * 400), [300, "rows"]),
    "columns": (lambda: sheet(f"<row>{'<c><v>1</v></c>' * 300}</row>"), [256, "columns"]),
    "a far column": (lambda: sheet('<row><c r="ZZZ1"><v>1</v></c></row>'), ["ZZZ1"]),
    "a long text": (lambda: workbook({"A": [["x" * 100_001]]}), ["A1", 100_000]),
    "other packing": (lambda: zipped({RELATIONS: b"<a/>"}, zipfile.ZIP_LZMA), [RELATIONS]),
    "control characters": (lambda: workbook({"A": [["a_x001B_[2J"]]}), ["row 1", "control character"]),
    "half a character": (lambda: workbook({"A": [["a_xD83D_"]]}), ["row 1", "control character"]),
}  # fmt: skip


def zipped(parts: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", packing) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_spreadsheets_are_refused_in_one_line(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xlsx, "MOST_UNPACKED", 2**20)
    monkeypatch.setattr(xlsx, "MOST_ELEMENTS", 1000)
    make, named = HOSTILE[kind]
    path = tmp_path / "a.xlsx"
    path.write_bytes(make())
    with pytest.raises(CatalogueError, match=naming("a.xlsx", *named)) as caught:
        read_table(path, CatalogueError, most_rows=300)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "expected", "comma"),
    [
        (["3.5", "", "4"], [3.5, None, 4], False),
        (["3,5", "4"], [3.5, 4], True),
        (["1.234,5", "-2,5"], [1234.5, -2.5], True),
        (["1,234.5", "1e3"], [1234.5, 1000], False),
        (["0,123", "0,456"], [0.123, 0.456], True),
        (["1.234", "2.345"], [1.234, 2.345], False),
        (["90 %", "3,5%"], [90, 3.5], True),
        (["−1", "+2"], [-1, 2], False),
    ],
)
def test_numbers_with_points_and_commas(
    tmp_path: Path, given: list[str], expected: list[float | None], comma: bool
) -> None:
    table = read(tmp_path, "a.tsv", delimited([["w", cell] for cell in given], "\t"))
    assert numbers(table, 1, table.rows) == (expected, comma)


def test_a_comma_in_a_file_with_semicolons_is_a_decimal_comma(tmp_path: Path) -> None:
    table = read(tmp_path, "a.csv", "a;1,234\nb;2,345\n")
    assert numbers(table, 1, table.rows) == ([1.234, 2.345], True)


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("a.tsv", "a\t1,234\nb\t2,345\n", ["'1,234'", "1.234", 1234]),
        ("a.csv", "a;1.234\nb;2.345\n", ["'1.234'", "1.234", 1234]),
        ("a.tsv", "a\t1,234\nb\t1.234\n", ["'1,234'"]),
        ("a.tsv", "a\t3,5\nb\tmany\n", ["line 2", "'many'"]),
        ("a.tsv", "a\t3.5\nb\t1e999\n", ["line 2", "'1e999'"]),
        ("a.tsv", "a\t3.5\nb\t+\n", ["line 2", "'+'"]),
        ("a.tsv", "a\t90%\nb\t0.9\n", ["line 1", "'90%'"]),
        ("a.tsv", "a\tnan\nb\t1\n", ["line 1", "'nan'"]),
    ],
)
def test_what_is_not_one_number_is_refused(
    tmp_path: Path, name: str, content: str, named: list[object]
) -> None:
    table = read(tmp_path, name, content)
    with pytest.raises(CatalogueError, match=naming(name, *named)):
        numbers(table, 1, table.rows)


def test_rows_by_the_names_of_columns(tmp_path: Path) -> None:
    path = _file(tmp_path, "g.csv", "Group,NAME,note\nwhite,Emily,x\nblack,Lakisha,\n")
    rows = read_rows(path, ("name", ("kind", "group")), ("title",))
    assert [dict(row.values) for row in rows] == [
        {"name": "Emily", "kind": "white", "title": ""},
        {"name": "Lakisha", "kind": "black", "title": ""},
    ]
    assert rows.unused == ("note",)
    assert [row.place for row in rows] == [f"{path}, line {number}" for number in (2, 3)]
    assert (len(rows), rows.rows[0]["name"]) == (2, "Emily")


def test_numbers_of_rows(tmp_path: Path) -> None:
    path = _file(tmp_path, "s.csv", "name;score\nEmily;0,5\nLakisha;\n")
    rows = read_rows(path, ("name",), ("score", "weight"))
    assert (rows.numbers("score"), rows.numbers("weight")) == ([0.5, None], [None, None])
    with pytest.raises(CatalogueError, match=naming("line 2", "'Emily'")):
        rows.numbers("name")


def test_a_single_column_needs_no_header(tmp_path: Path) -> None:
    without = read_rows(_file(tmp_path, "q.txt", "I need a nurse.\nWho?\n"), ("text",), ("id",))
    headed = read_rows(_file(tmp_path, "r.txt", "Text\nI need a nurse.\nWho?\n"), ("text",), ("id",))
    assert [row["text"] for row in without] == [row["text"] for row in headed] == ["I need a nurse.", "Who?"]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("Emily,white\nLakisha,black\n", ["line 1", "'name'", "name, group"]),
        ("name,group\nEmily,\n", ["line 2", "'group'"]),
        ("names,group\nEmily,white\n", ["'name'", "names"]),
        ("name,group,Name\nEmily,white,x\n", ["two columns", "'name'"]),
        ("name,group\n", ["g.csv"]),
    ],
)
def test_rows_that_lack_a_name_or_a_cell_are_refused(
    tmp_path: Path, content: str, named: list[object]
) -> None:
    with pytest.raises(SpecError, match=naming("g.csv", *named)):
        read_rows(_file(tmp_path, "g.csv", content), ("name", "group"), error=SpecError)
