"""Read tests from tables, which are wide (a column per set) or long (a row per word).

A table states the roles of its sets by names such as X or "X: maths", by a column `role`, or, if it has four columns,
by their order. Any other table is refused with a one-line error that explains how to state the roles.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weatherglass.catalogue.from_words import make_test
from weatherglass.catalogue.imports.formats import FILE_ROLES, Draft, DraftSet
from weatherglass.catalogue.test import Test, set_roles
from weatherglass.catalogue.words import WORD_NAMES
from weatherglass.errors import CatalogueError
from weatherglass.languages import DEFAULT_LANGUAGE
from weatherglass.registry import did_you_mean, one_of, shown
from weatherglass.storage.tables import Row, Table, column_key, column_named, is_numeric, read_table
from weatherglass.warnings import Warning

LAYOUTS = ("wide", "long")
PARTS = {
    "word": WORD_NAMES,
    "set": ("set", "sets", "category", "list", "group"),
    "role": ("role",),
    "test": ("test", "test name"),
    "topic": ("topic",),
    "language": ("language",),
}
"""The columns of a long table, and the headings by which they are recognised."""
ROLES = dict(zip(range(4), set_roles(2, 2), strict=True))
_NAMED_ROLE = re.compile(r"([XYAB])\s*[:=]\s*(.+)", re.IGNORECASE)
_ROLE = re.compile(r"[XYAB]|[XA](?:[3-9]|[1-9]\d)")
FEWEST_REPEATED = 3
"""The number of cells below the first from which recurring cells are taken to be the names of sets."""


@dataclass(frozen=True, slots=True)
class Sets:
    """The sets of one test, and what the table states about their roles."""

    words: dict[str, list[str]]
    """The words of each set, by the name of the set."""
    roles: dict[str, str]
    """The name of the set for each role, X, Y, A and B; empty if the table does not state them."""
    test: str = ""
    topic: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class SetTable:
    """The sets of a file, for one test or several."""

    table: Table
    layout: str
    tests: tuple[Sets, ...]
    stated: Mapping[str, str]
    """The columns that the user named, such as set and word."""
    notes: tuple[str, ...] = ()

    @property
    def described(self) -> str:
        """Return the file and its detected format: "jobs.csv (CSV, comma, UTF-8, wide)"."""
        return self.table.described(self.layout)

    def drafts(self) -> list[Draft]:
        """Return a draft for each test.

        Raises:
            CatalogueError: if the roles of the sets are not stated.
        """
        return [self._draft(sets) for sets in self.tests]

    def _draft(self, sets: Sets) -> Draft:
        if not sets.roles:
            raise self.unclear_roles(sets)
        ordered = sorted(
            sets.roles, key=lambda role: (role[0] not in "XY", int(role[1:] or "XYAB".index(role) % 2))
        )
        kinds = [role for role in ordered if role[0] in "XY"], [role for role in ordered if role[0] in "AB"]
        for kind, letter in zip(kinds, "XA", strict=True):
            if not kind:
                raise CatalogueError(
                    f"{self.table.path}: no set has the role {letter}; a test has X and A, for WEAT also Y and B"
                )
        targets, attributes = (
            tuple(DraftSet(sets.roles[role], tuple(sets.words[sets.roles[role]])) for role in kind)
            for kind in kinds
        )
        name = sets.test or self.table.path.stem
        return Draft(name, targets, attributes, sets.language, sets.topic, self.described, notes=self.notes)

    def unclear_roles(self, sets: Sets) -> CatalogueError:
        """Return the error for sets whose roles are not stated."""
        names = list(sets.words)
        roles = zip("XYAB", names, strict=False)
        example = ",".join(f"{part}={name}" for part, name in (*self.stated.items(), *roles))
        return CatalogueError(
            f"{self.table.path}: {len(names)} sets ({shown(', '.join(names))}), but the file does not "
            f"state which are compared; write the role before each name (X: {names[0]}), or run: "
            f"weatherglass tests init {self.table.path.stem}.toml --from {self.table.path.name} --columns "
            f"'{shown(example)}'"
        )


def table_tests(path: Path) -> list[Test]:
    """Return the tests of a table.

    Raises:
        CatalogueError: if the table can be read in two ways, or does not state the roles of its sets.
    """
    read = read_sets(path)
    tests = [
        make_test(
            name=draft.name,
            targets=[{each.category: each.words} for each in draft.targets],
            attributes=[{each.category: each.words} for each in draft.attributes],
            topic=draft.topic,
            language=draft.language or DEFAULT_LANGUAGE,
            source=read.described,
        )
        for draft in read.drafts()
    ]
    notes = tuple(Warning.of("table", file=path.name, note=note) for note in read.notes)
    return [replace(test, warnings=(*test.warnings, *notes)) for test in tests]


def read_back(test: Test) -> str:
    """Return a summary of what was read: "X maths (8 words), Y arts (8), A men (8), B women (8)"."""
    named = [
        f"{role} {elements.category} ({len(elements)}{'' if number else ' words'})"
        for number, (role, elements) in enumerate(zip(test.roles, test.sets, strict=True))
    ]
    return ", ".join(named)


def read_sets(
    path: Path,
    *,
    layout: str = "",
    columns: Mapping[str, str] | None = None,
    sheet: str = "",
    header: bool = True,
) -> SetTable:
    """Read the sets of a table.

    Args:
        path: the file.
        layout: wide or long; detected by default.
        columns: the set for each role ("X": "maths"), and the columns of a long table ("word": "Begriff").
        sheet: the sheet of an Excel file that has several.
        header: whether the first row names the columns; without names, the columns are called 1, 2, …

    Raises:
        CatalogueError: if the table is malformed or its layout is ambiguous; the message states the remedy.
    """
    table = read_table(path, CatalogueError, sheet=sheet)
    if not header:
        names = Row(0, tuple(str(number + 1) for number in range(table.width)))
        table = replace(table, rows=(names, *table.rows))
    columns = dict(columns or {})
    stated = {part: columns.pop(part) for part in PARTS if part in columns}
    for role in columns:
        if not _ROLE.fullmatch(role):
            raise CatalogueError(
                f"--columns: '{shown(role)}' is not a role (X, Y, A, B) or a column ({', '.join(PARTS)})"
            )
    found = _parts(table, stated)
    layout = one_of("layout", layout, LAYOUTS) if layout else _layout(table, found, stated, columns)
    read = _wide(table, columns) if layout == "wide" else _long(table, found, columns)
    return SetTable(table, layout, tuple(read), stated, (*table.notes, *_odd_words(table, read)))


def _parts(table: Table, stated: Mapping[str, str]) -> dict[str, int]:
    """Return the columns of a long table that the user named or that have one of the usual headings."""
    found = {part: column_named(table, name) for part, name in stated.items()}
    for place, cell in enumerate(table.rows[0].cells):
        for part, names in PARTS.items():
            if column_key(cell) in names and place not in found.values():
                found.setdefault(part, place)
    return found


def _layout(
    table: Table, found: Mapping[str, int], stated: Mapping[str, str], columns: Mapping[str, str]
) -> str:
    """Return the layout of a table.

    Raises:
        CatalogueError: if both layouts are possible.
    """
    if "word" in found and ("set" in found or "role" in found):
        return "long"
    header = list(map(column_key, table.rows[0].cells))
    if columns and all(column_key(name) in header or name.isdecimal() for name in columns.values()):
        return "wide"
    repeated = [
        cell for place, cell in enumerate(table.rows[0].cells) if _repeats(table.column(place, header=False))
    ]
    if stated or repeated:
        recurring = f" (cells of column '{shown(repeated[0])}' recur)" if repeated else ""
        raise CatalogueError(
            f"{table.path}: can be read as a column per set or as a row per word{recurring}; name the columns set and "
            "word in the first row, or use weatherglass tests init --from FILE with --columns set=NAME,word=NAME or "
            "--layout wide"
        )
    return "wide"


def _repeats(cells: Sequence[str]) -> bool:
    """Return whether cells recur, as the names of sets in a long table do, and words in a list do not.

    The name of a set can be one of its words ("family"), but then no other word recurs.
    """
    first, *others = [cell for cell in cells if cell]
    distinct = len(set(others))
    few = 3 * distinct <= 2 * len(others) or (first in others and distinct < len(others))
    return few and len(others) >= FEWEST_REPEATED


def _wide(table: Table, columns: Mapping[str, str]) -> list[Sets]:
    """Return the sets of a table with a column per set; if there are four columns, their order determines the
    roles.
    """
    chosen = {role: column_named(table, name) for role, name in columns.items()}
    places = list(chosen.values()) or list(range(table.width))
    words: dict[str, list[str]] = {}
    roles: dict[str, str] = {}
    for place in places:
        role, name = _stated_role(_heading(table, place))
        if name in words:
            raise CatalogueError(f"{table.path}: two sets are called '{shown(name)}'; rename one")
        words[name] = [cell for cell in table.column(place) if cell]
        if role:
            roles[role] = name
    numeric = [name for name, cells in words.items() if is_numeric(cells)]
    if len(words) - len(numeric) == 1:
        facts = f" --facts '{shown(numeric[0])}'" if numeric else ""
        raise CatalogueError(
            f"{table.path}: one column of words is a list, not a test; for single words, run: weatherglass words -w "
            f"{table.path.name}{facts}"
        )
    for name, cells in words.items():
        if not cells:
            raise CatalogueError(f"{table.path}: the set '{shown(name)}' has no words")
    if numeric:
        raise CatalogueError(
            f"{table.path}: column '{shown(numeric[0])}' contains numbers, not words; delete it, or name the sets: "
            "weatherglass tests init --from FILE --columns X=NAME,Y=NAME,A=NAME,B=NAME"
        )
    if chosen:
        roles = dict(zip(chosen, words, strict=True))
    elif not roles and len(words) == len(ROLES):
        roles = dict(zip(ROLES.values(), words, strict=True))
    elif len(roles) < len(words):
        roles = {}
    return [Sets(words, roles)]


def _heading(table: Table, place: int) -> str:
    first = table.rows[0]
    if not first.cells[place]:
        raise CatalogueError(
            f"{table.place(first)}: column {place + 1} has no name; the first row should name the sets, so "
            "delete a title above it, or use weatherglass tests init --from FILE --no-header"
        )
    return first.cells[place]


def _stated_role(heading: str) -> tuple[str, str]:
    """Return the role and the name of the set that a heading such as "X: maths" or "targ1" states; the role may be
    empty.
    """
    if match := _NAMED_ROLE.fullmatch(heading):
        return match[1].upper(), match[2]
    number = FILE_ROLES.get(heading.casefold())
    return ("" if number is None else ROLES[number]), heading


def _long(table: Table, found: Mapping[str, int], columns: Mapping[str, str]) -> list[Sets]:
    """Return the sets of a table with a row per word."""
    if "word" not in found or not ("set" in found or "role" in found):
        missing = "word" if "word" not in found else "set"
        raise CatalogueError(
            f"{table.place(table.rows[0])}: no column is called '{missing}'; name it in the first row, or with "
            f"--columns {missing}=NAME (columns: {shown(', '.join(table.rows[0].cells))})"
        )
    named = "set" if "set" in found else "role"
    tests: dict[str, Sets] = {}
    for row in table.rows[1:]:
        cells = {part: row.cells[place] for part, place in found.items()}
        for part in ("test", named, "word"):
            if part in cells and not cells[part]:
                raise CatalogueError(
                    f"{table.place(row)}: the column '{part}' is empty; fill it in every row"
                )
        test, name = cells.get("test", ""), cells[named]
        sets = tests.setdefault(test, Sets({}, {}, test, cells.get("topic", ""), cells.get("language", "")))
        sets.words.setdefault(name, []).append(cells["word"])
        if "role" in found:
            _take_role(table, row, sets.roles, cells["role"], name)
    return [_with_roles(table, sets, columns) for sets in tests.values()]


def _take_role(table: Table, row: Row, roles: dict[str, str], given: str, name: str) -> None:
    number = FILE_ROLES.get(given.casefold())
    role = given.upper() if number is None else ROLES[number]
    if not _ROLE.fullmatch(role):
        raise CatalogueError(f"{table.place(row)}: the role '{shown(given)}' should be X, Y, A or B")
    stated = {each: role for role, each in roles.items()}.get(name, role)
    if stated != role:
        raise CatalogueError(
            f"{table.place(row)}: the set '{shown(name)}' has the roles {stated} and {role}; give it one"
        )
    if roles.setdefault(role, name) != name:
        raise CatalogueError(
            f"{table.place(row)}: two sets have the role {role}: '{shown(roles[role])}' and '{shown(name)}'"
        )


def _with_roles(table: Table, sets: Sets, columns: Mapping[str, str]) -> Sets:
    """Return the sets with the roles that the user or the sets' names state."""
    if columns:
        for name in columns.values():
            if name not in sets.words:
                hint = did_you_mean(name, sets.words)
                raise CatalogueError(
                    f"{table.path}: no set is called '{shown(name)}'{hint} (sets: {', '.join(sets.words)})"
                )
        return replace(sets, roles=dict(columns))
    if not sets.roles:
        stated = {_stated_role(name)[0]: name for name in sets.words}
        if "" not in stated and len(stated) == len(sets.words):
            return replace(sets, roles=stated)
    return sets


def _odd_words(table: Table, read: Sequence[Sets]) -> list[str]:
    """Return a note about numbers in word sets; Excel converts some words to dates and stores dates as numbers."""
    odd = [word for sets in read for words in sets.words.values() for word in words if is_numeric([word])]
    if not odd or not table.from_sheet:
        return []
    return [
        f"{shown(', '.join(odd[:3]))}: a number instead of a word; Excel converts words such as MARCH1 to dates"
    ]
