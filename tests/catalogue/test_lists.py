"""Tests from tables: wide and long, in every encoding and format; what can be read in two ways is refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.messages import naming
from tests.sheets import Cell, workbook

from weatherglass.catalogue import import_tests, load_test, load_tests
from weatherglass.catalogue.imports import import_table
from weatherglass.catalogue.lists import read_back, read_sets
from weatherglass.errors import CatalogueError

SETS = {
    "Köche": ["Köchin", "Küche", "Brühe"],
    "Ärzte": ["Ärztin", "Praxis", "Diät"],
    "Männer": ["er", "Mann"],
    "Frauen": ["sie", "Frau", "Mädchen"],
}
ROLES = dict(zip("XYAB", SETS, strict=True))
WIDE: list[list[str]] = [
    list(SETS),
    *([words[row] if row < len(words) else "" for words in SETS.values()] for row in range(3)),
]
LONG: list[list[str]] = [
    ["role", "Set", "WORD"],
    *([role, name, word] for role, name in ROLES.items() for word in SETS[name]),
]
LAYOUTS = {"wide": WIDE, "long": LONG}
FORMATS = [
    *((suffix, encoding) for suffix in ("csv", "tsv") for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252")),
    ("xlsx", ""),
]  # fmt: skip


def write(path: Path, rows: Sequence[Sequence[Cell]], encoding: str = "utf-8") -> Path:
    """Write rows as the file's suffix asks for."""
    if path.suffix == ".xlsx":
        path.write_bytes(workbook({"Listen": rows}))
    else:
        delimiter = "\t" if path.suffix == ".tsv" else ","
        text = "".join(delimiter.join(map(str, row)) + "\r\n" for row in rows)
        path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("suffix", "encoding"), FORMATS)
def test_every_format_encoding_and_layout_gives_the_same_test(
    tmp_path: Path, layout: str, suffix: str, encoding: str
) -> None:
    test = load_test(write(tmp_path / f"berufe.{suffix}", LAYOUTS[layout], encoding))
    assert test.name == "berufe"
    assert {each.category: list(each.words) for each in test.sets} == SETS
    assert (test.shape, test.roles) == ((2, 2), tuple(ROLES))
    assert f"berufe.{suffix}" in test.source
    assert test.source.endswith(f"{layout})")
    assert ("table" in [warning.kind for warning in test.warnings]) == (encoding == "cp1252")
    assert read_back(test) == "X Köche (3 words), Y Ärzte (3), A Männer (2), B Frauen (3)"


def csv(folder: Path, text: str, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_can_contain_several_tests(tmp_path: Path) -> None:
    rows = [
        f"{test},{topic},{language},{role},{role.lower()} of {test},{role}{test}{number}"
        for test, topic, language in (("one", "work", "en"), ("two", "", "de"))
        for role in "XYAB"
        for number in range(2)
    ]
    path = csv(tmp_path, "\n".join(["test,topic,language,role,set,word", *rows]))
    one, two = load_tests([path])
    assert [(each.name, each.topic, each.language) for each in (one, two)] == [
        ("one", "work", "en"),
        ("two", "", "de"),
    ]
    assert two.targets[1].words == ("Ytwo0", "Ytwo1")
    with pytest.raises(CatalogueError, match=naming("2 tests")):
        load_test(path)
    assert [each.test.name for each in import_tests(path).tests] == ["one", "two"]


@pytest.mark.parametrize(
    "header",
    ["X: a,Y: b,A: c,B: d", "y=b,x=a,B : d,a: c", "X,Y,A,B", "targ1,targ2,attr1,attr2", "attr2,attr1,targ2,targ1"],
)  # fmt: skip
def test_the_first_row_can_state_the_roles(tmp_path: Path, header: str) -> None:
    names = header.split(",")
    words = [name.casefold().replace(" ", "") for name in names]
    test = load_test(csv(tmp_path, f"{header}\n{','.join(words)}\n"))
    for role, elements in zip(test.roles, test.sets, strict=True):
        number = "XYAB".index(role)
        published = ("targ1", "targ2", "attr1", "attr2")[number]
        assert elements.words[0] in (role.lower(), published, f"{role.lower()}:{elements.category}",
                                     f"{role.lower()}={elements.category}")  # fmt: skip


def test_a_long_table_can_name_its_sets_by_roles(tmp_path: Path) -> None:
    test = load_test(
        csv(tmp_path, "word,set\nhe,A\nshe,B\nart,Y\nlaw,X\nbill,x\n".replace("bill,x", "bill,X"))
    )
    assert [each.words for each in test.sets] == [("law", "bill"), ("art",), ("he",), ("she",)]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("set,word\na,w\nb,x\nc,y\nd,z\n", ["4 sets", "tests init", "--columns 'X=a,Y=b,A=c,B=d'"]),
        ("a,b,c\nw,x,y\n", ["3 sets", "--columns"]),
        ("X: a,b,c,d\nw,x,y,z\n", ["4 sets"]),  # one role of four
        ("woman,nurse\nwoman,teacher\nman,doctor\nman,smith\n", ["--layout wide", "set=NAME,word=NAME", "woman"]),
        ("group1,w\nf,a\nf,b\nf,c\nm,d\nm,e\nm,f\n", ["group1", "--layout wide"]),
        ("a,,c,d\nw,x,y,z\n", ["line 1", "column 2"]),
        ("a,a,c,d\nw,x,y,z\n", ["'a'"]),
        ("a,b,c,d\nw,x,y\n", ["'d'"]),
        ("nr,a,b,c\n1,x,y,z\n2,u,v,w\n", ["'nr'", "numbers"]),
        ("role,set,word\nX,a,w\nY,a,v\n", ["line 3", "'a'", "X", "Y"]),
        ("role,set,word\nX,a,w\nX,b,v\n", ["line 3", "'a'", "'b'", "X"]),
        ("role,set,word\nQ,a,w\n", ["line 2", "'Q'"]),
        ("role,set,word\nX,a,w\n,a,v\n", ["line 3"]),
        ("role,set,word\nX,a,\n", ["line 2", "'word'"]),
        ("role,set,word\nX,,w\n", ["line 2", "'set'"]),
        ("role,set,word\nA,a,w\n", ["role X"]),
        ("word\na\nb\n", ["weatherglass words -w a.csv"]),
        ("job,share\nnurse,90\nclerk,60\n", ["weatherglass words -w a.csv --facts 'share'"]),
        ("My lists,,,\na,b,c,d\nw,x,y,z\n", ["line 1", "column 2", "title"]),
    ],
)  # fmt: skip
def test_what_is_unclear_is_refused_in_one_line(tmp_path: Path, text: str, named: list[object]) -> None:
    path = csv(tmp_path, text)
    with pytest.raises(CatalogueError, match=naming("a.csv", *named)) as caught:
        load_tests([path])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("c,a,d,b,nr\ny,w,z,x,1\n", {"columns": {"X": "a", "Y": "b", "A": "c", "B": "d"}}),
        ("c,a,d,b\ny,w,z,x\n", {"columns": {"X": "2", "Y": "4", "A": "1", "B": "3"}}),
        ("set,word\nd,z\nc,y\nb,x\na,w\n", {"columns": {"X": "a", "Y": "b", "A": "c", "B": "d"}}),
        (
            "Liste,Begriff,n\nd,z,1\nc,y,1\nb,x,1\na,w,1\n",
            {"columns": {"set": "Liste", "word": "begriff", "X": "a", "Y": "b", "A": "c", "B": "d"}},
        ),
        (
            "d,z\nc,y\nb,x\na,w\n",
            {"columns": {"set": "1", "word": "2", "X": "a", "Y": "b", "A": "c", "B": "d"}, "header": False},
        ),
    ],
)
def test_a_user_can_state_what_a_table_does_not(tmp_path: Path, text: str, how: dict[str, Any]) -> None:
    (imported,) = import_table(csv(tmp_path, text), name="own", **how).tests
    assert [each.words for each in imported.test.sets] == [("w",), ("x",), ("y",), ("z",)]
    assert imported.test.categories == ("a", "b", "c", "d")
    assert imported.test.name == "own"


def test_without_a_header_columns_have_numbers(tmp_path: Path) -> None:
    (imported,) = import_table(csv(tmp_path, "w,x,y,z\nq,r,s,t\n"), header=False).tests
    assert imported.test.categories == ("1", "2", "3", "4")
    assert imported.test.targets[0].words == ("w", "q")


def test_a_set_can_contain_its_own_name(tmp_path: Path) -> None:
    rows = ["career,family,men,women", "career,family,men,women", "office,home,he,she", "salary,kin,him,her"]
    test = load_test(csv(tmp_path, "\n".join([*rows, "work,wedding,man,woman"])))
    assert test.targets[1].words == ("family", "home", "kin", "wedding")


def test_recurring_words_can_be_wide(tmp_path: Path) -> None:
    path = csv(tmp_path, "a,b,c,d\n" + "same,x,y,z\n" * 4)
    assert read_sets(path, layout="wide").layout == "wide"
    with pytest.raises(CatalogueError, match=naming("--layout wide")):
        read_sets(path)


@pytest.mark.parametrize(
    ("columns", "named"),
    [
        ({"X": "aa"}, ["'aa'", "a, b"]),
        ({"Q": "a"}, ["'Q'"]),
        ({"X": "a", "Y": "b"}, ["role A"]),
    ],
)
def test_wrong_columns_are_named(tmp_path: Path, columns: dict[str, str], named: list[object]) -> None:
    with pytest.raises(CatalogueError, match=naming(*named)):
        import_table(csv(tmp_path, "a,b\nw,x\n"), columns=columns, layout="wide")


def test_sets_without_roles_are_imported_by_name(tmp_path: Path) -> None:
    path = csv(tmp_path, "a,b,c\nw,x,y\n")
    (imported,) = import_tests(path, targets=["a", "b"], attributes=["c"]).tests
    assert imported.test.shape == (2, 1)
    with pytest.raises(CatalogueError, match=naming("--target", "--attribute", "a, b, c")):
        import_tests(path)


def test_a_table_that_is_no_test_does_not_stop_the_import_of_a_folder(tmp_path: Path) -> None:
    csv(tmp_path, "p,q,r,s\nw,x,y,z\n", "good.csv")
    csv(tmp_path, "name,year\nx,1990\n", "data.csv")
    imported = import_tests(tmp_path)
    assert [each.test.name for each in imported.tests] == ["good"]
    assert [line.partition(":")[0] for line in imported.passed_over] == [str(tmp_path / "data.csv")]


def test_a_number_among_words_of_excel_is_noted(tmp_path: Path) -> None:
    rows: list[list[Cell]] = [["p", "q", "r", "s"], ["w", "x", "y", "z"], ["v", 45352.0, "u", "t"]]
    test = load_test(write(tmp_path / "a.xlsx", rows))
    (warning,) = [warning for warning in test.warnings if warning.kind == "table"]
    assert warning.values["note"].startswith("45352:")


def test_globs_and_missing_tables(tmp_path: Path) -> None:
    csv(tmp_path, "p,q,r,s\nw,x,y,z\n", "one.csv")
    csv(tmp_path, "p,q,r,s\nw,x,y,z\n", "two.csv")
    assert [test.name for test in load_tests([tmp_path / "*.csv"])] == ["one", "two"]
    with pytest.raises(CatalogueError, match=naming("three.csv")):
        load_tests(["three.csv"])
