"""Read the cells of one sheet of an Excel file (.xlsx), which is a ZIP archive of XML.

Only values are read, never formulas, macros, links or styles. The parser is expat. It refuses a document type, which
entity expansion would need. The numbers of unpacked bytes, rows, columns and cells are limited.
"""

from __future__ import annotations

import posixpath
import re
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from weatherglass.errors import WeatherglassError
from weatherglass.registry import did_you_mean
from weatherglass.storage.reading import shown_size

MOST_UNPACKED = 32 * 2**20
"""The maximum number of bytes of XML that are read, over all parts of the file."""
MOST_ELEMENTS = 1_000_000
MOST_PARTS = 10_000
PIECE = 2**20
"""Bytes per call of the parser; old versions of expat scan a long attribute again with each call."""
LAST_COLUMN = 16_384
"""The maximum number of columns in Excel."""
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_REFERENCE = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")

Refuse = Callable[[str], WeatherglassError]
"""A function that makes the error for a problem, with the file's name before it."""
Start = Callable[[str, Mapping[str, str]], None]
End = Callable[[str], None]
Text = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Sheet:
    """The cells of a sheet that are not empty."""

    name: str
    cells: dict[int, dict[int, str]]
    """Text by row and column, both counted from 1."""
    formulas: int
    """The number of cells whose stored value is the result of a formula."""
    hidden: int
    """The number of hidden rows and columns with cells."""


def read_sheet(path: Path, refuse: Refuse, sheet: str, most_rows: int, longest: int) -> Sheet:
    """Return the sheet with a name; without a name, return the only visible sheet that has cells.

    Args:
        path: the file.
        refuse: a function that makes the error for a problem.
        sheet: the name of the sheet; empty for the only one.
        most_rows: the maximum number of rows with cells.
        longest: the maximum number of characters of a cell.

    Raises:
        WeatherglassError: if it is not an Excel file, exceeds a limit, or has merged cells or errors.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            return _chosen(_Parts(archive, refuse), refuse, sheet, most_rows, longest)
    except (zipfile.BadZipFile, NotImplementedError) as error:
        raise refuse(f"not an .xlsx file of Excel ({error}); save it again as .xlsx or CSV") from None


def _chosen(parts: _Parts, refuse: Refuse, sheet: str, most_rows: int, longest: int) -> Sheet:
    relations = _relations(parts)
    places = _sheet_places(parts, relations)
    visible = [name for name, (_, hidden) in places.items() if not hidden]
    if sheet and sheet not in places:
        raise refuse(f"has no sheet '{sheet}'{did_you_mean(sheet, places)} (sheets: {', '.join(places)})")
    texts = _shared_texts(parts, relations, longest)
    read = [
        _Cells(name, texts, refuse, most_rows, longest).read(parts, places[name][0])
        for name in ([sheet] if sheet else visible)
    ]
    filled = [each for each in read if each.cells] or read[:1]
    if not filled:
        raise refuse("has no visible sheet")
    if len(filled) > 1:
        names = ", ".join(f"'{each.name}'" for each in filled)
        raise refuse(
            f"{len(filled)} sheets have cells ({names}); name one with --sheet, or save one as a CSV file"
        )
    return filled[0]


class _Parts:
    """The XML parts of the archive, which are read with a limit on the unpacked size."""

    def __init__(self, archive: zipfile.ZipFile, refuse: Refuse) -> None:
        self.archive, self.refuse = archive, refuse
        self.left, self.elements = MOST_UNPACKED, 0
        self.names = set(archive.namelist())
        if len(self.names) > MOST_PARTS:
            raise refuse(f"an archive of {len(self.names)} files, more than any Excel file has")

    def parse(self, name: str, start: Start, end: End, text: Text) -> None:
        """Call the functions for the elements and texts of a part; element names have no namespace."""
        if name not in self.names:
            raise self.refuse(f"its part '{name}' is missing; save it again as .xlsx or CSV")
        if self.archive.getinfo(name).compress_type not in PACKED:
            raise self.refuse(f"its part '{name}' is compressed with a method that Excel does not use")

        def counted(tag: str, given: Mapping[str, str]) -> None:
            self.elements += 1
            if self.elements > MOST_ELEMENTS:
                raise self.refuse(
                    f"has more than {MOST_ELEMENTS} cells and other elements; keep only the list"
                )
            start(_local(tag), {_local(key): value for key, value in given.items()} if given else given)

        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._refuse_document_type
        parser.StartElementHandler = counted
        parser.EndElementHandler = lambda tag: end(_local(tag))
        parser.CharacterDataHandler = text
        with self.archive.open(name) as part:
            try:
                while piece := part.read(PIECE):
                    self.left -= len(piece)
                    if self.left < 0:
                        raise self.refuse(
                            f"is unpacked to more than {shown_size(MOST_UNPACKED)}; keep only the list"
                        )
                    parser.Parse(piece, False)
                parser.Parse(b"", True)
            except expat.ExpatError as error:
                raise self.refuse(f"its part '{name}' is not XML ({error}); save it again") from None

    def _refuse_document_type(self, *_: object) -> None:
        raise self.refuse("contains a document type, which Excel never writes; do not trust this file")


def _local(name: str) -> str:
    return name.rpartition(" ")[2]


def _nothing(*_: object) -> None:
    """Ignore the end of an element, or a text."""


def _relations(parts: _Parts) -> dict[str, tuple[str, str]]:
    """Return the kind and the name of each part of the workbook by its id, such as "worksheet" or "sharedStrings"."""
    found: dict[str, tuple[str, str]] = {}

    def relation(tag: str, given: Mapping[str, str]) -> None:
        if tag == "Relationship":
            target = given.get("Target", "")
            name = target[1:] if target.startswith("/") else posixpath.normpath(f"xl/{target}")
            found[given.get("Id", "")] = given.get("Type", "").rpartition("/")[2], name

    parts.parse("xl/_rels/workbook.xml.rels", relation, _nothing, _nothing)
    return found


def _sheet_places(parts: _Parts, relations: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, bool]]:
    """Return the part of each sheet by its name, and whether it is hidden; charts are not sheets."""
    sheets: dict[str, tuple[str, bool]] = {}

    def entry(tag: str, given: Mapping[str, str]) -> None:
        if tag == "sheet":
            kind, part = relations.get(given.get("id", ""), ("worksheet", ""))
            if kind == "worksheet":
                sheets[given.get("name", "")] = part, given.get("state", "visible") != "visible"

    parts.parse("xl/workbook.xml", entry, _nothing, _nothing)
    return sheets


def _shared_texts(parts: _Parts, relations: Mapping[str, tuple[str, str]], longest: int) -> list[str]:
    """Return the texts that cells refer to by number, without phonetic readings."""
    texts: list[str] = []
    pieces: list[str] = []
    inside = {"t": 0, "rPh": 0}

    def start(tag: str, _: Mapping[str, str]) -> None:
        if tag == "si":
            pieces.clear()
        elif tag in inside:
            inside[tag] += 1

    def end(tag: str) -> None:
        if tag == "si":
            texts.append(_plain("".join(pieces)[: longest + 1]))
        elif tag in inside:
            inside[tag] -= 1

    def text(piece: str) -> None:
        if inside["t"] and not inside["rPh"]:
            pieces.append(piece)

    for kind, part in relations.values():
        if kind == "sharedStrings":
            parts.parse(part, start, end, text)
    return texts


def _plain(text: str) -> str:
    """Return a text without Excel's escapes of control characters, and without surrounding space."""
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), text).strip()


@dataclass(slots=True)
class _Cells:
    """The state of the parser of one sheet: the current row and cell."""

    name: str
    texts: list[str]
    refuse: Refuse
    most_rows: int
    longest: int
    cells: dict[int, dict[int, str]] = field(default_factory=dict)
    formulas: int = 0
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: list[tuple[str, str]] = field(default_factory=list)
    """The first and the last column of each hidden range."""
    row: int = 0
    column: int = 0
    kind: str = "n"
    has_formula: bool = False
    in_value: bool = False
    in_phonetic: bool = False
    value: list[str] = field(default_factory=list)

    def read(self, parts: _Parts, part: str) -> Sheet:
        """Return the cells of the sheet in a part."""
        parts.parse(part, self._start, self._end, self._text)
        columns = {column for row in self.cells.values() for column in row}
        ends = [(low, high) for low, high in self.hidden_columns if low.isdecimal() and high.isdecimal()]
        ranges = [(int(low), int(high)) for low, high in ends]
        hidden = [column for column in columns if any(low <= column <= high for low, high in ranges)]
        hidden += self.hidden_rows & self.cells.keys()
        return Sheet(self.name, self.cells, self.formulas, len(hidden))

    def _start(self, tag: str, given: Mapping[str, str]) -> None:
        if tag == "row":
            stated = given.get("r", "")
            self.row = int(stated) if stated.isdecimal() and len(stated) < 8 else self.row + 1
            self.column = 0
            if given.get("hidden") in ("1", "true"):
                self.hidden_rows.add(self.row)
        elif tag == "c":
            place = _REFERENCE.fullmatch(given.get("r", ""))
            self.column = _column_number(place[1].upper()) if place else self.column + 1
            self.kind, self.has_formula = given.get("t", "n"), False
            self.value.clear()
        elif tag == "col" and given.get("hidden") in ("1", "true") and len(self.hidden_columns) < LAST_COLUMN:
            self.hidden_columns.append((given.get("min", "")[:7], given.get("max", "")[:7]))
        elif tag == "rPh":
            self.in_phonetic = True
        elif tag in ("v", "t"):
            self.in_value = not self.in_phonetic
        elif tag == "f":
            self.has_formula = True
        elif tag == "mergeCell":
            raise self.refuse(
                f"the cells {given.get('ref', '')[:20]} are merged; unmerge them, and enter a value in "
                "each row"
            )

    def _text(self, piece: str) -> None:
        if self.in_value:
            self.value.append(piece)

    def _end(self, tag: str) -> None:
        if tag in ("v", "t"):
            self.in_value = False
        elif tag == "rPh":
            self.in_phonetic = False
        elif tag == "c":
            text = self._content()
            if text:
                self._keep(text)

    def _content(self) -> str:
        """Return the text of the cell that ends here."""
        raw = "".join(self.value)
        if self.has_formula:
            self.formulas += 1
            if not raw and self.kind != "str":
                raise self.refuse(
                    f"cell {self._place()} is a formula without a stored value; save the file in Excel, or replace "
                    "the formula by its value"
                )
        if self.kind == "e":
            raise self.refuse(f"cell {self._place()} is an error ({raw[:20]}); correct or empty it")
        if self.kind == "b":
            return {"0": "FALSE", "1": "TRUE"}.get(raw.strip(), raw)
        if self.kind == "n":
            return raw.strip().removesuffix(".0")  # as Google writes whole numbers
        if self.kind != "s":
            return _plain(raw)
        if not (raw.isdecimal() and len(raw) < 10 and int(raw) < len(self.texts)):
            raise self.refuse(
                f"cell {self._place()} refers to a text that the file does not have; save it again"
            )
        return self.texts[int(raw)]

    def _keep(self, text: str) -> None:
        if len(text) > self.longest:
            raise self.refuse(f"cell {self._place()} has more than {self.longest} characters")
        if self.column > LAST_COLUMN:
            raise self.refuse(f"cell {self._place()} is beyond the last column of Excel")
        self.cells.setdefault(self.row, {})[self.column] = text
        if len(self.cells) > self.most_rows:
            raise self.refuse(f"sheet '{self.name}' has more than {self.most_rows} rows")

    def _place(self) -> str:
        return f"{column_letters(self.column)}{self.row}"


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


def column_letters(number: int) -> str:
    """Return the letters of a spreadsheet column.

    >>> column_letters(1), column_letters(28)
    ('A', 'AB')
    """
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
